"""Everybody waits as long as told, and nobody comes back in the same second."""

import asyncio
import heapq
import random
from collections.abc import Callable

import pytest

from bot.limiter import Limiter


class Clock:
    """Time that passes only when all wait."""

    def __init__(self) -> None:
        self.now = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Event]] = []
        self._count = 0

    async def sleep(self, seconds: float) -> None:
        wake = asyncio.Event()
        self._count += 1
        heapq.heappush(self._sleepers, (self.now + seconds, self._count, wake))
        await wake.wait()

    async def run(self, task: "asyncio.Future[list[None]]") -> None:
        while not task.done():
            for _ in range(100):
                await asyncio.sleep(0)
            if self._sleepers:
                self.now, _, wake = heapq.heappop(self._sleepers)
                wake.set()
        await task


def chances(seed: int) -> Callable[[], float]:
    return random.Random(seed).random


@pytest.mark.parametrize("seed", range(5))
async def test_thirty_turns_that_are_told_to_wait_come_back_spread_out_and_few_at_once(seed: int) -> None:
    clock = Clock()
    limiter = Limiter(4, clock=lambda: clock.now, sleep=clock.sleep, chance=chances(seed))
    woke: list[float] = []
    inside, most, told = 0, 0, 0

    async def turn() -> None:
        nonlocal inside, most, told
        while True:
            async with limiter.place():
                inside += 1
                most = max(most, inside)
                await clock.sleep(1.0)
                inside -= 1
                if clock.now >= 20:
                    woke.append(clock.now - 1)
                    return
                told += 1
                limiter.told(20 - clock.now)

    await clock.run(asyncio.gather(*(turn() for _ in range(30))))

    assert len(woke) == 30, "all are answered"
    assert most == 4
    assert min(woke) >= 20, "nobody comes back too early"
    assert max(woke) - min(woke) > 2, "they are spread over seconds"
    assert len({round(moment, 3) for moment in woke}) > 15
    assert told <= 4, "what one is told holds for all"


async def test_a_longer_wait_replaces_a_shorter_one_and_never_the_other_way() -> None:
    clock = Clock()
    limiter = Limiter(clock=lambda: clock.now, sleep=clock.sleep, chance=lambda: 0.0)

    limiter.told(10)
    limiter.told(2)
    assert limiter.wait == 10
    limiter.told(30)
    assert limiter.wait == 30
    clock.now = 31.0
    assert limiter.wait == 0


async def test_pauses_grow_and_differ_by_chance() -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    for chance in (0.0, 0.9):
        limiter = Limiter(sleep=sleep, chance=lambda chance=chance: chance)  # type: ignore[misc]
        for attempt in range(8):
            await limiter.pause(attempt)

    assert waited[:8] == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0, 8.0]
    assert waited[8:] == [seconds * 1.9 for seconds in waited[:8]]
