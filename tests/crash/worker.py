"""A worker to be killed: `python -m tests.crash.worker '{"url": …, "far": …}'`. It waits for a line on its
standard input, says `ready` when it runs turns, and drains at SIGTERM."""

import asyncio
import json
import logging
import signal
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

from bot.house import House
from bot.settings import Settings
from memory.database import Database
from tests.crash.far import Far
from tests.crash.model import Slow


def made(options: dict[str, Any]) -> House:
    """A house over the database of the test, with the far platform beside the local one."""
    settings = Settings(home=Path("/nowhere"), database_url=options["url"])
    house = House(settings, Database(options["url"]), Slow(options.get("pause", 0.05)))
    house.platforms["far"] = Far(Path(options["far"]), options.get("slow", 0.03))
    house.engine.dead_after = timedelta(seconds=options.get("dead_after", 1.5))
    house.engine.beat_seconds = options.get("beat", 0.3)
    house.engine.watch_seconds = 1.0
    return house


async def main() -> None:
    """Runs until it is told to stop, or killed."""
    options = json.loads(sys.argv[1])
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stopping.set)
    await loop.run_in_executor(None, sys.stdin.readline)
    house = made(options)
    await house.start()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await stopping.wait()
    await house.stop(options.get("drain", 5))


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(process)d %(name)s: %(message)s")
    asyncio.run(main())
