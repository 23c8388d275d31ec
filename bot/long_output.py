"""Long outputs: a tool's long result becomes a file of the turn's readers; the context keeps its ends."""

from typing import Any

from sqlalchemy.orm import Session

from bot.errors import BotError
from bot.tools.tool import ToolCall
from bot.workspace import Workspace, put, target, workspace
from memory.disk import LARGEST_FILE
from memory.errors import StoreError
from memory.ids import derive
from memory.secrets import withhold
from memory.words import canonical, clean

LONGEST = 8_000
HEAD = 3_000
TAIL = 2_000
MOST_CHARACTERS = 2_000_000
"""What is looked at of a result: no tool of ours gives more, and scanning more would hold others up."""
CUT = "\n[… cut: this result was longer than anything that is kept …]\n"


def bounded(content: Any) -> str:
    """A result as text that every store accepts, without secrets, and of a size that can be scanned."""
    text = content if isinstance(content, str) else canonical(content)
    if len(text) > MOST_CHARACTERS:
        half = MOST_CHARACTERS // 2
        text = text[:half] + CUT + text[-half:]
    return withhold(clean(text)).text


async def shortened(call: ToolCall, text: str, *, recalled: bool) -> str:
    """A text as the context keeps it. What was recalled goes into no file: its source has rows of its own."""
    if len(text) <= LONGEST:
        return text
    value: dict[str, object] = {"characters": len(text), "head": text[:HEAD], "tail": text[-TAIL:]}
    if recalled:
        return canonical({**value, "say": "Too long to show whole; ask for less."})
    data = text.encode("utf-8")[:LARGEST_FILE]
    parts = ("outputs", f"{derive('output', call.turn_id, call.step, call.call_id)}.txt")
    try:
        space, person_id = await call.database.read(_where, call)
        await put(call, target(space, space.own, parts, call, person_id, "output"), space.own, data)
    except (BotError, StoreError, OSError):
        return canonical({**value, "say": "Too long to show whole, and it could not be kept as a file."})
    where = "/".join((space.own.name, *parts))
    return canonical({**value, "path": where, "bytes": len(data), "say": "read_file reads the rest."})


def _where(session: Session, call: ToolCall) -> tuple[Workspace, str | None]:
    space = workspace(session, call)
    return space, space.readers.person_id
