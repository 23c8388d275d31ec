"""`/memory forget`: for good, once the person has seen exactly what goes."""

from sqlalchemy.orm import Session

from bot.commands.actions import on_press
from bot.commands.asking import Asked, ask, asked, how, view
from bot.commands.command import Caller, Command
from bot.commands.memory import ID
from bot.commands.reach import reach
from bot.messages import CommandResult
from memory.cards import Card
from memory.forgetting import Preview, forget, preview
from memory.writing import find

ACTION = "forget"


def forget_one(session: Session, caller: Caller, arguments: dict[str, str]) -> CommandResult:
    """Shows what would go; only the press forgets it."""
    return ask_to_forget(session, caller, arguments["id"])


def ask_to_forget(session: Session, caller: Caller, memory_id: str) -> CommandResult:
    """The answer to a command that forgets: a card, and nothing done yet."""
    card = open_forget_card(session, asked(session, caller), memory_id)
    return CommandResult(f"Nothing is forgotten yet. {how(card)}", cards=(view(card),))


def open_forget_card(session: Session, asked: Asked, memory_id: str) -> Card:
    """A card with the exact words, their readers, and what goes with them."""
    found = preview(session, asked.viewer, asked.who, memory_id)
    audience = find(session, asked.viewer, found.memory_id).audience
    return ask(
        session,
        asked,
        ACTION,
        {"memory_id": found.memory_id},
        text=_words(found),
        readers=found.readers,
        key=(ACTION, found.memory_id, asked.who.person_id, asked.turn_id or ""),
        audience=audience,
    )


@on_press(ACTION)
def forgotten(session: Session, caller: Caller, card: Card) -> CommandResult:
    """Forgets for good, and says what that did not undo."""
    receipt = forget(
        session, reach(session, caller), caller.speaker, card.payload["memory_id"], turn_id=card.turn_id
    )
    return CommandResult("\n".join(receipt.lines), rows=(dict(receipt.counts),))


def _words(found: Preview) -> str:
    lines = [f"Forget for good: “{found.text}”"]
    lines += [f"With it goes: “{text}”" for text in found.also]
    if found.messages:
        lines.append(f"Words of yours in {_many(found.messages, 'message')} here become placeholders.")
    if found.files:
        lines.append(f"{_many(found.files, 'file')} with words of it will be deleted.")
    if found.shared:
        lines.append(f"{_many(found.shared, 'copy', 'copies')} that you shared with the team stay.")
    lines.append("This cannot be undone.")
    return "\n".join(lines)


def _many(number: int, one: str, more: str | None = None) -> str:
    return f"{number} {one if number == 1 else more or one + 's'}"


COMMANDS = (
    Command("memory forget", "Make the bot forget something for good (asks to confirm)", forget_one, (ID,)),
)
