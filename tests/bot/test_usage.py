"""Usage and prewarm: what is counted, what is warmed, and when not."""

import json
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from bot.messages import Local
from bot.model import Body, Capabilities, Response, Usage
from bot.prewarm import A_DAY
from bot.testing import Scripted
from memory.database import now
from memory.turns import Step
from tests.contracts import assert_valid_request
from tests.talk import Talk, talking

LONG = "a long message of many words " * 900


class Warm(Scripted):
    """A scripted model that can prewarm and counts what it read from the cache."""

    def __init__(self) -> None:
        super().__init__(capabilities=Capabilities(structured_output=True, prewarm=True))
        self.warmed: list[Body] = []

    async def prewarm(self, body: Body) -> Response:
        self.warmed.append(json.loads(json.dumps(body)))
        return Response([], "max_tokens", Usage(0, 0, 5_000))

    async def respond(self, body: Body, on_text: Any = None) -> Response:
        answer = await super().respond(body, on_text)
        return Response(answer.content, answer.stop_reason, Usage(100, 10, 900, 0, 1_000))


def age(session: Session) -> None:
    session.execute(update(Step).values(created_at=now() - timedelta(hours=2)))


async def open_and_wait(talk: Talk, who: str = "ada") -> None:
    await talk.desk.open_local(Local(who, "dm"))
    await talk.desk.prewarm.settled()


async def test_a_person_who_opens_the_chat_warms_the_prefix_once(database_url: str) -> None:
    model = Warm()
    async with talking(database_url, model) as talk:
        await talk.say("ada", "dm", LONG)
        await open_and_wait(talk)
        assert model.warmed == [], "it was used a moment ago"
        await talk.desk.database.run(age)
        await open_and_wait(talk)
        await open_and_wait(talk)
        assert len(model.warmed) == 1
        sent, warmed = model.bodies[0], model.warmed[0]
        assert_valid_request(warmed)
        assert warmed["tools"] == sent["tools"]
        assert warmed["system"] == sent["system"]
        assert warmed["messages"][0]["content"][0]["text"] == sent["messages"][0]["content"][0]["text"]


async def test_nothing_is_warmed_where_there_is_nothing_to_gain(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Warm()
    async with talking(database_url, model) as talk:
        await open_and_wait(talk)
        assert model.warmed == [], "no conversation yet"
        monkeypatch.setattr("bot.prewarm.MINIMUM", 50_000)
        await talk.say("ben", "dm", "short")
        await talk.desk.database.run(age)
        await open_and_wait(talk, "ben")
        assert model.warmed == [], "under the model's minimum"


async def test_a_day_of_typing_is_capped(database_url: str) -> None:
    model = Warm()
    async with talking(database_url, model) as talk:
        await talk.say("ada", "dm", LONG)
        for _ in range(A_DAY + 3):
            await talk.desk.database.run(age)
            await open_and_wait(talk)
        assert len(model.warmed) == A_DAY


async def test_usage_adds_up_by_every_group_and_names_the_share_of_the_cache(database_url: str) -> None:
    async with talking(database_url, Warm()) as talk:
        await talk.say("ada", "#general", "one", settle=True)
        await talk.say("ben", "dm", "two", settle=True)
        for by in ("day", "bot", "place", "person", "tag"):
            rows = await talk.desk.usage(by, 7)
            assert sum(row["calls"] for row in rows if by != "tag" or row["group"] == "main") >= 2
        main = next(row for row in await talk.desk.usage("tag", 7) if row["group"] == "main")
        assert main["cache_share"] == pytest.approx(900 / 2_000)
        assert main["cache_write_1h_tokens"] == 2_000
        assert {row["group"] for row in await talk.desk.usage("person", 7)} == {"Ada", "Ben"}
        own = await talk.command("ben", "dm", "/usage person")
        assert {row["group"] for row in own.rows} == {"Ben"}, "a member sees their own"
        assert {row["group"] for row in (await talk.command("ada", "dm", "/usage person")).rows} == {
            "Ada",
            "Ben",
        }


async def test_status_names_the_section_of_an_unplanned_miss(database_url: str) -> None:
    async with talking(database_url, Warm()) as talk:
        await talk.say("ada", "dm", "hello")

        def miss(session: Session) -> None:
            step = session.scalars(select(Step).where(Step.tag == "main")).first()
            assert step is not None
            step.missed = "system"

        await talk.desk.database.run(miss)
        assert "system: 1" in (await talk.command("ada", "dm", "/status")).text
