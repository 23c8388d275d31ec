"""The gate: the table of who may read what, flag by flag."""

from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from memory.audience import TEAM, Viewer, of_person, of_place, readable, viewer, written
from memory.conversations import Entry
from memory.database import Database
from memory.people import Account, Person, Team, Workspace, add_account
from memory.places import Membership, Place, add_place, find_place

PLACE, PERSON = "p1", "ada"
ALL = {"alone": False, "guest": False, "kind": "public", "external": False, "guests": "no"}


def reads(**flags: object) -> set[str]:
    return set(readable(**{**ALL, **flags, "place_id": PLACE, "person_id": PERSON}))  # type: ignore[arg-type]


def test_one_member_alone_reads_the_team_and_themself() -> None:
    assert reads(alone=True, kind="dm") == {TEAM, of_person(PERSON)}


def test_a_public_channel_of_members_reads_the_team() -> None:
    assert reads() == {TEAM}


def test_a_private_channel_of_members_reads_the_team_and_that_place() -> None:
    assert reads(kind="private") == {TEAM, of_place(PLACE)}


@pytest.mark.parametrize("kind", ["public", "private"])
@pytest.mark.parametrize(
    "opened", [{"external": True}, {"guests": "yes"}, {"guests": "unknown"}, {"guest": True}]
)
def test_where_others_read_too_or_nobody_knows_only_that_place_is_read(
    kind: str, opened: dict[str, object]
) -> None:
    assert reads(kind=kind, **opened) == {of_place(PLACE)}


def test_a_guest_alone_reads_only_their_own() -> None:
    assert reads(alone=True, guest=True) == {of_person(PERSON)}
    assert reads(alone=True, guest=True, kind="private", external=True) == {of_person(PERSON)}


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("guest", [True, False])
@pytest.mark.parametrize("kind", ["public", "private", "dm"])
@pytest.mark.parametrize("external", [True, False])
@pytest.mark.parametrize("guests", ["no", "yes", "unknown"])
def test_what_is_said_there_can_be_read_there_and_is_never_wider(
    alone: bool, guest: bool, kind: str, external: bool, guests: str
) -> None:
    alone = alone or kind == "dm"
    flags = {"alone": alone, "guest": guest, "kind": kind, "external": external, "guests": guests}
    audience = written(**flags, place_id=PLACE, person_id=PERSON)  # type: ignore[arg-type]
    assert audience in reads(**flags)
    if audience == TEAM:
        assert (alone, guest, external, guests, kind) == (False, False, False, "no", "public")


def test_a_flag_that_flips_counts_at_the_next_read(database_url: str) -> None:
    database = Database(database_url)
    with_flags = database.run_now(_team)
    assert with_flags == {TEAM}
    for change, expected in (
        ({"external": True}, {"place"}),
        ({"external": False, "guests": "unknown"}, {"place"}),
        ({"guests": "no", "kind": "private"}, {TEAM, "place"}),
    ):
        assert database.run_now(_flip, change) == expected
    assert database.run_now(_with_guest) == {"place"}
    assert database.run_now(_by_policy) == {TEAM, "place"}
    database.close()


def _team(session: Session) -> Any:
    session.add(Team(id="t", name="Team"))
    session.flush()
    session.add(Workspace(id="w", team_id="t", platform="local", external_id="local"))
    add_account(session, "t", "local", "local", "ada", "Ada")
    add_place(session, "t", "local", "local", "ops", "public", "ops")
    return _seen(session)


def _flip(session: Session, change: dict[str, Any]) -> Any:
    place = _place(session)
    for name, value in change.items():
        setattr(place, name, value)
    session.flush()
    return _seen(session)


def _with_guest(session: Session) -> Any:
    guest = add_account(session, "t", "local", "local", "gus", "Gus", standing="guest")
    session.add(Membership(place_id=_place(session).id, person_id=guest.person_id, team_id="t"))
    session.flush()
    return _seen(session)


def _by_policy(session: Session) -> Any:
    session.get_one(Team, "t").settings = {"guests_read_team": True}
    session.flush()
    return _seen(session)


def _place(session: Session) -> Place:
    place = find_place(session, "local", "local", "ops")
    assert place is not None
    return place


def _seen(session: Session) -> Any:
    account = session.scalars(select(Account).where(Account.external_id == "ada")).one()
    found = viewer(session, "bot", _place(session), account.id)
    return {"place" if audience.startswith("place:") else audience for audience in found.audiences}


def test_a_reply_that_drew_on_more_than_its_place_needs_readers_of_both() -> None:
    team_and_place = Viewer("t", "b", "ada", "p", (TEAM, of_place("p")), of_place("p"))
    assert team_and_place.drawn_from == TEAM
    narrowed = Viewer("t", "b", "ada", "p", (of_place("p"),), of_place("p"))
    assert "drawn_from" in str(narrowed.may_read(Entry))
    assert narrowed.drawn_from is None


def test_the_person_who_left_counts_as_a_guest(database_url: str) -> None:
    database = Database(database_url)
    database.run_now(_team)

    def leave(session: Session) -> Any:
        account = session.scalars(select(Account).where(Account.external_id == "ada")).one()
        account.standing = "deactivated"
        assert session.get_one(Person, account.person_id).role == "member"
        session.flush()
        return _seen(session)

    assert database.run_now(leave) == {"place"}
    database.close()
