"""The workspace: a team's files, and which of its folders a turn may read and write."""

import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.orm import Session

from bot.errors import BadInput, NotAllowed, Unknown
from bot.tools.tool import ToolCall
from memory.audience import TEAM, Audience, Viewer
from memory.bots import Bot
from memory.ids import derive

LARGEST_FILE = 10_000_000
MOST_BYTES = 200_000_000
MOST_FILES = 2_000
LONGEST_PATH = 400
DEEPEST = 12
RESERVED = "memory"
_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True)
class Folder:
    """A folder as the model names it, where it lies, and who may read what is in it."""

    name: str
    path: Path
    audience: Audience
    writable: bool


@dataclass(frozen=True)
class Workspace:
    """The folders of one turn; `own` is the one whose readers are those of the turn."""

    folders: tuple[Folder, ...]
    own: Folder

    def locate(self, path: str) -> tuple[Folder, tuple[str, ...]]:
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
    """The folders that those readers may see.

    What was made where team memory is read lies apart from what was made where it is not, so that a channel
    that opens to outsiders, or a member who becomes a guest, takes nothing of the team's along.
    """
    root = home.absolute() / "teams" / _plain(readers.team_id)
    inside = readers.reads(TEAM)
    found: list[Folder] = []
    if inside:
        found.append(Folder("shared", root / "shared", TEAM, readers.writes == TEAM))
    if readers.reads(bot_audience):
        place = root / "bots" / _plain(readers.bot_id)
        found.append(Folder("bot", place, bot_audience, readers.writes == bot_audience))
    kind, _, key = readers.writes.partition(":")
    if kind in ("place", "person"):
        name, above = ("here", "places") if kind == "place" else ("private", "private")
        plain = _plain(key)
        narrow = root / above / (plain if inside else f"{plain}.outside")
        found.append(Folder(name, narrow, readers.writes, True))
        outside = root / above / f"{plain}.outside"
        if inside and outside.is_dir():
            found.append(Folder("earlier", outside, readers.writes, False))
    own = next(folder for folder in found if folder.writable)
    return Workspace(tuple(found), own)


def team_workspace(home: Path, team_id: str) -> Workspace:
    """The workspace of what a person confirmed for the whole team."""
    shared = Folder("shared", home.absolute() / "teams" / _plain(team_id) / "shared", TEAM, True)
    return Workspace((shared,), shared)


def read(folder: Folder, parts: tuple[str, ...], offset: int, length: int) -> tuple[bytes, int]:
    """Some bytes of a file and its size; a negative offset counts from the end. Links are not followed."""
    with _parent(folder, parts) as (above, name):
        number = _open(name, os.O_RDONLY | os.O_NONBLOCK, above)
        with os.fdopen(number, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise BadInput("That is not a file.")
            size = status.st_size
            file.seek(max(size + offset, 0) if offset < 0 else min(offset, size))
            return file.read(length), size


def write(folder: Folder, parts: tuple[str, ...], data: bytes, *, append: bool = False) -> int:
    """Writes a whole file, or adds to it, within the folder's quota; its size. All or nothing."""
    if append:
        with suppress(Unknown):
            data = read(folder, parts, 0, LARGEST_FILE + 1)[0] + data
    if len(data) > LARGEST_FILE:
        raise NotAllowed(f"A file holds at most {LARGEST_FILE:,} bytes; nothing was written.")
    files, taken = used(folder)
    if files >= MOST_FILES or taken + len(data) > MOST_BYTES:
        raise NotAllowed(f"{folder.name}/ is full ({files:,} files, {taken:,} bytes); nothing was written.")
    with _parent(folder, parts, make=True) as (above, name):
        passing = f".{secrets.token_hex(8)}.part"
        number = _open(passing, os.O_WRONLY | os.O_CREAT | os.O_EXCL, above)
        with os.fdopen(number, "wb") as file:
            file.write(data)
        try:
            os.replace(passing, name, src_dir_fd=above, dst_dir_fd=above)
        except OSError:
            os.unlink(passing, dir_fd=above)
            raise BadInput("There is a folder of that name; nothing was written.") from None
    return len(data)


def listed(folder: Folder, below: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], int]]:
    """Every file of a folder with its size, sorted; links and what they lead to are left out."""
    top = folder.path.joinpath(*below)
    if not top.resolve().is_relative_to(folder.path.resolve()):
        raise NotAllowed("Links are not followed; nothing was touched.")
    for where, folders, files in os.walk(top, followlinks=False):
        folders.sort()
        for name in sorted(files):
            path = Path(where) / name
            with suppress(FileNotFoundError):
                status = path.lstat()
                if stat.S_ISREG(status.st_mode):
                    yield path.relative_to(folder.path).parts, status.st_size


def used(folder: Folder) -> tuple[int, int]:
    """How many files and bytes a folder holds."""
    sizes = [size for _, size in listed(folder)]
    return len(sizes), sum(sizes)


@contextmanager
def _parent(folder: Folder, parts: tuple[str, ...], *, make: bool = False) -> Iterator[tuple[int, str]]:
    """The open folder that holds a file, reached step by step without following any link."""
    if not parts:
        raise BadInput("That is a folder; a file is meant.")
    if make:
        folder.path.mkdir(parents=True, exist_ok=True, mode=0o700)
    elif not folder.path.is_dir():
        raise Unknown("There is no such file.")
    above = os.open(folder.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        for part in parts[:-1]:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, 0o700, dir_fd=above)
            below = _open(part, os.O_RDONLY | os.O_DIRECTORY, above)
            os.close(above)
            above = below
        yield above, parts[-1]
    finally:
        os.close(above)


def _open(name: str, flags: int, above: int) -> int:
    try:
        return os.open(name, flags | os.O_NOFOLLOW, 0o600, dir_fd=above)
    except FileNotFoundError:
        raise Unknown("There is no such file.") from None
    except OSError:
        raise NotAllowed("That is not a plain file or folder (links are not followed).") from None


def _plain(key: str) -> str:
    """An id as the name of a folder."""
    return key if _PLAIN.fullmatch(key) else derive("folder", key)
