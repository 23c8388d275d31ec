"""What happens when a card is pressed: one function for each kind of card."""

from collections.abc import Callable

from sqlalchemy.orm import Session

from bot.commands.command import Caller
from bot.errors import NotAllowed
from bot.messages import CommandResult
from memory.cards import Card

Action = Callable[[Session, Caller, Card], CommandResult]
"""Called in the transaction of the press, with the presser's rights of now; raising leaves the card open."""

ACTIONS: dict[str, Action] = {}


def on_press(name: str) -> Callable[[Action], Action]:
    """Registers the function that is run when a card of that action is pressed."""

    def register(action: Action) -> Action:
        ACTIONS[name] = action
        return action

    return register


def pressed(session: Session, caller: Caller, card: Card) -> CommandResult:
    """Does what a pressed card says."""
    action = ACTIONS.get(card.action)
    if action is None:
        raise NotAllowed("This teambot does not know what to do with that card; nothing was done.")
    return action(session, caller, card)
