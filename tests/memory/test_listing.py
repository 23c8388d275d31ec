"""Lists show what their reader may read, and its source only where that may be read too."""

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select
from sqlalchemy.orm import Session

from memory.audience import Viewer
from memory.database import Database, now
from memory.errors import NotFound
from memory.journal import JournalRecord
from memory.listing import as_row, as_rows, export, my_memory, readers
from memory.memories import Memory
from memory.people import Person
from memory.ranking import alive_notes, snapshot, speaker_facts
from memory.writing import archive, find
from tests.memory.world import SCOUT, TEAM, World, settle, source

NAMES = ("ada", "ben", "dana", "gil")


def texts(rows: list[Memory]) -> set[str]:
    return {row.text for row in rows}


def test_a_row_says_whose_for_whom_and_why(world: World) -> None:
    said = world.say("ada", "dm", "I may resign in March")
    memory = world.learn(said, "ada", "Ada may resign in March", "dm", topic="plans", origin="pass")
    row = world.read(as_row, memory, world.own("ada"))
    assert {
        "id": memory.id,
        "text": "Ada may resign in March",
        "layer": "fact",
        "kind": "fact",
        "audience": "person:ada",
        "author": "Ada",
        "subject": "Ada",
        "origin": "pass",
        "status": "active",
        "quote": "I may resign in March",
        "link": said.link,
        "topic": "plans",
        "importance": 3,
        "confidence": 1.0,
        "version": 1,
        "created_at": memory.created_at.isoformat(),
        "conflict": False,
    } == row
    json.dumps(row)


def test_audiences_have_names_for_their_readers(world: World) -> None:
    ops, team = world.keep("ada", "the pager rotates", "ops"), world.keep("ada", "We deploy on Tuesdays")
    here = world.here("ben", "ops")
    assert [row["audience"] for row in world.read(as_rows, [ops, team], here)] == ["place:#ops", "team"]
    assert world.read(as_row, ops, world.own("dana"))["audience"] == "place:private"
    said = [world.read(readers, audience, here) for audience in ("team", ops.audience)]
    assert said == ["every member of the team", "everybody in #ops"]
    assert world.read(readers, ops.audience, world.own("dana")) == "everybody in a private channel"
    assert world.read(readers, f"person:{world.person('ada')}", world.own("ada")) == "only Ada"


def test_quote_and_link_follow_the_source(world: World) -> None:
    said = world.say("ada", "ops", "the pager is Ben's")
    wider = world.keep("ada", "the pager is Ben's", source=source(said))
    assert world.read(as_row, wider, world.here("ada", "ops"))["quote"] == "the pager is Ben's"
    for viewer in (world.own("dana"), world.here("ben", "general")):
        row = world.read(as_row, wider, viewer)
        assert row["link"] is None
    manual = world.keep("ada", "We use Kanban", origin="manual")
    assert world.read(as_row, manual, world.own("ben"))["quote"] == "We use Kanban"
    gone = world.say("ada", "general", "we use Scrum")
    kept = world.learn(gone, "ada", "They use Scrum")
    world.run(lambda session: setattr(session.merge(gone), "redacted_at", now()))
    row = world.read(as_row, kept, world.own("ada"))
    assert (row["quote"], row["link"]) == (None, None)


def test_my_memory_is_mine_and_about_me(world: World) -> None:
    dana = world.person("dana")
    world.keep("dana", "Dana likes tea", "dm", subject=dana)
    world.keep("ben", "Dana runs the demo", subject=dana)
    world.keep("ben", "Dana may be moved", "dm", subject=dana)
    world.keep("ben", "Dana is on the pager", "ops", subject=dana)
    world.keep("dana", "We deploy on Tuesdays")
    old = world.keep("dana", "We deploy on Mondays")
    world.keep("dana", "the build is red", layer="note", expires_at=now())
    world.run(archive, world.own("dana"), world.who("dana"), old.id)
    who, own = world.who("dana"), world.own("dana")
    mine = {"Dana likes tea", "Dana runs the demo", "We deploy on Tuesdays"}
    assert texts(world.read(my_memory, own, who)) == mine
    assert texts(world.read(my_memory, own, who, status=("archived",))) == {"We deploy on Mondays"}
    team = {"Dana runs the demo", "We deploy on Tuesdays"}
    assert texts(world.read(my_memory, own, who, scope="team")) == team
    assert texts(world.read(my_memory, world.here("dana", "general"), who)) == team


def test_a_conflict_between_bots_is_marked(world: World) -> None:
    dana = world.person("dana")
    one = world.keep("ada", "Dana is in Rome", subject=dana, topic="location")
    two = world.keep("ada", "Dana is in Paris", subject=dana, topic="location", bot_id=SCOUT)
    hidden = world.keep("dana", "Dana is vegan", subject=dana, topic="food")
    world.keep("dana", "Dana eats fish", "dm", subject=dana, topic="food", bot_id=SCOUT)
    marks = {row["id"]: row["conflict"] for row in world.read(as_rows, [one, two, hidden], world.own("ada"))}
    assert marks == {one.id: True, two.id: True, hidden.id: False}
    assert world.read(as_row, hidden, world.own("dana"))["conflict"]


def test_export_is_json_of_everything_that_one_may_read(world: World) -> None:
    dana = world.person("dana")
    said = world.say("ada", "dm", "I may resign")
    world.say("ada", "dm", "Noted.", person_id=None, role="assistant", kind="reply")
    world.say("ada", "ops", "the pager is mine")
    world.say("ben", "dm", "Ada may resign")
    world.learn(said, "ada", "Ada may resign", "dm")
    world.keep("ada", "the key rotates", "ops", bot_id=SCOUT)
    world.keep("ben", "Ada is odd", "dm", subject=world.person("ada"))
    world.run(
        lambda session: session.add(
            JournalRecord(
                id="j", team_id=TEAM, person_id=said.person_id, audience=said.audience,
                record={"userMessage": "I may resign"},
            )
        )
    )  # fmt: skip
    found = world.read(export, world.who("ada"))
    text = json.dumps(found, sort_keys=True)
    assert {row["text"] for row in found["memories"]} == {"Ada may resign", "the key rotates"}
    assert [(row["by"], row["place"]) for row in found["messages"]] == [
        ("Ada", "direct message"),
        ("teambot", "direct message"),
        ("Ada", "#ops"),
    ]
    assert found["journal"] == [{"userMessage": "I may resign"}]
    assert found["accounts"][0]["platform"] == "local"
    assert "odd" not in text
    others = json.dumps(world.read(export, world.who("dana")))
    assert dana
    assert "resign" not in others
    assert "pager" not in others


def lists(world: World, name: str, viewer: Viewer, *, alone: bool) -> list[str]:
    """Every list that readers get, as text."""
    who = world.who(name)

    def everything(session: Session) -> list[Any]:
        mine, team = (my_memory(session, viewer, who, scope=scope) for scope in ("mine", "team"))
        found: list[Any] = [as_rows(session, rows, viewer) for rows in (mine, team)]
        frozen = snapshot(session, viewer, conversation_id="", recent_text="canary", at=now(), alone=alone)
        shown = [*frozen.rules, *frozen.person_facts, *frozen.team_facts, *frozen.log, *frozen.notes_private]
        found.append([row.text for row in shown])
        found.append([row.text for row in alive_notes(session, viewer, now())])
        people = session.scalars(select(Person.id)).all()
        found += [[row.text for row in speaker_facts(session, viewer, person, now())] for person in people]
        return [json.dumps(row) for row in found]

    return world.read(everything)


KEPT = st.lists(
    st.tuples(
        st.sampled_from(["ada", "ben", "dana"]),
        st.sampled_from(["dm", "general", "ops"]),
        st.sampled_from(
            [("fact", "fact"), ("fact", "rule"), ("fact", "private"), ("log", "event"), ("note", "fact")]
        ),
        st.sampled_from(["team", "ada", "ben", "dana", "gil"]),
    ),
    max_size=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kept=KEPT)
def test_no_list_shows_anybody_what_they_may_not_read(
    migrated_sqlite: Path, kept: list[tuple[str, str, tuple[str, str], str]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        database = Database(f"sqlite:///{shutil.copy(migrated_sqlite, Path(folder) / 'teambot.db')}")
        database.run_now(settle)
        world = World(database)
        canaries: dict[str, tuple[str, str]] = {}
        for number, (author, channel, (layer, kind), about) in enumerate(kept):
            if channel == "ops" and author == "dana":
                continue
            place = "dm" if kind in ("rule", "private") else channel
            subject = "team" if about == "team" else world.person(about)
            memory = world.keep(author, f"canary{number}x", place, layer=layer, kind=kind, subject=subject)
            canaries[f"canary{number}x"] = (memory.audience, memory.id)
        viewers = [(name, world.own(name), True) for name in NAMES]
        viewers += [(name, world.here(name, "general"), False) for name in ("ada", "ben", "dana")]
        viewers += [(name, world.here(name, "ops"), False) for name in ("ada", "ben")]
        for name, viewer, alone in viewers:
            said = "\n".join(lists(world, name, viewer, alone=alone))
            if alone:
                said += json.dumps(world.read(export, world.who(name)))
            for word, (audience, memory_id) in canaries.items():
                may = viewer.reads(audience) or (
                    alone and audience.startswith("place:") and name in ("ada", "ben")
                )
                assert may or word not in said
                if not viewer.reads(audience):
                    with pytest.raises(NotFound):
                        world.read(find, viewer, memory_id)
        database.close()
