"""A platform far away: its messages stand in a file of its own, and outlive whoever posted them."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy.orm import Session

from bot.messages import Address, Post
from memory.ids import derive
from memory.people import Team, Workspace

NAME = "far"
WORKSPACE = "W1"


@dataclass
class Far:
    """Implements `bot.messages.Platform`. Nothing stops it from showing the same thing twice.

    `slow` is how long it takes before and after it has stored something, `refuse` how often it fails.
    `stuck` operations hang for ever.
    """

    path: Path
    slow: float = 0.0
    name: str = NAME
    refuse: int = 0
    lose: int = 0
    stuck: set[str] = field(default_factory=set)
    calls: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        with self._open() as store:
            store.execute(
                "CREATE TABLE IF NOT EXISTS posts"
                " (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT, channel TEXT, text TEXT, final INTEGER)"
            )

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path, timeout=30)) as store, store:
            yield store

    def posts(self) -> list[tuple[str, str, str, int]]:
        """Everything that stands there: key, channel, text, whether it is final."""
        with self._open() as store:
            return list(store.execute("SELECT key, channel, text, final FROM posts ORDER BY id"))

    async def _arrive(self, operation: str) -> None:
        self.calls.append(operation)
        if operation in self.stuck:
            await asyncio.Event().wait()
        await asyncio.sleep(self.slow)
        if self.refuse > 0 and operation != "find":
            self.refuse -= 1
            raise ConnectionError("far away is closed")

    async def start(self, post: Post) -> str:
        """Shows a message; `lose` answers are lost on the way back."""
        await self._arrive("start")
        with self._open() as store:
            row = store.execute(
                "INSERT INTO posts (key, channel, text, final) VALUES (?, ?, ?, ?)",
                (post.key, post.address.channel, post.text, post.final),
            ).lastrowid
        await asyncio.sleep(self.slow)
        if self.lose > 0:
            self.lose -= 1
            raise ConnectionResetError("the answer was lost")
        return str(row)

    async def update(self, post: Post, message_id: str) -> None:
        """Shows more text."""
        await self._arrive("update")
        self._replace(post, message_id)

    async def finish(self, post: Post, message_id: str) -> str:
        """Shows the final text."""
        await self._arrive("finish")
        self._replace(post, message_id)
        await asyncio.sleep(self.slow)
        return message_id

    def _replace(self, post: Post, message_id: str) -> None:
        with self._open() as store:
            store.execute(
                "UPDATE posts SET text = ?, final = ? WHERE id = ?", (post.text, post.final, int(message_id))
            )

    async def find(self, post: Post) -> str | None:
        """Finds a message by its key."""
        await self._arrive("find")
        with self._open() as store:
            row = store.execute("SELECT id FROM posts WHERE key = ?", (post.key,)).fetchone()
        return str(row[0]) if row else None

    async def remove(self, address: Address, message_id: str) -> None:
        """Takes a message away."""
        with self._open() as store:
            store.execute("DELETE FROM posts WHERE id = ?", (int(message_id),))


def admit(session: Session) -> None:
    """Lets the team use the far platform."""
    team = session.query(Team.id).limit(1).scalar()
    session.add(Workspace(id=derive("workspace", NAME), team_id=team, platform=NAME, external_id=WORKSPACE))
