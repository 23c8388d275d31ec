"""The outcome of a message: the reply that covers it, what it used, what was remembered."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from bot.messages import Accepted
from memory.audience import Viewer, viewer
from memory.cards import Card
from memory.conversations import Entry
from memory.listing import as_row
from memory.memories import Memory, MemoryChange, Refusal
from memory.places import Place
from memory.turns import Outgoing, Step, Turn

ADDED = ("added", "confirmed", "restored")
REPLACED = ("replaced", "corrected")
REMOVED = ("archived", "forgotten", "undone")


def outcome_of(session: Session, accepted: Accepted, settle: bool) -> dict[str, Any] | None:
    """The object that `teambot say --json` prints, once there is one; with `settle` once the pass is done."""
    entry = session.scalar(select(Entry).where(Entry.id == accepted.entry_id))
    if entry is None:
        return _empty(accepted, "")
    if accepted.turn_id is None:
        return _empty(accepted, entry.message_id or "")
    turn = session.get(Turn, entry.turn_id) if entry.turn_id else None
    if turn is None or turn.status == "running" or (settle and turn.settled_at is None):
        return None
    reply = session.get(Outgoing, f"{turn.id}:0")
    place = session.get_one(Place, turn.place_id)
    readers = viewer(session, turn.bot_id, place, turn.account_id, ephemeral=turn.ephemeral)
    return {
        "message": entry.message_id,
        "turn": turn.id,
        "status": turn.status,
        "error": turn.error,
        "reply": reply.text if reply else "",
        "sources": list(reply.extras.get("sources", ())) if reply else [],
        "usage": _usage(session, turn.id),
        "memory": _memory(session, turn.id, readers),
        "rows": [],
        "cards": _cards(session, turn, readers),
    }


def _empty(accepted: Accepted, message_id: str) -> dict[str, Any]:
    return {
        "message": message_id,
        "turn": accepted.turn_id,
        "status": "kept",
        "error": None,
        "reply": "",
        "sources": [],
        "usage": dict.fromkeys(
            ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"), 0
        ),
        "memory": {"added": [], "replaced": [], "removed": [], "refused": []},
        "rows": [],
        "cards": [],
    }


def _usage(session: Session, turn_id: str) -> dict[str, int]:
    steps = session.scalars(select(Step).where(Step.turn_id == turn_id, Step.tag == "main")).all()
    return {
        "input_tokens": sum(step.input_tokens for step in steps),
        "output_tokens": sum(step.output_tokens for step in steps),
        "cache_read_tokens": sum(step.cache_read_tokens for step in steps),
        "cache_write_tokens": sum(step.cache_write_5m_tokens + step.cache_write_1h_tokens for step in steps),
    }


def _memory(session: Session, turn_id: str, readers: Viewer) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {"added": [], "replaced": [], "removed": [], "refused": []}
    changes = session.scalars(
        select(MemoryChange)
        .where(
            MemoryChange.turn_id == turn_id, MemoryChange.undone_at.is_(None), readers.may_read(MemoryChange)
        )
        .order_by(MemoryChange.seq)
    )
    for change in changes:
        for kind, actions in (("added", ADDED), ("replaced", REPLACED), ("removed", REMOVED)):
            if change.action in actions:
                found[kind].append(_item(session, change, readers))
    refusals = session.scalars(
        select(Refusal).where(Refusal.turn_id == turn_id, readers.may_read(Refusal)).order_by(Refusal.id)
    )
    found["refused"] = [
        {"id": row.id, "text": "", "audience": row.audience, "reason": row.reason} for row in refusals
    ]
    return found


def _item(session: Session, change: MemoryChange, readers: Viewer) -> dict[str, Any]:
    memory = session.scalar(select(Memory).where(Memory.id == change.memory_id, readers.may_recall()))
    if memory is None:
        return {"id": change.memory_id, "text": "", "audience": change.audience}
    row = as_row(session, memory, readers)
    return {"id": row["id"], "text": row["text"], "audience": row["audience"], "change": change.id}


def _cards(session: Session, turn: Turn, readers: Viewer) -> list[dict[str, str]]:
    rows = session.scalars(
        select(Card)
        .where(
            Card.turn_id == turn.id,
            Card.status == "open",
            Card.person_id == turn.person_id,
            readers.may_read(Card),
        )
        .order_by(Card.id)
    )
    return [{"id": row.id, "text": row.text, "readers": row.readers} for row in rows]
