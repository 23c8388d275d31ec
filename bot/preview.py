"""A look at the prompt: the request that a message would send, made by the same code and rolled back."""

from typing import Any

from sqlalchemy.orm import Session

from bot import desk_rows
from bot.engine import Engine
from bot.intake import accept
from bot.messages import Local, Message
from bot.preparation import prepare
from bot.tools.tool import Tool
from bot.turns import claim
from memory.database import now
from memory.ids import derive

PREVIEW = "preview"


def previewed(
    session: Session,
    engine: Engine,
    local: Local,
    text: str,
    tools: tuple[Tool, ...],
    model: str,
    options: dict[str, Any],
) -> dict[str, Any]:
    """`request` in Messages API shape and its `sections`; nothing is stored or sent."""
    address, author, place = desk_rows.scene_of(session, local)
    message = Message(
        address=address,
        id=f"{PREVIEW}-{derive(now().isoformat())}",
        author=author,
        place=place,
        text=text,
        said_at=now(),
        ephemeral=local.ephemeral,
        bot=local.bot,
    )
    with session.begin_nested() as savepoint:
        accepted = accept(session, engine, message)
        turn_id = f"{PREVIEW}:{accepted.entry_id}"
        _make_way(session, accepted.conversation_id, accepted.entry_id)
        claim(session, turn_id, accepted.conversation_id)
        prompt, scene = prepare(session, turn_id, tools, model)
        shown = {
            "request": prompt.body(options=options) | {"model": scene.bot.model or model},
            "sections": [section.row() for section in prompt.sections()],
        }
        savepoint.rollback()
    return shown


def _make_way(session: Session, conversation_id: str, entry_id: str) -> None:
    """A turn that runs and messages that wait do not stand in the way of a look."""
    from sqlalchemy import update

    from memory.conversations import Entry
    from memory.turns import Turn

    session.execute(
        update(Turn)
        .where(Turn.conversation_id == conversation_id, Turn.status == "running")
        .values(status="stopped")
    )
    session.execute(
        update(Entry)
        .where(Entry.conversation_id == conversation_id, Entry.turn_id.is_(None), Entry.id != entry_id)
        .values(addressed=False)
    )
