"""Writes into the team's memory: at once, by an admin's card, or not at all, as the team's policy says."""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from bot.commands.actions import on_press
from bot.commands.asking import Asked, ask
from bot.commands.command import Caller
from bot.commands.rights import require_admin
from bot.messages import CommandResult
from memory.audience import TEAM, Audience, person_viewer
from memory.cards import Card
from memory.database import now
from memory.errors import Refused
from memory.ids import derive
from memory.memories import TEAM_SUBJECT
from memory.people import Account, Person, Speaker, speaker
from memory.rights import may_write_team
from memory.writing import Draft, Source, Written, add, correct, supersede

ACTION = "team write"
READERS = "every member of the team"


@dataclass(frozen=True)
class TeamWrite:
    """Words that are to be read by the whole team: a new memory, or (`memory_id`) the new words of one.

    `replaces`: in the writer's own words, the old memory stays as history; else it is corrected in place.
    """

    text: str
    subject: str = TEAM_SUBJECT
    layer: str = "fact"
    kind: str = "fact"
    topic: str = ""
    importance: int = 3
    origin: str = "manual"
    memory_id: str | None = None
    replaces: bool = False
    minutes: int | None = None
    shared_from: str | None = None


@dataclass(frozen=True)
class Waiting:
    """A write that an admin must press first; `admins` are their names."""

    cards: tuple[str, ...]
    admins: tuple[str, ...]


def write(
    session: Session,
    asked: Asked,
    what: TeamWrite,
    *,
    key: tuple[str | int, ...],
    source: Source | None = None,
) -> Written | Waiting:
    """Writes for the team as far as its policy lets that person, now."""
    allowed = may_write_team(session, asked.who)
    if allowed == "no":
        if asked.who.is_guest:
            raise Refused("What guests say does not enter the team's memory; nothing was saved.")
        raise Refused("Only admins write the team's memory here; nothing was saved.")
    if allowed == "card":
        return _propose(session, asked, what, key, source)
    return _carry_out(session, asked.bot_id, asked.who, what, key, source)


def waits(waiting: Waiting) -> str:
    """What the writer is told meanwhile."""
    names = ", ".join(waiting.admins)
    return f"It is not saved yet: an admin ({names}) decides with `/confirm`."


def draft_of(what: TeamWrite, who: Speaker, bot_id: str, audience: Audience, source: Source | None) -> Draft:
    """The words as a memory about to be written for an audience."""
    return Draft(
        team_id=who.team_id,
        bot_id=bot_id,
        author=who,
        audience=audience,
        subject=what.subject,
        layer=what.layer,
        kind=what.kind,
        text=what.text,
        origin=what.origin,
        topic=what.topic,
        importance=what.importance,
        source=source,
        expires_at=now() + timedelta(minutes=what.minutes) if what.minutes else None,
        shared_from=what.shared_from,
    )


def _carry_out(
    session: Session,
    bot_id: str,
    who: Speaker,
    what: TeamWrite,
    key: tuple[str | int, ...],
    source: Source | None,
) -> Written:
    viewer = person_viewer(session, bot_id, who)
    if what.memory_id is not None and not what.replaces:
        turn_id = source.turn_id if source else None
        return correct(session, viewer, who, what.memory_id, what.text, turn_id=turn_id)
    draft = draft_of(what, who, bot_id, TEAM, source)
    if what.memory_id is None:
        return add(session, draft, key=key)
    return supersede(session, viewer, who, what.memory_id, draft, key=key)


def _propose(
    session: Session, asked: Asked, what: TeamWrite, key: tuple[str | int, ...], source: Source | None
) -> Waiting:
    """A card for each admin; the first press decides."""
    people = admins(session, asked.who.team_id)
    if not people:
        raise Refused("An admin has to approve that, and this team has none; nothing was saved.")
    payload = {
        "what": asdict(what),
        "account_id": asked.who.account_id,
        "memory_id": what.memory_id or what.shared_from,
        "source": _written(source),
        "entry_id": source.entry_id if source else None,
        "key": [str(part) for part in key],
        "proposal": derive("proposal", *key),
    }
    cards = [
        ask(
            session,
            Asked(admin, person_viewer(session, asked.bot_id, admin), asked.bot_id, asked.place_id),
            ACTION,
            payload,
            text=f"{asked.who.name} wants to add to the team's memory: {what.text}",
            readers=READERS,
            key=(ACTION, *key, admin.person_id),
            audience=TEAM,
        )
        for admin in people
    ]
    return Waiting(tuple(card.id for card in cards), tuple(admin.name for admin in people))


@on_press(ACTION)
def approved(session: Session, caller: Caller, card: Card) -> CommandResult:
    """An admin lets another person's words into the team's memory; they stay that person's."""
    require_admin(caller, "let words into the team's memory")
    payload = card.payload
    author = speaker(session, payload["account_id"])
    if author.is_guest:
        raise Refused(f"{author.name} is no member of the team any more; nothing was saved.")
    written = _carry_out(
        session,
        card.bot_id or caller.bot.id,
        author,
        TeamWrite(**payload["what"]),
        tuple(payload["key"]),
        _read(payload["source"]),
    )
    _close_twins(session, card)
    return CommandResult(f"Saved for everyone in the team: {written.memory.text}", undo=written.change_id)


def _close_twins(session: Session, card: Card) -> None:
    """Nobody else is asked about what is decided."""
    same = select(Card).where(
        Card.team_id == card.team_id, Card.action == ACTION, Card.status == "open", Card.id != card.id
    )
    for other in session.scalars(same):
        if other.payload.get("proposal") == card.payload["proposal"]:
            other.status = "cancelled"


def admins(session: Session, team_id: str) -> list[Speaker]:
    """The team's owner and admins, each by one of their accounts."""
    rows = session.scalars(
        select(Account.id)
        .join(Person, Person.id == Account.person_id)
        .where(Person.team_id == team_id, Person.role.in_(("owner", "admin")), Account.standing == "member")
        .order_by(Person.name, Account.id)
    )
    found: dict[str, Speaker] = {}
    for account_id in rows:
        who = speaker(session, account_id)
        found.setdefault(who.person_id, who)
    return list(found.values())


def _written(source: Source | None) -> dict[str, Any] | None:
    return {**asdict(source), "said_at": source.said_at.isoformat()} if source else None


def _read(value: dict[str, Any] | None) -> Source | None:
    return Source(**{**value, "said_at": datetime.fromisoformat(value["said_at"])}) if value else None
