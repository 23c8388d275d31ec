"""A house without the engine: the same loop, its workflows run one after the other where they are wanted."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

import bot.house
import bot.loop
from bot.desk import Desk
from bot.model import Model
from bot.seeding import seed
from bot.settings import Settings
from bot.tools.tool import Tool
from memory.database import Database
from migrations import migrate

Work = Callable[[], Awaitable[Any]]


class Queue:
    """Keeps what is enqueued, in order; the same id twice is one."""

    is_current = True

    def __init__(self) -> None:
        self.waiting: list[tuple[str, str, tuple[str, ...]]] = []

    def enqueue(self, _: Session, kind: str, workflow_id: str, __: str, *arguments: str, **___: Any) -> None:
        """Takes a workflow."""
        if all(known != workflow_id for _, known, _ in self.waiting):
            self.waiting.append((kind, workflow_id, arguments))

    async def is_open(self, _: str) -> bool:
        """No other process leaves anything open."""
        return True


class DirectDesk(Desk):
    """A desk over one database, as one process after a start; `work` runs what waits."""

    def __init__(self, url: str, claude: Model, tools: tuple[Tool, ...], **settings: Any) -> None:
        database = Database(url)
        options = {"home": Path("/nowhere"), "database_url": url, "daily_cap": 1e9, **settings}
        super().__init__(Settings(**options), database, claude, tools=tools)
        self.engine.close()
        self.queue: Any = Queue()
        own: Any = self
        own.engine = own.delivery.engine = own.loop.engine = self.queue

    async def work(self) -> None:
        """Runs every workflow that waits, and those that they bring."""
        while self.queue.waiting:
            kind, workflow_id, arguments = self.queue.waiting.pop(0)
            await self.handlers()[kind](workflow_id, *arguments)

    def close(self) -> None:
        """Ends the process, so to speak."""
        self.database.close()


def without_engine() -> None:
    """Runs steps directly: what is measured is the house, not the engine's records."""

    async def step(_: str, work: Work) -> Any:
        return await work()

    bot.loop.step = bot.house.step = step  # type: ignore[attr-defined, assignment]


def fresh(folder: Path) -> str:
    """The address of a new database with Ada, Ben and #general."""
    url = f"sqlite:///{folder / 'teambot.db'}"
    database = Database(url)
    migrate(database)
    database.run_now(seed, local_people=True)
    database.close()
    return url
