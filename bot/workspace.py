"""The workspace: a team's files, and which of its folders a turn may read and write."""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.orm import Session

from bot.errors import BadInput, NotAllowed, Unknown
from bot.tools.tool import ToolCall
from memory import disk
from memory.audience import TEAM, Audience, Viewer
from memory.bots import Bot
from memory.disk import Parts
from memory.errors import StoreError
from memory.files import Kind, Target, begin, cancel, folder_of, settle

LONGEST_PATH = 400
DEEPEST = 12
RESERVED = "memory"
FORGOTTEN = "What this file rests on was forgotten meanwhile; nothing was written."


@dataclass(frozen=True)
class Folder:
    """A folder as the model names it, where it lies below `home`, and who may read what is in it."""

    name: str
    home: Path
    below: str
    audience: Audience
    writable: bool

    @property
    def path(self) -> Path:
        """Where it lies on the disk."""
        return self.home / self.below


@dataclass(frozen=True)
class Workspace:
    """The folders of one turn; `own` is the one whose readers are those of the turn."""

    folders: tuple[Folder, ...]
    own: Folder
    readers: Viewer

    def locate(self, path: str) -> tuple[Folder, Parts]:
        """The folder and the parts below it that a path means; anything that could lead out is refused."""
        if not path or len(path) > LONGEST_PATH or not path.isprintable():
            raise BadInput("A path is 1 to 400 plain characters, such as shared/notes.md.")
        if path.startswith(("/", "~")) or "\\" in path:
            raise NotAllowed(f"Only paths below {self.names()} can be used; nothing was touched.")
        parts = [part for part in path.split("/") if part not in ("", ".")]
        if ".." in parts:
            raise NotAllowed("A path must not contain `..`; nothing was touched.")
        if not parts or len(parts) > DEEPEST:
            raise BadInput(f"A path begins with one of {self.names()} and is at most {DEEPEST} deep.")
        if any(len(part.encode("utf-8")) > 200 for part in parts):
            raise BadInput("A name in a path is too long; nothing was touched.")
        for folder in self.folders:
            if folder.name == parts[0]:
                return folder, tuple(parts[1:])
        if parts[0] == RESERVED:
            raise NotAllowed("`memory/` is not for files: use the memory tools.")
        raise Unknown(f"There is no such folder here. There are: {self.names()}.")

    def names(self) -> str:
        """The folders as they are listed to the model."""
        return ", ".join(f"{folder.name}/" for folder in self.folders)


def workspace(session: Session, call: ToolCall) -> Workspace:
    """The workspace of a call, by the readers of now."""
    bot = session.get(Bot, call.bot_id)
    return mounted(call.settings.home, call.viewer(session), bot.audience if bot else TEAM)


def mounted(home: Path, readers: Viewer, bot_audience: Audience = TEAM) -> Workspace:
    """The folders that those readers may see."""
    home, team, inside = home.absolute(), readers.team_id, readers.reads(TEAM)
    writes = readers.writes
    found: list[Folder] = []
    if inside:
        found.append(Folder("shared", home, folder_of(team, "shared"), TEAM, writes == TEAM))
    if readers.reads(bot_audience):
        where = folder_of(team, "bots", readers.bot_id)
        found.append(Folder("bot", home, where, bot_audience, writes == bot_audience))
    kind, _, key = writes.partition(":")
    if kind in ("place", "person"):
        name, above = ("here", "places") if kind == "place" else ("private", "private")
        narrow = folder_of(team, above, key, inside=inside)
        found.append(Folder(name, home, narrow, writes, True))
        earlier = Folder("earlier", home, folder_of(team, above, key, inside=False), writes, False)
        if inside and earlier.path.is_dir():
            found.append(earlier)
    own = next(folder for folder in found if folder.audience == writes and folder.writable)
    if kind in ("place", "person"):
        own = next(folder for folder in found if folder.name in ("here", "private"))
    return Workspace(tuple(found), own, readers)


def target(
    space: Workspace, folder: Folder, parts: Parts, call: ToolCall, person_id: str | None, kind: Kind
) -> Target:
    """The row of a write that a call makes."""
    return Target(
        team_id=call.team_id,
        folder=folder.below,
        path="/".join(parts),
        audience=folder.audience,
        drawn_from=space.readers.drawn_from,
        bot_id=call.bot_id,
        person_id=person_id,
        turn_id=call.turn_id,
        key=f"{call.step}:{call.call_id}",
        kind=kind,
    )


async def put(call: ToolCall, where: Target, folder: Folder, data: bytes, *, append: bool = False) -> int:
    """Writes a file: its row first, then its bytes, which stay if nothing was forgotten meanwhile."""
    parts = tuple(where.path.split("/")) if where.path else ()
    row_id = await call.database.run(begin, where)
    try:
        size = await call.database.apart(disk.write, folder.path, parts, data, append=append)
    except (StoreError, OSError):
        await call.database.run(cancel, row_id)
        raise
    if not await call.database.run(settle, row_id, replaces=not append):
        await call.database.apart(disk.remove, folder.path, parts)
        raise NotAllowed(FORGOTTEN)
    return size
