"""What stands in a prompt: the best of what may be read, in one order, within its room."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.orm import Session

from memory.database import now
from memory.learning import pause
from memory.memories import Memory
from memory.ranking import (
    HALF_LIVES,
    MOST_CHARACTERS,
    MOST_FACTS,
    Candidate,
    Snapshot,
    alive_notes,
    conflicts,
    fitting,
    ranked,
    relevance,
    score,
    snapshot,
    speaker_facts,
    touch_note,
)
from memory.search import search_memories
from tests.memory.world import BOT, SCOUT, World, source

AT = datetime(2026, 11, 30, tzinfo=UTC)
IMPORTANCE = st.integers(1, 5)
DAYS = st.floats(0, 4_000)
CANDIDATES = st.lists(
    st.builds(
        Candidate,
        id=st.text("abcdef", min_size=3, max_size=6),
        author_id=st.sampled_from(["ada", "ben", "dana"]),
        importance=IMPORTANCE,
        confirmed_at=st.integers(0, 2_000).map(lambda days: AT - timedelta(days=days)),
        size=st.integers(1, 1_000),
    ),
    unique_by=lambda row: row.id,
    max_size=200,
)


@given(IMPORTANCE)
def test_a_half_life_halves(importance: int) -> None:
    assert score(importance, 0) == importance
    assert abs(score(importance, HALF_LIVES[importance]) - importance / 2) < 1e-9


@given(IMPORTANCE, DAYS, DAYS)
def test_age_never_helps_and_importance_always_does(importance: int, one: float, two: float) -> None:
    young, old = sorted((one, two))
    assert score(importance, young) >= score(importance, old) > 0
    assert importance == 5 or score(importance + 1, young) > score(importance, young)
    assert score(importance, -3) == importance


@given(CANDIDATES, st.randoms())
def test_the_order_is_total_and_stable(rows: list[Candidate], random: Any) -> None:
    best = ranked(rows, AT)
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert ranked(shuffled, AT) == best
    worth = [score(row.importance, (AT - row.confirmed_at).days) for row in best]
    assert all(left >= right for left, right in pairwise(worth))


@given(CANDIDATES, st.sampled_from([None, 2, 4]))
def test_no_budget_is_ever_passed(rows: list[Candidate], share: int | None) -> None:
    taken = fitting(rows, most=20, characters=4_000, author_share=share)
    assert len(taken) <= 20
    assert sum(row.size for row in taken) <= 4_000
    assert taken == [row for row in rows if row in taken]
    for author in {row.author_id for row in taken} if share else ():
        own = [row for row in taken if row.author_id == author]
        assert len(own) <= 20 // (share or 1)
        assert sum(row.size for row in own) <= 4_000 // (share or 1)


@given(CANDIDATES)
def test_what_is_left_out_did_not_fit(rows: list[Candidate]) -> None:
    taken = fitting(rows, most=20, characters=4_000)
    for row in rows:
        if row not in taken:
            ahead = taken[: sum(1 for other in taken if rows.index(other) < rows.index(row))]
            assert len(ahead) == 20 or sum(other.size for other in ahead) + row.size > 4_000


@given(st.text(max_size=200), st.text(max_size=200))
def test_relevance_lies_between_nothing_and_the_same(one: str, two: str) -> None:
    assert 0 <= relevance(one, two) <= 1 + 1e-9
    assert relevance(one, two) == relevance(two, one)


def shown(
    world: World, name: str, channel: str = "dm", *, recent: str = "", at: datetime | None = None
) -> Snapshot:
    alone = channel == "dm"
    viewer = world.own(name) if alone else world.here(name, channel)
    return world.read(
        snapshot, viewer, conversation_id="talk", recent_text=recent, at=at or now(), alone=alone
    )


def texts(rows: list[Memory]) -> list[str]:
    return [row.text for row in rows]


def test_a_person_alone_gets_their_own_and_a_shared_place_the_teams(world: World) -> None:
    ada = world.person("ada")
    world.keep("ada", "be brief", "dm", kind="rule")
    world.keep("ada", "Ada may resign", "dm", subject=ada)
    world.keep("ada", "Ada runs the release", subject=ada)
    world.keep("ada", "the vendor is ACME", "dm")
    world.keep("ada", "the locker is blue", "dm", kind="private")
    world.keep("ben", "We deploy on Tuesdays")
    world.keep("ben", "the pager rotates", "ops")
    world.keep("ben", "shipped 1.2", layer="log")
    world.keep("ben", "Ben is shy", "dm", subject=world.person("ben"))
    mine = shown(world, "ada")
    assert texts(mine.rules) == ["be brief"]
    assert set(texts(mine.person_facts)) == {"Ada may resign", "Ada runs the release", "the vendor is ACME"}
    assert texts(mine.notes_private) == ["the locker is blue"]
    assert (texts(mine.team_facts), texts(mine.log)) == (["We deploy on Tuesdays"], ["shipped 1.2"])
    assert len(mine.shown) == 7
    for name in ("ada", "ben"):
        general = shown(world, name, "general")
        assert (texts(general.team_facts), texts(general.log)) == (["We deploy on Tuesdays"], ["shipped 1.2"])
        assert not general.rules + general.person_facts + general.notes_private
    assert set(texts(shown(world, "ben", "ops").team_facts)) == {"We deploy on Tuesdays", "the pager rotates"}
    guest = shown(world, "gil")
    assert guest.shown == {}


def test_another_bot_starts_with_the_person_and_not_with_the_team(world: World) -> None:
    world.keep("ada", "Ada likes tea", subject=world.person("ada"))
    world.keep("ada", "We deploy on Tuesdays")
    viewer = world.own("ada", SCOUT)
    found = world.read(snapshot, viewer, conversation_id="", recent_text="", at=now(), alone=True)
    assert (texts(found.person_facts), texts(found.team_facts)) == (["Ada likes tea"], [])


def test_rules_come_first_and_facts_take_what_is_left(world: World) -> None:
    for number in range(3):
        world.keep("ada", f"rule {number} {'r' * 980}", "dm", kind="rule")
    for number in range(4):
        world.keep("ada", f"fact {number} {'f' * 490}", "dm", importance=5)
    found = shown(world, "ada")
    assert len(found.rules) == 3
    assert sum(map(len, texts(found.rules + found.person_facts))) <= MOST_CHARACTERS
    assert len(found.person_facts) == 2
    assert len({*texts(world_search(world, "fact"))}) == 4


def world_search(world: World, query: str) -> list[Memory]:
    found = world.read(search_memories, world.own("ada"), query, at=now(), limit=10)
    return [memory for memory in (world.load(row.id) for row in found) if memory]


def test_one_author_has_at_most_a_quarter_of_the_teams_room(world: World) -> None:
    for number in range(30):
        world.keep("ben", f"ben {number}", importance=5)
    for number in range(5):
        world.keep("ada", f"ada {number}", importance=1)
    facts = shown(world, "ada", "general").team_facts
    assert sum(text.startswith("ben") for text in texts(facts)) == MOST_FACTS // 4
    assert sum(text.startswith("ada") for text in texts(facts)) == 5


def test_what_is_over_archived_or_replaced_is_not_shown(world: World) -> None:
    past, soon = now() - timedelta(days=1), now() + timedelta(days=1)
    world.keep("ada", "the demo is on 1 November", valid_until=past)
    world.keep("ada", "the freeze ends tomorrow", valid_until=soon)
    world.keep("ada", "the build is red", layer="note")
    assert texts(shown(world, "ada", "general").team_facts) == ["the freeze ends tomorrow"]
    assert not shown(world, "ada", "general", at=now() + timedelta(days=2)).team_facts


def test_the_log_is_what_matters_for_the_talk_in_order_of_time(world: World) -> None:
    for number in range(40):
        said = world.say("ada", "general", "x", said_at=now() - timedelta(days=40 - number))
        world.keep("ada", f"routine step {number} went well", layer="log", source=source(said))
    old = world.say("ada", "general", "x", said_at=now() - timedelta(days=60))
    world.keep("ada", "moved the invoices to the new ledger", layer="log", source=source(old))
    found = texts(shown(world, "ada", "general", recent="where did the invoices in the ledger go?").log)
    assert len(found) == 30
    assert found[0].startswith("moved the invoices")
    assert found[1:] == [f"routine step {number} went well" for number in range(11, 40)]
    assert "moved the invoices to the new ledger" not in texts(shown(world, "ada", "general").log)


def test_work_shows_the_newest_revision_of_each_topic(world: World) -> None:
    said = world.say("ada", "general", "let us plan")
    for text, topic in (("plan: draft", "launch"), ("plan: agreed", "launch"), ("budget: open", "budget")):
        world.keep("ada", text, layer="work", topic=topic, source=source(said))
    viewer = world.here("ada", "general")
    found = world.read(
        snapshot, viewer, conversation_id=said.conversation_id, recent_text="", at=now(), alone=False
    )
    assert texts(found.work) == ["plan: agreed", "budget: open"]
    assert shown(world, "ada", "general").work == []


def test_a_speakers_facts_are_those_that_the_place_may_read(world: World) -> None:
    ada = world.person("ada")
    world.keep("ada", "Ada runs the release", subject=ada)
    world.keep("ada", "Ada may resign", "dm", subject=ada)
    world.keep("ada", "Ada is on call", "ops", subject=ada)

    def facts(channel: str) -> set[str]:
        return {*texts(world.read(speaker_facts, world.here("ben", channel), ada, now()))}

    assert facts("general") == {"Ada runs the release"}
    assert facts("ops") == {"Ada runs the release", "Ada is on call"}


def test_notes_live_until_they_expire_and_are_touched_by_their_readers_only(world: World) -> None:
    note = world.keep("ada", "the build is red", "dm", layer="note")
    later = now() + timedelta(minutes=50)
    world.run(touch_note, world.own("ben"), note.id, later)
    assert not world.read(alive_notes, world.own("ada"), later + timedelta(minutes=30))
    world.run(touch_note, world.own("ada"), note.id, later)
    assert texts(world.read(alive_notes, world.own("ada"), later + timedelta(minutes=30))) == [note.text]
    assert not world.read(alive_notes, world.own("ben"), later)
    assert not world.read(alive_notes, world.own("ada"), later + timedelta(minutes=61))


def test_bots_that_know_different_things_conflict(world: World) -> None:
    dana = world.person("dana")
    one = world.keep("ada", "Dana is in Rome", subject=dana, topic="location")
    two = world.keep("ada", "Dana is in Paris", subject=dana, topic="location", bot_id=SCOUT)
    same = world.keep("ada", "dana is in rome.", subject=dana, topic="location", bot_id=SCOUT)
    alone = world.keep("ada", "Dana likes tea", subject=dana, topic="drink")
    assert conflicts([one, two, same, alone]) == {one.id, two.id}
    assert conflicts([one, same, alone]) == set()
    assert world.load(one.id) is not None
    assert one.bot_id == BOT


def test_pausing_hides_nothing_that_is_kept(world: World) -> None:
    world.keep("ada", "We deploy on Tuesdays")

    def pause_and_look(session: Session) -> Snapshot:
        pause(session, world_ada, None)
        return snapshot(session, own, conversation_id="", recent_text="", at=now(), alone=True)

    world_ada, own = world.person("ada"), world.own("ada")
    assert texts(world.run(pause_and_look).team_facts) == ["We deploy on Tuesdays"]
