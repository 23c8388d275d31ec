"""Asking by card: exact words and exact readers, before anything happens that cannot be taken back."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from bot.commands.command import Caller
from bot.commands.reach import reach
from bot.messages import CardView
from memory.audience import Audience, Viewer
from memory.cards import DAY_IN_MINUTES, Card, open_card
from memory.database import now
from memory.ids import derive
from memory.people import Speaker


@dataclass(frozen=True)
class Asked:
    """Who is asked, on whose behalf of a place and a bot, and who reads the card."""

    who: Speaker
    viewer: Viewer
    bot_id: str
    place_id: str
    turn_id: str | None = None


def asked(session: Session, caller: Caller) -> Asked:
    """The caller of a command, who alone sees the card."""
    return Asked(caller.speaker, reach(session, caller), caller.bot.id, caller.place.id)


def ask(
    session: Session,
    asked: Asked,
    action: str,
    payload: dict[str, Any],
    *,
    text: str,
    readers: str,
    key: tuple[str | int, ...],
    minutes: int = DAY_IN_MINUTES,
    audience: Audience | None = None,
) -> Card:
    """Opens a card. An open one with the same key is shown again, a used one is followed by a new one.

    `audience` is who may read the words on it, where they were not said here.
    """
    number = 0
    while not _is_free(session.get(Card, derive("card", *key, number))):
        number += 1
    return open_card(
        session,
        asked.who,
        action=action,
        payload=payload,
        text=text,
        readers=readers,
        audience=audience or asked.viewer.writes,
        place_id=asked.place_id,
        bot_id=asked.bot_id,
        turn_id=asked.turn_id,
        key=(*key, number),
        minutes=minutes,
    )


def view(card: Card) -> CardView:
    """A card as platforms show it."""
    return CardView(card.id, card.text, card.readers, card.action)


def how(card: Card) -> str:
    """How a card is answered where there are no buttons."""
    return f"Press the card, or type `/confirm {card.id}` (or `/cancel {card.id}`)."


def _is_free(card: Card | None) -> bool:
    return card is None or (card.status == "open" and card.expires_at > now())
