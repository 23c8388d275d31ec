"""Places where people talk, and who reads there."""

from datetime import datetime
from typing import Any, Literal

from sqlalchemy import JSON, ForeignKey, UniqueConstraint, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from memory.database import Base, Moment, Words, now
from memory.ids import derive

Kind = Literal["dm", "public", "private"]
Presence = Literal["no", "yes", "unknown"]


class Place(Base):
    """A direct message with one person, a public or a private channel; threads are part of theirs.

    `external`: people of other organisations read here. `guests`: whether guests read here, as the
    platform tells; `members` rows of guests count besides.
    """

    __tablename__ = "places"
    __table_args__ = (UniqueConstraint("platform", "workspace", "channel"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), index=True)
    platform: Mapped[str]
    workspace: Mapped[str]
    channel: Mapped[str]
    kind: Mapped[str]
    name: Mapped[str] = mapped_column(Words, default="")
    external: Mapped[bool] = mapped_column(default=False)
    guests: Mapped[str] = mapped_column(default="no")
    learning: Mapped[bool] = mapped_column(default=True)
    person_id: Mapped[str | None] = mapped_column(ForeignKey("persons.id", ondelete="CASCADE"))
    settings: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    created_at: Mapped[datetime] = mapped_column(Moment, default=now)


class Membership(Base):
    """A person who reads a private channel, or a guest who reads a channel of any kind."""

    __tablename__ = "memberships"

    place_id: Mapped[str] = mapped_column(ForeignKey("places.id", ondelete="CASCADE"), primary_key=True)
    person_id: Mapped[str] = mapped_column(
        ForeignKey("persons.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"))


def find_place(session: Session, platform: str, workspace: str, channel: str) -> Place | None:
    """The place with that platform identity."""
    return session.scalar(
        select(Place).where(
            Place.platform == platform, Place.workspace == workspace, Place.channel == channel
        )
    )


def add_place(
    session: Session,
    team_id: str,
    platform: str,
    workspace: str,
    channel: str,
    kind: Kind,
    name: str = "",
    *,
    person_id: str | None = None,
    external: bool = False,
    guests: Presence = "no",
) -> Place:
    """A new place."""
    place = Place(
        id=derive("place", platform, workspace, channel),
        team_id=team_id,
        platform=platform,
        workspace=workspace,
        channel=channel,
        kind=kind,
        name=name,
        person_id=person_id,
        external=external,
        guests=guests,
    )
    session.add(place)
    session.flush()
    return place
