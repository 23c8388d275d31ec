"""Beginning: what a new epoch knows of the talk before it."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from bot.tokens import estimate
from memory.audience import Viewer
from memory.conversations import Conversation, Entry, Summary
from memory.memories import Memory
from memory.people import Person
from memory.text import plain_date
from memory.words import canonical

EARLIER_TOKENS = 20_000
"""How much of the newest readable originals a new epoch quotes when there is no summary to start from."""
EARLIER_ROWS = 400
RECENT = 6
"""Messages that a new epoch quotes word for word."""
RECENT_LENGTH = 4_000


def begun_from(
    session: Session, conversation: Conversation, readers: Viewer, start: int
) -> tuple[dict[str, Any] | None, list[str]]:
    """What a new epoch after `start` begins with: the newest summary that these readers may read whole, the
    last messages word for word, and open tasks; without a summary, readable originals. With the ids of the
    memories that all this shows."""
    summary = session.scalar(
        select(Summary)
        .where(Summary.conversation_id == conversation.id, Summary.upto <= start, readers.may_read(Summary))
        .order_by(Summary.upto.desc())
        .limit(1)
    )
    if summary is None or not readers.reads_all(summary.audiences):
        value, ids = earlier(session, conversation, readers, start)
    else:
        recent, quoted = _recent(session, conversation, readers, start, summary.upto)
        value = {"summary": summary.text, "made_on": plain_date(summary.created_at), "last_messages": recent}
        ids = [*summary.shown, *quoted]
    tasks = open_tasks(session, conversation, readers)
    if tasks:
        value = {**(value or {}), "open_tasks": [task for _, task in tasks]}
        ids = [*ids, *(memory_id for memory_id, _ in tasks)]
    return value, sorted(set(ids))


def _recent(
    session: Session, conversation: Conversation, readers: Viewer, start: int, upto: int
) -> tuple[list[dict[str, Any]], list[str]]:
    """The last messages to and from people, and all that came after the summary."""
    rows = session.execute(
        select(Entry, Person.name)
        .outerjoin(Person, Person.id == Entry.person_id)
        .where(
            Entry.conversation_id == conversation.id,
            Entry.position <= start,
            Entry.kind.in_(("message", "overheard", "reply")),
            Entry.text != "",
            Entry.redacted_at.is_(None),
            readers.may_read(Entry),
        )
        .order_by(Entry.position.desc())
        .limit(200)
    ).all()
    kept = [row for number, row in enumerate(rows) if number < RECENT or (row[0].position or 0) > upto]
    lines = [
        {
            "from": "you" if entry.role == "assistant" else name or "",
            "on": plain_date(entry.said_at),
            "text": entry.text[:RECENT_LENGTH],
        }
        for entry, name in reversed(kept)
    ]
    return lines, [memory_id for entry, _ in kept for memory_id in entry.shown]


def open_tasks(
    session: Session, conversation: Conversation, readers: Viewer
) -> list[tuple[str, dict[str, Any]]]:
    """Open work records of this conversation, whatever a summary says of them."""
    rows = session.scalars(
        select(Memory)
        .where(
            Memory.layer == "work",
            Memory.conversation_id == conversation.id,
            Memory.status == "active",
            readers.may_recall(),
        )
        .order_by(Memory.created_at, Memory.id)
    )
    found = []
    for row in rows:
        work = row.work or {}
        if work.get("state", "open") == "open":
            found.append((row.id, {"id": row.id, "topic": row.topic, "text": row.text, **work}))
    return found


def earlier(
    session: Session, conversation: Conversation, readers: Viewer, start: int
) -> tuple[dict[str, Any] | None, list[str]]:
    """The newest originals before `start` that these readers may read, quoted as data, and the ids of the
    memories that they show."""
    rows = session.scalars(
        select(Entry)
        .where(
            Entry.conversation_id == conversation.id,
            Entry.position <= start,
            Entry.text != "",
            Entry.redacted_at.is_(None),
            readers.may_read(Entry),
        )
        .order_by(Entry.position.desc())
        .limit(EARLIER_ROWS)
    ).all()
    quoted: list[dict[str, Any]] = []
    shown: list[str] = []
    room = EARLIER_TOKENS
    for entry in rows:
        line = {"from": _name(session, entry), "on": plain_date(entry.said_at), "text": entry.text}
        room -= estimate(canonical(line))
        if room < 0:
            break
        quoted.append(line)
        shown.extend(entry.shown)
    return ({"earlier_talk": quoted[::-1]} if quoted else None), sorted(set(shown))


def _name(session: Session, entry: Entry) -> str:
    if entry.role == "assistant":
        return "you"
    person = session.get(Person, entry.person_id) if entry.person_id else None
    return person.name if person else ""
