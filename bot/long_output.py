"""Long outputs: a tool's long result becomes a file of the turn's readers; the context keeps its ends."""

from bot.errors import BotError
from bot.tools.tool import ToolCall
from bot.workspace import LARGEST_FILE, mounted, write
from memory.audience import Viewer
from memory.ids import derive
from memory.words import canonical, clean

LONGEST = 8_000
HEAD = 3_000
TAIL = 2_000
MOST_CHARACTERS = 2_000_000
"""What is looked at of a result: no tool of ours gives more, and scanning more would hold others up."""
CUT = "\n[… cut: this result was longer than anything that is kept …]\n"


def bounded(text: str) -> str:
    """Text that every store accepts, and of a size that can be scanned: beginning and end of what is huge."""
    if len(text) > MOST_CHARACTERS:
        half = MOST_CHARACTERS // 2
        text = text[:half] + CUT + text[-half:]
    return clean(text)


def shortened(call: ToolCall, readers: Viewer, text: str, *, recalled: bool) -> str:
    """A text as the context keeps it. What was recalled goes into no file: it could not be forgotten."""
    if len(text) <= LONGEST:
        return text
    name = f"{derive('output', call.turn_id, call.step, call.call_id)}.txt"
    value: dict[str, object] = {"characters": len(text), "head": text[:HEAD], "tail": text[-TAIL:]}
    if recalled:
        return canonical({**value, "say": "Too long to show whole; ask for less."})
    data = text.encode("utf-8")[:LARGEST_FILE]
    own = mounted(call.settings.home, readers).own
    try:
        write(own, ("outputs", name), data)
    except (BotError, OSError):
        return canonical({**value, "say": "Too long to show whole, and there was no room to keep it."})
    where = f"{own.name}/outputs/{name}"
    return canonical({**value, "path": where, "bytes": len(data), "say": "read_file reads the rest."})
