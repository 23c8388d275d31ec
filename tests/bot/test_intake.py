"""Intake under pressure: twins at the same moment, and many people at once."""

import asyncio
from dataclasses import replace

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from bot.messages import Address, Local
from memory.conversations import Conversation, Entry
from tests.crash.far import NAME, WORKSPACE, admit
from tests.crash.town import message
from tests.talk import opened


def entries(session: Session) -> int:
    return int(session.scalar(select(func.count()).select_from(Entry)) or 0)


async def test_twins_at_the_same_moment_are_one_message(database_url: str) -> None:
    desk = await asyncio.to_thread(opened, database_url)
    try:
        await desk.database.run(admit)
        first = message(Address(NAME, WORKSPACE, "C9"), "ada", 1)
        twins = await asyncio.gather(*(desk.accept(first) for _ in range(6)))
        assert len({twin.entry_id for twin in twins}) == 1
        assert sorted(twin.repeated for twin in twins) == [False, *[True] * 5]
        assert await desk.database.read(entries) == 1
        assert await desk.engine.owed() == 1
    finally:
        await desk.stop(0)


async def test_first_messages_of_a_place_at_the_same_moment_share_its_conversation(database_url: str) -> None:
    desk = await asyncio.to_thread(opened, database_url)
    try:
        await desk.database.run(admit)
        place = Address(NAME, WORKSPACE, "C9")
        said = [message(place, who, number) for number, who in enumerate(("ada", "ben"), start=1)]
        both = await asyncio.gather(*(desk.accept(one) for one in said))
        assert len({one.conversation_id for one in both}) == 1
        found = await desk.database.read(
            lambda session: session.scalar(select(func.count()).select_from(Conversation))
        )
        assert found == 1
    finally:
        await desk.stop(0)


async def test_many_messages_at_once_are_all_kept_and_numbered_apart(database_url: str) -> None:
    desk = await asyncio.to_thread(opened, database_url)
    try:
        said = await asyncio.gather(
            *(desk.say(Local(who, "#general"), f"{who} {n}") for n in range(8) for who in ("ada", "ben"))
        )
        assert len({one.entry_id for one in said}) == 16
        numbers = await desk.database.read(lambda session: list(session.scalars(select(Entry.message_id))))
        assert sorted(str(number) for number in numbers) == sorted(f"general-{n}" for n in range(1, 17))
    finally:
        await desk.stop(0)


async def test_a_repeat_with_other_words_changes_nothing(database_url: str) -> None:
    desk = await asyncio.to_thread(opened, database_url)
    try:
        await desk.database.run(admit)
        first = message(Address(NAME, WORKSPACE, "C9"), "ada", 1, "the first words")
        await desk.accept(first)
        assert (await desk.accept(replace(first, text="other words"))).repeated
        assert (
            await desk.database.read(lambda session: session.scalar(select(Entry.text))) == "the first words"
        )
    finally:
        await desk.stop(0)
