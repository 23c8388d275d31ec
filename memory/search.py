"""Search of memories and conversations: by words and by meaning, within what the viewer may read."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.orm import Session

from memory.audience import Viewer
from memory.conversations import Entry
from memory.indexed import SAID
from memory.lexical import Scope, terms_of, word_scores
from memory.memories import Memory, Status
from memory.people import Person
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
) -> list[Found]:
    """The memories that answer a plain question best, among those that the viewer may recall at that time."""
    condition = and_(
        viewer.may_recall(),
        Memory.status.in_(statuses),
        or_(Memory.expires_at.is_(None), Memory.expires_at > at),
    )
    key = ("memories", viewer.team_id, viewer.bot_id, viewer.audiences, tuple(statuses))
    return _search(session, viewer, query, Scope(Memory, condition, key), limit)


def search_entries(
    session: Session,
    viewer: Viewer,
    query: str,
    *,
    limit: int = 10,
    conversation_ids: Sequence[str] | None = None,
    exclude_turn: str | None = None,
) -> list[Found]:
    """What people and this bot said in its conversations that answers a plain question best."""
    return _search(session, viewer, query, _said(viewer, conversation_ids, exclude_turn), limit)


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
    return Scope(Entry, condition, ("entries", viewer.team_id, viewer.bot_id, viewer.audiences, among))


def _search(session: Session, viewer: Viewer, query: str, scope: Scope, limit: int) -> list[Found]:
    terms = terms_of(query)
    by_words = word_scores(session, scope, terms) if terms else {}
    best = sorted(by_words.items(), key=lambda item: (-item[1], -item[0]))[:CANDIDATES]
    if not best:
        return []
    top = best[0][1]
    rows = _rows(session, scope, [seq for seq, _ in best])
    named = _named(session, viewer, query)
    found = []
    for seq, score in best:
        row = rows.get(seq)
        if row is None:
            continue
        total = BY_WORDS * score / top + (BY_AUTHOR if _author(row) in named else 0.0)
        kind: Literal["memory", "entry"] = "memory" if isinstance(row, Memory) else "entry"
        found.append(Found(kind, row.id, seq, round(total, 6), row))
    found.sort(key=lambda item: (-item.score, -item.seq))
    return found[:limit]


def _rows(session: Session, scope: Scope, seqs: list[int]) -> dict[int, Memory | Entry]:
    wanted: ColumnElement[bool] = scope.table.seq.in_(seqs)
    rows: Any = session.scalars(select(scope.table).where(wanted, scope.condition))
    return {row.seq: row for row in rows}


def _author(row: Memory | Entry) -> str | None:
    return row.author_id if isinstance(row, Memory) else row.person_id


def _named(session: Session, viewer: Viewer, query: str) -> set[str]:
    """The people of the team whose name the question holds."""
    asked = set(tokens(query))
    people = session.execute(select(Person.id, Person.name).where(Person.team_id == viewer.team_id))
    return {person.id for person in people if asked.intersection(tokens(person.name))}
