"""Background extraction: sealed stretches of what people said, adds only, once."""

import asyncio
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from bot import extraction
from bot.errors import ModelTimeout
from bot.extraction import MOST_MESSAGES, SILENCE, Extracted, Segment, apply, due, extract, segment
from bot.model import Body, Model, Response
from bot.pass_request import EXTRACTION_INSTRUCTIONS, parse
from bot.remembering import Reserved
from bot.settings import Settings
from bot.testing import Scripted
from memory.conversations import Conversation, Entry, Epoch
from memory.database import Database, now
from memory.learning import pause
from memory.memories import Memory, Refusal
from memory.turns import CallTag
from tests.exchange import answer_of
from tests.memory.world import TEAM, World, settle

SETTINGS = Settings(home=Path(), database_url="", anthropic_api_key="set", memory_model="small")
LATER = SILENCE + timedelta(minutes=1)
TUESDAYS = {
    "message": 1,
    "quote": "We deploy on Tuesdays",
    "text": "The team deploys on Tuesdays.",
    "topic": "deploy day",
}


@pytest.fixture
def world(database_url: str) -> Iterator[World]:
    """The team, on each database."""
    database = Database(database_url)
    database.run_now(settle)
    yield World(database)
    database.close()


class Free:
    """Notes what it was asked for."""

    def __init__(self) -> None:
        self.tags: list[str] = []

    async def __call__(self, tag: CallTag, body: Body, model: Model) -> Reserved:
        self.tags.append(tag)
        return self

    async def settle(self, response: Response) -> None:
        self.tags.append("settled")

    async def release(self) -> None:
        self.tags.append("released")


def silent(world: World, conversation_id: str, ago: timedelta = LATER) -> None:
    """Nobody has spoken there for a while."""
    world.run(lambda session: _set(session, conversation_id, last_at=now() - ago))


def next_one(world: World, conversation_id: str) -> Segment:
    """The next sealed segment."""
    found = world.read(segment, conversation_id, now())
    assert found is not None
    return found


def extracted(world: World, found: Segment, *proposals: dict[str, Any]) -> Extracted:
    """What a segment brings with a model that answers so."""
    assert found.given is not None
    return world.run(apply, found, parse(answer_of(world, found.given, list(proposals))), now())


def memories(world: World) -> list[Memory]:
    """All of them, oldest first."""
    return list(world.read(lambda session: session.scalars(select(Memory).order_by(Memory.seq)).all()))


def test_a_conversation_is_due_after_hours_of_silence(world: World) -> None:
    entry = world.say("ada", "general", "We deploy on Tuesdays.")
    assert world.read(due, now()) == []
    assert world.read(segment, entry.conversation_id, now()) is None
    silent(world, entry.conversation_id, SILENCE - timedelta(minutes=1))
    assert world.read(due, now()) == []
    silent(world, entry.conversation_id)
    assert world.read(due, now()) == [entry.conversation_id]
    found = next_one(world, entry.conversation_id)
    assert (found.since, found.upto) == (0, 1)


def test_what_a_summary_replaced_is_due_at_once(world: World) -> None:
    entry = world.say("ada", "general", "We deploy on Tuesdays.")
    world.say("ada", "general", "And we rest on Sundays.")
    world.run(_epoch, entry, 1)
    assert world.read(due, now()) == [entry.conversation_id]
    found = next_one(world, entry.conversation_id)
    assert (found.since, found.upto) == (0, 1)
    world.run(apply, found, [], now())
    assert world.read(due, now()) == []


def test_originals_of_people_are_read_and_nothing_else(world: World) -> None:
    entry = world.say("ada", "general", "We deploy on Tuesdays.")
    world.say("ben", "general", "overheardcanary", kind="overheard", addressed=False)
    world.say(
        "ben", "general", "replycanary", kind="reply", role="assistant", person_id=None, account_id=None
    )
    world.say("ben", "general", "resultcanary", kind="results", person_id=None, account_id=None)
    world.say("ben", "general", "gonecanary", redacted_at=now())
    world.say("ben", "general", "unlearnablecanary", learnable=False)
    silent(world, entry.conversation_id)
    found = next_one(world, entry.conversation_id)
    assert found.given is not None
    text = json.dumps(found.given.payload)
    assert "Tuesdays" in text
    assert "canary" not in text
    assert entry.id not in text
    body = extraction.request(SETTINGS, found)
    assert body is not None
    assert body["system"][0]["text"] == EXTRACTION_INSTRUCTIONS


def test_a_few_things_are_added_with_evidence_and_less_confidence(world: World) -> None:
    entry = world.say("ada", "general", "We deploy on Tuesdays. We rest on Sundays. We plan on Fridays.")
    silent(world, entry.conversation_id)
    sundays = {"message": 1, "quote": "We rest on Sundays", "text": "The team rests on Sundays."}
    fridays = {"message": 1, "quote": "We plan on Fridays", "text": "The team plans on Fridays."}
    outcome = extracted(world, next_one(world, entry.conversation_id), TUESDAYS, sundays, fridays)
    assert (len(outcome.added), outcome.refused, outcome.more) == (2, ("cap",), False)
    row = memories(world)[0]
    assert (row.origin, row.confidence, row.source_id, row.audience) == ("extraction", 0.6, entry.id, "team")
    assert row.quote == "We deploy on Tuesdays"


def test_nothing_is_replaced_and_conflicts_are_kept(world: World) -> None:
    old = world.keep("ada", "The team deploys on Mondays.", topic="deploy day")
    entry = world.say("ada", "general", "We deploy on Tuesdays.")
    silent(world, entry.conversation_id)
    outcome = extracted(world, next_one(world, entry.conversation_id), {**TUESDAYS, "replaces": 1})
    assert len(outcome.added) == 1
    kept = world.load(old.id)
    assert kept is not None
    assert (kept.status, kept.version) == ("active", 1)
    assert len(memories(world)) == 2


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"kind": "rule"}, "rule"),
        ({"layer": "note"}, "temporary"),
        ({"quote": "We deploy on Mondays"}, "quote"),
        ({"readers": "wider"}, "wider"),
        ({"text": "The team deploys on Tuesdays, password Tr0ub4dor."}, "secret"),
    ],
)
def test_admission_holds_here_too(world: World, change: dict[str, Any], code: str) -> None:
    entry = world.say("ada", "general", "We deploy on Tuesdays.")
    silent(world, entry.conversation_id)
    assert extracted(world, next_one(world, entry.conversation_id), {**TUESDAYS, **change}).refused == (code,)
    refusal = world.read(lambda session: session.scalars(select(Refusal)).one())
    assert refusal.reason == code


def test_what_the_pass_kept_already_is_not_kept_again(world: World) -> None:
    entry = world.say("ada", "general", "We deploy on Tuesdays.")
    world.learn(entry, "ada", "The team deploys on Tuesdays.", subject="team", origin="pass")
    silent(world, entry.conversation_id)
    outcome = extracted(world, next_one(world, entry.conversation_id), TUESDAYS)
    assert outcome.refused == ("known",)
    assert memories(world)[0].confirmations == 0


def test_what_the_pass_kept_with_words_of_the_model_is_not_kept_again_either(world: World) -> None:
    entry = world.say("ada", "dm", "I travel on Mondays.")
    world.learn(
        entry,
        "ada",
        "Ada travels every week on Mondays.",
        "dm",
        origin="pass",
        drawn_from="team",
        source=None,
    )
    silent(world, entry.conversation_id)
    travel = {
        "message": 1,
        "quote": "I travel on Mondays",
        "text": "Ada travels every week on Mondays.",
        "about": "ada",
    }
    assert extracted(world, next_one(world, entry.conversation_id), travel).refused == ("known",)


def test_a_segment_is_done_once(world: World) -> None:
    entry = world.say("ada", "general", "We deploy on Tuesdays.")
    silent(world, entry.conversation_id)
    found = next_one(world, entry.conversation_id)
    assert len(extracted(world, found, TUESDAYS).added) == 1
    assert extracted(world, found, TUESDAYS) == Extracted()
    assert world.read(segment, entry.conversation_id, now()) is None
    assert world.read(due, now()) == []
    assert len(memories(world)) == 1


def test_long_talk_is_read_in_pieces(world: World) -> None:
    entry = world.say("ada", "general", "Message 0 about deploys.")
    for number in range(1, MOST_MESSAGES + 5):
        world.say("ben" if number % 2 else "ada", "general", f"Message {number} about deploys.")
    silent(world, entry.conversation_id)
    first = next_one(world, entry.conversation_id)
    assert (first.since, first.upto) == (0, MOST_MESSAGES)
    assert world.run(apply, first, [], now()).more
    second = next_one(world, entry.conversation_id)
    assert (second.since, second.upto) == (MOST_MESSAGES, MOST_MESSAGES + 5)
    assert not world.run(apply, second, [], now()).more


def test_long_messages_are_read_in_smaller_pieces(world: World) -> None:
    entry = world.say("ada", "general", "We deploy. " * 1_000)
    for _ in range(3):
        world.say("ada", "general", "We deploy. " * 1_000)
    silent(world, entry.conversation_id)
    ends = []
    for _ in range(4):
        found = next_one(world, entry.conversation_id)
        ends.append(found.upto)
        world.run(apply, found, [], now())
    assert ends == [1, 2, 3, 4]


def test_words_of_different_readers_never_meet_in_one_request(world: World) -> None:
    entry = world.say("ada", "general", "We deploy on Tuesdays.")
    world.say("ben", "general", "Between guests: the canary is yellow.", audience=f"place:{entry.place_id}")
    world.say("ada", "general", "We rest on Sundays.")
    silent(world, entry.conversation_id)
    seen = []
    while (found := world.read(segment, entry.conversation_id, now())) is not None:
        seen.append((found.upto, json.dumps(found.given.payload) if found.given else ""))
        world.run(apply, found, [], now())
    assert [upto for upto, _ in seen] == [1, 2, 3]
    assert ["canary" in text for _, text in seen] == [False, True, False]


def test_small_talk_and_paused_people_cost_nothing(world: World) -> None:
    entry = world.say("ada", "general", "thanks!")
    world.say("ben", "general", "We deploy on Tuesdays.")
    world.run(pause, world.person("ben"))
    silent(world, entry.conversation_id)
    purse, model = Free(), Scripted()
    outcome = asyncio.run(extract(world.database, model, SETTINGS, entry.conversation_id, purse))
    assert outcome == Extracted()
    assert (purse.tags, model.pass_bodies) == ([], [])
    assert world.read(due, now()) == []


def test_the_whole_way_reserves_asks_and_settles(world: World) -> None:
    entry = world.say("ada", "dm", "I like green tea.")
    silent(world, entry.conversation_id)
    found = next_one(world, entry.conversation_id)
    assert found.given is not None
    tea = {"message": 1, "quote": "I like green tea", "text": "Ada likes green tea.", "about": "ada"}
    model, purse = Scripted(passes=(answer_of(world, found.given, [tea]),)), Free()
    outcome = asyncio.run(extract(world.database, model, SETTINGS, entry.conversation_id, purse))
    assert len(outcome.added) == 1
    assert purse.tags == ["extraction", "settled"]
    assert memories(world)[0].audience == f"person:{entry.person_id}"
    again = asyncio.run(extract(world.database, model, SETTINGS, entry.conversation_id, purse))
    assert again == Extracted()
    assert len(model.pass_bodies) == 1


def test_a_failure_leaves_the_segment_for_the_next_time(world: World) -> None:
    entry = world.say("ada", "general", "We deploy on Tuesdays.")
    silent(world, entry.conversation_id)

    class Failing(Scripted):
        async def structured(self, body: Body, schema: dict[str, Any]) -> Response:
            raise ModelTimeout

    purse = Free()
    with pytest.raises(ModelTimeout):
        asyncio.run(extract(world.database, Failing(), SETTINGS, entry.conversation_id, purse))
    assert purse.tags == ["extraction", "released"]
    assert world.read(due, now()) == [entry.conversation_id]


def test_a_conversation_that_is_not_learnt_from_is_never_due(world: World) -> None:
    entry = world.say("ada", "general", "We deploy on Tuesdays.")
    silent(world, entry.conversation_id)
    world.run(lambda session: _set(session, entry.conversation_id, learning=False))
    assert world.read(due, now()) == []


def test_a_conversation_that_is_gone_is_no_trouble(world: World) -> None:
    assert world.read(segment, "gone", now()) is None
    assert world.run(apply, Segment("gone", 0, 1, None), [], now()) == Extracted()


def _set(session: Session, conversation_id: str, **values: Any) -> None:
    row = session.get_one(Conversation, conversation_id)
    for name, value in values.items():
        setattr(row, name, value)


def _epoch(session: Session, entry: Entry, start: int) -> None:
    session.add(
        Epoch(
            id="epoch-2",
            team_id=TEAM,
            conversation_id=entry.conversation_id,
            number=2,
            audience="team",
            audiences=["team"],
            head="{}",
            hashes={},
            shown={},
            start=start,
            model="small",
        )
    )
