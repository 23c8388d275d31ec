"""`write_file`: a file for the readers of the reply; for more readers only behind a card."""

from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from bot.commands.asking import Asked, ask, how
from bot.commands.file_writes import ACTION, READERS, mark
from bot.errors import BadInput, NotAllowed
from bot.tools.tool import Tool, ToolCall, ToolResult
from bot.workspace import Folder, put, target, workspace
from memory.audience import TEAM
from memory.disk import Parts
from memory.ids import derive
from memory.rights import may_write_team
from memory.secrets import withhold
from memory.words import clean

LONGEST = 100_000
MOST_ON_A_CARD = 2_500


class Arguments(BaseModel):
    """What to write, and where."""

    path: str = Field(max_length=400, description="Such as shared/notes.md or private/list.txt.")
    text: str = Field(max_length=LONGEST, description="The text of the file, or what is added to it.")
    append: bool = Field(False, description="Add to the end instead of replacing the file.")


async def run(call: ToolCall, arguments: Arguments) -> ToolResult:
    """Writes where exactly these readers read; asks the asker where more do."""
    space = await call.database.read(workspace, call)
    folder, parts = space.locate(arguments.path)
    if not parts:
        raise BadInput("That is a folder; a file is meant. Nothing was written.")
    found = await call.database.apart(lambda: withhold(clean(arguments.text)))
    if not folder.writable:
        if folder.audience != TEAM:
            raise NotAllowed(f"{folder.name}/ can only be read here; nothing was written.")
        was = await call.database.apart(mark, folder.path, parts)
        return await call.database.run(_asked, call, folder, parts, found.text, arguments.append, was)
    asker = (await call.database.read(call.asker)).person_id
    where = target(space, folder, parts, call, asker, "written")
    size = await put(call, where, folder, found.text.encode("utf-8"), append=arguments.append)
    return ToolResult({"written": arguments.path, "bytes": size, "left_out": sorted(set(found.kinds))})


def _asked(
    session: Session, call: ToolCall, folder: Folder, parts: Parts, text: str, append: bool, was: str
) -> ToolResult:
    asker = call.asker(session)
    if may_write_team(session, asker) != "yes":
        raise NotAllowed("The asker may not write for the whole team; nothing was written.")
    if len(text) > MOST_ON_A_CARD:
        raise NotAllowed(f"A card shows at most {MOST_ON_A_CARD:,} characters; nothing was written.")
    who = Asked(asker, call.viewer(session), call.bot_id, call.place_id, call.turn_id)
    path = "/".join(parts)
    key = "" if folder.name == "shared" else call.bot_id
    verb = "Add to" if append else "Replace" if was else "Write"
    card = ask(
        session,
        who,
        ACTION,
        {"folder": folder.name, "key": key, "path": path, "text": text, "append": append, "was": was},
        text=f"{verb} {folder.name}/{path}:\n{text}",
        readers=READERS,
        key=(ACTION, call.turn_id, derive(folder.name, path, text, int(append), was)),
    )
    say = f"Nothing is written yet: the whole team would read it. {how(card)}"
    return ToolResult({"card": card.id, "readers": READERS, "say": say}, cards=(card.id,))


WRITE_FILE = Tool(
    name="write_file",
    description=(
        "Writes a text file into the workspace, or adds to one. In shared/ it is for the whole team: from a "
        "direct message or a private channel that only opens a card, and nothing is written before the asker "
        "confirms there; say so, in the result's words. Use private/ or here/ for what stays here."
    ),
    arguments=Arguments,
    run=run,
    writes=True,
)
