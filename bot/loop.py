"""The loop: one conversation's next messages in, one reply out, as a durable workflow.

claim → (model step → tool steps)* → deliver. Each step is recorded: after a crash the turn goes on with the
first step that was not finished. Delivery closes the turn; the memory pass is a workflow of its own.
"""

import asyncio
import logging
from typing import Any

from bot import turns
from bot.answering import Answering, Outcome
from bot.calling import Calling
from bot.delivery import Delivery
from bot.engine import Engine, pause, step
from bot.errors import BotError, ModelTimeout
from memory.database import Database

log = logging.getLogger("teambot.turns")

MOST_STEPS = 16
MOST_RETRIES = 2
TURN_SECONDS = 1_800.0
BUSY_SECONDS = 0.2
BROKEN = "Something in me broke; your message is kept, nothing else was saved. Whoever runs teambot finds it in the log: "


class Loop:
    """Handles the messages of conversations, one turn at a time in each."""

    def __init__(
        self, database: Database, engine: Engine, answering: Answering, calling: Calling, delivery: Delivery
    ) -> None:
        self.database = database
        self.engine = engine
        self.answering = answering
        self.calling = calling
        self.delivery = delivery

    async def turn(self, turn_id: str, conversation_id: str) -> str:
        """The workflow of a turn; `merged` when its message was answered by another."""
        if not await self._claimed(turn_id, conversation_id):
            return "merged"
        outcome = await self._answered(turn_id)
        await step("deliver", lambda: self._deliver(turn_id, outcome))
        return outcome.next

    async def _claimed(self, turn_id: str, conversation_id: str) -> bool:
        while True:
            claim = await step("claim", lambda: self._claim(turn_id, conversation_id))
            if claim["state"] != "busy":
                return bool(claim["state"] == "claimed")
            await pause(BUSY_SECONDS)

    async def _claim(self, turn_id: str, conversation_id: str) -> dict[str, Any]:
        claim = await self.database.run(turns.claim, turn_id, conversation_id)
        if claim.state == "busy" and not await self.engine.is_open(claim.busy_with):
            log.warning("turn %s was left open and is settled", claim.busy_with)
            await self.delivery.settle(claim.busy_with)
        return claim.record()

    async def _answered(self, turn_id: str) -> Outcome:
        retries, longer = 0, False
        for number in range(MOST_STEPS):
            while True:
                outcome = await self._model_step(turn_id, number, retries, longer=longer)
                if outcome.next not in ("again", "longer"):
                    break
                retries += 1
                longer = longer or outcome.next == "longer"
                if retries > MOST_RETRIES:
                    return await self._gave_up(turn_id, "The model gave no usable answer.")
            if outcome.next != "tools":
                return outcome
            await step(f"tools:{number}", lambda number=number: self.calling.step(turn_id, number))  # type: ignore[misc]
            if await step(f"stop:{number}", lambda: self._stopped(turn_id)):
                return Outcome("stopped")
        return await self._gave_up(turn_id, f"I stopped after {MOST_STEPS} steps without a final answer.")

    async def _model_step(self, turn_id: str, number: int, retry: int, *, longer: bool) -> Outcome:
        async def ask() -> dict[str, Any]:
            draft = self.delivery.draft(turn_id)
            try:
                async with asyncio.timeout(TURN_SECONDS):
                    found = await self.answering.step(turn_id, number, draft.push, longer=longer)
            except TimeoutError:
                found = await self.answering.fail(turn_id, ModelTimeout())
            except Exception as error:
                # What the engine records of an error must hold nobody's words.
                log.exception("turn %s step %d failed", turn_id, number)
                found = await self.answering.fail(turn_id, BotError(BROKEN + type(error).__name__))
            finally:
                await draft.close()
            return found.record()

        record = await step(f"model:{number}:{retry}", ask)
        return Outcome(record["next"], record["error"])

    async def _stopped(self, turn_id: str) -> bool:
        return await self.database.read(turns.stop_requested, turn_id)

    async def _gave_up(self, turn_id: str, sentence: str) -> Outcome:
        async def note() -> dict[str, Any]:
            return (
                await self.answering.fail(turn_id, ModelTimeout(f"{sentence} Your message is kept."))
            ).record()

        record = await step("give up", note)
        return Outcome(record["next"], record["error"])

    async def _deliver(self, turn_id: str, outcome: Outcome) -> str:
        return await self.delivery.deliver(turn_id, outcome)
