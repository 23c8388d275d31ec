"""One limit for all calls with one key: how many at once, and none before the server allows it."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

PARALLEL = 32
"""Calls at once with one key."""

_FIRST_WAIT = 0.5
_LONGEST_WAIT = 8.0


class Limiter:
    """Lets calls through. Whoever is told to wait makes all wait, and each goes on a little later by chance,
    so that they do not come back in the same second."""

    def __init__(
        self,
        parallel: int = PARALLEL,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._places = asyncio.Semaphore(parallel)
        self._clock = clock
        self._sleep = sleep
        self._chance = chance
        self._not_before = 0.0
        self._spread = 0.0

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """A place among the calls at once, when the server allows calls again."""
        while True:
            await self._until_allowed()
            async with self._places:
                if self._clock() >= self._not_before:
                    yield
                    return

    def told(self, seconds: float) -> None:
        """The server said: not for so many seconds."""
        until = self._clock() + seconds
        if until > self._not_before:
            self._not_before = until
            self._spread = max(1.0, seconds / 4)

    @property
    def wait(self) -> float:
        """Seconds until calls are allowed again."""
        return max(0.0, self._not_before - self._clock())

    async def pause(self, attempt: int) -> None:
        """Waits after a failed attempt (0, 1, …) of which the server did not say how long."""
        seconds = min(_FIRST_WAIT * 2.0**attempt, _LONGEST_WAIT)
        await self._sleep(seconds * (1 + self._chance()))

    async def _until_allowed(self) -> None:
        while (wait := self.wait) > 0:
            await self._sleep(wait + self._chance() * self._spread)
