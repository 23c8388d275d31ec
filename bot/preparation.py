"""Preparation: from a turn in the database to the request of its next model call.

One transaction: the gate by the flags of now, the epoch that goes on or begins, blocks for new messages
(written once, sent the same for ever), and the request.
"""

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from bot import epochs, sections
from bot.changes import Changes, since
from bot.errors import Unknown
from bot.model import Block
from bot.prompt import Head, Prompt, merged
from bot.repair import repair
from bot.surroundings import Scene
from bot.tools.tool import Tool
from memory.audience import Viewer, viewer
from memory.bots import Bot
from memory.conversations import Conversation, Entry, Epoch
from memory.database import now
from memory.people import Person, Speaker, speaker
from memory.places import Place
from memory.turns import Turn
from memory.words import canonical

RECENT = 6
"""Messages whose words decide which log entries are relevant at the start of an epoch."""


@dataclass(frozen=True)
class Cast:
    """The rows of a turn, and who reads its reply now."""

    turn: Turn
    conversation: Conversation
    place: Place
    bot: Bot
    who: Speaker | None
    readers: Viewer
    alone: bool


def cast(session: Session, turn_id: str) -> Cast:
    """Loads a turn with its surroundings; a bot or conversation that was deleted meanwhile is unknown."""
    turn = session.get(Turn, turn_id)
    conversation = session.get(Conversation, turn.conversation_id) if turn else None
    place = session.get(Place, turn.place_id) if turn else None
    bot = session.get(Bot, turn.bot_id) if turn else None
    if turn is None or conversation is None or place is None or bot is None:
        raise Unknown("The bot or the conversation was deleted.")
    who = speaker(session, turn.account_id) if turn.account_id else None
    readers = viewer(session, bot.id, place, turn.account_id, ephemeral=turn.ephemeral)
    return Cast(turn, conversation, place, bot, who, readers, turn.ephemeral or place.kind == "dm")


def prepare(session: Session, turn_id: str, tools: tuple[Tool, ...], model: str) -> tuple[Prompt, Cast]:
    """The prompt of a turn's next step."""
    scene = cast(session, turn_id)
    fresh = session.scalars(
        select(Entry).where(Entry.turn_id == turn_id, Entry.role == "user").order_by(Entry.position)
    ).all()
    definitions = epochs.definitions(tools)
    stage = _stage(session, scene)
    epoch = epochs.continued(session, scene.conversation.id, scene.readers, definitions, model)
    if epoch is None:
        epoch = _begin(session, scene, stage, list(fresh), definitions, model)
    _write_blocks(
        session, scene, stage, epoch, [entry for entry in fresh if entry.blocks is None], definitions
    )
    newest = max((entry.position or 0 for entry in fresh), default=0)
    return request(session, scene, epoch, newest, model), scene


def _stage(session: Session, scene: Cast) -> sections.Stage:
    return sections.Stage(
        conversation=scene.conversation,
        place=scene.place,
        bot=scene.bot,
        who=scene.who,
        readers=scene.readers,
        alone=scene.alone,
        at=now(),
        recent=_recent(session, scene),
        shown={},
    )


def _recent(session: Session, scene: Cast) -> str:
    rows = session.scalars(
        select(Entry.text)
        .where(
            Entry.conversation_id == scene.conversation.id,
            Entry.kind.in_(("message", "overheard")),
            Entry.redacted_at.is_(None),
            scene.readers.may_read(Entry),
        )
        .order_by(Entry.seq.desc())
        .limit(RECENT)
    ).all()
    return "\n".join(rows)


def _begin(
    session: Session,
    scene: Cast,
    stage: sections.Stage,
    fresh: list[Entry],
    definitions: list[dict[str, Any]],
    model: str,
) -> Epoch:
    """A new epoch that starts with this turn's messages, whose blocks are written anew for it, or with the
    note that carries the turn on after a summary."""
    notes = [entry.position or 0 for entry in fresh if entry.kind == "note"]
    here = [entry for entry in fresh if not notes or (entry.position or 0) >= notes[-1]]
    for entry in here:
        if entry.kind in ("message", "overheard"):
            entry.blocks = None
    start = min((entry.position or 0 for entry in here), default=scene.conversation.last_position + 1) - 1
    session.flush()
    return epochs.begin(session, stage, definitions, model, start=start)


def _write_blocks(
    session: Session,
    scene: Cast,
    stage: sections.Stage,
    epoch: Epoch,
    waiting: list[Entry],
    tools: list[dict[str, Any]],
) -> None:
    """Gives new messages their blocks, and the epoch the audiences that it now contains."""
    already = session.scalar(
        select(Entry.id).where(
            Entry.turn_id == scene.turn.id,
            Entry.kind == "message",
            Entry.blocks.is_not(None),
            Entry.position > epoch.start,
        )
    )
    leading = already is None
    for entry in waiting:
        if entry.kind == "overheard":
            name = _name(session, entry)
            entry.blocks = canonical([_text(canonical(sections.overheard(entry, name)))])
        elif leading:
            leading = False
            entry.blocks = canonical(_opening(session, scene, stage, epoch, entry, tools))
            entry.shown = sorted(set(stage.shown) - set(epoch.shown))
        else:
            name = scene.who.name if scene.who else ""
            entry.blocks = canonical([_text(canonical(sections.joined(entry, name))), *_words(entry)])
    epoch.audiences = sorted({*epoch.audiences, *scene.readers.audiences})
    session.flush()


def _opening(
    session: Session,
    scene: Cast,
    stage: sections.Stage,
    epoch: Epoch,
    entry: Entry,
    tools: list[dict[str, Any]],
) -> list[Block]:
    changes: Changes = since(session, scene, epoch, stage.at, tools)
    spoken: list[str] = list(epoch.state.get("spoken", []))
    person = scene.who.person_id if scene.who else None
    card = not scene.alone and person is not None and person not in spoken
    block = sections.newest(session, stage, entry, changes.notes, card=card)
    stage.shown.update(changes.shown)
    if card and person is not None:
        spoken.append(person)
    epoch.state = {**epoch.state, **changes.state, "spoken": spoken}
    return [_text(canonical(block)), *_words(entry)]


def _words(entry: Entry) -> list[Block]:
    text = entry.text if entry.text.strip() else "(a message without text)"
    return [_text(text)]


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _name(session: Session, entry: Entry) -> str:
    person = session.get(Person, entry.person_id) if entry.person_id else None
    return person.name if person else ""


def request(session: Session, scene: Cast, epoch: Epoch, newest: int, model: str) -> Prompt:
    """The prompt of an epoch as it stands: its head, and its entries' stored blocks."""
    rows = session.execute(
        select(Entry.role, Entry.blocks, Entry.position)
        .where(
            Entry.conversation_id == scene.conversation.id,
            Entry.position > epoch.start,
            Entry.blocks.is_not(None),
            scene.readers.may_read(Entry),
        )
        .order_by(Entry.position)
    ).all()
    messages = repair(merged((role, json.loads(blocks or "[]")) for role, blocks, _ in rows))
    count = sum(len(json.loads(blocks or "[]")) for _, blocks, position in rows if (position or 0) >= newest)
    return Prompt(Head.load(epoch.head), messages, model, count)


def unanswered(
    session: Session, here: Scene, conversation: Conversation, tools: tuple[Tool, ...], model: str
) -> Prompt | None:
    """The prompt of a conversation as it stands, without a new message: what a prewarm sends.

    None where no epoch goes on: a new one is frozen by its first real turn, not by somebody who types.
    """
    readers = viewer(session, here.bot.id, here.place, here.who.account_id)
    epoch = epochs.current(session, conversation.id)
    if epoch is None or not readers.reads_all(epoch.audiences):
        return None
    if epoch.hashes.get("contract") != epochs.contract(epochs.definitions(tools), model):
        return None
    alone = here.place.kind == "dm"
    turn = Turn(id="", team_id=here.place.team_id, place_id=here.place.id)
    scene = Cast(turn, conversation, here.place, here.bot, here.who, readers, alone)
    return request(session, scene, epoch, conversation.last_position + 1, model)
