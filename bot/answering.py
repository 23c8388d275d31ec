"""Answering: one step of a turn, from the request to the stored answer."""

import asyncio
import logging
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from bot import turns
from bot.citing import cited
from bot.epochs import current, newest
from bot.errors import (
    BotError,
    ModelContextFull,
    ModelError,
    ModelOverloaded,
    ModelRejected,
    ModelTimeout,
    Unknown,
)
from bot.model import Block, Body, Model, Response, Usage, texts, tool_uses
from bot.patience import Stopped, watched
from bot.preparation import Cast, cast, prepare
from bot.prompt import MAX_OUTPUT
from bot.spending import Purpose, release, release_open, reserve, settle
from bot.tokens import body_tokens, estimate
from bot.tools.tool import Tool
from bot.window import TooLong, Window
from memory.audience import marks
from memory.conversations import Entry
from memory.database import Database, now
from memory.errors import StoreBusy, StoreError, StoreUnreachable
from memory.ids import derive
from memory.memories import MemoryChange
from memory.turns import Turn
from memory.words import canonical, clean_json

log = logging.getLogger("teambot.turns")

ATTEMPTS = 3
DEADLINE_SECONDS = 600.0
LONGER_OUTPUT = 32_000
CUT = "\n\n(The answer was cut at its greatest length.)"
STOPPED = "(stopped)"
NOTHING_ELSE = "; nothing else was saved"
KEPT = "What I had confirmed as saved before that is saved."


@dataclass(frozen=True)
class Outcome:
    """How a step ended: `tools`, `again`, `longer`, `done`, `stopped` or `failed` with an error's code."""

    next: str
    error: str | None = None

    def record(self) -> dict[str, Any]:
        """As the engine keeps it."""
        return {"next": self.next, "error": self.error}


class Answering:
    """Asks the model for a turn's next step and stores its answer once."""

    def __init__(
        self, database: Database, model: Model, tools: tuple[Tool, ...], talk_model: str, daily_cap: float
    ) -> None:
        self.database = database
        self.model = model
        self.tools = tools
        self.talk_model = talk_model
        self.daily_cap = daily_cap
        self.window = Window(database, model, daily_cap)
        self.deadline = DEADLINE_SECONDS

    async def step(
        self, turn_id: str, number: int, on_text: Callable[[str], None], *, longer: bool = False
    ) -> Outcome:
        """Runs step `number`; a step whose answer is stored already is not asked again."""
        known = await self.database.read(_stored, turn_id, number)
        if known is not None:
            return known
        if number > 0 and await self._stopped(turn_id):
            return await self._keep_stopped(turn_id, number, "")
        for attempt in range(ATTEMPTS):
            try:
                return await self._ask(turn_id, number, on_text, LONGER_OUTPUT if longer else MAX_OUTPUT)
            except ModelContextFull as error:
                if attempt > 0 or not await self.window.trim(turn_id):
                    return await self.fail(turn_id, error)
            except ModelError as error:
                log.warning("turn %s step %d: %s", turn_id, number, error.code)
                if not error.retryable or attempt + 1 == ATTEMPTS:
                    return await self.fail(turn_id, error)
                await asyncio.sleep(2**attempt + random.uniform(0, 1))  # noqa: S311 - jitter
            except (StoreBusy, StoreUnreachable):
                raise
            except (Unknown, StoreError) as error:
                return await self.fail(turn_id, error)
        return await self.fail(turn_id, ModelOverloaded())

    async def _ask(
        self, turn_id: str, number: int, on_text: Callable[[str], None], max_tokens: int
    ) -> Outcome:
        try:
            body, step_id = await self.database.run(self._prepared, turn_id, number, max_tokens)
        except TooLong:
            await self.window.compact(turn_id, self.options())
            body, step_id = await self.database.run(self._prepared, turn_id, number, max_tokens)
        latest = ""

        def hear(text: str) -> None:
            nonlocal latest
            latest = text
            on_text(text)

        try:
            response = await watched(
                self.model.respond(body, hear), self.deadline, lambda: self._stopped(turn_id)
            )
        except (Stopped, TimeoutError) as reason:
            # What came until then is paid for, as far as one can tell from here.
            used = Usage(body_tokens(body), estimate(latest)) if latest else Usage()
            partial = Response([], "stopped", used)
            await self.database.run(settle, step_id, partial, self.model.cost(body["model"], used))
            if isinstance(reason, Stopped):
                return await self._keep_stopped(turn_id, number, latest)
            raise ModelTimeout from None
        except ModelError:
            await self.database.run(release, step_id)
            raise
        await self.database.run(settle, step_id, response, self.model.cost(body["model"], response.usage))
        return await self._judge(turn_id, number, response)

    async def _stopped(self, turn_id: str) -> bool:
        return await self.database.read(turns.stop_requested, turn_id)

    async def _keep_stopped(self, turn_id: str, number: int, partial: str) -> Outcome:
        """A stopped turn ends as others do: what there is of the answer is kept."""
        text = f"{partial}\n\n{STOPPED}".strip()
        kept = Response([{"type": "text", "text": text}], "stopped", Usage())
        await self.database.run(self._store, turn_id, number, kept)
        return Outcome("stopped")

    def _prepared(self, session: Session, turn_id: str, number: int, max_tokens: int) -> tuple[Body, str]:
        if number > 0:
            turns.join(session, turn_id)
        # A crash left the reservation of a call whose answer never came.
        release_open(session, turn_id)
        name = self.model_for(session, turn_id)
        prompt, scene = prepare(session, turn_id, self.tools, name)
        body = prompt.body(max_tokens, self.options())
        self.window.check(scene.turn, body)
        hashes = {section.name: section.sha256 for section in prompt.sections()}
        purpose = _purpose(scene, name, number)
        return body, reserve(session, purpose, self.model.worst_cost(body), self.daily_cap, hashes)

    def model_for(self, session: Session, turn_id: str) -> str:
        """The model of the turn's bot, or the team's default."""
        return cast(session, turn_id).bot.model or self.talk_model

    def options(self) -> dict[str, Any]:
        """Options beyond the portable profile; the same in every request of an epoch."""
        return {"output_config": {"effort": "medium"}} if self.model.capabilities.effort else {}

    async def _judge(self, turn_id: str, number: int, response: Response) -> Outcome:
        calls = tool_uses(response.content)
        if response.stop_reason == "refusal":
            return await self.fail(
                turn_id, ModelRejected("The model declined to answer this. Your message is kept.")
            )
        if response.cut or (
            response.stop_reason in ("max_tokens", "model_context_window_exceeded") and calls
        ):
            return Outcome("longer")
        if not calls and not texts(response.content):
            return Outcome("again")
        await self.database.run(self._store, turn_id, number, response)
        return Outcome("tools" if calls else "done")

    def _store(self, session: Session, turn_id: str, number: int, response: Response) -> None:
        scene = cast(session, turn_id)
        content: list[Block] = clean_json(response.content)
        text = texts(content)
        if response.stop_reason == "max_tokens":
            text += CUT
        audience, drawn_from = _marks(session, scene)
        entry = Entry(
            id=derive("answer", turn_id, number),
            team_id=scene.turn.team_id,
            conversation_id=scene.conversation.id,
            bot_id=scene.bot.id,
            place_id=scene.place.id,
            turn_id=turn_id,
            step=number,
            audience=audience,
            drawn_from=drawn_from,
            role="assistant",
            kind="reply" if not tool_uses(content) else "working",
            ephemeral=scene.turn.ephemeral,
            text=text,
            blocks=canonical(content),
            shown=_shown(session, scene, text),
            learnable=False,
            said_at=now(),
        )
        turns.append(session, scene.turn, entry)

    async def fail(self, turn_id: str, error: BotError | StoreError) -> Outcome:
        """Notes why a turn failed and what its person is told."""
        code = type(error).__name__
        await self.database.run(_note_failure, turn_id, code, str(error))
        return Outcome("failed", code)


def _stored(session: Session, turn_id: str, number: int) -> Outcome | None:
    entry = session.scalar(
        select(Entry).where(Entry.turn_id == turn_id, Entry.role == "assistant", Entry.step == number)
    )
    if entry is None:
        return None
    if entry.kind == "working":
        return Outcome("tools")
    return Outcome("stopped" if entry.text.endswith(STOPPED) else "done")


def _note_failure(session: Session, turn_id: str, code: str, sentence: str) -> None:
    turn = session.get(Turn, turn_id)
    if turn is not None:
        kept = select(MemoryChange.id).where(MemoryChange.turn_id == turn_id).limit(1)
        if session.scalar(kept) is not None:
            sentence = f"{sentence.replace(NOTHING_ELSE, '')} {KEPT}"
        turn.error = code
        turn.remembered = {**turn.remembered, "failure": sentence}


def _purpose(scene: Cast, model: str, number: int) -> Purpose:
    return Purpose(
        team_id=scene.turn.team_id,
        tag="main",
        model=model,
        bot_id=scene.bot.id,
        person_id=scene.turn.person_id,
        place_id=scene.place.id,
        conversation_id=scene.conversation.id,
        turn_id=scene.turn.id,
        number=number,
    )


def _marks(session: Session, scene: Cast) -> tuple[str, str | None]:
    """Who may read the answer: those who may read the whole request, whoever reads there by now."""
    epoch = newest(session, scene.conversation.id)
    return marks(epoch.audiences if epoch is not None else list(scene.readers.audiences))


def _shown(session: Session, scene: Cast, text: str) -> list[str]:
    """Ids of memories that an answer may repeat: those of the turn's results and notes, and those of the
    frozen snapshot whose words it shares."""
    rows = session.scalars(select(Entry.shown).where(Entry.turn_id == scene.turn.id))
    ids = {memory_id for row in rows for memory_id in row}
    epoch = current(session, scene.conversation.id)
    if epoch is not None:
        ids |= cited(session, text, list(epoch.shown))
    return sorted(ids)
