"""The database: two engines, one transaction per call, in threads of our own."""

import asyncio
import functools
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import DateTime, Dialect, Engine, MetaData, Text, create_engine, delete, event, make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import DeclarativeBase, Session
from sqlalchemy.pool import QueuePool
from sqlalchemy.types import TypeDecorator

from memory.errors import StoreBusy, StoreContended, StoreError, StoreFull, StoreReadOnly, StoreUnreachable
from memory.words import clean

P = ParamSpec("P")
T = TypeVar("T")

BUSY_MS = 30_000
READERS = 4
WAL_TRIES = 40
DEADLOCK_TRIES = 5
HOME = "home"
"""In `session.info`: the folder that the workspace's files lie below, where the process has one."""
UNLINK = "unlink"
"""In `session.info`: (row, folder, path) of files whose bytes go after the commit."""
SCRUB = "scrub"
"""Set in `session.info` by whatever deletes words for good: the write-ahead log is emptied after commit."""


class Base(DeclarativeBase):
    """Every table."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class Moment(TypeDecorator[datetime]):
    """An instant: aware in, UTC in the table, aware UTC out, on both databases."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a moment needs a time zone")
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Words(TypeDecorator[str]):
    """Text that people or models wrote: cleaned at this one write point."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else clean(value)


Clock = Callable[[], datetime]
_clocks: list[Clock] = []


def now() -> datetime:
    """The current instant in UTC."""
    return _clocks[-1]() if _clocks else datetime.now(UTC)


def set_clock(clock: Clock | None) -> None:
    """Lets benchmarks and tests say what time it is; None gives the machine's clock back."""
    _clocks[:] = [] if clock is None else [clock]


class Database:
    """Runs functions of a `Session` in a thread, each in one transaction.

    `run` writes (BEGIN IMMEDIATE on SQLite, so a writer never starts from a stale snapshot), `read` only
    reads. Measured reasons: a writing pool of 1 and WAL keep SQLite's p99 low under load.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.home: Path | None = None
        self.is_sqlite = make_url(url).get_backend_name() == "sqlite"
        self.writing = _sqlite_engine(url, 1, "BEGIN IMMEDIATE") if self.is_sqlite else _postgres_engine(url)
        self.reading = (
            _sqlite_engine(url, READERS, "BEGIN", readonly=True) if self.is_sqlite else self.writing
        )
        self._writers = ThreadPoolExecutor(1 if self.is_sqlite else READERS, thread_name_prefix="write")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="read")

    async def run(self, work: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`work(session, …)` in a thread, committed as a whole or not at all."""
        call = functools.partial(self.run_now, work, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._writers, call)

    async def read(self, work: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`work(session, …)` in a thread, in one reading transaction."""
        call = functools.partial(self.read_now, work, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._readers, call)

    async def apart(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Anything that takes its time, in a thread of ours and without a transaction."""
        call = functools.partial(work, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._readers, call)

    def run_now(self, work: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`run` without a thread: for commands, tests and code that is in a thread already.

        What PostgreSQL ends as a deadlock is undone as a whole, and tried again.
        """
        for attempt in range(DEADLOCK_TRIES):
            try:
                with spoken_errors():
                    return self._run_once(work, *args, **kwargs)
            except StoreContended:
                if attempt + 1 == DEADLOCK_TRIES:
                    raise
                time.sleep(0.02 * 2**attempt)
        raise StoreContended

    def _run_once(self, work: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        with Session(self.writing, expire_on_commit=False, info={HOME: self.home}) as session:
            with session.begin():
                result = work(session, *args, **kwargs)
            if session.info.get(UNLINK) and self.home is not None:
                self._unlink(session, self.home)
            if self.is_sqlite and session.info.get(SCRUB):
                self._empty_wal(session)
            return result

    def read_now(self, work: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`read` without a thread."""
        options: dict[str, Any] = {"expire_on_commit": False, "autoflush": False, "info": {HOME: self.home}}
        with spoken_errors(), Session(self.reading, **options) as session:
            return work(session, *args, **kwargs)

    def _unlink(self, session: Session, home: Path) -> None:
        """Takes the bytes of files away that are gone by their rows, then the rows."""
        from memory.files import WorkspaceFile, unlink

        done = unlink(home, session.info[UNLINK])
        with session.begin():
            session.execute(delete(WorkspaceFile).where(WorkspaceFile.id.in_(done)))

    def _empty_wal(self, session: Session) -> None:
        """Moves the write-ahead log into the file and cuts it, so that forgotten bytes are nowhere."""
        raw = session.connection().connection.dbapi_connection
        session.rollback()
        assert raw is not None
        for _ in range(WAL_TRIES):
            busy = raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            if not busy:
                return
            time.sleep(0.05)

    def close(self) -> None:
        """Waits for running work and closes every connection."""
        self._writers.shutdown()
        self._readers.shutdown()
        self.writing.dispose()
        self.reading.dispose()


def _sqlite_engine(url: str, size: int, begin: str, *, readonly: bool = False) -> Engine:
    engine = create_engine(
        url,
        poolclass=QueuePool,
        pool_size=size,
        max_overflow=0,
        pool_timeout=BUSY_MS / 1000,
        hide_parameters=True,
        connect_args={"check_same_thread": False, "isolation_level": None, "timeout": BUSY_MS / 1000},
    )

    @event.listens_for(engine, "connect")
    def configure(connection: sqlite3.Connection, _: object) -> None:
        prepare_sqlite(connection)
        if readonly:
            connection.execute("PRAGMA query_only=ON")

    @event.listens_for(engine, "begin")
    def start(connection: Any) -> None:
        connection.exec_driver_sql(begin)

    return engine


def prepare_sqlite(connection: sqlite3.Connection) -> None:
    """The settings of every SQLite connection: WAL, full sync, foreign keys, deleted bytes overwritten."""
    connection.execute(f"PRAGMA busy_timeout={BUSY_MS}")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA secure_delete=ON")


def _postgres_engine(url: str) -> Engine:
    return create_engine(url, pool_size=READERS * 2, max_overflow=4, pool_pre_ping=True, hide_parameters=True)


_SPOKEN: tuple[tuple[str, type[StoreError]], ...] = (
    ("deadlock", StoreContended),
    ("could not serialize", StoreContended),
    ("locked", StoreBusy),
    ("readonly", StoreReadOnly),
    ("read-only", StoreReadOnly),
    ("full", StoreFull),
    ("No space left", StoreFull),
    ("disk I/O", StoreFull),
    ("unable to open", StoreUnreachable),
    ("not a database", StoreUnreachable),
    ("connection", StoreUnreachable),
)


@contextmanager
def spoken_errors() -> Iterator[None]:
    """Turns what a database driver raises into sentences for people."""
    try:
        yield
    except DBAPIError as error:
        message = str(error.orig)
        for mark, spoken in _SPOKEN:
            if mark in message:
                raise spoken() from error
        raise
