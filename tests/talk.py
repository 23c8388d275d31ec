"""A small team for dialogues: real database, engine and loop; the model is scripted or offline."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.desk import Desk
from bot.engine import Engine
from bot.messages import CommandResult, Local
from bot.model import Model
from bot.offline import Offline
from bot.seeding import seed
from bot.settings import Settings
from memory.database import Database


@dataclass
class Talk:
    """People who talk with the bot: `await talk.say("ada", "#general", "hello")`."""

    desk: Desk

    async def say(self, who: str, where: str, text: str, **options: Any) -> dict[str, Any]:
        """One message and the outcome of its turn."""
        settle = bool(options.pop("settle", False))
        accepted = await self.desk.say(Local(who, where, **options), text)
        return await self.desk.outcome(accepted, settle=settle, timeout=60)

    async def overhear(self, who: str, where: str, text: str) -> None:
        """Talk that is not addressed to the bot."""
        await self.desk.say(Local(who, where), text, overheard=True)

    async def command(self, who: str, where: str, text: str) -> CommandResult:
        """A typed command."""
        return await self.desk.run_typed(Local(who, where), text)

    async def memories(self, who: str, where: str, query: str | None = None) -> list[dict[str, Any]]:
        """What the readers of a reply there may read."""
        return await self.desk.memories(Local(who, where), query)

    async def prompt(self, who: str, where: str, text: str = "hello") -> dict[str, Any]:
        """The request that a message would send."""
        return await self.desk.prompt(Local(who, where), text)


def opened(url: str, model: Model | None = None, **settings: Any) -> Desk:
    """A desk over a migrated database, seeded with Ada, Ben and #general."""
    database = Database(url)
    engine = Engine(database)
    engine.prepare()
    engine.close()
    database.run_now(seed, local_people=True)
    return Desk(Settings(home=Path("/nowhere"), database_url=url, **settings), database, model or Offline())


@asynccontextmanager
async def talking(url: str, model: Model | None = None, **settings: Any) -> AsyncIterator[Talk]:
    """A team that is up and running."""
    desk = await asyncio.to_thread(opened, url, model, **settings)
    desk.loop.answering.deadline = 30
    await desk.start()
    try:
        yield Talk(desk)
    finally:
        await desk.stop(10)
