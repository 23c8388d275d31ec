"""Idle conversations: their summaries are made when they are due, unless work will wake them soon."""

from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from bot.engine import Engine
from bot.turns import is_running
from memory.conversations import Conversation
from memory.database import Database, now

SECONDS = 15.0
AT_ONCE = 50
SOON = timedelta(hours=1)


async def wake_due(database: Database, engine: Engine) -> int:
    """Enqueues the summaries that are due now; any number of processes may do so."""
    return await database.run(enqueue_due, engine, now())


def enqueue_due(session: Session, engine: Engine, at: datetime) -> int:
    """One workflow for each conversation whose moment has come, on the conversation's own lane."""
    due = session.scalars(
        select(Conversation)
        .where(Conversation.idle_due_at <= at)
        .order_by(Conversation.idle_due_at)
        .limit(AT_ONCE)
        .with_for_update(skip_locked=True)
    ).all()
    for conversation in due:
        moment = conversation.idle_due_at
        if moment is None:
            continue
        if wakes_soon(session, conversation, at):
            conversation.idle_due_at = None
            continue
        mark = moment.isoformat()
        engine.enqueue(
            session, "summary", f"idle:{conversation.id}:{mark}", conversation.id, conversation.id, mark
        )
    return len(due)


def wakes_soon(session: Session, conversation: Conversation, at: datetime) -> bool:
    """Whether queued work will wake the conversation within the hour anyway."""
    return is_running(session, conversation.id)
