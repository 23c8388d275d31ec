"""Plays one exchange and its memory pass: people say things, a scripted model proposes, code decides."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from bot.pass_request import FIELDS, request
from bot.remembering import PassInput, PassOutcome, apply, delta, parse
from memory.conversations import Entry
from memory.database import now
from memory.memories import Memory
from memory.people import Person
from memory.places import Place
from memory.secrets import withhold
from memory.turns import Turn
from memory.writing import correct
from tests.memory.world import BOT, SCOUT, TEAM, World, place, source

PLAIN: dict[str, Any] = {
    "message": 1,
    "quote": "",
    "text": "",
    "speech_act": "statement",
    "about": 0,
    "layer": "fact",
    "kind": "fact",
    "topic": "",
    "importance": 3,
    "certain": True,
    "since": "",
    "until": "",
    "temporary": False,
    "live": False,
    "readers": "same",
    "replaces": 0,
    "accepted_in": 0,
    "accepted_quote": "",
}
assert PLAIN.keys() == FIELDS.keys()
MOMENT_AGO = timedelta(minutes=1)
WEEK = timedelta(days=7)


@dataclass
class Exchange:
    """A turn in a place of the small team; everybody's words go through the secret scanner, as at intake."""

    world: World
    channel: str = "general"
    at: datetime | None = None
    turn_id: str = ""

    @property
    def moment(self) -> datetime:
        """When it is said."""
        return self.at or now() - MOMENT_AGO

    def say(self, name: str, text: str, *, earlier: bool = False, **more: Any) -> Entry:
        """A message of this turn, or of an earlier one."""
        ephemeral = more.get("ephemeral", False)
        alone = self.channel == "dm" or ephemeral
        readers = self.world.own(name) if alone else self.world.here(name, self.channel)
        values: dict[str, Any] = {
            "audience": readers.writes,
            "said_at": self.moment - timedelta(hours=1 if earlier else 0),
            **more,
        }
        if self.turn_id and not earlier:
            values["turn_id"] = self.turn_id
        entry = self.world.say(name, self.channel, withhold(text).text, **values)
        if not earlier and not self.turn_id:
            assert entry.turn_id is not None
            self.turn_id = entry.turn_id
            self.world.run(_turn, entry)
        return entry

    def reply(self, text: str) -> None:
        """The bot's answer."""
        self.world.run(_reply, self.turn_id, text)

    def given(self) -> PassInput | None:
        """What the pass would be given now."""
        return self.world.read(delta, self.turn_id)

    def propose(self, *proposals: dict[str, Any], given: PassInput | None = None) -> PassOutcome:
        """The pass with a model that answers so (people by name)."""
        seen = given or self.given()
        assert seen is not None
        return self.answer(answer_of(self.world, seen, list(proposals)), given=seen)

    def answer(self, text: str, *, given: PassInput | None = None) -> PassOutcome:
        """The pass with a model that answers with this text."""
        seen = given or self.given()
        assert seen is not None
        request("small", seen.payload)
        return self.world.run(apply, seen, parse(text), now())


def answer_of(world: World, given: PassInput, proposals: list[dict[str, Any]]) -> str:
    """A model's answer: defaults filled in, names turned into the numbers that the model saw."""
    numbers = {person_id: number for number, (person_id, _) in given.people.items()}
    newest = max(given.entries)
    rows = []
    for proposal in proposals:
        row = {**PLAIN, "message": newest, **proposal}
        if isinstance(row["about"], str):
            row["about"] = numbers.get(world.person(row["about"]), 99)
        rows.append(row)
    return json.dumps({"memories": rows})


def keep_known(world: World, known: dict[str, Any], channel: str, at: datetime) -> str:
    """A memory from a week before the exchange."""
    by = known["by"]
    about = known.get("about", "team")
    row = world.keep(
        by,
        known["text"],
        known.get("in", channel if channel != "dm" else "general"),
        topic=known.get("topic", ""),
        subject=about if about == "team" else world.person(about),
        bot_id=SCOUT if known.get("bot") == "scout" else BOT,
        origin=known.get("origin", "explicit"),
        kind=known.get("kind", "fact"),
    )
    world.run(lambda session: _age(session, row.id, at - WEEK))
    return row.id


def meanwhile(world: World, change: dict[str, Any], entry: Entry, known: list[str]) -> None:
    """Something that happens while the model thinks."""
    if "correct" in change:
        who, readers = world.who(change["by"]), world.own(change["by"])
        world.run(correct, readers, who, known[change["correct"] - 1], change["text"])
    elif "text" in change:
        world.keep(change["by"], change["text"], topic=change.get("topic", ""))
    elif "pause" in change:
        world.run(_pause, world.person(change["pause"]))
    elif change.get("delete"):
        world.run(_delete, entry.id)
    elif change.get("external"):
        world.run(_open_up, entry.place_id)


def moment(text: str | None) -> datetime | None:
    """A moment of a golden dialogue."""
    return datetime.fromisoformat(text).astimezone(UTC) if text else None


def set_zones(session: Session, zone: str) -> None:
    """Everybody lives there."""
    session.execute(update(Person).where(Person.team_id == TEAM).values(zone=zone))


def _turn(session: Session, entry: Entry) -> None:
    assert entry.turn_id is not None
    session.add(
        Turn(
            id=entry.turn_id,
            team_id=TEAM,
            conversation_id=entry.conversation_id,
            bot_id=entry.bot_id,
            place_id=entry.place_id,
            person_id=entry.person_id,
            account_id=entry.account_id,
            audience=entry.audience,
            ephemeral=entry.ephemeral,
            status="completed",
        )
    )


def _reply(session: Session, turn_id: str, text: str) -> None:
    turn = session.get_one(Turn, turn_id)
    session.add(
        Entry(
            id=f"reply-{turn_id}",
            team_id=TEAM,
            conversation_id=turn.conversation_id,
            bot_id=turn.bot_id,
            place_id=turn.place_id,
            turn_id=turn_id,
            audience=turn.audience,
            position=10_000,
            role="assistant",
            kind="reply",
            text=text,
            said_at=now(),
        )
    )


def _age(session: Session, memory_id: str, at: datetime) -> None:
    session.execute(update(Memory).where(Memory.id == memory_id).values(confirmed_at=at, created_at=at))


def _pause(session: Session, person_id: str) -> None:
    session.get_one(Person, person_id).learning_paused = True


def _delete(session: Session, entry_id: str) -> None:
    entry = session.scalars(select(Entry).where(Entry.id == entry_id)).one()
    entry.text, entry.redacted_at = "", now()


def _open_up(session: Session, place_id: str) -> None:
    session.get_one(Place, place_id).external = True


__all__ = ["Exchange", "answer_of", "keep_known", "meanwhile", "moment", "place", "set_zones", "source"]
