"""Whatever breaks between us and Slack, each message has exactly one whole answer."""

import asyncio
import re
import time

import pytest
from aiohttp import web

from adapters.slack import blocks, stream
from adapters.slack.safe import rendered
from adapters.text import fence_after, utf8
from bot.testing import Scripted
from tests.adapters.slack.server import BOT, Answer, Fault, Slack, running, words
from tests.adapters.slack.team import ADA, BEN, GENERAL, Team, at_work, peopled, working
from tests.adapters.slack.writing import Writing

LONG = tuple(f"Line {number} says something of its own.\n" for number in range(600))


def fails(code: str) -> Fault:
    """Slack refuses a call."""
    return lambda _: {"ok": False, "error": code}


def limited(seconds: int = 1) -> Fault:
    """Slack says to wait."""
    return lambda _: web.json_response(
        {"ok": False, "error": "ratelimited"}, status=429, headers={"Retry-After": str(seconds)}
    )


async def parts(team: Team, count: int = 1) -> list[Answer]:
    """The messages of a reply once it is finished, in order."""
    await team.slack.until(lambda: len(team.slack.done(GENERAL)) >= count)
    await team.quiet()
    return team.slack.replies(GENERAL)


async def test_a_reply_is_streamed_and_ends_with_its_buttons(database_url: str) -> None:
    model = Writing(pieces=("Hello ", "Ada, ", "how ", "are ", "you?"), pause_at=3)
    async with at_work(database_url, model) as team:
        await team.slack.say(GENERAL, ADA, f"<@{BOT}> hello")
        await team.slack.until(lambda: any("how" in words(one) for one in team.slack.replies(GENERAL)))
        assert team.slack.replies(GENERAL)[0]["streaming_state"] == "in_progress"
        model.go.set()
        found = await parts(team)
        assert [words(one) for one in found] == ["Hello Ada, how are you?"]
        assert found[0]["streaming_state"] == "completed"
        assert found[0]["metadata"]["event_payload"]["key"].startswith("turn:")
        assert team.slack.called("chat.postMessage") == []


async def test_a_long_reply_goes_over_to_new_messages(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite, Writing(pieces=("```py\n", *LONG, "```\nDone."), pace=0.002)) as team:
        await team.slack.say(GENERAL, ADA, f"<@{BOT}> write")
        found = await parts(team)
        assert len(found) > 2
        assert all(utf8(words(one)) <= 10_000 for one in found)
        assert all(fence_after(words(one)) == "" for one in found)
        said = re.findall(r"Line (\d+) says", "".join(words(one) for one in found))
        assert said == [str(number) for number in range(600)]
        assert words(found[-1]).endswith("Done.")


async def test_an_old_stream_is_left_for_a_new_one(
    fresh_sqlite: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "OLDEST_SECONDS", 0.5)
    pieces = tuple(f"word{number} " for number in range(30))
    async with at_work(fresh_sqlite, Writing(pieces=pieces, pace=0.1)) as team:
        await team.slack.say(GENERAL, ADA, f"<@{BOT}> write")
        found = await parts(team)
        assert len(found) > 1
        assert "".join(words(one) for one in found).split() == "".join(pieces).split()


async def test_a_stream_that_dies_is_replayed(fresh_sqlite: str) -> None:
    model = Writing(pieces=tuple(f"word{number} " for number in range(40)), pace=0.05)
    async with at_work(fresh_sqlite, model) as team:
        team.slack.faults["chat.appendStream"] = [fails("message_not_in_streaming_state")]
        team.slack.faults["chat.stopStream"] = [fails("message_not_in_streaming_state")]
        await team.slack.say(GENERAL, ADA, f"<@{BOT}> write")
        found = await parts(team)
        said = "".join(words(one) for one in found)
        assert said.split() == "".join(model.pieces).split()


async def test_without_streaming_it_is_posted_and_edited(database_url: str) -> None:
    model = Writing(pieces=("Hello ", "Ada, ", "all ", "well?"), pace=0.7)
    async with at_work(database_url, model) as team:
        team.slack.faults["chat.startStream"] = [fails("unknown_method")]
        await team.slack.say(GENERAL, ADA, f"<@{BOT}> hello")
        assert [words(one) for one in await parts(team)] == ["Hello Ada, all well?"]
        assert len(team.slack.called("chat.startStream")) == 1
        await team.slack.say(GENERAL, ADA, f"<@{BOT}> again")
        await parts(team, 2)
        assert len(team.slack.called("chat.startStream")) == 1
        assert all(len(call["text"]) <= 4_000 for call in team.slack.called("chat.update"))


async def test_told_to_wait_everywhere_every_message_is_answered(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite, Writing(pieces=("One ", "two ", "three."), pace=0.05)) as team:
        for method in ("chat.startStream", "chat.appendStream", "chat.stopStream", "chat.postMessage"):
            team.slack.faults[method] = [limited(), limited()]
        for number in range(3):
            await team.slack.say(GENERAL, ADA, f"<@{BOT}> question {number}")
        found = await parts(team, 3)
        assert [words(one) for one in found] == ["One two three."] * 3


async def test_ten_replies_at_once_stay_within_the_budget(fresh_sqlite: str) -> None:
    model = Writing(pieces=tuple(f"word{number} " for number in range(20)), pace=0.02)
    async with at_work(fresh_sqlite, model) as team:
        for number in range(10):
            await team.slack.say(GENERAL, BEN, f"<@{BOT}> question {number}")
        found = await parts(team, 10)
        assert {" ".join(words(one).split()) for one in found} == {"".join(model.pieces).strip()}
        assert len(found) == 10
        assert len(team.slack.called("chat.startStream")) <= 10


async def test_an_answer_that_was_lost_is_found_and_not_posted_twice(database_url: str) -> None:
    async with at_work(database_url, Scripted(["Hello Ada."])) as team:

        def lost(given: Answer) -> web.Response:
            team.slack.on_chat_startStream(given)
            return web.Response(status=502, text="lost")

        team.slack.faults["chat.startStream"] = [lost]
        await team.slack.say(GENERAL, ADA, f"<@{BOT}> hello")
        assert [words(one) for one in await parts(team)] == ["Hello Ada."]


async def test_a_post_that_was_lost_is_found_by_its_mark(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite, Scripted(["Hello Ada."])) as team:

        def lost(given: Answer) -> web.Response:
            team.slack.on_chat_postMessage(given)
            return web.Response(status=500, text="lost")

        team.slack.faults["chat.startStream"] = [fails("unknown_method")]
        team.slack.faults["chat.postMessage"] = [lost]
        await team.slack.say(GENERAL, ADA, f"<@{BOT}> hello")
        assert [words(one) for one in await parts(team)] == ["Hello Ada."]


async def test_a_restart_in_mid_reply_replaces_what_stands_there(database_url: str) -> None:
    async with running(peopled(Slack())) as slack:
        first = Writing(pieces=("Half ", "an ", "answer ", "never ended"), pause_at=3)
        async with working(database_url, slack, first) as team:
            await slack.say(GENERAL, ADA, f"<@{BOT}> hello")
            await slack.until(lambda: any("answer" in words(one) for one in slack.replies(GENERAL)))
            team.desk.loop.answering.deadline = 0.1
            drain = asyncio.create_task(team.desk.engine.stop(0))
            await asyncio.wait({drain}, timeout=5)
        async with working(database_url, slack, Scripted(["A whole answer."])) as team:
            await slack.until(lambda: slack.done(GENERAL), 30)
            await team.quiet()
            assert [words(one) for one in slack.replies(GENERAL)] == ["A whole answer."]


async def test_the_socket_is_renewed_in_mid_turn(fresh_sqlite: str) -> None:
    model = Writing(pieces=("Hello ", "Ada."), pause_at=1)
    async with at_work(fresh_sqlite, model) as team:
        message = await team.slack.say(GENERAL, ADA, f"<@{BOT}> hello")
        await model.written.wait()
        before = len(team.slack.called("apps.connections.open"))
        for socket in list(team.slack.sockets):
            await socket.close()
        await team.slack.until(
            lambda: (
                len(team.slack.called("apps.connections.open")) >= before + 2 and len(team.slack.sockets) >= 2
            )
        )
        model.go.set()
        await team.slack.tell(team.slack.event(GENERAL, message), retry=1)
        assert [words(one) for one in await parts(team)] == ["Hello Ada."]


async def test_deaf_sockets_are_noticed_and_the_message_answered_once(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite, Scripted(["I hear you."])) as team:
        opened = len(team.slack.called("apps.connections.open"))
        team.slack.deaf = True
        team.slack.put(GENERAL, ADA, f"<@{BOT}> anybody there?", ts=f"{time.time():.6f}")
        found = await parts(team)
        team.slack.deaf = False
        assert [words(one) for one in found] == ["I hear you."]
        await team.slack.until(lambda: len(team.slack.called("apps.connections.open")) > opened)


async def test_what_was_said_while_the_bot_was_down_is_answered_once(fresh_sqlite: str) -> None:
    async with running(peopled(Slack())) as slack:
        slack.clock = int(time.time()) - 60
        async with working(fresh_sqlite, slack) as team:
            await slack.say(GENERAL, ADA, f"<@{BOT}> hello")
            await slack.until(lambda: slack.done(GENERAL))
            await team.quiet()
        missed = slack.put(GENERAL, BEN, f"<@{BOT}> are you there?")
        async with working(fresh_sqlite, slack) as team:
            await slack.until(lambda: len(slack.done(GENERAL)) == 2)
            await slack.tell(slack.event(GENERAL, missed), retry=3)
            await team.quiet()
            assert len(slack.replies(GENERAL)) == 2


async def test_a_message_is_not_acknowledged_before_it_is_kept(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite) as team:
        accept = team.desk.accept
        broken = asyncio.Event()

        async def breaks(message: object) -> None:
            broken.set()
            raise OSError

        team.desk.accept = breaks  # type: ignore[assignment,method-assign]
        message = team.slack.put(GENERAL, ADA, f"<@{BOT}> hello")
        envelope = await team.slack.tell(team.slack.event(GENERAL, message), wait=False)
        await broken.wait()
        await asyncio.sleep(0.2)
        assert envelope not in team.slack.acks
        team.desk.accept = accept  # type: ignore[method-assign]
        await team.slack.tell(team.slack.event(GENERAL, message), retry=1)
        assert len(await parts(team)) == 1


async def test_stop_ends_the_answer(fresh_sqlite: str) -> None:
    model = Writing(pieces=tuple(f"word{number} " for number in range(400)), pace=0.05)
    async with at_work(fresh_sqlite, model) as team:
        message = await team.slack.say(GENERAL, ADA, f"<@{BOT}> write")
        await team.slack.until(lambda: team.slack.replies(GENERAL))
        stopped = {
            "type": "agent_session_stopped",
            "channel": GENERAL,
            "thread_ts": message["ts"],
            "user": ADA,
        }
        await team.slack.tell(team.slack.wrapped(stopped))
        found = await parts(team)
        assert len(found) == 1
        assert "word399" not in words(found[0])
        assert team.slack.called("agents.sessions.setStatus")[-1]["status"] == "active"


async def test_a_stream_that_a_person_stopped_stops_the_turn(fresh_sqlite: str) -> None:
    model = Writing(pieces=tuple(f"word{number} " for number in range(400)), pace=0.05)
    async with at_work(fresh_sqlite, model) as team:
        team.slack.faults["chat.appendStream"] = [fails("stopped_by_user")]
        await team.slack.say(GENERAL, ADA, f"<@{BOT}> write")
        found = await parts(team)
        assert len(found) == 1
        assert "word399" not in words(found[0])


async def test_nothing_in_a_reply_is_live(fresh_sqlite: str) -> None:
    said = "<!channel> @here <@U0BEN> [win](https://evil.example/?q=1) https://evil.example | ok"
    async with at_work(fresh_sqlite, Writing(pieces=(said[:30], said[30:]))) as team:
        await team.slack.say(GENERAL, ADA, f"<@{BOT}> see <https://good.example/a>")
        found = await parts(team)
        assert words(found[0]) == rendered(said)
        sent = str(team.slack.called("chat.startStream") + team.slack.called("chat.appendStream"))
        assert "<!" not in sent
        assert "<@" not in sent
        assert all(not call.get("link_names") for _, call in team.slack.calls)


async def test_an_address_that_the_asker_gave_may_be_pressed(fresh_sqlite: str) -> None:
    said = "It is at https://good.example/a and not at https://evil.example."
    async with at_work(fresh_sqlite, Scripted([said])) as team:
        await team.slack.say(GENERAL, ADA, f"<@{BOT}> see <https://good.example/a>")
        found = await parts(team)
        assert words(found[0]) == "It is at https://good.example/a and not at `https://evil.example`."


def test_the_mark_of_a_message_holds_no_words() -> None:
    assert blocks.metadata("turn:x:0", 1) == {
        "event_type": "teambot_reply",
        "event_payload": {"key": "turn:x:0", "part": 1},
    }
