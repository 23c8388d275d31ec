"""What every test may ask for: databases, a browser, stand-ins."""

import os
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from playwright.async_api import BrowserContext

from memory.database import Database
from migrations import migrate
from tests.stand_ins import aimock, browser, discord_twin, emulate, postgres

settings.register_profile("small", max_examples=30, derandomize=True, deadline=None, database=None)
settings.register_profile("full", max_examples=2_000, deadline=None)
settings.load_profile("full" if os.environ.get("TEAMBOT_PROPERTY") == "full" else "small")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[postgres.Postgres]:
    """A PostgreSQL server of this run's own."""
    with postgres.running() as server:
        yield server


@pytest.fixture
def fresh_postgres(postgres_server: postgres.Postgres) -> Iterator[str]:
    """The address of a new PostgreSQL database with the current schema."""
    name = postgres_server.create(postgres.MIGRATED)
    yield postgres_server.url(name)
    postgres_server.drop(name)


@pytest.fixture
def empty_postgres(postgres_server: postgres.Postgres) -> Iterator[str]:
    """The address of a new PostgreSQL database with nothing in it."""
    name = postgres_server.create(postgres.EMPTY)
    yield postgres_server.url(name)
    postgres_server.drop(name)


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with the current schema, to copy from."""
    path = tmp_path_factory.mktemp("template") / "teambot.db"
    database = Database(f"sqlite:///{path}")
    migrate(database)
    database.close()
    return path


@pytest.fixture
def fresh_sqlite(migrated_sqlite: Path, tmp_path: Path) -> str:
    """The address of a new SQLite file with the current schema."""
    return f"sqlite:///{shutil.copy(migrated_sqlite, tmp_path / 'teambot.db')}"


@pytest.fixture
def empty_sqlite(tmp_path: Path) -> str:
    """The address of a SQLite file that does not exist yet."""
    return f"sqlite:///{tmp_path / 'teambot.db'}"


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """A new database with the current schema, on each of the two."""
    name = {"sqlite": "fresh_sqlite", "postgresql": "fresh_postgres"}[request.param]
    return str(request.getfixturevalue(name))


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_database_url(request: pytest.FixtureRequest) -> str:
    """A new database with nothing in it, on each of the two."""
    name = {"sqlite": "empty_sqlite", "postgresql": "empty_postgres"}[request.param]
    return str(request.getfixturevalue(name))


@pytest.fixture(scope="session")
def claude_server() -> Iterator[aimock.Claude]:
    """One aimock for the whole run."""
    with aimock.running() as server:
        yield server


@pytest.fixture
def claude(claude_server: aimock.Claude) -> aimock.Claude:
    """Claude's Messages API as aimock plays it, with nothing scripted yet."""
    claude_server.reset()
    return claude_server


@pytest.fixture
def slack_url() -> Iterator[str]:
    """The address of Slack's Web API as emulate plays it."""
    with emulate.running() as url:
        yield url


@pytest.fixture
def discord_server() -> Iterator[discord_twin.Discord]:
    """Discord as its twin plays it, with #general, ada and ben."""
    channels = [{"name": "general", "type": 0}]
    users = [{"username": "ada"}, {"username": "ben"}]
    with discord_twin.running(channels=channels, users=users) as server:
        yield server


@pytest.fixture
async def chromium(tmp_path: Path) -> AsyncIterator[BrowserContext]:
    """Chromium with an empty profile: `page = await chromium.new_page()`."""
    async with browser.running(tmp_path / "profile") as context:
        yield context
