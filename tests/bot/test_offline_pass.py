"""The offline model's memory pass, through the real pass and admission."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from bot.model import Body, Model, Response
from bot.offline import Offline
from bot.offline_pass import is_pass
from bot.pass_request import PASS_SCHEMA
from bot.remembering import PassOutcome, Reserved, remember
from bot.settings import Settings
from memory.database import Database
from memory.memories import Memory
from memory.turns import CallTag
from tests.exchange import Exchange
from tests.memory.world import World, settle

SETTINGS = Settings(home=Path(), database_url="")


@pytest.fixture
def world(fresh_sqlite: str) -> Iterator[World]:
    """The team."""
    database = Database(fresh_sqlite)
    database.run_now(settle)
    yield World(database)
    database.close()


class Free:
    """Costs nothing."""

    async def __call__(self, tag: CallTag, body: Body, model: Model) -> Reserved:
        assert body["model"] == "offline"
        return self

    async def settle(self, response: Response) -> None:
        assert response.content

    async def release(self) -> None:
        raise AssertionError("nothing failed")


def learnt(world: World, name: str, channel: str, text: str) -> list[tuple[str, str]]:
    """What the pass keeps of a message: texts and audiences."""
    exchange = Exchange(world, channel)
    exchange.say(name, text)
    outcome: PassOutcome = asyncio.run(
        remember(world.database, Offline(), SETTINGS, exchange.turn_id, Free())
    )
    rows = world.read(
        lambda session: session.scalars(select(Memory).where(Memory.id.in_(outcome.added))).all()
    )
    return [(row.text, row.audience) for row in rows]


def test_it_knows_its_own_schema() -> None:
    assert is_pass(PASS_SCHEMA)
    assert not is_pass({})


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("I prefer short answers.", "Ada prefers short answers."),
        ("I'm a vegetarian", "Ada is a vegetarian."),
        ("I am the head of design!", "Ada is the head of design."),
        ("Hello there. I live in Lisbon.", "Ada lives in Lisbon."),
        ("I work on the mobile app", "Ada works on the mobile app."),
        ("my favourite editor is Vim", "Ada's favourite editor is Vim."),
    ],
)
def test_plain_statements_about_oneself_are_kept(world: World, text: str, kept: str) -> None:
    assert learnt(world, "ada", "general", text) == [(kept, "team")]


@pytest.mark.parametrize(
    "text",
    [
        "Am I a vegetarian?",
        "I prefer tea, or do I?",
        "I am in Berlin tomorrow",
        "I'm sure",
        "I'm just looking",
        "> I prefer short answers.",
        "remember: we deploy on Tuesdays",
        "We deploy on Tuesdays",
    ],
)
def test_anything_else_is_not(world: World, text: str) -> None:
    assert learnt(world, "ada", "general", text) == []


def test_keep_it_to_yourself_is_heard(world: World) -> None:
    own = f"person:{world.person('ada')}"
    assert learnt(world, "ada", "general", "I like green tea, but keep it to yourself.") == [
        ("Ada likes green tea.", own)
    ]


def test_a_newer_value_replaces_the_older(world: World) -> None:
    learnt(world, "ada", "dm", "My favourite editor is Vim.")
    learnt(world, "ada", "dm", "My favourite editor is Emacs.")
    rows = world.read(lambda session: session.scalars(select(Memory).order_by(Memory.seq)).all())
    assert [(row.text, row.status) for row in rows] == [
        ("Ada's favourite editor is Vim.", "superseded"),
        ("Ada's favourite editor is Emacs.", "active"),
    ]
