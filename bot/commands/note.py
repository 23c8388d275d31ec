"""`/note`: private notes, which only their author ever reads."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from bot.commands.command import Argument, Caller, Command
from bot.commands.memory_change import fresh_key, saved
from bot.commands.memory_forget import ask_to_forget
from bot.commands.wording import listed
from bot.errors import Unknown
from bot.messages import CommandResult
from memory.audience import of_person
from memory.listing import as_rows
from memory.memories import Memory
from memory.text import fold, tokens
from memory.writing import Draft, add, find


def add_note(session: Session, caller: Caller, arguments: dict[str, str]) -> CommandResult:
    """Keeps a private note, wherever it was typed."""
    who, text = caller.speaker, arguments["text"]
    draft = Draft(
        team_id=who.team_id,
        bot_id=caller.bot.id,
        author=who,
        audience=of_person(who.person_id),
        subject=who.person_id,
        layer="fact",
        kind="private",
        text=text,
        origin="manual",
    )
    return saved(session, caller, add(session, draft, key=fresh_key(session, "note", who.person_id, text)))


def list_notes(session: Session, caller: Caller, arguments: dict[str, str]) -> CommandResult:
    """The caller's private notes, newest first; with words, those that hold them."""
    own = select(Memory).where(
        caller.viewer.may_recall(),
        Memory.kind == "private",
        Memory.author_id == caller.speaker.person_id,
        Memory.status == "active",
    )
    query = arguments.get("query", "")
    found = session.scalars(own.order_by(Memory.created_at.desc(), Memory.id)).all()
    rows = as_rows(session, [note for note in found if _holds(note.text, query)], caller.viewer)
    if not rows:
        return CommandResult(
            "You have no private notes with that." if query else "You have no private notes."
        )
    heading = f"Your private notes ({len(rows)}); only you read them:"
    return CommandResult(
        "\n".join([heading, listed(rows, "`/note list WORDS` finds them.")]), rows=tuple(rows)
    )


def delete_note(session: Session, caller: Caller, arguments: dict[str, str]) -> CommandResult:
    """Asks whether a private note goes for good."""
    note = find(session, caller.viewer, arguments["id"])
    if note.kind != "private":
        raise Unknown("There is no private note with that id. `/memory forget ID` is for other memories.")
    return ask_to_forget(session, caller, note.id)


def _holds(text: str, query: str) -> bool:
    """Whether a text has every word of a query, or the query as it stands."""
    words = set(tokens(text))
    return fold(query) in fold(text) or all(
        any(word.startswith(wanted) for word in words) for wanted in tokens(query) or [query]
    )


COMMANDS = (
    Command("note add", "Save a private note", add_note, (Argument("text", "The note", rest=True),)),
    Command(
        "note list",
        "Your private notes",
        list_notes,
        (Argument("query", "Words to look for", required=False, rest=True),),
    ),
    Command(
        "note delete",
        "Delete a private note for good (asks to confirm)",
        delete_note,
        (Argument("id", "Which note: the id in its line"),),
    ),
)
