"""The message that a tool call rests on: the asker's own words in this turn, and nothing else."""

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from bot.tools.tool import ToolCall
from memory.conversations import Entry
from memory.own_words import is_said, own_words, says, supports
from memory.people import Speaker
from memory.stop_words import STOP_WORDS
from memory.text import MONTHS, fold, tokens
from memory.writing import Source

LONGEST_QUOTE = 500
SHORT = 2
_DATES = {fold(month) for month in MONTHS} | {
    *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
}


@dataclass(frozen=True)
class Asking:
    """What the asker said themselves in this turn, message by message."""

    call: ToolCall
    entries: tuple[Entry, ...]

    def source(self, quote: str) -> Source | None:
        """The message in whose own words the quote occurs, if there is one."""
        words = _cut(" ".join(quote.split()))
        for entry in self.entries:
            if says(own_words(entry.text), words):
                return Source(
                    entry_id=entry.id,
                    conversation_id=entry.conversation_id,
                    turn_id=self.call.turn_id,
                    quote=words,
                    link=entry.link,
                    said_at=entry.said_at,
                )
        return None

    def supports(self, text: str, allowed: str) -> bool:
        """Whether the asker said enough of these words, and something of what is not allowed anyway.

        Days and numbers may have been worked out from what was said.
        """
        own = own_words("\n\n".join(entry.text for entry in self.entries))
        words = set(tokens(text))
        free = {word for word in words if any(map(str.isdigit, word))} | _DATES | set(tokens(allowed))
        new = {word for word in words - free - STOP_WORDS if len(word) > SHORT or not word.isascii()}
        said = set(tokens(own.text))
        if new and not any(is_said(word, said) for word in new):
            return False
        return supports(own, text, " ".join(free))


def asking(session: Session, call: ToolCall, asker: Speaker) -> Asking:
    """The asker's messages of this turn: not history, not others' messages, not results, not files, and not
    what was said to fewer than those who read there now."""
    readers = call.viewer(session)
    entries = session.scalars(
        select(Entry)
        .where(
            Entry.turn_id == call.turn_id,
            Entry.conversation_id == call.conversation_id,
            Entry.kind == "message",
            Entry.addressed.is_(True),
            Entry.person_id == asker.person_id,
            Entry.redacted_at.is_(None),
            readers.may_read(Entry),
        )
        .order_by(Entry.seq)
    )
    return Asking(call, tuple(entries))


def _cut(quote: str) -> str:
    """A long quote's beginning, up to the end of a word."""
    if len(quote) <= LONGEST_QUOTE:
        return quote
    head = quote[:LONGEST_QUOTE]
    return head.rsplit(" ", 1)[0] if " " in head else head
