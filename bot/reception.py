"""What platforms tell and ask besides messages: workspaces, people, places, and replies pressed on."""

from datetime import timedelta
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from bot.errors import NotAdmitted, NotAllowed, Unknown
from bot.messages import Address, Author, Message, Platform, Surroundings
from bot.seeding import TEAM_ID
from bot.surroundings import known_account, scene, team_of
from memory.bots import Bot
from memory.conversations import Conversation, Entry
from memory.database import Database, now
from memory.following import message_deleted, person_left, place_changed
from memory.ids import derive
from memory.people import Workspace, find_account, speaker
from memory.places import Place, find_place
from memory.turns import Outgoing, Turn

RECENT = timedelta(days=7)
MOST_PLACES = 200


class Reception:
    """The part of the house that follows the platforms' people and places; see `bot.messages.Door`."""

    database: Database
    platforms: dict[str, Platform]

    async def admit(self, platform: str, workspace: str, name: str = "") -> None:
        """Admits a workspace to the team: the installer configured its token."""
        await self.database.run(_admit, platform, workspace, name)

    async def keep_token(self, platform: str, workspace: str, sealed: str | None) -> None:
        """Keeps an encrypted token of an admitted workspace, or drops it."""
        await self.database.run(_keep_token, platform, workspace, sealed)

    async def tokens(self, platform: str) -> dict[str, str]:
        """The encrypted tokens by workspace."""
        return await self.database.read(_tokens, platform)

    async def surroundings_changed(self, address: Address, place: Surroundings) -> None:
        """Follows a place that opened, closed or was renamed."""
        await self.database.run(_place, address, place)

    async def person_changed(self, address: Address, author: Author) -> None:
        """Follows a person whose name or standing changed."""
        await self.database.run(_person, address, author)

    async def engaged(self, address: Address) -> str | None:
        """The name of the bot that takes part in that thread, if one does."""
        return await self.database.read(_engaged, address)

    async def known(self, address: Address, message_id: str) -> bool:
        """Whether a message was taken in."""
        return await self.database.read(_known_message, address, message_id)

    async def heard(self, platform: str, workspace: str) -> tuple[str | None, tuple[Address, ...]]:
        """The newest message taken in there, and the places and threads that were used lately."""
        return await self.database.read(_heard, platform, workspace)

    async def bot_names(self, address: Address) -> tuple[str, ...]:
        """The bots that everybody there may name."""
        return await self.database.read(_bot_names, address)

    async def again(self, address: Address, author: Author, place: Surroundings, key: str) -> Message:
        """The message behind a reply that failed, to be accepted once more by whoever wrote it."""
        return await self.database.run(_again, address, author, place, key)

    async def withdraw(self, address: Address, author: Author, place: Surroundings, key: str) -> None:
        """Takes a reply away, from the platform and from what is kept; its asker and admins may."""
        where, message_id = await self.database.read(_withdrawable, address, author, place, key)
        await self.platforms[where.platform].remove(where, message_id)
        await self.database.run(
            message_deleted, where.platform, where.workspace, where.channel, message_id, now()
        )
        await self.database.run(_emptied, key)

    async def rated(
        self, address: Address, author: Author, place: Surroundings, key: str, *, good: bool
    ) -> None:
        """Keeps whether a reply helped its reader."""
        await self.database.run(_rated, address, author, place, key, good)


def _admit(session: Session, platform: str, workspace: str, name: str) -> None:
    row = session.scalar(
        select(Workspace).where(Workspace.platform == platform, Workspace.external_id == workspace)
    )
    if row is None:
        session.add(
            Workspace(
                id=derive("workspace", platform, workspace),
                team_id=TEAM_ID,
                platform=platform,
                external_id=workspace,
                name=name,
            )
        )
    elif name:
        row.name = name


def _keep_token(session: Session, platform: str, workspace: str, sealed: str | None) -> None:
    row = session.scalar(
        select(Workspace).where(Workspace.platform == platform, Workspace.external_id == workspace)
    )
    if row is None:
        raise NotAdmitted
    others = {name: value for name, value in row.settings.items() if name != "token"}
    row.settings = {**others, "token": sealed} if sealed else others


def _tokens(session: Session, platform: str) -> dict[str, str]:
    rows = session.scalars(select(Workspace).where(Workspace.platform == platform))
    return {row.external_id: str(row.settings["token"]) for row in rows if row.settings.get("token")}


def _place(session: Session, address: Address, place: Surroundings) -> None:
    row = find_place(session, address.platform, address.workspace, address.channel)
    if row is None:
        return
    before = (row.kind, row.external, row.guests)
    row.kind, row.external, row.guests = place.kind, place.external, place.guests
    row.name = place.name or row.name
    session.flush()
    if before != (row.kind, row.external, row.guests):
        place_changed(session, row.id)


def _person(session: Session, address: Address, author: Author) -> None:
    account = find_account(session, address.platform, address.workspace, author.id)
    if account is None:
        return
    was = account.standing
    known_account(session, account.team_id, address, author)
    if author.standing != "member" and was == "member":
        person_left(session, account.person_id)


def _engaged(session: Session, address: Address) -> str | None:
    place = find_place(session, address.platform, address.workspace, address.channel)
    if place is None or address.thread is None:
        return None
    return session.scalar(
        select(Bot.name)
        .join(Conversation, Conversation.bot_id == Bot.id)
        .where(Conversation.place_id == place.id, Conversation.thread == address.thread)
        .order_by(Conversation.last_at.desc())
        .limit(1)
    )


def _known_message(session: Session, address: Address, message_id: str) -> bool:
    found = select(Entry.seq).where(
        Entry.platform == address.platform,
        Entry.channel_key == f"{address.workspace}/{address.channel}",
        Entry.message_id == message_id,
    )
    return session.scalar(found) is not None


def _heard(session: Session, platform: str, workspace: str) -> tuple[str | None, tuple[Address, ...]]:
    rows = session.execute(
        select(Place.channel, Entry.thread, func.max(Entry.message_id))
        .join(Entry, Entry.place_id == Place.id)
        .where(
            Place.platform == platform,
            Place.workspace == workspace,
            Entry.role == "user",
            Entry.message_id.is_not(None),
            Entry.said_at > now() - RECENT,
        )
        .group_by(Place.channel, Entry.thread)
        .order_by(func.max(Entry.said_at).desc())
        .limit(MOST_PLACES)
    ).all()
    newest = max((str(row[2]) for row in rows), default=None)
    return newest, tuple(Address(platform, workspace, row[0], row[1]) for row in rows)


def _bot_names(session: Session, address: Address) -> tuple[str, ...]:
    team_id = team_of(session, address)
    names = select(Bot.name).where(Bot.team_id == team_id, Bot.owner_id.is_(None)).order_by(Bot.created_at)
    return tuple(session.scalars(names))


def _reply(session: Session, address: Address, key: str) -> Outgoing:
    """The outbox row of a reply in that very place; of another place it does not exist."""
    row = session.get(Outgoing, key)
    where = (address.platform, address.workspace, address.channel)
    if row is None or (row.platform, row.workspace, row.channel) != where:
        raise Unknown("That answer is not known here.")
    return row


def _again(session: Session, address: Address, author: Author, place: Surroundings, key: str) -> Message:
    here = scene(session, address, author, place)
    row = _reply(session, address, key)
    turn = session.get(Turn, row.turn_id) if row.turn_id else None
    if turn is None or turn.person_id != here.who.person_id:
        raise NotAllowed("Only the person who asked may try again.")
    entry = session.scalar(
        select(Entry)
        .where(Entry.turn_id == turn.id, Entry.kind == "message", Entry.redacted_at.is_(None))
        .order_by(Entry.position.desc())
        .limit(1)
    )
    bot = session.get(Bot, turn.bot_id)
    if entry is None or bot is None or turn.status != "failed":
        raise Unknown("There is nothing to try again.")
    where = Address(row.platform, row.workspace, row.channel, row.thread)
    return Message(
        address=where,
        id=f"{entry.message_id}+{derive('again', key)}",
        author=author,
        place=place,
        text=entry.text,
        said_at=now(),
        ephemeral=entry.ephemeral,
        bot=bot.name,
        link=entry.link,
    )


def _withdrawable(
    session: Session, address: Address, author: Author, place: Surroundings, key: str
) -> tuple[Address, str]:
    team_id = team_of(session, address)
    account = find_account(session, address.platform, address.workspace, author.id)
    row = _reply(session, address, key)
    if account is None or row.team_id != team_id or row.message_id is None:
        raise Unknown("That answer is not known here.")
    who = speaker(session, account.id)
    asked = session.scalar(select(Turn.person_id).where(Turn.id == row.turn_id))
    if who.person_id not in (asked, row.person_id) and not (who.is_admin and place.kind != "dm"):
        raise NotAllowed("Only the person who asked, or an admin, may delete this answer.")
    return Address(row.platform, row.workspace, row.channel, row.thread), row.message_id


def _emptied(session: Session, key: str) -> None:
    row = session.get_one(Outgoing, key)
    row.text, row.extras = "", {}


def _rated(
    session: Session, address: Address, author: Author, place: Surroundings, key: str, good: bool
) -> None:
    here = scene(session, address, author, place)
    row = _reply(session, address, key)
    turn = session.get(Turn, row.turn_id) if row.turn_id else None
    if turn is None:
        raise Unknown("That answer is not known here.")
    ratings: dict[str, Any] = dict(turn.remembered.get("ratings", {}))
    ratings[here.who.person_id] = good
    turn.remembered = {**turn.remembered, "ratings": ratings}
