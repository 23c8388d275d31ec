"""Writing memories: the one boundary that everything kept passes, and the history that it leaves."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from memory.audience import Viewer
from memory.database import now
from memory.drafts import LEARNT, Draft, Source, checked, kept_text, refuse_source
from memory.errors import NotFound, Refused, Stale
from memory.history import REPLACES, change_key, record, state
from memory.ids import LENGTH, derive
from memory.memories import Memory, MemoryChange, Vector
from memory.people import Speaker
from memory.ranking import alive, rule_fits
from memory.rights import may_change, may_supersede, may_write_team
from memory.secrets import withhold
from memory.text import fold
from memory.words import sha256

__all__ = [
    "Draft",
    "Source",
    "Written",
    "add",
    "archive",
    "correct",
    "find",
    "mark_used",
    "may_write_team",
    "supersede",
]

Key = tuple[str | int, ...]

SHORTEST_PREFIX = 4
_EDGE = ".,;:!?…\"'“”‘’()[]«»。、！？"


@dataclass(frozen=True)
class Written:
    """What a write did: added, replaced, corrected, archived, confirmed, restored or removed.

    `withheld` are the kinds of secrets that were left out.
    """

    memory: Memory
    change_id: str
    action: str
    withheld: tuple[str, ...] = ()


def add(session: Session, draft: Draft, *, key: Key) -> Written:
    """Keeps a memory. The same key writes it once; the same words are confirmed instead of kept twice."""
    kept, kinds = checked(session, draft)
    done = _done(session, change_key(*key), kinds)
    if done is not None:
        return done
    refuse_source(session, kept)
    twin = _twin(session, kept)
    if twin is not None:
        return _confirm(session, twin, kept, key, kinds)
    _refuse_rule(session, kept)
    row = _insert(session, kept, key)
    change = _record(session, row, "added", kept.author, change_key(*key), turn_id=row.turn_id)
    return Written(row, change.id, "added", kinds)


def supersede(
    session: Session,
    viewer: Viewer,
    who: Speaker,
    old_id: str,
    draft: Draft,
    *,
    key: Key,
    expected_version: int | None = None,
) -> Written:
    """Replaces a memory by a newer one; the old one stays as history with the day on which it ended."""
    kept, kinds = checked(session, draft)
    done = _done(session, change_key(*key), kinds)
    if done is not None:
        return done
    refuse_source(session, kept)
    old = _locked(session, find(session, viewer, old_id))
    _refuse_replacing(old, who, kept, expected_version)
    twin = _twin(session, kept)
    if twin is not None and twin.id == old.id:
        return _confirm(session, twin, kept, key, kinds)
    before = None
    if twin is not None:
        new = twin
        before = {**_confirmed(session, twin, kept), REPLACES: old.id}
    else:
        _refuse_rule(session, kept, without=old.id)
        new = _insert(session, replace(kept, topic=kept.topic or old.topic), key)
    _end(session, old, new, who, kept, key)
    change = _record(session, new, "replaced", who, change_key(*key), turn_id=kept.turn_id, before=before)
    return Written(new, change.id, "replaced", kinds)


def correct(
    session: Session, viewer: Viewer, who: Speaker, memory_id: str, text: str, *, turn_id: str | None = None
) -> Written:
    """Puts a memory right, in place: from now on it rests on the words of whoever corrected it."""
    row = _locked(session, find(session, viewer, memory_id))
    if not may_change(row, who):
        raise Refused("Only its author and the person it is about may correct it; nothing was changed.")
    if row.status == "superseded":
        raise Refused("It was replaced by a newer memory; correct that one. Nothing was changed.")
    found = withhold(kept_text(text))
    kept = kept_text(found.text)
    if kept == row.text:
        return Written(row, _last_change(session, row.id), "corrected", found.kinds)
    if row.kind == "rule" and not rule_fits(session, row.team_id, row.author_id, kept, without=row.id):
        raise _no_room()
    before = state(row)
    row.text, row.quote, row.link, row.origin = kept, kept, None, "manual"
    row.author_id, row.account_id = who.person_id, who.account_id
    row.confidence, row.confirmed_at = 1.0, now()
    row.digest = digest(kept)
    row.version += 1
    drop_vectors(session, [row.seq])
    change_id = change_key(row.id, row.version)
    _record(session, row, "corrected", who, change_id, turn_id=turn_id, before=before)
    return Written(row, change_id, "corrected", found.kinds)


def archive(
    session: Session, viewer: Viewer, who: Speaker, memory_id: str, *, turn_id: str | None = None
) -> Written:
    """Takes a memory out of automatic recall; explicit search still finds it, marked."""
    row = _locked(session, find(session, viewer, memory_id))
    if not may_change(row, who):
        raise Refused("Only its author and the person it is about may archive it; nothing was changed.")
    if row.status == "archived":
        return Written(row, _last_change(session, row.id), "archived")
    if row.status == "superseded":
        raise Refused("It was replaced by a newer memory and is history already; nothing was changed.")
    before = state(row)
    row.status = "archived"
    row.version += 1
    change_id = change_key(row.id, row.version)
    _record(session, row, "archived", who, change_id, turn_id=turn_id, before=before)
    return Written(row, change_id, "archived")


def find(session: Session, viewer: Viewer, memory_id: str) -> Memory:
    """The memory with that id, or the only one whose id begins so; what may not be read is not there."""
    wanted = memory_id.strip().casefold()
    if not SHORTEST_PREFIX <= len(wanted) <= LENGTH or not wanted.isalnum():
        raise NotFound("There is no memory with that id.")
    named = Memory.id == wanted if len(wanted) == LENGTH else Memory.id.startswith(wanted, autoescape=True)
    rows = session.scalars(select(Memory).where(viewer.may_recall(), named).limit(2)).all()
    if not rows:
        raise NotFound("There is no memory with that id.")
    if len(rows) > 1:
        raise Refused("More than one memory begins with that id; give more of it. Nothing was changed.")
    return rows[0]


def mark_used(session: Session, ids: Sequence[str], at: datetime) -> None:
    """Notes that memories were shown."""
    if ids:
        session.execute(update(Memory).where(Memory.id.in_(ids)).values(used_at=at))


def digest(text: str) -> str:
    """A hash that is equal for texts that say the same in the same words."""
    return sha256(" ".join(filter(None, (word.strip(_EDGE) for word in fold(text).split()))) or text)


def drop_vectors(session: Session, seqs: Sequence[int], kind: str = "memory") -> None:
    """Removes the meaning of rows whose text changed or went; numbers are used again, so none may stay."""
    for start in range(0, len(seqs), 500):
        some = seqs[start : start + 500]
        session.execute(delete(Vector).where(Vector.kind == kind, Vector.row_seq.in_(some)))


def _refuse_rule(session: Session, draft: Draft, *, without: str | None = None) -> None:
    if draft.kind != "rule":
        return
    if not rule_fits(session, draft.team_id, draft.author.person_id, draft.text, without=without):
        raise _no_room()


def _no_room() -> Refused:
    return Refused(
        "Your rules would no longer all fit into a prompt; nothing was saved. "
        "Please forget or shorten one first."
    )


def _refuse_replacing(old: Memory, who: Speaker, draft: Draft, expected_version: int | None) -> None:
    if old.audience != draft.audience or old.bot_id != draft.bot_id or old.team_id != draft.team_id:
        raise Refused("A memory is replaced only by one with the same readers and bot; nothing was changed.")
    if not may_supersede(old, who):
        raise Refused("Only members of the team may replace it; nothing was changed.")
    if old.status != "active" or (expected_version is not None and old.version != expected_version):
        raise Stale


def _locked(session: Session, row: Memory) -> Memory:
    """The row as it is now, held until the end of the transaction (SQLite has one writer anyway)."""
    session.refresh(row, with_for_update={"key_share": True})
    return row


def _done(session: Session, change_id: str, kinds: tuple[str, ...]) -> Written | None:
    """What an act with this key did already."""
    found = session.execute(
        select(MemoryChange, Memory)
        .join(Memory, Memory.id == MemoryChange.memory_id)
        .where(MemoryChange.id == change_id)
    ).one_or_none()
    if found is None:
        return None
    change, row = found
    return Written(row, change.id, change.action, kinds)


def _twin(session: Session, draft: Draft) -> Memory | None:
    """The active memory that says the same already; on another day a log entry is another event."""
    if draft.layer == "work":
        return None
    rows = session.scalars(
        select(Memory)
        .where(
            Memory.team_id == draft.team_id,
            Memory.digest == digest(draft.text),
            Memory.audience == draft.audience,
            Memory.bot_id == draft.bot_id,
            Memory.subject == draft.subject,
            Memory.layer == draft.layer,
            alive(now()),
        )
        .order_by(Memory.seq)
        .with_for_update(key_share=True)
    )
    own = ("rule", "private")
    for row in rows:
        same_kind = row.kind == draft.kind or not (row.kind in own or draft.kind in own)
        same_day = draft.layer != "log" or row.confirmed_at.date() == draft.said_at.date()
        if same_kind and same_day:
            return row
    return None


def _confirm(session: Session, row: Memory, draft: Draft, key: Key, kinds: tuple[str, ...]) -> Written:
    before = _confirmed(session, row, draft)
    change = _record(
        session, row, "confirmed", draft.author, change_key(*key), turn_id=draft.turn_id, before=before
    )
    return Written(row, change.id, "confirmed", kinds)


def _confirmed(session: Session, row: Memory, draft: Draft) -> dict[str, Any]:
    """Strengthens a memory that was said again; its words and so its version stay. What it was before."""
    whole = state(row)
    touched = ("confirmed_at", "confirmations", "confidence", "origin", "expires_at", "quote")
    before = {name: whole[name] for name in touched}
    row.confirmations += 1
    row.confirmed_at = max(row.confirmed_at, draft.said_at)
    row.confidence = max(row.confidence, draft.confidence)
    if row.origin in LEARNT and draft.origin not in LEARNT:
        row.origin = draft.origin
    if row.layer == "note":
        row.expires_at = max(row.expires_at or now(), draft.ends_at or now())
    session.flush()
    return before


def _insert(session: Session, draft: Draft, key: Key) -> Memory:
    source = draft.source or Source(None, None, None, None, None, now())
    manual = draft.origin == "manual" and draft.shared_from is None
    row = Memory(
        id=derive(*key),
        team_id=draft.team_id,
        bot_id=draft.bot_id,
        author_id=draft.author.person_id,
        account_id=draft.author.account_id,
        subject=draft.subject,
        audience=draft.audience,
        drawn_from=draft.drawn_from,
        layer=draft.layer,
        kind=draft.kind,
        text=draft.text,
        topic=draft.topic,
        importance=draft.importance,
        confidence=draft.confidence,
        origin=draft.origin,
        conversation_id=source.conversation_id,
        turn_id=source.turn_id,
        source_id=source.entry_id,
        quote=source.quote or (draft.text if manual else None),
        link=source.link,
        shared_from=draft.shared_from,
        work=draft.work,
        valid_from=draft.valid_from,
        valid_until=draft.valid_until,
        expires_at=draft.ends_at,
        digest=digest(draft.text),
        confirmed_at=draft.said_at,
    )
    session.add(row)
    session.flush()
    return row


def _end(session: Session, old: Memory, new: Memory, who: Speaker, draft: Draft, key: Key) -> None:
    """Makes a memory history, from the day on which the newer one holds."""
    before = state(old)
    ends = draft.valid_from or draft.said_at
    old.status, old.superseded_by = "superseded", new.id
    old.valid_until = ends if old.valid_until is None else min(old.valid_until, ends)
    old.version += 1
    change_id = change_key(*key, "old")
    _record(session, old, "superseded", who, change_id, turn_id=draft.turn_id, before=before)


def _last_change(session: Session, memory_id: str) -> str:
    newest = (
        select(MemoryChange.id).where(MemoryChange.memory_id == memory_id).order_by(MemoryChange.seq.desc())
    )
    return session.scalar(newest.limit(1)) or ""


def _record(
    session: Session,
    row: Memory,
    action: str,
    who: Speaker,
    change_id: str,
    *,
    turn_id: str | None = None,
    before: dict[str, Any] | None = None,
) -> MemoryChange:
    return record(
        session,
        row,
        action,
        change_id=change_id,
        actor_id=who.person_id,
        account_id=who.account_id,
        turn_id=turn_id,
        before=before,
    )
