"""Search by meaning: the embedder with its index of every database, kept level with the rows."""

import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from sqlalchemy import BigInteger, Engine, Select, String, column, func, or_, select, table
from sqlalchemy.orm import Session

from memory.audience import Viewer
from memory.conversations import Entry
from memory.memories import TEAM_SUBJECT, Memory, Vector
from memory.scope import RowKind, Scope
from memory.vectors import Allowed, Embedder, Labelled, Packed, VectorIndex

if TYPE_CHECKING:
    from memory.vectors import Floats

CHANGES = table(
    "search_changes", column("seq", BigInteger), column("kind", String), column("row_seq", BigInteger)
)
"""The log of rows that search must look at again: written by triggers, in no order between transactions."""
LATE = 500
"""So many changes back, numbers that were missing are looked for again: transactions commit in any order."""
AT_ONCE = 500
LOADED = 10_000
ANY_BOT = "*"
"""The owner label of facts about people: every bot reads them."""


def table_of(kind: RowKind) -> Any:
    """The table of a kind of rows."""
    return Memory if kind == "memory" else Entry


def readable_by(viewer: Viewer, kind: RowKind, groups: Iterable[str] | None) -> Allowed:
    """The gate as labels: the same rows as `may_recall` and `may_read`, which the caller asks besides.

    `groups` are statuses of memories or ids of conversations.
    """
    drawn = ("", *viewer.audiences) if kind == "entry" else ("",)
    audiences = {_audience(viewer.team_id, one, other) for one in viewer.audiences for other in drawn}
    owners = {viewer.bot_id, ANY_BOT} if kind == "memory" else {viewer.bot_id}
    return frozenset(audiences), frozenset(owners), None if groups is None else frozenset(groups)


@dataclass
class _Level:
    """One index, and up to which change it is level with its table."""

    index: VectorIndex
    seen: int = 0
    missing: set[int] = field(default_factory=set)


class Meaning:
    """What search by meaning needs; one per process. Nothing is loaded before the first search."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self._levels: WeakKeyDictionary[Engine, dict[RowKind, _Level]] = WeakKeyDictionary()
        self._lock = threading.Lock()
        self._thread: ThreadPoolExecutor | None = None

    def asked(self, query: str) -> "Future[Floats]":
        """The vector of a question, made in a thread of its own while its words are looked up."""
        with self._lock:
            if self._thread is None:
                self._thread = ThreadPoolExecutor(2, thread_name_prefix="question")
        return self._thread.submit(self.embedder.question, query)

    def near(
        self, session: Session, scope: Scope, asked: "Future[Floats]", count: int, others: Iterable[int]
    ) -> dict[int, float]:
        """The cosine of the allowed rows nearest to a question, and of other rows as far as they have one."""
        with self._lock:
            index = self._index(session, scope.kind)
        question = asked.result()
        with self._lock:
            near = index.nearest(question, scope.allowed, count)
            return near | index.similarities(question, [seq for seq in others if seq not in near])

    def _index(self, session: Session, kind: RowKind) -> VectorIndex:
        engine = session.get_bind()
        assert isinstance(engine, Engine)
        levels = self._levels.setdefault(engine, {})
        newest, oldest = _ends_of_log(session)
        level = levels.get(kind)
        if level is None or oldest > level.seen + 1:
            level = levels[kind] = _Level(VectorIndex(self.embedder.dimension), max(newest - LATE, 0))
            for rows in session.execute(self._vectors(kind)).partitions(LOADED):
                level.index.put([_labelled(kind, row) for row in rows])
        if newest > level.seen or level.missing:
            self._catch_up(session, kind, level)
        return level.index

    def _catch_up(self, session: Session, kind: RowKind, level: _Level) -> None:
        """Looks again at every row that the log has named since the last time."""
        new = or_(CHANGES.c.seq > level.seen, CHANGES.c.seq.in_(level.missing))
        changes = session.execute(select(CHANGES.c.seq, CHANGES.c.row_seq, CHANGES.c.kind).where(new)).all()
        rows = sorted({row.row_seq for row in changes if row.kind == kind})
        for start in range(0, len(rows), AT_ONCE):
            some = rows[start : start + AT_ONCE]
            found = session.execute(self._vectors(kind, some)).all()
            level.index.drop(set(some) - {row.row_seq for row in found})
            level.index.put([_labelled(kind, row) for row in found])
        last = max([level.seen, *(row.seq for row in changes)])
        unseen = level.missing.union(range(max(level.seen + 1, last - LATE), last)) - {
            row.seq for row in changes
        }
        level.missing = {seq for seq in unseen if seq > last - LATE}
        level.seen = last

    def _vectors(self, kind: RowKind, seqs: Sequence[int] | None = None) -> Select[Any]:
        rows = table_of(kind)
        gates = (
            (rows.subject, rows.layer, rows.status)
            if kind == "memory"
            else (rows.drawn_from, rows.conversation_id)
        )
        query = (
            select(Vector.row_seq, Vector.scale, Vector.components, rows.team_id, rows.audience, rows.bot_id)
            .add_columns(*gates)
            .join(rows, rows.seq == Vector.row_seq)
            .where(
                Vector.kind == kind,
                Vector.model == self.embedder.model,
                Vector.dimension == self.embedder.dimension,
            )
        )
        return query.order_by(Vector.row_seq) if seqs is None else query.where(Vector.row_seq.in_(seqs))


def _labelled(kind: RowKind, row: Any) -> Labelled:
    if kind == "memory":
        about_a_person = row.layer == "fact" and row.subject != TEAM_SUBJECT
        audience = _audience(row.team_id, row.audience, "")
        labels = (audience, ANY_BOT if about_a_person else row.bot_id or "", row.status)
    else:
        audience = _audience(row.team_id, row.audience, row.drawn_from or "")
        labels = (audience, row.bot_id, row.conversation_id)
    return Labelled(row.row_seq, Packed(row.scale, row.components), labels)


def _audience(team_id: str, audience: str, drawn_from: str) -> str:
    return f"{team_id} {audience} {drawn_from}"


def _ends_of_log(session: Session) -> tuple[int, int]:
    newest = select(func.max(CHANGES.c.seq)).scalar_subquery()
    oldest = select(func.min(CHANGES.c.seq)).scalar_subquery()
    last, first = session.execute(select(newest, oldest)).one()
    return last or 0, first or 0
