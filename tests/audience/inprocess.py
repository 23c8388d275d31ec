"""The house without the engine: the same loop, run in this process, with a hook between its steps."""

from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import event
from sqlalchemy.orm import Session

import bot.house
import bot.loop
from bot.desk import Desk
from bot.local import LocalPlatform
from bot.messages import Post
from bot.model import Model
from bot.settings import Settings
from memory.database import Database

T = TypeVar("T")
Between = Callable[[str], Awaitable[None]]
OnPost = Callable[[Post], None]


class Queue:
    """Keeps what would be enqueued, in order."""

    is_current = True

    def __init__(self) -> None:
        self.waiting: list[tuple[str, str, tuple[str, ...]]] = []

    def enqueue(
        self, session: Session, kind: str, workflow_id: str, partition: str, *arguments: str, **_: Any
    ) -> None:
        """Takes a workflow; the same id twice is one."""
        if all(known != workflow_id for _, known, _ in self.waiting):
            self.waiting.append((kind, workflow_id, arguments))

    async def is_open(self, workflow_id: str) -> bool:
        """Nothing is ever left open by another process."""
        return True


class Watched(LocalPlatform):
    """The local platform, with a look at everything that is posted."""

    def __init__(self, on_post: OnPost) -> None:
        super().__init__()
        self.on_post = on_post
        self.posted = 0

    async def start(self, post: Post) -> str:
        """Sees a new message."""
        self.posted += 1
        self.on_post(post)
        return await super().start(post)

    async def update(self, post: Post, message_id: str) -> None:
        """Sees more of it."""
        self.posted += 1
        self.on_post(post)
        await super().update(post, message_id)

    async def finish(self, post: Post, message_id: str) -> str:
        """Sees it as it stays."""
        self.posted += 1
        self.on_post(post)
        return await super().finish(post, message_id)


class InProcess(Desk):
    """A desk whose workflows are run one after the other by whoever waits for them."""

    def __init__(self, url: str, model: Model, on_post: OnPost) -> None:
        database = Database(url)
        if database.is_sqlite:
            event.listen(database.writing, "connect", _careless)
        super().__init__(Settings(home=Path("/nowhere"), database_url=url, daily_cap=1e6), database, model)
        self.queue: Any = Queue()
        self.engine.close()
        own: Any = self
        own.engine = own.delivery.engine = own.loop.engine = self.queue
        self.local = self.watched = Watched(on_post)
        self.platforms["local"] = self.local
        self.delivery.platforms = self.platforms
        self.between: Between = _nothing

    async def work(self, begins: Callable[[str, str], None]) -> None:
        """Runs what waits, and what that brings, until nothing waits."""
        with stepping(self):
            while self.queue.waiting:
                kind, workflow_id, arguments = self.queue.waiting.pop(0)
                handler = self.handlers().get(kind)
                if handler is not None:
                    begins(kind, arguments[0] if kind == "pass" else workflow_id)
                    await handler(workflow_id, *arguments)

    def close(self) -> None:
        """Closes the database."""
        self.database.close()


@contextmanager
def stepping(desk: InProcess) -> Iterator[None]:
    """Runs the steps of workflows directly, after telling which one comes."""

    async def step(name: str, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        await desk.between(name)
        return await work()

    kept = [(module, module.step) for module in (bot.loop, bot.house)]
    for module, _ in kept:
        module.step = step  # type: ignore[attr-defined]
    try:
        yield
    finally:
        for module, before in kept:
            module.step = before  # type: ignore[attr-defined]


async def _nothing(_: str) -> None:
    return None


def _careless(connection: Any, _: object) -> None:
    """Tests need no disk that survives a power cut."""
    connection.execute("PRAGMA synchronous=OFF")
