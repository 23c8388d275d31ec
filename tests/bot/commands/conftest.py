"""What these tests start from."""

from collections.abc import Iterator

import pytest

from memory.database import Database
from tests.bot.office import Office
from tests.memory.world import settle


@pytest.fixture
def office(database_url: str) -> Iterator[Office]:
    """The team, on each database."""
    database = Database(database_url)
    database.run_now(settle)
    yield Office(database)
    database.close()
