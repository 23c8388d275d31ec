"""What the desk reads and writes: local people, channels, the lines of a talk, memories as rows."""

import re
from typing import Any

from sqlalchemy import delete, or_, select
from sqlalchemy.orm import Session

from bot.errors import BadInput, BotError, NotAllowed, Unknown
from bot.intake import channel_key
from bot.messages import Address, Author, Line, Local, Surroundings
from bot.seeding import TEAM_ID, has_platform_accounts, local_people
from bot.surroundings import chosen_bot, conversation_key, find_conversation
from bot.talk import lines_of
from memory.audience import Viewer, may_enter, presence, viewer
from memory.bots import Bot
from memory.conversations import Entry
from memory.database import now
from memory.listing import as_row
from memory.meaning import Meaning
from memory.memories import Memory
from memory.people import LOCAL, Account, Person, Speaker, add_account, find_account, speaker
from memory.places import Membership, Place, add_place, find_place
from memory.search import search_memories

NAME = re.compile(r"^[^\W_][\w.-]{0,39}$")
FOUND = 20
LISTED = 500


def scene_of(session: Session, local: Local) -> tuple[Address, Author, Surroundings]:
    """The neutral words for a local person somewhere, as a platform would tell them."""
    _refuse_acting(session)
    account = _account(session, local.person)
    who = speaker(session, account.id)
    author = Author(account.external_id, account.name, account.standing, who.zone)  # type: ignore[arg-type]
    if local.where == "dm":
        address = Address(LOCAL, LOCAL, f"dm-{account.external_id}", local.thread)
        return address, author, Surroundings("dm", f"Direct message with {account.name}")
    place = _place(session, local.where)
    if not may_enter(session, place, who):
        raise Unknown(f"There is no channel #{place.channel} for {account.name}.")
    address = Address(LOCAL, LOCAL, place.channel, local.thread)
    kind: Any = place.kind
    guests: Any = place.guests
    return address, author, Surroundings(kind, place.name, place.external, guests)


def takes_part(session: Session, local: Local) -> bool:
    """Whether a local person is still part of the talk there."""
    try:
        scene_of(session, local)
    except BotError:
        return False
    return True


def _refuse_acting(session: Session) -> None:
    if has_platform_accounts(session):
        raise NotAllowed(
            "This database holds people of Slack or Discord, so nobody may act as somebody here. "
            "Use another TEAMBOT_HOME to try things out."
        )


def _account(session: Session, name: str) -> Account:
    account = find_account(session, LOCAL, LOCAL, name.strip().casefold())
    if account is None:
        known = ", ".join(row.external_id for row, _ in local_people(session))
        raise Unknown(f"There is no person called {name!r}. There are: {known or 'none yet'}.")
    return account


def _place(session: Session, name: str) -> Place:
    channel = name.strip().removeprefix("#").casefold()
    place = find_place(session, LOCAL, LOCAL, channel)
    if place is None or place.kind == "dm":
        raise Unknown(f"There is no channel called {name!r}. `teambot place '#name'` makes one.")
    return place


def where(session: Session, local: Local) -> tuple[Speaker, Place | None, Bot]:
    """The rows of a local person somewhere; a direct message has no place before its first message."""
    address, author, _ = scene_of(session, local)
    account = _account(session, author.id)
    who = speaker(session, account.id)
    place = find_place(session, LOCAL, LOCAL, address.channel)
    shown = place or Place(
        id="", team_id=TEAM_ID, kind="dm", settings={}, person_id=who.person_id, external=False, guests="no"
    )
    return who, shown, chosen_bot(session, shown, who, local.bot)


def readers(session: Session, local: Local) -> Viewer:
    """The readers of a reply to a local person there."""
    who, place, bot = where(session, local)
    assert place is not None
    return viewer(session, bot.id, place, who.account_id, ephemeral=local.ephemeral)


def own_message(session: Session, local: Local, address: Address, message_id: str) -> None:
    """Raises unless the message is that person's own."""
    account = _account(session, local.person)
    entry = session.scalar(
        select(Entry).where(
            Entry.platform == LOCAL,
            Entry.channel_key == channel_key(address.workspace, address.channel),
            Entry.message_id == message_id,
            Entry.account_id == account.id,
        )
    )
    if entry is None:
        raise Unknown(f"{account.name} has no message {message_id!r} there.")


def refuse_empty(text: str) -> None:
    """An edit needs words; deleting is something else."""
    if not text.strip():
        raise BadInput("The new text is empty; nothing was changed. To remove a message, delete it.")


def people(session: Session) -> list[dict[str, Any]]:
    """Local people as rows."""
    _refuse_acting(session)
    return [
        {
            "id": account.external_id,
            "name": account.name,
            "role": person.role,
            "is_guest": person.role == "guest" or account.standing != "member",
        }
        for account, person in local_people(session)
    ]


def places(session: Session, name: str) -> list[dict[str, Any]]:
    """Channels of a person as rows."""
    who = speaker(session, _account(session, name).id)
    rows = session.scalars(
        select(Place).where(Place.platform == LOCAL, Place.kind != "dm").order_by(Place.channel)
    )
    return [_place_row(session, place) for place in rows if may_enter(session, place, who)]


def _place_row(session: Session, place: Place) -> dict[str, Any]:
    members = session.scalars(
        select(Person.name)
        .join(Membership, Membership.person_id == Person.id)
        .where(Membership.place_id == place.id)
    )
    return {
        "id": place.channel,
        "name": f"#{place.channel}",
        "kind": place.kind,
        "external": place.external,
        "guests": presence(session, place),
        "members": sorted(members),
    }


def bots(session: Session, name: str) -> list[dict[str, Any]]:
    """Bots that a person may talk to."""
    who = speaker(session, _account(session, name).id)
    rows = session.scalars(
        select(Bot)
        .where(Bot.team_id == who.team_id, or_(Bot.owner_id.is_(None), Bot.owner_id == who.person_id))
        .order_by(Bot.created_at, Bot.name)
    )
    return [{"name": bot.name, "title": bot.title, "description": bot.description} for bot in rows]


def set_person(session: Session, name: str, guest: bool | None) -> dict[str, Any]:
    """Creates or updates a local person; None leaves it as it is."""
    _refuse_acting(session)
    if not NAME.match(name.strip()):
        raise BadInput(f"{name!r} is no name for a person: letters, digits, dots and dashes, at most 40.")
    external = name.strip().casefold()
    account = find_account(session, LOCAL, LOCAL, external)
    if account is None:
        account = add_account(
            session,
            TEAM_ID,
            LOCAL,
            LOCAL,
            external,
            name.strip().title(),
            role="guest" if guest else "member",
        )
    person = session.get_one(Person, account.person_id)
    if guest is not None:
        if guest or person.role == "guest":
            person.role = "guest" if guest else "member"
        account.standing = "guest" if guest else "member"
    return {
        "id": external,
        "name": account.name,
        "role": person.role,
        "is_guest": person.role == "guest" or account.standing != "member",
    }


def set_place(
    session: Session, name: str, private: bool | None, external: bool | None, members: tuple[str, ...] | None
) -> dict[str, Any]:
    """Creates or updates a local channel; None leaves it as it is, named members replace all."""
    _refuse_acting(session)
    channel = name.strip().removeprefix("#").casefold()
    if not NAME.match(channel) or channel == "dm" or channel.startswith("dm-"):
        raise BadInput(f"{name!r} is no name for a channel: letters, digits, dots and dashes, at most 40.")
    wanted = [_account(session, member) for member in members or ()]
    place = find_place(session, LOCAL, LOCAL, channel)
    if place is None:
        place = add_place(session, TEAM_ID, LOCAL, LOCAL, channel, "public", channel)
    if private is not None:
        place.kind = "private" if private else "public"
    if external is not None:
        place.external = external
    if members is not None:
        session.execute(delete(Membership).where(Membership.place_id == place.id))
        for account in wanted:
            session.add(Membership(place_id=place.id, person_id=account.person_id, team_id=TEAM_ID))
    session.flush()
    return _place_row(session, place)


def memories(
    session: Session, local: Local, query: str | None, meaning: Meaning | None = None
) -> list[dict[str, Any]]:
    """Memories that the readers of a reply there may read, newest first or by relevance."""
    them = readers(session, local)
    if query is not None:
        found = search_memories(
            session, them, query, limit=FOUND, statuses=("active", "archived"), at=now(), meaning=meaning
        )
        return [as_row(session, item.row, them) for item in found if isinstance(item.row, Memory)]
    rows = session.scalars(
        select(Memory)
        .where(them.may_recall(), or_(Memory.expires_at.is_(None), Memory.expires_at > now()))
        .order_by(Memory.created_at.desc(), Memory.id)
        .limit(LISTED)
    )
    return [as_row(session, row, them) for row in rows]


def lines(session: Session, local: Local, before: str | None, limit: int) -> list[Line]:
    """The talk there, oldest first."""
    who, place, bot = where(session, local)
    if place is None:
        return []
    key = conversation_key(place, who, local.thread, ephemeral=False)
    conversation = find_conversation(session, bot.id, key)
    return lines_of(session, conversation, place, who, bot, before=before, limit=limit)
