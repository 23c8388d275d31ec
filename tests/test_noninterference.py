"""Noninterference: whatever anybody says, types or changes, and whatever the model does, nobody gets to see a
word that is not for them.

Random dialogues with a word of its own in every message, a hostile model, and a world that changes in the
middle of turns; an oracle that knows nothing of the program says who may see what.
"""

import asyncio
import itertools
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

from tests.audience.driver import Drama
from tests.audience.script import PEOPLE, PLACES, Op, scripts
from tests.stand_ins import postgres

FULL = os.environ.get("TEAMBOT_PROPERTY") == "full"
SHRUNK = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)
probes = st.lists(
    st.tuples(st.sampled_from(PEOPLE), st.sampled_from(("dm", *PLACES))), min_size=2, max_size=3
)


def played(url: str, script: list[Op], looks: list[tuple[str, str]]) -> Drama:
    """A dialogue from its first word to the last look."""

    async def play() -> Drama:
        drama = Drama(url)
        try:
            await drama.play(script)
            for who, where in looks:
                await drama.look(who, where)
            await drama.interrogate(looks)
            await drama.exports()
        finally:
            drama.close()
        return drama

    return asyncio.run(play())


numbers = itertools.count()


@settings(
    max_examples=2_000 if FULL else 24,
    phases=SHRUNK if FULL else (Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
@given(script=scripts(), looks=probes)
def test_nobody_sees_a_word_that_is_not_for_them(
    migrated_sqlite: Path,
    tmp_path_factory: pytest.TempPathFactory,
    script: list[Op],
    looks: list[tuple[str, str]],
) -> None:
    folder = tmp_path_factory.getbasetemp() / f"dialogue-{next(numbers)}"
    folder.mkdir()
    try:
        drama = played(f"sqlite:///{shutil.copy(migrated_sqlite, folder / 'teambot.db')}", script, looks)
    finally:
        shutil.rmtree(folder)
    note(f"{drama.world.looked}")
    assert drama.world.leaks == []


@settings(
    max_examples=200 if FULL else 8,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
@given(script=scripts(), looks=probes)
def test_nobody_does_on_postgresql_either(
    postgres_server: postgres.Postgres, script: list[Op], looks: list[tuple[str, str]]
) -> None:
    name = postgres_server.create(postgres.MIGRATED)
    try:
        drama = played(postgres_server.url(name), script, looks)
    finally:
        postgres_server.drop(name)
    note(f"{drama.world.looked}")
    assert drama.world.leaks == []
