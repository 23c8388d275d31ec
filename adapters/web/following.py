"""Following a message: when its answer and its memory pass are there, the tabs of its talk are told.

The bot's own events say so sooner; this works too where another process does the bot's work.
"""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

from adapters.web.drawing import Drawing
from adapters.web.talk import Talk
from adapters.web.wire import Wires
from bot.errors import BotError
from bot.messages import Accepted, Desk

logger = logging.getLogger(__name__)

ANSWER_SECONDS = 900.0
PASS_SECONDS = 180.0
LATELY = 20


class Following:
    """Waits in the background, one task per message that is not answered yet."""

    def __init__(self, desk: Desk, drawing: Drawing, wires: Wires) -> None:
        self._desk = desk
        self._drawing = drawing
        self._wires = wires
        self._changes: dict[str, dict[str, str]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def follow(self, talk: Talk, accepted: Accepted, text: str, *, alone: bool) -> None:
        """Begins to wait; the answer counts as awaited already."""
        task = asyncio.create_task(self._follow(talk, accepted, text, alone))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def undo(self, person: str) -> Mapping[str, str]:
        """The changes that a person's own messages made lately, by memory."""
        return self._changes.get(person, {})

    def _note(self, talk: Talk, outcome: dict[str, Any]) -> None:
        lately = self._changes.setdefault(talk.person, {})
        memory = outcome["memory"]
        for item in [*memory["added"], *memory["replaced"]]:
            if item.get("change"):
                lately[str(item["id"])] = str(item["change"])
        for old in list(lately)[:-LATELY]:
            del lately[old]
        self._wires.tell(talk, "memory")

    async def close(self) -> None:
        """Stops waiting."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _follow(self, talk: Talk, accepted: Accepted, text: str, alone: bool) -> None:
        try:
            try:
                outcome = await self._desk.outcome(accepted, timeout=ANSWER_SECONDS)
            finally:
                self._wires.end(talk, alone=alone)
            self._note(talk, outcome)
            if alone:
                self._wires.take_back(talk, str(outcome["turn"]))
                self._wires.send(talk, "aside", self._drawing.reply(talk, text, outcome))
            self._note(talk, await self._desk.outcome(accepted, settle=True, timeout=PASS_SECONDS))
        except BotError as error:
            logger.warning("an answer was not followed to its end: %s", error.code)
        except Exception as error:
            logger.warning("an answer was not followed to its end: %s", type(error).__name__)
