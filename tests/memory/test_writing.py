"""What is written is clean, sourced, kept once, and only where it may be."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from memory.database import now
from memory.errors import NotFound, Refused, Stale
from memory.learning import pause
from memory.memories import Memory, MemoryChange, Vector
from memory.people import Team
from memory.ranking import MOST_CHARACTERS
from memory.writing import Source, Written, add, archive, correct, find, mark_used, may_write_team, supersede
from tests.memory.world import SCOUT, TEAM, World, source


def count(world: World, table: Any = Memory) -> int:
    return world.read(lambda session: session.scalar(select(func.count()).select_from(table)) or 0)


def test_the_same_act_writes_once(world: World) -> None:
    draft = world.draft("ada", "We deploy on Tuesdays")
    first = world.run(add, draft, key=("turn", 0, "call"))
    again = world.run(add, draft, key=("turn", 0, "call"))
    assert (first.memory.id, first.change_id, first.action) == (again.memory.id, again.change_id, "added")
    assert (count(world), count(world, MemoryChange)) == (1, 1)


@pytest.mark.parametrize(
    "words", ["we deploy  on TUESDAYS.", "“We deploy on Tuesdays”", "WE DEPLOY ON TUESDAYS!"]
)
def test_the_same_words_confirm(world: World, words: str) -> None:
    first = world.write(world.draft("ada", "We deploy on Tuesdays", origin="pass"))
    second = world.write(world.draft("ben", words))
    kept = world.load(first.memory.id)
    assert (second.action, second.memory.id, count(world)) == ("confirmed", first.memory.id, 1)
    assert kept is not None
    assert (kept.confirmations, kept.version, kept.origin) == (1, 1, "explicit")


def test_signs_that_mean_something_make_a_difference(world: World) -> None:
    texts = [
        "I write C",
        "I write C++",
        "I write C#",
        "the limit is 5",
        "the limit is -5",
        "don't ship",
        "ship",
    ]
    for text in texts:
        world.keep("ada", text)
    assert count(world) == len(texts)


def test_the_same_words_stay_apart_for_other_readers_bots_and_days(world: World) -> None:
    at = now()
    world.keep("ada", "The demo went well")
    world.keep("ada", "The demo went well", "dm")
    world.keep("ada", "The demo went well", "ops")
    world.keep("ada", "The demo went well", bot_id=SCOUT)
    world.keep("ada", "The demo went well", "dm", kind="private")
    entry = world.say("ada", "general", "The demo went well")
    old = world.say("ada", "general", "The demo went well", said_at=at - timedelta(days=2))
    for said in (entry, entry, old):
        world.keep("ada", "The demo went well", layer="log", source=source(said))
    assert count(world) == 7


def test_secrets_stay_out_of_text_quote_and_work(world: World) -> None:
    said = world.say("ada", "dm", "prod db password is Tr0ub4dor-EXAMPLE")
    written = world.write(
        world.draft(
            "ada", "prod db: user svc_app, password Tr0ub4dor-EXAMPLE", "dm",
            source=source(said), work={"steps": ["log in with password Tr0ub4dor-EXAMPLE"]},
        )
    )  # fmt: skip
    row = world.load(written.memory.id)
    assert row is not None
    assert written.withheld == ("password",)
    assert "Tr0ub4dor" not in f"{row.text} {row.quote} {row.work}"
    assert "svc_app" in row.text


def test_words_are_cleaned_and_measured(world: World) -> None:
    assert world.keep("ada", " a\x00b \ud83d ").text == "ab \N{REPLACEMENT CHARACTER}"
    assert len(world.keep("ada", "x" * 1_000).text) == 1_000
    for text in ("", " \n ", "\x00", "x" * 1_001):
        with pytest.raises(Refused):
            world.keep("ada", text)


def test_rules_and_private_notes_are_for_their_author_alone(world: World) -> None:
    for channel in ("general", "ops"):
        for kind in ("rule", "private"):
            with pytest.raises(Refused):
                world.keep("ada", "answer in German", channel, kind=kind)
    rule = world.keep("ada", "answer in German", "dm", kind="rule")
    note = world.keep("ada", "the key is under the mat", "dm", kind="private", expires_at=now())
    assert (rule.subject, note.subject, note.expires_at) == (world.person("ada"), world.person("ada"), None)


def test_a_rule_that_does_not_fit_is_refused_and_room_can_be_made(world: World) -> None:
    rules = [world.keep("ada", f"{number}{'r' * 998}", "dm", kind="rule") for number in range(4)]
    with pytest.raises(Refused, match="fit"):
        world.keep("ada", "one more rule", "dm", kind="rule")
    short = world.keep("ada", "r", "dm", kind="rule")
    with pytest.raises(Refused, match="fit"):
        world.run(correct, world.own("ada"), world.who("ada"), short.id, "a longer one")
    assert world.keep("ben", "one more rule", "dm", kind="rule").status == "active"
    world.run(archive, world.own("ada"), world.who("ada"), rules[0].id)
    assert world.keep("ada", "one more rule", "dm", kind="rule").status == "active"
    replaced = world.run(
        supersede,
        world.own("ada"),
        world.who("ada"),
        rules[1].id,
        world.draft("ada", "s" * 1_000, "dm", kind="rule"),
        key=("swap",),
    )
    assert replaced.action == "replaced"
    active = select(func.sum(func.length(Memory.text))).where(
        Memory.status == "active", Memory.kind == "rule"
    )
    own = active.where(Memory.author_id == world.person("ada"))
    assert world.read(lambda session: session.scalar(own) or 0) <= MOST_CHARACTERS


def test_nobody_writes_into_anothers_memory_or_about_strangers(world: World) -> None:
    with pytest.raises(Refused):
        world.write(world.draft("ben", "Ada is leaving", audience=f"person:{world.person('ada')}"))
    with pytest.raises(Refused):
        world.write(world.draft("gil", "the office moves", audience="team"))
    with pytest.raises(NotFound):
        world.write(world.draft("ben", "Zoe likes tea", subject="nobody"))


def test_pausing_stops_the_pass_and_explicit_saves_and_leaves_manual_ones(world: World) -> None:
    said = world.say("ada", "general", "I like tea")
    world.run(pause, world.person("ada"), None)
    for origin in ("pass", "extraction", "explicit"):
        with pytest.raises(Refused, match="paused"):
            world.learn(said, "ada", "Ada likes tea", origin=origin)
    assert world.learn(said, "ada", "Ada likes tea", origin="manual").status == "active"


def test_overheard_talk_is_never_learnt_from(world: World) -> None:
    said = world.say("ada", "general", "I like tea", learnable=False)
    with pytest.raises(Refused):
        world.learn(said, "ada", "Ada likes tea", origin="pass")


def test_a_source_that_is_gone_teaches_nothing(world: World) -> None:
    said = world.say("ada", "general", "I like tea", redacted_at=now())
    for entry_source in (source(said), Source("none", None, None, "q", None, now())):
        with pytest.raises(Refused, match="removed"):
            world.write(world.draft("ada", "Ada likes tea", source=entry_source))


def replace_with(world: World, old: Memory, text: str, by: str = "ada", **more: Any) -> Written:
    version = more.pop("expected_version", None)
    key = ("replace", next(world.counter))
    draft = world.draft(by, text, **more)
    viewer = world.own(by)
    return world.run(supersede, viewer, world.who(by), old.id, draft, key=key, expected_version=version)


def test_a_newer_fact_ends_the_old_one(world: World) -> None:
    old = world.keep("ada", "staging is at stage-a.example.test", topic="Staging Address")
    written = replace_with(world, old, "staging moved to stage-b.example.test", "ben")
    was, new = world.load(old.id), world.load(written.memory.id)
    assert was is not None
    assert new is not None
    assert (was.status, was.superseded_by, was.version) == ("superseded", new.id, 2)
    assert was.valid_until is not None
    assert (new.topic, new.status, written.action) == ("staging address", "active", "replaced")


def test_replacing_keeps_readers_bot_and_version(world: World) -> None:
    old = world.keep("ada", "staging is at a")
    for wrong in ({"channel": "dm"}, {"bot_id": SCOUT}, {"channel": "ops"}):
        with pytest.raises(Refused):
            replace_with(world, old, "staging is at b", **wrong)
    with pytest.raises(Stale):
        replace_with(world, old, "staging is at b", expected_version=7)
    replace_with(world, old, "staging is at b", expected_version=1)
    with pytest.raises(Stale):
        replace_with(world, old, "staging is at c")


def test_replacing_by_the_same_words_confirms(world: World) -> None:
    old = world.keep("ada", "staging is at a")
    assert replace_with(world, old, "Staging is at A.").action == "confirmed"
    other = world.keep("ada", "staging is at b")
    written = replace_with(world, old, "staging is at b")
    assert (written.action, written.memory.id, count(world)) == ("replaced", other.id, 2)


def test_replacing_twice_with_one_key_happens_once(world: World) -> None:
    old = world.keep("ada", "staging is at a")
    draft, who, viewer = world.draft("ada", "staging is at b"), world.who("ada"), world.own("ada")
    one = world.run(supersede, viewer, who, old.id, draft, key=("k",), expected_version=1)
    two = world.run(supersede, viewer, who, old.id, draft, key=("k",), expected_version=1)
    assert (one.memory.id, one.change_id) == (two.memory.id, two.change_id)


def test_author_and_subject_correct_and_others_do_not(world: World) -> None:
    row = world.keep("ben", "Dana is in Rome", subject=world.person("dana"))
    world.run(lambda session: session.add(vector(row.seq)))
    with pytest.raises(NotFound):
        world.run(correct, world.own("gil"), world.who("gil"), row.id, "Dana is in Oslo")
    fixed = world.run(correct, world.own("dana"), world.who("dana"), row.id, "Dana is in Paris")
    kept = world.load(row.id)
    assert kept is not None
    assert (kept.text, kept.version, kept.author_id) == ("Dana is in Paris", 2, world.person("dana"))
    assert (kept.quote, kept.link, fixed.action) == ("Dana is in Paris", None, "corrected")
    assert count(world, Vector) == 0
    with pytest.raises(Refused):
        world.run(correct, world.own("ben"), world.who("ben"), row.id, "Dana is in Rome")
    assert (
        world.run(correct, world.own("ada"), world.who("ada"), row.id, "Dana is in Oslo").action
        == "corrected"
    )


def vector(seq: int) -> Vector:
    return Vector(
        team_id=TEAM,
        audience="team",
        kind="memory",
        row_seq=seq,
        model="m",
        dimension=1,
        scale=1.0,
        components=b"1",
    )


def test_archiving_is_kept_in_history_and_happens_once(world: World) -> None:
    row = world.keep("ada", "We use Kanban")
    first = world.run(archive, world.own("ada"), world.who("ada"), row.id)
    again = world.run(archive, world.own("ada"), world.who("ada"), row.id)
    assert first.change_id == again.change_id
    kept = world.load(row.id)
    assert kept is not None
    assert (kept.status, kept.version) == ("archived", 2)


def test_ids_of_others_are_not_found(world: World) -> None:
    private = world.keep("ada", "I may resign in March", "dm")
    place = world.keep("ada", "the rotation key changes", "ops")
    scouts = world.keep("ada", "the team likes tea", bot_id=SCOUT)
    for row in (private, place, scouts):
        for viewer in (world.own("ben"), world.here("ben", "general"), world.own("gil")):
            for wanted in (row.id, row.id[:6], row.id.upper()):
                with pytest.raises(NotFound, match="no memory with that id"):
                    world.read(find, viewer, wanted)
    with pytest.raises(NotFound, match="no memory with that id"):
        world.read(find, world.own("ben"), "aaaaaaaaaaaa")
    assert world.read(find, world.own("ada"), private.id[:4]).id == private.id
    assert world.read(find, world.here("ben", "ops"), place.id).id == place.id


@pytest.mark.parametrize("wanted", ["", "abc", "%%%%", "____", "a" * 13, "' or 1=1 --", "\x00\x00\x00\x00"])
def test_what_is_no_id_is_not_found(world: World, wanted: str) -> None:
    world.keep("ada", "We use Kanban")
    with pytest.raises(NotFound):
        world.read(find, world.own("ada"), wanted)


def test_the_policy_says_who_writes_team_memory(world: World) -> None:
    people = [world.who(name) for name in ("ada", "ben", "gil")]

    def answers(policy: str | None) -> list[str]:
        def change(session: Session) -> list[str]:
            session.get_one(Team, TEAM).settings = {"who_writes_team_memory": policy} if policy else {}
            return [may_write_team(session, who) for who in people]

        return world.run(change)

    assert answers(None) == ["yes", "yes", "no"]
    assert answers("anyone") == ["yes", "yes", "no"]
    assert answers("approve") == ["yes", "card", "no"]
    assert answers("admins") == ["yes", "no", "no"]


def test_use_is_noted(world: World) -> None:
    row = world.keep("ada", "We use Kanban")
    world.run(mark_used, [row.id], now())
    world.run(mark_used, [], now())
    kept = world.load(row.id)
    assert kept is not None
    assert kept.used_at is not None
    assert kept.version == 1


def test_notes_live_an_hour(world: World) -> None:
    note = world.keep("ada", "the build is red", layer="note")
    assert note.expires_at is not None
    assert timedelta(minutes=59) < note.expires_at - now() <= timedelta(minutes=60)
