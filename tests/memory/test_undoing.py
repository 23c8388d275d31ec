"""Every change but forgetting is undone once, by those whose it is, and leaves the history true."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from memory.errors import NotFound, Refused
from memory.history import changes_of, state
from memory.memories import Memory, MemoryChange, Vector
from memory.undoing import last_change, undo
from memory.writing import Written, add, archive, correct, supersede
from tests.memory.world import TEAM, World, source


def take_back(world: World, change_id: str, name: str = "ada") -> Written:
    return world.run(undo, world.own(name), world.who(name), change_id)


def count(world: World, table: Any) -> int:
    return world.read(lambda session: session.scalar(select(func.count()).select_from(table)) or 0)


def test_an_addition_is_taken_back_entirely(world: World) -> None:
    written = world.write(world.draft("ada", "We deploy on Tuesdays"))
    world.run(
        lambda session: session.add(
            Vector(
                team_id=TEAM, audience="team", kind="memory", row_seq=written.memory.seq, model="m",
                dimension=1,
                scale=1.0, components=b"1",
            )
        )
    )  # fmt: skip
    assert take_back(world, written.change_id).action == "removed"
    assert (count(world, Memory), count(world, MemoryChange), count(world, Vector)) == (0, 0, 0)
    with pytest.raises(NotFound):
        take_back(world, written.change_id)


def test_a_correction_and_an_archiving_go_back_as_new_versions(world: World) -> None:
    said = world.say("ada", "general", "we deploy on tuesdays")
    row = world.learn(said, "ada", "We deploy on Tuesdays", subject="team")
    fixed = world.run(correct, world.own("ada"), world.who("ada"), row.id, "We deploy on Fridays")
    put_away = world.run(archive, world.own("ada"), world.who("ada"), row.id)
    with pytest.raises(Refused, match="newer"):
        take_back(world, fixed.change_id)
    assert take_back(world, put_away.change_id).action == "restored"
    assert take_back(world, fixed.change_id).memory.text == "We deploy on Tuesdays"
    kept = world.load(row.id)
    assert kept is not None
    assert (kept.status, kept.version, kept.quote, kept.link) == ("active", 5, said.text, said.link)
    for change in (fixed, put_away):
        with pytest.raises(Refused, match="already"):
            take_back(world, change.change_id)
    history = world.read(changes_of, row.id)
    assert [change.action for change in history] == ["added", "corrected", "archived", "restored", "restored"]


def test_undoing_a_replacement_lets_the_old_one_hold_again(world: World) -> None:
    old = world.keep("ada", "staging is at a")
    draft = world.draft("ben", "staging is at b")
    written = world.run(supersede, world.own("ben"), world.who("ben"), old.id, draft, key=("k",))
    back = take_back(world, written.change_id, "ben")
    assert (back.action, back.memory.id) == ("restored", old.id)
    kept = world.load(old.id)
    assert kept is not None
    assert (kept.status, kept.superseded_by, kept.valid_until, kept.version) == ("active", None, None, 3)
    assert world.load(written.memory.id) is None


def test_undoing_a_replacement_by_what_stood_already_keeps_both(world: World) -> None:
    old, other = world.keep("ada", "staging is at a"), world.keep("ada", "staging is at b")
    draft = world.draft("ada", "staging is at b")
    written = world.run(supersede, world.own("ada"), world.who("ada"), old.id, draft, key=("k",))
    take_back(world, written.change_id)
    kept, beside = world.load(old.id), world.load(other.id)
    assert kept is not None
    assert beside is not None
    assert (kept.status, beside.status, beside.confirmations, beside.version) == ("active", "active", 0, 1)


def test_an_addition_that_was_replaced_is_not_taken_back(world: World) -> None:
    first = world.write(world.draft("ada", "staging is at a"))
    draft = world.draft("ada", "staging is at b")
    world.run(supersede, world.own("ada"), world.who("ada"), first.memory.id, draft, key=("k",))
    with pytest.raises(Refused, match="newer"):
        take_back(world, first.change_id)


def test_a_confirmation_is_undone_without_a_new_version(world: World) -> None:
    row = world.keep("ada", "We use Kanban")
    said = world.write(world.draft("ben", "we use kanban"))
    with pytest.raises(Refused):
        take_back(world, said.change_id, "dana")
    take_back(world, said.change_id, "ben")
    kept = world.load(row.id)
    assert kept is not None
    assert (kept.confirmations, kept.version, kept.confirmed_at) == (0, 1, row.confirmed_at)


def test_whose_it_is_may_undo_and_nobody_else(world: World) -> None:
    private = world.write(world.draft("ben", "Ben likes tea", "dm"))
    team = world.write(world.draft("ben", "We use Kanban"))
    about = world.write(world.draft("ben", "Dana runs the demo", subject=world.person("dana")))
    for name in ("ada", "dana"):
        for wanted in (private.change_id, private.change_id[:5]):
            with pytest.raises(NotFound):
                take_back(world, wanted, name)
    with pytest.raises(Refused):
        take_back(world, team.change_id, "dana")
    assert take_back(world, team.change_id, "ada").action == "removed"
    assert take_back(world, about.change_id, "dana").action == "removed"
    assert take_back(world, private.change_id[:6], "ben").action == "removed"


def test_the_last_change_is_ones_own_newest_that_stands(world: World) -> None:
    assert world.read(last_change, world.who("ada")) is None
    first = world.write(world.draft("ada", "We use Kanban"))
    world.write(world.draft("ben", "We use Scrum"))
    draft = world.draft("ada", "We use neither")
    second = world.run(supersede, world.own("ada"), world.who("ada"), first.memory.id, draft, key=("k",))
    assert world.read(last_change, world.who("ada")) == second.change_id
    take_back(world, second.change_id)
    assert world.read(last_change, world.who("ada")) == first.change_id
    take_back(world, first.change_id)
    assert world.read(last_change, world.who("ada")) is None


def test_what_was_learnt_unasked_and_undone_is_not_learnt_again(world: World) -> None:
    said = world.say("ada", "general", "I like tea")
    draft = world.draft("ada", "Ada likes tea", origin="pass", source=source(said))
    take_back(world, world.write(draft).change_id)
    with pytest.raises(Refused):
        world.write(world.draft("ada", "Ada likes tea", origin="extraction", source=source(said)))


def test_a_rule_comes_back_only_where_it_fits(world: World) -> None:
    rules = [world.keep("ada", f"{number}{'r' * 990}", "dm", kind="rule") for number in range(4)]
    put_away = world.run(archive, world.own("ada"), world.who("ada"), rules[0].id)
    world.keep("ada", f"new {'r' * 990}", "dm", kind="rule")
    with pytest.raises(Refused, match="fit"):
        take_back(world, put_away.change_id)


def test_what_is_no_change_is_not_found(world: World) -> None:
    world.keep("ada", "We use Kanban")
    for wanted in ("", "abc", "%%%%", "zzzzzzzzzzzz", "a" * 20):
        with pytest.raises(NotFound):
            take_back(world, wanted)


ACTS = st.lists(
    st.sampled_from(["add", "correct", "archive", "supersede", "confirm"]), min_size=1, max_size=8
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15)
@given(acts=ACTS)
def test_undoing_everything_newest_first_leaves_what_was(world: World, acts: list[str]) -> None:
    """Any chain of changes, undone one after the other, ends where it began."""
    who, viewer = world.who("ada"), world.own("ada")
    number = next(world.counter)
    done = [world.run(add, world.draft("ada", f"line {number}", "dm"), key=("first", number))]
    first = state(done[0].memory)
    current = done[0].memory.id
    for act in acts:
        tag = next(world.counter)
        try:
            if act in ("add", "confirm"):
                text = f"line {tag}" if act == "add" else f"LINE {number}!"
                draft = world.draft("ada", text, "dm")
                done.append(world.run(add, draft, key=("k", tag)))
            elif act == "correct":
                done.append(world.run(correct, viewer, who, current, f"line {tag}"))
            elif act == "archive":
                before = world.load(current)
                if before is not None and before.status == "active":
                    done.append(world.run(archive, viewer, who, current))
            else:
                draft = world.draft("ada", f"line {tag}", "dm")
                done.append(world.run(supersede, viewer, who, current, draft, key=("k", tag)))
                current = done[-1].memory.id
        except Refused:
            continue
    for written in reversed(done[1:]):
        take_back(world, written.change_id)
    kept = world.load(done[0].memory.id)
    assert kept is not None
    assert state(kept) == first
    assert take_back(world, done[0].change_id).action == "removed"
    own = select(func.count()).select_from(Memory).where(Memory.audience == viewer.writes)
    assert world.read(lambda session: session.scalar(own)) == 0
