"""Export and erase: a person's whole, as a copy or gone for good."""

import json

import pytest
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from bot.errors import NotAllowed, Unknown
from memory.cards import Card
from memory.conversations import Entry
from tests.bot.office import Office


def everything(session: Session) -> str:
    """Every row of every table of ours, as text."""
    tables = (
        "memories",
        "memory_changes",
        "entries",
        "cards",
        "persons",
        "accounts",
        "refusals",
        "tombstones",
    )
    return " ".join(str(row) for name in tables for row in session.execute(text(f"SELECT * FROM {name}")))


def test_an_export_is_all_of_ones_own_and_nobody_elses(office: Office) -> None:
    office.say("ada", "general", "we deploy on Tuesdays")
    office.say("ben", "dm", "Ada sings like a canary")
    office.type("ada", "dm", "/memory add I use Vim")
    office.type("ada", "general", "/note add Ben owes me")
    office.type("ben", "dm", "/note add Ada is a canary")
    result = office.type("ada", "general", "/memory export")
    (row,) = result.rows
    assert {memory["text"] for memory in row["memories"]} == {"I use Vim", "Ben owes me"}
    assert [message["text"] for message in row["messages"]] == ["we deploy on Tuesdays"]
    assert "canary" not in str(result)
    assert result.file is not None
    assert result.file.data is not None
    assert json.loads(result.file.data) == row
    assert "2 memories and 1 message" in result.text
    assert "```json" in result.text


def test_a_long_export_is_a_file_beside_the_answer(office: Office) -> None:
    for number in range(30):
        office.type("ada", "dm", f"/memory add My desk drawer number {number} holds {'pens ' * 20}")
    result = office.type("ada", "dm", "/memory export")
    assert len(result.text) < 200
    assert result.file is not None
    assert result.file.size > 3_000


def test_an_export_is_the_same_with_and_without_others_private_words(office: Office) -> None:
    office.type("ada", "dm", "/memory add I use Vim")
    before = office.type("ada", "dm", "/memory export")
    asked = office.type("ada", "dm", "/memory erase")
    ben = office.say("ben", "dm", "Ada uses Vim badly")
    office.learn(ben, "ben", "Ada uses Vim badly", "dm", subject=office.person("ada"))
    assert office.type("ada", "dm", "/memory export") == before
    assert office.type("ada", "dm", "/memory erase") == asked


def test_erasing_takes_everything_of_one_person_after_a_press(office: Office) -> None:
    office.say("ada", "general", "my violet parrot code is 71")
    office.say("ada", "dm", "the violet parrot is mine")
    office.type("ada", "dm", "/memory add My violet parrot sings")
    office.type("ada", "dm", "/note add violet feathers")
    office.type("ben", "dm", "/memory add Parrots live long")
    (card,) = office.type("ada", "dm", "/memory erase").cards
    assert "2 memories and 2 messages" in card.text
    assert card.readers == "only Ada"
    with pytest.raises(Unknown):
        office.type("ben", "dm", f"/confirm {card.id}")
    assert "violet" in office.read(everything)
    done = office.type("ada", "dm", f"/confirm {card.id}")
    assert "Not undone" in done.text
    assert done.undo is None
    left = office.read(everything)
    assert "violet" not in left
    assert "Parrots live long" in left
    assert office.ids("ada") == {}
    with pytest.raises(Unknown):
        office.type("ada", "dm", f"/confirm {card.id}")


def test_erasing_takes_words_that_wait_for_an_admin(office: Office) -> None:
    office.type("ada", "dm", "/memory policy who_writes approve")
    office.type("ben", "general", "/memory add The violet parrot is in the team")
    entry = office.say("ben", "general", "from now on always greet the violet parrot")
    words = "always greet the violet parrot"
    office.call("memory_write", entry, action="create", kind="rule", text=words, quote=words)
    assert len(office.type("ada", "dm", "/confirm").cards) == 2
    (card,) = office.type("ben", "dm", "/memory erase").cards
    office.type("ben", "dm", f"/confirm {card.id}")
    assert "violet" not in office.read(everything)
    assert office.type("ada", "dm", "/confirm").cards == ()


def test_a_cancelled_erase_keeps_everything(office: Office) -> None:
    office.type("ada", "dm", "/memory add I use Vim")
    (card,) = office.type("ada", "dm", "/memory erase").cards
    office.type("ada", "dm", f"/cancel {card.id}")
    with pytest.raises(NotAllowed):
        office.type("ada", "dm", f"/confirm {card.id}")
    assert list(office.ids("ada")) == ["I use Vim"]
    (again,) = office.type("ada", "dm", "/memory erase").cards
    assert again.id != card.id
    assert office.read(lambda session: session.get_one(Card, again.id).status) == "open"


def test_somebody_without_anything_is_told_so(office: Office) -> None:
    assert "0 memories and 0 messages" in office.type("gil", "dm", "/memory export").text
    assert office.read(lambda session: session.scalars(select(Entry)).all()) == []
