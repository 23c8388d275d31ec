"""Traces: where the words of memories stand besides their own rows."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sqlalchemy import ColumnElement, Text, and_, cast, func, or_, select
from sqlalchemy.orm import Session

from memory.audience import of_person
from memory.conversations import Conversation, Entry, Epoch
from memory.files import WorkspaceFile, looked_through, of_turns
from memory.memories import Memory, MemoryChange
from memory.people import Person
from memory.redaction import chunks
from memory.stop_words import STOP_WORDS
from memory.text import fold, tokens

FEW = 40
"""So many ids are looked for one by one; more, by reading every list of ids that there is."""
SHORT_PHRASE = 12
"""Shorter words of a memory count as repeated only where they are all that is said."""
SHORT_WORD = 3
LATEST = 5_000
_ID = re.compile(r"[a-z2-7]{12}")
_NAMES = ("type", "id", "tool_use_id", "name", "signature")


@dataclass
class Traces:
    """Entries to redact: `whole`, or (other people's messages) only the program's block before them.

    `files` go too; `files_left` say the same words and stay, because a person had them written.
    """

    whole: list[Entry] = field(default_factory=list)
    partial: list[Entry] = field(default_factory=list)
    conversations: set[str] = field(default_factory=set)
    files: list[WorkspaceFile] = field(default_factory=list)
    files_left: list[WorkspaceFile] = field(default_factory=list)
    files_all: bool = True
    """Whether every file was looked through."""


@dataclass(frozen=True)
class Words:
    """The words of memories, as phrases and as single telling words."""

    phrases: frozenset[str]
    telling: frozenset[str]

    def said_in(self, text: str) -> bool:
        """Whether a text has one of the phrases."""
        plain = _plain(text)
        return any(
            phrase in plain if len(phrase) >= SHORT_PHRASE else phrase == plain for phrase in self.phrases
        )

    @cached_property
    def few(self) -> bool:
        """Whether every phrase holds one of a few telling words, so that these decide at a glance."""
        covered = all(any(word in phrase for word in self.telling) for phrase in self.phrases)
        return len(self.telling) <= FEW and covered

    def may_be_in(self, text: str) -> bool:
        """A quick look that rules most texts out."""
        if not self.few:
            return True
        plain = fold(text)
        return any(word in plain for word in self.telling)

    def echoed_in(self, text: str) -> bool:
        """Whether a text has a phrase, or a telling word; of pairs of characters, half of them."""
        found = set(tokens(text))
        strong = {word for word in self.telling if _is_word(word)}
        pairs = self.telling - strong
        return (
            bool(strong & found) or bool(pairs and 2 * len(pairs & found) >= len(pairs)) or self.said_in(text)
        )


def words_of(session: Session, gone: Sequence[Memory], changes: Sequence[MemoryChange]) -> Words:
    """What memories and their history say, names and everyday words aside."""
    said = {value for row in gone for value in (row.text, row.quote) if value}
    for change in changes:
        said |= {value for key in ("text", "quote") if (value := (change.before or {}).get(key))}
    people = {person for row in gone for person in (row.author_id, row.subject)}
    names = session.scalars(select(Person.name).where(Person.id.in_(people))).all()
    known = STOP_WORDS | {word for name in names for word in tokens(name)}
    telling = {
        word for text in said for word in tokens(text) if len(word) > SHORT_WORD or not word.isascii()
    } | {word for text in said for word in tokens(text) if any(map(str.isdigit, word))}
    return Words(frozenset(filter(None, map(_plain, said))), frozenset(telling - known))


def traces(
    session: Session,
    team_id: str,
    gone: Sequence[Memory],
    words: Words,
    *,
    requester: str | None,
    turn_id: str | None,
    given: Sequence[Entry] = (),
) -> Traces:
    """Every entry that shows these memories or that they came from, as far as the requester's rights go.

    `given` are entries that go anyway.
    """
    ids = [row.id for row in gone]
    shown = naming(session, Entry, Entry.shown, Entry.team_id == team_id, ids)
    own = [*given, *_own(session, team_id, gone, words, requester, turn_id)]
    found = Traces()
    mine = {entry.seq for entry in own}
    for entry in _distinct([*own, *shown]):
        theirs = entry.person_id is not None and entry.seq not in mine
        (found.partial if theirs else found.whole).append(entry)
    since = {
        entry.conversation_id: entry.seq for entry in sorted(found.whole + found.partial, key=_late_first)
    }
    for epoch in naming(session, Epoch, Epoch.shown, Epoch.team_id == team_id, ids):
        since[epoch.conversation_id] = min(
            since.get(epoch.conversation_id, 1 << 62), _first_seq(session, epoch.conversation_id, epoch.start)
        )
    for conversation_id, seq in _written(session, gone):
        since[conversation_id] = min(since.get(conversation_id, seq), seq)
    for conversation_id, seq in since.items():
        found.whole += _echoes(session, conversation_id, seq, words, found)
    found.conversations = set(since)
    _find_files(session, team_id, gone, words, found, requester)
    return found


def _find_files(
    session: Session,
    team_id: str,
    gone: Sequence[Memory],
    words: Words,
    found: Traces,
    requester: str | None,
) -> None:
    """Long results of these turns or in these words go, and what the requester had written in these turns."""
    turns = {entry.turn_id for entry in found.whole if entry.turn_id}
    audiences = {row.audience for row in gone}
    files = {row.id: row for row in of_turns(session, turns, ("output",))}
    texts, found.files_all = looked_through(session, team_id, audiences, turns, requester)
    for rows, text in texts:
        if any(row.id in files for row in rows) or not words.may_be_in(text):
            continue
        tied = requester is not None and any(
            row.turn_id in turns and row.person_id == requester and row.audience in audiences for row in rows
        )
        made = all(row.kind == "output" for row in rows)
        if (tied and words.echoed_in(text)) or (made and words.said_in(text)):
            files[rows[0].id] = rows[0]
        elif words.said_in(text):
            found.files_left.append(rows[0])
    found.files = list(files.values())


def naming(
    session: Session, table: Any, column: Any, condition: ColumnElement[bool], ids: Sequence[str]
) -> list[Any]:
    """Rows whose JSON names one of these ids."""
    if not ids:
        return []
    text = cast(column, Text)
    if len(ids) <= FEW:
        named = or_(*(text.contains(memory_id, autoescape=True) for memory_id in ids))
        return list(session.scalars(select(table).where(condition, named)))
    wanted = set(ids)
    key = table.__table__.primary_key.columns[0]
    rows = session.execute(select(key, text).where(condition, text.not_in(("[]", "{}", "null")))).all()
    keys = [row[0] for row in rows if row[1] and not wanted.isdisjoint(_ID.findall(row[1]))]
    return [
        row
        for some in chunks(keys)
        for row in session.scalars(select(table).where(key.in_(some)))
    ]  # fmt: skip


def _own(
    session: Session,
    team_id: str,
    gone: Sequence[Memory],
    words: Words,
    requester: str | None,
    turn_id: str | None,
) -> list[Entry]:
    """The requester's messages that the memories came from, what repeats them in private, and the request."""
    conditions: list[Any] = []
    if requester is not None:
        sources = [row.source_id for row in gone if row.source_id]
        conditions.append(and_(Entry.id.in_(sources), Entry.person_id == requester))
        repeated = session.execute(
            select(Entry.seq, Entry.text, Entry.blocks).where(
                Entry.team_id == team_id, Entry.audience == of_person(requester), Entry.redacted_at.is_(None)
            )
        )
        seqs = [
            seq for seq, text, blocks in repeated if words.said_in(text) or words.said_in(_spoken(blocks))
        ]
        conditions += [Entry.seq.in_(some) for some in chunks(seqs)]
    if turn_id is not None:
        people = or_(Entry.person_id.is_(None), Entry.person_id == requester)
        conditions.append(and_(Entry.turn_id == turn_id, people))
    if not conditions:
        return []
    return list(session.scalars(select(Entry).where(Entry.team_id == team_id, or_(*conditions))))


def _written(session: Session, gone: Sequence[Memory]) -> list[tuple[str, int]]:
    """Where the turns are in which these memories were written, and from which entry on."""
    return [
        (conversation_id, first)
        for some in chunks({row.turn_id for row in gone if row.turn_id})
        for conversation_id, first in session.execute(
            select(Entry.conversation_id, func.min(Entry.seq))
            .where(Entry.turn_id.in_(some))
            .group_by(Entry.conversation_id)
        )
    ]


def _echoes(session: Session, conversation_id: str, seq: int, words: Words, found: Traces) -> list[Entry]:
    """What the bot said there from then on in words that only the forgotten messages brought in."""
    gone = {entry.seq for entry in found.whole}
    known = gone | {entry.seq for entry in found.partial}
    left = Words(words.phrases, words.telling - _heard(session, conversation_id, gone))
    bots = session.execute(
        select(Entry.seq, Entry.text, Entry.blocks).where(
            Entry.conversation_id == conversation_id,
            Entry.person_id.is_(None),
            Entry.redacted_at.is_(None),
            Entry.seq >= seq,
        )
    )
    seqs = [
        number
        for number, text, blocks in bots
        if number not in known
        and left.may_be_in(f"{text}{blocks}")
        and left.echoed_in(f"{text}\n{_spoken(blocks)}")
    ]
    return [
        entry for some in chunks(seqs) for entry in session.scalars(select(Entry).where(Entry.seq.in_(some)))
    ]


def _heard(session: Session, conversation_id: str, gone: set[int]) -> set[str]:
    """The words of people's messages that stay."""
    people = session.execute(
        select(Entry.seq, Entry.text)
        .where(
            Entry.conversation_id == conversation_id,
            Entry.person_id.is_not(None),
            Entry.redacted_at.is_(None),
        )
        .order_by(Entry.seq.desc())
        .limit(LATEST)
    )
    return {word for number, text in people if number not in gone for word in tokens(text)}


def titled(session: Session, conversations: Iterable[str], words: Words) -> list[Conversation]:
    """Conversations whose titles use these words."""
    rows = session.scalars(
        select(Conversation).where(Conversation.id.in_(list(conversations)), Conversation.title != "")
    )
    return [row for row in rows if words.echoed_in(row.title)]


def _first_seq(session: Session, conversation_id: str, start: int) -> int:
    found = session.scalar(
        select(Entry.seq)
        .where(Entry.conversation_id == conversation_id, Entry.position > start)
        .order_by(Entry.position)
        .limit(1)
    )
    return 1 << 62 if found is None else found


def _distinct(entries: Iterable[Entry]) -> list[Entry]:
    return list({entry.seq: entry for entry in entries}.values())


def _late_first(entry: Entry) -> int:
    return -entry.seq


def _plain(text: str) -> str:
    return " ".join(fold(text).split())


def _is_word(token: str) -> bool:
    return token.isascii() or len(token) > SHORT_WORD


def _spoken(blocks: str | None) -> str:
    """Every text in stored blocks, without the words of the protocol."""
    if not blocks:
        return ""
    value = json.loads(blocks)
    kept = [{key: part for key, part in block.items() if key not in _NAMES} for block in value]
    return "\n".join(_texts(kept))


def _texts(value: Any) -> list[str]:
    """The texts in a JSON value, and in JSON that is kept as text."""
    if isinstance(value, str):
        try:
            inner = json.loads(value) if value[:1] in "{[" else None
        except ValueError:
            inner = None
        return _texts(inner) if isinstance(inner, dict | list) else [value]
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    if isinstance(value, dict):
        return [text for key, item in value.items() if key != "type" for text in _texts(item)]
    return []
