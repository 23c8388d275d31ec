"""Cards: exact words and exact readers, pressed once by the right person."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from memory.database import Base, Moment, Words, now


class Card(Base):
    """Something that happens only when `person_id` presses; `text` and `readers` are what the card shows."""

    __tablename__ = "cards"

    id: Mapped[str] = mapped_column(primary_key=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"))
    bot_id: Mapped[str | None]
    person_id: Mapped[str] = mapped_column(ForeignKey("persons.id", ondelete="CASCADE"), index=True)
    account_id: Mapped[str | None]
    place_id: Mapped[str | None]
    turn_id: Mapped[str | None] = mapped_column(index=True)
    audience: Mapped[str]
    action: Mapped[str]
    payload: Mapped[dict[str, Any]] = mapped_column(JSON)
    text: Mapped[str] = mapped_column(Words)
    readers: Mapped[str] = mapped_column(Words)
    status: Mapped[str] = mapped_column(default="open")
    created_at: Mapped[datetime] = mapped_column(Moment, default=now)
    expires_at: Mapped[datetime] = mapped_column(Moment)
    pressed_at: Mapped[datetime | None] = mapped_column(Moment)
