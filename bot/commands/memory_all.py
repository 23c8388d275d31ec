"""`/memory export` and `erase`: everything of a person, as a copy or gone for good."""

import json
from typing import Any

from sqlalchemy.orm import Session

from bot.commands.actions import on_press
from bot.commands.asking import ask, asked, how, view
from bot.commands.command import Caller, Command
from bot.messages import Attachment, CommandResult
from memory.cards import Card
from memory.erasing import erase
from memory.listing import export

ACTION = "erase"
FILE = "my-memory.json"
SHORT = 3_000
"""Characters of a copy that stand in the answer itself; a longer one is the file beside it."""


def copy(session: Session, caller: Caller, arguments: dict[str, str]) -> CommandResult:
    """Everything of the caller that the caller may read, as JSON."""
    found = export(session, caller.speaker)
    text = json.dumps(found, ensure_ascii=False, indent=2, sort_keys=True)
    data = text.encode("utf-8")
    shown = f"\n```json\n{text}\n```" if len(text) <= SHORT and "```" not in text else ""
    return CommandResult(
        f"Everything of yours that you may read: {_counted(found)}.{shown}",
        rows=(found,),
        file=Attachment(FILE, "application/json", len(data), data),
    )


def ask_to_erase(session: Session, caller: Caller, arguments: dict[str, str]) -> CommandResult:
    """Shows what would go; only the press erases it."""
    found = export(session, caller.speaker)
    text = (
        f"Erase everything of yours, with every bot, for good: {_counted(found)}. It takes memories by you "
        "and about you, private notes, our direct messages, your private files, your words in shared "
        "channels (placeholders stand there then), and your words in the journal. "
        "`/memory export` makes a copy first. This cannot be undone."
    )
    card = ask(
        session,
        asked(session, caller),
        ACTION,
        {},
        text=text,
        readers=f"only {caller.speaker.name}",
        key=(ACTION, caller.speaker.person_id, _counted(found)),
    )
    return CommandResult(f"Nothing is erased yet. {how(card)}", cards=(view(card),))


@on_press(ACTION)
def erased(session: Session, caller: Caller, card: Card) -> CommandResult:
    """Erases the presser, and says what that did not undo."""
    receipt = erase(session, caller.speaker)
    return CommandResult("\n".join(receipt.lines), rows=(dict(receipt.counts),))


def _counted(found: dict[str, Any]) -> str:
    memories, messages = len(found["memories"]), len(found["messages"])
    return (
        f"{memories} {'memory' if memories == 1 else 'memories'} and "
        f"{messages} {'message' if messages == 1 else 'messages'}"
    )


COMMANDS = (
    Command("memory export", "Get a copy of everything about me", copy, seen="direct"),
    Command("memory erase", "Erase everything about me (asks to confirm)", ask_to_erase),
)
