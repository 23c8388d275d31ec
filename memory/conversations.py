"""Conversations: one bot in one place, an append-only list of entries, cut into epochs."""

from datetime import datetime
from typing import Any, Literal

from sqlalchemy import JSON, BigInteger, ForeignKey, Index, Integer, UniqueConstraint
from sqlalchemy import text as sql
from sqlalchemy.orm import Mapped, mapped_column

from memory.database import Base, Moment, Words, now

Serial = BigInteger().with_variant(Integer, "sqlite")
EntryKind = Literal["message", "overheard", "reply", "results", "note"]


class Conversation(Base):
    """One bot in one place; a direct message is one conversation per person and bot, whatever the place.

    `key` is `dm:<person>` or `place:<place>[:<thread>]`, so that a bot has each conversation once.
    """

    __tablename__ = "conversations"
    __table_args__ = (UniqueConstraint("bot_id", "key"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), index=True)
    bot_id: Mapped[str] = mapped_column(ForeignKey("bots.id", ondelete="CASCADE"))
    place_id: Mapped[str] = mapped_column(ForeignKey("places.id", ondelete="CASCADE"), index=True)
    person_id: Mapped[str | None] = mapped_column(ForeignKey("persons.id", ondelete="CASCADE"), index=True)
    thread: Mapped[str | None]
    key: Mapped[str]
    audience: Mapped[str]
    title: Mapped[str] = mapped_column(Words, default="")
    learning: Mapped[bool] = mapped_column(default=True)
    last_position: Mapped[int] = mapped_column(default=0)
    idle_due_at: Mapped[datetime | None] = mapped_column(Moment, index=True)
    extracted_to: Mapped[int] = mapped_column(default=0)
    last_at: Mapped[datetime] = mapped_column(Moment, default=now)
    created_at: Mapped[datetime] = mapped_column(Moment, default=now)


class Entry(Base):
    """One entry of a conversation: a person's message, talk overheard, a reply, tool results.

    `seq` is the order of arrival, `position` the order in the conversation's history (null while a message
    waits for its turn). `text` is what people and search see; `blocks` is canonical JSON of the model's
    content blocks, exactly as sent or received. `drawn_from` is a further audience whose words a reply or a
    result may contain: its readers must belong to both. `head` and `ctx` are the search context of `text`,
    `folds` its extra index terms. An entry whose `redacted_at` is set holds placeholders only.
    """

    __tablename__ = "entries"
    __table_args__ = (
        UniqueConstraint("platform", "channel_key", "message_id"),
        UniqueConstraint("conversation_id", "position"),
        Index("ix_entries_waiting", "conversation_id", "turn_id", "addressed"),
        Index("ix_entries_order", "conversation_id", "seq"),
        Index(
            "ix_entries_unanswered",
            "turn_id",
            "seq",
            sqlite_where=sql("addressed IS 1"),
            postgresql_where=sql("addressed IS true"),
        ),
    )

    seq: Mapped[int] = mapped_column(Serial, primary_key=True, autoincrement=True)
    id: Mapped[str] = mapped_column(unique=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), index=True)
    conversation_id: Mapped[str] = mapped_column(ForeignKey("conversations.id", ondelete="CASCADE"))
    bot_id: Mapped[str] = mapped_column(ForeignKey("bots.id", ondelete="CASCADE"))
    place_id: Mapped[str] = mapped_column(ForeignKey("places.id", ondelete="CASCADE"))
    audience: Mapped[str]
    drawn_from: Mapped[str | None]
    position: Mapped[int | None]
    turn_id: Mapped[str | None] = mapped_column(index=True)
    step: Mapped[int | None]
    role: Mapped[str]
    kind: Mapped[str]
    addressed: Mapped[bool] = mapped_column(default=False)
    ephemeral: Mapped[bool] = mapped_column(default=False)
    person_id: Mapped[str | None] = mapped_column(ForeignKey("persons.id", ondelete="SET NULL"), index=True)
    account_id: Mapped[str | None] = mapped_column(ForeignKey("accounts.id", ondelete="SET NULL"))
    platform: Mapped[str | None]
    channel_key: Mapped[str | None]
    message_id: Mapped[str | None]
    thread: Mapped[str | None]
    link: Mapped[str | None]
    text: Mapped[str] = mapped_column(Words, default="")
    head: Mapped[str] = mapped_column(Words, default="")
    ctx: Mapped[str] = mapped_column(Words, default="")
    folds: Mapped[str] = mapped_column(Words, default="")
    blocks: Mapped[str | None] = mapped_column(Words)
    files: Mapped[list[dict[str, Any]]] = mapped_column(JSON, default=list)
    shown: Mapped[list[str]] = mapped_column(JSON, default=list)
    learnable: Mapped[bool] = mapped_column(default=True)
    said_at: Mapped[datetime] = mapped_column(Moment)
    edited_at: Mapped[datetime | None] = mapped_column(Moment)
    redacted_at: Mapped[datetime | None] = mapped_column(Moment)
    created_at: Mapped[datetime] = mapped_column(Moment, default=now)


class Epoch(Base):
    """The stretch of a conversation between two summaries: its prompt prefix is frozen.

    `head` is canonical JSON of {tools, system, first}; `hashes` one SHA-256 per section; `audiences` every
    audience it contains; `shown` {memory id: version} as frozen; `start` the position after which its
    history begins; `state` what change notes have announced since.
    """

    __tablename__ = "epochs"
    __table_args__ = (UniqueConstraint("conversation_id", "number"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"))
    conversation_id: Mapped[str] = mapped_column(ForeignKey("conversations.id", ondelete="CASCADE"))
    number: Mapped[int]
    audience: Mapped[str]
    audiences: Mapped[list[str]] = mapped_column(JSON)
    head: Mapped[str] = mapped_column(Words)
    hashes: Mapped[dict[str, Any]] = mapped_column(JSON)
    shown: Mapped[dict[str, int]] = mapped_column(JSON)
    state: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    start: Mapped[int]
    model: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(Moment, default=now)
    ended_at: Mapped[datetime | None] = mapped_column(Moment)
    end_reason: Mapped[str | None]


class Summary(Base):
    """What replaced older history; the originals (up to `upto`) stay in the log."""

    __tablename__ = "summaries"

    id: Mapped[str] = mapped_column(primary_key=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"))
    conversation_id: Mapped[str] = mapped_column(
        ForeignKey("conversations.id", ondelete="CASCADE"), index=True
    )
    epoch_id: Mapped[str | None]
    audience: Mapped[str]
    drawn_from: Mapped[str | None]
    audiences: Mapped[list[str]] = mapped_column(JSON)
    text: Mapped[str] = mapped_column(Words)
    shown: Mapped[list[str]] = mapped_column(JSON, default=list)
    since: Mapped[int]
    upto: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(Moment, default=now)
