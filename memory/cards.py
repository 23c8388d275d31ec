"""Cards: exact words and exact readers, pressed once by the right person."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import JSON, ColumnElement, ForeignKey, and_, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from memory.audience import Audience, may_enter, person_viewer
from memory.database import Base, Moment, Words, now
from memory.errors import NotFound, Refused
from memory.ids import LENGTH, derive
from memory.people import Speaker
from memory.places import Place
from memory.words import clean_json

DAY_IN_MINUTES = 60 * 24
SHORTEST_PREFIX = 4


class Card(Base):
    """Something that happens only when `person_id` presses; `text` and `readers` are what the card shows,
    `audience` is who may read it.

    `status` is `open`, `pressed`, `cancelled`, or `gone` when what it was about was forgotten.
    """

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


def open_card(  # noqa: PLR0913 - a card says all of this
    session: Session,
    who: Speaker,
    *,
    action: str,
    payload: dict[str, Any],
    text: str,
    readers: str,
    audience: Audience,
    place_id: str | None,
    bot_id: str | None,
    turn_id: str | None,
    key: tuple[str | int, ...],
    minutes: int = DAY_IN_MINUTES,
) -> Card:
    """A card for that person; the same key opens it once."""
    card_id = derive("card", *key)
    found = session.get(Card, card_id)
    if found is not None:
        return found
    card = Card(
        id=card_id,
        team_id=who.team_id,
        bot_id=bot_id,
        person_id=who.person_id,
        account_id=who.account_id,
        place_id=place_id,
        turn_id=turn_id,
        audience=audience,
        action=action,
        payload=clean_json(payload),
        text=text,
        readers=readers,
        expires_at=now() + timedelta(minutes=minutes),
    )
    session.add(card)
    session.flush()
    return card


def press(session: Session, who: Speaker, card_id: str) -> Card:
    """Takes the press of the right person, once, in time; the caller then does what the card says."""
    card = _open(session, who, card_id)
    card.status, card.pressed_at = "pressed", now()
    session.flush()
    return card


def cancel(session: Session, who: Speaker, card_id: str) -> Card:
    """Closes a card without doing anything."""
    card = _open(session, who, card_id)
    card.status = "cancelled"
    session.flush()
    return card


def open_cards(session: Session, who: Speaker) -> list[Card]:
    """The cards that wait for that person, oldest first."""
    found = session.scalars(
        select(Card)
        .where(_theirs(session, who), Card.status == "open", Card.expires_at > now())
        .order_by(Card.created_at, Card.id)
    )
    return list(found)


def _theirs(session: Session, who: Speaker) -> ColumnElement[bool]:
    """The condition on cards for that person, whose words they may still read wherever they are."""
    own = and_(Card.team_id == who.team_id, Card.person_id == who.person_id)
    audiences = set(person_viewer(session, "", who).audiences)
    for audience in session.scalars(select(Card.audience).where(own).distinct()):
        kind, _, place_id = audience.partition(":")
        place = session.get(Place, place_id) if kind == "place" and not who.is_guest else None
        if place is not None and may_enter(session, place, who):
            audiences.add(audience)
    return and_(own, Card.audience.in_(audiences))


def _open(session: Session, who: Speaker, card_id: str) -> Card:
    """The person's own card by its id or the beginning of one, held until the end of the transaction."""
    wanted = card_id.strip().casefold()
    if not SHORTEST_PREFIX <= len(wanted) <= LENGTH or not wanted.isalnum():
        raise NotFound("There is no card with that id.")
    named = Card.id == wanted if len(wanted) == LENGTH else Card.id.startswith(wanted, autoescape=True)
    cards = session.scalars(
        select(Card)
        .where(_theirs(session, who), named)
        .limit(2)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    ).all()
    if not cards:
        raise NotFound("There is no card with that id.")
    if len(cards) > 1:
        raise Refused("More than one card begins with that id; give more of it. Nothing was done.")
    card = cards[0]
    if card.status != "open":
        raise Refused("That card was used already; nothing was done again.")
    if card.expires_at <= now():
        raise Refused("That card has expired; nothing was done. Please ask for it again.")
    return card
