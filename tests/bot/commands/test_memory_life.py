"""Pause, resume and policy: whether and from whom is learnt at all."""

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from bot.errors import BadInput, NotAllowed
from memory.cards import Card
from memory.learning import is_paused, may_learn
from memory.people import Person, Team
from tests.bot.office import Office
from tests.memory.world import place


def learns(office: Office, name: str, channel: str, thread: str | None = None) -> bool:
    def ask(session: Session) -> bool:
        person = session.scalars(select(Person.id).where(Person.name == name.title())).one()
        where = place(session, f"dm-{name}" if channel == "dm" else channel)
        key = f"dm:{person}" if channel == "dm" else f"place:{where.id}" + (f":{thread}" if thread else "")
        return may_learn(session, person, where, key)

    return office.read(ask)


def test_a_person_pauses_everywhere_and_goes_on(office: Office) -> None:
    assert "nothing from you anywhere" in office.type("ada", "general", "/memory pause").text
    assert not any(learns(office, "ada", channel) for channel in ("dm", "general", "ops"))
    assert learns(office, "ben", "general")
    assert "paused" in office.type("ada", "dm", "/memory show").text
    assert "paused everywhere" in office.type("ada", "general", "/memory resume here").text
    office.type("ada", "dm", "/memory resume")
    assert all(learns(office, "ada", channel) for channel in ("dm", "general", "ops"))
    assert "was not paused" in office.type("ada", "dm", "/memory resume").text


def test_a_person_pauses_in_one_place(office: Office) -> None:
    office.type("ada", "general", "/memory pause here")
    assert [learns(office, "ada", channel) for channel in ("dm", "general", "ops")] == [True, False, True]
    assert not learns(office, "ada", "general", "t1")
    assert learns(office, "ben", "general")
    office.type("ada", "dm", "/memory pause here")
    assert not learns(office, "ada", "dm")
    office.type("ada", "general", "/memory resume here")
    assert [learns(office, "ada", channel) for channel in ("dm", "general")] == [False, True]


def test_a_person_pauses_in_one_thread(office: Office) -> None:
    office.type("ada", "general", "/memory pause thread", thread="t1")
    assert not learns(office, "ada", "general", "t1")
    assert learns(office, "ada", "general", "t2")
    assert learns(office, "ada", "general")
    with pytest.raises(BadInput, match="not a thread"):
        office.type("ada", "general", "/memory pause thread")


def test_resuming_everywhere_leaves_no_exception(office: Office) -> None:
    office.type("ada", "general", "/memory pause here")
    office.type("ada", "general", "/memory pause thread", thread="t1")
    office.type("ada", "dm", "/memory resume")
    assert learns(office, "ada", "general", "t1")
    assert not office.read(is_paused, office.person("ada"))


def test_the_policy_is_read_by_all_and_set_by_admins(office: Office) -> None:
    rows = {row["setting"]: row["value"] for row in office.type("gil", "dm", "/memory policy").rows}
    assert rows == {"who_writes": "anyone", "guests_read_team": "no"}
    with pytest.raises(NotAllowed, match="Only admins"):
        office.type("ben", "dm", "/memory policy who_writes admins")
    for value in ("approve", "ADMINS", "anyone"):
        (row,) = office.type("ada", "dm", f"/memory policy who_writes {value}").rows
        assert row["value"] == value.casefold()
    with pytest.raises(BadInput, match="anyone, approve, admins"):
        office.type("ada", "dm", "/memory policy who_writes nobody")
    with pytest.raises(BadInput):
        office.type("ada", "dm", "/memory policy retention 3")


def test_only_admins_write_where_the_policy_says_so(office: Office) -> None:
    mine = office.type("ben", "general", "/memory add We deploy on Tuesdays").rows[0]["id"]
    own = office.type("ben", "dm", "/memory add I use Vim").rows[0]["id"]
    office.type("ada", "dm", "/memory policy who_writes admins")
    for text in (
        "/memory add The demo is on Friday",
        f"/memory edit {mine} We deploy on Mondays",
        f"/memory share {own}",
    ):
        with pytest.raises(NotAllowed, match="Only admins write"):
            office.type("ben", "general" if "share" not in text else "dm", text)
    assert office.type("ben", "general", "/memory add I use Emacs share me").undo
    assert office.type("ada", "general", "/memory add The demo is on Friday").undo


def test_under_approval_the_first_admin_decides_for_all(office: Office) -> None:
    office.run(_make_admin, "dana")
    office.type("ada", "dm", "/memory policy who_writes approve")
    told = office.type("ben", "general", "/memory add We deploy on Tuesdays").text
    assert "Ada, Dana" in told
    assert office.type("ben", "dm", "/confirm").cards == ()
    (one,) = office.type("ada", "dm", "/confirm").cards
    (other,) = office.type("dana", "dm", "/confirm").cards
    assert one.text == other.text == "Ben wants to add to the team's memory: We deploy on Tuesdays"
    assert office.type("dana", "dm", f"/confirm {other.id}").undo
    with pytest.raises(NotAllowed):
        office.type("ada", "dm", f"/confirm {one.id}")
    (row,) = office.type("ben", "dm", "/memory show team").rows
    assert (row["text"], row["author"]) == ("We deploy on Tuesdays", "Ben")


def test_an_approved_sharing_keeps_the_private_row(office: Office) -> None:
    office.type("ada", "dm", "/memory policy who_writes approve")
    own = office.type("ben", "dm", "/memory add I use Vim").rows[0]["id"]
    card = office.type("ben", "dm", f"/memory share {own}").cards[0]
    assert office.type("ada", "dm", "/confirm").cards == ()
    assert "not saved yet" in office.type("ben", "dm", f"/confirm {card.id}").text
    (admin,) = office.type("ada", "dm", "/confirm").cards
    office.type("ada", "dm", f"/confirm {admin.id}")
    assert [row["text"] for row in office.type("dana", "dm", "/memory show team").rows] == ["I use Vim"]
    assert own in office.ids("ben").values()


def test_an_admin_who_is_none_any_more_lets_nothing_in(office: Office) -> None:
    office.run(_make_admin, "dana")
    office.type("ada", "dm", "/memory policy who_writes approve")
    office.type("ben", "general", "/memory add We deploy on Tuesdays")
    (card,) = office.type("dana", "dm", "/confirm").cards
    office.run(_make_admin, "dana", "member")
    with pytest.raises(NotAllowed):
        office.type("dana", "dm", f"/confirm {card.id}")
    assert office.read(lambda session: session.get_one(Card, card.id).status) == "open"


def _make_admin(session: Session, name: str, role: str = "admin") -> None:
    session.scalars(select(Person).where(Person.name == name.title())).one().role = role


def test_a_strange_stored_policy_reads_as_the_default(office: Office) -> None:
    office.run(_store, {"who_writes_team_memory": "everybody", "guests_read_team": True})
    rows = {row["setting"]: row["value"] for row in office.type("ada", "dm", "/memory policy").rows}
    assert rows == {"who_writes": "anyone", "guests_read_team": "yes"}


def _store(session: Session, settings: dict[str, object]) -> None:
    session.scalars(select(Team)).one().settings = settings
