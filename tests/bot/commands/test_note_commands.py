"""Private notes: their author's alone, wherever they are typed."""

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from bot.errors import BadInput, Unknown
from memory.bots import Bot
from memory.memories import Memory
from tests.bot.office import Office
from tests.memory.world import BOT, SCOUT


def notes(office: Office, name: str, query: str = "", **more: str) -> dict[str, str]:
    return {row["text"]: row["id"] for row in office.type(name, "dm", f"/note list {query}", **more).rows}


def test_a_note_typed_in_a_channel_is_private(office: Office) -> None:
    result = office.type("ada", "general", "/note add Ben owes me five euros")
    (row,) = result.rows
    assert (row["audience"], row["kind"], row["layer"]) == ("person:ada", "private", "fact")
    assert result.undo is not None
    assert list(notes(office, "ada")) == ["Ben owes me five euros"]
    for name in ("ben", "dana", "gil"):
        assert notes(office, name) == {}
        assert office.type(name, "general", "/memory search euros Ben").rows == ()


def test_no_admin_reads_a_members_note(office: Office) -> None:
    memory_id = office.type("ben", "dm", "/note add I may leave").rows[0]["id"]
    for command in ("/memory source", "/memory forget", "/note delete", "/memory share"):
        with pytest.raises(Unknown):
            office.type("ada", "dm", f"{command} {memory_id}")


def test_notes_are_filtered_by_words_in_any_script(office: Office) -> None:
    for text in ("Buy tea for İzmir", "定例会議は火曜", "Call the dentist"):
        office.type("ada", "dm", f"/note add {text}")
    assert list(notes(office, "ada", "izmir")) == ["Buy tea for İzmir"]
    assert list(notes(office, "ada", "会議")) == ["定例会議は火曜"]
    assert list(notes(office, "ada", "dent call")) == ["Call the dentist"]
    assert notes(office, "ada", "zebra") == {}
    assert len(notes(office, "ada")) == 3


def test_a_deleted_note_is_gone_after_a_press(office: Office) -> None:
    office.type("ada", "dm", "/note add The canary sings")
    memory_id = notes(office, "ada")["The canary sings"]
    (card,) = office.type("ada", "dm", f"/note delete {memory_id}").cards
    assert "The canary sings" in card.text
    assert notes(office, "ada")
    office.type("ada", "dm", f"/confirm {card.id}")
    assert notes(office, "ada") == {}
    assert office.read(lambda session: session.scalars(select(Memory)).all()) == []


def test_what_is_no_note_is_not_deleted_as_one(office: Office) -> None:
    memory_id = office.type("ada", "dm", "/memory add I use Vim").rows[0]["id"]
    with pytest.raises(Unknown, match="no private note"):
        office.type("ada", "dm", f"/note delete {memory_id}")


def test_notes_belong_to_the_person_with_every_bot_and_after_it(office: Office) -> None:
    office.type("ada", "dm", "/note add The canary sings", bot=SCOUT)
    assert list(notes(office, "ada", bot=BOT)) == ["The canary sings"]
    office.run(_delete_bot)
    assert list(notes(office, "ada")) == ["The canary sings"]


def _delete_bot(session: Session) -> None:
    session.delete(session.get_one(Bot, SCOUT))


def test_a_note_needs_words(office: Office) -> None:
    with pytest.raises(BadInput):
        office.type("ada", "dm", "/note add   ")
