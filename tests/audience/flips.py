"""What changes in the world while a turn runs: in the database by a transaction of its own, and in ours."""

from dataclasses import dataclass
from typing import Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from memory.database import Database
from memory.following import person_left, place_changed
from memory.people import Account, Person, Team
from memory.places import Membership, Place
from tests.audience.world import Human, World

What = Literal[
    "external", "inside", "guests", "no guests", "unknown", "private", "public", "join", "leave",
    "demote", "promote", "deactivate", "reinstate", "guests read", "guests do not", "approve", "anyone",
]  # fmt: skip


@dataclass(frozen=True)
class Flip:
    """One change, of a channel or of a person; `told`: the platform's event follows it."""

    what: What
    where: str = "general"
    who: str = "ben"
    told: bool = False


def flip(database: Database, world: World, change: Flip) -> None:
    """Makes the change in both worlds."""
    _ours(world, change)
    database.run_now(_theirs, change)


def _ours(world: World, change: Flip) -> None:
    channel, human = world.channels[change.where], world.people[change.who]
    match change.what:
        case "external" | "inside":
            channel.external = change.what == "external"
        case "guests" | "no guests" | "unknown":
            channel.guests = {"guests": "yes", "no guests": "no", "unknown": "unknown"}[change.what]
        case "private" | "public":
            channel.kind = change.what
        case "join":
            channel.members.add(change.who)
        case "leave":
            channel.members.discard(change.who)
        case "demote" | "promote":
            human.role = _role(change)
        case "deactivate" | "reinstate":
            human.standing = "deactivated" if change.what == "deactivate" else "member"
        case "guests read" | "guests do not":
            world.guests_read_team = change.what == "guests read"
    if change.what == "deactivate" and change.told:
        for one in world.channels.values():
            one.members.discard(change.who)


def _role(change: Flip) -> str:
    return "guest" if change.what == "demote" else ("owner" if change.who == "ada" else "member")


def _theirs(session: Session, change: Flip) -> None:
    place = session.scalars(select(Place).where(Place.channel == change.where)).one()
    account = session.scalars(select(Account).where(Account.external_id == change.who)).one()
    person = session.get_one(Person, account.person_id)
    team = session.get_one(Team, place.team_id)
    match change.what:
        case "external" | "inside":
            place.external = change.what == "external"
        case "guests" | "no guests" | "unknown":
            place.guests = {"guests": "yes", "no guests": "no", "unknown": "unknown"}[change.what]
        case "private" | "public":
            place.kind = change.what
        case "join":
            session.merge(Membership(place_id=place.id, person_id=person.id, team_id=place.team_id))
        case "leave":
            row = session.get(Membership, (place.id, person.id))
            if row is not None:
                session.delete(row)
        case "demote" | "promote":
            person.role = _role(change)
        case "deactivate" | "reinstate":
            account.standing = "deactivated" if change.what == "deactivate" else "member"
        case "guests read" | "guests do not":
            team.settings = {**team.settings, "guests_read_team": change.what == "guests read"}
        case "approve" | "anyone":
            team.settings = {**team.settings, "who_writes_team_memory": change.what}
    session.flush()
    if change.told and change.what in ("deactivate", "demote"):
        if change.what == "deactivate":
            person_left(session, person.id)
    elif change.told:
        place_changed(session, place.id)


def settle(session: Session, team_id: str, world: World) -> None:
    """Dana, Gus and the channels beside the first people and #general."""
    from memory.people import LOCAL
    from memory.places import add_place

    people: dict[str, str] = {}
    for name, human in world.people.items():
        account = session.scalar(select(Account).where(Account.external_id == name))
        if account is None:
            account = _added(session, team_id, name, human)
        people[name] = account.person_id
    for name, channel in world.channels.items():
        place = session.scalar(select(Place).where(Place.channel == name))
        if place is None:
            kind: Literal["public", "private"] = "private" if channel.kind == "private" else "public"
            place = add_place(session, team_id, LOCAL, LOCAL, name, kind, name)
        place.external, place.guests = channel.external, channel.guests
        for member in sorted(channel.members):
            session.add(Membership(place_id=place.id, person_id=people[member], team_id=team_id))
    session.flush()


def _added(session: Session, team_id: str, name: str, human: Human) -> Account:
    from memory.people import LOCAL, add_account

    standing: Literal["member", "guest"] = "guest" if human.standing == "guest" else "member"
    role: Literal["member", "guest"] = "guest" if human.role == "guest" else "member"
    return add_account(session, team_id, LOCAL, LOCAL, name, name.title(), role=role, standing=standing)
