"""The memory pass: what the small model is given, when it is asked, and what becomes of its answer."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from bot.errors import CapReached, ModelOverloaded
from bot.model import Body, Capabilities, Model, Response
from bot.pass_request import PASS_SCHEMA
from bot.remembering import PassOutcome, Reserved, apply, parse, remember
from bot.settings import Settings
from bot.testing import Scripted
from memory.conversations import Conversation, Entry
from memory.database import Database, now
from memory.forgetting import forget
from memory.learning import pause
from memory.memories import Memory, MemoryChange, Refusal
from memory.people import Person, Team
from memory.places import Place
from memory.ranking import snapshot
from memory.turns import CallTag, Turn
from memory.writing import add
from tests.exchange import Exchange, answer_of
from tests.memory.world import SCOUT, TEAM, World, settle

SETTINGS = Settings(home=Path(), database_url="", anthropic_api_key="set", memory_model="small")
TUESDAYS = {"quote": "We deploy on Tuesdays", "text": "The team deploys on Tuesdays.", "topic": "deploy day"}
TEA = {"quote": "I like green tea", "text": "Ada likes green tea.", "about": "ada", "topic": "drink"}


@pytest.fixture
def world(database_url: str) -> Iterator[World]:
    """The team, on each database."""
    database = Database(database_url)
    database.run_now(settle)
    yield World(database)
    database.close()


@dataclass
class Purse:
    """Notes what is reserved, settled and released."""

    log: list[str] = field(default_factory=list)
    empty: bool = False

    async def __call__(self, tag: CallTag, body: Body, model: Model) -> Reserved:
        if self.empty:
            raise CapReached
        self.log.append(f"reserve {tag} {body['model']}")
        return self

    async def settle(self, response: Response) -> None:
        self.log.append(f"settle {response.usage.output_tokens}")

    async def release(self) -> None:
        self.log.append("release")


class Thinking(Scripted):
    """A model during whose thinking something happens."""

    def __init__(
        self, world: World, exchange: Exchange, *proposals: dict[str, Any], does: Any = None
    ) -> None:
        given = exchange.given()
        assert given is not None
        super().__init__(passes=(answer_of(world, given, list(proposals)),))
        self.does = does

    async def structured(self, body: Body, schema: dict[str, Any]) -> Response:
        assert schema == PASS_SCHEMA
        if self.does is not None:
            await self.does()
        return await super().structured(body, schema)


def run(world: World, exchange: Exchange, model: Model, purse: Purse | None = None) -> PassOutcome:
    """The whole pass."""
    return asyncio.run(remember(world.database, model, SETTINGS, exchange.turn_id, purse or Purse()))


def active(world: World) -> list[str]:
    """Every memory that holds, by text."""
    return world.read(
        lambda session: sorted(session.scalars(select(Memory.text).where(Memory.status == "active")))
    )


class TestWhatTheModelIsGiven:
    """Only what people said to the bot, what is known to the same readers, and no ids."""

    def test_messages_people_reply_and_known_facts_under_small_numbers(self, world: World) -> None:
        world.keep("ben", "The team deploys on Mondays.", topic="deploy day")
        exchange = Exchange(world)
        exchange.say("ben", "Hello Ada", earlier=True)
        exchange.say("ada", "We deploy on Tuesdays now.")
        exchange.say("ada", "And Dana knows why.")
        exchange.reply("Noted.")
        given = exchange.given()
        assert given is not None
        payload = given.payload
        names = {person["number"]: person["name"] for person in payload["people"]}
        assert [names[line["from"]] for line in payload["messages"]] == ["Ben", "Ada", "Ada"]
        assert [line["number"] for line in payload["messages"]] == [1, 2, 3]
        assert [line.get("earlier", False) for line in payload["messages"]] == [True, False, False]
        assert "Dana" in names.values()
        assert payload["assistant_reply"] == "Noted."
        assert [(row["number"], row["text"], row["topic"]) for row in payload["known"]] == [
            (1, "The team deploys on Mondays.", "deploy day")
        ]
        assert payload["known"][0]["by_this_assistant"] is True

    def test_times_are_in_the_speakers_zone(self, world: World) -> None:
        world.run(lambda session: _set(session, Person, world.person("ada"), zone="Asia/Tokyo"))
        exchange = Exchange(world, at=now().replace(year=2026, month=11, day=19, hour=15, minute=30))
        exchange.say("ada", "demo is tomorrow at 9")
        given = exchange.given()
        assert given is not None
        assert given.payload["messages"][0]["said_at"] == "2026-11-20T00:30 (Friday, Asia/Tokyo)"

    def test_no_ids_leave_the_house(self, world: World) -> None:
        row = world.keep("ben", "The team deploys on Mondays.", topic="deploy day")
        exchange = Exchange(world)
        entry = exchange.say("ada", "We deploy on Tuesdays now.")
        given = exchange.given()
        assert given is not None
        text = json.dumps(given.payload)
        ids = (row.id, entry.id, entry.conversation_id, exchange.turn_id, world.person("ada"), TEAM)
        assert not any(one in text for one in ids)

    def test_overheard_talk_and_tool_results_are_not_in_it(self, world: World) -> None:
        exchange = Exchange(world)
        exchange.say("ada", "We deploy on Tuesdays now.")
        exchange.say("dana", "I hate overheardcanary", kind="overheard", addressed=False)
        world.run(lambda session: _result(session, exchange.turn_id, "resultcanary says 7"))
        given = exchange.given()
        assert given is not None
        assert "canary" not in json.dumps(given.payload)

    def test_rules_and_private_notes_are_not_in_it(self, world: World) -> None:
        world.keep("ada", "Ada wants rulecanary deploy answers.", "dm", kind="rule")
        world.keep("ada", "notecanary deploy", "dm", kind="private")
        exchange = Exchange(world, "dm")
        exchange.say("ada", "The deploy answers are fine, we deploy on Tuesdays.")
        given = exchange.given()
        assert given is not None
        assert "canary" not in json.dumps(given.payload)

    def test_private_words_of_anybody_are_not_in_a_public_exchange(self, world: World) -> None:
        private = Exchange(world, "dm")
        private.say("dana", "I may resign in March, keep it to yourself")
        kept = private.propose(
            {"quote": "I may resign in March", "text": "Dana may resign in March.", "about": "dana"}
        )
        assert len(kept.added) == 1
        for name in ("dana", "ben"):
            public = Exchange(world)
            public.say(name, "what should the team know about Dana? does Dana resign in March")
            given = public.given()
            assert given is not None
            assert "resign" not in json.dumps(given.payload["known"])
            assert given.payload["known"] == []

    def test_the_instructions_are_the_same_bytes_for_everybody(self, world: World) -> None:
        bodies = []
        for name, channel in (("ada", "general"), ("ben", "dm")):
            exchange = Exchange(world, channel)
            exchange.say(name, "We deploy on Tuesdays.")
            model = Scripted(capabilities=Capabilities(structured_output=True, effort=True))
            run(world, exchange, model)
            bodies.append(model.pass_bodies[0])
        assert json.dumps(bodies[0]["system"]) == json.dumps(bodies[1]["system"])
        assert bodies[0]["messages"] != bodies[1]["messages"]
        assert [body["model"] for body in bodies] == ["small", "small"]
        assert bodies[0]["output_config"] == {"effort": "low"}
        assert "cache_control" in bodies[0]["system"][0]


class TestWhenItIsAsked:
    """A call costs money: only where something can be learnt, and reserved first."""

    def test_the_cost_is_reserved_before_and_settled_after(self, world: World) -> None:
        exchange = Exchange(world)
        exchange.say("ada", "We deploy on Tuesdays.")
        purse = Purse()
        run(world, exchange, Scripted(), purse)
        assert purse.log == ["reserve pass small", "settle 10"]

    def test_a_failure_releases_what_was_reserved_and_changes_nothing(self, world: World) -> None:
        exchange = Exchange(world)
        exchange.say("ada", "We deploy on Tuesdays.")

        async def fail() -> None:
            raise ModelOverloaded

        purse = Purse()
        with pytest.raises(ModelOverloaded):
            run(world, exchange, Thinking(world, exchange, TUESDAYS, does=fail), purse)
        assert purse.log == ["reserve pass small", "release"]
        assert active(world) == []
        assert run(world, exchange, Thinking(world, exchange, TUESDAYS)).added

    def test_an_empty_purse_asks_nobody(self, world: World) -> None:
        exchange = Exchange(world)
        exchange.say("ada", "We deploy on Tuesdays.")
        model = Scripted()
        with pytest.raises(CapReached):
            run(world, exchange, model, Purse(empty=True))
        assert model.pass_bodies == []

    def test_politeness_asks_nobody(self, world: World) -> None:
        model, purse = Scripted(), Purse()
        for text in ("ok", "thanks", "👍", "run it again"):
            for _ in range(5):
                exchange = Exchange(world)
                exchange.say("ada", text)
                assert run(world, exchange, model, purse) == PassOutcome()
        assert (model.pass_bodies, purse.log, active(world)) == ([], [], [])

    @pytest.mark.parametrize("what", ["person", "here", "place", "conversation", "message", "erased"])
    def test_where_learning_is_off_nobody_is_asked(self, world: World, what: str) -> None:
        exchange = Exchange(world)
        entry = exchange.say("ada", "We deploy on Tuesdays.")
        if what == "person":
            world.run(pause, world.person("ada"))
        elif what == "here":
            world.run(pause, world.person("ada"), entry.place_id)
        elif what == "place":
            world.run(lambda session: _set(session, Place, entry.place_id, learning=False))
        elif what == "conversation":
            world.run(lambda session: _set(session, Conversation, entry.conversation_id, learning=False))
        elif what == "message":
            world.run(lambda session: _set_entry(session, entry.id, learnable=False))
        else:
            world.run(lambda session: _set_entry(session, entry.id, text="", redacted_at=now()))
        assert exchange.given() is None

    def test_a_turn_that_is_gone_asks_nobody(self, world: World) -> None:
        assert run(world, Exchange(world, turn_id="turn:gone"), Scripted()) == PassOutcome()

    def test_a_second_pass_of_a_turn_does_nothing_twice(self, world: World) -> None:
        exchange = Exchange(world)
        exchange.say("ada", "We deploy on Tuesdays.")
        model = Thinking(world, exchange, TUESDAYS)
        assert len(run(world, exchange, model).added) == 1
        assert run(world, exchange, model) == PassOutcome()
        assert len(model.pass_bodies) == 1
        assert active(world) == ["The team deploys on Tuesdays."]


class TestWhatBecomesOfTheAnswer:
    """Written once, by what holds at the moment of writing."""

    def test_a_crash_after_writing_writes_nothing_twice(self, world: World) -> None:
        exchange = Exchange(world)
        exchange.say("ada", "We deploy on Tuesdays. I hate the old build.")
        given = exchange.given()
        assert given is not None
        proposals = parse(answer_of(world, given, [TUESDAYS, {"quote": "nobody said it", "text": "x"}]))
        first = world.run(apply, given, proposals, now())
        assert (len(first.added), first.refused) == (1, ("quote",))
        assert world.run(apply, given, proposals, now()) == first
        world.run(lambda session: _set(session, Turn, exchange.turn_id, remembered={}))
        again = world.run(apply, given, proposals, now())
        assert active(world) == ["The team deploys on Tuesdays."]
        assert again.refused.count("quote") == 1
        assert len(world.read(lambda session: session.scalars(select(Refusal)).all())) == 2
        assert len(world.read(lambda session: session.scalars(select(MemoryChange)).all())) == 1

    def test_a_crash_while_writing_leaves_nothing(self, world: World) -> None:
        exchange = Exchange(world)
        exchange.say("ada", "We deploy on Tuesdays.")
        given = exchange.given()
        assert given is not None
        proposals = parse(answer_of(world, given, [TUESDAYS]))

        def crash(session: Session) -> None:
            apply(session, given, proposals, now())
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            world.run(crash)
        assert active(world) == []
        assert exchange.given() is not None

    def test_refusals_keep_reasons_and_ids_and_no_words(self, world: World) -> None:
        exchange = Exchange(world, "dm")
        entry = exchange.say("ada", "What about the canaryword?")
        outcome = exchange.propose(
            {"quote": "What about the canaryword", "text": "Ada asks about the canaryword."}
        )
        assert outcome.refused == ("question",)
        row = world.read(lambda session: session.scalars(select(Refusal)).one())
        assert (row.reason, row.source_id, row.turn_id) == ("question", entry.id, exchange.turn_id)
        assert row.audience == f"person:{entry.person_id}"
        kept = [str(getattr(row, column.key)) for column in Refusal.__table__.columns]
        assert not any("canaryword" in value for value in kept)
        turn = world.read(lambda session: session.get_one(Turn, exchange.turn_id))
        assert turn.remembered == {
            "pass": {"added": [], "replaced": [], "confirmed": [], "refused": ["question"]}
        }

    def test_an_explicit_save_while_the_model_thinks_wins_and_the_rest_is_kept(self, world: World) -> None:
        exchange = Exchange(world)
        exchange.say("ben", "The wifi name is Elm. We deploy on Tuesdays.")

        async def save() -> None:
            await world.database.run(_explicit, world, "ada", "The wifi name is Oak.", "wifi name")

        wifi = {"quote": "The wifi name is Elm", "text": "The wifi name is Elm.", "topic": "wifi name"}
        outcome = run(world, exchange, Thinking(world, exchange, wifi, TUESDAYS, does=save))
        assert outcome.refused == ("outranked",)
        assert active(world) == ["The team deploys on Tuesdays.", "The wifi name is Oak."]

    def test_two_passes_at_once_lose_nothing(self, world: World) -> None:
        one, two = Exchange(world, "dm"), Exchange(world, "general")
        one.say("ada", "I like green tea.")
        two.say("ada", "We deploy on Tuesdays.")
        started = asyncio.Event()

        async def both() -> tuple[PassOutcome, PassOutcome]:
            async def wait() -> None:
                await started.wait()

            async def release() -> None:
                started.set()

            first = Thinking(world, one, TEA, does=wait)
            second = Thinking(world, two, TUESDAYS, does=release)
            return await asyncio.gather(
                remember(world.database, first, SETTINGS, one.turn_id, Purse()),
                remember(world.database, second, SETTINGS, two.turn_id, Purse()),
            )

        outcomes = asyncio.run(both())
        assert [len(outcome.added) for outcome in outcomes] == [1, 1]
        assert active(world) == ["Ada likes green tea.", "The team deploys on Tuesdays."]

    def test_two_passes_on_one_memory_replace_it_once(self, world: World) -> None:
        world.keep("dana", "The team deploys on Mondays.", topic="deploy day")
        world.run(_age)
        one, two = Exchange(world), Exchange(world)
        one.say("ada", "We deploy on Tuesdays.")
        two.say("ben", "We deploy on Fridays.")
        first, second = one.given(), two.given()
        assert first is not None
        assert second is not None
        fridays = {
            "quote": "We deploy on Fridays",
            "text": "The team deploys on Fridays.",
            "topic": "deploy day",
        }
        assert len(one.propose({**TUESDAYS, "replaces": 1}, given=first).replaced) == 1
        assert two.propose({**fridays, "replaces": 1}, given=second).refused == ("stale",)
        assert active(world) == ["The team deploys on Tuesdays."]

    def test_a_history_of_replacements_can_be_read(self, world: World) -> None:
        for day, hours in (("Mondays", 3), ("Tuesdays", 2), ("Fridays", 1)):
            exchange = Exchange(world, at=now() - timedelta(hours=hours))
            exchange.say("ada", f"We deploy on {day}.")
            exchange.propose(
                {"quote": f"We deploy on {day}", "text": f"The team deploys on {day}.", "topic": "deploy day"}
            )
        rows = world.read(lambda session: session.scalars(select(Memory).order_by(Memory.seq)).all())
        assert [(row.text, row.status) for row in rows] == [
            ("The team deploys on Mondays.", "superseded"),
            ("The team deploys on Tuesdays.", "superseded"),
            ("The team deploys on Fridays.", "active"),
        ]
        assert rows[0].superseded_by == rows[1].id
        assert rows[0].valid_until is not None

    def test_the_same_fact_three_times_is_one_row(self, world: World) -> None:
        for text in (
            "We deploy on Tuesdays.",
            "We deploy on Tuesdays, yes.",
            "As said, we deploy on Tuesdays!",
        ):
            exchange = Exchange(world)
            exchange.say("ada", text)
            exchange.propose({**TUESDAYS, "quote": "we deploy on Tuesdays"})
        row = world.read(lambda session: session.scalars(select(Memory)).one())
        assert (row.text, row.confirmations, row.version) == ("The team deploys on Tuesdays.", 2, 1)

    def test_what_was_forgotten_does_not_come_back_from_its_thread(self, world: World) -> None:
        exchange = Exchange(world, "dm")
        exchange.say("ada", "I collect violet parrots.")
        parrots = {
            "quote": "I collect violet parrots",
            "text": "Ada collects violet parrots.",
            "about": "ada",
            "topic": "hobby",
        }
        given = exchange.given()
        assert given is not None
        [memory_id] = exchange.propose(parrots, given=given).added
        world.run(forget, world.own("ada"), world.who("ada"), memory_id)
        world.run(lambda session: _set(session, Turn, exchange.turn_id, remembered={}))
        assert exchange.propose(parrots, given=given).refused == ("forgotten",)
        later = Exchange(world, "dm")
        later.say("ada", "Now about something else entirely.")
        seen = later.given()
        assert seen is not None
        assert "parrot" not in json.dumps(seen.payload)
        assert active(world) == []

    def test_a_place_that_turns_private_takes_its_words_along(self, world: World) -> None:
        exchange = Exchange(world)
        entry = exchange.say("ada", "We deploy on Tuesdays.")
        given = exchange.given()
        world.run(lambda session: _set(session, Place, entry.place_id, kind="private"))
        [memory_id] = exchange.propose(TUESDAYS, given=given).added
        row = world.load(memory_id)
        assert row is not None
        assert row.audience == f"place:{entry.place_id}"

    def test_a_private_place_that_opens_keeps_what_was_said_before(self, world: World) -> None:
        exchange = Exchange(world, "ops")
        entry = exchange.say("ada", "We deploy on Tuesdays.")
        given = exchange.given()
        world.run(lambda session: _set(session, Place, entry.place_id, kind="public"))
        [memory_id] = exchange.propose(TUESDAYS, given=given).added
        row = world.load(memory_id)
        assert row is not None
        assert row.audience == f"place:{entry.place_id}"

    def test_an_ephemeral_exchange_stays_with_its_person(self, world: World) -> None:
        exchange = Exchange(world)
        entry = exchange.say("ada", "I like green tea.", ephemeral=True)
        [memory_id] = exchange.propose(TEA).added
        row = world.load(memory_id)
        assert row is not None
        assert row.audience == f"person:{entry.person_id}"

    def test_team_memory_follows_the_teams_policy(self, world: World) -> None:
        world.run(lambda session: _set(session, Team, TEAM, settings={"who_writes_team_memory": "admins"}))
        for name, refused in (("ben", ("policy",)), ("ada", ())):
            exchange = Exchange(world)
            exchange.say(name, "We deploy on Tuesdays.")
            assert exchange.propose(TUESDAYS).refused == refused

    def test_a_dated_event_is_not_offered_once_its_day_is_over(self, world: World) -> None:
        world.run(lambda session: _set(session, Person, world.person("ada"), zone="Asia/Tokyo"))
        said_at = datetime(2026, 11, 19, 15, 30, tzinfo=UTC)
        exchange = Exchange(world, at=said_at)
        exchange.say("ada", "demo is tomorrow at 9")
        [memory_id] = exchange.propose(
            {
                "quote": "demo is tomorrow at 9",
                "text": "The demo is on 2026-11-21 at 09:00.",
                "kind": "event",
                "speech_act": "plan",
                "since": "2026-11-21T09:00",
            }
        ).added
        row = world.load(memory_id)
        assert row is not None
        assert row.valid_from == datetime(2026, 11, 21, 0, 0, tzinfo=UTC)
        for at, offered in ((said_at, True), (datetime(2026, 12, 5, tzinfo=UTC), False)):
            shown = world.read(
                snapshot,
                world.here("ada", "general"),
                conversation_id=row.conversation_id or "",
                recent_text="anything tomorrow?",
                at=at,
                alone=False,
            )
            assert (memory_id in shown.shown) == offered

    def test_what_was_saved_by_name_is_not_kept_twice(self, world: World) -> None:
        exchange = Exchange(world)
        entry = exchange.say("ada", "remember: we deploy on Tuesdays")
        world.learn(entry, "ada", "We deploy on Tuesdays", subject="team")
        assert exchange.propose({**TUESDAYS, "quote": "we deploy on Tuesdays"}).refused == ("known",)
        assert active(world) == ["We deploy on Tuesdays"]

    def test_words_that_the_model_added_are_read_by_those_who_read_all_it_saw(self, world: World) -> None:
        for channel, outside, seen in (("ops", False, "team"), ("general", True, None)):
            exchange = Exchange(world, channel)
            if outside:
                world.run(lambda session: _set(session, Place, _place(session, "general"), external=True))
            entry = exchange.say("ada", "We deploy on Tuesdays.")
            [memory_id] = exchange.propose(TUESDAYS).added
            row = world.load(memory_id)
            assert row is not None
            assert (row.audience, row.drawn_from) == (f"place:{entry.place_id}", seen)

    def test_a_memory_with_added_words_is_replaced_like_any_other(self, world: World) -> None:
        for day in ("Mondays", "Tuesdays"):
            exchange = Exchange(world, "dm")
            exchange.say("ada", f"I travel on {day}.")
            outcome = exchange.propose(
                {
                    "quote": f"I travel on {day}",
                    "text": f"Ada is travelling every week on {day}.",
                    "topic": "travel",
                }
            )
            assert len(outcome.added if day == "Mondays" else outcome.replaced) == 1, outcome
        assert active(world) == ["Ada is travelling every week on Tuesdays."]

    def test_another_bots_memory_is_kept_beside(self, world: World) -> None:
        world.keep("ada", "Ada likes black tea.", topic="drink", subject=world.person("ada"), bot_id=SCOUT)
        exchange = Exchange(world)
        exchange.say("ada", "I like green tea.")
        exchange.propose({**TEA, "replaces": 1})
        assert active(world) == ["Ada likes black tea.", "Ada likes green tea."]

    def test_nothing_usable_changes_nothing(self, world: World) -> None:
        kept = world.keep("ada", "The team deploys on Mondays.", topic="deploy day")
        for text in ("", "null", "[]", "{}", "[[[[", "{" * 5_000, "x" * 10_000, '{"memories": "all"}'):
            exchange = Exchange(world)
            exchange.say("ada", "We deploy on Tuesdays.")
            assert exchange.answer(text) == PassOutcome()
        row = world.load(kept.id)
        assert row is not None
        assert (row.version, row.status) == (1, "active")
        assert active(world) == ["The team deploys on Mondays."]


def _set(session: Session, table: type[Any], key: str, **values: Any) -> None:
    row = session.get_one(table, key)
    for name, value in values.items():
        setattr(row, name, value)


def _set_entry(session: Session, entry_id: str, **values: Any) -> None:
    row = session.scalars(select(Entry).where(Entry.id == entry_id)).one()
    for name, value in values.items():
        setattr(row, name, value)


def _place(session: Session, channel: str) -> str:
    return session.scalars(select(Place.id).where(Place.channel == channel)).one()


def _age(session: Session) -> None:
    for row in session.scalars(select(Memory)):
        row.confirmed_at = now() - timedelta(days=1)


def _explicit(session: Session, world: World, name: str, text: str, topic: str) -> None:
    add(session, world.draft(name, text, topic=topic), key=("explicit", text))


def _result(session: Session, turn_id: str, text: str) -> None:
    turn = session.get_one(Turn, turn_id)
    session.add(
        Entry(
            id="results",
            team_id=TEAM,
            conversation_id=turn.conversation_id,
            bot_id=turn.bot_id,
            place_id=turn.place_id,
            turn_id=turn_id,
            audience=turn.audience,
            position=9_000,
            role="user",
            kind="results",
            text=text,
            said_at=now(),
        )
    )
