"""Erasing: everything of a person is gone for good, here and in a backup that is restored later."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import and_, delete, or_, select, update
from sqlalchemy.orm import Session

from memory import erasures, tombstones
from memory.audience import TEAM, of_person
from memory.bots import Bot
from memory.cards import Card
from memory.conversations import Conversation, Entry, Epoch, Summary
from memory.database import now
from memory.erasures import Erasure, account_key, erased_since
from memory.files import WorkspaceFile, doom_named, doom_private, written_by
from memory.forgetting import MOST_NAMED, Receipt, remove
from memory.journal import JournalRecord
from memory.memories import Memory, MemoryChange, Refusal, Tombstone
from memory.people import Account, Person, Speaker, Team
from memory.places import Place
from memory.redaction import PLACEHOLDER, chunks, redact, scrub
from memory.turns import Call, Outgoing, Turn
from memory.writing import drop_vectors

__all__ = ["apply_ledger", "erase", "erased_since", "ledger"]

NAMELESS = "Erased person"
ERASED_AT = "erased_at"
NOT_UNDONE = (
    "Not undone: what was done because of it, messages that stand on chat platforms, and copies outside "
    "teambot such as exports and backups (a backup that is restored is erased again by the ledger)."
)


def erase(session: Session, who: Speaker) -> Receipt:
    """Deletes everything of a person: memories, private talk, their words in shared logs. No undo.

    The accounts stay, without names, so that nothing of before is ever taken in again.
    """
    left = written_by(session, who.person_id)
    counts = _erase(session, who.team_id, who.person_id, now())
    scrub(session)
    said = f"{counts['private']} lines of private talk, {counts['shared']} messages in shared channels"
    lines = [
        f"Erased: {counts['memories']} memories, {said} (placeholders stand there now).",
        f"{counts['files']} private files went too.",
        "What other people said about you in their own private talk is theirs and stays with them.",
        *_left(left),
        NOT_UNDONE,
    ]
    personal = session.scalars(select(Bot.name).where(Bot.owner_id == who.person_id)).all()
    if personal:
        lines.insert(3, f"Your own bots stay until you delete them: {', '.join(sorted(personal))}.")
    return Receipt(tuple(lines), counts)


def _left(files: Sequence[WorkspaceFile]) -> list[str]:
    """Files for more readers that were written at the person's request."""
    names = sorted({row.shown for row in files})
    if not names:
        return []
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    named = ", ".join(names[:MOST_NAMED])
    return [f"Not undone: files that you had written for others to read stay theirs: {named}{more}."]


def ledger(session: Session) -> list[dict[str, Any]]:
    """What is gone for good, as hashes and ids: to be kept outside backups."""
    lines: list[dict[str, Any]] = [
        {"kind": row.kind, "team": row.team_id, "key": row.key, "at": row.at.isoformat()}
        for row in session.scalars(select(Erasure).order_by(Erasure.at, Erasure.id))
    ]
    marks = session.scalars(select(Tombstone).order_by(Tombstone.created_at, Tombstone.id))
    return lines + [
        {
            "kind": "source",
            "team": row.team_id,
            "key": row.key,
            "audience": row.audience,
            "reason": row.reason,
            "at": row.created_at.isoformat(),
        }
        for row in marks
    ]


def apply_ledger(session: Session, rows: Sequence[dict[str, Any]]) -> int:
    """Erases and forgets again what a restored backup brought back; how many lines were new to it."""
    known = {(row.kind, row.key) for row in session.scalars(select(Erasure))}
    known |= {("source", row.key) for row in session.scalars(select(Tombstone))}
    teams = set(session.scalars(select(Team.id)))
    fresh = [row for row in rows if row["team"] in teams and (row["kind"], row["key"]) not in known]
    for row in fresh:
        if row["kind"] == "account":
            _erase_again(session, row)
    for team_id in sorted({row["team"] for row in fresh}):
        _forget_again(session, team_id, [row for row in fresh if row["team"] == team_id])
    for row in fresh:
        if row["kind"] == "source":
            tombstones.leave(session, row["team"], row["key"], row["audience"], row["reason"])
        else:
            erasures.note(session, row["team"], row["kind"], [row["key"]], datetime.fromisoformat(row["at"]))
    if fresh:
        scrub(session)
    return len(fresh)


def _erase_again(session: Session, row: dict[str, Any]) -> None:
    for account in session.scalars(select(Account).where(Account.team_id == row["team"])):
        if account_key(account.id) == row["key"]:
            _erase(session, account.team_id, account.person_id, datetime.fromisoformat(row["at"]))


def _forget_again(session: Session, team_id: str, rows: Sequence[dict[str, Any]]) -> None:
    """Memories and entries by their ids, and messages that were deleted by their keys."""
    memories = [row["key"] for row in rows if row["kind"] == "memory"]
    named = [row["key"] for row in rows if row["kind"] == "entry"]
    deleted = {row["key"] for row in rows if row["kind"] == "source" and row["reason"] == "deleted"}
    gone = [
        row
        for some in chunks(memories)
        for row in session.scalars(select(Memory).where(Memory.team_id == team_id, Memory.id.in_(some)))
    ]
    entries = [
        entry
        for some in chunks(named)
        for entry in session.scalars(select(Entry).where(Entry.team_id == team_id, Entry.id.in_(some)))
    ]
    if deleted:
        sent = select(Entry).where(Entry.team_id == team_id, Entry.message_id.is_not(None))
        entries += [entry for entry in session.scalars(sent) if tombstones.key_of(entry) in deleted]
    doom_named(session, team_id, [row["key"] for row in rows if row["kind"] == "file"])
    remove(session, team_id, gone, requester=None, given=entries, reason=None)


def _erase(session: Session, team_id: str, person_id: str, at: datetime) -> dict[str, int]:
    turns = _turns(session, person_id)
    private = _drop_private_talk(session, team_id, person_id)
    said = _shared_words(session, team_id, person_id, turns)
    counts = {
        "memories": 0,
        "private": private,
        "files": doom_private(session, team_id, person_id),
        "shared": sum(entry.person_id == person_id and entry.redacted_at is None for entry in said),
    }
    session.execute(update(WorkspaceFile).where(WorkspaceFile.person_id == person_id).values(person_id=None))
    gone = _memories(session, team_id, person_id)
    counts["memories"] = len(gone)
    # One audience at a time: what is private must not decide which shared lines look alike.
    for audience in sorted({row.audience for row in gone}):
        group = [row for row in gone if row.audience == audience]
        sources = {row.source_id for row in group}
        given = [entry for entry in said if entry.id in sources]
        remove(session, team_id, group, requester=None, given=given)
    redact(session, said)
    _drop_records(session, team_id, person_id, turns)
    _drop_history(session, team_id, person_id)
    _take_name(session, team_id, person_id, at)
    return counts


def _turns(session: Session, person_id: str) -> list[str]:
    """The turns that the person started; those that run are asked to stop."""
    session.execute(
        update(Turn).where(Turn.person_id == person_id, Turn.status == "running").values(stop_requested=True)
    )
    session.execute(update(Turn).where(Turn.person_id == person_id).values(remembered={}))
    return list(session.scalars(select(Turn.id).where(Turn.person_id == person_id)))


def _drop_private_talk(session: Session, team_id: str, person_id: str) -> int:
    """Direct messages and ephemeral exchanges with every bot, and what was made of them."""
    own = of_person(person_id)
    talks = session.scalars(select(Conversation.id).where(Conversation.person_id == person_id)).all()
    session.execute(update(Conversation).where(Conversation.person_id == person_id).values(title=""))
    entries = session.execute(
        select(Entry.seq, Entry.person_id).where(
            Entry.team_id == team_id, or_(Entry.conversation_id.in_(talks), Entry.audience == own)
        )
    ).all()
    drop_vectors(session, [seq for seq, _ in entries], "entry")
    for some in chunks(seq for seq, _ in entries):
        session.execute(delete(Entry).where(Entry.seq.in_(some)))
    for table in (Epoch, Summary, Outgoing):
        session.execute(delete(table).where(table.conversation_id.in_(talks)))
    for gated in (Outgoing, Summary, Epoch, Call, Refusal):
        session.execute(delete(gated).where(gated.team_id == team_id, gated.audience == own))
    return len(entries)


def _shared_words(session: Session, team_id: str, person_id: str, turns: Sequence[str]) -> list[Entry]:
    """The person's messages in shared places, and what bots did and said in answer to them."""
    mine = select(Entry).where(Entry.team_id == team_id, Entry.person_id == person_id)
    found = list(session.scalars(mine))
    for some in chunks(turns):
        answers = and_(Entry.turn_id.in_(some), Entry.person_id.is_(None))
        found += session.scalars(select(Entry).where(answers))
    return found


def _memories(session: Session, team_id: str, person_id: str) -> list[Memory]:
    """What rests on the person's words, what is theirs alone, and what the team knows about them."""
    theirs = or_(
        Memory.author_id == person_id,
        Memory.audience == of_person(person_id),
        and_(Memory.subject == person_id, Memory.audience == TEAM),
    )
    return list(session.scalars(select(Memory).where(Memory.team_id == team_id, theirs)))


def _drop_records(session: Session, team_id: str, person_id: str, turns: Sequence[str]) -> None:
    """Cards, refusals, what was sent, and the words of the journal."""
    accounts = select(Account.id).where(Account.person_id == person_id)
    # Cards that ask an admin about this person's words name the account whose words they are.
    asks = Card.payload["account_id"].as_string().in_(accounts)
    session.execute(
        delete(Card).where(Card.team_id == team_id, or_(Card.person_id == person_id, asks)),
        execution_options={"synchronize_session": False},
    )
    for some in chunks(turns):
        session.execute(delete(Refusal).where(Refusal.turn_id.in_(some)))
        session.execute(delete(Call).where(Call.turn_id.in_(some)))
        session.execute(
            update(Outgoing).where(Outgoing.turn_id.in_(some)).values(text=PLACEHOLDER, extras={})
        )
    own = of_person(person_id)
    session.execute(
        delete(JournalRecord).where(JournalRecord.team_id == team_id, JournalRecord.audience == own)
    )
    for row in session.scalars(select(JournalRecord).where(JournalRecord.person_id == person_id)):
        words: dict[str, Any] = {key: PLACEHOLDER for key in ("userMessage", "result") if key in row.record}
        row.record = {**row.record, **words}


def _drop_history(session: Session, team_id: str, person_id: str) -> None:
    """The person's words in the history of memories that others have put right since."""
    author = MemoryChange.before["author_id"].as_string()
    session.execute(
        delete(MemoryChange).where(MemoryChange.team_id == team_id, author == person_id),
        execution_options={"synchronize_session": False},
    )


def _take_name(session: Session, team_id: str, person_id: str, at: datetime) -> None:
    """Leaves the accounts as bare identities, with the moment before which nothing comes in again."""
    person = session.get_one(Person, person_id)
    person.name, person.zone, person.learning_paused = NAMELESS, "UTC", False
    person.settings = {ERASED_AT: at.isoformat()}
    for account in session.scalars(select(Account).where(Account.person_id == person_id)):
        account.name = NAMELESS
        erasures.note(session, team_id, "account", [account_key(account.id)], at)
    session.execute(update(Place).where(Place.person_id == person_id).values(name=""))
    session.flush()
