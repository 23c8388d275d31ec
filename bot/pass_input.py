"""What the memory pass is given of a turn: what people said in it, and what is known nearby."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from bot.epochs import current
from bot.errors import Unknown
from bot.preparation import Cast, cast
from memory.admission import LAYERS
from memory.audience import TEAM, of_person
from memory.conversations import Entry
from memory.database import now
from memory.errors import NotFound
from memory.evidence import known, said
from memory.memories import TEAM_SUBJECT, Memory
from memory.people import Person
from memory.proposals import PROTECTED, PassContext, Proposal, Said, Shown
from memory.ranking import alive
from memory.said_dates import zone
from memory.search import search_memories
from memory.speech import is_trivial
from memory.text import tokens

EARLIER = 6
"""People's messages before the turn that it may have agreed to."""
EARLIER_AGE = timedelta(hours=24)
MOST_PEOPLE = 20
NEAREST = 12
MOST_SHOWN = 30
LONGEST_MESSAGE = 6_000
LONGEST_REPLY = 2_000
DONE = "pass"
"""Where a turn keeps what its pass did."""


@dataclass(frozen=True)
class PassInput:
    """What the model is given, and what its small numbers mean."""

    turn_id: str | None
    team_id: str
    bot_id: str
    audience: str
    seen: tuple[str, ...]
    """Whose words the model has before it."""
    alone: bool
    entries: dict[int, tuple[str, bool]]
    """Number to entry id, and whether it is of this turn."""
    people: dict[int, tuple[str, str]]
    shown: dict[int, Shown]
    payload: dict[str, Any]


def delta(session: Session, turn_id: str) -> PassInput | None:
    """What of a turn can be learnt from; None where that is nothing, or the pass ran already."""
    try:
        scene = cast(session, turn_id)
    except (Unknown, NotFound):
        return None
    if DONE in scene.turn.remembered:
        return None
    fresh = _messages(session, scene)
    if not any(one.learnable and not one.gone and not is_trivial(one.text) for _, one in fresh):
        return None
    messages = [*_earlier(session, scene, fresh[0][0]), *fresh]
    heard = {number: one for number, (_, one) in enumerate(messages, start=1)}
    rows = _nearest(session, scene, [one.text for one in heard.values() if one.fresh])
    people = people_of(session, scene.turn.team_id, list(heard.values()), rows)
    return PassInput(
        turn_id=turn_id,
        team_id=scene.turn.team_id,
        bot_id=scene.bot.id,
        audience=scene.turn.audience,
        seen=scene.readers.audiences,
        alone=scene.alone,
        entries={number: (one.entry_id, one.fresh) for number, one in heard.items()},
        people=people,
        shown={number: Shown(row.id, row.version) for number, row in enumerate(rows, start=1)},
        payload=_payload(session, scene, heard, people, rows),
    )


def context(
    session: Session, given: PassInput, proposals: list[Proposal], at: datetime, *, adds_only: bool = False
) -> PassContext:
    """What the proposals are judged by: every row read again, in the transaction that writes."""
    rows = {
        entry.id: entry
        for entry in session.scalars(
            select(Entry).where(
                Entry.team_id == given.team_id,
                Entry.id.in_([entry_id for entry_id, _ in given.entries.values()]),
            )
        )
    }
    heard = {
        number: one
        for number, (entry_id, fresh) in given.entries.items()
        if entry_id in rows and (one := said(session, rows[entry_id], fresh=fresh)) is not None
    }
    audiences = {one.audience for one in heard.values()} | {
        of_person(one.person_id) for one in heard.values()
    }
    beside = known(
        session,
        given.team_id,
        given.bot_id,
        audiences,
        {TEAM_SUBJECT, *(person_id for person_id, _ in given.people.values())},
        [proposal.topic for proposal in proposals],
        [shown.id for shown in given.shown.values()],
        [one.entry_id for one in heard.values()],
        # What is only compared with, and never replaced, need not be read by the same people.
        (*given.seen, TEAM) if adds_only else given.seen,
    )
    return PassContext(
        bot_id=given.bot_id,
        messages=heard,
        people=given.people,
        shown=given.shown,
        known=beside,
        at=at,
        alone=given.alone,
        adds_only=adds_only,
    )


def _messages(session: Session, scene: Cast) -> list[tuple[Entry, Said]]:
    """The people's messages that the turn answered, as far as its readers of now may read them; talk that was
    overheard is never learnt from."""
    rows = session.scalars(
        select(Entry)
        .where(
            Entry.turn_id == scene.turn.id,
            Entry.kind == "message",
            Entry.role == "user",
            scene.readers.may_read(Entry),
        )
        .order_by(Entry.position)
    )
    return [(entry, one) for entry in rows if (one := said(session, entry)) is not None]


def _earlier(session: Session, scene: Cast, first: Entry) -> list[tuple[Entry, Said]]:
    """The last messages before the turn, which somebody may have agreed to in it."""
    rows = session.scalars(
        select(Entry)
        .where(
            Entry.conversation_id == scene.conversation.id,
            Entry.kind == "message",
            Entry.position < (first.position or 0),
            Entry.said_at > first.said_at - EARLIER_AGE,
            Entry.redacted_at.is_(None),
            scene.readers.may_read(Entry),
        )
        .order_by(Entry.position.desc())
        .limit(EARLIER)
    ).all()
    found = [(entry, said(session, entry, fresh=False)) for entry in rows[::-1]]
    return [(entry, one) for entry, one in found if one is not None and one.learnable and not one.gone]


def people_of(
    session: Session, team_id: str, heard: list[Said], rows: Sequence[Memory] = ()
) -> dict[int, tuple[str, str]]:
    """Who may be spoken about: those who spoke, who are named, and whom the shown memories are about."""
    names = {one.person_id: one.name for one in heard}
    mentioned = set(tokens(" ".join(one.text for one in heard)))
    about = {row.subject for row in rows}
    team = select(Person.id, Person.name).where(Person.team_id == team_id).order_by(Person.id)
    for person_id, name in session.execute(team):
        if person_id in about or mentioned.issuperset(tokens(name) or ["\x00"]):
            names.setdefault(person_id, name)
    return dict(enumerate(list(names.items())[:MOST_PEOPLE], start=1))


def _nearest(session: Session, scene: Cast, said_now: list[str]) -> list[Memory]:
    """Memories that the exchange may repeat or contradict: the nearest in words, then those in the prompt."""
    at = now()
    found = search_memories(session, scene.readers, "\n".join(said_now)[:2_000], at=at, limit=NEAREST)
    ids = [one.id for one in found]
    epoch = current(session, scene.conversation.id)
    if epoch is not None and scene.readers.reads_all(epoch.audiences):
        ids += [memory_id for memory_id in epoch.shown if memory_id not in ids]
    rows = session.scalars(
        select(Memory).where(
            scene.readers.may_recall(),
            alive(at),
            Memory.id.in_(ids),
            Memory.layer.in_(LAYERS),
            Memory.kind.not_in(PROTECTED),
        )
    )
    by_id = {row.id: row for row in rows}
    return [by_id[memory_id] for memory_id in ids if memory_id in by_id][:MOST_SHOWN]


def _payload(
    session: Session,
    scene: Cast,
    heard: dict[int, Said],
    people: dict[int, tuple[str, str]],
    rows: list[Memory],
) -> dict[str, Any]:
    """The exchange as the small model reads it; everything in it is data."""
    numbers = {person_id: number for number, (person_id, _) in people.items()}
    place = "direct message" if scene.alone else f"#{scene.place.name}"
    return {
        "place": place,
        "people": [{"number": number, "name": name} for number, (_, name) in people.items()],
        "messages": [line(number, one, numbers) for number, one in heard.items()],
        "assistant_reply": _reply(session, scene)[:LONGEST_REPLY],
        "known": [
            {
                "number": number,
                "about": numbers.get(row.subject, 0),
                "topic": row.topic,
                "text": row.text,
                "layer": row.layer,
                "version": row.version,
                "said_on": _day(row.confirmed_at, scene),
                "by_this_assistant": row.bot_id == scene.bot.id,
            }
            for number, row in enumerate(rows, start=1)
        ],
    }


def line(number: int, one: Said, numbers: dict[str, int]) -> dict[str, Any]:
    """A message as the small model reads it, its time in the speaker's own zone."""
    local = one.said_at.astimezone(zone(one.zone))
    line: dict[str, Any] = {
        "number": number,
        "from": numbers[one.person_id],
        "said_at": f"{local:%Y-%m-%dT%H:%M} ({local:%A}, {one.zone})",
        "text": one.text[:LONGEST_MESSAGE],
    }
    return line if one.fresh else {**line, "earlier": True}


def _reply(session: Session, scene: Cast) -> str:
    """What the bot answered: context, and never something to learn."""
    rows = session.scalars(
        select(Entry.text)
        .where(
            Entry.turn_id == scene.turn.id,
            Entry.role == "assistant",
            Entry.redacted_at.is_(None),
            scene.readers.may_read(Entry),
        )
        .order_by(Entry.position)
    )
    return "\n\n".join(filter(None, rows))


def _day(moment: datetime, scene: Cast) -> str:
    return f"{moment.astimezone(zone(scene.who.zone if scene.who else 'UTC')):%Y-%m-%d}"
