"""The journal: one record per turn, completed or failed."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from memory.conversations import Serial
from memory.database import Base, Moment, now


class JournalRecord(Base):
    """One turn as the journal keeps it; `record` has the published shape."""

    __tablename__ = "journal"

    seq: Mapped[int] = mapped_column(Serial, primary_key=True, autoincrement=True)
    id: Mapped[str] = mapped_column(unique=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), index=True)
    bot_id: Mapped[str | None]
    conversation_id: Mapped[str | None] = mapped_column(index=True)
    turn_id: Mapped[str | None]
    person_id: Mapped[str | None] = mapped_column(index=True)
    account_id: Mapped[str | None]
    audience: Mapped[str]
    drawn_from: Mapped[str | None]
    record: Mapped[dict[str, Any]] = mapped_column(JSON)
    at: Mapped[datetime] = mapped_column(Moment, default=now)
