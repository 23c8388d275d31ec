"""Bots: named AI teammates with a job."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, UniqueConstraint, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from memory.database import Base, Moment, Words, now
from memory.errors import NotFound

FIRST_BOT = "teambot"


class Bot(Base):
    """A bot's profile and settings; `owner_id` makes it a personal bot. `version` counts profile edits."""

    __tablename__ = "bots"
    __table_args__ = (UniqueConstraint("team_id", "name"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"))
    owner_id: Mapped[str | None] = mapped_column(ForeignKey("persons.id", ondelete="CASCADE"), index=True)
    audience: Mapped[str] = mapped_column(default="team")
    name: Mapped[str] = mapped_column(Words)
    title: Mapped[str] = mapped_column(Words, default="")
    description: Mapped[str] = mapped_column(Words, default="")
    instructions: Mapped[str] = mapped_column(Words, default="")
    avatar: Mapped[str] = mapped_column(Words, default="")
    model: Mapped[str | None]
    settings: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    version: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[datetime] = mapped_column(Moment, default=now)


def bot_named(session: Session, team_id: str, name: str) -> Bot:
    """The team's bot of that name (letter case does not matter)."""
    bots = session.scalars(select(Bot).where(Bot.team_id == team_id)).all()
    for bot in bots:
        if bot.name.casefold() == name.casefold():
            return bot
    raise NotFound(f"There is no bot called {name!r}.")
