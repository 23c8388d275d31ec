"""What search sees of a row besides its text: who said it and when, and what was said just before.

Filled in whenever a memory or an entry is written, whoever writes it.
"""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, event, inspect, or_, select, update
from sqlalchemy.orm import Mapper

from memory.bots import Bot
from memory.conversations import Entry
from memory.database import now
from memory.memories import Memory
from memory.people import Person
from memory.text import extra_terms, plain_date

SAID = ("message", "overheard", "reply")
"""Kinds of entries that hold what people and bots said."""
BEFORE = 2
"""Messages before that count as context."""
CUT = 200
"""Characters of each of them."""
APART = "\t"


def head_of(name: str, when: datetime) -> str:
    """Who and when, as it stands before an indexed text: `Ada (08 May 2023):`."""
    return f"{name} ({plain_date(when)}):"


def ctx_of(before: list[tuple[str, str]]) -> str:
    """The context made of earlier (head, text), oldest first: a line for each, cut, with its extra terms."""
    lines = []
    for head, text in before:
        said = " ".join(f"{head} {text[:CUT]}".split())
        lines.append(f"{said}{APART}{extra_terms(said)}".rstrip(APART))
    return "\n".join(lines)


def said_before(ctx: str) -> list[str]:
    """The earlier messages in a context, the nearest first."""
    return [line.split(APART)[0] for line in reversed(ctx.split("\n")) if line]


def fill_entry(connection: Connection, entry: Entry) -> None:
    """Sets an entry's `head`, `ctx` and `folds` from its text, its speaker and the entries before it."""
    if entry.kind not in SAID or not entry.text:
        entry.head = entry.ctx = entry.folds = ""
        return
    name, zone = _speaker(connection, entry.person_id, entry.bot_id if entry.kind == "reply" else None)
    entry.head = head_of(name, _local(entry.said_at, zone))
    entry.ctx = ctx_of(_before(connection, entry))
    entry.folds = extra_terms(f"{entry.head} {entry.text}")


def fill_memory(connection: Connection, memory: Memory) -> None:
    """Sets a memory's `head` and `folds` from its text, its author and its date."""
    name, zone = _speaker(connection, memory.author_id, None)
    memory.head = head_of(name, _local(memory.valid_from or memory.created_at, zone))
    memory.folds = extra_terms(f"{memory.head} {memory.text}")


def _speaker(connection: Connection, person_id: str | None, bot_id: str | None) -> tuple[str, str]:
    if bot_id is not None:
        return connection.scalar(select(Bot.name).where(Bot.id == bot_id)) or "", "UTC"
    found = connection.execute(select(Person.name, Person.zone).where(Person.id == person_id)).one_or_none()
    return (found.name, found.zone) if found else ("", "UTC")


def _local(when: datetime, zone: str) -> datetime:
    try:
        return when.astimezone(ZoneInfo(zone))
    except (KeyError, ValueError, OSError):
        return when


def _before(connection: Connection, entry: Entry) -> list[tuple[str, str]]:
    """Earlier entries of the conversation, if whoever reads this one may read them."""
    rows = select(Entry.head, Entry.text).where(
        Entry.conversation_id == entry.conversation_id,
        Entry.audience == entry.audience,
        or_(Entry.drawn_from.is_(None), Entry.drawn_from == entry.drawn_from),
        Entry.kind.in_(SAID),
        Entry.redacted_at.is_(None),
    )
    if entry.seq is not None:
        rows = rows.where(Entry.seq < entry.seq)
    found = connection.execute(rows.order_by(Entry.seq.desc()).limit(BEFORE)).all()
    return [(row.head, row.text) for row in reversed(found)]


def refresh_after(connection: Connection, entry: Entry) -> None:
    """Writes the context of the entries after one whose words changed or went."""
    later = connection.execute(
        select(Entry.seq, Entry.conversation_id, Entry.audience, Entry.drawn_from)
        .where(
            Entry.conversation_id == entry.conversation_id,
            Entry.audience == entry.audience,
            Entry.kind.in_(SAID),
            Entry.seq > entry.seq,
        )
        .order_by(Entry.seq)
        .limit(BEFORE)
    ).all()
    for row in later:
        context = ctx_of(_before(connection, Entry(**row._asdict())))
        connection.execute(update(Entry).where(Entry.seq == row.seq).values(ctx=context))


def _changed(row: Any, *names: str) -> bool:
    state = inspect(row)
    return any(state.attrs[name].history.has_changes() for name in names)


@event.listens_for(Entry, "before_insert")
def _insert_entry(_: Mapper[Any], connection: Connection, entry: Entry) -> None:
    fill_entry(connection, entry)


@event.listens_for(Entry, "before_update")
def _update_entry(_: Mapper[Any], connection: Connection, entry: Entry) -> None:
    if _changed(entry, "text", "person_id", "audience", "redacted_at"):
        fill_entry(connection, entry)


@event.listens_for(Entry, "after_update")
def _updated_entry(_: Mapper[Any], connection: Connection, entry: Entry) -> None:
    if _changed(entry, "text", "person_id", "audience", "redacted_at"):
        refresh_after(connection, entry)


@event.listens_for(Memory, "before_insert")
def _insert_memory(_: Mapper[Any], connection: Connection, memory: Memory) -> None:
    memory.created_at = getattr(memory, "created_at", None) or now()
    fill_memory(connection, memory)


@event.listens_for(Memory, "before_update")
def _update_memory(_: Mapper[Any], connection: Connection, memory: Memory) -> None:
    if _changed(memory, "text", "author_id", "valid_from"):
        fill_memory(connection, memory)
