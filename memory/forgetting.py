"""Forgetting: a memory and everything that shows it are gone for good."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import delete, func, or_, select
from sqlalchemy.orm import Session

from memory import erasures, tombstones
from memory.audience import Viewer
from memory.cards import Card
from memory.conversations import Entry, Epoch, Summary
from memory.database import now
from memory.errors import Refused
from memory.files import doom
from memory.listing import readers
from memory.memories import Memory, MemoryChange
from memory.people import Speaker
from memory.redaction import PLACEHOLDER, chunks, end_prompt, redact, scrub
from memory.rights import may_change
from memory.text import tokens
from memory.tombstones import source_key
from memory.traces import Traces, Words, naming, titled, traces, words_of
from memory.turns import Turn
from memory.writing import drop_vectors, find

__all__ = ["Preview", "Receipt", "forget", "preview", "remove", "source_key"]

ALIKE = 0.5
"""A second memory of the same message that has half of the words of the first is the same matter."""
MOST_NAMED = 10
NOT_UNDONE = (
    "Not undone: what was done because of it, messages that stand on the chat platform, and copies outside "
    "teambot such as exports and backups."
)


@dataclass(frozen=True)
class Preview:
    """What forgetting would take away: exact words, their readers, and how much goes with them."""

    memory_id: str
    text: str
    readers: str
    also: tuple[str, ...]
    messages: int
    shared: int
    files: int = 0


@dataclass(frozen=True)
class Receipt:
    """What was forgotten and what was not undone, in sentences; counts of what the requester may read.

    `turns` are ids of turns whose words went, for records that are kept outside the database.
    """

    lines: tuple[str, ...]
    counts: dict[str, int] = field(default_factory=dict)
    turns: tuple[str, ...] = ()


def preview(session: Session, viewer: Viewer, who: Speaker, memory_id: str) -> Preview:
    """What `forget` would do; nothing is changed."""
    row = find(session, viewer, memory_id)
    gone = _all_of_it(session, row, who)
    words = words_of(session, gone, _changes(session, gone))
    found = traces(session, row.team_id, gone, words, requester=who.person_id, turn_id=None)
    return Preview(
        memory_id=row.id,
        text=row.text,
        readers=readers(session, row.audience, viewer),
        also=tuple(dict.fromkeys(other.text for other in gone if other.id != row.id)),
        messages=_own(found, who.person_id),
        shared=_shared(session, viewer, gone),
        files=_own_files(found, viewer),
    )


def forget(
    session: Session, viewer: Viewer, who: Speaker, memory_id: str, *, turn_id: str | None = None
) -> Receipt:
    """Deletes a memory with its history and every trace that the requester's rights reach; no undo.

    `turn_id` is the turn that asked for it: its words go too.
    """
    row = find(session, viewer, memory_id)
    gone = _all_of_it(session, row, who)
    shared = _shared(session, viewer, gone)
    others = _others(session, gone, viewer)
    found = remove(session, row.team_id, gone, requester=who.person_id, turn_id=turn_id)
    scrub(session)
    messages = _own(found, who.person_id)
    lines = [f"Forgotten: {_many(len(gone), 'memory', 'memories')}, with history, index and quotes."]
    if messages:
        lines.append(f"{_many(messages, 'message', 'messages')} of yours now show a placeholder here.")
    lines.append("What was said from it is out of the bot's own log, and prompts that held it have ended.")
    files = _own_files(found, viewer)
    if files:
        lines.append(f"{_many(files, 'file', 'files')} with words of it went too.")
    if shared:
        lines.append("What you shared of it stays: that is the team's now and is forgotten by its own id.")
    if others:
        lines.append("What other people said on the matter stays: their words are theirs.")
    lines += _left(found, viewer)
    lines.append(NOT_UNDONE)
    counts = {"memories": len(gone), "messages": messages, "shared": shared, "files": files}
    turns = sorted({entry.turn_id for entry in found.whole if entry.turn_id})
    return Receipt(tuple(lines), counts, tuple(turns))


def remove(
    session: Session,
    team_id: str,
    gone: Sequence[Memory],
    *,
    requester: str | None,
    turn_id: str | None = None,
    given: Sequence[Entry] = (),
    reason: tombstones.Reason | None = "forgotten",
) -> Traces:
    """Takes memories and their traces out of every table; the caller has checked rights and calls `scrub`.

    `given` are entries that go with them. With no reason their sources may be learnt from again.
    """
    ids = [row.id for row in gone]
    changes = _changes(session, gone)
    words = words_of(session, gone, changes)
    found = traces(session, team_id, gone, words, requester=requester, turn_id=turn_id, given=given)
    _mark(session, team_id, gone, found, reason)
    for conversation in titled(session, found.conversations, words):
        conversation.title = ""
    _drop_source_words(session, team_id, found.whole, ids)
    doom(session, found.files)
    redact(session, found.whole, found.partial)
    for entry in found.partial:
        entry.shown = [shown for shown in entry.shown if shown not in set(ids)]
    _end_prompts(session, team_id, ids)
    _close_cards(session, team_id, gone, words, turn_id)
    _clean_turns(session, team_id, ids)
    _delete(session, team_id, gone)
    return found


def refuse(memory: Memory, who: Speaker) -> None:
    """Only those who may change a memory may forget it."""
    if not may_change(memory, who):
        raise Refused(
            "Only its author, the person it is about or an admin may forget it; nothing was changed."
        )


def _all_of_it(session: Session, row: Memory, who: Speaker) -> list[Memory]:
    """The memory, what it replaced and what replaced it, and the same matter kept twice: what is theirs."""
    refuse(row, who)
    chain = _chain(session, row)
    alike = _alike(session, chain)
    known = {memory.id: memory for memory in [*chain, *alike]}
    return [memory for memory in known.values() if may_change(memory, who)]


def _chain(session: Session, row: Memory) -> list[Memory]:
    """Everything that is linked by replacement, in both directions."""
    known = {row.id: row}
    fresh = [row]
    while fresh:
        later = [memory.superseded_by for memory in fresh if memory.superseded_by]
        linked = or_(Memory.superseded_by.in_([memory.id for memory in fresh]), Memory.id.in_(later))
        rows = session.scalars(
            select(Memory).where(Memory.team_id == row.team_id, Memory.audience == row.audience, linked)
        )
        fresh = [memory for memory in rows if memory.id not in known]
        known.update({memory.id: memory for memory in fresh})
    return list(known.values())


def _alike(session: Session, chain: Sequence[Memory]) -> list[Memory]:
    """Other memories with the same readers that say the same, or much of it from the same message."""
    first = chain[0]
    sources = {memory.source_id for memory in chain if memory.source_id}
    turns = {memory.turn_id for memory in chain if memory.turn_id}
    digests = {memory.digest for memory in chain if memory.digest}
    rows = session.scalars(
        select(Memory).where(
            Memory.team_id == first.team_id,
            Memory.audience == first.audience,
            or_(Memory.source_id.in_(sources), Memory.turn_id.in_(turns), Memory.digest.in_(digests)),
        )
    )
    said = [_telling(memory.text) for memory in chain]
    return [
        memory
        for memory in rows
        if memory.digest in digests
        or any(words and len(words & _telling(memory.text)) >= ALIKE * len(words) for words in said)
    ]


def _telling(text: str) -> set[str]:
    words = set(tokens(text))
    return {word for word in words if len(word) > 3 or not word.isascii()} or words


def _changes(session: Session, gone: Sequence[Memory]) -> list[MemoryChange]:
    return [
        change
        for some in chunks(row.id for row in gone)
        for change in session.scalars(select(MemoryChange).where(MemoryChange.memory_id.in_(some)))
    ]


def _mark(
    session: Session,
    team_id: str,
    gone: Sequence[Memory],
    found: Traces,
    reason: tombstones.Reason | None,
) -> None:
    """Tombstones for the messages, and lines in the ledger that is kept outside backups."""
    moment = now()
    audiences = {row.source_id: row.audience for row in gone if row.source_id}
    sources = [
        entry
        for some in chunks(audiences)
        for entry in session.scalars(select(Entry).where(Entry.id.in_(some), Entry.team_id == team_id))
    ]
    for entry in {entry.seq: entry for entry in [*sources, *found.whole]}.values():
        key = tombstones.key_of(entry)
        if key is not None and reason is not None:
            tombstones.leave(session, team_id, key, audiences.get(entry.id, entry.audience), reason)
    erasures.note(session, team_id, "memory", [row.id for row in gone], moment)
    erasures.note(session, team_id, "entry", [entry.id for entry in found.whole], moment)


def _drop_source_words(session: Session, team_id: str, entries: Iterable[Entry], gone: Sequence[str]) -> None:
    """Other memories that came from a message whose words go stay, without its quote and link."""
    for some in chunks(entry.id for entry in entries if entry.person_id is not None):
        rows = session.scalars(
            select(Memory).where(
                Memory.team_id == team_id, Memory.source_id.in_(some), Memory.id.not_in(gone)
            )
        )
        drop_quotes(session, list(rows))


def drop_quotes(session: Session, memories: Sequence[Memory]) -> None:
    """Takes quote and link from memories, and from what their history kept."""
    for memory in memories:
        memory.quote = memory.link = None
    for change in _changes(session, memories):
        if change.before:
            hidden: dict[str, Any] = {key: None for key in ("quote", "link") if key in change.before}
            change.before = {**change.before, **hidden}


def _end_prompts(session: Session, team_id: str, ids: Sequence[str]) -> None:
    """Frozen prompts that show these memories end without their words; summaries of them go."""
    for epoch in naming(session, Epoch, Epoch.shown, Epoch.team_id == team_id, ids):
        end_prompt(epoch, blank=True)
        epoch.shown = {key: version for key, version in epoch.shown.items() if key not in set(ids)}
    for epoch in naming(session, Epoch, Epoch.state, Epoch.team_id == team_id, ids):
        end_prompt(epoch, blank=True)
    for summary in naming(session, Summary, Summary.shown, Summary.team_id == team_id, ids):
        session.delete(summary)


def _close_cards(
    session: Session, team_id: str, gone: Sequence[Memory], words: Words, turn_id: str | None
) -> None:
    """Cards that name these memories, or say their words to the same readers, can no longer be pressed."""
    cards: list[Card] = naming(session, Card, Card.payload, Card.team_id == team_id, [row.id for row in gone])
    nearby = select(Card).where(Card.team_id == team_id, Card.audience.in_({row.audience for row in gone}))
    cards += [card for card in session.scalars(nearby) if words.said_in(card.text)]
    if turn_id is not None:
        cards += session.scalars(select(Card).where(Card.team_id == team_id, Card.turn_id == turn_id))
    for card in cards:
        card.text, card.readers, card.payload = PLACEHOLDER, "", {}
        if card.status == "open":
            card.status = "gone"


def _clean_turns(session: Session, team_id: str, ids: Sequence[str]) -> None:
    """What turns noted as remembered."""
    for turn in naming(session, Turn, Turn.remembered, Turn.team_id == team_id, ids):
        turn.remembered = _without(turn.remembered, set(ids))


def _without(value: Any, ids: set[str]) -> Any:
    if isinstance(value, dict):
        return {key: _without(item, ids) for key, item in value.items() if key not in ids}
    if isinstance(value, list):
        return [_without(item, ids) for item in value if not _names(item, ids)]
    return value


def _names(item: Any, ids: set[str]) -> bool:
    return item in ids if isinstance(item, str) else isinstance(item, dict) and item.get("id") in ids


def _delete(session: Session, team_id: str, gone: Sequence[Memory]) -> None:
    """The rows themselves; what they replaced for other people becomes archived history."""
    ids = [row.id for row in gone]
    drop_vectors(session, [row.seq for row in gone])
    for some in chunks(ids):
        session.execute(delete(MemoryChange).where(MemoryChange.memory_id.in_(some)))
    for row in gone:
        session.delete(row)
    session.flush()
    for some in chunks(ids):
        linked = or_(Memory.superseded_by.in_(some), Memory.shared_from.in_(some))
        for other in session.scalars(select(Memory).where(Memory.team_id == team_id, linked)):
            if other.superseded_by in some:
                other.superseded_by, other.status = None, "archived"
                other.version += 1
            if other.shared_from in some:
                other.shared_from = None
    session.flush()


def _others(session: Session, gone: Sequence[Memory], viewer: Viewer) -> bool:
    """Whether readable memories by other people are linked to these and stay."""
    ids = {row.id for row in gone}
    later = {row.superseded_by for row in gone if row.superseded_by}
    linked = or_(Memory.superseded_by.in_(ids), Memory.id.in_(later))
    found = session.scalars(select(Memory.id).where(viewer.may_recall(), linked)).all()
    return any(memory_id not in ids for memory_id in found)


def _shared(session: Session, viewer: Viewer, gone: Sequence[Memory]) -> int:
    """How many readable copies were shared from these."""
    ids = [row.id for row in gone]
    copies = select(func.count()).select_from(Memory)
    return session.scalar(copies.where(viewer.may_recall(), Memory.shared_from.in_(ids))) or 0


def _own_files(found: Traces, viewer: Viewer) -> int:
    """How many files go that the requester may read."""
    return len({(row.folder, row.path) for row in found.files if viewer.reads_row(row)})


def _left(found: Traces, viewer: Viewer) -> list[str]:
    """Files in the same words that stay, as far as the requester may read them."""
    lines = []
    names = sorted({row.shown for row in found.files_left if viewer.reads_row(row)})
    if names:
        more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
        named = ", ".join(names[:MOST_NAMED])
        lines.append(
            f"Not undone: files that were written in these words: {named}{more}. "
            "Ask me to write them anew without it."
        )
    if not found.files_all:
        lines.append("There are more files than could be looked through; older ones may still say it.")
    return lines


def _own(found: Traces, person_id: str) -> int:
    return sum(entry.person_id == person_id for entry in found.whole)


def _many(number: int, one: str, more: str) -> str:
    return f"{number} {one if number == 1 else more}"
