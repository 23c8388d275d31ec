"""Following the world: messages that change or go, places that open or close, people who leave."""

from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from memory import erasures, tombstones
from memory.audience import TEAM, Viewer, of_person, viewer
from memory.cards import Card
from memory.conversations import Conversation, Entry, Epoch
from memory.database import now
from memory.drafts import LEARNT
from memory.evidence import narrower
from memory.forgetting import drop_quotes, remove
from memory.history import changes_of
from memory.memories import Memory, MemoryChange
from memory.people import Account, Person, Workspace
from memory.places import Membership, Place, find_place
from memory.redaction import end_prompt, forget_contexts, redact, scrub
from memory.secrets import withhold
from memory.text import fold
from memory.words import clean
from memory.writing import drop_vectors

READERS = "readers changed"


def message_edited(
    session: Session,
    platform: str,
    workspace: str,
    channel: str,
    message_id: str,
    text: str,
    at: datetime,
) -> bool:
    """Gives a message its new text; what rested only on words that are gone goes. Whether anything changed.

    What was sent to a model stays as it was sent.
    """
    entry = _entry(session, platform, workspace, channel, message_id)
    words = withhold(clean(text)).text
    if entry is None or entry.redacted_at is not None or words == entry.text:
        return False
    if entry.edited_at is not None and at < entry.edited_at:
        return False
    _drop_cards(session, entry)
    was, entry.text, entry.edited_at = entry.text, words, at
    entry.audience = _audience_now(session, entry)
    if entry.position is None:
        entry.blocks = None
    session.flush()
    forget_contexts(session, [entry], {entry.seq: was})
    drop_vectors(session, [entry.seq], "entry")
    resting = _resting(session, entry)
    learnt, kept = _parted(session, [row for row in resting if row.quote and not _says(words, row.quote)])
    _forget_history(session, _put_right(session, entry), words)
    drop_quotes(session, kept)
    if learnt:
        remove(session, entry.team_id, learnt, requester=None, reason=None)
    scrub(session)
    return True


def message_deleted(
    session: Session,
    platform: str,
    workspace: str,
    channel: str,
    message_id: str,
    at: datetime | None = None,
) -> bool:
    """Takes a message out, and what rested only on it; explicit saves stay, without quote and link.

    A message that was never seen leaves a mark, so that it is not taken in later. Whether one was there.
    """
    key = tombstones.source_key(platform, _channel_key(workspace, channel), message_id)
    entry = _entry(session, platform, workspace, channel, message_id)
    if entry is None:
        team_id = _team(session, platform, workspace, channel)
        if team_id is not None:
            tombstones.leave(session, team_id, key, TEAM, "deleted")
        return False
    tombstones.leave(session, entry.team_id, key, entry.audience, "deleted")
    _drop_cards(session, entry)
    learnt, kept = _parted(session, _resting(session, entry))
    _forget_history(session, _put_right(session, entry), "")
    drop_quotes(session, kept)
    if learnt:
        remove(session, entry.team_id, learnt, requester=None, given=[entry], reason="deleted")
    else:
        redact(session, [entry])
        erasures.note(session, entry.team_id, "entry", [entry.id], at or now())
    scrub(session)
    return True


def _drop_cards(session: Session, entry: Entry) -> None:
    """Cards that ask an admin about words of this message: it says something else now, or nothing."""
    asks = Card.payload["entry_id"].as_string() == entry.id
    session.execute(
        delete(Card).where(Card.team_id == entry.team_id, asks),
        execution_options={"synchronize_session": False},
    )


def place_changed(session: Session, place_id: str) -> int:
    """Follows a place whose readers changed: new words get its audience of now, and prompts that hold what
    these readers may not read end. How many ended."""
    place = session.get(Place, place_id)
    if place is None or place.kind == "dm":
        return 0
    ended = 0
    for talk in session.scalars(
        select(Conversation).where(Conversation.place_id == place_id, Conversation.person_id.is_(None))
    ):
        readers = viewer(session, talk.bot_id, place, None)
        talk.audience = readers.writes
        ended += _end_prompts(session, talk, readers)
    session.flush()
    return ended


def person_left(session: Session, person_id: str) -> None:
    """Follows somebody who left: no memberships, no cards, no prompt beyond what they may read now."""
    session.execute(delete(Membership).where(Membership.person_id == person_id))
    for card in session.scalars(select(Card).where(Card.person_id == person_id, Card.status == "open")):
        card.status = "cancelled"
    person = session.get(Person, person_id)
    account_id = session.scalar(select(Account.id).where(Account.person_id == person_id).limit(1))
    if person is None or account_id is None:
        return
    for talk in session.scalars(select(Conversation).where(Conversation.person_id == person_id)):
        place = session.get_one(Place, talk.place_id)
        _end_prompts(session, talk, viewer(session, talk.bot_id, place, account_id, ephemeral=True))
    session.flush()


def _audience_now(session: Session, entry: Entry) -> str:
    """Who may read new words of an old message: those who could, as far as they read there today."""
    place = session.get(Place, entry.place_id)
    if place is None or entry.account_id is None or entry.person_id is None:
        return entry.audience
    today = viewer(session, entry.bot_id, place, entry.account_id, ephemeral=entry.ephemeral)
    return narrower(entry.audience, today.writes) or of_person(entry.person_id)


def _channel_key(workspace: str, channel: str) -> str:
    return f"{workspace}/{channel}"


def _entry(session: Session, platform: str, workspace: str, channel: str, message_id: str) -> Entry | None:
    return session.scalar(
        select(Entry)
        .where(
            Entry.platform == platform,
            Entry.channel_key == _channel_key(workspace, channel),
            Entry.message_id == message_id,
        )
        .with_for_update(key_share=True)
    )


def _team(session: Session, platform: str, workspace: str, channel: str) -> str | None:
    """The team of a channel, if its workspace was admitted."""
    place = find_place(session, platform, workspace, channel)
    if place is not None:
        return place.team_id
    return session.scalar(
        select(Workspace.team_id).where(Workspace.platform == platform, Workspace.external_id == workspace)
    )


def _resting(session: Session, entry: Entry) -> list[Memory]:
    """Memories that rest on a message."""
    right = _put_right(session, entry)
    return [row for row in _from(session, entry) if row not in right]


def _put_right(session: Session, entry: Entry) -> list[Memory]:
    """Memories that came from a message, and rest on the words of whoever corrected them since."""
    return [row for row in _from(session, entry) if row.origin == "manual" and row.quote == row.text]


def _from(session: Session, entry: Entry) -> list[Memory]:
    found = session.scalars(
        select(Memory)
        .where(Memory.team_id == entry.team_id, Memory.source_id == entry.id)
        .order_by(Memory.seq)
    )
    return list(found)


def _forget_history(session: Session, memories: list[Memory], words: str) -> None:
    """Takes out of their history what they were before, where the message says it no more."""
    for row in memories:
        for change in changes_of(session, row.id):
            before = change.before or {}
            if before.get("quote") is None or _says(words, before["quote"]):
                continue
            if before.get("origin") in LEARNT and "text" in before:
                session.delete(change)
            else:
                change.before = {**before, "quote": None, "link": None}


def _parted(session: Session, memories: list[Memory]) -> tuple[list[Memory], list[Memory]]:
    """Those that rest on one message only and were learnt unasked, and those that stay."""
    learnt = [row for row in memories if row.origin in LEARNT and not _said_elsewhere(session, row)]
    return learnt, [row for row in memories if row not in learnt]


def _said_elsewhere(session: Session, row: Memory) -> bool:
    """Whether it was said again in another turn."""
    again = session.scalars(
        select(MemoryChange).where(
            MemoryChange.memory_id == row.id,
            MemoryChange.action.in_(("confirmed", "replaced")),
            MemoryChange.undone_at.is_(None),
        )
    )
    return any(
        change.before and (change.turn_id is None or change.turn_id != row.turn_id) for change in again
    )


def _says(text: str, quote: str) -> bool:
    return " ".join(fold(quote).split()) in " ".join(fold(text).split())


def _end_prompts(session: Session, talk: Conversation, readers: Viewer) -> int:
    ended = 0
    for epoch in session.scalars(
        select(Epoch).where(Epoch.conversation_id == talk.id, Epoch.ended_at.is_(None))
    ):
        if not readers.reads_all(epoch.audiences):
            end_prompt(epoch, READERS, blank=False)
            ended += 1
    return ended
