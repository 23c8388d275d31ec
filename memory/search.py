"""Search of memories and conversations: by words and by meaning, within what the viewer may read."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.orm import Session

from memory.audience import Viewer
from memory.conversations import Entry
from memory.indexed import SAID
from memory.lexical import MAX_QUERY, terms_of, word_scores
from memory.meaning import Meaning, readable_by
from memory.memories import Memory, Status
from memory.people import Person
from memory.scope import Scope
from memory.text import tokens

CANDIDATES = 200
"""The best rows by words, and as many by meaning, are weighed together."""
BY_WORDS = 0.4
BY_AUTHOR = 0.1


@dataclass(frozen=True)
class Found:
    """One search result, best first in its list."""

    kind: Literal["memory", "entry"]
    id: str
    seq: int
    score: float
    row: Memory | Entry


def search_memories(
    session: Session,
    viewer: Viewer,
    query: str,
    *,
    at: datetime,
    limit: int = 10,
    statuses: Sequence[Status] = ("active",),
    meaning: Meaning | None = None,
) -> list[Found]:
    """The memories that answer a plain question best, among those that the viewer may recall at that time."""
    condition = and_(
        viewer.may_recall(),
        Memory.status.in_(statuses),
        or_(Memory.expires_at.is_(None), Memory.expires_at > at),
    )
    key = ("memories", viewer.team_id, viewer.bot_id, viewer.audiences, tuple(statuses))
    allowed = readable_by(viewer, "memory", statuses)
    scope = Scope("memory", Memory, condition, key, allowed)
    return _search(session, viewer, query, scope, limit, meaning)


def search_entries(
    session: Session,
    viewer: Viewer,
    query: str,
    *,
    limit: int = 10,
    conversation_ids: Sequence[str] | None = None,
    exclude_turn: str | None = None,
    meaning: Meaning | None = None,
) -> list[Found]:
    """What people and this bot said in its conversations that answers a plain question best."""
    scope = _said(viewer, conversation_ids, exclude_turn)
    return _search(session, viewer, query, scope, limit, meaning)


def _said(viewer: Viewer, conversation_ids: Sequence[str] | None, exclude_turn: str | None) -> Scope:
    condition = and_(
        viewer.may_read(Entry),
        Entry.bot_id == viewer.bot_id,
        Entry.kind.in_(SAID),
        Entry.redacted_at.is_(None),
        Entry.text != "",
    )
    if conversation_ids is not None:
        condition = and_(condition, Entry.conversation_id.in_(conversation_ids))
    if exclude_turn is not None:
        condition = and_(condition, or_(Entry.turn_id.is_(None), Entry.turn_id != exclude_turn))
    among = None if conversation_ids is None else tuple(conversation_ids)
    key = ("entries", viewer.team_id, viewer.bot_id, viewer.audiences, among)
    return Scope("entry", Entry, condition, key, readable_by(viewer, "entry", conversation_ids))


def _search(
    session: Session, viewer: Viewer, query: str, scope: Scope, limit: int, meaning: Meaning | None
) -> list[Found]:
    terms = terms_of(query)
    by_words = word_scores(session, scope, terms) if terms else {}
    best = dict(sorted(by_words.items(), key=lambda item: (-item[1], -item[0]))[:CANDIDATES])
    near = _by_meaning(session, scope, query, best, meaning) if meaning and terms else {}
    rows = _rows(session, scope, {*best, *near})
    if not rows:
        return []
    top = max(best.values(), default=1.0)
    named = _named(session, viewer, query)
    unknown = min(near.values(), default=0.0)
    found = []
    for seq, row in rows.items():
        score = near.get(seq, unknown) + BY_WORDS * best.get(seq, 0.0) / top
        score += BY_AUTHOR if _author(row) in named else 0.0
        found.append(Found(scope.kind, row.id, seq, round(score, 6), row))
    found.sort(key=lambda item: (-item.score, -item.seq))
    return found[:limit]


def _by_meaning(
    session: Session, scope: Scope, query: str, by_words: dict[int, float], meaning: Meaning
) -> dict[int, float]:
    """The cosines of the rows nearest in meaning, and of those that were found by words."""
    question = meaning.question(query[:MAX_QUERY])
    near = meaning.nearest(session, scope.kind, question, scope.allowed, CANDIDATES)
    missing = [seq for seq in by_words if seq not in near]
    return near | meaning.similarities(session, scope.kind, question, missing)


def _rows(session: Session, scope: Scope, seqs: Iterable[int]) -> dict[int, Memory | Entry]:
    wanted: ColumnElement[bool] = scope.table.seq.in_(sorted(seqs))
    rows: Any = session.scalars(select(scope.table).where(wanted, scope.condition))
    return {row.seq: row for row in rows}


def _author(row: Memory | Entry) -> str | None:
    return row.author_id if isinstance(row, Memory) else row.person_id


def _named(session: Session, viewer: Viewer, query: str) -> set[str]:
    """The people of the team whose name the question holds."""
    asked = set(tokens(query))
    people = session.execute(select(Person.id, Person.name).where(Person.team_id == viewer.team_id))
    return {person.id for person in people if asked.intersection(tokens(person.name))}
