"""Redaction: words give way to placeholders, wherever a conversation holds them."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from sqlalchemy import bindparam, or_, select, text, update
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import set_committed_value

from memory.conversations import Entry, Epoch, Summary
from memory.database import SCRUB, now
from memory.files import doom_outputs
from memory.indexed import CUT
from memory.journal import JournalRecord
from memory.turns import Call, Outgoing
from memory.words import canonical
from memory.writing import drop_vectors

T = TypeVar("T")

PLACEHOLDER = "[removed at a person's request]"
INDEXES = ("memories_fts", "entries_fts")
CHUNK = 400
FRAGMENT = 60
"""Characters by which an entry's words are recognised in the search context of later ones."""
NEAR = 200
"""So many later entries may have it there: context skips the steps of a turn, and what has other readers."""
FORGOTTEN = "forgotten"


def placeholders(blocks: str) -> str:
    """Content blocks without their words: calls and results still pair, thinking is gone."""
    value = json.loads(blocks)
    kept = (
        [_placeholder(block) for block in value if not _is_thinking(block)] if isinstance(value, list) else []
    )
    return canonical(kept or [_said()])


def context_placeholders(blocks: str) -> str:
    """The same for what the program put before a message; the message itself, the last block, stays."""
    value = json.loads(blocks)
    return canonical([*(_placeholder(block) for block in value[:-1]), *value[-1:]])


def redact(session: Session, whole: Sequence[Entry], partial: Sequence[Entry] = ()) -> None:
    """Takes the words out of `whole` entries, and out of the program's block of `partial` ones.

    With them go the sent texts, the long results of their turns, the journal's words and what summaries
    and frozen prompts made of them; prompts that hold them end. The caller calls `scrub` when
    everything is done.
    """
    whole = [entry for entry in whole if entry.redacted_at is None]
    said = {entry.seq: entry.text for entry in whole}
    for entry in partial:
        if entry.blocks:
            entry.blocks = context_placeholders(entry.blocks)
    session.flush()
    _empty(session, whole)
    forget_contexts(session, whole, said)
    drop_vectors(session, [entry.seq for entry in whole], "entry")
    bots = [entry for entry in whole if entry.person_id is None]
    _empty_outbox(session, bots)
    _empty_calls(session, bots)
    _empty_journal(session, whole)
    doom_outputs(session, (entry.turn_id for entry in whole if entry.turn_id))
    _end_prompts(session, [*whole, *partial])
    session.flush()


def scrub(session: Session) -> None:
    """Leaves no trace of deleted words in the file: SQLite's search index keeps deleted terms otherwise."""
    session.flush()
    if session.get_bind().dialect.name == "sqlite":
        for index in INDEXES:
            session.execute(text(f"INSERT INTO {index}({index}) VALUES ('optimize')"))  # noqa: S608
    session.info[SCRUB] = True


def chunks(values: Iterable[T], size: int = CHUNK) -> Iterator[list[T]]:
    """The values in lists that fit into one query."""
    rest = list(values)
    for start in range(0, len(rest), size):
        yield rest[start : start + size]


def end_prompt(epoch: Epoch, reason: str = FORGOTTEN, *, blank: bool) -> None:
    """Ends an epoch, so that nobody continues its frozen words, and with `blank` takes them out."""
    if blank:
        epoch.head, epoch.state = "", {}
    if epoch.ended_at is None:
        epoch.ended_at, epoch.end_reason = now(), reason


def _is_thinking(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") in ("thinking", "redacted_thinking")


def _said() -> dict[str, Any]:
    return {"type": "text", "text": PLACEHOLDER}


def _placeholder(block: Any) -> dict[str, Any]:
    if not isinstance(block, dict):
        return _said()
    if block.get("type") == "tool_use":
        return {"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}}
    if block.get("type") == "tool_result":
        kept = {key: block[key] for key in ("type", "tool_use_id", "is_error") if key in block}
        return {**kept, "content": [_said()]}
    return _said()


def _empty(session: Session, whole: Sequence[Entry]) -> None:
    """Writes placeholders, straight to the table: nothing of an empty entry is to be indexed anew."""
    empty: dict[str, Any] = {
        "text": "",
        "head": "",
        "ctx": "",
        "folds": "",
        "files": [],
        "shown": [],
        "link": None,
    }
    at = now()
    rows = [
        {"row": entry.seq, "blocks": placeholders(entry.blocks) if entry.blocks else None} for entry in whole
    ]
    table = Entry.__table__
    changed = update(table).where(table.c.seq == bindparam("row"))  # type: ignore[arg-type]
    if rows:
        session.execute(changed.values(**empty, redacted_at=at, blocks=bindparam("blocks")), rows)
    for entry, row in zip(whole, rows, strict=True):
        for name, value in {**empty, "redacted_at": at, "blocks": row["blocks"]}.items():
            set_committed_value(entry, name, value)


def forget_contexts(session: Session, entries: Sequence[Entry], said: dict[int, str]) -> None:
    """Later entries of a conversation keep the beginning of earlier ones as their search context."""
    talks: dict[str, list[tuple[int, str]]] = {}
    for entry in sorted(entries, key=lambda entry: entry.seq):
        fragment = " ".join(said[entry.seq][:CUT].split())[:FRAGMENT]
        if fragment:
            talks.setdefault(entry.conversation_id, []).append((entry.seq, fragment))
    for conversation_id, fragments in talks.items():
        for some in chunks(_holding(session, conversation_id, fragments)):
            session.execute(update(Entry).where(Entry.seq.in_(some)).values(ctx=""))


def _holding(session: Session, conversation_id: str, fragments: list[tuple[int, str]]) -> list[int]:
    """Numbers of entries whose context has a fragment of one of the entries shortly before."""
    found: list[int] = []
    for first, last in _stretches([seq for seq, _ in fragments]):
        rows = session.execute(
            select(Entry.seq, Entry.ctx)
            .where(Entry.conversation_id == conversation_id, Entry.seq > first)
            .order_by(Entry.seq)
            .limit(NEAR + last - first)
        ).all()
        near = [fragment for seq, fragment in fragments if first <= seq <= last]
        found += [seq for seq, context in rows if context and _has_any(context, near)]
    return found


def _has_any(context: str, fragments: Sequence[str]) -> bool:
    plain = " ".join(context.split())
    return any(fragment in plain for fragment in fragments)


def _stretches(seqs: list[int]) -> Iterator[tuple[int, int]]:
    """Sorted numbers in stretches that are short enough to be looked at as one."""
    first = last = None
    for seq in seqs:
        if first is not None and last is not None and seq - first > NEAR:
            yield first, last
            first = None
        first, last = seq if first is None else first, seq
    if first is not None and last is not None:
        yield first, last


def _empty_outbox(session: Session, entries: Sequence[Entry]) -> None:
    """What was or will be sent for these replies."""
    turns = {entry.turn_id for entry in entries if entry.turn_id}
    ids = {entry.id for entry in entries}
    for some in chunks([*turns, *ids]):
        named = or_(Outgoing.turn_id.in_(some), Outgoing.entry_id.in_(some))
        session.execute(update(Outgoing).where(named).values(text=PLACEHOLDER, extras={}))


def _empty_calls(session: Session, entries: Sequence[Entry]) -> None:
    for some in chunks({entry.turn_id for entry in entries if entry.turn_id}):
        for call in session.scalars(select(Call).where(Call.turn_id.in_(some), Call.result.is_not(None))):
            call.result = canonical(_placeholder(json.loads(call.result or "{}")))
            call.shown, call.sources = [], []


def _empty_journal(session: Session, whole: Sequence[Entry]) -> None:
    """The person's words and the bot's in the records of these turns, each where its entry went."""
    asked = {entry.turn_id for entry in whole if entry.person_id is not None}
    answered = {entry.turn_id for entry in whole if entry.person_id is None}
    for some in chunks({turn for turn in asked | answered if turn}):
        for row in session.scalars(select(JournalRecord).where(JournalRecord.turn_id.in_(some))):
            gone = {"userMessage": row.turn_id in asked, "result": row.turn_id in answered}
            row.record = {
                **row.record,
                **{key: PLACEHOLDER for key in gone if gone[key] and key in row.record},
            }


def _end_prompts(session: Session, entries: Sequence[Entry]) -> None:
    """Epochs that hold the entries end; heads and summaries made after them are theirs too and go."""
    places: dict[str, list[int]] = {}
    for entry in entries:
        if entry.position is not None:
            places.setdefault(entry.conversation_id, []).append(entry.position)
    for conversation_id, positions in places.items():
        first, last = min(positions), max(positions)
        for epoch in session.scalars(select(Epoch).where(Epoch.conversation_id == conversation_id)):
            if epoch.start >= first:
                end_prompt(epoch, blank=True)
            elif epoch.start < last:
                end_prompt(epoch, blank=False)
        for summary in session.scalars(select(Summary).where(Summary.conversation_id == conversation_id)):
            if any(summary.since <= position <= summary.upto for position in positions):
                session.delete(summary)
