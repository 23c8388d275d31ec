"""Change notes: what became different since the epoch's prefix was frozen."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from bot import epochs
from bot.instructions import system_text
from bot.prompt import Head
from bot.sections import authors, fact
from memory.conversations import Epoch
from memory.memories import TEAM_SUBJECT, Memory, MemoryChange

if TYPE_CHECKING:
    from bot.preparation import Cast

OVERLAP = timedelta(minutes=1)
"""Changes are looked up from a little before the epoch's start: transactions commit out of order."""
MOST = 50


@dataclass
class Changes:
    """Notes for the newest message, ids that they show, and what the epoch has announced by then."""

    notes: list[dict[str, Any]] = field(default_factory=list)
    shown: dict[str, int] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)


def since(
    session: Session, scene: "Cast", epoch: Epoch, at: datetime, tools: list[dict[str, Any]]
) -> Changes:
    """The notes that these readers may read and have not got yet in this epoch."""
    changes = Changes()
    announced: dict[str, int] = dict(epoch.state.get("shown", {}))
    _memories(session, scene, epoch, at, announced, changes)
    changes.state["shown"] = announced
    _wording(scene, epoch, tools, changes)
    return changes


def _memories(
    session: Session,
    scene: "Cast",
    epoch: Epoch,
    at: datetime,
    announced: dict[str, int],
    changes: Changes,
) -> None:
    touched = list(
        dict.fromkeys(
            session.scalars(
                select(MemoryChange.memory_id)
                .where(
                    scene.readers.may_read(MemoryChange),
                    MemoryChange.created_at >= epoch.created_at - OVERLAP,
                )
                .order_by(MemoryChange.seq.desc())
                .limit(MOST)
            )
        )
    )
    held = _rows(session, scene, list(announced))
    for memory_id in sorted(set(announced) - set(held)):
        _end(memory_id, announced, changes)
    ended = [key for key, row in held.items() if _is_over(row, at)]
    rows = _rows(session, scene, touched + ended)
    names = authors(session, list(rows.values()))
    for memory_id in sorted(rows, key=lambda key: (rows[key].created_at, key)):
        row = rows[memory_id]
        if row.status == "active" and not _is_over(row, at) and _belongs(scene, row):
            if announced.get(memory_id) != row.version:
                changes.notes.append(
                    {"memory": "changed" if memory_id in announced else "new", **fact(row, names)}
                )
                changes.shown[memory_id] = announced[memory_id] = row.version
        else:
            _end(memory_id, announced, changes)


def _end(memory_id: str, announced: dict[str, int], changes: Changes) -> None:
    """Says once that a memory which was shown holds no more: it ended, or an undo took it back."""
    if announced.get(memory_id, -1) >= 0:
        changes.notes.append({"memory": "no longer holds", "id": memory_id})
        announced[memory_id] = -1


def _rows(session: Session, scene: "Cast", ids: list[str]) -> dict[str, Memory]:
    if not ids:
        return {}
    found = session.scalars(select(Memory).where(Memory.id.in_(ids), scene.readers.may_recall()))
    return {row.id: row for row in found}


def _belongs(scene: "Cast", row: Memory) -> bool:
    """Whether the snapshot would hold it: team facts and log anywhere, one's own where one is alone."""
    if row.layer == "log" or (row.layer == "fact" and row.subject == TEAM_SUBJECT):
        return True
    mine = scene.who is not None and row.subject == scene.who.person_id
    return row.layer == "fact" and scene.alone and mine


def _is_over(row: Memory, at: datetime) -> bool:
    ends = [moment for moment in (row.expires_at, row.valid_until) if moment is not None]
    return any(moment <= at for moment in ends)


def _wording(scene: "Cast", epoch: Epoch, tools: list[dict[str, Any]], changes: Changes) -> None:
    """A deploy that only rewords tools, or an edited profile, reaches a running epoch as a note."""
    system = system_text(scene.bot)
    mark = epochs.wording(tools, system)
    changes.state["wording"] = mark
    if mark == epoch.state.get("wording"):
        return
    head = Head.load(epoch.head)
    old = {tool["name"]: tool["description"] for tool in head.tools}
    reworded = [
        {"name": tool["name"], "description": tool["description"]}
        for tool in tools
        if old.get(tool["name"]) != tool["description"]
    ]
    if reworded:
        changes.notes.append({"tools_reworded": reworded})
    if system != head.system:
        changes.notes.append({"your_instructions_now": system})
