"""The disk below a team's folders: nothing leads out, nothing is half written, links are never followed."""

import errno
import fcntl
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from memory.errors import NotFound, Refused

LARGEST_FILE = 10_000_000
MOST_BYTES = 200_000_000
MOST_FILES = 2_000
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

Parts = tuple[str, ...]


def read(root: Path, parts: Parts, offset: int, length: int) -> tuple[bytes, int]:
    """Some bytes of a file and its size; a negative offset counts from the end."""
    with _parent(root, parts) as (above, name):
        number = _open(name, os.O_RDONLY | os.O_NONBLOCK, above)
        with os.fdopen(number, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise Refused("That is not a file.")
            size = status.st_size
            file.seek(max(size + offset, 0) if offset < 0 else min(offset, size))
            return file.read(length), size


def write(root: Path, parts: Parts, data: bytes, *, append: bool = False) -> int:
    """Writes a whole file, or adds to it, within the folder's quota; its size. All or nothing."""
    try:
        with _locked(root):
            was = _whole(root, parts)
            data = (was or b"") + data if append else data
            _check_room(root, len(data), was)
            with _parent(root, parts, make=True) as (above, name):
                _replace(above, name, data)
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise Refused("The disk is full; nothing was written.") from None
        raise Refused(f"The file cannot be written ({error.strerror}); nothing was written.") from None
    return len(data)


def remove(root: Path, parts: Parts) -> None:
    """Takes a file away, if it is there."""
    with suppress(NotFound, FileNotFoundError), _parent(root, parts) as (above, name):
        os.unlink(name, dir_fd=above)


def clear(root: Path) -> None:
    """Takes a whole folder away, if it is there; links in it go, what they lead to stays."""
    if root.is_symlink():
        root.unlink()
    elif root.exists():
        shutil.rmtree(root)


def listed(root: Path, below: Parts = ()) -> Iterator[tuple[Parts, int]]:
    """Every plain file with its size, sorted; links and what they lead to are left out."""
    if not root.is_dir():
        return
    with _parent(root, (*below, "")) as (top, _):
        for where, folders, files, here in os.fwalk(".", dir_fd=top, follow_symlinks=False):
            folders.sort()
            for name in sorted(files):
                with suppress(FileNotFoundError):
                    status = os.stat(name, dir_fd=here, follow_symlinks=False)
                    if stat.S_ISREG(status.st_mode):
                        yield (*below, *Path(where).parts, name), status.st_size


def used(root: Path) -> tuple[int, int]:
    """How many files and bytes a folder holds."""
    sizes = [size for _, size in listed(root)]
    return len(sizes), sum(sizes)


def _check_room(root: Path, size: int, was: bytes | None) -> None:
    if size > LARGEST_FILE:
        raise Refused(f"A file holds at most {LARGEST_FILE:,} bytes; nothing was written.")
    files, taken = used(root)
    files, taken = files + (was is None), taken + size - len(was or b"")
    if files > MOST_FILES or taken > MOST_BYTES:
        raise Refused(
            f"This folder is full (at most {MOST_FILES:,} files and {MOST_BYTES:,} bytes); "
            "nothing was written."
        )


def _whole(root: Path, parts: Parts) -> bytes | None:
    try:
        return read(root, parts, 0, LARGEST_FILE + 1)[0]
    except NotFound:
        return None


def _replace(above: int, name: str, data: bytes) -> None:
    """Writes beside the file and moves into its place."""
    passing = f".{secrets.token_hex(8)}.part"
    number = _open(passing, os.O_WRONLY | os.O_CREAT | os.O_EXCL, above)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(passing, name, src_dir_fd=above, dst_dir_fd=above)
    except OSError as error:
        with suppress(FileNotFoundError):
            os.unlink(passing, dir_fd=above)
        if isinstance(error, IsADirectoryError):
            raise Refused("There is a folder of that name; nothing was written.") from None
        raise


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    """One writer at a time, by a lock on the folder above: a sandbox sees the folder itself."""
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    number = os.open(root.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(number, fcntl.LOCK_EX)
        yield
    finally:
        os.close(number)


@contextmanager
def _parent(root: Path, parts: Parts, *, make: bool = False) -> Iterator[tuple[int, str]]:
    """The open folder that holds a file, reached step by step without following any link."""
    if not parts:
        raise Refused("That is a folder; a file is meant.")
    if not root.is_dir():
        raise NotFound("There is no such file.")
    above = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
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
        raise NotFound("There is no such file.") from None
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise
        raise Refused("That is not a plain file or folder (links are not followed).") from None
