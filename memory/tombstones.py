"""Tombstones: source messages that must never be learnt from again."""

from typing import Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from memory.conversations import Entry
from memory.ids import derive
from memory.memories import Tombstone
from memory.words import sha256

Reason = Literal["forgotten", "deleted", "undone"]
EVERYONE = "team"


def source_key(platform: str, channel_key: str, message_id: str) -> str:
    """A message as tombstones name it: a hash, the same for a backfill and in a restored backup."""
    return sha256("\x1f".join((platform, channel_key, message_id)))


def key_of(entry: Entry) -> str | None:
    """The key of an entry's message, if it came from a platform."""
    if entry.platform is None or entry.channel_key is None or entry.message_id is None:
        return None
    return source_key(entry.platform, entry.channel_key, entry.message_id)


def leave(session: Session, team_id: str, key: str, audience: str, reason: Reason) -> None:
    """Marks a source. A mark for everybody outranks one for few, a deleted message a forgotten one."""
    found = session.scalar(select(Tombstone).where(Tombstone.team_id == team_id, Tombstone.key == key))
    if found is None:
        mark = Tombstone(
            id=derive("tombstone", team_id, key), team_id=team_id, audience=audience, key=key, reason=reason
        )
        session.add(mark)
    else:
        found.audience = audience if found.audience != EVERYONE else EVERYONE
        found.reason = reason if found.reason != "deleted" else "deleted"
    session.flush()


def stands(session: Session, team_id: str, key: str, audience: str) -> bool:
    """Whether nothing may be learnt from that source for that audience.

    Marks stay within one audience, so that what one person forgot in private changes nothing for others; a
    mark for the team and a deleted message count everywhere.
    """
    found = session.scalar(select(Tombstone).where(Tombstone.team_id == team_id, Tombstone.key == key))
    return found is not None and (found.reason == "deleted" or found.audience in (audience, EVERYONE))
