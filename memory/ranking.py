"""Ranking: which memories stand in a prompt. Nothing is lost for room: what does not fit stays searchable."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, NamedTuple, Protocol

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.orm import Session

from memory.audience import Viewer, of_person
from memory.memories import TEAM_SUBJECT, Memory
from memory.text import tokens

HALF_LIVES = {1: 30, 2: 60, 3: 120, 4: 365, 5: 1_460}
"""Days after which a memory of that importance counts half."""
MOST_FACTS = 100
MOST_CHARACTERS = 4_000
AUTHOR_SHARE = 4
"""One author has at most one part in so many of the team's room."""
MOST_LOG = 30
MOST_NOTES = 20
NOTE_CHARACTERS = 2_000
NOTE_LIFE = timedelta(minutes=60)
MOST_WORK = 20
DEEP = 1_000
"""Candidates that are looked at for each importance and audience."""
DAY = 86_400.0
UNRELATED = 0.2
"""What a log entry counts that shares no word with recent talk; one that says the same counts 1.2."""


@dataclass(frozen=True)
class Snapshot:
    """What a conversation starts an epoch with."""

    rules: list[Memory] = field(default_factory=list)
    person_facts: list[Memory] = field(default_factory=list)
    team_facts: list[Memory] = field(default_factory=list)
    log: list[Memory] = field(default_factory=list)
    notes_private: list[Memory] = field(default_factory=list)
    work: list[Memory] = field(default_factory=list)

    @property
    def shown(self) -> dict[str, int]:
        """Every memory in it, by id, with the version that is shown."""
        lists = (self.rules, self.person_facts, self.team_facts, self.log, self.notes_private, self.work)
        return {row.id: row.version for row in chain(*lists)}


class Candidate(NamedTuple):
    """What ranking needs to know of a memory."""

    id: str
    author_id: str
    importance: int
    confirmed_at: datetime
    size: int


class Topical(Protocol):
    """What a conflict is seen in."""

    id: Any
    bot_id: Any
    subject: Any
    topic: Any
    digest: Any
    status: Any


def score(importance: int, days: float) -> float:
    """What a memory counts so many days after it was last confirmed."""
    return float(importance * 2.0 ** (-max(days, 0.0) / HALF_LIVES[importance]))


def ranked(rows: Iterable[Candidate], at: datetime) -> list[Candidate]:
    """Best first, in a total order: the newer, then the id decide between equals."""
    return sorted(rows, key=lambda row: (-_worth(row, at), -row.confirmed_at.timestamp(), row.id))


def fitting(
    rows: Iterable[Candidate], *, most: int, characters: int, author_share: int | None = None
) -> list[Candidate]:
    """The best rows that fit, in the order given; with a share, one author has no more than that part."""
    taken: list[Candidate] = []
    counts: dict[str, int] = {}
    sizes: dict[str, int] = {}
    room = characters
    for row in rows:
        if len(taken) == most:
            break
        author = row.author_id
        if row.size > room or (
            author_share is not None
            and (
                counts.get(author, 0) >= most // author_share
                or sizes.get(author, 0) + row.size > characters // author_share
            )
        ):
            continue
        taken.append(row)
        room -= row.size
        counts[author] = counts.get(author, 0) + 1
        sizes[author] = sizes.get(author, 0) + row.size
    return taken


def relevance(recent: str, text: str) -> float:
    """How much a text is about what was said lately: from nothing, 0, to the same words, 1."""
    said, words = set(tokens(recent)), set(tokens(text))
    if not said or not words:
        return 0.0
    return len(said & words) / math.sqrt(len(said) * len(words))


def conflicts(rows: Sequence[Topical]) -> set[str]:
    """Ids of memories on one subject and topic that different bots know differently."""
    topics: dict[tuple[str, str], list[Topical]] = {}
    for row in rows:
        if row.topic and row.status == "active":
            topics.setdefault((row.subject, row.topic), []).append(row)
    return {
        row.id
        for group in topics.values()
        for row in group
        if any(other.bot_id != row.bot_id and other.digest != row.digest for other in group)
    }


def alive(at: datetime) -> ColumnElement[bool]:
    """The condition on memories that hold at a moment."""
    return and_(
        Memory.status == "active",
        or_(Memory.valid_until.is_(None), Memory.valid_until > at),
        or_(Memory.expires_at.is_(None), Memory.expires_at > at),
    )


def snapshot(
    session: Session, viewer: Viewer, *, conversation_id: str, recent_text: str, at: datetime, alone: bool
) -> Snapshot:
    """What these readers' prompt starts with; a person's own memories only where that person is alone."""
    team_facts = _best(session, viewer, Memory.subject == TEAM_SUBJECT, at, _shared(viewer), AUTHOR_SHARE)
    log = _log(session, viewer, recent_text, at)
    work = _work(session, viewer, conversation_id, at)
    if not alone or viewer.person_id is None:
        return Snapshot(team_facts=team_facts, log=log, work=work)
    person_id = viewer.person_id
    rules = list(session.scalars(_rules(viewer.team_id, person_id).where(viewer.may_recall(), alive(at))))
    about = or_(Memory.subject == person_id, Memory.audience == of_person(person_id))
    condition = and_(about, Memory.kind.not_in(("rule", "private")))
    room = MOST_CHARACTERS - sum(len(row.text) for row in rules)
    person_facts = _best(
        session, viewer, condition, at, viewer.audiences, most=MOST_FACTS - len(rules), characters=room
    )
    notes = _best(
        session,
        viewer,
        Memory.kind == "private",
        at,
        (of_person(person_id),),
        most=MOST_NOTES,
        characters=NOTE_CHARACTERS,
    )
    return Snapshot(rules, person_facts, team_facts, log, notes, work)


def speaker_facts(session: Session, viewer: Viewer, person_id: str, at: datetime) -> list[Memory]:
    """What these readers may read about a person who speaks."""
    condition = and_(Memory.subject == person_id, Memory.kind.not_in(("rule", "private")))
    return _best(session, viewer, condition, at, viewer.audiences)


def alive_notes(session: Session, viewer: Viewer, at: datetime) -> list[Memory]:
    """Notes that have not expired, oldest first."""
    found = session.scalars(
        select(Memory)
        .where(viewer.may_recall(), alive(at), Memory.layer == "note", Memory.expires_at > at)
        .order_by(Memory.created_at.desc(), Memory.id)
        .limit(MOST_NOTES)
    )
    return list(found)[::-1]


def touch_note(session: Session, viewer: Viewer, memory_id: str, at: datetime) -> None:
    """Lets a living note live on for its whole time again."""
    found = session.scalar(
        select(Memory).where(viewer.may_recall(), alive(at), Memory.layer == "note", Memory.id == memory_id)
    )
    if found is not None:
        found.expires_at = at + NOTE_LIFE


def rule_fits(
    session: Session, team_id: str, person_id: str, text: str, *, without: str | None = None
) -> bool:
    """Whether a person's rules, with this one and without the one that it replaces, all fit into a prompt."""
    condition = _rules(team_id, person_id).where(Memory.status == "active", Memory.id != (without or ""))
    sizes = [len(row.text) for row in session.scalars(condition)]
    return len(sizes) < MOST_FACTS and sum(sizes) + len(text) <= MOST_CHARACTERS


def _rules(team_id: str, person_id: str) -> Any:
    return (
        select(Memory)
        .where(
            Memory.team_id == team_id,
            Memory.audience == of_person(person_id),
            Memory.layer == "fact",
            Memory.kind == "rule",
        )
        .order_by(Memory.created_at, Memory.id)
    )


def _shared(viewer: Viewer) -> tuple[str, ...]:
    own = of_person(viewer.person_id) if viewer.person_id else None
    return tuple(audience for audience in viewer.audiences if audience != own)


def _best(
    session: Session,
    viewer: Viewer,
    condition: ColumnElement[bool],
    at: datetime,
    audiences: Sequence[str],
    author_share: int | None = None,
    *,
    most: int = MOST_FACTS,
    characters: int = MOST_CHARACTERS,
) -> list[Memory]:
    """The facts under that condition that fit, best first."""
    rows = _candidates(session, viewer, "fact", condition, at, audiences)
    chosen = fitting(ranked(rows, at), most=most, characters=characters, author_share=author_share)
    return _loaded(session, [row.id for row in chosen])


def _candidates(
    session: Session,
    viewer: Viewer,
    layer: str,
    condition: ColumnElement[bool] | None,
    at: datetime,
    audiences: Sequence[str],
) -> list[Candidate]:
    """The newest of each importance: within one, newer is better, so nothing better is left out."""
    found: list[Candidate] = []
    for audience in audiences:
        for importance in HALF_LIVES:
            found += _newest(session, viewer, layer, condition, at, audience, importance)
    return found


def _newest(
    session: Session,
    viewer: Viewer,
    layer: str,
    condition: ColumnElement[bool] | None,
    at: datetime,
    audience: str,
    importance: int,
) -> list[Candidate]:
    columns = (Memory.id, Memory.author_id, Memory.importance, Memory.confirmed_at, func.length(Memory.text))
    query = select(*columns).where(
        viewer.may_recall(),
        alive(at),
        Memory.audience == audience,
        Memory.layer == layer,
        Memory.importance == importance,
    )
    if condition is not None:
        query = query.where(condition)
    newest = query.order_by(Memory.confirmed_at.desc(), Memory.id).limit(DEEP)
    return [Candidate(*row) for row in session.execute(newest)]


def _log(session: Session, viewer: Viewer, recent_text: str, at: datetime) -> list[Memory]:
    """The log entries that count most now, in the order of time."""
    candidates = ranked(_candidates(session, viewer, "log", None, at, viewer.audiences), at)[:DEEP]
    rows = _loaded(session, [row.id for row in candidates])
    worth = {
        row.id: score(row.importance, _days(row.confirmed_at, at))
        * (UNRELATED + relevance(recent_text, row.text))
        for row in rows
    }
    best = sorted(rows, key=lambda row: (-worth[row.id], -row.confirmed_at.timestamp(), row.id))[:MOST_LOG]
    return sorted(best, key=lambda row: (row.confirmed_at, row.id))


def _work(session: Session, viewer: Viewer, conversation_id: str, at: datetime) -> list[Memory]:
    """The newest revision of each topic of a conversation's work, latest last."""
    rows = session.scalars(
        select(Memory)
        .where(
            viewer.may_recall(), alive(at), Memory.layer == "work", Memory.conversation_id == conversation_id
        )
        .order_by(Memory.created_at.desc(), Memory.seq.desc())
        .limit(DEEP)
    )
    latest: dict[str, Memory] = {}
    for row in rows:
        latest.setdefault(row.topic, row)
    return list(latest.values())[:MOST_WORK][::-1]


def _loaded(session: Session, ids: list[str]) -> list[Memory]:
    rows = {row.id: row for row in session.scalars(select(Memory).where(Memory.id.in_(ids)))} if ids else {}
    return [rows[memory_id] for memory_id in ids if memory_id in rows]


def _worth(row: Candidate, at: datetime) -> float:
    return score(row.importance, _days(row.confirmed_at, at))


def _days(since: datetime, at: datetime) -> float:
    return (at - since).total_seconds() / DAY
