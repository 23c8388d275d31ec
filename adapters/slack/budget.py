"""How often each of Slack's methods may be called in one workspace: everybody's replies share it."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

RATES = {
    "chat.appendStream": 90.0,
    "chat.startStream": 14.0,
    "chat.stopStream": 14.0,
    "chat.update": 44.0,
}
"""Calls a minute, a little under what Slack grants a workspace."""
BURST = 6.0
SHORTEST = 0.7
"""Seconds between two additions to one reply."""


@dataclass
class Bucket:
    """Fills evenly, holds a few."""

    per_minute: float
    tokens: float
    at: float


@dataclass
class Budget:
    """The calls that one workspace has left. `active` replies are being written now."""

    clock: Callable[[], float] = time.monotonic
    active: int = 0
    buckets: dict[str, Bucket] = field(default_factory=dict)
    blocked: dict[str, float] = field(default_factory=dict)

    def take(self, method: str) -> bool:
        """Takes one call if there is one left."""
        bucket, now = self._filled(method), self.clock()
        if bucket.tokens < 1 or self.blocked.get(method, 0) > now:
            return False
        bucket.tokens -= 1
        return True

    def spend(self, method: str) -> None:
        """Takes one call in any case: a reply that ends must end, and those that go on wait longer."""
        self._filled(method).tokens -= 1

    def held_back(self, method: str, seconds: float) -> None:
        """Slack said to wait: nobody calls that method before."""
        self.blocked[method] = max(self.blocked.get(method, 0), self.clock() + seconds)

    def interval(self) -> float:
        """Seconds between two additions to each reply, so that all together stay within the budget."""
        return max(SHORTEST, self.active * 60 / RATES["chat.appendStream"])

    async def wait(self, method: str) -> None:
        """Waits until there is a call left, and takes it."""
        while not self.take(method):  # noqa: ASYNC110 - time alone fills the bucket
            await asyncio.sleep(0.2)

    def _filled(self, method: str) -> Bucket:
        now, rate = self.clock(), RATES.get(method, 45.0)
        bucket = self.buckets.setdefault(method, Bucket(rate, BURST, now))
        bucket.tokens = min(BURST, bucket.tokens + (now - bucket.at) * rate / 60)
        bucket.at = now
        return bucket
