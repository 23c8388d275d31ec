"""A small team to keep memories of: Ada (owner), Ben and Dana, Gil the guest, two channels, two bots."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from memory.audience import Viewer, of_person, person_viewer, viewer
from memory.bots import Bot
from memory.conversations import Conversation, Entry
from memory.database import Database, now
from memory.memories import Memory
from memory.people import Account, Person, Speaker, Team, Workspace, add_account, speaker
from memory.places import Membership, Place, add_place
from memory.words import canonical
from memory.writing import Draft, Source, Written, add

P = ParamSpec("P")
T = TypeVar("T")

TEAM, BOT, SCOUT = "team-1", "bot-1", "bot-2"


@dataclass
class World:
    """A database with a team in it."""

    database: Database
    counter: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def run(self, work: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """One writing transaction."""
        return self.database.run_now(work, *args, **kwargs)

    def read(self, work: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """One reading transaction."""
        return self.database.read_now(work, *args, **kwargs)

    def who(self, name: str) -> Speaker:
        """Somebody, with today's role."""
        return self.read(lambda session: speaker(session, account(session, name).id))

    def person(self, name: str) -> str:
        """Somebody's id."""
        return self.who(name).person_id

    def own(self, name: str, bot: str = BOT) -> Viewer:
        """What somebody alone reads."""
        return self.read(
            lambda session: person_viewer(session, bot, speaker(session, account(session, name).id))
        )

    def here(self, name: str, channel: str, bot: str = BOT) -> Viewer:
        """What the readers of a channel read."""
        return self.read(
            lambda session: viewer(session, bot, place(session, channel), account(session, name).id)
        )

    def audience(self, name: str, channel: str) -> str:
        """The audience of what somebody says there."""
        return of_person(self.person(name)) if channel == "dm" else self.here(name, channel).writes

    def say(self, name: str, channel: str, text: str, **more: Any) -> Entry:
        """A message in a channel or, as `dm`, to the bot alone."""
        return self.run(said, self, name, channel, text, **more)

    def draft(self, name: str, text: str, channel: str = "general", **more: Any) -> Draft:
        """A fact about the team by somebody, said in that channel."""
        values: dict[str, Any] = {
            "team_id": TEAM,
            "bot_id": BOT,
            "author": self.who(name),
            "audience": self.audience(name, channel),
            "subject": "team",
            "layer": "fact",
            "kind": "fact",
            "text": text,
            "origin": "explicit",
        }
        return Draft(**{**values, **more})

    def keep(self, name: str, text: str, channel: str = "general", **more: Any) -> Memory:
        """A memory by somebody, without a source unless one is given."""
        return self.write(self.draft(name, text, channel, **more)).memory

    def write(self, draft: Draft) -> Written:
        """Adds a draft under a key of its own."""
        return self.run(add, draft, key=("test", next(self.counter)))

    def learn(self, entry: Entry, name: str, text: str, channel: str = "general", **more: Any) -> Memory:
        """A memory that rests on a message."""
        return self.keep(
            name, text, channel, **{"source": source(entry), "subject": self.person(name), **more}
        )

    def load(self, memory_id: str) -> Memory | None:
        """A memory as it is in the table now."""
        return self.read(lambda session: session.scalar(select(Memory).where(Memory.id == memory_id)))


def source(entry: Entry, quote: str | None = None) -> Source:
    """An entry as the source of a memory."""
    return Source(
        entry.id, entry.conversation_id, entry.turn_id, quote or entry.text, entry.link, entry.said_at
    )


def account(session: Session, name: str) -> Account:
    """Somebody's local account."""
    return session.scalars(select(Account).where(Account.external_id == name)).one()


def place(session: Session, channel: str) -> Place:
    """A local channel."""
    return session.scalars(select(Place).where(Place.channel == channel)).one()


def settle(session: Session) -> None:
    """The team."""
    session.add(Team(id=TEAM, name="Example"))
    session.flush()
    session.add(Workspace(id="ws-1", team_id=TEAM, platform="local", external_id="here"))
    for name, role in (("ada", "owner"), ("ben", "member"), ("dana", "member"), ("gil", "guest")):
        added = add_account(session, TEAM, "local", "here", name, name.title(), role=role)  # type: ignore[arg-type]
        add_place(session, TEAM, "local", "here", f"dm-{name}", "dm", person_id=added.person_id)
    for bot, called in ((BOT, "teambot"), (SCOUT, "scout")):
        session.add(Bot(id=bot, team_id=TEAM, name=called))
    add_place(session, TEAM, "local", "here", "general", "public", "general")
    ops = add_place(session, TEAM, "local", "here", "ops", "private", "ops")
    for name in ("ada", "ben"):
        member = session.scalars(select(Person).where(Person.name == name.title())).one()
        session.add(Membership(place_id=ops.id, person_id=member.id, team_id=TEAM))
    session.flush()


def talk(session: Session, place: Place, person_id: str, bot: str = BOT) -> Conversation:
    """The conversation of a bot with a person, or in a channel."""
    key = f"dm:{person_id}" if place.kind == "dm" else f"place:{place.id}"
    found = session.scalar(select(Conversation).where(Conversation.bot_id == bot, Conversation.key == key))
    if found is None:
        audience = of_person(person_id) if place.kind == "dm" else "team"
        if place.kind == "private":
            audience = f"place:{place.id}"
        found = Conversation(
            id=f"talk-{bot}-{key}",
            team_id=TEAM,
            bot_id=bot,
            place_id=place.id,
            person_id=person_id if place.kind == "dm" else None,
            key=key,
            audience=audience,
        )
        session.add(found)
        session.flush()
    return found


def said(session: Session, /, world: World, name: str, channel: str, text: str, **more: Any) -> Entry:
    """Writes a message, in the conversation's history unless it is still to wait."""
    number = next(world.counter)
    by = account(session, name)
    there = place(session, f"dm-{name}" if channel == "dm" else channel)
    conversation = talk(session, there, by.person_id, more.pop("bot", BOT))
    waiting = more.pop("waiting", False)
    if not waiting:
        conversation.last_position += 1
    values: dict[str, Any] = {
        "id": f"entry{number}",
        "team_id": TEAM,
        "conversation_id": conversation.id,
        "bot_id": conversation.bot_id,
        "place_id": there.id,
        "audience": conversation.audience,
        "position": None if waiting else conversation.last_position,
        "turn_id": f"turn{number}",
        "role": "user",
        "kind": "message",
        "addressed": True,
        "person_id": by.person_id,
        "account_id": by.id,
        "platform": "local",
        "channel_key": f"here/{there.channel}",
        "message_id": f"message{number}",
        "link": f"https://chat.example.test/{number}",
        "text": text,
        "blocks": None
        if waiting
        else canonical([{"type": "text", "text": '{"time":"now"}'}, {"type": "text", "text": text}]),
        "said_at": now(),
    }
    entry = Entry(**{**values, **more})
    session.add(entry)
    session.flush()
    return entry
