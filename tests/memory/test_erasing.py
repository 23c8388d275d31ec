"""Everything of a person goes, nothing of others, and no backup or backfill brings it back."""

import json
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from memory.conversations import Conversation, Entry
from memory.database import Database, now
from memory.erasing import apply_ledger, erase, erased_since, ledger
from memory.errors import Refused
from memory.following import message_deleted
from memory.forgetting import forget
from memory.learning import pause
from memory.listing import export
from memory.memories import Memory
from memory.people import Account, Person, find_account, speaker
from memory.turns import Turn
from memory.writing import correct, supersede
from tests.memory.test_forgetting import _bot, holding, told
from tests.memory.world import SCOUT, World, source

CANARY = "zyzzyva"


def live(world: World) -> dict[str, Entry | Memory]:
    """Ada's life with the bot, full of canaries, and what others said beside."""
    ada = world.person("ada")
    private = world.say("ada", "dm", f"I may leave in March, {CANARY}")
    world.say("ada", "dm", f"with the other bot: {CANARY}", bot=SCOUT)
    public = world.say("ada", "general", f"we deploy on Tuesdays, {CANARY}")
    question = world.say("ben", "general", "when do we deploy?")
    kept: dict[str, Entry | Memory] = {
        "private": world.learn(private, "ada", f"Ada may leave in March, {CANARY}", "dm"),
        "note": world.keep("ada", f"the locker is {CANARY}", "dm", kind="private"),
        "team": world.learn(public, "ada", f"We deploy on Tuesdays, {CANARY}", subject="team"),
        "about": world.keep("ben", f"Ada runs the {CANARY} demo", subject=ada),
        "bens": world.keep("ben", "she is odd", "dm", subject=ada),
        "place": world.keep("ada", f"the pager is {CANARY}", "ops"),
        "question": question,
    }
    fixed = world.keep("ada", f"Dana runs {CANARY}", subject=world.person("dana"))
    world.run(correct, world.own("dana"), world.who("dana"), fixed.id, "Dana runs the tests")
    kept["fixed"] = fixed
    memory = kept["team"]
    assert isinstance(memory, Memory)
    for said in (private, public):
        world.run(told, said, memory.id)
    world.run(_answered, question, memory.id)
    world.run(pause, ada, "somewhere")
    return kept


def _answered(session: Session, question: Entry, memory_id: str) -> None:
    talk = session.get_one(Conversation, question.conversation_id)
    _bot(session, talk, question, "reply", [{"type": "text", "text": CANARY}], [memory_id], CANARY)


def test_erased_words_are_nowhere_and_others_keep_theirs(world: World) -> None:
    kept = live(world)
    assert len(holding(world)) > 20
    receipt = world.run(erase, world.who("ada"))
    assert holding(world) == []
    assert holding(world, "ada ") == []
    assert CANARY not in " ".join(receipt.lines)
    assert receipt.counts["shared"] == 1
    left = world.read(lambda session: session.scalars(select(Memory.text)).all())
    assert sorted(left) == ["Dana runs the tests", "she is odd"]
    question = kept["question"]
    assert isinstance(question, Entry)
    row = world.read(lambda session: session.get_one(Entry, question.seq))
    assert (row.text, row.redacted_at) == ("when do we deploy?", None)
    talks = world.read(lambda session: session.scalars(select(Conversation.title)).all())
    assert set(talks) == {""}


def test_the_accounts_stay_without_names(world: World) -> None:
    live(world)
    who = world.who("ada")
    world.run(erase, who)
    person = world.read(lambda session: session.get_one(Person, who.person_id))
    assert (person.name, person.role, list(person.settings)) == ("Erased person", "owner", ["erased_at"])
    account = world.read(find_account, "local", "here", "ada")
    assert account is not None
    assert (account.id, account.name) == (who.account_id, "Erased person")
    found = world.read(export, world.who("ada"))
    assert (found["memories"], found["messages"]) == ([], [])
    assert CANARY not in json.dumps(found)


def test_turns_of_an_erased_person_are_asked_to_stop(world: World) -> None:
    said = world.say("ada", "dm", "hello")
    world.run(told, said, world.keep("ada", "hello").id)
    world.run(erase, world.who("ada"))
    turn = world.read(lambda session: session.scalars(select(Turn)).one())
    assert (turn.stop_requested, turn.remembered) == (True, {})


def test_what_was_said_before_is_never_taken_in_again_and_what_is_said_after_is(world: World) -> None:
    who = world.who("ada")
    before = now()
    world.run(erase, who)
    assert world.read(erased_since, who.account_id, before)
    assert not world.read(erased_since, who.account_id, now() + timedelta(minutes=1))
    assert not world.read(erased_since, world.who("ben").account_id, before)
    assert world.keep("ada", "I am new here", "dm").text == "I am new here"


def test_linked_accounts_are_erased_together(world: World) -> None:
    who = world.who("ada")

    def link(session: Session) -> str:
        other = session.merge(Account(
            id="slack-ada", team_id=who.team_id, person_id=who.person_id, platform="slack", workspace="T1",
            external_id="U1", name="Ada L.",
        ))  # fmt: skip
        return other.id

    linked = world.run(link)
    world.run(erase, who)
    assert world.read(erased_since, linked, now() - timedelta(days=1))
    assert world.read(speaker, linked).name == "Erased person"


def test_erasing_twice_changes_nothing_more(world: World) -> None:
    live(world)
    world.run(erase, world.who("ada"))
    again = world.run(erase, world.who("ada"))
    assert again.counts == {"memories": 0, "private": 0, "files": 0, "shared": 0}


def test_a_source_that_was_erased_teaches_nothing(world: World) -> None:
    said = world.say("ada", "dm", "I like tea")
    world.run(erase, world.who("ada"))
    with pytest.raises(Refused):
        world.learn(said, "ada", "Ada likes tea", "dm", origin="extraction")


def test_what_an_erased_person_replaced_becomes_history(world: World) -> None:
    old = world.keep("ben", "staging is at a")
    draft = world.draft("ada", "staging is at b")
    world.run(supersede, world.own("ada"), world.who("ada"), old.id, draft, key=("k",))
    world.run(erase, world.who("ada"))
    left = world.load(old.id)
    assert left is not None
    assert (left.status, left.superseded_by) == ("archived", None)


def test_private_words_do_not_decide_what_goes_from_shared_talk(world: World) -> None:
    """Ben sees the same of the shared talk whether or not Ada had private memories."""
    world.keep("ada", "the merger is called Falcon", "dm")
    hello = world.say("ada", "general", "hello all")
    world.learn(hello, "ada", "Ada greets people", subject="team")
    asked = world.say("ben", "general", "which bird?")
    words = "A falcon."

    def answer(session: Session) -> None:
        talk = session.get_one(Conversation, asked.conversation_id)
        _bot(session, talk, asked, "reply", [{"type": "text", "text": words}], [], words)

    world.run(answer)
    world.run(erase, world.who("ada"))
    texts = world.read(lambda session: session.scalars(select(Entry.text).where(Entry.text != "")).all())
    assert sorted(texts) == [words, "which bird?"]


def restored(world: World, folder: Path) -> tuple[Path, Path]:
    path = Path(world.database.url.removeprefix("sqlite:///"))
    return path, folder / "backup.db"


def test_a_restored_backup_is_brought_up_to_date_by_the_ledger(world: World, tmp_path: Path) -> None:
    if not world.database.is_sqlite:
        rows = world.read(ledger)
        assert world.run(apply_ledger, rows) == 0
        return
    path, backup = restored(world, tmp_path)
    live(world)
    bens = world.say("ben", "general", "canary bird: kakapo")
    bens_fact = world.learn(bens, "ben", "Ben's bird is the kakapo", "general", origin="pass")
    danas = world.say("dana", "general", "canary bird: hoatzin")
    world.run(told, danas, bens_fact.id)
    with world.database.writing.connect() as connection:
        connection.exec_driver_sql("PRAGMA user_version")
    world.database.run_now(lambda session: session.info.update(scrub=True))
    shutil.copy(path, backup)
    world.run(erase, world.who("ada"))
    world.run(forget, world.own("ben"), world.who("ben"), bens_fact.id)
    world.run(message_deleted, "local", "here", "general", danas.message_id or "", now())
    lines = json.loads(json.dumps(world.read(ledger)))
    assert all(word not in json.dumps(lines) for word in (CANARY, "kakapo", "hoatzin"))
    old = World(Database(f"sqlite:///{backup}"))
    assert holding(old, CANARY)
    assert holding(old, "kakapo")
    assert old.run(apply_ledger, lines) == len(lines)
    for word in (CANARY, "kakapo", "hoatzin"):
        assert holding(old, word) == []
    assert old.run(apply_ledger, lines) == 0
    ada = old.who("ada")
    assert old.read(erased_since, ada.account_id, now() - timedelta(hours=1))
    said: list[Any] = list(old.read(lambda session: session.scalars(select(Entry.text)).all()))
    assert "when do we deploy?" in said
    with pytest.raises(Refused):
        old.write(old.draft("ben", "Ben likes birds", origin="extraction", source=source(bens)))
    old.database.close()


def test_a_ledger_of_unknown_teams_does_nothing(world: World) -> None:
    rows = [{"kind": "account", "team": "elsewhere", "key": "x", "at": now().isoformat()}]
    assert world.run(apply_ledger, rows) == 0
