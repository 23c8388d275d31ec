"""The loop: one conversation's next messages in, one reply out, as a durable workflow.

claim → (model step → tool steps)* → deliver. Each step is recorded: after a crash the turn goes on with the
first step that was not finished. Delivery closes the turn; the memory pass is a workflow of its own.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

from bot import turns
from bot.answering import Answering, Outcome
from bot.calling import Calling
from bot.delivery import Delivery
from bot.engine import LATER, Engine, Handler, step, told
from bot.errors import BotError, ModelTimeout
from bot.intake import turn_id as turn_id_of
from bot.outbox import unsent
from memory.database import Database
from memory.errors import StoreBusy, StoreUnreachable

log = logging.getLogger("teambot.turns")

MOST_STEPS = 16
MOST_RETRIES = 2
TURN_SECONDS = 1_800.0
RESEND_MINUTES = 3
BROKEN = "Something in me broke. Your message is kept. Whoever runs teambot finds it in the log: "
UNUSABLE = "The model gave no usable answer. Your message is kept."
TOO_LONG = f"I stopped after {MOST_STEPS} steps without a final answer. Your message is kept."


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
        self.seconds = TURN_SECONDS

    async def turn(self, turn_id: str, conversation_id: str) -> str:
        """The workflow of a turn; `merged` when its message was answered by another."""
        claimed = await step("claim", lambda: self._claim(turn_id, conversation_id))
        if claimed != "claimed":
            return claimed
        await self.delivery.expect(turn_id)
        outcome = await self._answered(turn_id)
        await step("deliver", lambda: self.delivery.deliver(turn_id, outcome))
        return outcome.next

    async def settle(self, _: str, turn_id: str) -> str:
        """The workflow that ends a turn whose own workflow is gone."""
        return await step("settle", lambda: self.delivery.settle(turn_id))

    async def resend(self, _: str, key: str) -> str:
        """The workflow that tries once more what a platform did not take."""
        return await step("resend", lambda: self.delivery.resend(key))

    def handlers(self) -> dict[str, Handler]:
        """The workflows of this module."""
        return {"settle": self.settle, "resend": self.resend}

    async def rescue(self) -> None:
        """Finds turns, messages and replies whose workflow is gone, and has them ended, answered and sent."""
        minute = int(time.time()) // 60
        running = await self.database.read(turns.left_running)
        alive = await self.engine.open_of([turn_id for turn_id, _ in running])
        for turn_id, _ in running:
            if turn_id not in alive:
                await self._let_settle(turn_id)
        busy = {conversation_id for _, conversation_id in running}
        messages = await self.database.read(turns.left_waiting)
        waiting = {turn_id_of(entry_id): place for entry_id, place in messages if place not in busy}
        alive = await self.engine.open_of(list(waiting))
        for workflow_id, conversation_id in waiting.items():
            if workflow_id not in alive:
                # One more workflow than needed does no harm: it finds nothing to claim.
                again = f"{workflow_id}:{minute}"
                await self.database.run(self.engine.enqueue, "turn", again, conversation_id, conversation_id)
        for key in await self.database.read(unsent):
            name = f"resend:{key}:{minute // RESEND_MINUTES}"
            await self.database.run(self.engine.enqueue, "resend", name, name, key, queue=LATER)

    async def _claim(self, turn_id: str, conversation_id: str) -> str:
        """`busy` ends the workflow: it would stand in the way of the one it waits for. Whoever closes the
        running turn hands the next message on."""
        claim = await self.database.run(turns.claim, turn_id, conversation_id)
        if claim.state == "busy" and not await self.engine.is_open(claim.busy_with):
            await self._let_settle(claim.busy_with)
        return claim.state

    async def _let_settle(self, turn_id: str) -> None:
        log.warning("turn %s was left open and is settled", turn_id)
        name = f"settle:{turn_id}"
        await self.database.run(self.engine.enqueue, "settle", name, name, turn_id, queue=LATER)

    async def _answered(self, turn_id: str) -> Outcome:
        end = asyncio.get_running_loop().time() + self.seconds
        retries, longer = 0, False
        for number in range(MOST_STEPS):
            while True:
                name = f"model:{number}:{retries}"
                outcome = await self._step(name, turn_id, end, self._model(turn_id, number, longer=longer))
                if outcome.next not in ("again", "longer"):
                    break
                retries += 1
                longer = longer or outcome.next == "longer"
                if retries > MOST_RETRIES:
                    return await self._gave_up(turn_id, UNUSABLE)
            if outcome.next != "tools":
                return outcome
            outcome = await self._step(f"tools:{number}", turn_id, end, self._tools(turn_id, number))
            if outcome.next != "tools":
                return outcome
        return await self._gave_up(turn_id, TOO_LONG)

    def _model(self, turn_id: str, number: int, *, longer: bool) -> Callable[[], Awaitable[Outcome]]:
        async def work() -> Outcome:
            draft = self.delivery.draft(turn_id)
            try:
                return await self.answering.step(turn_id, number, draft.push, longer=longer)
            finally:
                await draft.close()

        return work

    def _tools(self, turn_id: str, number: int) -> Callable[[], Awaitable[Outcome]]:
        async def work() -> Outcome:
            await self.calling.step(turn_id, number)
            return Outcome("tools")

        return work

    async def _step(
        self, name: str, turn_id: str, end: float, work: Callable[[], Awaitable[Outcome]]
    ) -> Outcome:
        """One recorded step, which ends with a failed turn rather than with an error."""

        async def recorded() -> dict[str, Any]:
            try:
                async with asyncio.timeout_at(end):
                    found = await work()
            except TimeoutError:
                found = await self.answering.fail(turn_id, ModelTimeout())
            except (StoreBusy, StoreUnreachable):
                raise
            except Exception as error:
                log.error("turn %s, %s: %s", turn_id, name, told(error))
                found = await self.answering.fail(turn_id, BotError(BROKEN + type(error).__name__))
            return found.record()

        record = await step(name, recorded)
        return Outcome(record["next"], record["error"])

    async def _gave_up(self, turn_id: str, sentence: str) -> Outcome:
        async def note() -> dict[str, Any]:
            return (await self.answering.fail(turn_id, ModelTimeout(sentence))).record()

        record = await step("give up", note)
        return Outcome(record["next"], record["error"])
