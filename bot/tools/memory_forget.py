"""`memory_forget`: opens a card for the asker; only their press forgets."""

from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from bot.commands.asking import Asked, how
from bot.commands.memory_forget import open_forget_card
from bot.tools.tool import Tool, ToolCall, ToolResult
from memory.audience import Viewer
from memory.database import now
from memory.errors import NotFound, Refused
from memory.memories import Memory
from memory.people import Speaker
from memory.rights import may_change
from memory.search import search_memories
from memory.text import fold
from memory.writing import find

LONGEST_QUERY = 1_000
MOST_OTHERS = 4
NOTHING = (
    "I remember nothing like that here that the asker may have forgotten. What others said in private, or in "
    "other places, is not looked at."
)


class Arguments(BaseModel):
    """Which memory."""

    id: str | None = Field(None, max_length=40, description="The memory's id, where you have seen it.")
    query: str = Field("", description="Otherwise what it says, in the asker's words.")


async def run(call: ToolCall, arguments: Arguments) -> ToolResult:
    """Finds the memory among those that these readers may read, and asks."""
    return await call.database.run(_asked, call, arguments)


def _asked(session: Session, call: ToolCall, arguments: Arguments) -> ToolResult:
    viewer, asker = call.viewer(session), call.asker(session)
    found = _candidates(session, call, viewer, asker, arguments)
    if not found:
        return ToolResult({"found": 0, "say": NOTHING})
    first, *others = found
    asked = Asked(asker, viewer, call.bot_id, call.place_id, call.turn_id)
    try:
        card = open_forget_card(session, asked, first.id)
    except (NotFound, Refused) as refused:
        return ToolResult({"refused": "not_allowed", "say": str(refused)}, is_error=True)
    content: dict[str, object] = {
        "card": card.id,
        "memory": first.id,
        "text": first.text,
        "readers": card.readers,
        "say": f"Nothing is forgotten yet: “{first.text}” goes for good when you confirm. {how(card)}",
    }
    shown = [first, *others[:MOST_OTHERS]]
    if others:
        content["others"] = [{"id": row.id, "text": row.text} for row in shown[1:]]
    return ToolResult(content, shown=tuple(row.id for row in shown), cards=(card.id,))


def _candidates(
    session: Session, call: ToolCall, viewer: Viewer, asker: Speaker, arguments: Arguments
) -> list[Memory]:
    """What may be meant, best first: readable here, and the asker's to forget."""
    if arguments.id:
        try:
            return [find(session, viewer, arguments.id)]
        except NotFound:
            return []
    query = arguments.query.strip()[:LONGEST_QUERY]
    found = search_memories(
        session, viewer, query, at=now(), limit=20, statuses=("active", "archived"), meaning=call.meaning
    )
    rows = [one.row for one in found if isinstance(one.row, Memory) and may_change(one.row, asker)]
    wanted = fold(query)
    return sorted(rows, key=lambda row: not (wanted in fold(row.text) or fold(row.text) in wanted))


MEMORY_FORGET = Tool(
    name="memory_forget",
    description=(
        "Starts forgetting a memory for good because the asker wants it: give its id, or what it says. It "
        "only opens a card that shows the exact words; nothing is forgotten before the asker confirms there. "
        "Tell them so, in the result's words. To put something aside but keep it findable, archive it with "
        "memory_write instead."
    ),
    arguments=Arguments,
    run=run,
)
