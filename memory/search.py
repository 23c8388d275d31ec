"""Search of memories and conversations: by words and by meaning, within what the viewer may read."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal

from sqlalchemy import and_, literal, or_, select
from sqlalchemy.orm import Session, aliased

from memory.audience import Viewer
from memory.conversations import Entry
from memory.fusion import Candidate, weigh
from memory.indexed import SAID
from memory.lexical import MAX_QUERY, terms_of, word_scores
from memory.meaning import Meaning, readable_by
from memory.memories import Memory, Status
from memory.people import Person
from memory.scope import Scope, one_of
from memory.text import tokens
from memory.vectors import NoEmbedder

CANDIDATES = 100
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
    return _search(session, query, scope, limit, meaning)


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
    return _search(session, query, scope, limit, meaning)


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


def _search(session: Session, query: str, scope: Scope, limit: int, meaning: Meaning | None) -> list[Found]:
    terms = terms_of(query)
    if not terms or limit < 1:
        return []
    words = word_scores(session, scope, terms)
    count = max(CANDIDATES, 2 * limit)
    words = dict(sorted(words.items(), key=lambda item: (-item[1], -item[0]))[:count])
    near = _by_meaning(session, scope, query, words, meaning, count) if meaning else {}
    scores = weigh(_candidates(session, scope, {*words, *near}, query), words, near)
    best = sorted(scores.items(), key=lambda item: (-item[1], -item[0]))[:limit]
    rows = _rows(session, scope, [seq for seq, _ in best])
    return [Found(scope.kind, rows[seq].id, seq, score, rows[seq]) for seq, score in best if seq in rows]


def _by_meaning(
    session: Session, scope: Scope, query: str, words: dict[int, float], meaning: Meaning, count: int
) -> dict[int, float]:
    """The cosines of the rows nearest in meaning, and of those that were found by words."""
    try:
        return meaning.near(session, scope, query[:MAX_QUERY], count, words)
    except NoEmbedder:
        return {}


def _candidates(session: Session, scope: Scope, seqs: Iterable[int], query: str) -> list[Candidate]:
    """What weighing needs of rows that the viewer may find."""
    rows: Any = scope.table
    author, subject = aliased(Person), aliased(Person)
    if scope.kind == "memory":
        columns = (
            select(rows.seq, literal(None), literal(None), author.name, subject.name)
            .outerjoin(author, author.id == rows.author_id)
            .outerjoin(subject, subject.id == rows.subject)
        )
    else:
        columns = select(rows.seq, rows.conversation_id, rows.position, author.name, literal(None)).outerjoin(
            author, author.id == rows.person_id
        )
    found = session.execute(columns.where(one_of(session, rows.seq, sorted(seqs)), scope.condition))
    asked = set(tokens(query[:MAX_QUERY]))
    return [
        Candidate(seq, any(name and not asked.isdisjoint(_words_of(name)) for name in names), talk, place)
        for seq, talk, place, *names in found
    ]


@lru_cache(4_096)
def _words_of(name: str) -> frozenset[str]:
    return frozenset(tokens(name))


def _rows(session: Session, scope: Scope, seqs: list[int]) -> dict[int, Memory | Entry]:
    wanted = one_of(session, scope.table.seq, seqs)
    rows: Any = session.scalars(select(scope.table).where(wanted, scope.condition))
    return {row.seq: row for row in rows}
