"""The durable engine: workflows whose steps are recorded, so that they go on after a crash.

The only importer of DBOS. Its rows hold ids and numbers, never words: workflows take ids, steps return ids,
counts and codes, and no step raises with a message of somebody's.
"""

import asyncio
import fcntl
import logging
import os
import time
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from dbos import DBOS, DBOSClient, DBOSConfig, DBOSPortableJSONSerializer
from sqlalchemy import Engine as Connections
from sqlalchemy import create_engine, delete, event, select, text
from sqlalchemy.orm import Session
from sqlalchemy.pool import QueuePool

from bot.errors import BotError
from memory.database import BUSY_MS, Database, now, prepare_sqlite
from memory.turns import Worker

T = TypeVar("T")
Handler = Callable[..., Awaitable[str]]

VERSION = "1"
"""Pinned: the default is a hash of the sources, which would strand running turns at every edit."""
TURNS = "turns"
LATER = "later"
POLL_SECONDS = {TURNS: 0.1, LATER: 0.5}
CONCURRENCY = {TURNS: 50, LATER: 8}
DEAD_AFTER = timedelta(seconds=30)
BEAT_SECONDS = 5.0
KEEP = timedelta(days=3)
OPEN = ("PENDING", "ENQUEUED", "DELAYED")
MIGRATING = 7_316_402_119

_handlers: dict[str, Handler] = {}


@DBOS.workflow(name="work")
async def _work(kind: str, arguments: list[str]) -> str:
    """Every workflow of teambot: dispatched by kind, so that handlers may be made with what they need."""
    return await _handlers[kind](str(DBOS.workflow_id), *arguments)


async def step(name: str, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Runs `work` once and records what it returns (ids and numbers); a finished step is not run again."""

    async def recorded() -> T:
        return await work()

    return await DBOS.run_step_async({"name": name}, recorded)


async def pause(seconds: float) -> None:
    """Sleeps within a workflow; a restart does not start the sleep anew."""
    await DBOS.sleep_async(seconds)


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
        self._connections = _sqlite(database.url) if database.is_sqlite else _postgres(database.url)
        self._client: DBOSClient | None = None
        self._lock: int | None = None
        self._beat: asyncio.Task[None] | None = None
        self.running = False

    @property
    def client(self) -> DBOSClient:
        """The way into the engine's tables."""
        if self._client is None:
            self._client = DBOSClient(
                system_database_engine=self._connections, serializer=DBOSPortableJSONSerializer()
            )
        return self._client

    def prepare(self) -> None:
        """Creates or updates the engine's tables and queues; several processes may do so at once."""
        with _alone(self.database):
            migrations = logging.getLogger("dbos").level
            logging.getLogger("dbos").setLevel(logging.WARNING)
            DBOS.migrate(self.database.url)
            for queue in (TURNS, LATER):
                self.client.register_queue(
                    queue,
                    partition_concurrency=1,
                    worker_concurrency=CONCURRENCY[queue],
                    polling_interval_sec=POLL_SECONDS[queue],
                )
            logging.getLogger("dbos").setLevel(migrations)

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

    def try_lock(self) -> bool:
        """Whether this process may run workflows now (always on PostgreSQL)."""
        if not self.database.is_sqlite or self._lock is not None:
            return True
        file = os.open(_lock_path(self.database.url), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
            return False
        self._lock = file
        return True

    async def launch(self, handlers: Mapping[str, Handler]) -> None:
        """Starts running workflows in this process; unfinished ones of a former run go on."""
        if not self.try_lock():
            raise AnotherRuns
        _handlers.clear()
        _handlers.update(handlers)
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
        DBOS(config=config)
        DBOS.launch()
        self.running = True
        self._beat = asyncio.create_task(self._live())

    async def stop(self, seconds: int = 0) -> None:
        """Stops running workflows, after waiting for those in flight for at most `seconds`."""
        if self._beat is not None:
            self._beat.cancel()
            await asyncio.gather(self._beat, return_exceptions=True)
        if self.running:
            self.running = False
            await self.database.run(_forget_worker, self.executor)
            await asyncio.get_running_loop().run_in_executor(None, _destroy, seconds)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def close(self) -> None:
        """Closes the engine's connections."""
        if self._client is not None:
            self._client.destroy()
            self._client = None
        self._connections.dispose()

    async def is_open(self, workflow_id: str) -> bool:
        """Whether a workflow is still to be done by somebody."""
        found = await self.client.list_workflows_async(
            workflow_ids=[workflow_id], load_input=False, load_output=False
        )
        return any(status.status in OPEN for status in found)

    async def is_served(self) -> bool:
        """Whether some process runs workflows now."""
        if self.database.is_sqlite:
            free = self._lock is None and self.try_lock()
            if free and self._lock is not None:
                os.close(self._lock)
                self._lock = None
            return not free
        return await self.database.read(_someone_lives)

    async def owed(self) -> int:
        """How many workflows are not finished."""
        found = await self.client.list_workflows_async(status=list(OPEN), load_input=False, load_output=False)
        return len(found)

    async def _live(self) -> None:
        while True:
            try:
                await self.database.run(_beat, self.executor)
                if not self.database.is_sqlite:
                    await self._take_over()
                await self._sweep()
            except Exception as error:
                logging.getLogger("teambot.engine").warning("heartbeat failed: %s", type(error).__name__)
            await asyncio.sleep(BEAT_SECONDS)

    async def _take_over(self) -> None:
        """Resumes what dead processes left; an advisory lock lets one of the living do it."""
        dead = await self.database.run(_dead_workers)
        if not dead:
            return
        left = await self.client.list_workflows_async(
            status="PENDING", executor_id=dead, load_input=False, load_output=False
        )
        for queue in (TURNS, LATER):
            ids = [status.workflow_id for status in left if status.queue_name == queue]
            if ids:
                await self.client.resume_workflows_async(ids, queue_name=queue)
        await self.database.run(_bury, dead)

    async def _sweep(self) -> None:
        """Deletes finished workflows after some days."""
        before = (datetime.now(UTC) - KEEP).isoformat()
        found = await self.client.list_workflows_async(
            end_time=before,
            status=["SUCCESS", "ERROR", "CANCELLED"],
            limit=500,
            load_input=False,
            load_output=False,
        )
        if found:
            await self.client.delete_workflows_async([status.workflow_id for status in found])


def _destroy(seconds: int) -> None:
    DBOS.destroy(workflow_completion_timeout_sec=seconds)


def _beat(session: Session, executor: str) -> None:
    session.merge(Worker(id=executor, seen_at=now()))


def _forget_worker(session: Session, executor: str) -> None:
    session.execute(delete(Worker).where(Worker.id == executor))


def _someone_lives(session: Session) -> bool:
    return session.scalar(select(Worker.id).where(Worker.seen_at > now() - DEAD_AFTER).limit(1)) is not None


def _dead_workers(session: Session) -> list[str]:
    if not session.scalar(text("SELECT pg_try_advisory_xact_lock(:key)"), {"key": MIGRATING + 1}):
        return []
    return list(session.scalars(select(Worker.id).where(Worker.seen_at < now() - DEAD_AFTER)))


def _bury(session: Session, dead: list[str]) -> None:
    session.execute(delete(Worker).where(Worker.id.in_(dead), Worker.seen_at < now() - DEAD_AFTER))


def _lock_path(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///") + ".lock")


class _alone:  # noqa: N801
    """One process at a time: a file lock on SQLite, an advisory lock on PostgreSQL."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def __enter__(self) -> None:
        if self.database.is_sqlite:
            self.file = os.open(
                str(_lock_path(self.database.url)) + ".migrate", os.O_RDWR | os.O_CREAT, 0o600
            )
            fcntl.flock(self.file, fcntl.LOCK_EX)
        else:
            # Asked for again and again, outside a transaction: the engine's migrations build indexes, which
            # wait for every open transaction, one that waits for a lock included.
            self.connection = self.database.writing.connect().execution_options(isolation_level="AUTOCOMMIT")
            while not self.connection.scalar(text("SELECT pg_try_advisory_lock(:key)"), {"key": MIGRATING}):
                time.sleep(0.1)

    def __exit__(self, *_: object) -> None:
        if self.database.is_sqlite:
            os.close(self.file)
        else:
            self.connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": MIGRATING})
            self.connection.close()


def _sqlite(url: str) -> Connections:
    """The engine's own connections to the SQLite file. A `begin` event, as ours have, breaks its migrations."""
    engine = create_engine(
        url,
        poolclass=QueuePool,
        pool_size=2,
        max_overflow=0,
        pool_timeout=BUSY_MS / 1000,
        hide_parameters=True,
        connect_args={"check_same_thread": False, "isolation_level": "IMMEDIATE", "timeout": BUSY_MS / 1000},
    )
    event.listens_for(engine, "connect")(lambda connection, _: prepare_sqlite(connection))
    return engine


def _postgres(url: str) -> Connections:
    return create_engine(url, pool_size=6, max_overflow=4, pool_pre_ping=True, hide_parameters=True)
