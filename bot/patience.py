"""Patience: waiting for somebody else's code, for so long and no longer."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

GRACE_SECONDS = 2.0
"""How long something that was told to end may take to tidy up."""
STOP_POLL_SECONDS = 0.5


class Stopped(Exception):
    """Somebody asked to stop."""


async def watched(
    work: Coroutine[Any, Any, T],
    seconds: float,
    stopped: Callable[[], Awaitable[bool]],
) -> T:
    """As `within`, and `Stopped` soon after somebody asked to stop."""
    task = asyncio.ensure_future(work)
    end = asyncio.get_running_loop().time() + seconds
    try:
        while True:
            left = end - asyncio.get_running_loop().time()
            done, _ = await asyncio.wait({task}, timeout=max(0.0, min(STOP_POLL_SECONDS, left)))
            if done:
                return task.result()
            if left <= 0:
                raise TimeoutError
            if await stopped():
                raise Stopped
    finally:
        if not task.done():
            await let_go(task)


async def within(seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """What `work` returns, or `TimeoutError`; work that does not end even when cancelled is left behind."""
    task = asyncio.ensure_future(work)
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
    except BaseException:
        await let_go(task)
        raise
    if not done:
        await let_go(task)
        raise TimeoutError
    return task.result()


async def let_go(task: "asyncio.Future[Any]", grace: float = GRACE_SECONDS) -> None:
    """Cancels a task and waits a moment for its cleanup, whatever comes of it."""
    task.cancel()
    task.add_done_callback(_heard)
    await asyncio.wait({task}, timeout=grace)


def _heard(task: "asyncio.Future[Any]") -> None:
    """Takes note of how an abandoned task ended, so that nobody complains that nobody did."""
    if not task.cancelled():
        task.exception()
