"""Search of memories and conversations: by words and by meaning, within what the viewer may read."""

from collections.abc import Collection, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

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
from memory.words import clean

if TYPE_CHECKING:
    from memory.vectors import Floats

CANDIDATES = 100
"""The best rows by words, and as many by meaning, are weighed together."""


AUTHOR, SUBJECT = aliased(Person), aliased(Person)
PLACED = {
    "memory": select(Memory.seq, literal(None), literal(None), AUTHOR.name, SUBJECT.name)
    .outerjoin(AUTHOR, AUTHOR.id == Memory.author_id)
    .outerjoin(SUBJECT, SUBJECT.id == Memory.subject),
    "entry": select(Entry.seq, Entry.conversation_id, Entry.position, AUTHOR.name, literal(None)).outerjoin(
        AUTHOR, AUTHOR.id == Entry.person_id
    ),
}
"""Where a row stands in which conversation, and the names of those whom it is by and about."""


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
    asked = _asked(meaning, query)
    condition = and_(
        viewer.may_recall(),
        Memory.status.in_(statuses),
        or_(Memory.expires_at.is_(None), Memory.expires_at > at),
    )
    key = ("memories", viewer.team_id, viewer.bot_id, viewer.audiences, tuple(statuses))
    allowed = readable_by(viewer, "memory", statuses)
    scope = Scope("memory", Memory, condition, key, allowed)
    return _search(session, query, scope, limit, meaning, asked)


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
    asked = _asked(meaning, query)
    scope = _said(viewer, conversation_ids, exclude_turn)
    return _search(session, query, scope, limit, meaning, asked)


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


def _asked(meaning: Meaning | None, query: str) -> "Future[Floats] | None":
    """The question's vector on its way, first of all: it takes longest."""
    return meaning.asked(clean(query[:MAX_QUERY])) if meaning else None


def _search(
    session: Session,
    query: str,
    scope: Scope,
    limit: int,
    meaning: Meaning | None,
    asked: "Future[Floats] | None",
) -> list[Found]:
    terms = terms_of(query)
    if not terms or limit < 1:
        return []
    count = max(CANDIDATES, 2 * limit)
    words = word_scores(session, scope, terms)
    words = dict(sorted(words.items(), key=lambda item: (-item[1], -item[0]))[:count])
    near: dict[int, float] = {}
    if meaning and asked:
        with suppress(NoEmbedder):
            near = meaning.near(session, scope, asked, count, words)
    scores = weigh(_candidates(session, scope, {*words, *near}, query), words, near)
    best = sorted(scores.items(), key=lambda item: (-item[1], -item[0]))[:limit]
    rows = _rows(session, scope, [seq for seq, _ in best])
    return [Found(scope.kind, rows[seq].id, seq, score, rows[seq]) for seq, score in best if seq in rows]


def _candidates(session: Session, scope: Scope, seqs: Collection[int], query: str) -> list[Candidate]:
    """What weighing needs of rows that the viewer may find."""
    wanted = one_of(session, scope.table.seq, sorted(seqs))
    found = session.connection().execute(PLACED[scope.kind].where(wanted, scope.check)).all()
    words = set(tokens(query[:MAX_QUERY]))
    people = {name for row in found for name in row[3:] if name}
    named = {name for name in people if not words.isdisjoint(_words_of(name))}
    return [
        Candidate(seq, author in named or subject in named, talk, place)
        for seq, talk, place, author, subject in found
    ]


@lru_cache(4_096)
def _words_of(name: str) -> frozenset[str]:
    return frozenset(tokens(name))


def _rows(session: Session, scope: Scope, seqs: list[int]) -> dict[int, Memory | Entry]:
    wanted = one_of(session, scope.table.seq, seqs)
    rows: Any = session.scalars(select(scope.table).where(wanted, scope.check))
    return {row.seq: row for row in rows}
