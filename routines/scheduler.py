"""The scheduler: wakes what is due. The only user of APScheduler.

Rows in the database are the truth; every process may run a scheduler, since whatever is due is claimed there.
The store is in memory: nothing is pickled, and no job outlives its row.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.interval import IntervalTrigger

log = logging.getLogger("teambot.scheduler")

Work = Callable[[], Awaitable[Any]]


class Scheduler:
    """Runs jobs by the clock until it is stopped."""

    def __init__(self) -> None:
        self._clock = AsyncIOScheduler(
            timezone="UTC", job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1}
        )

    def every(self, seconds: float, name: str, work: Work) -> None:
        """Runs `work` every so often; a failure is logged and the next one comes."""

        async def run() -> None:
            try:
                await work()
            except asyncio.CancelledError:
                raise
            except Exception as error:
                log.warning("%s failed: %s", name, type(error).__name__)

        self._clock.add_job(run, IntervalTrigger(seconds=seconds), id=name, replace_existing=True)

    def start(self) -> None:
        """Starts the clock in the running loop."""
        self._clock.start()

    async def stop(self) -> None:
        """Stops the clock; what it started goes on."""
        if self._clock.running:
            self._clock.shutdown(wait=False)
