"""`/confirm` and `/cancel`: a card's buttons, typed or pressed."""

from dataclasses import replace

from sqlalchemy.orm import Session

from bot.commands.actions import pressed
from bot.commands.asking import view
from bot.commands.command import Argument, Caller, Command
from bot.messages import CommandResult
from memory.audience import person_viewer, viewer
from memory.bots import Bot
from memory.cards import Card, cancel, open_cards, press
from memory.errors import Refused
from memory.places import Place


def confirm(session: Session, caller: Caller, arguments: dict[str, str]) -> CommandResult:
    """Presses a card; without one, lists those that wait for the caller."""
    if "card" not in arguments:
        return _waiting(session, caller)
    card = press(session, caller.speaker, arguments["card"])
    return pressed(session, _where_it_was_opened(session, caller, card), card)


def drop(session: Session, caller: Caller, arguments: dict[str, str]) -> CommandResult:
    """Closes a card without doing anything."""
    cancel(session, caller.speaker, arguments["card"])
    return CommandResult("The card is closed, and nothing was done.")


def _waiting(session: Session, caller: Caller) -> CommandResult:
    cards = open_cards(session, caller.speaker)
    if not cards:
        return CommandResult("No card waits for you.")
    text = "These cards wait for you. Press one, or type `/confirm ID` or `/cancel ID`."
    return CommandResult(text, cards=tuple(map(view, cards)))


def _where_it_was_opened(session: Session, caller: Caller, card: Card) -> Caller:
    """The presser with the bot and place of the card, by the flags of now."""
    who = caller.speaker
    bot = session.get(Bot, card.bot_id) if card.bot_id else caller.bot
    place = session.get(Place, card.place_id) if card.place_id else caller.place
    if bot is None or place is None:
        raise Refused("The bot or the place of that card is gone; nothing was done.")
    if (bot.id, place.id) == (caller.bot.id, caller.place.id):
        return caller
    alone = place.kind == "dm"
    own = person_viewer(session, bot.id, who)
    here = own if alone else viewer(session, bot.id, place, who.account_id)
    return replace(caller, bot=bot, place=place, viewer=own, here=here)


CARD = Argument("card", "Which card: its id", required=False)

COMMANDS = (
    Command("confirm", "Press a card, or list those that wait for you", confirm, (CARD,)),
    Command("cancel", "Close a card without doing anything", drop, (replace(CARD, required=True),)),
)
