"""Compaction: summaries stand in for history, open tasks and last words are carried, nothing loops."""

import json
from datetime import timedelta
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from bot.compaction import INSTRUCTION
from bot.errors import ModelContextFull
from bot.messages import Local
from bot.model import Body, Capabilities
from bot.testing import Scripted
from memory.audience import of_person
from memory.conversations import Conversation, Epoch, Summary
from memory.database import now
from memory.memories import Memory
from memory.people import Account
from routines.idle import enqueue_due, wake_due
from tests.contracts import assert_valid_request
from tests.talk import Talk, talking


def summarising(text: str = "Ada asked for a price; it was set to 24.99. SUMMARY-MARK") -> Any:
    """A model that answers summaries with a text and everything else with ok."""

    def answer(body: Body) -> str:
        last = body["messages"][-1]["content"][-1]
        return text if last.get("text") == INSTRUCTION else "ok"

    return answer


def conversations(session: Session) -> list[Conversation]:
    return list(session.scalars(select(Conversation)))


def due_now(session: Session) -> None:
    session.execute(update(Conversation).values(idle_due_at=now() - timedelta(seconds=1)))


async def settled(talk: Talk) -> None:
    """Waits until no workflow is owed."""
    import asyncio

    for _ in range(300):
        if await talk.desk.engine.owed() == 0:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the engine did not come to rest")


async def test_an_idle_summary_is_made_on_the_same_prefix_and_starts_the_next_epoch(
    database_url: str,
) -> None:
    model = Scripted(answers=[summarising()])
    async with talking(database_url, model) as talk:
        await talk.say("ada", "dm", "change the price to 24.99")
        await settled(talk)
        await talk.desk.database.run(due_now)
        assert await wake_due(talk.desk.database, talk.desk.engine) == 1
        await settled(talk)
        before, summary_request = model.bodies[0], model.bodies[1]
        assert summary_request["tools"] == before["tools"]
        assert (
            summary_request["messages"][0]["content"][0]["text"]
            == before["messages"][0]["content"][0]["text"]
        )
        assert summary_request["messages"][-1]["content"][-1]["text"] == INSTRUCTION
        await talk.say("ada", "dm", "thanks")
    after = model.bodies[-1]
    assert_valid_request(after)
    assert len(after["messages"]) == 1
    first = json.loads(after["messages"][0]["content"][0]["text"])
    assert "SUMMARY-MARK" in first["summary"]["summary"]
    assert "change the price to 24.99" in [line["text"] for line in first["summary"]["last_messages"]]


async def test_a_summary_that_is_due_twice_is_made_once_and_not_while_work_waits(database_url: str) -> None:
    model = Scripted(answers=[summarising()])
    async with talking(database_url, model) as talk:
        await talk.say("ada", "dm", "hello")
        await settled(talk)
        await talk.desk.database.run(due_now)
        await wake_due(talk.desk.database, talk.desk.engine)
        await wake_due(talk.desk.database, talk.desk.engine)
        await settled(talk)
        assert len(model.bodies) == 2

        def with_a_waiting_message(session: Session) -> int:
            due_now(session)
            from memory.conversations import Entry

            session.execute(update(Entry).where(Entry.kind == "message").values(turn_id=None))
            enqueue_due(session, talk.desk.engine, now())
            session.flush()
            return sum(row.idle_due_at is not None for row in conversations(session))

        assert await talk.desk.database.run(with_a_waiting_message) == 0


async def test_open_tasks_are_carried_though_the_summary_drops_them(database_url: str) -> None:
    model = Scripted(answers=[summarising("nothing of note")])
    async with talking(database_url, model) as talk:
        await talk.say("ada", "dm", "hello")
        await settled(talk)
        await talk.desk.database.run(_plant_task)
        await talk.desk.database.run(due_now)
        await wake_due(talk.desk.database, talk.desk.engine)
        await settled(talk)
        await talk.say("ada", "dm", "and now?")
    first = json.loads(model.bodies[-1]["messages"][0]["content"][0]["text"])
    assert [task["topic"] for task in first["summary"]["open_tasks"]] == ["invoice"]


def _plant_task(session: Session) -> None:
    conversation = conversations(session)[0]
    account = session.scalars(select(Account).where(Account.external_id == "ada")).one()
    session.add(
        Memory(
            id="task1",
            team_id=conversation.team_id,
            bot_id=conversation.bot_id,
            author_id=account.person_id,
            account_id=account.id,
            subject="team",
            audience=of_person(account.person_id),
            layer="work",
            kind="fact",
            topic="invoice",
            text="send the invoice to Kim",
            origin="explicit",
            conversation_id=conversation.id,
            work={"state": "open"},
        )
    )


async def test_a_blank_or_refused_summary_changes_nothing(database_url: str) -> None:
    model = Scripted(answers=[summarising("  \n")])
    async with talking(database_url, model) as talk:
        await talk.say("ada", "dm", "hello")
        await settled(talk)
        await talk.desk.database.run(due_now)
        await wake_due(talk.desk.database, talk.desk.engine)
        await settled(talk)
        await talk.say("ada", "dm", "again")
    assert len(model.bodies[-1]["messages"]) == 3, "the old epoch goes on"


async def test_a_prompt_over_the_limit_is_summarised_once_in_mid_turn(database_url: str) -> None:
    model = Scripted(
        answers=[summarising()], capabilities=Capabilities(structured_output=True, window=26_000)
    )
    async with talking(database_url, model) as talk:
        for number in range(8):
            await talk.say("ada", "dm", f"message {number}: " + "lorem ipsum dolor " * 250)
        said = await talk.say("ada", "dm", "what now?")
        assert said["status"] == "completed"
    for body in model.bodies:
        assert_valid_request(body)
    assert any(body["messages"][-1]["content"][-1]["text"] == INSTRUCTION for body in model.bodies)
    assert any("carry_on" in json.dumps(body) for body in model.bodies)


async def test_a_window_that_nothing_fits_in_ends_with_one_notice(database_url: str) -> None:
    model = Scripted(answers=[summarising()], capabilities=Capabilities(structured_output=True, window=3_000))
    async with talking(database_url, model) as talk:
        said = await talk.say("ada", "dm", "hello")
        assert said["status"] == "failed"
        assert said["reply"] == str(ModelContextFull())
        calls = len(model.bodies)
    assert calls <= 1, "one attempt, one notice, no more calls"


async def test_a_provider_that_calls_the_prompt_too_long_gets_one_trimmed_retry(database_url: str) -> None:
    model = Scripted(answers=["ok", ModelContextFull(), "ok after the trim"])
    async with talking(database_url, model) as talk:
        await talk.say("ada", "dm", "the canary is called Pip")
        said = await talk.say("ada", "dm", "hello?")
    assert said["reply"] == "ok after the trim"
    assert "Pip" in json.dumps(model.bodies[-1]), "the newest originals are quoted"


async def test_readers_who_may_not_read_a_summary_start_from_originals(database_url: str) -> None:
    model = Scripted(answers=[summarising()])
    async with talking(database_url, model) as talk:
        await talk.command("ada", "#general", "/memory add the canary is called Pip")
        await talk.say("ada", "#general", "hello")
        await settled(talk)
        await talk.desk.database.run(due_now)
        await wake_due(talk.desk.database, talk.desk.engine)
        await settled(talk)
        assert await talk.desk.database.read(lambda session: session.scalar(select(Summary.id))) is not None
        await talk.desk.set_place("#general", external=True)
        await talk.say("ada", "#general", "hello again")
    assert "SUMMARY-MARK" not in json.dumps(model.bodies[-1])
    assert "Pip" not in json.dumps(model.bodies[-1])


async def test_a_summary_ends_its_epoch_and_says_why(database_url: str) -> None:
    model = Scripted(answers=[summarising()])
    async with talking(database_url, model) as talk:
        accepted = await talk.desk.say(Local("ada", "dm"), "hello")
        await talk.desk.outcome(accepted)
        await settled(talk)
        await talk.desk.database.run(due_now)
        await wake_due(talk.desk.database, talk.desk.engine)
        await settled(talk)
        reasons = await talk.desk.database.read(
            lambda session: list(session.scalars(select(Epoch.end_reason)))
        )
    assert reasons == ["summarised"]
