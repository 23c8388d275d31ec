"""The loop where things went wrong: workflows that are gone, and turns in each other's way."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from bot import turns
from bot.desk import Desk
from bot.messages import Accepted, Address
from bot.testing import Scripted
from memory.conversations import Entry
from memory.turns import Outgoing, Turn
from tests.crash.far import NAME, WORKSPACE, Far, admit
from tests.crash.town import message
from tests.talk import opened

PLACE = Address(NAME, WORKSPACE, "C1")


@asynccontextmanager
async def office(url: str, path: Path) -> AsyncIterator[tuple[Desk, Far]]:
    """A desk that does not run turns yet, with a platform far away."""
    desk = await asyncio.to_thread(opened, url, Scripted(answers=["here I am"]))
    far = Far(path / "far.db")
    desk.platforms[NAME] = far
    desk.delivery.patience = 0.01
    await desk.database.run(admit)
    try:
        yield desk, far
    finally:
        await desk.stop(5)


async def drop(desk: Desk, accepted: Accepted) -> None:
    """The workflow of a message vanishes, as after an error nobody foresaw."""
    assert accepted.turn_id is not None
    await desk.engine.client.delete_workflows_async([accepted.turn_id])


async def come_to_rest(desk: Desk) -> None:
    while await desk.engine.owed():
        await asyncio.sleep(0.05)


async def test_a_message_whose_workflow_is_gone_is_answered_all_the_same(
    database_url: str, tmp_path: Path
) -> None:
    async with office(database_url, tmp_path) as (desk, far):
        accepted = await desk.accept(message(PLACE, "ada", 1))
        await drop(desk, accepted)
        await desk.start()
        assert (await desk.outcome(accepted, timeout=30))["reply"] == "here I am"
        await desk.loop.rescue()
        await come_to_rest(desk)
        assert [text for _, _, text, _ in far.posts()] == ["here I am"]


async def test_a_turn_whose_workflow_is_gone_is_ended_and_its_person_told(
    database_url: str, tmp_path: Path
) -> None:
    async with office(database_url, tmp_path) as (desk, far):
        accepted = await desk.accept(message(PLACE, "ada", 1))
        await desk.database.run(turns.claim, accepted.turn_id or "", accepted.conversation_id)
        await drop(desk, accepted)
        await desk.start()
        found = await desk.outcome(accepted, timeout=30)
        assert (found["status"], found["error"]) == ("failed", "Lost")
        later = await desk.accept(message(PLACE, "ben", 2))
        assert (await desk.outcome(later, timeout=30))["reply"] == "here I am"
        first, second = [text for _, _, text, _ in far.posts()]
        assert "please ask again" in first
        assert second == "here I am"


async def test_a_finished_answer_whose_workflow_is_gone_is_delivered(
    database_url: str, tmp_path: Path
) -> None:
    async with office(database_url, tmp_path) as (desk, far):
        accepted = await desk.accept(message(PLACE, "ada", 1))
        turn_id = accepted.turn_id or ""
        await desk.database.run(turns.claim, turn_id, accepted.conversation_id)
        await desk.answering.step(turn_id, 0, lambda _: None)
        await drop(desk, accepted)
        await desk.start()
        assert (await desk.outcome(accepted, timeout=30))["status"] == "completed"
        assert [text for _, _, text, _ in far.posts()] == ["here I am"]


async def test_a_workflow_never_stands_in_the_way_of_the_turn_that_it_waits_for(
    database_url: str, tmp_path: Path
) -> None:
    async with office(database_url, tmp_path) as (desk, far):
        first = await desk.accept(message(PLACE, "ada", 1))
        second = await desk.accept(message(PLACE, "ben", 2))
        # As after a crash: the turn runs already under the workflow that stands second in the queue.
        await desk.database.run(turns.claim, second.turn_id or "", first.conversation_id)
        await desk.start()
        for accepted in (first, second):
            assert (await desk.outcome(accepted, timeout=30))["reply"] == "here I am"
        await come_to_rest(desk)
        assert len(far.posts()) == 2


async def test_what_a_platform_did_not_take_is_sent_later(database_url: str, tmp_path: Path) -> None:
    async with office(database_url, tmp_path) as (desk, far):
        far.refuse = 1_000
        await desk.start()
        accepted = await desk.accept(message(PLACE, "ada", 1))
        found = await desk.outcome(accepted, timeout=60)
        assert (found["status"], found["error"]) == ("failed", "NotDelivered")
        assert far.posts() == []
        far.refuse = 0
        await desk.loop.rescue()
        await come_to_rest(desk)
        assert [text for _, _, text, _ in far.posts()] == ["here I am"]
        found = await desk.outcome(accepted, timeout=30)
        assert (found["status"], found["error"]) == ("completed", None)


def test_only_the_starters_own_words_on_the_same_surface_join(database_url: str, tmp_path: Path) -> None:
    async def scene() -> tuple[list[str | None], list[str | None]]:
        async with office(database_url, tmp_path) as (desk, _):
            said = [
                await desk.accept(message(PLACE, who, number))
                for number, who in enumerate(("ada", "ben", "ada"), start=1)
            ]
            turn_id = said[1].turn_id or ""
            # Whichever workflow comes first takes the oldest message, not its own.
            await desk.database.run(turns.claim, turn_id, said[0].conversation_id)
            taken = await desk.database.read(owners)
            await desk.accept(message(PLACE, "ada", 4))
            await desk.accept(message(PLACE, "ben", 5))
            await desk.database.run(turns.join, turn_id)
            return taken, await desk.database.read(owners)

    def owners(session: Session) -> list[str | None]:
        return list(session.scalars(select(Entry.turn_id).order_by(Entry.seq)))

    taken, joined = asyncio.run(scene())
    mine = taken[0]
    assert mine is not None
    assert taken == [mine, None, mine]
    assert joined == [mine, None, mine, mine, None]


async def test_a_turn_is_closed_once(database_url: str, tmp_path: Path) -> None:
    async with office(database_url, tmp_path) as (desk, _):
        accepted = await desk.accept(message(PLACE, "ada", 1))
        turn_id = accepted.turn_id or ""
        await desk.database.run(turns.claim, turn_id, accepted.conversation_id)
        closed = await asyncio.gather(
            *(desk.database.run(turns.close, turn_id, "completed") for _ in range(4))
        )
        assert sorted(closed) == [False, False, False, True]


async def test_a_reply_that_was_sent_is_not_sent_again_by_a_second_delivery(
    database_url: str, tmp_path: Path
) -> None:
    async with office(database_url, tmp_path) as (desk, far):
        await desk.start()
        accepted = await desk.accept(message(PLACE, "ada", 1))
        await desk.outcome(accepted, timeout=30)
        turn_id = await desk.database.read(lambda session: session.scalars(select(Turn.id)).one())
        # As if the crash had come between the platform's answer and our record of it.
        await desk.database.run(_unrecorded, turn_id)
        assert await desk.delivery.settle(turn_id) == "sent"
        assert [text for _, _, text, _ in far.posts()] == ["here I am"]


def _unrecorded(session: Session, turn_id: str) -> None:
    session.execute(update(Turn).where(Turn.id == turn_id).values(status="running", ended_at=None))
    session.execute(
        update(Outgoing).where(Outgoing.turn_id == turn_id).values(status="sending", message_id=None)
    )
