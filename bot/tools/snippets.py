"""Snippets: memories and earlier talk as a model reads them in a result, few, dated and sourced."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sqlalchemy import select
from sqlalchemy.orm import Session

from bot.commands.wording import audience_words
from memory.audience import Viewer
from memory.database import now
from memory.listing import as_rows
from memory.memories import TEAM_SUBJECT, Memory
from memory.people import Person
from memory.text import fold, plain_date

OLD_DAYS = 180
SOURCES = 3


def snippets(session: Session, memories: Sequence[Memory], viewer: Viewer, zone: str) -> list[dict[str, Any]]:
    """Memories as results; doubt, age and disagreement are said in words."""
    names = labels(session, {memory.author_id for memory in memories})
    rows = as_rows(session, memories, viewer)
    return [
        _snippet(session, memory, row, names[memory.author_id], viewer, zone)
        for memory, row in zip(memories, rows, strict=True)
    ]


def sources_of(results: Sequence[dict[str, Any]]) -> tuple[dict[str, str], ...]:
    """Where the first results come from, as a reply shows it to people."""
    return tuple(
        {"label": f"{row['author']}, {row['said_at']}", **({"link": row["link"]} if row.get("link") else {})}
        for row in [row for row in results if not row.get("by_bot")][:SOURCES]
    )


def labels(session: Session, person_ids: set[str]) -> dict[str, str]:
    """Names of people; those who share one are told apart by their ids."""
    rows = session.execute(select(Person.id, Person.name).where(Person.id.in_(person_ids))).all()
    counts: dict[str, int] = {}
    for _, name in rows:
        counts[fold(name)] = counts.get(fold(name), 0) + 1
    found = {
        person_id: name if counts[fold(name)] == 1 else f"{name} ({person_id[:4]})"
        for person_id, name in rows
    }
    return {person_id: found.get(person_id, "somebody") for person_id in person_ids}


def day(moment: datetime, zone: str) -> str:
    """A day as people write it, in that zone."""
    try:
        return plain_date(moment.astimezone(ZoneInfo(zone)))
    except (ZoneInfoNotFoundError, ValueError):
        return plain_date(moment.astimezone(UTC))


def _snippet(
    session: Session, memory: Memory, row: dict[str, Any], author: str, viewer: Viewer, zone: str
) -> dict[str, Any]:
    own = memory.subject == viewer.person_id
    value: dict[str, Any] = {
        "id": memory.id,
        "text": memory.text,
        "author": author,
        "about": "the team" if memory.subject == TEAM_SUBJECT else ("the asker" if own else row["subject"]),
        "said_at": day(memory.confirmed_at, zone),
        "audience": audience_words(session, memory.audience, viewer),
        "origin": memory.origin,
        "confidence": _confidence(memory.confidence),
        "conflict": row["conflict"],
        "status": memory.status,
    }
    notes = [note for note in (_age(memory), _ended(memory, zone), _conflict(row)) if note]
    if notes:
        value["careful"] = "; ".join(notes)
    return {**value, **{name: row[name] for name in ("quote", "link") if row[name]}}


def _confidence(value: float) -> str:
    return "sure" if value >= 0.9 else ("likely" if value >= 0.6 else "unsure")


def _age(memory: Memory) -> str:
    days = (now() - memory.confirmed_at).days
    return f"said {days // 30} months ago and not since: it may have changed" if days > OLD_DAYS else ""


def _ended(memory: Memory, zone: str) -> str:
    if memory.status == "archived":
        return "archived: somebody put it aside"
    if memory.valid_until is not None and memory.valid_until <= now():
        return f"held until {day(memory.valid_until, zone)} only"
    return ""


def _conflict(row: dict[str, Any]) -> str:
    return (
        "another memory disagrees: give both with their dates and ask which holds" if row["conflict"] else ""
    )
