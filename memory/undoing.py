"""Undoing: every change of a memory can be taken back once, except forgetting and erasing."""

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from memory import tombstones
from memory.audience import TEAM, Viewer
from memory.conversations import Entry
from memory.database import now
from memory.drafts import LEARNT
from memory.errors import NotFound, Refused
from memory.history import REPLACES, change_key, go_back, record
from memory.ids import LENGTH
from memory.memories import Memory, MemoryChange
from memory.people import Speaker
from memory.ranking import rule_fits
from memory.writing import SHORTEST_PREFIX, Written, drop_vectors, find

PARTS = ("restored", "superseded")
"""Changes that belong to another one and are not undone by themselves."""


def undo(session: Session, viewer: Viewer, who: Speaker, change_id: str) -> Written:
    """Takes a change back: an addition is gone entirely, anything else is as it was before."""
    change = _found(session, viewer, change_id)
    row = find(session, viewer, change.memory_id)
    session.refresh(row, with_for_update={"key_share": True})
    _refuse(session, change, row, who)
    change.undone_at = now()
    if change.action == "replaced":
        return _give_back(session, change, row, who)
    if change.before is None:
        _take_back(session, row)
        return Written(row, change.id, "removed")
    return _restored(session, row, change, who)


def last_change(session: Session, who: Speaker) -> str | None:
    """The newest change that this person made, or that was learnt from their words, and that still stands."""
    return session.scalar(
        select(MemoryChange.id)
        .where(
            MemoryChange.team_id == who.team_id,
            MemoryChange.actor_id == who.person_id,
            MemoryChange.undone_at.is_(None),
            MemoryChange.action.not_in(PARTS),
        )
        .order_by(MemoryChange.seq.desc())
        .limit(1)
    )


def _found(session: Session, viewer: Viewer, change_id: str) -> MemoryChange:
    """The change with that id, or with the only readable id that begins so."""
    wanted = change_id.strip().casefold()
    if not SHORTEST_PREFIX <= len(wanted) <= LENGTH or not wanted.isalnum():
        raise NotFound("There is no change with that id.")
    named = MemoryChange.id.startswith(wanted, autoescape=True)
    rows = session.scalars(
        select(MemoryChange)
        .where(viewer.may_read(MemoryChange), named)
        .limit(2)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    ).all()
    if len(rows) != 1:
        raise NotFound("There is no change with that id.")
    return rows[0]


def _refuse(session: Session, change: MemoryChange, row: Memory, who: Speaker) -> None:
    """Once, by those whose it is, and only while nothing was changed after it."""
    theirs = who.person_id in (change.actor_id, row.author_id, row.subject)
    if not theirs and not (who.is_admin and row.audience == TEAM):
        raise Refused("Only who made the change, or whose memory it is, may undo it; nothing was changed.")
    if change.undone_at is not None:
        raise Refused("That was undone already; nothing was changed.")
    if change.action in PARTS:
        raise Refused("That belongs to another change, which can be undone; nothing was changed.")
    newer = session.scalar(
        select(MemoryChange.id)
        .where(
            MemoryChange.memory_id == row.id,
            MemoryChange.seq > change.seq,
            MemoryChange.undone_at.is_(None),
            MemoryChange.action != "restored",
        )
        .limit(1)
    )
    if newer is not None:
        raise Refused("It was changed again after that; undo the newer change first. Nothing was changed.")


def _give_back(session: Session, change: MemoryChange, new: Memory, who: Speaker) -> Written:
    """Lets the memory that was replaced hold again, and takes back what replaced it."""
    before = change.before
    replaced = Memory.id == before[REPLACES] if before else Memory.superseded_by == new.id
    old = session.scalar(
        select(Memory).where(Memory.team_id == new.team_id, Memory.superseded_by == new.id, replaced)
    )
    if before is None:
        _take_back(session, new)
    else:
        go_back(new, before)
        new.version -= 1
    ended = old and session.scalar(
        select(MemoryChange)
        .where(MemoryChange.memory_id == old.id, MemoryChange.action == "superseded")
        .order_by(MemoryChange.seq.desc())
        .limit(1)
    )
    if old is None or not ended:
        return Written(new, change.id, "removed")
    ended.undone_at = now()
    return _restored(session, old, ended, who)


def _restored(session: Session, row: Memory, change: MemoryChange, who: Speaker) -> Written:
    """The memory as it was before that change, as a new version."""
    was, version = row.text, row.version
    go_back(row, change.before or {})
    if change.action == "confirmed":
        row.version = version
    if row.kind == "rule" and row.status == "active":
        session.flush()
        if not rule_fits(session, row.team_id, row.author_id, row.text, without=row.id):
            raise Refused("Your rules would no longer all fit into a prompt; nothing was changed.")
    if row.text != was:
        drop_vectors(session, [row.seq])
    change_id = change_key("undo", change.id)
    record(
        session,
        row,
        "restored",
        change_id=change_id,
        actor_id=who.person_id,
        account_id=who.account_id,
        turn_id=None,
        before=None,
    )
    return Written(row, change_id, "restored")


def _take_back(session: Session, row: Memory) -> None:
    """Removes an addition with its history; what was learnt unasked is not learnt from that message again."""
    source = session.scalar(select(Entry).where(Entry.id == row.source_id)) if row.source_id else None
    key = tombstones.key_of(source) if source else None
    if key is not None and row.origin in LEARNT:
        tombstones.leave(session, row.team_id, key, row.audience, "undone")
    drop_vectors(session, [row.seq])
    session.execute(delete(MemoryChange).where(MemoryChange.memory_id == row.id))
    session.delete(row)
    session.flush()
