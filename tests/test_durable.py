"""Turns that survive: repeats, joins, stops, hangs, locks, lost sends, shutdowns. Each trap as its kind."""

import asyncio
import json
import sqlite3
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from bot.errors import ModelOverloaded, NotAdmitted
from bot.messages import Address, Author, Local, Message, Surroundings
from bot.model import Body
from bot.testing import Scripted, use
from bot.tools.tool import Tool, ToolCall, ToolResult
from memory.conversations import Entry
from memory.database import Database, Moment, set_clock
from memory.people import Account
from memory.turns import Outgoing, Step, Turn
from tests.contracts import assert_valid_request
from tests.crash.far import NAME, WORKSPACE, Far, admit
from tests.talk import Talk, talking


def far_message(number: int, text: str = "hello", who: str = "ada") -> Message:
    return Message(
        address=Address(NAME, WORKSPACE, "C1"),
        id=f"m{number}",
        author=Author(f"{who}-far", who.capitalize()),
        place=Surroundings("public", "C1"),
        text=text,
        said_at=datetime.now(UTC),
    )


async def with_far(talk: Talk, path: Path) -> Far:
    """A platform whose messages are not in our database."""
    far = Far(path)
    talk.desk.platforms[NAME] = far
    talk.desk.delivery.patience = 0.01
    await talk.desk.database.run(admit)
    return far


async def rest(talk: Talk, seconds: float = 30) -> None:
    """Waits until no workflow is owed."""
    end = time.monotonic() + seconds
    while await talk.desk.engine.owed():
        assert time.monotonic() < end, "the engine did not come to rest"
        await asyncio.sleep(0.05)


def count(session: Session, table: Any) -> int:
    return int(session.scalar(select(func.count()).select_from(table)) or 0)


async def test_the_same_message_again_is_answered_once(database_url: str, tmp_path: Path) -> None:
    async with talking(database_url) as talk:
        far = await with_far(talk, tmp_path / "far.db")
        first = await talk.desk.accept(far_message(1))
        second = await talk.desk.accept(far_message(1))
        await rest(talk)
        third = await talk.desk.accept(far_message(1))
        await rest(talk)
        assert (second.repeated, third.repeated) == (True, True)
        assert first.entry_id == second.entry_id == third.entry_id
        assert len(far.posts()) == 1


async def test_strangers_get_no_storage_and_no_model_call(database_url: str, tmp_path: Path) -> None:
    model = Scripted()
    async with talking(database_url, model) as talk:
        before = await talk.desk.database.read(
            lambda session: (count(session, Entry), count(session, Account))
        )
        with pytest.raises(NotAdmitted):
            await talk.desk.accept(far_message(1))
        after = await talk.desk.database.read(
            lambda session: (count(session, Entry), count(session, Account))
        )
    assert before == after
    assert model.bodies == []


async def test_a_send_whose_answer_was_lost_is_looked_up_and_not_repeated(
    database_url: str, tmp_path: Path
) -> None:
    async with talking(database_url, Scripted()) as talk:
        far = await with_far(talk, tmp_path / "far.db")
        far.lose = 1
        await talk.desk.accept(far_message(1))
        await rest(talk)
        assert [(text, final) for _, _, text, final in far.posts()] == [("ok", 1)]
        assert "find" in far.calls


async def test_a_platform_that_refuses_for_a_while_gets_the_reply_once(
    database_url: str, tmp_path: Path
) -> None:
    async with talking(database_url, Scripted()) as talk:
        far = await with_far(talk, tmp_path / "far.db")
        far.refuse = 3
        await talk.desk.accept(far_message(1))
        await rest(talk)
        assert [(text, final) for _, _, text, final in far.posts()] == [("ok", 1)]


async def test_a_platform_that_hangs_for_ever_does_not_hold_the_next_message(
    database_url: str, tmp_path: Path
) -> None:
    async with talking(database_url, Scripted()) as talk:
        far = await with_far(talk, tmp_path / "far.db")
        talk.desk.delivery.seconds = 0.2
        far.stuck = {"start"}
        await talk.desk.accept(far_message(1))
        await rest(talk)
        far.stuck = set()
        await talk.desk.accept(far_message(2, "again"))
        await rest(talk)
        assert len(far.posts()) == 1


async def test_what_the_starter_adds_joins_at_the_next_step_and_others_wait(database_url: str) -> None:
    gate = asyncio.Event()
    entered = asyncio.Event()

    async def slow(_: ToolCall, __: Any) -> ToolResult:
        entered.set()
        await gate.wait()
        return ToolResult("done")

    model = Scripted(answers=[[use("memory_search", {"query": "x"}, "t1")], "first", "second"])
    async with talking(database_url, model) as talk:
        tools = talk.desk.calling.tools
        real = tools["memory_search"]
        tools["memory_search"] = Tool(real.name, real.description, real.arguments, slow)
        ada = await talk.desk.say(Local("ada", "#general"), "begin")
        await entered.wait()
        ben = await talk.desk.say(Local("ben", "#general"), "and me")
        more = await talk.desk.say(Local("ada", "#general"), "one more thing")
        gate.set()
        outcomes = [await talk.desk.outcome(accepted) for accepted in (ada, ben, more)]
    assert outcomes[0]["turn"] == outcomes[2]["turn"] != outcomes[1]["turn"]
    assert [outcome["reply"] for outcome in outcomes] == ["first", "second", "first"]
    content = model.bodies[1]["messages"][-1]["content"]
    assert [block["type"] for block in content] == ["tool_result", "text", "text"]
    assert content[-1]["text"] == "one more thing"
    assert "and me" not in json.dumps(model.bodies[1])
    assert_valid_request(model.bodies[1])


async def test_stop_ends_the_turn_normally_and_keeps_what_was_written(database_url: str) -> None:
    class Endless(Scripted):
        async def respond(self, body: Body, on_text: Any = None) -> Any:
            on_text("The beginning of a long answer")
            await asyncio.Event().wait()

    async with talking(database_url, Endless()) as talk:
        accepted = await talk.desk.say(Local("ada", "#general"), "tell me everything")
        for _ in range(100):
            if await talk.desk.stop_local(Local("ada", "#general")):
                break
            await asyncio.sleep(0.05)
        said = await talk.desk.outcome(accepted)
        assert said["status"] == "stopped"
        assert said["reply"].startswith("The beginning of a long answer") or "stopped" in said["reply"]
        talk.desk.answering.model = talk.desk.model
        assert await talk.desk.stop_local(Local("ada", "#general")) is False


async def test_only_the_asker_and_admins_may_stop(database_url: str) -> None:
    model = Scripted(hold=asyncio.Event())
    async with talking(database_url, model) as talk:
        accepted = await talk.desk.say(Local("ada", "#general"), "hello")
        while not model.bodies:
            await asyncio.sleep(0.02)
        with pytest.raises(Exception, match="Only the person who asked"):
            await talk.desk.stop_local(Local("ben", "#general"))
        assert model.hold is not None
        model.hold.set()
        assert (await talk.desk.outcome(accepted))["status"] == "completed"


async def test_a_model_that_hangs_gets_a_deadline_and_the_next_messages_their_turn(database_url: str) -> None:
    class HangsOnce(Scripted):
        async def respond(self, body: Body, on_text: Any = None) -> Any:
            if not self.bodies:
                self.bodies.append(body)
                await asyncio.Event().wait()
            return await super().respond(body, on_text)

    async with talking(database_url, HangsOnce()) as talk:
        talk.desk.answering.deadline = 0.5
        people = ("ada", "ben", "ada", "ben")
        accepted = [
            await talk.desk.say(Local(who, "#general"), f"message {n}") for n, who in enumerate(people)
        ]
        first = await talk.desk.outcome(accepted[0])
        assert first["status"] == "failed"
        assert "did not answer in time" in first["reply"]
        rest_of_them = [await talk.desk.outcome(one) for one in accepted[1:]]
        assert all(one["reply"] for one in rest_of_them)
        order = await talk.desk.database.read(
            lambda session: list(
                session.scalars(select(Entry.text).where(Entry.kind == "message").order_by(Entry.position))
            )
        )
    assert order.index("message 1") < order.index("message 3")


async def test_a_tool_that_hangs_or_breaks_is_a_result_and_not_the_end(database_url: str) -> None:
    async def hangs(_: ToolCall, __: Any) -> ToolResult:
        await asyncio.Event().wait()
        raise AssertionError

    async def breaks(_: ToolCall, __: Any) -> ToolResult:
        raise RuntimeError("words of somebody")

    for work in (hangs, breaks):
        model = Scripted(answers=[[use("memory_search", {"query": "x"}, "t1")], "went on"])
        async with talking(database_url, model) as talk:
            talk.desk.calling.seconds = 0.3
            real = talk.desk.calling.tools["memory_search"]
            talk.desk.calling.tools["memory_search"] = Tool(real.name, real.description, real.arguments, work)
            assert (await talk.say("ada", "dm", "hello"))["reply"] == "went on"
        result = model.bodies[1]["messages"][-1]["content"][0]
        assert result["is_error"] is True
        assert "words of somebody" not in json.dumps(result)


async def test_calls_without_results_and_results_without_calls_never_reach_the_model(
    database_url: str,
) -> None:
    model = Scripted(answers=[[use("memory_search", {"query": "x"}, "t1")], "one", "two"])
    async with talking(database_url, model) as talk:
        await talk.say("ada", "dm", "hello")

        def lose_results(session: Session) -> None:
            entry = session.scalars(select(Entry).where(Entry.kind == "results")).one()
            session.delete(entry)

        await talk.desk.database.run(lose_results)
        assert (await talk.say("ada", "dm", "continue"))["reply"] == "two"
    for body in model.bodies:
        assert_valid_request(body)
    assert "interrupted" in json.dumps(model.bodies[-1])


@pytest.mark.parametrize("nothing", ["", "  \n", [{"type": "thinking", "thinking": "hm", "signature": "s"}]])
async def test_a_turn_with_nothing_to_say_leaves_nothing_empty_behind(
    database_url: str, nothing: Any
) -> None:
    blank = nothing if isinstance(nothing, list) else [{"type": "text", "text": nothing}]
    model = Scripted(answers=[blank, blank, blank, "hi"])
    async with talking(database_url, model) as talk:
        said = await talk.say("ada", "dm", "hello")
        assert said["reply"]
        talk_again = await talk.say("ada", "dm", "hi")
        assert talk_again["reply"]
    for body in model.bodies:
        assert_valid_request(body)
        assert not any(
            block.get("type") == "text" and not block["text"].strip()
            for message in body["messages"]
            for block in message["content"]
        )


async def test_an_overload_is_tried_again_with_patience_and_then_said(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    real = asyncio.sleep

    async def sleep(seconds: float, *more: Any) -> None:
        slept.append(seconds)
        await real(min(seconds, 0.01))

    monkeypatch.setattr("bot.answering.asyncio.sleep", sleep)
    model = Scripted(answers=[ModelOverloaded(), "after all"])
    async with talking(database_url, model) as talk:
        assert (await talk.say("ada", "dm", "hello"))["reply"] == "after all"
        model.bodies.clear()
        model.answers = [ModelOverloaded()]
        said = await talk.say("ada", "dm", "hello")
    assert said["status"] == "failed"
    assert "overloaded" in said["reply"]
    assert any(seconds >= 1 for seconds in slept)


async def test_a_lock_of_another_program_delays_messages_and_loses_none(fresh_sqlite: str) -> None:
    async with talking(fresh_sqlite, Scripted()) as talk:
        path = fresh_sqlite.removeprefix("sqlite:///")
        held = threading.Event()

        def hold() -> None:
            other = sqlite3.connect(path, isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            held.set()
            time.sleep(4)
            other.execute("COMMIT")
            other.close()

        holder = threading.Thread(target=hold)
        holder.start()
        await asyncio.to_thread(held.wait)
        sent = [talk.say("ada" if n % 2 else "ben", "#general", f"message {n}") for n in range(10)]
        outcomes = await asyncio.gather(*sent)
        holder.join()
        assert all(outcome["status"] == "completed" for outcome in outcomes)
        found = await talk.desk.database.read(
            lambda session: count(session, Entry.__table__.select().where(Entry.kind == "message").subquery())
        )
        assert found == 10


async def test_a_clock_that_goes_back_changes_no_order_and_repeats_nothing(database_url: str) -> None:
    try:
        async with talking(database_url, Scripted()) as talk:
            await talk.say("ada", "#general", "first")
            set_clock(lambda: datetime.now(UTC) - timedelta(minutes=10))
            await talk.say("ben", "#general", "second")
            await talk.say("ada", "#general", "third")
            order = await talk.desk.database.read(
                lambda session: list(
                    session.scalars(
                        select(Entry.text).where(Entry.kind == "message").order_by(Entry.position)
                    )
                )
            )
            replies = await talk.desk.database.read(lambda session: count(session, Outgoing))
    finally:
        set_clock(None)
    assert order == ["first", "second", "third"]
    assert replies == 3


def test_moments_come_back_as_they_were_on_both_databases(database_url: str) -> None:
    from zoneinfo import ZoneInfo

    from bot.seeding import TEAM_ID, seed
    from memory.turns import Worker

    database = Database(database_url)
    database.run_now(seed, local_people=True)
    there = datetime(2027, 1, 15, 18, 0, tzinfo=ZoneInfo("America/New_York"))
    database.run_now(lambda session: session.add(Worker(id="w", seen_at=there)))

    def found(session: Session) -> tuple[datetime, int]:
        berlin = there.astimezone(ZoneInfo("Europe/Berlin"))
        inside = session.scalar(
            select(func.count())
            .select_from(Worker)
            .where(Worker.seen_at >= berlin - timedelta(seconds=1), Worker.seen_at <= berlin)
        )
        return session.get_one(Worker, "w").seen_at, int(inside or 0)

    moment, inside = database.read_now(found)
    assert moment == datetime(2027, 1, 15, 23, 0, tzinfo=UTC)
    assert inside == 1
    assert TEAM_ID
    with pytest.raises(ValueError, match="time zone"):
        Moment().process_bind_param(datetime(2027, 1, 1), database.writing.dialect)  # noqa: DTZ001
    database.close()


@pytest.mark.parametrize("moment", ["model", "send", "pass"])
async def test_a_shutdown_in_the_midst_leaves_one_reply_after_the_next_start(
    database_url: str, tmp_path: Path, moment: str
) -> None:
    """SIGTERM, a short drain, then the end; the next process owes nothing twice and nothing less."""
    options = {"url": database_url, "far": str(tmp_path / "far.db"), "drain": 0, "pause": 0.4, "slow": 0.3}
    async with talking(database_url) as talk:
        await with_far(talk, tmp_path / "far.db")
    desk_url = database_url
    waits = {"model": 0.5, "send": 1.4, "pass": 2.4}[moment]
    worker = _worker(options)
    accepted = await _accept_only(desk_url, far_message(1))
    await asyncio.sleep(waits)
    worker.terminate()
    await asyncio.to_thread(worker.wait, 60)
    heir = _worker(options)
    posts: list[Any] = []
    for _ in range(200):
        posts = Far(tmp_path / "far.db").posts()
        if posts and posts[-1][3]:
            break
        await asyncio.sleep(0.1)
    await asyncio.sleep(1.0)
    heir.terminate()
    await asyncio.to_thread(heir.wait, 60)
    assert accepted
    assert [final for _, _, _, final in Far(tmp_path / "far.db").posts()] == [1]


def _worker(options: dict[str, Any]) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.crash.worker", json.dumps(options)],
        cwd=Path(__file__).parent.parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"go\n")
    process.stdin.close()
    assert process.stdout.readline().strip() == b"ready"
    process.stdout.close()
    return process


async def _accept_only(url: str, message: Message) -> str:
    from tests.talk import opened

    desk = await asyncio.to_thread(opened, url)
    try:
        return (await desk.accept(message)).entry_id
    finally:
        await desk.stop(0)


async def test_a_bot_that_is_deleted_in_mid_turn_ends_the_turn(database_url: str) -> None:
    from memory.bots import Bot

    model = Scripted(hold=asyncio.Event())
    async with talking(database_url, model) as talk:
        await talk.desk.say(Local("ada", "#general"), "hello")
        while not model.bodies:
            await asyncio.sleep(0.02)

        def delete_bot(session: Session) -> None:
            session.delete(session.scalars(select(Bot)).one())

        await talk.desk.database.run(delete_bot)
        assert model.hold is not None
        model.hold.set()
        await rest(talk)
        assert await talk.desk.database.read(lambda session: count(session, Turn)) == 0


async def test_every_call_has_its_reservation_settled(database_url: str) -> None:
    async with talking(database_url, Scripted(answers=["ok"])) as talk:
        await talk.say("ada", "dm", "hello", settle=True)
        open_steps = await talk.desk.database.read(
            lambda session: session.scalar(select(func.count()).where(Step.cost.is_(None)))
        )
    assert open_steps == 0
