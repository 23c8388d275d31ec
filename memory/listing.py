"""Listing: what a person sees of what is kept, with its source where they may read that."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from memory.audience import TEAM, Viewer, may_enter, of_person, of_place, person_viewer
from memory.bots import Bot
from memory.conversations import Entry
from memory.database import now
from memory.files import exported
from memory.journal import JournalRecord
from memory.memories import TEAM_SUBJECT, Memory
from memory.people import Account, Person, Speaker
from memory.places import Place
from memory.ranking import alive, conflicts

Scope = Literal["mine", "team"]

UNNAMED = "place:private"


def my_memory(
    session: Session,
    viewer: Viewer,
    who: Speaker,
    *,
    status: Sequence[str] = ("active",),
    scope: Scope = "mine",
) -> list[Memory]:
    """What is kept by and about that person, or (`team`) for the team, and is readable here; newest first."""
    mine = or_(Memory.author_id == who.person_id, Memory.subject == who.person_id)
    found = session.scalars(
        select(Memory)
        .where(
            viewer.may_recall(),
            Memory.status.in_(status),
            or_(Memory.expires_at.is_(None), Memory.expires_at > now()),
            mine if scope == "mine" else Memory.audience == TEAM,
        )
        .order_by(Memory.confirmed_at.desc(), Memory.id)
    )
    return list(found)


def as_row(session: Session, memory: Memory, viewer: Viewer) -> dict[str, Any]:
    """One memory as people and programs see it."""
    return as_rows(session, [memory], viewer)[0]


def as_rows(session: Session, memories: Sequence[Memory], viewer: Viewer) -> list[dict[str, Any]]:
    """Memories that the viewer may read, as rows; quote and link only where the source is readable too."""
    names = _names(session, memories)
    sources = _readable_sources(session, memories, viewer)
    conflicting = _conflicting(session, memories, viewer)
    rows = []
    for memory in memories:
        sourced = memory.source_id is None or memory.source_id in sources
        corrected = memory.origin == "manual" and memory.quote == memory.text
        rows.append(
            {
                "id": memory.id,
                "text": memory.text,
                "layer": memory.layer,
                "kind": memory.kind,
                "audience": _shown_audience(session, memory.audience, viewer, names),
                "author": names.get(memory.author_id, ""),
                "subject": TEAM_SUBJECT if memory.subject == TEAM_SUBJECT else names.get(memory.subject, ""),
                "origin": memory.origin,
                "status": memory.status,
                "quote": memory.quote if sourced or corrected else None,
                "link": memory.link if sourced else None,
                "topic": memory.topic,
                "importance": memory.importance,
                "confidence": memory.confidence,
                "version": memory.version,
                "created_at": memory.created_at.isoformat(),
                "conflict": memory.id in conflicting,
            }
        )
    return rows


def readers(session: Session, audience: str, viewer: Viewer) -> str:
    """The readers of an audience in words, as a card shows them."""
    kind, _, name = audience.partition(":")
    if kind == "place":
        return f"everybody in {_place_name(session, name, viewer) or 'a private channel'}"
    if kind == "person":
        person = session.get(Person, name)
        return f"only {person.name}" if person else "one person"
    return "every member of the team"


def _names(session: Session, memories: Iterable[Memory]) -> dict[str, str]:
    wanted: set[str] = set()
    for memory in memories:
        kind, _, owner = memory.audience.partition(":")
        wanted |= {memory.author_id, memory.subject, *([owner] if kind == "person" else [])}
    rows = session.execute(select(Person.id, Person.name).where(Person.id.in_(wanted)))
    return {row.id: row.name for row in rows}


def _shown_audience(session: Session, audience: str, viewer: Viewer, names: dict[str, str]) -> str:
    kind, _, owner = audience.partition(":")
    if kind == "person":
        return f"person:{names.get(owner, '').casefold()}"
    if kind == "place":
        name = _place_name(session, owner, viewer)
        return f"place:{name}" if name else UNNAMED
    return audience


def _place_name(session: Session, place_id: str, viewer: Viewer) -> str | None:
    """A place's name, for its readers only."""
    place = session.get(Place, place_id)
    if place is None or not viewer.reads(of_place(place_id)):
        return None
    return f"#{place.name.removeprefix('#')}"


def _readable_sources(session: Session, memories: Iterable[Memory], viewer: Viewer) -> set[str]:
    """Ids of source entries that still have their words and that these readers may read."""
    wanted = {memory.source_id for memory in memories if memory.source_id}
    rows = session.scalars(
        select(Entry.id).where(Entry.id.in_(wanted), viewer.may_read(Entry), Entry.redacted_at.is_(None))
    )
    return set(rows)


def _conflicting(session: Session, memories: Iterable[Memory], viewer: Viewer) -> set[str]:
    """Ids of facts that another bot knows differently, as far as these readers may see."""
    topics = {memory.topic for memory in memories if memory.topic and memory.layer == "fact"}
    if not topics:
        return set()
    rows = session.scalars(
        select(Memory).where(
            viewer.may_recall(), Memory.layer == "fact", Memory.topic.in_(topics), alive(now())
        )
    )
    return conflicts(list(rows))


def export(session: Session, who: Speaker) -> dict[str, Any]:
    """Everything of a person that the person may read, as JSON."""
    person = session.get_one(Person, who.person_id)
    viewer = _everywhere(session, who)
    accounts = session.scalars(select(Account).where(Account.person_id == who.person_id).order_by(Account.id))
    return {
        "person": {
            "name": person.name,
            "role": who.role,
            "zone": person.zone,
            "learning_paused": person.learning_paused,
            "settings": person.settings,
            "since": person.created_at.isoformat(),
        },
        "accounts": [
            {"platform": row.platform, "workspace": row.workspace, "id": row.external_id, "name": row.name}
            for row in accounts
        ],
        "memories": as_rows(session, _kept_of(session, who, viewer), viewer),
        "messages": _said(session, who, viewer),
        "files": exported(session, viewer, who.person_id),
        "journal": _journal(session, who, viewer),
    }


def _everywhere(session: Session, who: Speaker) -> Viewer:
    """One person's view of all that they may read anywhere: their own, the team's, and places they are in."""
    own = person_viewer(session, "", who)
    places = session.scalars(select(Place).where(Place.team_id == who.team_id, Place.kind != "dm"))
    entered = tuple(of_place(place.id) for place in places if may_enter(session, place, who))
    return replace(own, audiences=(*own.audiences, *entered))


def _kept_of(session: Session, who: Speaker, viewer: Viewer) -> list[Memory]:
    """Memories by or about the person, of every bot and status."""
    mine = or_(Memory.author_id == who.person_id, Memory.subject == who.person_id)
    return list(session.scalars(select(Memory).where(viewer.may_read(Memory), mine).order_by(Memory.seq)))


def _said(session: Session, who: Speaker, viewer: Viewer) -> list[dict[str, Any]]:
    """What the person said anywhere, and what bots answered in private."""
    mine = or_(Entry.person_id == who.person_id, Entry.audience == of_person(who.person_id))
    rows = session.execute(
        select(Entry, Place, Bot.name)
        .join(Place, Place.id == Entry.place_id)
        .join(Bot, Bot.id == Entry.bot_id)
        .where(viewer.may_read(Entry), mine, Entry.redacted_at.is_(None), Entry.text != "")
        .order_by(Entry.seq)
    )
    return [
        {
            "at": entry.said_at.isoformat(),
            "place": f"#{place.name.removeprefix('#')}" if place.kind != "dm" else "direct message",
            "by": who.name if entry.person_id == who.person_id else bot,
            "text": entry.text,
            "link": entry.link,
        }
        for entry, place, bot in rows
    ]


def _journal(session: Session, who: Speaker, viewer: Viewer) -> list[dict[str, Any]]:
    rows = session.scalars(
        select(JournalRecord)
        .where(viewer.may_read(JournalRecord), JournalRecord.person_id == who.person_id)
        .order_by(JournalRecord.seq)
    )
    return [row.record for row in rows]
