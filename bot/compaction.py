"""Compaction: older history gives way to a summary; the originals stay in the log and in search.

Idle: about ten minutes after a long turn, on the same prefix, so that the provider's cache is read. In the
middle of a turn: before a step that would pass the limit. Open tasks are carried by code, not by the summary.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from bot import epochs, turns
from bot.model import Body, Response, texts
from bot.preparation import Cast, cast, request
from bot.prompt import Prompt
from bot.spending import Purpose, reserve
from memory.conversations import Conversation, Entry, Epoch, Summary
from memory.database import now
from memory.ids import derive
from memory.turns import Step, Turn
from memory.words import canonical

IDLE_TOKENS = 100_000
IDLE_AFTER = timedelta(minutes=10)
LIMIT_SHARE = 0.6
"""Of the model's window: a step whose prompt would be longer waits for a summary."""
SUMMARY_TOKENS = 4_000
INSTRUCTION = (
    "This block is by the program, not by a person. Write a summary of this conversation, to stand in for it "
    "from now on. Keep: goals, constraints, decisions, names, dates, links, who said what, open questions, "
    "standing wishes, and for every request what came of it (done, with its result, or not done). Leave out "
    "small talk. It is a record, not an instruction: do nothing, call no tool, answer nobody. Write plain "
    "text, at most 800 words, in the language of the conversation."
)


@dataclass(frozen=True)
class Task:
    """One summary to be made: the request, its reserved step, and what it will cover."""

    body: Body
    step_id: str
    epoch_id: str
    conversation_id: str
    upto: int


def plan_idle(session: Session, turn: Turn, at: datetime) -> None:
    """Plans an idle summary after a turn whose prompt was long; a shorter one needs none."""
    used = session.scalar(
        select(
            func.max(
                Step.input_tokens
                + Step.cache_read_tokens
                + Step.cache_write_5m_tokens
                + Step.cache_write_1h_tokens
            )
        ).where(Step.turn_id == turn.id, Step.tag == "main")
    )
    conversation = session.get(Conversation, turn.conversation_id)
    if conversation is not None:
        conversation.idle_due_at = at + IDLE_AFTER if (used or 0) > IDLE_TOKENS else None


def idle_task(
    session: Session, conversation_id: str, due: str, options: dict[str, Any], worst: Any, daily: float
) -> Task | None:
    """The summary that was planned for that moment; nothing if the talk went on or its readers changed."""
    conversation = session.get(Conversation, conversation_id)
    if (
        conversation is None
        or conversation.idle_due_at is None
        or conversation.idle_due_at.isoformat() != due
    ):
        return None
    conversation.idle_due_at = None
    latest = session.scalar(
        select(Turn.id)
        .where(Turn.conversation_id == conversation_id)
        .order_by(Turn.started_at.desc(), Turn.id)
        .limit(1)
    )
    epoch = epochs.current(session, conversation_id)
    if latest is None or epoch is None or turns.is_running(session, conversation_id):
        return None
    scene = cast(session, latest)
    if not scene.readers.reads_all(epoch.audiences):
        return None
    return _task(session, scene, epoch, options, worst, daily)


def turn_task(
    session: Session, turn_id: str, options: dict[str, Any], worst: Any, daily: float
) -> Task | None:
    """The summary of everything so far, the running turn included."""
    scene = cast(session, turn_id)
    epoch = epochs.current(session, scene.conversation.id)
    if epoch is None or not scene.readers.reads_all(epoch.audiences):
        return None
    return _task(session, scene, epoch, options, worst, daily)


def _task(
    session: Session, scene: Cast, epoch: Epoch, options: dict[str, Any], worst: Any, daily: float
) -> Task:
    prompt = request(session, scene, epoch, scene.conversation.last_position + 1, epoch.model)
    body = _with_instruction(prompt).body(SUMMARY_TOKENS, options)
    purpose = Purpose(
        team_id=scene.conversation.team_id,
        tag="summary",
        model=epoch.model,
        bot_id=scene.bot.id,
        person_id=scene.turn.person_id,
        place_id=scene.place.id,
        conversation_id=scene.conversation.id,
        number=epoch.number,
    )
    step_id = reserve(session, purpose, worst(body), daily)
    return Task(body, step_id, epoch.id, scene.conversation.id, scene.conversation.last_position)


def _with_instruction(prompt: Prompt) -> Prompt:
    """The same prefix with the instruction as the last block."""
    block = {"type": "text", "text": INSTRUCTION}
    messages = [{"role": message["role"], "content": list(message["content"])} for message in prompt.messages]
    if messages and messages[-1]["role"] == "user":
        messages[-1]["content"].append(block)
    else:
        messages.append({"role": "user", "content": [block]})
    return Prompt(prompt.head, messages, prompt.model, 1)


def store(session: Session, task: Task, response: Response) -> bool:
    """Keeps a summary and ends its epoch; a blank one changes nothing."""
    text = texts(response.content).strip()
    epoch = session.get(Epoch, task.epoch_id)
    if not text or epoch is None or epoch.ended_at is not None:
        return False
    shown = session.scalars(
        select(Entry.shown).where(
            Entry.conversation_id == task.conversation_id,
            Entry.position > epoch.start,
            Entry.position <= task.upto,
        )
    )
    ids = sorted({*epoch.shown, *(memory_id for row in shown for memory_id in row)})
    others = [audience for audience in epoch.audiences if audience != epoch.audience]
    session.add(
        Summary(
            id=derive("summary", task.epoch_id),
            team_id=epoch.team_id,
            conversation_id=task.conversation_id,
            epoch_id=task.epoch_id,
            audience=epoch.audience,
            drawn_from=others[0] if others else None,
            audiences=epoch.audiences,
            text=text,
            shown=ids,
            since=epoch.start,
            upto=task.upto,
        )
    )
    epochs.end(epoch, "summarised")
    session.flush()
    return True


def carry_on(session: Session, turn_id: str) -> None:
    """After a summary in the middle of a turn: the request stands again, as the program's block."""
    scene = cast(session, turn_id)
    words = session.scalars(
        select(Entry.text)
        .where(Entry.turn_id == turn_id, Entry.kind == "message", scene.readers.may_read(Entry))
        .order_by(Entry.position)
    ).all()
    block = {
        "carry_on": "The conversation was summarised while you worked. Finish this request.",
        "request": list(words),
        "time": now().isoformat(timespec="minutes"),
    }
    number = scene.conversation.last_position
    entry = Entry(
        id=derive("carry on", turn_id, number),
        team_id=scene.turn.team_id,
        conversation_id=scene.conversation.id,
        bot_id=scene.bot.id,
        place_id=scene.place.id,
        turn_id=turn_id,
        audience=scene.readers.writes,
        drawn_from=scene.readers.drawn_from,
        role="user",
        kind="note",
        ephemeral=scene.turn.ephemeral,
        blocks=canonical([{"type": "text", "text": canonical(block)}]),
        learnable=False,
        said_at=now(),
    )
    turns.append(session, scene.turn, entry)
