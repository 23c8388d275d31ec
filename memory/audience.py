"""The one gate: who may read what, as one SQL condition used by every read."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from sqlalchemy import ColumnElement, and_, exists, or_, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from memory.errors import NotFound
from memory.memories import TEAM_SUBJECT, Memory
from memory.people import Account, Person, Speaker, Team, speaker
from memory.places import Membership, Place

TEAM = "team"
Audience = str
"""`team`, `place:<id>` or `person:<id>`."""


class Gated(Protocol):
    """A table that holds words."""

    team_id: Any
    audience: Any


def marks(audiences: Iterable[Audience]) -> tuple[Audience, Audience | None]:
    """The audience and `drawn_from` of words made of what these audiences hold: theirs who read all."""
    narrow, *others = sorted(audiences, key=lambda audience: audience == TEAM)
    if len(others) > 1:
        raise ValueError("words are drawn from at most two audiences")
    return narrow, others[0] if others else None


def of_place(place_id: str) -> Audience:
    """The audience of one private or external channel."""
    return f"place:{place_id}"


def of_person(person_id: str) -> Audience:
    """The audience of one person."""
    return f"person:{person_id}"


@dataclass(frozen=True)
class Viewer:
    """The readers of a reply: everything that is read for it passes `may_read`.

    `audiences` is what those readers may all read. Made by `viewer`, from the flags of now, in the same
    transaction as the read.
    """

    team_id: str
    bot_id: str
    person_id: str | None
    place_id: str
    audiences: tuple[Audience, ...]
    writes: Audience

    def may_read(self, table: type[Gated] | Any) -> ColumnElement[bool]:
        """The condition on a table that holds words."""
        team: InstrumentedAttribute[str] = table.team_id
        audience: InstrumentedAttribute[str] = table.audience
        allowed = and_(team == self.team_id, audience.in_(self.audiences))
        drawn_from: InstrumentedAttribute[str | None] | None = getattr(table, "drawn_from", None)
        if drawn_from is None:
            return allowed
        return and_(allowed, or_(drawn_from.is_(None), drawn_from.in_(self.audiences)))

    @property
    def drawn_from(self) -> Audience | None:
        """What a reply to these readers may contain besides what is written for them."""
        return next((audience for audience in self.audiences if audience != self.writes), None)

    def may_recall(self) -> ColumnElement[bool]:
        """The condition on memories: besides the audience, who reads which layer.

        Facts about a person are read by every bot that talks with those readers; a bot's team facts, log,
        notes and work records only by that bot.
        """
        about_a_person = and_(Memory.layer == "fact", Memory.subject != TEAM_SUBJECT)
        return and_(self.may_read(Memory), or_(about_a_person, Memory.bot_id == self.bot_id))

    def reads(self, audience: Audience) -> bool:
        """Whether these readers may read something of that audience (of their own team)."""
        return audience in self.audiences

    def reads_row(self, row: Any) -> bool:
        """`may_read` for a row in hand (of their own team)."""
        drawn_from: Audience | None = getattr(row, "drawn_from", None)
        return self.reads(row.audience) and (drawn_from is None or self.reads(drawn_from))

    def reads_all(self, audiences: Iterable[Audience]) -> bool:
        """Whether these readers may read every one of them."""
        return all(map(self.reads, audiences))


def readable(
    *, alone: bool, guest: bool, kind: str, external: bool, guests: str, place_id: str, person_id: str | None
) -> tuple[Audience, ...]:
    """What the readers of a reply may all read: the table of the design, pure.

    `alone`: one person reads it (a direct message or an ephemeral reply). `guest`: the person asking counts
    as a guest now. `guests`: whether guests read the place (`no`, `yes`, `unknown`).
    """
    if alone:
        own = () if person_id is None else (of_person(person_id),)
        return own if guest else (TEAM, *own)
    if external or guest or guests != "no":
        return (of_place(place_id),)
    if kind == "public":
        return (TEAM,)
    return (TEAM, of_place(place_id))


def written(
    *, alone: bool, kind: str, external: bool, guests: str, guest: bool, place_id: str, person_id: str | None
) -> Audience:
    """The audience of what is said there: never wider than the place's readers."""
    if alone and person_id is not None:
        return of_person(person_id)
    if kind == "public" and not external and not guest and guests == "no":
        return TEAM
    return of_place(place_id)


def viewer(
    session: Session, bot_id: str, place: Place, account_id: str | None, *, ephemeral: bool = False
) -> Viewer:
    """The viewer of a reply to that account in that place, by today's flags.

    With no account (a routine's post, a page of nobody) only a shared place can be read for.
    """
    asker = speaker(session, account_id) if account_id else None
    alone = ephemeral or place.kind == "dm"
    if alone and asker is None:
        raise NotFound("There is nobody to read this.")
    flags: dict[str, Any] = {
        "alone": alone,
        "guest": asker is not None and asker.is_guest,
        "kind": place.kind,
        "external": place.external,
        "guests": presence(session, place),
        "place_id": place.id,
        "person_id": asker.person_id if asker else None,
    }
    person_id = asker.person_id if asker else None
    return Viewer(place.team_id, bot_id, person_id, place.id, readable(**flags), written(**flags))


def presence(session: Session, place: Place) -> str:
    """Whether guests read the place now: the platform's flag, and members who count as guests.

    A team's policy `guests_read_team` makes known guests in channels readers like members.
    """
    found = place.guests
    if found == "no" and place.kind != "dm" and _has_guest(session, place.id):
        found = "yes"
    if found == "yes" and _guests_read_team(session, place.team_id):
        return "no"
    return found


def _has_guest(session: Session, place_id: str) -> bool:
    joined = (
        select(Membership.person_id)
        .join(Person, Person.id == Membership.person_id)
        .join(Account, Account.person_id == Person.id)
        .where(
            Membership.place_id == place_id,
            or_(Person.role == "guest", Account.standing.in_(("guest", "external", "unmapped"))),
        )
    )
    return bool(session.scalar(select(exists(joined))))


def _guests_read_team(session: Session, team_id: str) -> bool:
    team = session.get(Team, team_id)
    return bool(team and team.settings.get("guests_read_team"))


def may_enter(session: Session, place: Place, who: Speaker) -> bool:
    """Whether that person takes part in a place: private channels and guests need a membership."""
    if place.team_id != who.team_id:
        return False
    if place.kind == "dm":
        return place.person_id == who.person_id
    if place.kind == "public" and not who.is_guest:
        return True
    return session.get(Membership, (place.id, who.person_id)) is not None


def person_viewer(session: Session, bot_id: str, who: Speaker) -> Viewer:
    """The viewer of what one person alone reads, wherever they are (lists, exports, My memory)."""
    audiences = readable(
        alone=True,
        guest=who.is_guest,
        kind="dm",
        external=False,
        guests="no",
        place_id="",
        person_id=who.person_id,
    )
    return Viewer(who.team_id, bot_id, who.person_id, "", audiences, of_person(who.person_id))
