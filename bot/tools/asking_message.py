"""The message that a tool call rests on: the asker's own words in this turn, and nothing else."""

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from bot.tools.own_words import OwnWords, own_words, says
from bot.tools.tool import ToolCall
from memory.conversations import Entry
from memory.people import Speaker
from memory.writing import Source

LONGEST_QUOTE = 1_000


@dataclass(frozen=True)
class Asking:
    """What the asker said themselves in this turn, message by message."""

    call: ToolCall
    entries: tuple[Entry, ...]

    def source(self, quote: str) -> Source | None:
        """The message in whose own words the quote occurs, if there is one."""
        for entry in self.entries:
            if says(own_words(entry.text), quote):
                return Source(
                    entry_id=entry.id,
                    conversation_id=entry.conversation_id,
                    turn_id=self.call.turn_id,
                    quote=" ".join(quote.split())[:LONGEST_QUOTE],
                    link=entry.link,
                    said_at=entry.said_at,
                )
        return None

    def words(self) -> OwnWords:
        """Everything that the asker said themselves."""
        return own_words("\n\n".join(entry.text for entry in self.entries))


def asking(session: Session, call: ToolCall, asker: Speaker) -> Asking:
    """The asker's messages of this turn: not history, not others' messages, not results, not files."""
    entries = session.scalars(
        select(Entry)
        .where(
            Entry.turn_id == call.turn_id,
            Entry.conversation_id == call.conversation_id,
            Entry.kind == "message",
            Entry.addressed.is_(True),
            Entry.person_id == asker.person_id,
            Entry.redacted_at.is_(None),
        )
        .order_by(Entry.seq)
    )
    return Asking(call, tuple(entries))
