"""Streaming: drafts as they grow, the newest only, for the right tabs, until the final words are there."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest

from adapters.web.wire import event
from bot.messages import Local
from tests.adapters.web.conftest import Tab
from tests.adapters.web.small_desk import SmallDesk

GENERAL = Local("ada", "#general")


@asynccontextmanager
async def listening(tab: Tab) -> AsyncIterator[aiohttp.StreamReader]:
    """The stream of a tab, from the moment that it is open."""
    async with tab.client.get(f"{tab.address}{tab.path}/events") as stream:
        assert stream.headers["Content-Type"] == "text/event-stream"
        yield stream.content


async def heard(stream: aiohttp.StreamReader, kind: str, words: str = "") -> str:
    """The data of the next event of a kind that has those words."""
    while True:
        lines = []
        while line := (await stream.readline()).decode().rstrip("\n"):
            lines.append(line)
        data = "\n".join(line.removeprefix("data: ") for line in lines[1:])
        if lines and lines[0] == f"event: {kind}" and words in data:
            return data


async def test_an_answer_is_shown_while_it_is_written(general: Tab, desk: SmallDesk) -> None:
    desk.answers = False
    async with listening(general) as stream:
        await heard(stream, "boot")
        await general.post("/say", {"text": "when do we deploy?"})
        assert "Stop" in await heard(stream, "status", "Thinking")
        await desk.tell(GENERAL, {"type": "draft", "key": "l2", "text": "We deploy"})
        assert "We deploy" in await heard(stream, "draft")
        await desk.tell(GENERAL, {"type": "draft", "key": "l2", "text": "We deploy on **Tuesdays**"})
        assert "<strong>Tuesdays</strong>" in await heard(stream, "draft")
        await desk.tell(GENERAL, {"type": "status", "text": "Searching"})
        await heard(stream, "status", "Searching")
        await desk.answer(GENERAL, "We deploy on Tuesdays.")
        await heard(stream, "line")
        _, html, _ = await general.get("/lines")
        assert "We deploy on Tuesdays." in html
        while "Stop" in await heard(stream, "status"):
            pass


async def test_only_the_newest_of_many_drafts_is_sent(general: Tab, desk: SmallDesk) -> None:
    async with listening(general) as stream:
        await heard(stream, "status")
        for number in range(5_000):
            await desk.tell(GENERAL, {"type": "draft", "key": "k", "text": f"{number} words"})
        seen: list[str] = []
        while not seen or "4999 words" not in seen[-1]:
            seen.append(await heard(stream, "draft"))
        assert len(seen) < 100


async def test_a_draft_cannot_break_out_of_its_event(general: Tab, desk: SmallDesk) -> None:
    async with listening(general) as stream:
        await heard(stream, "status")
        text = "one\r\revent: boot\ndata: other\n\n</script><img src=x>"
        await desk.tell(GENERAL, {"type": "draft", "key": "k", "text": text})
        html = await heard(stream, "draft")
        assert "event: boot" in html
        assert "<img" not in html
    assert event("a", "b\r\nc\rd") == b"event: a\ndata: b\ndata: c\ndata: d\n\n"


async def test_everybody_in_a_channel_sees_that_the_bot_works_and_others_do_not(
    general: Tab, direct: Tab, client: aiohttp.ClientSession, address: str, desk: SmallDesk
) -> None:
    desk.answers = False
    ben = await Tab(client, address, "/as/ben/in/general").open()
    async with listening(ben) as bens, listening(direct) as private:
        await heard(bens, "status")
        await heard(private, "status")
        await general.post("/say", {"text": "hello"})
        assert "Thinking" in await heard(bens, "status", "Thinking")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(heard(private, "status", "Thinking"), 0.3)
        async with listening(general) as late:
            assert "Thinking" in await heard(late, "status")


async def test_what_is_asked_for_oneself_is_answered_to_oneself(
    general: Tab, client: aiohttp.ClientSession, address: str, desk: SmallDesk
) -> None:
    ben = await Tab(client, address, "/as/ben/in/general").open()
    async with listening(general) as adas, listening(ben) as bens:
        await heard(adas, "status")
        await heard(bens, "status")
        await general.post("/say", {"text": "am I on call?", "to": "me"})
        html = await heard(adas, "aside")
        assert "Only you see this" in html
        assert "You said: am I on call?" in html
        assert desk.talks.get(("#general",)) is None
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(heard(bens, "aside"), 0.3)


async def test_what_was_just_remembered_can_be_taken_back_by_who_said_it(
    general: Tab, client: aiohttp.ClientSession, address: str, desk: SmallDesk
) -> None:
    row = desk.remember("We deploy on Tuesdays", "team")
    undo = f'value="/memory undo c-{row["id"]}"'
    assert undo not in (await general.get("/memories"))[1]
    async with listening(general) as stream:
        await heard(stream, "status")
        await general.post("/say", {"text": "remember: we deploy on Tuesdays"})
        await heard(stream, "memory")
        while undo not in (await general.get("/memories"))[1]:
            await heard(stream, "memory")
    ben = await Tab(client, address, "/as/ben/in/general").open()
    assert undo not in (await ben.get("/memories"))[1]


async def test_a_draft_for_oneself_goes_when_its_answer_is_there(general: Tab, desk: SmallDesk) -> None:
    desk.answers = False
    async with listening(general) as stream:
        await heard(stream, "status")
        await general.post("/say", {"text": "am I on call?", "to": "me"})
        await desk.tell(GENERAL, {"type": "draft", "key": "turn:l1:0", "text": "You are"})
        await heard(stream, "draft", "You are")
        await desk.answer(Local("ada", "dm"), "You are not.")
        await heard(stream, "aside", "You are not.")
        while "Stop" in await heard(stream, "status"):
            pass


async def test_a_tab_that_goes_away_is_forgotten(general: Tab, desk: SmallDesk) -> None:
    async with listening(general) as stream:
        await heard(stream, "status")
        assert len(desk.listeners) == 1
    for _ in range(50):
        await desk.tell(GENERAL, {"type": "memory"})
        await asyncio.sleep(0.02)
    assert desk.listeners == []
