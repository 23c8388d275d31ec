"""What tests of memory start from."""

from collections.abc import Iterator

import pytest

from memory.database import Database
from tests.memory.world import World, settle


@pytest.fixture
def world(database_url: str) -> Iterator[World]:
    """The team, on each database."""
    database = Database(database_url)
    database.run_now(settle)
    yield World(database)
    database.close()
