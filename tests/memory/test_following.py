"""Edits, deletions, places that change and people who leave are followed at once."""

import json
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from memory.cards import Card, open_card
from memory.conversations import Conversation, Entry, Epoch
from memory.database import now
from memory.errors import Refused
from memory.following import message_deleted, message_edited, person_left, place_changed
from memory.journal import JournalRecord
from memory.memories import Memory, Tombstone
from memory.people import Account
from memory.places import Membership, Place
from memory.search import search_entries
from memory.tombstones import source_key
from memory.writing import correct, supersede
from tests.memory.test_forgetting import holding
from tests.memory.world import BOT, TEAM, World, source

CANARY = "zyzzyva"


def delete(world: World, entry: Entry) -> bool:
    channel = (entry.channel_key or "").removeprefix("here/")
    return world.run(message_deleted, "local", "here", channel, entry.message_id or "", now())


def edit(world: World, entry: Entry, text: str, **more: Any) -> bool:
    channel = (entry.channel_key or "").removeprefix("here/")
    return world.run(
        message_edited, "local", "here", channel, entry.message_id or "", text, more.get("at") or now()
    )


def entry_of(world: World, entry: Entry) -> Entry:
    return world.read(lambda session: session.get_one(Entry, entry.seq))


def open_epoch(world: World, entry: Entry, audiences: list[str] | None = None, start: int = 0) -> str:
    epoch = Epoch(
        id=f"epoch-{next(world.counter)}",
        team_id=TEAM,
        conversation_id=entry.conversation_id,
        number=next(world.counter),
        audience=entry.audience,
        audiences=audiences or [entry.audience],
        head="{}",
        hashes={},
        shown={},
        start=start,
        model="m",
    )
    world.run(lambda session: session.add(epoch))
    return epoch.id


def epoch_of(world: World, epoch_id: str) -> Epoch:
    return world.read(lambda session: session.get_one(Epoch, epoch_id))


def test_what_was_learnt_only_from_a_deleted_message_goes(world: World) -> None:
    said = world.say("ada", "general", f"btw my locker code is {CANARY}")
    world.learn(said, "ada", f"Ada's locker code is {CANARY}", origin="pass")
    record: dict[str, Any] = {"userMessage": f"locker {CANARY}", "result": "Noted."}
    world.run(
        lambda session: session.add(
            JournalRecord(id="j", team_id=TEAM, turn_id=said.turn_id, audience="team", record=record)
        )
    )
    epoch = open_epoch(world, said)
    assert delete(world, said)
    assert holding(world) == []
    assert world.read(lambda session: session.scalar(select(func.count()).select_from(Memory))) == 0
    assert epoch_of(world, epoch).end_reason == "forgotten"
    row = entry_of(world, said)
    assert (row.text, row.link) == ("", None)
    assert row.redacted_at is not None
    delete(world, said)
    assert holding(world) == []


def test_explicit_saves_of_a_deleted_message_stay_without_quote_and_link(world: World) -> None:
    said = world.say("ada", "general", f"remember {CANARY}: the wifi is Oak")
    explicit = world.learn(said, "ada", "the wifi name is Oak")
    manual = world.learn(said, "ada", "the wifi is called Oak", origin="manual")
    fixed = world.learn(said, "ada", "the wifi is Elm", origin="pass")
    world.run(correct, world.own("ada"), world.who("ada"), fixed.id, "the wifi is Birch")
    delete(world, said)
    for row in (explicit, manual):
        kept = world.load(row.id)
        assert kept is not None
        assert (kept.quote, kept.link, kept.status) == (None, None, "active")
    put_right = world.load(fixed.id)
    assert put_right is not None
    assert put_right.text == put_right.quote == "the wifi is Birch"
    assert holding(world) == []


def test_what_was_said_again_elsewhere_stays(world: World) -> None:
    first, second = (world.say("ada", "general", "we deploy on Tuesdays") for _ in range(2))
    memory = world.learn(first, "ada", "We deploy on Tuesdays", subject="team", origin="pass")
    world.learn(second, "ada", "we deploy on tuesdays", subject="team", origin="pass")
    delete(world, first)
    kept = world.load(memory.id)
    assert kept is not None
    assert (kept.quote, kept.link) == (None, None)


def test_what_a_deleted_message_replaced_is_history_and_not_current_again(world: World) -> None:
    old = world.keep("ada", "staging is at a")
    said = world.say("ada", "general", "staging moved to b")
    draft = world.draft("ada", "staging is at b", origin="pass", source=source(said))
    world.run(supersede, world.own("ada"), world.who("ada"), old.id, draft, key=("k",))
    delete(world, said)
    left = world.read(lambda session: session.scalars(select(Memory)).all())
    assert [(row.text, row.status, row.superseded_by) for row in left] == [
        ("staging is at a", "archived", None)
    ]


def test_a_deleted_message_is_learnt_from_no_more(world: World) -> None:
    said = world.say("ada", "general", "I like tea")
    delete(world, said)
    with pytest.raises(Refused):
        world.learn(said, "ada", "Ada likes tea", origin="extraction")


def test_a_message_that_was_never_seen_leaves_a_mark(world: World) -> None:
    assert not world.run(message_deleted, "local", "here", "general", "later", now())
    assert not world.run(message_deleted, "local", "here", "new-channel", "later", now())
    assert not world.run(message_deleted, "slack", "T-unknown", "C1", "later", now())
    marks = world.read(lambda session: session.scalars(select(Tombstone)).all())
    keys = {source_key("local", "here/general", "later"), source_key("local", "here/new-channel", "later")}
    assert {mark.key for mark in marks} == keys
    assert {mark.reason for mark in marks} == {"deleted"}


def test_a_message_that_still_waits_changes_and_goes(world: World) -> None:
    waiting = world.say("ada", "general", "deploy to stagin", waiting=True, turn_id=None)
    assert edit(world, waiting, "deploy to staging")
    assert entry_of(world, waiting).text == "deploy to staging"
    assert delete(world, waiting)
    assert entry_of(world, waiting).redacted_at is not None


def test_only_a_change_of_words_counts(world: World) -> None:
    said = world.say("ada", "general", "deploy to stagin")
    assert not edit(world, said, "deploy to stagin")
    assert edit(world, said, "deploy to staging")
    assert not edit(world, said, "deploy to stagin", at=said.said_at)
    row = entry_of(world, said)
    assert row.text == "deploy to staging"
    assert json.loads(row.blocks or "")[-1]["text"] == "deploy to stagin"
    found = world.read(search_entries, world.own("ada"), "staging")
    assert [hit.id for hit in found] == [said.id]
    world.run(message_edited, "local", "here", "general", "unseen", "hello", now())


def test_what_is_no_longer_said_is_no_longer_known(world: World) -> None:
    said = world.say("ada", "general", f"I like tea and {CANARY} cake", blocks=None)
    world.say("ada", "general", "what else?")
    cake = world.learn(
        said, "ada", f"Ada likes {CANARY} cake", origin="pass", source=source(said, f"{CANARY} cake")
    )
    tea = world.learn(said, "ada", "Ada likes tea", origin="pass", source=source(said, "I like tea"))
    saved = world.learn(said, "ada", "Ada eats cake", source=source(said, f"and {CANARY} cake"))
    edit(world, said, "I like tea")
    assert world.load(cake.id) is None
    kept, explicit = world.load(tea.id), world.load(saved.id)
    assert kept is not None
    assert explicit is not None
    assert (kept.quote, kept.link, explicit.quote, explicit.link) == ("I like tea", said.link, None, None)
    assert holding(world) == []
    assert world.learn(said, "ada", "Ada drinks tea", origin="extraction").status == "active"


def test_a_secret_in_an_edit_is_withheld(world: World) -> None:
    said = world.say("ada", "general", "hello")
    edit(world, said, "the prod password is Tr0ub4dor-EXAMPLE")
    assert "Tr0ub4dor" not in entry_of(world, said).text


def test_a_place_that_opens_up_ends_prompts_and_narrows_new_words(world: World) -> None:
    said = world.say("ada", "general", "hello")
    epoch = open_epoch(world, said, ["team"])
    assert world.run(place_changed, said.place_id) == 0

    def open_up(session: Session) -> int:
        session.get_one(Place, said.place_id).external = True
        session.flush()
        return place_changed(session, said.place_id)

    assert world.run(open_up) == 1
    assert epoch_of(world, epoch).end_reason == "readers changed"
    talk = world.read(lambda session: session.get_one(Conversation, said.conversation_id))
    assert talk.audience == f"place:{said.place_id}"
    assert world.run(place_changed, "unknown") == 0


def test_who_left_reads_and_presses_nothing_of_the_team(world: World) -> None:
    said = world.say("ben", "dm", "hello")
    both = open_epoch(world, said, ["team", said.audience])
    card = world.run(
        open_card, world.who("ben"), action="share", payload={}, text="?", readers="",
        audience=world.own("ben").writes, place_id=None, bot_id=BOT, turn_id=None, key=("c",),
    )  # fmt: skip
    ben = world.person("ben")

    def leave(session: Session) -> None:
        for account in session.scalars(select(Account).where(Account.person_id == ben)):
            account.standing = "deactivated"
        session.flush()
        person_left(session, ben)

    world.run(leave)
    assert epoch_of(world, both).end_reason == "readers changed"
    assert world.read(lambda session: session.get_one(Card, card.id)).status == "cancelled"
    left = select(func.count()).select_from(Membership).where(Membership.person_id == ben)
    assert world.read(lambda session: session.scalar(left)) == 0
    world.run(person_left, "nobody")
