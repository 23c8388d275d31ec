"""Files for the whole team that were asked for where fewer read: written when their card is pressed."""

from sqlalchemy.orm import Session

from bot.commands.actions import on_press
from bot.commands.command import Caller
from bot.messages import CommandResult
from bot.workspace import team_workspace, write
from memory.cards import Card
from memory.errors import Refused
from memory.rights import may_write_team

ACTION = "write_file"
READERS = "everyone in the team"


@on_press(ACTION)
def written(session: Session, caller: Caller, card: Card) -> CommandResult:
    """Writes exactly what the card showed."""
    if may_write_team(session, caller.speaker) != "yes":
        raise Refused("You may not write for the whole team any more; nothing was written.")
    space = team_workspace(caller.settings.home, card.team_id)
    path = f"shared/{card.payload['path']}"
    folder, parts = space.locate(path)
    size = write(folder, parts, card.payload["text"].encode("utf-8"), append=bool(card.payload["append"]))
    return CommandResult(f"Everyone in the team can read {path} now ({size:,} bytes).")
