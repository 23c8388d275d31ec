"""`search_files`: plain words in the workspace's files, and names by a pattern of stars."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any

from pydantic import BaseModel, Field

from bot.tools.room import fitting
from bot.tools.tool import Tool, ToolCall, ToolResult
from bot.workspace import Workspace, workspace
from memory.disk import LARGEST_FILE, listed, read
from memory.errors import StoreError
from memory.words import clean

MOST = 20
AROUND = 120
MOST_BYTES = 50_000_000


class Arguments(BaseModel):
    """What to look for."""

    query: str = Field("", max_length=200, description="Words as they stand in a file; case is ignored.")
    name: str = Field(
        "*", max_length=100, pattern=r"^[^*]*(\*[^*]*){0,3}$", description="File names, such as *.md."
    )


async def run(call: ToolCall, arguments: Arguments) -> ToolResult:
    """Searches the files of the turn's folders."""
    space = await call.database.read(workspace, call)
    return await call.database.apart(_found, space, arguments)


def _found(space: Workspace, arguments: Arguments) -> ToolResult:
    results = list(islice(_matches(space, arguments), MOST + 1))
    shown = fitting(results[:MOST])
    return ToolResult({"results": shown, "more": len(results) > len(shown)})


def _matches(space: Workspace, arguments: Arguments) -> Iterator[dict[str, Any]]:
    room = MOST_BYTES
    wanted = arguments.query.casefold()
    for folder in space.folders:
        for parts, size in listed(folder.path):
            if not fnmatchcase(parts[-1].casefold(), arguments.name.casefold()):
                continue
            path = "/".join((folder.name, *parts))
            if not wanted:
                yield {"path": path, "bytes": size}
                continue
            room -= size
            if room < 0:
                return
            try:
                data, _ = read(folder.path, parts, 0, LARGEST_FILE)
            except StoreError:
                continue
            text = clean(data.decode("utf-8", "replace"))
            at = text.casefold().find(wanted)
            if at >= 0:
                yield {"path": path, "text": text[max(at - AROUND, 0) : at + len(wanted) + AROUND]}


SEARCH_FILES = Tool(
    name="search_files",
    description=(
        "Finds files of the workspace by words that stand in them, by their name, or both, among those that "
        "everybody who reads your answer may see. Gives the first place in each file with what stands around "
        "it. The words are taken as they are, not as a pattern."
    ),
    arguments=Arguments,
    run=run,
)
