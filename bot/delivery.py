"""Delivery: the reply reaches its place exactly once, streamed while it is made.

The outbox row precedes the first text that is shown, the platform's message id follows at once. After a
crash a row without an id is looked up on the platform by its key, and one with an id is replaced.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy.orm import Session

from bot import outbox
from bot.answering import Outcome
from bot.compaction import plan_idle
from bot.engine import LATER, Engine, told
from bot.errors import Unknown
from bot.messages import Platform, Post
from bot.patience import GRACE_SECONDS, let_go, within
from bot.spending import release_open
from bot.turns import close, next_waiting
from memory.database import Database, now
from memory.ids import derive
from memory.turns import Outgoing, Turn

log = logging.getLogger("teambot.delivery")

SEND_SECONDS = 60.0
SEND_ATTEMPTS = 5
STATUS = {"failed": "failed", "stopped": "stopped"}


class Delivery:
    """Sends replies through the platforms."""

    def __init__(self, database: Database, engine: Engine, platforms: Mapping[str, Platform]) -> None:
        self.database = database
        self.engine = engine
        self.platforms = platforms
        self.with_pass = True
        self.seconds = SEND_SECONDS
        self.patience = 1.0
        self._expected: dict[str, Post] = {}

    def draft(self, turn_id: str) -> "Draft":
        """The reply of a turn while it is made."""
        return Draft(self, turn_id)

    async def expect(self, turn_id: str) -> None:
        """Keeps in mind where a turn's reply goes, in case its rows are deleted meanwhile."""
        post = await self.database.read(outbox.expected, turn_id)
        if post is not None:
            self._expected[turn_id] = post

    async def deliver(self, turn_id: str, outcome: Outcome) -> str:
        """Shows the final reply of a turn and closes the turn; safe to run again after a crash."""
        expected = self._expected.pop(turn_id, None)
        try:
            sending = await self.database.run(outbox.ready, turn_id, outcome.next == "failed")
        except Unknown:
            return await self._say_deleted(expected)
        if sending is None:
            return "nothing"
        try:
            message_id = await self._send(sending)
        except Exception as error:
            log.error("turn %s could not be delivered: %s", turn_id, told(error))
            await self.database.run(outbox.not_sent, turn_id, type(error).__name__)
            await self.database.run(self._closed, turn_id, "failed", "NotDelivered", None)
            return "failed"
        status = STATUS.get(outcome.next, "completed")
        await self.database.run(self._closed, turn_id, status, outcome.error, message_id)
        return "sent"

    async def settle(self, turn_id: str) -> str:
        """Ends a turn whose workflow is gone: its answer is delivered if there
        is one, else its person is told."""
        if await self.database.run(outbox.is_lost, turn_id):
            return await self.deliver(turn_id, Outcome("failed", "Lost"))
        return await self.deliver(turn_id, Outcome("done"))

    async def resend(self, key: str) -> str:
        """Tries once more what a platform did not take."""
        sending = await self.database.run(outbox.again, key)
        if sending is None:
            return "nothing"
        try:
            message_id = await self._try(sending.post, sending.message_id, maybe_sent=True)
        except Exception as error:
            log.warning("sending %s failed again: %s", key, told(error))
            return "failed"
        await self.database.run(outbox.sent_late, key, message_id)
        return "sent"

    async def _send(self, sending: outbox.Sending) -> str:
        for attempt in range(SEND_ATTEMPTS):
            try:
                return await self._try(
                    sending.post, sending.message_id, maybe_sent=sending.maybe_sent or attempt > 0
                )
            except Exception as error:
                log.warning("sending %s failed: %s", sending.post.key, told(error))
                if attempt + 1 == SEND_ATTEMPTS:
                    raise
                await asyncio.sleep(min(self.patience * 2**attempt, 15))
        raise TimeoutError

    async def _try(self, post: Post, message_id: str | None, *, maybe_sent: bool) -> str:
        """One attempt. What may be there already is looked up before anything new is shown."""
        platform = self.platforms[post.address.platform]
        if message_id is None and maybe_sent:
            message_id = await within(self.seconds, platform.find(post))
        if message_id is not None:
            return await within(self.seconds, platform.finish(post, message_id))
        if not self.engine.is_current:
            raise TimeoutError
        return await within(self.seconds, platform.start(post))

    async def _say_deleted(self, post: Post | None) -> str:
        if post is None:
            return "deleted"
        try:
            await self._try(post, None, maybe_sent=True)
        except Exception as error:
            log.warning("%s could not be told of the deletion: %s", post.key, told(error))
        return "deleted"

    def _closed(
        self, session: Session, turn_id: str, status: Any, error: str | None, message_id: str | None
    ) -> None:
        row = session.get(Outgoing, outbox.key_of(turn_id))
        if row is not None and message_id is not None:
            row.status, row.message_id, row.sent_at = "sent", message_id, now()
            outbox.remember_message(session, row, message_id)
        if not close(session, turn_id, status, error):
            return
        release_open(session, turn_id)
        turn = session.get(Turn, turn_id)
        if turn is None:
            return
        plan_idle(session, turn, now())
        waiting = next_waiting(session, turn.conversation_id)
        if waiting is not None:
            follow = f"turn:{waiting}:after:{derive(turn_id)}"
            self.engine.enqueue(session, "turn", follow, turn.conversation_id, turn.conversation_id)
        if self.with_pass:
            self.engine.enqueue(
                session, "pass", f"pass:{turn_id}", turn.conversation_id, turn_id, queue=LATER
            )


class Draft:
    """Shows text as it comes: the newest wins, one update at a time."""

    def __init__(self, delivery: Delivery, turn_id: str) -> None:
        self.delivery = delivery
        self.turn_id = turn_id
        self.text = ""
        self.task: asyncio.Task[None] | None = None
        self.changed = asyncio.Event()
        self.closed = False
        self.starting = False

    def push(self, text: str) -> None:
        """Takes the whole text so far; never waits."""
        if not text.strip() or self.closed:
            return
        self.text = text
        self.changed.set()
        if self.task is None:
            self.task = asyncio.create_task(self._show())

    async def close(self) -> None:
        """Stops updating; delivery shows the final text. A message that is on its way to the platform is
        waited for, an update is not."""
        self.closed = True
        self.changed.set()
        if self.task is None:
            return
        await asyncio.wait({self.task}, timeout=self.delivery.seconds if self.starting else GRACE_SECONDS)
        if not self.task.done():
            await let_go(self.task)

    async def _show(self) -> None:
        try:
            sending = await self.delivery.database.run(outbox.drafted, self.turn_id, self.text)
            if sending is None:
                return
            message_id = sending.message_id or await self._started(sending)
            platform = self.delivery.platforms[sending.post.address.platform]
            while not self.closed:
                await self.changed.wait()
                self.changed.clear()
                if not await self.delivery.database.read(outbox.may_show, self.turn_id):
                    return
                if not self.closed:
                    post = replace(sending.post, text=self.text)
                    await within(self.delivery.seconds, platform.update(post, message_id))
        except Exception as error:
            log.warning("draft of %s stopped: %s", self.turn_id, told(error))

    async def _started(self, sending: outbox.Sending) -> str:
        """The id of the message, which is recorded at once: from here on it is replaced, never doubled."""
        platform, seconds = self.delivery.platforms[sending.post.address.platform], self.delivery.seconds
        self.starting = True
        found = await within(seconds, platform.find(sending.post)) if sending.maybe_sent else None
        if found is None:
            if not self.delivery.engine.is_current:
                raise TimeoutError
            found = await within(seconds, platform.start(replace(sending.post, text=self.text)))
        await self.delivery.database.run(outbox.note_message, self.turn_id, found)
        self.starting = False
        return found
