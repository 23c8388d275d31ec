"""The model's window: a step whose prompt would be too long waits for a summary, once in a turn."""

import logging
from typing import Any

from sqlalchemy.orm import Session

from bot import compaction, epochs
from bot.errors import BotError, ModelContextFull
from bot.model import Body, Model
from bot.preparation import cast
from bot.spending import release, settle
from bot.tokens import body_tokens
from memory.database import Database
from memory.turns import Turn

log = logging.getLogger("teambot.window")


class TooLong(Exception):
    """The prompt passes the limit and there was no summary in this turn yet."""


class Window:
    """Keeps prompts under the limit of one model."""

    def __init__(self, database: Database, model: Model, daily_cap: float) -> None:
        self.database = database
        self.model = model
        self.daily_cap = daily_cap
        self.limit = int(model.capabilities.window * compaction.LIMIT_SHARE)

    def check(self, turn: Turn, body: Body) -> None:
        """Raises when a prompt is too long: `TooLong` once, then what the person is told."""
        if body_tokens(body) <= self.limit:
            return
        if turn.remembered.get("compacted"):
            raise ModelContextFull
        raise TooLong

    async def compact(self, turn_id: str, options: dict[str, Any]) -> None:
        """Summarises all that was said so far; where no summary comes, the newest originals must do."""
        task = await self.database.run(
            compaction.turn_task, turn_id, options, self.model.worst_cost, self.daily_cap
        )
        if task is not None:
            await self.summarise(task)
        await self.database.run(_go_on, turn_id)

    async def trim(self, turn_id: str) -> bool:
        """Goes on with the newest originals only, once: the provider refused the prompt as too long."""
        return await self.database.run(_trimmed, turn_id)

    async def summarise(self, task: compaction.Task) -> bool:
        """Asks for a summary and keeps it; says whether there is one."""
        try:
            response = await self.model.respond(task.body)
        except BotError as error:
            log.warning("summary of %s failed: %s", task.conversation_id, error.code)
            await self.database.run(release, task.step_id)
            return False
        cost = self.model.cost(str(task.body["model"]), response.usage)
        await self.database.run(settle, task.step_id, response, cost)
        return await self.database.run(compaction.store, task, response)


def _go_on(session: Session, turn_id: str) -> None:
    scene = cast(session, turn_id)
    scene.turn.remembered = {**scene.turn.remembered, "compacted": True}
    epoch = epochs.current(session, scene.conversation.id)
    if epoch is not None:
        epochs.end(epoch, "too long")
    compaction.carry_on(session, turn_id)


def _trimmed(session: Session, turn_id: str) -> bool:
    scene = cast(session, turn_id)
    if scene.turn.remembered.get("compacted"):
        return False
    _go_on(session, turn_id)
    return True
