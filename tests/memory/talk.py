"""A team of Ada and Ben with things to find: the setting of the tests of search."""

from datetime import UTC, datetime

from sqlalchemy.orm import Session

from memory.audience import Viewer
from memory.bots import Bot
from memory.conversations import Conversation, Entry
from memory.memories import Memory
from memory.people import Person, Team
from memory.places import Place
from memory.search import Found

NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
ADA = Viewer("t", "b", "ada", "", ("team", "person:ada"), "person:ada")
BEN = Viewer("t", "b", "ben", "", ("team", "person:ben"), "person:ben")


def settle(session: Session) -> None:
    """A team of Ada and Ben with one bot and one channel."""
    session.add(Team(id="t", name="Team"))
    session.flush()
    session.add_all([Person(id="ada", team_id="t", name="Ada"), Person(id="ben", team_id="t", name="Ben")])
    session.add_all([Bot(id="b", team_id="t", name="teambot"), Bot(id="b2", team_id="t", name="scout")])
    session.add(Place(id="p", team_id="t", platform="local", workspace="", channel="general", kind="public"))
    session.flush()
    for bot in ("b", "b2"):
        session.add(
            Conversation(id=f"c-{bot}", team_id="t", bot_id=bot, place_id="p", key="place:p", audience="team")
        )


def remember(session: Session, /, *texts: str, **more: object) -> None:
    """Memories with these texts: Ada's, for the team, unless said otherwise."""
    for text in texts:
        memory = Memory(
            id=f"m{abs(hash((text, str(more))))}",
            team_id="t",
            bot_id="b",
            author_id="ada",
            subject="team",
            audience="team",
            layer="fact",
            kind="fact",
            text=text,
            origin="explicit",
        )
        for name, value in more.items():
            setattr(memory, name, value)
        session.add(memory)
        session.flush()


def say(session: Session, /, *texts: str, **more: object) -> None:
    """Ada's messages in the channel, one after the other."""
    for number, text in enumerate(texts):
        entry = Entry(
            id=f"e{abs(hash((text, number, str(more))))}",
            team_id="t",
            conversation_id="c-b",
            bot_id="b",
            place_id="p",
            audience="team",
            role="user",
            kind="message",
            person_id="ada",
            text=text,
            said_at=NOW,
        )
        for name, value in more.items():
            setattr(entry, name, value)
        session.add(entry)
        session.flush()


def texts(found: list[Found]) -> list[str]:
    """What was found, best first."""
    return [item.row.text for item in found]
