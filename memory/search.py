"""Search of memories and conversations: by words and by meaning, within what the viewer may read."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.orm import Session

from memory.audience import Viewer
from memory.conversations import Entry
from memory.fusion import Candidate, weigh
from memory.indexed import SAID
from memory.lexical import MAX_QUERY, terms_of, word_scores
from memory.meaning import Meaning, readable_by
from memory.memories import Memory, Status
from memory.people import Person
from memory.scope import Scope
from memory.text import tokens
from memory.vectors import NoEmbedder

CANDIDATES = 200
"""The best rows by words, and as many by meaning, are weighed together."""


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
    if not terms or limit < 1:
        return []
    words = word_scores(session, scope, terms)
    words = dict(sorted(words.items(), key=lambda item: (-item[1], -item[0]))[:CANDIDATES])
    near = _by_meaning(session, scope, query, words, meaning) if meaning else {}
    candidates = _candidates(session, scope, {*words, *near})
    scores = weigh(candidates, words, near, _named(session, viewer, query))
    best = sorted(scores.items(), key=lambda item: (-item[1], -item[0]))[:limit]
    rows = _rows(session, scope, [seq for seq, _ in best])
    return [Found(scope.kind, rows[seq].id, seq, score, rows[seq]) for seq, score in best if seq in rows]


def _by_meaning(
    session: Session, scope: Scope, query: str, words: dict[int, float], meaning: Meaning
) -> dict[int, float]:
    """The cosines of the rows nearest in meaning, and of those that were found by words."""
    try:
        question = meaning.question(query[:MAX_QUERY])
    except NoEmbedder:
        return {}
    near = meaning.nearest(session, scope.kind, question, scope.allowed, CANDIDATES)
    missing = [seq for seq in words if seq not in near]
    return near | meaning.similarities(session, scope.kind, question, missing)


def _candidates(session: Session, scope: Scope, seqs: Iterable[int]) -> list[Candidate]:
    """What weighing needs of rows that the viewer may find."""
    rows: Any = scope.table
    at = (rows.author_id, rows.subject) if scope.kind == "memory" else (rows.person_id, rows.conversation_id)
    columns = select(rows.seq, *at) if scope.kind == "memory" else select(rows.seq, *at, rows.position)
    found = session.execute(columns.where(rows.seq.in_(sorted(seqs)), scope.condition))
    if scope.kind == "memory":
        return [Candidate(seq, frozenset((author, subject))) for seq, author, subject in found]
    return [Candidate(seq, frozenset((person,)), talk, place) for seq, person, talk, place in found]


def _rows(session: Session, scope: Scope, seqs: list[int]) -> dict[int, Memory | Entry]:
    wanted: ColumnElement[bool] = scope.table.seq.in_(seqs)
    rows: Any = session.scalars(select(scope.table).where(wanted, scope.condition))
    return {row.seq: row for row in rows}


def _named(session: Session, viewer: Viewer, query: str) -> set[str]:
    """The people of the team whose name the question holds."""
    asked = set(tokens(query))
    people = session.execute(select(Person.id, Person.name).where(Person.team_id == viewer.team_id))
    return {person.id for person in people if asked.intersection(tokens(person.name))}
