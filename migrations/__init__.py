"""The schema's history, and the one call that brings a database up to date."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from memory.database import Database, spoken_errors
from memory.errors import StoreNewer, StoreOutdated

ROOT = Path(__file__).parent
LOCK = 7_316_402_118


def configuration() -> Config:
    """Alembic's configuration, usable from any folder."""
    config = Config()
    config.set_main_option("script_location", str(ROOT))
    return config


def migrate(database: Database, target: str = "head") -> None:
    """Brings the schema to `target` behind a lock, so that several processes may start at once.

    PostgreSQL: an advisory lock and one transaction. SQLite: BEGIN IMMEDIATE is the lock and makes DDL
    transactional; foreign keys are off meanwhile, because rebuilding a parent table would delete its
    children, and checked afterwards.
    """
    with spoken_errors(), database.writing.connect() as connection:
        if database.is_sqlite:
            connection.connection.dbapi_connection.execute("PRAGMA foreign_keys=OFF")  # type: ignore[union-attr]
        try:
            with connection.begin():
                if not database.is_sqlite:
                    connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
                _refuse_newer(MigrationContext.configure(connection).get_current_revision())
                config = configuration()
                config.attributes["connection"] = connection
                run = (
                    command.downgrade if target != "head" and not target.startswith("+") else command.upgrade
                )
                run(config, target)
                if database.is_sqlite and connection.exec_driver_sql("PRAGMA foreign_key_check").first():
                    raise RuntimeError("a migration broke references between tables; it was undone")
        finally:
            if database.is_sqlite:
                connection.connection.dbapi_connection.execute("PRAGMA foreign_keys=ON")  # type: ignore[union-attr]


def check(database: Database) -> None:
    """Raises unless the schema is exactly the one of this code."""
    with spoken_errors(), database.reading.connect() as connection:
        current = MigrationContext.configure(connection).get_current_revision()
    _refuse_newer(current)
    if current != head():
        raise StoreOutdated()


def head() -> str | None:
    """The newest revision of this code."""
    return ScriptDirectory.from_config(configuration()).get_current_head()


def _refuse_newer(current: str | None) -> None:
    known = {script.revision for script in ScriptDirectory.from_config(configuration()).walk_revisions()}
    if current is not None and current not in known:
        raise StoreNewer()
