"""Prewarm: when a person opens the chat or types, the prefix is prepared and the provider's cache warmed.

Not again while it is warm, capped by person and day, never while a turn runs, never under the model's
minimum.
"""

import asyncio
import logging
from datetime import timedelta
from typing import Any, Protocol

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from bot.errors import BotError
from bot.messages import Address, Author, Surroundings
from bot.model import Body, Model, Response
from bot.preparation import unanswered
from bot.spending import Purpose, release, reserve, settle
from bot.surroundings import Scene, conversation_key, find_conversation, scene
from bot.tokens import body_tokens
from bot.tools.tool import Tool
from bot.turns import is_running
from memory.database import Database, now
from memory.turns import Step

log = logging.getLogger("teambot.prewarm")

FRESH = timedelta(minutes=50)
"""A prefix that was used so recently is warm by that: entries live for an hour from their last use."""
A_DAY = 40
"""Prewarms of one person in a day."""
MINIMUM = 4_096
"""Tokens; the largest minimum of any model's cache (Opus 4.5 and 4.6, Haiku 4.5)."""


class Warms(Protocol):
    """A model that can fill its provider's cache."""

    async def prewarm(self, body: Body) -> Response | None: ...


class Prewarm:
    """Warms the prefix of talks that somebody is about to use."""

    def __init__(
        self, database: Database, model: Model, tools: tuple[Tool, ...], talk_model: str, daily_cap: float
    ) -> None:
        self.database = database
        self.model = model
        self.tools = tools
        self.talk_model = talk_model
        self.daily_cap = daily_cap
        self._running: set[asyncio.Task[None]] = set()

    def begin(
        self, address: Address, author: Author, place: Surroundings, bot: str | None, options: dict[str, Any]
    ) -> None:
        """Starts a prewarm in the background, where the model can."""
        if not self.model.capabilities.prewarm:
            return
        task = asyncio.create_task(self._warm(address, author, place, bot, options))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def settled(self) -> None:
        """Waits for what runs."""
        await asyncio.gather(*self._running)

    async def stop(self) -> None:
        """Ends what runs."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _warm(
        self, address: Address, author: Author, place: Surroundings, bot: str | None, options: dict[str, Any]
    ) -> None:
        try:
            found = await self.database.run(self._prepared, address, author, place, bot, options)
        except Exception as error:
            log.info("nothing to warm: %s", type(error).__name__)
            return
        if found is None:
            return
        body, step_id = found
        model: Any = self.model
        try:
            response = await model.prewarm(body)
        except BotError as error:
            log.info("prewarm failed: %s", error.code)
            response = None
        if response is None:
            await self.database.run(release, step_id)
        else:
            await self.database.run(settle, step_id, response, self.model.cost(body["model"], response.usage))

    def _prepared(
        self,
        session: Session,
        address: Address,
        author: Author,
        place: Surroundings,
        bot: str | None,
        options: dict[str, Any],
    ) -> tuple[Body, str] | None:
        here = scene(session, address, author, place, bot)
        key = conversation_key(here.place, here.who, address.thread, ephemeral=False)
        conversation = find_conversation(session, here.bot.id, key)
        if conversation is None or is_running(session, conversation.id):
            return None
        if not _may_warm(session, here, conversation.id):
            return None
        model = here.bot.model or self.talk_model
        prompt = unanswered(session, here, conversation, self.tools, model)
        if prompt is None:
            return None
        body = prompt.body(options=options)
        if body_tokens(body) < MINIMUM:
            return None
        purpose = Purpose(
            team_id=here.place.team_id,
            tag="prewarm",
            model=model,
            bot_id=here.bot.id,
            person_id=here.who.person_id,
            place_id=here.place.id,
            conversation_id=conversation.id,
        )
        hashes = {section.name: section.sha256 for section in prompt.sections()}
        return body, reserve(
            session, purpose, self.model.worst_cost({**body, "max_tokens": 1}), self.daily_cap, hashes
        )


def _may_warm(session: Session, here: Scene, conversation_id: str) -> bool:
    """Not again so soon, not where it is warm by use, and not more often than a day allows."""
    at = now()
    recent = session.scalar(
        select(func.max(Step.created_at)).where(
            Step.conversation_id == conversation_id, Step.tag.in_(("main", "prewarm", "summary"))
        )
    )
    if recent is not None and at - recent < FRESH:
        return False
    today = session.scalar(
        select(func.count()).where(
            Step.team_id == here.place.team_id,
            Step.person_id == here.who.person_id,
            Step.tag == "prewarm",
            Step.created_at >= at - timedelta(days=1),
        )
    )
    return int(today or 0) < A_DAY
