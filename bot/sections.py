"""Sections: what the first block and each newest message tell the model, as JSON data with provenance."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sqlalchemy.orm import Session

from memory.audience import TEAM, Viewer
from memory.bots import Bot
from memory.conversations import Conversation, Entry
from memory.memories import Memory
from memory.people import Person, Speaker, Team
from memory.places import Place
from memory.ranking import Snapshot, alive_notes, snapshot, speaker_facts
from memory.text import plain_date


@dataclass
class Stage:
    """What sections are made from; `shown` collects {memory id: version} of what they contain."""

    conversation: Conversation
    place: Place
    bot: Bot
    who: Speaker | None
    readers: Viewer
    alone: bool
    at: datetime
    recent: str
    shown: dict[str, int]
    summary: dict[str, Any] | None = None


Build = Callable[[Session, Stage], Any]


def environment(session: Session, stage: Stage) -> dict[str, Any]:
    """Where the bot is and who reads."""
    team = session.get(Team, stage.conversation.team_id)
    readers = "one person, in private" if stage.alone else _readers(stage)
    return {
        "team": team.name if team else "",
        "bot": stage.bot.name,
        "place": "direct message" if stage.alone else f"#{stage.place.name}",
        "kind": "direct message" if stage.alone else stage.place.kind,
        "who_reads_your_answers": readers,
        "other_tools": [],
    }


def _readers(stage: Stage) -> str:
    if TEAM not in stage.readers.audiences:
        return "people outside the team or guests too, so you know only what was said here"
    return "everyone in the team" if stage.place.kind == "public" else "the members of this private channel"


def memory(session: Session, stage: Stage) -> dict[str, Any]:
    """The memory snapshot; frozen for the epoch."""
    found: Snapshot = snapshot(
        session,
        stage.readers,
        conversation_id=stage.conversation.id,
        recent_text=stage.recent,
        at=stage.at,
        alone=stage.alone,
    )
    stage.shown.update(found.shown)
    names = authors(
        session, [*found.rules, *found.person_facts, *found.team_facts, *found.log, *found.notes_private]
    )
    value: dict[str, Any] = {
        "team_facts": [fact(row, names) for row in found.team_facts],
        "log": [fact(row, names) for row in found.log],
    }
    if stage.alone and stage.who is not None:
        value["person"] = {
            "name": stage.who.name,
            "rules": [fact(row, names) for row in found.rules],
            "facts": [fact(row, names) for row in found.person_facts],
            "private_notes": [fact(row, names) for row in found.notes_private],
        }
    return value


def routines(_: Session, __: Stage) -> list[Any]:
    """Routines that these readers may see (none before any exists)."""
    return []


def summary(_: Session, stage: Stage) -> dict[str, Any] | None:
    """What happened before this epoch."""
    return stage.summary


SECTIONS: tuple[tuple[str, Build], ...] = (
    ("environment", environment),
    ("memory", memory),
    ("routines", routines),
    ("summary", summary),
)
"""The door for a new section of the first block: one line here, and its name in `bot.prompt.FIRST`."""


def newest(
    session: Session, stage: Stage, entry: Entry, changes: list[dict[str, Any]], *, card: bool
) -> dict[str, Any]:
    """The program's block before a message: time, speaker, what changed, short-lived notes."""
    value: dict[str, Any] = {
        "time": local_time(max(stage.at, entry.said_at), stage.who),
        "from": {"name": stage.who.name, "role": stage.who.role}
        if stage.who
        else {"name": "", "role": "program"},
    }
    if changes:
        value["changed_since"] = changes
    notes = alive_notes(session, stage.readers, stage.at)
    if notes:
        names = authors(session, notes)
        stage.shown.update({row.id: row.version for row in notes})
        value["notes"] = [
            {**fact(row, names), "until": local_time(row.expires_at, stage.who) if row.expires_at else None}
            for row in notes
        ]
    if card and stage.who is not None:
        facts = speaker_facts(session, stage.readers, stage.who.person_id, stage.at)
        stage.shown.update({row.id: row.version for row in facts})
        names = authors(session, facts)
        value["about_the_speaker"] = [fact(row, names) for row in facts]
    if entry.files:
        value["files"] = entry.files
    return value


def joined(entry: Entry, who: str) -> dict[str, Any]:
    """The program's block before a further message of a running turn."""
    return {
        "from": {"name": who},
        "sent_while_you_worked": True,
        **({"files": entry.files} if entry.files else {}),
    }


def overheard(entry: Entry, who: str) -> dict[str, Any]:
    """Talk that was not addressed to the bot: context, nobody's request."""
    return {"overheard": {"from": who, "on": plain_date(entry.said_at), "text": entry.text}}


def fact(row: Memory, names: dict[str, str]) -> dict[str, Any]:
    """One memory as data with its provenance."""
    value: dict[str, Any] = {
        "id": row.id,
        "text": row.text,
        "by": names.get(row.author_id, ""),
        "on": plain_date(row.confirmed_at),
    }
    if row.confidence < 1:
        value["confidence"] = round(row.confidence, 2)
    if row.kind in ("rule", "decision", "preference"):
        value["kind"] = row.kind
    return value


def authors(session: Session, rows: list[Memory]) -> dict[str, str]:
    """Names by person id."""
    wanted = {row.author_id for row in rows}
    found = (session.get(Person, person_id) for person_id in sorted(wanted))
    return {person.id: person.name for person in found if person is not None}


def local_time(moment: datetime, who: Speaker | None) -> str:
    """A moment in the person's own zone, to the minute."""
    name = who.zone if who else "UTC"
    try:
        zone = ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        zone, name = ZoneInfo("UTC"), "UTC"
    there = moment.astimezone(zone)
    return f"{plain_date(there)} {there:%H:%M} {name}"
