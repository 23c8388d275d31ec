"""What still needs a vector of today's model: new rows, rows whose text changed, rows of an older model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, and_, delete, exists, func, select
from sqlalchemy.orm import Session

from memory.database import Database
from memory.indexed import SAID, said_before
from memory.meaning import CHANGES, table_of
from memory.memories import Vector
from memory.scope import RowKind
from memory.vectors import Embedder, pack

if TYPE_CHECKING:
    from memory.vectors import Floats

KINDS: tuple[RowKind, ...] = ("memory", "entry")
BATCH = 8
HALF = 0.5
"""How much of a message's meaning is in the next one's."""
WINDOW = 5_000
"""Old rows that one step looks through."""
LOG_KEPT = 100_000
"""Changes that stay for indexes of other processes to read."""
PRUNE_EVERY = 1_000


@dataclass(frozen=True)
class Waiting:
    """A row without a vector of today's model, and the texts that its meaning is made of."""

    kind: RowKind
    seq: int
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Progress:
    """How many of the rows that can have a vector have one of today's model."""

    done: int
    total: int


def texts_of(row: Any) -> tuple[str, ...]:
    """What a row's meaning is made of: who said what and when; then what was said before, nearest first."""
    return (f"{row.head} {row.text}".strip(), *said_before(row.ctx))


class EmbeddingQueue:
    """Works through what waits, newest first; `step` from one worker thread until it answers 0.

    What it knows (how far back it has looked, which changes it has seen) is only to be quick: a new queue
    starts over and finds the same rows.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self._back: dict[RowKind, int | None] = dict.fromkeys(KINDS)
        self._seen: int | None = None
        self._steps = 0

    def step(self, database: Database) -> int:
        """Embeds the next few rows; how many they were."""
        batch = database.read_now(self._next)
        if batch:
            database.run_now(store, self.embedder, batch, embed(self.embedder, batch))
        self._steps += 1
        if self._steps % PRUNE_EVERY == 1:
            database.run_now(_prune_log)
        return len(batch)

    def _next(self, session: Session) -> list[Waiting]:
        return self._changed(session) or self._older(session)

    def _changed(self, session: Session) -> list[Waiting]:
        """Rows that changed since the last step and have no vector now."""
        newest = session.scalar(select(func.max(CHANGES.c.seq))) or 0
        if self._seen is None:
            self._seen = newest
        changes = session.execute(
            select(CHANGES.c.seq, CHANGES.c.kind, CHANGES.c.row_seq)
            .where(CHANGES.c.seq > self._seen)
            .order_by(CHANGES.c.seq)
            .limit(WINDOW)
        ).all()
        for kind in KINDS:
            rows = table_of(kind)
            seqs = {change.row_seq for change in changes if change.kind == kind}
            waiting = self._waiting(session, kind, rows.seq.in_(seqs)) if seqs else []
            if waiting:
                return waiting
        if changes:
            self._seen = changes[-1].seq
        return []

    def _older(self, session: Session) -> list[Waiting]:
        """Rows further back without a vector, a window at a time."""
        for kind in KINDS:
            rows = table_of(kind)
            while (upto := self._upto(session, kind)) > 0:
                waiting = self._waiting(session, kind, and_(rows.seq <= upto, rows.seq > upto - WINDOW))
                if waiting:
                    return waiting
                self._back[kind] = upto - WINDOW
        return []

    def _upto(self, session: Session, kind: RowKind) -> int:
        found = self._back[kind]
        if found is None:
            found = self._back[kind] = session.scalar(select(func.max(table_of(kind).seq))) or 0
        return found

    def _waiting(self, session: Session, kind: RowKind, among: ColumnElement[bool]) -> list[Waiting]:
        rows = table_of(kind)
        has_one = exists().where(
            Vector.kind == kind,
            Vector.row_seq == rows.seq,
            Vector.model == self.embedder.model,
            Vector.dimension == self.embedder.dimension,
        )
        query = (
            select(rows.seq, rows.head, rows.text, rows.ctx)
            .where(among, _embeddable(kind), ~has_one)
            .order_by(rows.seq.desc())
            .limit(BATCH)
        )
        return [Waiting(kind, row.seq, texts_of(row)) for row in session.execute(query)]


def embed(embedder: Embedder, batch: Sequence[Waiting]) -> "Floats":
    """One vector of unit length a row: its own meaning, and half as much of each message before."""
    import numpy as np

    texts = list(dict.fromkeys(text for waiting in batch for text in waiting.texts))
    known = dict(zip(texts, embedder.documents(texts), strict=True))
    rows = []
    for waiting in batch:
        row = sum(known[text] * HALF**back for back, text in enumerate(waiting.texts))
        rows.append(row / max(float(np.linalg.norm(row)), 1e-9))
    return np.array(rows, dtype=np.float32)


def store(session: Session, embedder: Embedder, batch: Sequence[Waiting], vectors: "Floats") -> None:
    """Keeps the vectors of rows that are still there with the same text."""
    for waiting, vector in zip(batch, vectors, strict=True):
        rows = table_of(waiting.kind)
        row = session.execute(
            select(rows.team_id, rows.audience, rows.head, rows.text, rows.ctx)
            .where(rows.seq == waiting.seq, _embeddable(waiting.kind))
            .with_for_update(key_share=True)
        ).one_or_none()
        if row is None or texts_of(row) != waiting.texts:
            continue
        packed = pack(vector)
        session.execute(delete(Vector).where(Vector.kind == waiting.kind, Vector.row_seq == waiting.seq))
        session.add(
            Vector(
                team_id=row.team_id,
                audience=row.audience,
                kind=waiting.kind,
                row_seq=waiting.seq,
                model=embedder.model,
                dimension=embedder.dimension,
                scale=packed.scale,
                components=packed.components,
            )
        )
        session.flush()


def progress(session: Session, model: str) -> Progress:
    """How far embedding with a model has come."""
    total = 0
    for kind in KINDS:
        rows = table_of(kind)
        total += session.scalar(select(func.count()).select_from(rows).where(_embeddable(kind))) or 0
    done = session.scalar(select(func.count()).select_from(Vector).where(Vector.model == model)) or 0
    return Progress(done, total)


def _embeddable(kind: RowKind) -> ColumnElement[bool]:
    rows = table_of(kind)
    if kind == "memory":
        return rows.text != ""  # type: ignore[no-any-return]
    return and_(rows.kind.in_(SAID), rows.redacted_at.is_(None), rows.text != "")


def _prune_log(session: Session) -> None:
    newest = session.scalar(select(func.max(CHANGES.c.seq))) or 0
    session.execute(delete(CHANGES).where(CHANGES.c.seq < newest - LOG_KEPT))
