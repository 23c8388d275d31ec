"""Migrations: up and down with rows in the tables, many at once, never over a newer database."""

import subprocess
import sys
from typing import Any

import pytest
from alembic import command
from sqlalchemy import inspect, text

import memory.tables  # noqa: F401
from bot.engine import Engine
from bot.seeding import seed
from memory.database import Base, Database, now
from memory.errors import StoreNewer, StoreOutdated
from migrations import check, configuration, migrate


def rows(database: Database) -> dict[str, int]:
    with database.reading.connect() as connection:
        return {
            table.name: connection.execute(text(f"SELECT count(*) FROM {table.name}")).scalar_one()
            for table in Base.metadata.sorted_tables
        }


def fill(session: Any) -> None:
    """At least one row in every table, through plain inserts made from the columns' types."""
    session.execute(text("SELECT 1"))
    seed(session, local_people=True)
    known = {"team_id": "teams", "bot_id": "bots", "place_id": "places", "person_id": "persons"}
    first: dict[str, Any] = {}
    for table in Base.metadata.sorted_tables:
        key = next(iter(table.primary_key.columns))
        found = session.execute(text(f"SELECT {key.name} FROM {table.name} LIMIT 1")).scalar()
        if found is not None:
            first[table.name] = found
            continue
        values: dict[str, Any] = {}
        for column in table.columns:
            target = (
                next(iter(column.foreign_keys)).column.table.name
                if column.foreign_keys
                else known.get(column.name)
            )
            if target and first.get(target) is not None:
                values[column.name] = first[target]
            elif column.nullable or column.autoincrement is True or column.name == "seq":
                continue
            else:
                values[column.name] = sample(column)
        session.execute(table.insert().values(values))
        first[table.name] = session.execute(text(f"SELECT {key.name} FROM {table.name} LIMIT 1")).scalar()


def sample(column: Any) -> Any:
    kind = column.type.python_type if column.type.__class__.__name__ not in ("Moment", "Words") else None
    if column.type.__class__.__name__ == "Moment":
        return now()
    if column.type.__class__.__name__ == "Words" or kind is str:
        return "words"
    if column.type.__class__.__name__ == "JSON":
        return {}
    if kind is bytes:
        return b"x"
    return kind(1) if kind else 1


def test_the_models_are_what_the_migrations_make(database_url: str) -> None:
    database = Database(database_url)
    with database.writing.connect() as connection, connection.begin():
        config = configuration()
        config.attributes["connection"] = connection
        command.check(config)
    database.close()


def test_every_table_that_holds_words_carries_team_and_audience() -> None:
    without = {"teams", "workspaces", "persons", "accounts", "places"}
    """Names and labels only: nobody's words."""
    for table in Base.metadata.sorted_tables:
        wordy = any(column.type.__class__.__name__ == "Words" for column in table.columns)
        if wordy and table.name not in without:
            assert "team_id" in table.columns, table.name
            assert "audience" in table.columns, table.name
        if "author_id" in table.columns:
            assert "account_id" in table.columns, table.name


def test_down_and_up_again_with_rows_in_every_table(empty_database_url: str) -> None:
    database = Database(empty_database_url)
    migrate(database)
    database.run_now(fill)
    before = rows(database)
    assert all(before.values()), before
    newest = _revisions()[-1]
    for revision in reversed(_revisions()[:-1]):
        migrate(database, revision)
        assert inspect(database.writing).has_table("memories") == (revision != "base")
    migrate(database)
    check(database)
    kept = rows(database)
    assert {name: kept[name] for name in ("persons", "entries", "memories")} == {
        name: before[name] for name in ("persons", "entries", "memories")
    }
    assert newest
    migrate(database, "base")
    assert not inspect(database.writing).has_table("memories")
    migrate(database)
    check(database)
    database.close()


def _revisions() -> list[str]:
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory.from_config(configuration()).walk_revisions()
    return [script.revision for script in reversed(list(scripts))]


def test_a_rebuilt_parent_keeps_its_children_and_the_index(empty_database_url: str) -> None:
    database = Database(empty_database_url)
    migrate(database)
    database.run_now(fill)
    before = rows(database)
    with database.writing.connect() as connection:
        if database.is_sqlite:
            connection.connection.dbapi_connection.execute("PRAGMA foreign_keys=OFF")  # type: ignore[union-attr]
        with connection.begin():
            _rebuild(connection)
        if database.is_sqlite:
            connection.connection.dbapi_connection.execute("PRAGMA foreign_keys=ON")  # type: ignore[union-attr]
            assert connection.exec_driver_sql("PRAGMA foreign_key_check").first() is None
    assert rows(database) == before
    database.close()


def _rebuild(connection: Any) -> None:
    from alembic.migration import MigrationContext
    from alembic.operations import Operations

    with Operations(MigrationContext.configure(connection)).batch_alter_table(
        "bots", recreate="auto"
    ) as batch:
        batch.alter_column("title", nullable=True)


def test_several_processes_may_migrate_at_once(empty_database_url: str) -> None:
    code = (
        "import sys; from memory.database import Database; from migrations import migrate; "
        "from bot.engine import Engine; d=Database(sys.argv[1]); migrate(d); Engine(d).prepare()"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", code, empty_database_url], stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    for process in started:
        _, error = process.communicate(timeout=120)
        assert process.returncode == 0, error.decode()[-2000:]
    database = Database(empty_database_url)
    check(database)
    database.close()


def test_a_database_of_a_newer_version_is_left_alone(database_url: str) -> None:
    database = Database(database_url)
    with database.writing.connect() as connection, connection.begin():
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreNewer, match="newer"):
        migrate(database)
    with pytest.raises(StoreNewer):
        check(database)
    database.close()


def test_an_empty_database_is_called_outdated(empty_database_url: str) -> None:
    database = Database(empty_database_url)
    with pytest.raises(StoreOutdated, match="migrate"):
        check(database)
    database.close()


def test_the_engine_prepares_its_tables_twice_without_harm(database_url: str) -> None:
    database = Database(database_url)
    for _ in range(2):
        engine = Engine(database)
        engine.prepare()
        engine.close()
    database.close()
