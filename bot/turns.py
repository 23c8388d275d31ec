"""Turns: which messages are answered together, in order, one turn at a time in each conversation."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from bot.errors import NotAllowed
from memory.bots import Bot
from memory.conversations import Conversation, Entry
from memory.database import now
from memory.people import Speaker
from memory.turns import Turn, TurnStatus

MOST_AT_ONCE = 500


@dataclass(frozen=True)
class Claim:
    """What a workflow got: its turn (`claimed`), nothing left to do (`merged`), or the turn in its way."""

    state: str
    busy_with: str = ""

    def record(self) -> dict[str, Any]:
        """As the engine keeps it."""
        return {"state": self.state, "busy_with": self.busy_with}


def claim(session: Session, turn_id: str, conversation_id: str) -> Claim:
    """Takes the oldest waiting message, and what its author wrote since in the same place, for this turn.

    Order comes from our own arrival numbers: the queue hands out conversations, not messages.
    """
    conversation = session.scalar(
        select(Conversation).where(Conversation.id == conversation_id).with_for_update(key_share=True)
    )
    if conversation is None:
        return Claim("merged")
    own = session.get(Turn, turn_id)
    if own is not None:
        return Claim("claimed") if own.status == "running" else Claim("merged")
    running = session.scalar(
        select(Turn.id).where(Turn.conversation_id == conversation_id, Turn.status == "running").limit(1)
    )
    if running is not None:
        return Claim("busy", running)
    starter = session.scalar(_waiting(conversation_id).limit(1))
    if starter is None:
        return Claim("merged")
    session.add(
        Turn(
            id=turn_id,
            team_id=conversation.team_id,
            conversation_id=conversation.id,
            bot_id=conversation.bot_id,
            place_id=starter.place_id,
            person_id=starter.person_id,
            account_id=starter.account_id,
            audience=starter.audience,
            ephemeral=starter.ephemeral,
        )
    )
    session.flush()
    take(session, turn_id, conversation, starter)
    return Claim("claimed")


def take(session: Session, turn_id: str, conversation: Conversation, starter: Entry) -> list[Entry]:
    """Gives the turn the starter's waiting messages from the same surface, past others' that wait.

    Talk overheard there before them comes along as context.
    """
    mine = [entry for entry in session.scalars(_waiting(conversation.id)) if _joins(entry, starter)]
    if not mine:
        return []
    overheard = session.scalars(
        select(Entry)
        .where(
            Entry.conversation_id == conversation.id,
            Entry.kind == "overheard",
            Entry.turn_id.is_(None),
            Entry.redacted_at.is_(None),
            Entry.seq < mine[-1].seq,
        )
        .order_by(Entry.seq)
    ).all()
    taken = [*overheard, *mine]
    for entry in taken:
        entry.turn_id = turn_id
        conversation.last_position += 1
        entry.position = conversation.last_position
    session.flush()
    return taken


def join(session: Session, turn_id: str) -> list[Entry]:
    """What the starter wrote meanwhile, taken into the running turn."""
    turn = session.get(Turn, turn_id)
    starter = session.scalar(
        select(Entry)
        .where(Entry.turn_id == turn_id, Entry.kind == "message")
        .order_by(Entry.position)
        .limit(1)
    )
    if turn is None or starter is None:
        return []
    conversation = session.scalar(
        select(Conversation)
        .where(Conversation.id == turn.conversation_id)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    )
    return take(session, turn_id, conversation, starter) if conversation else []


def _joins(entry: Entry, starter: Entry) -> bool:
    return entry.seq == starter.seq or (
        entry.person_id is not None
        and entry.person_id == starter.person_id
        and entry.account_id == starter.account_id
        and entry.place_id == starter.place_id
        and entry.thread == starter.thread
        and entry.ephemeral == starter.ephemeral
    )


def _waiting(conversation_id: str) -> Any:
    return (
        select(Entry)
        .where(
            Entry.conversation_id == conversation_id,
            Entry.addressed.is_(True),
            Entry.turn_id.is_(None),
            Entry.redacted_at.is_(None),
        )
        .order_by(Entry.seq)
    )


def append(session: Session, turn: Turn, entry: Entry) -> Entry:
    """Puts an entry of the bot at the end of the conversation."""
    conversation = session.scalar(
        select(Conversation)
        .where(Conversation.id == turn.conversation_id)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    )
    if conversation is None:
        raise NotAllowed("The conversation was deleted.")
    conversation.last_position += 1
    entry.position = conversation.last_position
    session.add(entry)
    session.flush()
    return entry


def close(session: Session, turn_id: str, status: TurnStatus, error: str | None = None) -> bool:
    """Ends a turn once; says whether it was this call that ended it.

    The conversation is locked, as by a claim: who finds the turn running has its message handed on here.
    """
    session.execute(
        select(Conversation.id)
        .join(Turn, Turn.conversation_id == Conversation.id)
        .where(Turn.id == turn_id)
        .with_for_update(key_share=True, of=Conversation)
    )
    ended = session.execute(
        update(Turn)
        .where(Turn.id == turn_id, Turn.status == "running")
        .values(status=status, error=error, ended_at=now())
    )
    return bool(getattr(ended, "rowcount", 0))


def request_stop(session: Session, conversation_id: str, who: Speaker) -> str | None:
    """Asks the running turn of a conversation to end; its asker and admins may."""
    turn = session.scalar(
        select(Turn).where(Turn.conversation_id == conversation_id, Turn.status == "running").limit(1)
    )
    if turn is None:
        return None
    if turn.person_id != who.person_id and not who.is_admin:
        raise NotAllowed("Only the person who asked, or an admin, may stop this answer.")
    turn.stop_requested = True
    return turn.id


def stop_requested(session: Session, turn_id: str) -> bool:
    """Whether somebody asked this turn to end, or its bot is gone."""
    found = session.execute(
        select(Turn.stop_requested, Bot.id).outerjoin(Bot, Bot.id == Turn.bot_id).where(Turn.id == turn_id)
    ).one_or_none()
    return found is None or bool(found[0]) or found[1] is None


def is_running(session: Session, conversation_id: str) -> bool:
    """Whether a turn of that conversation is open, or a message waits for one."""
    running = select(Turn.id).where(Turn.conversation_id == conversation_id, Turn.status == "running")
    found = (session.scalar(query.limit(1)) for query in (running, _waiting(conversation_id)))
    return any(row is not None for row in found)


def next_waiting(session: Session, conversation_id: str) -> str | None:
    """The oldest message there that no turn has taken."""
    entry: Entry | None = session.scalar(_waiting(conversation_id).limit(1))
    return entry.id if entry is not None else None


def left_running(session: Session) -> list[tuple[str, str]]:
    """Turns that are not ended, with their conversations."""
    rows = session.execute(select(Turn.id, Turn.conversation_id).where(Turn.status == "running"))
    return [(turn_id, conversation_id) for turn_id, conversation_id in rows]


def left_waiting(session: Session) -> list[tuple[str, str]]:
    """Messages that no turn has taken, with their conversations."""
    rows = session.execute(
        select(Entry.id, Entry.conversation_id)
        .where(Entry.addressed.is_(True), Entry.turn_id.is_(None), Entry.redacted_at.is_(None))
        .order_by(Entry.seq)
        .limit(MOST_AT_ONCE)
    )
    return [(entry_id, conversation_id) for entry_id, conversation_id in rows]


def steps_taken(session: Session, turn_id: str) -> int:
    """How many answers of the model a turn has stored."""
    return int(
        session.scalar(
            select(func.count()).select_from(Entry).where(Entry.turn_id == turn_id, Entry.role == "assistant")
        )
        or 0
    )
