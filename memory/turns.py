"""Turns, their steps (the ledger of model calls) and the outbox."""

from datetime import datetime
from typing import Any, Literal

from sqlalchemy import JSON, BigInteger, ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from memory.database import Base, Moment, Words, now

TurnStatus = Literal["running", "completed", "failed", "stopped"]
SendStatus = Literal["streaming", "ready", "sending", "sent", "failed"]
CallTag = Literal["main", "pass", "summary", "prewarm", "extraction", "delegate"]


class Turn(Base):
    """The handling of one or more messages; its id is its workflow's id."""

    __tablename__ = "turns"
    __table_args__ = (Index("ix_turns_open", "conversation_id", "status"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), index=True)
    conversation_id: Mapped[str] = mapped_column(ForeignKey("conversations.id", ondelete="CASCADE"))
    bot_id: Mapped[str] = mapped_column(ForeignKey("bots.id", ondelete="CASCADE"))
    place_id: Mapped[str] = mapped_column(ForeignKey("places.id", ondelete="CASCADE"))
    person_id: Mapped[str | None] = mapped_column(ForeignKey("persons.id", ondelete="SET NULL"))
    account_id: Mapped[str | None] = mapped_column(ForeignKey("accounts.id", ondelete="SET NULL"))
    audience: Mapped[str]
    ephemeral: Mapped[bool] = mapped_column(default=False)
    status: Mapped[str] = mapped_column(default="running", index=True)
    stop_requested: Mapped[bool] = mapped_column(default=False)
    error: Mapped[str | None]
    remembered: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    settled_at: Mapped[datetime | None] = mapped_column(Moment)
    started_at: Mapped[datetime] = mapped_column(Moment, default=now)
    ended_at: Mapped[datetime | None] = mapped_column(Moment)


class Step(Base):
    """One model call: what it reserved, what it used. Costs are in millionths of a US dollar.

    `reserved` counts against the caps until `cost` is known. `missed` names the prompt section whose
    change cost a cache hit that was expected.
    """

    __tablename__ = "steps"
    __table_args__ = (Index("ix_steps_spend", "team_id", "created_at"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"))
    bot_id: Mapped[str | None]
    person_id: Mapped[str | None]
    place_id: Mapped[str | None]
    conversation_id: Mapped[str | None]
    turn_id: Mapped[str | None] = mapped_column(index=True)
    number: Mapped[int] = mapped_column(default=0)
    tag: Mapped[str]
    model: Mapped[str]
    reserved: Mapped[int] = mapped_column(BigInteger, default=0)
    cost: Mapped[int | None] = mapped_column(BigInteger)
    input_tokens: Mapped[int] = mapped_column(default=0)
    output_tokens: Mapped[int] = mapped_column(default=0)
    cache_read_tokens: Mapped[int] = mapped_column(default=0)
    cache_write_5m_tokens: Mapped[int] = mapped_column(default=0)
    cache_write_1h_tokens: Mapped[int] = mapped_column(default=0)
    stop_reason: Mapped[str | None]
    hashes: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    missed: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(Moment, default=now)
    ended_at: Mapped[datetime | None] = mapped_column(Moment)


class Outgoing(Base):
    """One message to be sent; `id` is `<turn>:<n>`, the key that the platform gives back after a crash."""

    __tablename__ = "outbox"

    id: Mapped[str] = mapped_column(primary_key=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"))
    conversation_id: Mapped[str] = mapped_column(
        ForeignKey("conversations.id", ondelete="CASCADE"), index=True
    )
    place_id: Mapped[str] = mapped_column(ForeignKey("places.id", ondelete="CASCADE"))
    turn_id: Mapped[str | None] = mapped_column(index=True)
    entry_id: Mapped[str | None]
    audience: Mapped[str]
    drawn_from: Mapped[str | None]
    person_id: Mapped[str | None]
    ephemeral: Mapped[bool] = mapped_column(default=False)
    platform: Mapped[str]
    workspace: Mapped[str]
    channel: Mapped[str]
    thread: Mapped[str | None]
    text: Mapped[str] = mapped_column(Words, default="")
    extras: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    status: Mapped[str] = mapped_column(default="ready", index=True)
    message_id: Mapped[str | None]
    error: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(Moment, default=now)
    sent_at: Mapped[datetime | None] = mapped_column(Moment)


class Call(Base):
    """A tool call while its step runs: begun, and its result once it has one (rows go with the step).

    After a crash a call that was begun and has no result is not repeated where that could do harm.
    """

    __tablename__ = "calls"

    id: Mapped[str] = mapped_column(primary_key=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"))
    turn_id: Mapped[str] = mapped_column(index=True)
    audience: Mapped[str]
    drawn_from: Mapped[str | None]
    result: Mapped[str | None] = mapped_column(Words)
    shown: Mapped[list[str]] = mapped_column(JSON, default=list)
    sources: Mapped[list[dict[str, Any]]] = mapped_column(JSON, default=list)
    created_at: Mapped[datetime] = mapped_column(Moment, default=now)


class Worker(Base):
    """A process that runs turns, and when it was last seen alive."""

    __tablename__ = "workers"

    id: Mapped[str] = mapped_column(primary_key=True)
    seen_at: Mapped[datetime] = mapped_column(Moment)
