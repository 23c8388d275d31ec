"""Files for more readers than where they were asked for: written when their card is pressed."""

import hashlib
from pathlib import Path

from sqlalchemy.orm import Session

from bot.commands.actions import on_press
from bot.commands.command import Caller
from bot.messages import CommandResult
from memory import disk
from memory.audience import TEAM
from memory.cards import Card
from memory.errors import NotFound, Refused
from memory.files import Target, begin, folder_of, settle
from memory.rights import may_write_team

ACTION = "write_file"
READERS = "everyone in the team"
ABSENT = ""


def mark(root: Path, parts: disk.Parts) -> str:
    """What stands there now, as a hash: a card holds only as long as it stays so."""
    try:
        data, _ = disk.read(root, parts, 0, disk.LARGEST_FILE + 1)
    except NotFound:
        return ABSENT
    return hashlib.sha256(data).hexdigest()


@on_press(ACTION)
def written(session: Session, caller: Caller, card: Card) -> CommandResult:
    """Writes exactly what the card showed, where nothing has changed since."""
    given = card.payload
    if may_write_team(session, caller.speaker) != "yes":
        raise Refused("You may not write for the whole team any more; nothing was written.")
    folder = folder_of(card.team_id, "shared" if given["folder"] == "shared" else "bots", given["key"])
    parts = tuple(given["path"].split("/"))
    root = caller.settings.home.absolute() / folder
    if mark(root, parts) != given["was"]:
        raise Refused(
            "That file has changed since the card was shown; nothing was written. Please ask again."
        )
    row = begin(
        session,
        Target(
            team_id=card.team_id,
            folder=folder,
            path=given["path"],
            audience=TEAM,
            drawn_from=None,
            bot_id=card.bot_id,
            person_id=caller.speaker.person_id,
            turn_id=card.turn_id,
            key=card.id,
        ),
    )
    size = disk.write(root, parts, given["text"].encode("utf-8"), append=bool(given["append"]))
    settle(session, row, replaces=not given["append"])
    name = f"{given['folder']}/{given['path']}"
    return CommandResult(f"Everyone in the team can read {name} now ({size:,} bytes).")
