"""The engine's own connections to the database, beside ours."""

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.pool import QueuePool

from memory.database import BUSY_MS, Database, prepare_sqlite


def connections(database: Database) -> Engine:
    """A pool for the engine's tables in our database."""
    return _sqlite(database.url) if database.is_sqlite else _postgres(database.url)


def _sqlite(url: str) -> Engine:
    """The engine's own connections to the file. A `begin` event, as ours have, breaks its migrations."""
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


def _postgres(url: str) -> Engine:
    return create_engine(url, pool_size=6, max_overflow=4, pool_pre_ping=True, hide_parameters=True)
