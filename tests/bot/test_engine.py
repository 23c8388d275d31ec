"""The engine: work is taken over from the dead, handed over by those who stop, and keeps nobody's words."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from bot import workers
from bot.engine import AnotherRuns, Engine, step
from memory.database import Database
from memory.errors import StoreBusy
from tests.talk import opened


@asynccontextmanager
async def made(url: str) -> AsyncIterator[Engine]:
    """An engine over a prepared database."""
    (await asyncio.to_thread(opened, url)).database.close()
    database = Database(url)
    engine = Engine(database)
    engine.beat_seconds = 0.1
    try:
        yield engine
    finally:
        await engine.stop(0)
        engine.close()
        database.close()


async def done(engine: Engine) -> None:
    while await engine.owed():
        await asyncio.sleep(0.02)


async def test_the_same_id_twice_is_one_workflow(database_url: str) -> None:
    ran: list[str] = []

    async def work(workflow_id: str, word: str) -> str:
        async def once() -> int:
            ran.append(word)
            return 1

        await step("once", once)
        return "ok"

    async with made(database_url) as engine:
        for _ in range(3):
            await engine.database.run(engine.enqueue, "work", "w1", "p", "a")
        await engine.launch({"work": work})
        await done(engine)
    assert ran == ["a"]


async def test_what_a_step_raises_is_kept_without_its_words(database_url: str) -> None:
    async def work(workflow_id: str) -> str:
        async def fails() -> int:
            raise ValueError("Ada's secret words")

        await step("fails", fails)
        return "never"

    async with made(database_url) as engine:
        await engine.database.run(engine.enqueue, "work", "w1", "p")
        await engine.launch({"work": work})
        await done(engine)
        status = (await engine.client.list_workflows_async(workflow_ids=["w1"]))[0]
        assert status.status == "ERROR"
        assert "secret" not in repr(vars(status))


async def test_a_busy_store_is_waited_for_within_a_step(database_url: str) -> None:
    tries: list[int] = []

    async def work(workflow_id: str) -> str:
        async def busy_once() -> int:
            tries.append(1)
            if len(tries) == 1:
                raise StoreBusy
            return len(tries)

        return str(await step("busy", busy_once))

    async with made(database_url) as engine:
        await engine.database.run(engine.enqueue, "work", "w1", "p")
        await engine.launch({"work": work})
        await done(engine)
        assert not await engine.is_open("w1")
    assert len(tries) == 2


async def test_what_is_cut_short_by_a_stop_goes_on_at_the_next_start(database_url: str) -> None:
    began = asyncio.Event()
    steps: list[str] = []
    hold = True

    async def work(workflow_id: str) -> str:
        async def first() -> int:
            steps.append("first")
            return 1

        async def second() -> int:
            began.set()
            if hold:
                await asyncio.Event().wait()
            steps.append("second")
            return 2

        await step("first", first)
        await step("second", second)
        return "ok"

    async with made(database_url) as engine:
        await engine.database.run(engine.enqueue, "work", "w1", "p")
        await engine.launch({"work": work})
        await began.wait()
        await engine.stop(0)
        assert await engine.is_open("w1")
        assert not await engine.is_served()
        hold = False
        async with _another(engine) as heir:
            await heir.launch({"work": work})
            await done(heir)
    assert steps == ["first", "second"]


@asynccontextmanager
async def _another(engine: Engine) -> AsyncIterator[Engine]:
    """An engine of another process over the same database."""
    other = Engine(engine.database)
    other.beat_seconds = 0.1
    try:
        yield other
    finally:
        await other.stop(0)
        other.close()


async def test_the_loop_can_still_use_threads_after_a_stop(database_url: str) -> None:
    async with made(database_url) as engine:
        await engine.launch({})
        await engine.stop(0)
        assert await asyncio.to_thread(lambda: 1) == 1


async def test_one_process_runs_on_a_sqlite_file(fresh_sqlite: str) -> None:
    async with made(fresh_sqlite) as engine, _another(engine) as other:
        await engine.launch({})
        assert await other.is_served()
        with pytest.raises(AnotherRuns):
            await other.launch({})


async def test_work_of_a_dead_process_is_taken_over_and_of_a_living_one_is_not(fresh_postgres: str) -> None:
    ran: list[str] = []

    async def work(workflow_id: str) -> str:
        ran.append(workflow_id)
        return "ok"

    def belongs(session: Session) -> None:
        for workflow_id, executor in (("w1", "w-dead"), ("w2", "w-living")):
            session.execute(
                text(
                    "UPDATE dbos.workflow_status SET status = 'PENDING', executor_id = :executor"
                    " WHERE workflow_uuid = :workflow"
                ),
                {"executor": executor, "workflow": workflow_id},
            )

    async with made(fresh_postgres) as engine:
        for name in ("w1", "w2"):
            await engine.database.run(engine.enqueue, "work", name, name)
        await engine.database.run(belongs)
        await engine.database.run(workers.beat, "w-living")
        await engine.launch({"work": work})
        while await engine.is_open("w1"):
            await asyncio.sleep(0.05)
        assert ran == ["w1"]
        assert await engine.is_open("w2")


async def test_a_process_that_was_frozen_too_long_begins_its_work_again(fresh_postgres: str) -> None:
    began: list[int] = []

    async def work(workflow_id: str) -> str:
        async def hangs_at_first() -> int:
            began.append(1)
            if len(began) == 1:
                await asyncio.Event().wait()
            return 1

        await step("hangs", hangs_at_first)
        return "ok"

    async with made(fresh_postgres) as engine:
        engine.dead_after = timedelta(seconds=5)
        await engine.database.run(engine.enqueue, "work", "w1", "p")
        await engine.launch({"work": work})
        while not began:
            await asyncio.sleep(0.02)
        engine._seen -= 10
        await done(engine)
        assert engine.is_current
    assert len(began) == 2
