"""Intake: a message is written once and its turn enqueued, in one transaction. Accepted means committed."""

from dataclasses import replace

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from bot.engine import Engine
from bot.errors import BadInput, NotAllowed
from bot.messages import Accepted, Message
from bot.surroundings import Scene, opened_conversation, scene
from memory.audience import may_enter, viewer
from memory.conversations import Conversation, Entry
from memory.database import Database, now
from memory.erasing import erased_since
from memory.ids import derive
from memory.learning import may_learn_in
from memory.memories import Tombstone
from memory.people import LOCAL
from memory.places import Place
from memory.secrets import withhold
from memory.tombstones import source_key
from memory.words import clean

LONGEST = 100_000
"""Characters of one message; no platform allows more than 40,000."""


def channel_key(workspace: str, channel: str) -> str:
    """A channel's key on its platform, as entries keep it."""
    return f"{workspace}/{channel}"


def accept(session: Session, engine: Engine, message: Message) -> Accepted:
    """Writes a message once and enqueues its turn; a repeat changes nothing and says so."""
    text = _checked(message)
    key = channel_key(message.address.workspace, message.address.channel)
    if message.id and (seen := _seen(session, message, key)) is not None:
        return Accepted(seen.id, seen.conversation_id, seen.turn_id or turn_id(seen.id), repeated=True)
    here = scene(session, message.address, message.author, message.place, message.bot)
    if message.address.platform == LOCAL:
        if not may_enter(session, here.place, here.who):
            raise NotAllowed("You are not in that channel; nothing was saved.")
        message = message if message.id else _numbered(session, here, message)
    if _is_gone(session, here, key, message):
        return Accepted("", "", None, repeated=True)
    entry, conversation = _write(session, here, message, key, text)
    if not message.addressed:
        return Accepted(entry.id, conversation.id, None)
    workflow = turn_id(entry.id)
    engine.enqueue(session, "turn", workflow, conversation.id, conversation.id)
    return Accepted(entry.id, conversation.id, workflow)


async def committed(database: Database, engine: Engine, message: Message) -> Accepted:
    """`accept` in a transaction of its own. Twins at once, and first messages of a place, meet at a unique
    row: whoever comes second begins anew and finds it."""
    try:
        return await database.run(accept, engine, message)
    except IntegrityError:
        return await database.run(accept, engine, message)


def _seen(session: Session, message: Message, key: str) -> Entry | None:
    return session.scalar(
        select(Entry).where(
            Entry.platform == message.address.platform,
            Entry.channel_key == key,
            Entry.message_id == message.id,
        )
    )


def _numbered(session: Session, here: Scene, message: Message) -> Message:
    """A local message with the next number of its channel; numbers are never given again."""
    place = session.scalars(
        select(Place)
        .where(Place.id == here.place.id)
        .with_for_update(key_share=True)
        # It was read before it was locked; its number may have moved on.
        .execution_options(populate_existing=True)
    ).one()
    counted, named = "messages", place.channel
    if message.ephemeral:
        # Of its own, so that nobody learns from a gap that somebody else asked in private.
        counted, named = f"messages {here.who.person_id}", f"{place.channel}-{here.who.person_id[:4]}"
    number = int(place.settings.get(counted, 0)) + 1
    place.settings = {**place.settings, counted: number}
    name = f"{named}-{number}"
    return replace(message, id=name, link=f"/in/{'dm' if place.kind == 'dm' else place.channel}#{name}")


def turn_id(entry_id: str) -> str:
    """The workflow that a message starts (it may take an older message, or find its own taken)."""
    return f"turn:{entry_id}"


def _checked(message: Message) -> str:
    text = clean(message.text)
    if not text.strip() and not message.files:
        raise BadInput("The message is empty; nothing was saved.")
    if len(text) > LONGEST:
        raise BadInput(
            f"The message has {len(text):,} characters, and {LONGEST:,} are the most I can take; "
            "nothing was saved. Please send it in parts or as a file."
        )
    return text


def _is_gone(session: Session, here: Scene, key: str, message: Message) -> bool:
    """Whether the message was deleted before it came, or belongs to what its author had erased."""
    mark = source_key(message.address.platform, key, message.id)
    deleted = session.scalar(
        select(Tombstone.id).where(
            Tombstone.team_id == here.place.team_id, Tombstone.key == mark, Tombstone.reason == "deleted"
        )
    )
    return deleted is not None or erased_since(session, here.who.account_id, message.said_at)


def _write(
    session: Session, here: Scene, message: Message, key: str, text: str
) -> tuple[Entry, Conversation]:
    readers = viewer(session, here.bot.id, here.place, here.who.account_id, ephemeral=message.ephemeral)
    conversation = opened_conversation(
        session, here, message.address.thread, readers.writes, ephemeral=message.ephemeral
    )
    kept = withhold(text)
    entry = Entry(
        id=derive("entry", message.address.platform, key, message.id),
        team_id=here.place.team_id,
        conversation_id=conversation.id,
        bot_id=here.bot.id,
        place_id=here.place.id,
        audience=readers.writes,
        role="user",
        kind="message" if message.addressed else "overheard",
        addressed=message.addressed,
        ephemeral=message.ephemeral,
        person_id=here.who.person_id,
        account_id=here.who.account_id,
        platform=message.address.platform,
        channel_key=key,
        message_id=message.id,
        thread=message.address.thread,
        link=message.link,
        text=kept.text,
        files=[_described(file) for file in message.files],
        # What is said while learning is paused stays unlearnt when it goes on again.
        learnable=message.addressed and may_learn_in(session, here.who.person_id, conversation),
        said_at=message.said_at,
    )
    session.add(entry)
    conversation.last_at = now()
    session.flush()
    return entry, conversation


def _described(file: object) -> dict[str, object]:
    name, media_type = getattr(file, "name", ""), getattr(file, "media_type", "")
    return {
        "name": name,
        "type": media_type,
        "size": getattr(file, "size", 0),
        "problem": getattr(file, "problem", None),
    }
