"""The durable engine: workflows whose steps are recorded, so that they go on after a crash.

The only importer of DBOS. Its rows hold ids and numbers, never words: workflows take ids, steps return ids,
counts and codes, and what a step raises is reduced to a code.
"""

import asyncio
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from dbos import DBOS, DBOSClient, DBOSConfig, DBOSPortableJSONSerializer
from sqlalchemy.orm import Session

from bot.connections import connections
from bot.errors import BotError
from bot.workers import Alone, ProcessLock, beat, forget, living, may_take_over, someone_lives
from memory.database import Database
from memory.errors import StoreBusy, StoreUnreachable

T = TypeVar("T")
Handler = Callable[..., Awaitable[str]]
Watch = Callable[[], Awaitable[None]]

log = logging.getLogger("teambot.engine")

VERSION = "1"
"""Pinned: the default is a hash of the sources, which would strand running turns at every edit."""
TURNS = "turns"
LATER = "later"
POLL_SECONDS = {TURNS: 0.1, LATER: 0.5}
CONCURRENCY = {TURNS: 50, LATER: 8}
DEAD_AFTER = timedelta(seconds=20)
BEAT_SECONDS = 4.0
WATCH_SECONDS = 30.0
SWEEP_SECONDS = 3_600.0
STORE_TRIES = 6
MOST_RECOVERIES = 20
"""A workflow that was running in so many crashes is not begun again: it may be what crashes."""
KEEP = timedelta(days=3)
OPEN = ("PENDING", "ENQUEUED", "DELAYED")
CANCEL_SECONDS = 10.0


class Broken(Exception):
    """What the engine keeps of an error: its kind and place, nobody's words."""


class _Program:
    """What workflows of this process run (the engine's registry is one a process, too)."""

    def __init__(self) -> None:
        self.handlers: dict[str, Handler] = {}
        self.tasks: set[asyncio.Task[Any]] = set()
        self.stopping = False


_program = _Program()


@DBOS.workflow(name="work", max_recovery_attempts=MOST_RECOVERIES)
async def _work(kind: str, arguments: list[str]) -> str:
    """Every workflow of teambot: dispatched by kind, so that handlers may be made with what they need."""
    if _program.stopping:
        # Left as it is, for the next start: an engine that drains still hands out work.
        raise asyncio.CancelledError
    task = asyncio.current_task()
    assert task is not None
    _program.tasks.add(task)
    try:
        return await _program.handlers[kind](str(DBOS.workflow_id), *arguments)
    except Broken:
        raise
    except Exception as error:
        raise Broken(told(error)) from None
    finally:
        _program.tasks.discard(task)


async def step(name: str, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Runs `work` once and records what it returns (ids and numbers); a finished step is not run again.

    A store that is locked or away for a while is waited for.
    """

    async def recorded() -> T:
        for attempt in range(STORE_TRIES):
            try:
                return await work()
            except (StoreBusy, StoreUnreachable) as error:
                log.warning("step %s waits for the store: %s", name, type(error).__name__)
                if attempt + 1 == STORE_TRIES:
                    raise Broken(told(error)) from None
                await asyncio.sleep(2**attempt)
            except Exception as error:
                log.error("step %s failed: %s", name, told(error))
                raise Broken(told(error)) from None
        raise Broken(name)

    return await DBOS.run_step_async({"name": name}, recorded)


def told(error: BaseException) -> str:
    """An error's kind and where it was raised, without its message: that may hold somebody's words."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return type(error).__name__
    file = trace.tb_frame.f_code.co_filename.rpartition("/")[2]
    return f"{type(error).__name__} at {file}:{trace.tb_lineno}"


class AnotherRuns(BotError):
    """Another teambot is running on this database already."""


class Engine:
    """Workflows of one database: `enqueue` from any process, `launch` in the one that runs them.

    On SQLite a file lock admits one running process; on PostgreSQL any number run, each with its own id, and
    the living take over the work of the dead.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.executor = "local" if database.is_sqlite else f"w-{uuid.uuid4().hex[:12]}"
        self._connections = connections(database)
        self.client = DBOSClient(
            system_database_engine=self._connections, serializer=DBOSPortableJSONSerializer(), lazy=True
        )
        self._lock = ProcessLock(database.url) if database.is_sqlite else None
        self._life: asyncio.Task[None] | None = None
        self._seen = time.monotonic()
        self._lapsed = False
        self.running = False
        self.dead_after = DEAD_AFTER
        self.beat_seconds = BEAT_SECONDS
        self.watch_seconds = WATCH_SECONDS

    def prepare(self) -> None:
        """Creates or updates the engine's tables and queues; several processes may do so at once."""
        logger = logging.getLogger("dbos")
        level = logger.level
        with Alone(self.database):
            logger.setLevel(logging.WARNING)
            try:
                DBOS.migrate(self.database.url)
                for queue in (TURNS, LATER):
                    self.client.register_queue(
                        queue,
                        partition_concurrency=1,
                        worker_concurrency=CONCURRENCY[queue],
                        polling_interval_sec=POLL_SECONDS[queue],
                    )
            finally:
                logger.setLevel(level)

    def enqueue(
        self,
        session: Session,
        kind: str,
        workflow_id: str,
        partition: str,
        *arguments: str,
        queue: str = TURNS,
        delay: float | None = None,
    ) -> None:
        """Enqueues a workflow in the caller's transaction; the same id twice is one workflow."""
        options: dict[str, Any] = {
            "workflow_name": "work",
            "queue_name": queue,
            "workflow_id": workflow_id,
            "queue_partition_key": partition,
            "app_version": VERSION,
        }
        if delay is not None:
            options["delay_seconds"] = delay
        self.client.enqueue_in_transaction(session.connection(), options, kind, list(arguments))  # type: ignore[arg-type]

    async def launch(self, handlers: Mapping[str, Handler], watch: Watch | None = None) -> None:
        """Starts running workflows in this process; unfinished ones of a former run go on.

        `watch` is called at once and from then on now and again: it finds what fell through.
        """
        if self._lock is not None and not self._lock.take():
            raise AnotherRuns
        _program.handlers = dict(handlers)
        _program.stopping = False
        config: DBOSConfig = {
            "name": "teambot",
            "system_database_url": self.database.url,
            "system_database_engine": self._connections,
            "application_version": VERSION,
            "executor_id": self.executor,
            "serializer": DBOSPortableJSONSerializer(),
            "log_level": "WARNING",
            "max_executor_threads": 16,
            "use_listen_notify": False,
            "run_migrations": False,
        }
        # Before the first workflow: work of a process that nobody knows would be taken for a dead one's.
        await self._beat()
        DBOS(config=config)
        DBOS.launch()
        self.running = True
        self._life = asyncio.create_task(self._live(watch))

    async def stop(self, seconds: float = 0) -> None:
        """Stops running workflows: those in flight get `seconds` to finish, the rest goes
        on at another start."""
        if self._life is not None:
            self._life.cancel()
            await asyncio.gather(self._life, return_exceptions=True)
            self._life = None
        if self.running:
            self.running = False
            _program.stopping = True
            await self._drain(seconds)
            loop = asyncio.get_running_loop()
            with ThreadPoolExecutor(1) as pool:
                await loop.run_in_executor(pool, DBOS.destroy)
            # The engine had put its own pool there, which is closed now.
            loop.set_default_executor(ThreadPoolExecutor(8))
            if not self.database.is_sqlite:
                await self.database.run(self._hand_over)
        if self._lock is not None:
            self._lock.leave()

    async def _drain(self, seconds: float) -> None:
        """Waits for what runs, then ends it where it stands: an unfinished step is not recorded."""
        end = time.monotonic() + seconds
        while _program.tasks and time.monotonic() < end:
            await asyncio.wait(_program.tasks, timeout=end - time.monotonic())
        await self._cancel()

    async def _cancel(self) -> None:
        running = set(_program.tasks)
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=CANCEL_SECONDS)

    def close(self) -> None:
        """Closes the engine's connections."""
        self.client.destroy()
        self._connections.dispose()

    async def open_of(self, workflow_ids: Sequence[str]) -> set[str]:
        """Which of these workflows are still to be done by somebody."""
        if not workflow_ids:
            return set()
        found = await self.client.list_workflows_async(
            workflow_ids=list(workflow_ids), load_input=False, load_output=False
        )
        return {status.workflow_id for status in found if status.status in OPEN}

    async def is_open(self, workflow_id: str) -> bool:
        """Whether a workflow is still to be done by somebody."""
        return workflow_id in await self.open_of([workflow_id])

    async def is_served(self) -> bool:
        """Whether some process runs workflows now."""
        if self._lock is None:
            return await self.database.read(someone_lives, self.dead_after)
        if self._lock.held or not self._lock.take():
            return True
        self._lock.leave()
        return False

    async def owed(self) -> int:
        """How many workflows are not finished."""
        found = await self.client.list_workflows_async(status=list(OPEN), load_input=False, load_output=False)
        return len(found)

    @property
    def is_current(self) -> bool:
        """Whether this process may still act for its workflows: after a long freeze others have them."""
        return self.database.is_sqlite or time.monotonic() - self._seen < self.dead_after.total_seconds()

    async def _beat(self) -> None:
        if self.database.is_sqlite:
            return
        began = time.monotonic()
        await self.database.run(beat, self.executor)
        self._seen = began

    async def _live(self, watch: Watch | None) -> None:
        watched = swept = float("-inf")
        while True:
            try:
                if not self.database.is_sqlite:
                    await self._show_life()
                if watch is not None and time.monotonic() - watched >= self.watch_seconds:
                    await watch()
                    watched = time.monotonic()
                if time.monotonic() - swept >= SWEEP_SECONDS:
                    await self._sweep()
                    swept = time.monotonic()
            except Exception as error:
                log.warning("heartbeat failed: %s", told(error))
            await asyncio.sleep(self.beat_seconds)

    async def _show_life(self) -> None:
        """One beat. Who was frozen too long gives up what others may have taken over, and begins it again."""
        if not self.is_current:
            log.warning("this process was away too long; its work begins again")
            self._lapsed = _program.stopping = True
            await self._cancel()
        await self._beat()
        if await self.database.run(self._take_over, self._lapsed):
            self._lapsed = _program.stopping = False

    def _take_over(self, session: Session, own: bool) -> bool:
        """Enqueues again what processes that are not alive have left; one process does so at a time."""
        if not may_take_over(session):
            return False
        alive = living(session, self.dead_after) - ({self.executor} if own else set())
        self._enqueue_again(lambda executor: executor not in alive)
        return True

    def _hand_over(self, session: Session) -> None:
        """Leaves what this process did not finish to others, at once."""
        self._enqueue_again(lambda executor: executor == self.executor)
        forget(session, self.executor)

    def _enqueue_again(self, theirs: Callable[[str | None], bool]) -> None:
        left = self.client.list_workflows(status="PENDING", load_input=False, load_output=False)
        for queue in (TURNS, LATER):
            ids = [row.workflow_id for row in left if row.queue_name == queue and theirs(row.executor_id)]
            if ids:
                self.client.resume_workflows(ids, queue_name=queue)

    async def _sweep(self) -> None:
        """Deletes finished workflows after some days."""
        found = await self.client.list_workflows_async(
            end_time=(datetime.now(UTC) - KEEP).isoformat(),
            status=["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"],
            limit=2_000,
            load_input=False,
            load_output=False,
        )
        if found:
            await self.client.delete_workflows_async([status.workflow_id for status in found])
