"""`/memory share`: a person gives words of theirs to the team, after reading them once more."""

from sqlalchemy.orm import Session

from bot.commands.actions import on_press
from bot.commands.asking import Asked, ask, asked, how, view
from bot.commands.command import Argument, Caller, Command
from bot.commands.reach import reach
from bot.commands.team_writes import READERS, TeamWrite, Waiting, waits, write
from bot.commands.wording import left_out, quoted
from bot.messages import CommandResult
from memory.audience import TEAM
from memory.cards import Card
from memory.errors import Refused
from memory.memories import TEAM_SUBJECT, Memory
from memory.people import Speaker
from memory.rights import may_write_team
from memory.secrets import withhold
from memory.writing import find

ACTION = "share"


def share(session: Session, caller: Caller, arguments: dict[str, str]) -> CommandResult:
    """Shows the exact words and readers; only the press shares them."""
    memory = find(session, reach(session, caller), arguments["id"])
    card = ask_to_share(session, asked(session, caller), memory)
    return CommandResult(
        f"Nothing is shared yet. Only these words would be; where they were said stays private. {how(card)}",
        cards=(view(card),),
    )


def ask_to_share(session: Session, asked: Asked, memory: Memory) -> Card:
    """A card that makes a new team memory of the words of one of the asker's own."""
    if memory.author_id != asked.who.person_id:
        raise Refused("Only the person whose words it is may share it; nothing was changed.")
    if memory.audience == TEAM:
        raise Refused("The whole team reads it already; nothing was changed.")
    if memory.status != "active":
        raise Refused("It does not hold any more, so it cannot be shared; nothing was changed.")
    _refuse_outsider(session, asked.who)
    payload = {"memory_id": memory.id, "text": memory.text}
    key = (ACTION, memory.id, memory.version, asked.who.person_id, asked.turn_id or "")
    return ask(
        session,
        asked,
        ACTION,
        payload,
        text=memory.text,
        readers=READERS,
        key=key,
        audience=memory.audience,
    )


def ask_to_share_words(session: Session, caller: Caller, text: str) -> Card:
    """A card that makes a team memory of words that were typed where fewer people read."""
    _refuse_outsider(session, caller.speaker)
    words = withhold(text).text
    key = (ACTION, caller.bot.id, caller.speaker.person_id, words)
    payload = {"memory_id": None, "text": words}
    return ask(session, asked(session, caller), ACTION, payload, text=words, readers=READERS, key=key)


@on_press(ACTION)
def shared(session: Session, caller: Caller, card: Card) -> CommandResult:
    """Makes a new row of the confirmed words; quote, link and history stay where they are."""
    text, memory_id = card.payload["text"], card.payload["memory_id"]
    what = TeamWrite(text)
    if memory_id is not None:
        memory = find(session, reach(session, caller), memory_id)
        if memory.text != text or memory.author_id != caller.speaker.person_id:
            raise Refused("It was changed since the card was shown; nothing was shared. Please ask again.")
        what = TeamWrite(
            text,
            subject=TEAM_SUBJECT if memory.subject == TEAM_SUBJECT else caller.speaker.person_id,
            kind="fact" if memory.kind in ("private", "rule") else memory.kind,
            topic=memory.topic,
            importance=memory.importance,
            shared_from=memory.id,
        )
    done = write(session, asked(session, caller), what, key=(ACTION, card.id))
    if isinstance(done, Waiting):
        return CommandResult(waits(done))
    return CommandResult(
        f"Everyone in the team reads it from now on: {quoted(done.memory.text)}{left_out(done.withheld)} "
        "Undo: `/memory undo`",
        undo=done.change_id,
    )


def _refuse_outsider(session: Session, who: Speaker) -> None:
    if may_write_team(session, who) != "no":
        return
    if who.is_guest:
        raise Refused("What guests say does not enter the team's memory; nothing was changed.")
    raise Refused("Only admins write the team's memory here; nothing was changed.")


COMMANDS = (
    Command(
        "memory share",
        "Show a fact of yours to the team (shows the exact words first)",
        share,
        (Argument("id", "Which memory: the id in its line"),),
    ),
)
