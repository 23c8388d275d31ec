"""The history of memories: what each change was, and the state that undo goes back to."""

from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from memory.ids import derive
from memory.memories import Memory, MemoryChange

MOMENTS = ("valid_from", "valid_until", "expires_at", "confirmed_at")
FIELDS = (
    *("author_id", "account_id", "kind", "text", "topic", "importance", "confidence", "origin", "quote"),
    *("link", "status", "superseded_by", "confirmations", "digest", *MOMENTS),
)
"""Everything of a memory that a change may touch, its version aside: versions only grow."""
REPLACES = "replaces"
"""In what a change kept: the memory that was replaced by one that stood already."""


def state(memory: Memory) -> dict[str, Any]:
    """A memory as JSON, for the change that is about to touch it."""
    return {name: _written(getattr(memory, name)) for name in FIELDS}


def go_back(memory: Memory, before: dict[str, Any]) -> None:
    """Gives a memory the fields that a change kept, as a new version."""
    for name in FIELDS:
        if name not in before:
            continue
        value = before[name]
        moment = name in MOMENTS and value is not None
        setattr(memory, name, datetime.fromisoformat(value) if moment else value)
    memory.version += 1


def change_key(*key: str | int) -> str:
    """The id of the change that an act with that key makes: the same act makes it once."""
    return derive("change", *key)


def record(
    session: Session,
    memory: Memory,
    action: str,
    *,
    change_id: str,
    actor_id: str | None,
    account_id: str | None,
    turn_id: str | None,
    before: dict[str, Any] | None,
) -> MemoryChange:
    """Adds a step to a memory's history."""
    change = MemoryChange(
        id=change_id,
        team_id=memory.team_id,
        memory_id=memory.id,
        audience=memory.audience,
        actor_id=actor_id,
        account_id=account_id,
        turn_id=turn_id,
        action=action,
        version=memory.version,
        before=before,
    )
    session.add(change)
    session.flush()
    return change


def changes_of(session: Session, memory_id: str) -> list[MemoryChange]:
    """The whole history of a memory, oldest first; the caller may read the memory."""
    found = session.scalars(
        select(MemoryChange).where(MemoryChange.memory_id == memory_id).order_by(MemoryChange.seq)
    )
    return list(found)


def _written(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
