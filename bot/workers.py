"""Workers: processes that run workflows, and which of them live. One clock judges: the database's."""

import fcntl
import os
import time
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Any

from sqlalchemy import Interval, delete, func, literal, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from memory.database import Database
from memory.turns import Worker

MIGRATING = 7_316_402_119
TAKING_OVER = MIGRATING + 1


def beat(session: Session, executor: str) -> None:
    """Says that a process lives (PostgreSQL; on SQLite a file lock says so)."""
    row = insert(Worker).values(id=executor, seen_at=func.clock_timestamp())
    session.execute(
        row.on_conflict_do_update(index_elements=[Worker.id], set_={"seen_at": row.excluded.seen_at})
    )


def forget(session: Session, executor: str) -> None:
    """A process that ended in order is not waited for."""
    session.execute(delete(Worker).where(Worker.id == executor))


def living(session: Session, dead_after: timedelta) -> set[str]:
    """Processes that were seen lately; rows of those long gone are removed."""
    session.execute(delete(Worker).where(Worker.seen_at < _ago(dead_after * 20)))
    return set(session.scalars(select(Worker.id).where(Worker.seen_at > _ago(dead_after))))


def someone_lives(session: Session, dead_after: timedelta) -> bool:
    """Whether any process runs workflows now."""
    return session.scalar(select(Worker.id).where(Worker.seen_at > _ago(dead_after)).limit(1)) is not None


def may_take_over(session: Session) -> bool:
    """Whether this transaction is the one that takes over the work of the dead."""
    return bool(session.scalar(text("SELECT pg_try_advisory_xact_lock(:key)"), {"key": TAKING_OVER}))


def _ago(span: timedelta) -> Any:
    return func.clock_timestamp() - literal(span, Interval)


class ProcessLock:
    """The one process that runs workflows on a SQLite file."""

    def __init__(self, url: str) -> None:
        self.path = lock_path(url)
        self._file: int | None = None

    @property
    def held(self) -> bool:
        """Whether this process has it."""
        return self._file is not None

    def take(self) -> bool:
        """Takes the lock, if no other process has it."""
        if self._file is not None:
            return True
        file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
            return False
        self._file = file
        return True

    def leave(self) -> None:
        """Gives it back."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def lock_path(url: str) -> Path:
    """The lock beside a SQLite file."""
    return Path(url.removeprefix("sqlite:///") + ".lock")


class Alone:
    """One process at a time: a file lock on SQLite, an advisory lock on PostgreSQL."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def __enter__(self) -> None:
        if self.database.is_sqlite:
            path = str(lock_path(self.database.url)) + ".migrate"
            self.file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(self.file, fcntl.LOCK_EX)
            return
        # Asked for again and again, outside a transaction: the engine's migrations build indexes, which
        # wait for every open transaction, one that waits for a lock included.
        self.connection = self.database.writing.connect().execution_options(isolation_level="AUTOCOMMIT")
        while not self.connection.scalar(text("SELECT pg_try_advisory_lock(:key)"), {"key": MIGRATING}):
            time.sleep(0.1)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.database.is_sqlite:
            os.close(self.file)
        else:
            self.connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": MIGRATING})
            self.connection.close()
