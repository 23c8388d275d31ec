"""Epochs: the frozen prefix of a conversation, when it goes on, and how a new one begins."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from bot.beginning import begun_from
from bot.instructions import MEANING, system_text
from bot.prompt import Head
from bot.sections import SECTIONS, Stage
from bot.tools.tool import Tool
from memory.audience import Viewer
from memory.conversations import Epoch
from memory.database import now
from memory.ids import derive
from memory.words import canonical, sha256


def contract(tools: list[dict[str, Any]], model: str) -> str:
    """What must stay the same within an epoch: schemas, model, meaning; wording may change with a note."""
    shapes = [{"name": tool["name"], "input_schema": tool["input_schema"]} for tool in tools]
    return sha256(canonical({"tools": shapes, "model": model, "meaning": MEANING}))


def definitions(tools: tuple[Tool, ...]) -> list[dict[str, Any]]:
    """The tools as every request of an epoch carries them, in an order that never depends on the process."""
    return [tool.definition() for tool in sorted(tools, key=lambda tool: tool.name)]


def current(session: Session, conversation_id: str) -> Epoch | None:
    """The epoch that is open, whoever may read it."""
    return session.scalar(
        select(Epoch)
        .where(Epoch.conversation_id == conversation_id, Epoch.ended_at.is_(None))
        .order_by(Epoch.number.desc())
        .limit(1)
    )


def newest(session: Session, conversation_id: str) -> Epoch | None:
    """The epoch that the last request was made from, open or ended since."""
    return session.scalar(
        select(Epoch).where(Epoch.conversation_id == conversation_id).order_by(Epoch.number.desc()).limit(1)
    )


def continued(
    session: Session, conversation_id: str, readers: Viewer, tools: list[dict[str, Any]], model: str
) -> Epoch | None:
    """The open epoch, if today's readers may read all of it and it still fits this program; else it ends."""
    epoch = current(session, conversation_id)
    if epoch is None:
        return None
    if not readers.reads_all(epoch.audiences):
        end(epoch, "readers changed")
    elif epoch.hashes.get("contract") != contract(tools, model):
        end(epoch, "program changed")
    else:
        return epoch
    session.flush()
    return None


def end(epoch: Epoch, reason: str) -> None:
    """Closes an epoch; its stored prefix is used no more."""
    epoch.ended_at, epoch.end_reason = now(), reason


def begin(session: Session, stage: Stage, tools: list[dict[str, Any]], model: str, *, start: int) -> Epoch:
    """A new epoch after position `start`: with the given summary, or from readable originals."""
    conversation = stage.conversation
    last = session.scalar(
        select(Epoch.number)
        .where(Epoch.conversation_id == conversation.id)
        .order_by(Epoch.number.desc())
        .limit(1)
    )
    quoted: list[str] = []
    if start > 0:
        stage.summary, quoted = begun_from(session, conversation, stage.readers, start)
    head = Head(
        tools=tools,
        system=system_text(stage.bot),
        first={name: build(session, stage) for name, build in SECTIONS},
    )
    number = (last or 0) + 1
    epoch = Epoch(
        id=derive("epoch", conversation.id, number),
        team_id=conversation.team_id,
        conversation_id=conversation.id,
        number=number,
        audience=stage.readers.writes,
        audiences=sorted(stage.readers.audiences),
        head=head.dump(),
        hashes={
            "contract": contract(tools, model),
            **{section.name: section.sha256 for section in head.sections()},
        },
        shown={**dict.fromkeys(quoted, 0), **stage.shown},
        state={"shown": dict(stage.shown), "spoken": [], "wording": wording(tools, head.system)},
        start=start,
        model=model,
    )
    session.add(epoch)
    session.flush()
    return epoch


def wording(tools: list[dict[str, Any]], system: str) -> str:
    """A hash of everything that a deploy or a profile edit may reword."""
    return sha256(canonical([tools, system]))
