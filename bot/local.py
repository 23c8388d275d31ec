"""The local platform: its messages live in our own database, so sending is showing."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from bot.messages import Address, Listener, Post
from memory.ids import derive
from memory.people import LOCAL

Key = tuple[str, str | None]


class LocalPlatform:
    """Implements `bot.messages.Platform` for the page and the command line."""

    name = LOCAL

    def __init__(self) -> None:
        self._listeners: dict[Key, list[tuple[str, Listener]]] = defaultdict(list)

    def listen(self, channel: str, thread: str | None, person: str, listener: Listener) -> Callable[[], None]:
        """Tells the listener what a person may see there, until the result is called."""
        key, item = (channel, thread), (person, listener)
        self._listeners[key].append(item)

        def leave() -> None:
            if item in self._listeners[key]:
                self._listeners[key].remove(item)

        return leave

    async def tell(
        self, channel: str, thread: str | None, event: dict[str, Any], *, only: str | None = None
    ) -> None:
        """Sends an event to those who listen there (`only` one person)."""
        for person, listener in list(self._listeners[(channel, thread)]):
            if only is None or person == only:
                await listener(event)

    async def start(self, post: Post) -> str:
        """Shows a message; the row in the outbox is the message."""
        await self.update(post, message_id(post))
        return message_id(post)

    async def update(self, post: Post, message_id: str) -> None:
        """Shows the text so far."""
        if post.final:
            return
        event = {"type": "draft", "key": post.key, "text": post.text}
        await self.tell(post.address.channel, post.address.thread, event, only=_only(post))

    async def finish(self, post: Post, message_id: str) -> str:
        """The final text stands in the outbox already."""
        return message_id

    async def find(self, post: Post) -> str | None:
        """The message is the outbox row itself."""
        return message_id(post)

    async def remove(self, address: Address, message_id: str) -> None:
        """The row is redacted by whoever removes it."""


def message_id(post: Post) -> str:
    """The id of a local reply."""
    return f"r-{derive('reply', post.key)}"


def _only(post: Post) -> str | None:
    return post.asker if post.ephemeral else None
