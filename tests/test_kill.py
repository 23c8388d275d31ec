"""kill -9, again and again, in the midst of turns: every message is answered, and none twice."""

import asyncio
import logging
import os
import random
from pathlib import Path
from typing import Any

import pytest

from tests.crash.town import Town, Worker, running

KILLS = int(os.environ.get("TEAMBOT_KILLS", "40"))
SEED = int(os.environ.get("TEAMBOT_SEED", "0")) or random.SystemRandom().randrange(1, 1_000_000)

log = logging.getLogger("teambot.tests")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


async def rounds(town: Town, options: dict[str, Any], dice: random.Random, workers: int) -> list[int]:
    """Kills one of the workers (now and then all) at random moments; how many turns ran at each kill."""
    at_work = [await Worker.wait(options) for _ in range(workers)]
    spare = [await Worker.wait(options) for _ in range(workers)]
    hit: list[int] = []
    try:
        await _killed(town, options, dice, hit, at_work, spare)
        assert await town.settled(60), f"seed {SEED}: not everything was answered: {town.findings()}"
        assert [await worker.stop() for worker in at_work] == [0] * workers
    finally:
        for worker in [*at_work, *spare]:
            await worker.kill()
    return hit


async def _killed(
    town: Town,
    options: dict[str, Any],
    dice: random.Random,
    hit: list[int],
    at_work: list[Worker],
    spare: list[Worker],
) -> None:
    for worker in at_work:
        await worker.go()
    while len(hit) < KILLS:
        await town.talk(dice, dice.randint(2, 5))
        await asyncio.sleep(dice.uniform(0.05, 1.2))
        hit.append(await town.house.database.read(running))
        fallen = list(at_work) if dice.random() < 0.2 else [dice.choice(at_work)]
        for worker in fallen:
            await worker.kill()
            at_work.remove(worker)
        await town.talk(dice, dice.randint(0, 1))
        for _ in fallen:
            heir = spare.pop()
            spare.append(await Worker.wait(options))
            await heir.go()
            at_work.append(heir)


async def kill_and_count(url: str, workers: int, folder: Path) -> None:
    """Plays the rounds and looks at every message, reply, order and reservation afterwards."""
    options = {"url": url, "far": str(folder / "far.db")}
    town = await asyncio.to_thread(Town, options)
    try:
        hit = await rounds(town, options, random.Random(SEED), workers)
        figures = f"seed {SEED}: {len(hit)} kills, {sum(hit)} turns hit, {len(town.accepted)} messages"
        log.info(figures)
        assert town.findings() == [], figures
    finally:
        await town.close()


async def test_every_message_is_covered_by_exactly_one_reply(database_url: str, tmp_path: Path) -> None:
    await kill_and_count(database_url, 1, tmp_path)


async def test_what_one_process_leaves_another_answers_once(fresh_postgres: str, tmp_path: Path) -> None:
    await kill_and_count(fresh_postgres, 2, tmp_path)
