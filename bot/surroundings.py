"""Who wrote, where, to which bot: rows for what a platform told, kept current at every message."""

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from bot.errors import NotAdmitted, Unknown
from bot.messages import Address, Author, Surroundings
from memory.bots import FIRST_BOT, Bot, bot_named
from memory.conversations import Conversation
from memory.ids import derive
from memory.people import LOCAL, Account, Person, Speaker, Workspace, add_account, find_account, speaker
from memory.places import Place, add_place, find_place


@dataclass(frozen=True)
class Scene:
    """A person in a place with a bot."""

    who: Speaker
    place: Place
    bot: Bot


def team_of(session: Session, address: Address) -> str:
    """The team of a workspace; strangers, whom the installer has not admitted, get nothing stored."""
    team = session.scalar(
        select(Workspace.team_id).where(
            Workspace.platform == address.platform, Workspace.external_id == address.workspace
        )
    )
    if team is None:
        raise NotAdmitted
    return team


def scene(
    session: Session, address: Address, author: Author, place: Surroundings, bot: str | None = None
) -> Scene:
    """The rows of a message's surroundings, created or brought up to date."""
    team_id = team_of(session, address)
    account = known_account(session, team_id, address, author)
    who = speaker(session, account.id)
    where = known_place(session, team_id, address, place, who)
    return Scene(who, where, chosen_bot(session, where, who, bot))


def known_account(session: Session, team_id: str, address: Address, author: Author) -> Account:
    """The account of an author, with the name and standing that the platform tells now."""
    account = find_account(session, address.platform, address.workspace, author.id)
    if account is None:
        return add_account(
            session,
            team_id,
            address.platform,
            address.workspace,
            author.id,
            author.name,
            role=author.rank or "member",
            standing=author.standing,
            zone=author.zone or "UTC",
        )
    if address.platform == LOCAL:
        return account
    _follow_rank(session, account, author)
    if account.name != author.name or account.standing != author.standing:
        account.name, account.standing = author.name, author.standing
        session.flush()
    return account


def _follow_rank(session: Session, account: Account, author: Author) -> None:
    """Keeps admins in step with the workspace; a role that was given here by hand stays."""
    if author.rank is None:
        return
    person = session.get_one(Person, account.person_id)
    if person.role not in ("owner", "admin", "member") or person.settings.get("role") == "by hand":
        return
    if person.role != author.rank:
        person.role = author.rank


def known_place(session: Session, team_id: str, address: Address, place: Surroundings, who: Speaker) -> Place:
    """The place, with the flags that the platform tells now."""
    row = find_place(session, address.platform, address.workspace, address.channel)
    if row is None:
        owner = who.person_id if place.kind == "dm" else None
        return add_place(
            session,
            team_id,
            address.platform,
            address.workspace,
            address.channel,
            place.kind,
            place.name,
            person_id=owner,
            external=place.external,
            guests=place.guests,
        )
    if address.platform == LOCAL:
        return row
    told = (place.kind, place.external, place.guests)
    if (row.kind, row.external, row.guests) != told:
        row.kind, row.external, row.guests = told
    if place.name and row.name != place.name:
        row.name = place.name
    session.flush()
    return row


def chosen_bot(session: Session, place: Place, who: Speaker, name: str | None) -> Bot:
    """The bot that is meant: named, assigned to the place, or the team's first. Personal bots answer only
    their owner, in direct messages; to others they do not exist."""
    wanted = name or place.settings.get("bot") or FIRST_BOT
    bots = session.scalars(
        select(Bot).where(Bot.team_id == place.team_id).order_by(Bot.created_at, Bot.id)
    ).all()
    usable = [
        bot for bot in bots if bot.owner_id is None or (bot.owner_id == who.person_id and place.kind == "dm")
    ]
    if name:
        bot = bot_named(session, place.team_id, name)
        if bot not in usable:
            raise Unknown(f"There is no bot called {name!r} here.")
        return bot
    named = [bot for bot in usable if bot.name.casefold() == str(wanted).casefold()]
    if not named and not usable:
        raise Unknown("This team has no bot.")
    return named[0] if named else usable[0]


def conversation_key(place: Place, who: Speaker, thread: str | None, *, ephemeral: bool) -> str:
    """`dm:<person>` for what one person reads alone, else the place or the thread in it."""
    if ephemeral or place.kind == "dm":
        return f"dm:{who.person_id}"
    return f"place:{place.id}:{thread}" if thread else f"place:{place.id}"


def find_conversation(session: Session, bot_id: str, key: str, *, lock: bool = False) -> Conversation | None:
    """The conversation of that key; `lock` holds it for this transaction on PostgreSQL."""
    query = select(Conversation).where(Conversation.bot_id == bot_id, Conversation.key == key)
    return session.scalar(query.with_for_update(key_share=True) if lock else query)


def opened_conversation(
    session: Session, here: Scene, thread: str | None, audience: str, *, ephemeral: bool
) -> Conversation:
    """The conversation of a message, made at its first one."""
    key = conversation_key(here.place, here.who, thread, ephemeral=ephemeral)
    found = find_conversation(session, here.bot.id, key, lock=True)
    if found is not None:
        return found
    alone = key.startswith("dm:")
    conversation = Conversation(
        id=derive("conversation", here.bot.id, key),
        team_id=here.place.team_id,
        bot_id=here.bot.id,
        place_id=here.place.id,
        person_id=here.who.person_id if alone else None,
        thread=None if alone else thread,
        key=key,
        audience=audience,
        title="" if alone else here.place.name,
    )
    session.add(conversation)
    session.flush()
    return conversation
