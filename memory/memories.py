"""Memories, their history and the marks that keep forgotten things forgotten."""

from datetime import datetime
from typing import Any, Literal

from sqlalchemy import JSON, Float, ForeignKey, Index, LargeBinary, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from memory.conversations import Serial
from memory.database import Base, Moment, Words, now

Layer = Literal["fact", "log", "note", "work"]
MemoryKind = Literal["preference", "decision", "fact", "rule", "event", "private"]
Origin = Literal["explicit", "manual", "pass", "extraction", "import"]
Status = Literal["active", "archived", "superseded"]

MAX_TEXT = 1_000
TEAM_SUBJECT = "team"


class Memory(Base):
    """One thing that is remembered: whose words it rests on, whom it is about, who may read it.

    `subject` is `team` or a person's id. `drawn_from`: words that a model added may come from there, so its
    readers must belong to both. `source_id` is the entry it was learnt from, `quote` the words
    there. `valid_from` and `valid_until` are when it holds, `expires_at` when a note ends. `head`, `ctx` and
    `folds` are the search context of `text`, as on entries. `digest` is a hash of the text as it is compared
    with others. `work` holds a work record's structure.
    """

    __tablename__ = "memories"
    __table_args__ = (
        Index("ix_memories_gate", "team_id", "audience", "layer", "status", "importance", "confirmed_at"),
        Index("ix_memories_digest", "team_id", "digest"),
        Index("ix_memories_topic", "team_id", "bot_id", "subject", "topic"),
    )

    seq: Mapped[int] = mapped_column(Serial, primary_key=True, autoincrement=True)
    id: Mapped[str] = mapped_column(unique=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"))
    bot_id: Mapped[str | None] = mapped_column(ForeignKey("bots.id", ondelete="SET NULL"), index=True)
    author_id: Mapped[str] = mapped_column(ForeignKey("persons.id", ondelete="CASCADE"), index=True)
    account_id: Mapped[str | None] = mapped_column(ForeignKey("accounts.id", ondelete="SET NULL"))
    subject: Mapped[str] = mapped_column(index=True)
    audience: Mapped[str]
    drawn_from: Mapped[str | None]
    layer: Mapped[str]
    kind: Mapped[str]
    text: Mapped[str] = mapped_column(Words)
    topic: Mapped[str] = mapped_column(Words, default="")
    importance: Mapped[int] = mapped_column(default=3)
    confidence: Mapped[float] = mapped_column(Float, default=1.0)
    origin: Mapped[str]
    conversation_id: Mapped[str | None] = mapped_column(index=True)
    turn_id: Mapped[str | None] = mapped_column(index=True)
    source_id: Mapped[str | None] = mapped_column(index=True)
    quote: Mapped[str | None] = mapped_column(Words)
    link: Mapped[str | None]
    shared_from: Mapped[str | None]
    work: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    valid_from: Mapped[datetime | None] = mapped_column(Moment)
    valid_until: Mapped[datetime | None] = mapped_column(Moment)
    expires_at: Mapped[datetime | None] = mapped_column(Moment)
    status: Mapped[str] = mapped_column(default="active")
    superseded_by: Mapped[str | None] = mapped_column(index=True)
    version: Mapped[int] = mapped_column(default=1)
    confirmations: Mapped[int] = mapped_column(default=0)
    head: Mapped[str] = mapped_column(Words, default="")
    ctx: Mapped[str] = mapped_column(Words, default="")
    folds: Mapped[str] = mapped_column(Words, default="")
    digest: Mapped[str] = mapped_column(default="", server_default="")
    created_at: Mapped[datetime] = mapped_column(Moment, default=now)
    confirmed_at: Mapped[datetime] = mapped_column(Moment, default=now)
    used_at: Mapped[datetime | None] = mapped_column(Moment)


class MemoryChange(Base):
    """One step of a memory's history, and what undo restores (`before`, null for an addition)."""

    __tablename__ = "memory_changes"
    __table_args__ = (Index("ix_memory_changes_recent", "team_id", "created_at"),)

    seq: Mapped[int] = mapped_column(Serial, primary_key=True, autoincrement=True)
    id: Mapped[str] = mapped_column(unique=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"))
    memory_id: Mapped[str] = mapped_column(index=True)
    audience: Mapped[str]
    actor_id: Mapped[str | None]
    account_id: Mapped[str | None]
    turn_id: Mapped[str | None] = mapped_column(index=True)
    action: Mapped[str]
    version: Mapped[int]
    before: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    undone_at: Mapped[datetime | None] = mapped_column(Moment)
    created_at: Mapped[datetime] = mapped_column(Moment, default=now)


class Tombstone(Base):
    """A source message that must never be learnt from again (`key` is a hash, no words).

    Keyed by platform, channel and message id, so that a backfill or a later event finds it too.
    """

    __tablename__ = "tombstones"
    __table_args__ = (UniqueConstraint("team_id", "key"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"))
    audience: Mapped[str]
    key: Mapped[str]
    reason: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(Moment, default=now)


class Refusal(Base):
    """A memory that was proposed and not kept: the reason and ids, no words."""

    __tablename__ = "refusals"

    id: Mapped[str] = mapped_column(primary_key=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"))
    audience: Mapped[str]
    turn_id: Mapped[str | None] = mapped_column(index=True)
    source_id: Mapped[str | None]
    reason: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(Moment, default=now)


class Vector(Base):
    """The meaning of one memory or entry: int8 components and their scale, with the model that made it."""

    __tablename__ = "vectors"
    __table_args__ = (UniqueConstraint("kind", "row_seq"), Index("ix_vectors_model", "kind", "model"))

    seq: Mapped[int] = mapped_column(Serial, primary_key=True, autoincrement=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"))
    audience: Mapped[str]
    kind: Mapped[str]
    row_seq: Mapped[int] = mapped_column(Serial)
    model: Mapped[str]
    dimension: Mapped[int]
    scale: Mapped[float]
    components: Mapped[bytes] = mapped_column(LargeBinary)
