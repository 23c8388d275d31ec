"""The golden set: short dialogues in eight languages, what a model proposed, and what is right to keep."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from memory.audience import of_person, of_place
from memory.database import Database
from memory.learning import pause
from memory.memories import Memory, Refusal
from memory.people import Team
from tests.exchange import Exchange, answer_of, keep_known, meanwhile, moment, place, set_zones, source
from tests.memory.world import TEAM, World, settle

FOLDER = Path(__file__).parent / "golden"
CASES: dict[str, dict[str, Any]] = {
    f"{path.stem}-{case['id']}": case
    for path in sorted(FOLDER.glob("*.json"))
    for case in json.loads(path.read_text(encoding="utf-8"))
}

SAMPLE = ("team-fact", "private", "replaced", "confirmed", "tomorrow")
"""Kinds that are played on PostgreSQL in every language; in English all of them."""


@pytest.fixture(scope="module")
def golden_sqlite(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """One SQLite database for all dialogues."""
    path = tmp_path_factory.mktemp("golden") / "teambot.db"
    path.write_bytes(migrated_sqlite.read_bytes())
    database = Database(f"sqlite:///{path}")
    yield database
    database.close()


@pytest.mark.parametrize("name", CASES)
def test_an_exchange_changes_memory_as_it_should(golden_sqlite: Database, name: str) -> None:
    play(golden_sqlite, CASES[name])


def test_exchanges_end_the_same_on_postgresql(fresh_postgres: str) -> None:
    database = Database(fresh_postgres)
    for name, case in CASES.items():
        language, _, kind = name.partition("-")
        if language == "english" or kind in SAMPLE:
            play(database, case)
    database.close()


def test_the_set_is_large_varied_and_reasoned() -> None:
    assert len(CASES) >= 150
    files = sorted(FOLDER.glob("*.json"))
    assert len(files) >= 8
    assert sum(len(json.loads(path.read_text(encoding="utf-8"))) for path in files) == len(CASES)
    assert all(len(case["why"]) > 3 for case in CASES.values())


def play(database: Database, case: dict[str, Any]) -> None:
    """One dialogue in a team of its own."""
    database.run_now(_fresh_team)
    world = World(database)
    world.run(set_zones, case.get("zone", "UTC"))
    exchange = Exchange(world, case["in"], moment(case.get("at")))
    known = [keep_known(world, row, case["in"], exchange.moment) for row in case.get("known", [])]
    for name in case.get("paused", []):
        world.run(pause, world.person(name))
    for name, text in case.get("before", []):
        exchange.say(name, text, earlier=True)
    entry, *_ = [exchange.say(name, text) for name, text in case["says"]]
    if case.get("reply"):
        exchange.reply(case["reply"])
    for row in case.get("saved", []):
        world.keep(row["by"], row["text"], case["in"], source=source(entry))
    given = exchange.given()
    expected = case["expect"]
    if expected.get("silent"):
        assert given is None, "nothing can be learnt from it, so no model is asked"
        return
    assert given is not None
    answer = case["raw"] if "raw" in case else answer_of(world, given, _proposals(case))
    for change in case.get("meanwhile", []):
        meanwhile(world, change, entry, known)
    outcome = exchange.answer(answer, given=given)
    refused_count = expected.get("refused_count", len(expected.get("refused", [])))
    assert len(outcome.refused) == refused_count, outcome
    if "refused" in expected:
        assert list(outcome.refused) == expected["refused"]
    world.read(_as_expected, world, outcome.record(), expected)


def _proposals(case: dict[str, Any]) -> list[dict[str, Any]]:
    times = case.get("times", 1)
    return [
        {**proposal, "text": proposal["text"].replace("{n}", "abcdefghij"[n % 10] * (n // 10 + 3))}
        for n in range(times)
        for proposal in case["model"]
    ]


def _fresh_team(session: Session) -> None:
    session.execute(delete(Team).where(Team.id == TEAM))
    settle(session)


def _as_expected(
    session: Session, world: World, outcome: dict[str, list[str]], expected: dict[str, Any]
) -> None:
    rows = {row.id: row for row in session.scalars(select(Memory).where(Memory.team_id == TEAM))}
    added = [rows[memory_id] for memory_id in outcome["added"]]
    assert len(added) == expected.get("added_count", len(expected.get("added", [])))
    for row, wanted in zip(added, expected.get("added", []), strict=False):
        _is(session, world, row, wanted)
    replaced = [rows[memory_id] for memory_id in outcome["replaced"]]
    assert len(replaced) == len(expected.get("replaced", []))
    for row, wanted in zip(replaced, expected.get("replaced", []), strict=True):
        _is(session, world, row, wanted)
        old = next(one for one in rows.values() if one.superseded_by == row.id)
        assert (old.text, old.status) == (wanted["was"], "superseded")
        assert old.valid_until is not None
    assert [rows[memory_id].text for memory_id in outcome["confirmed"]] == expected.get("confirmed", [])
    assert all(rows[memory_id].confirmations == 1 for memory_id in outcome["confirmed"])
    if "current" in expected:
        current = sorted(row.text for row in rows.values() if row.status == "active")
        assert current == sorted(expected["current"])
    refusals = session.scalars(select(Refusal).where(Refusal.team_id == TEAM)).all()
    assert sorted(row.reason for row in refusals) == sorted(outcome["refused"])


def _is(session: Session, world: World, row: Memory, wanted: dict[str, Any]) -> None:
    assert (row.text, row.status, row.origin) == (wanted["text"], "active", "pass")
    assert row.quote
    assert row.link
    assert row.source_id is not None
    if "audience" in wanted:
        assert row.audience == _audience(session, world, wanted["audience"])
    if "about" in wanted:
        assert row.subject == (
            wanted["about"] if wanted["about"] == "team" else world.person(wanted["about"])
        )
    if "by" in wanted:
        assert row.author_id == world.person(wanted["by"])
    if "layer" in wanted:
        assert row.layer == wanted["layer"]
    if "since" in wanted:
        assert row.valid_from == moment(wanted["since"])
    assert (row.expires_at is not None) == wanted.get("expires", False)


def _audience(session: Session, world: World, spelt: str) -> str:
    kind, _, name = spelt.partition(":")
    if kind == "person":
        return of_person(world.person(name))
    return of_place(place(session, name).id) if kind == "place" else kind
