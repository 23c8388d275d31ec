"""Plays a dialogue in the real house, and checks everything that anybody gets to see against the oracle."""

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel
from sqlalchemy import select
from sqlalchemy.orm import Session

from bot.errors import BotError
from bot.messages import Accepted, Local, Post
from bot.model import Body
from bot.seeding import TEAM_ID, seed
from bot.tools.tool import Tool, ToolCall, ToolResult
from memory.cards import Card
from memory.errors import StoreError
from memory.listing import export
from memory.memories import Memory, MemoryChange
from memory.people import Account, speaker
from memory.places import Place
from memory.turns import Turn
from tests.audience.flips import flip, settle
from tests.audience.inprocess import InProcess
from tests.audience.model import STOLEN, Hostile
from tests.audience.script import PEOPLE, PLACES, Change, Listen, Look, Op, Rewrite, Say, Type
from tests.audience.world import CANARY, TEAM, Leak, World, first_world

ID = re.compile(r"[a-z2-7]{12}")
QUERY = "which lantern hangs in which hall"
EVERYBODY = "*"


class NoArguments(BaseModel):
    """Nothing to say."""


@dataclass
class Said:
    """A message of the dialogue: who wrote what where."""

    who: str
    where: str
    message_id: str
    accepted: Accepted


@dataclass
class Drama:
    """One dialogue on one database."""

    url: str
    world: World = field(default_factory=first_world)
    seen: dict[str, list[str]] = field(default_factory=dict)
    said: list[Said] = field(default_factory=list)
    authors: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    spoilt: set[str] = field(default_factory=set)
    say: Say | None = None
    turn_id: str = ""
    done: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.model = Hostile(on_prompt=self.on_prompt, on_pass=self.on_pass, meanwhile=self.meanwhile)
        self.desk = InProcess(self.url, self.model, self.on_post)
        self.desk.between = self.meanwhile
        self.desk.calling.tools["flip"] = Tool("flip", "Changes the world.", NoArguments, self._flip_tool)
        self.run(lambda session: seed(session, local_people=True))
        self.run(lambda session: settle(session, TEAM_ID, self.world))
        self.names = self.read(_names)

    def run(self, work: Callable[[Session], Any]) -> Any:
        """One writing transaction."""
        return self.desk.database.run_now(work)

    def read(self, work: Callable[[Session], Any]) -> Any:
        """One reading transaction."""
        return self.desk.database.read_now(work)

    # ---- what is seen, and by whom

    def check(self, path: str, shown: Any, readers: set[str], whom: str | None = None) -> None:
        """Checks words and ids; keeps what one person sees for comparing worlds."""
        text = shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False, default=str)
        self.world.check(path, text, readers | {EVERYBODY})
        for found in set(ID.findall(text)) - self.spoilt:
            home = self.ids.get(found)
            if home is not None and home not in readers:
                self.world.leaks.append(Leak(f"{path} (id)", found, home, ",".join(sorted(readers))))
        if whom is not None:
            self.seen.setdefault(whom, []).append(f"{path}: {text}")

    def turn(self) -> tuple[str, str, set[str]]:
        """Who asked in the turn that runs, where, and the homes that its readers may see now."""
        who, where, ephemeral = self.read(lambda session: _asked(session, self.turn_id))
        return who, where, self.world.readers(who, where, ephemeral=ephemeral)

    def on_prompt(self, body: Body) -> None:
        """A request to the model."""
        who, _, readers = self.turn()
        self.check("prompt", {key: body[key] for key in ("system", "tools", "messages")}, readers, who)

    def on_pass(self, body: Body) -> None:
        """A request to the model of the memory pass."""
        who, _, readers = self.turn()
        self.check("pass", body["messages"], readers, who)

    def on_post(self, post: Post) -> None:
        """Something that is shown in a place."""
        who, _, readers = self.turn()
        shown = [post.text, post.sources, [(card.id, card.text, card.readers) for card in post.cards]]
        self.check("reply" if post.final else "draft", shown, readers, who)

    # ---- what changes meanwhile

    async def meanwhile(self, moment: str) -> None:
        """Makes the changes that the message set for this moment."""
        if self.say is None:
            return
        if moment == "drafted":
            for _ in range(100):
                if self.desk.watched.posted or all(name != moment for name, _ in self.say.flips):
                    break
                await asyncio.sleep(0.001)
        for number, (name, change) in enumerate(self.say.flips):
            if number not in self.done and (moment == name or moment.startswith(f"{name}:")):
                self.done.add(number)
                flip(self.desk.database, self.world, change)

    async def _flip_tool(self, call: ToolCall, arguments: NoArguments) -> ToolResult:
        await self.meanwhile("tool")
        return ToolResult("It changed.")

    # ---- what people do

    async def play(self, script: list[Op]) -> None:
        """Plays a dialogue."""
        for op in script:
            match op:
                case Say():
                    await self.speak(op)
                case Type():
                    await self.type(op)
                case Change(change):
                    flip(self.desk.database, self.world, change)
                case Rewrite():
                    await self.rewrite(op)
                case Listen(who, where):
                    await self.listen(who, where)
                case Look(who, where):
                    await self.look(who, where)
            self.note_ids()
        await self.work(Say("ada", "dm"))

    async def speak(self, say: Say) -> None:
        """One message and, unless it is to wait, everything that it brings."""
        local = Local(say.who, say.where if say.where == "dm" else f"#{say.where}", say.thread, None)
        local = Local(local.person, local.where, local.thread, None, say.ephemeral and say.where != "dm")
        home = self.world.said(say.who, say.where, ephemeral=local.ephemeral)
        word = self.world.new_word(home)
        self.authors[word] = say.who
        text = f"The {word} lantern hangs in hall {len(self.said) + 1}."
        try:
            accepted = await self.desk.say(local, text, overheard=say.overheard)
        except (BotError, StoreError) as error:
            self.check("refusal", str(error), self.world.alone(say.who, "dm"), say.who)
            return
        found = await self.desk.outcome(Accepted(accepted.entry_id, "", None))
        self.said.append(Said(say.who, say.where, found["message"] or "", accepted))
        if say.later or say.overheard:
            return
        self.model.word = word
        self.model.orders = [[self.call(one, say, text) for one in step] for step in say.calls]
        await self.work(say)
        try:
            outcome = await self.desk.outcome(accepted, timeout=0)
        except BotError:
            return
        self.turn_id = outcome["turn"]
        self.check("outcome", outcome, self.turn()[2], say.who)

    async def work(self, say: Say) -> None:
        """Runs what waits; the message says what the model does and what changes meanwhile."""
        self.say, self.done, self.desk.watched.posted = say, set(), 0
        self.model.launder, self.model.whole, self.model.drafts = say.launder, say.whole, say.drafts
        try:
            await self.desk.work(self._begins)
        finally:
            self.say, self.model.orders = None, []

    def _begins(self, kind: str, turn_id: str) -> None:
        self.turn_id = turn_id

    def call(self, name: str, say: Say, text: str) -> tuple[str, dict[str, Any]]:
        """A tool call as a hostile model makes it: any words, any id."""
        memory = self.target(say.target)
        write: dict[str, Any] = {"quote": text, "text": text}
        if "topic" in say.launder:
            write["topic"] = STOLEN
        if "text" in say.launder:
            write["text"] = f"{text} {STOLEN}"
        match name:
            case "remember":
                return "memory_write", {"topic": "lantern", **write, "action": "create"}
            case "remember mine":
                return "memory_write", {**write, "action": "create", "about": "me"}
            case "remember rule":
                return "memory_write", {**write, "action": "create", "kind": "rule"}
            case "remember quietly":
                return "memory_write", {**write, "action": "create", "private": True}
            case "note":
                return "memory_write", {**write, "action": "create", "note_minutes": 30}
            case "append" | "correct" | "archive" | "share":
                return "memory_write", {**write, "action": name, "id": memory}
            case "pause":
                return "memory_write", {**write, "action": "pause", "extent": "message"}
            case "forget":
                return "memory_forget", {"id": memory}
            case "forget words":
                return "memory_forget", {"query": QUERY}
            case "search":
                return "memory_search", {"query": QUERY, "include_archived": True, "limit": 10}
            case "recall":
                return "conversation_search", {"query": QUERY, "limit": 10}
            case "list mine":
                return "memory_search", {"list": "about_me"}
            case "list team":
                return "memory_search", {"list": "team"}
        return "flip", {}

    async def type(self, op: Type) -> None:
        """One typed command."""
        if op.command == "export":
            self.exported(op.who)
            return
        text = self.typed(op)
        local = Local(op.who, op.where if op.where == "dm" else f"#{op.where}")
        if "card" in op.command or op.command == "confirm":
            self.before_press(op, text)
        try:
            result = await self.desk.run_typed(local, text)
            shown: Any = [result.text, result.rows, [(card.id, card.text) for card in result.cards]]
        except (BotError, StoreError) as error:
            shown = str(error)
        self.note_ids()
        self.check(f"/{op.command}", shown, self.world.alone(op.who, op.where), op.who)

    def typed(self, op: Type) -> str:
        """The text of a command, with a new word where it has words."""
        memory = self.target(op.target)
        here = self.world.said(op.who, op.where) if op.where == "dm" else self.written_by_command(op)
        own = f"person:{op.who}"
        match op.command:
            case "add":
                return f"/memory add {self.sentence(op.who, here)}"
            case "add team":
                home = TEAM if here == TEAM and self.world.people[op.who].is_member else own
                return f"/memory add share:team {self.sentence(op.who, home)}"
            case "add me":
                return f"/memory add share:me {self.sentence(op.who, own)}"
            case "note add":
                return f"/note add {self.sentence(op.who, own)}"
            case "edit":
                return f"/memory edit {memory} {self.sentence(op.who, own, self.ids.get(memory, own))}"
            case "undo change":
                change = self.nth(select(MemoryChange.id).order_by(MemoryChange.seq), op.target)
                return f"/memory undo {change or 'aaaaaaaaaaaa'}"
            case "confirm card" | "cancel card":
                card = self.nth(select(Card.id).order_by(Card.created_at, Card.id), op.target)
                return f"/{op.command.partition(' ')[0]} {card or 'aaaaaaaaaaaa'}"
        return {
            "show": "/memory show",
            "show team": "/memory show team",
            "search": f"/memory search {QUERY}",
            "source": f"/memory source {memory}",
            "note list": "/note list",
            "note delete": f"/note delete {memory}",
            "archive": f"/memory archive {memory}",
            "undo": "/memory undo",
            "undo memory": f"/memory undo {memory}",
            "forget": f"/memory forget {memory}",
            "share": f"/memory share {memory}",
            "confirm": "/confirm",
            "policy": "/memory policy",
        }[op.command]

    def written_by_command(self, op: Type) -> str:
        """The home of what somebody adds by a command in a channel."""
        if not self.world.people[op.who].is_member:
            return f"person:{op.who}"
        return self.world.said(op.who, op.where)

    def sentence(self, who: str, *homes: str) -> str:
        """A sentence with a new word in it."""
        word = self.world.new_word(*homes)
        self.authors[word] = who
        return f"The {word} lantern hangs in hall {len(self.authors)}."

    def before_press(self, op: Type, text: str) -> None:
        """A card pressed by the person whose words it shows gives them the readers that it shows."""
        card_id = text.partition(" ")[2]
        card = self.read(lambda session: session.get(Card, card_id))
        if card is None or op.command != "confirm card":
            return
        owner = self.names[f"person:{card.person_id}"].partition(":")[2]
        if owner != op.who or card.action not in ("share", "team write", "profile"):
            return
        for word in CANARY.findall(json.dumps(card.payload)):
            if self.authors.get(word) == op.who or TEAM in self.world.homes[word]:
                self.world.homes[word].add(EVERYBODY if card.action == "profile" else TEAM)

    async def rewrite(self, op: Rewrite) -> None:
        """An edit or a deletion by the author."""
        if not self.said:
            return
        said = self.said[op.which % len(self.said)]
        text = None
        if not op.delete:
            if said.where != "dm" and not self.world.may_enter(said.who, said.where):
                return
            home = self.world.said(said.who, said.where)
            text = self.sentence(said.who, home)
        try:
            await self.desk.edit(Local(said.who, _at(said.where)), said.message_id, text)
        except (BotError, StoreError) as error:
            self.check("refusal", str(error), self.world.alone(said.who, "dm"), said.who)

    async def listen(self, who: str, where: str) -> None:
        """An open page."""

        async def heard(event: dict[str, Any]) -> None:
            entered = where == "dm" or self.world.may_enter(who, where)
            self.check("page", event, self.world.page(who, where if entered else "dm"), who)

        try:
            await self.desk.listen(Local(who, _at(where)), heard)
        except (BotError, StoreError):
            return

    # ---- what people look at

    async def look(self, who: str, where: str) -> None:
        """Everything that a place shows to somebody, with every memory asked for by all words."""
        if where != "dm" and not self.world.may_enter(who, where):
            return
        local, readers = Local(who, _at(where)), self.world.readers(who, where)
        waiting = list(self.desk.queue.waiting)
        shown = await self.desk.prompt(local, "What do you know?")
        self.desk.queue.waiting = waiting
        self.check("teambot prompt", shown, readers, who)
        self.check("memories", await self.desk.memories(local), readers, who)
        every = " ".join(word for word in self.world.homes if CANARY.fullmatch(word))
        self.check("memories --query", await self.desk.memories(local, every), readers, who)
        self.check("memories --query", await self.desk.memories(local, QUERY), readers, who)
        lines = await self.desk.lines(local)
        self.check("lines", [vars(line) for line in lines], self.world.page(who, where), who)
        found = await self.desk.run_typed(local, f"/memory search {every[:3000] or 'x'}")
        self.check("/memory search", found.rows, self.world.alone(who, where), who)

    def exported(self, who: str) -> None:
        """Everything of a person, as JSON."""
        account = select(Account.id).where(Account.external_id == who)
        shown = self.read(lambda s: export(s, speaker(s, s.scalars(account).one())))
        self.check("export", shown, self.world.everywhere(who), who)

    async def exports(self) -> None:
        """What everybody may take away with them."""
        for who in PEOPLE:
            self.exported(who)

    async def look_around(self) -> None:
        """Everybody looks everywhere, and asks the hostile model for all it finds."""
        for who in PEOPLE:
            for where in ("dm", *PLACES):
                await self.look(who, where)
            for command in ("show", "show team", "search", "note list", "confirm"):
                await self.type(Type(who, "dm", command))
            self.exported(who)

    async def interrogate(self, pairs: list[tuple[str, str]]) -> None:
        """Turns in which the model searches for everything and tells all that it finds."""
        calls = (("search", "recall", "list mine", "list team"),)
        for who, where in pairs:
            await self.speak(Say(who, where, calls))

    # ---- ids

    def target(self, number: int) -> str:
        """The id of a memory, whoever's it is; from now on its looks tell nothing."""
        found = self.nth(select(Memory.id).order_by(Memory.seq), number) or "aaaaaaaaaaaa"
        self.spoilt.add(found)
        return found

    def nth(self, query: Any, number: int) -> str | None:
        """One of the rows of a query."""
        rows = self.read(lambda session: list(session.scalars(query)))
        return str(rows[number % len(rows)]) if rows else None

    def note_ids(self) -> None:
        """The homes of the ids of memories."""
        rows = self.read(lambda session: list(session.execute(select(Memory.id, Memory.audience))))
        for memory_id, audience in rows:
            self.ids[memory_id] = self.names.get(audience, audience)

    def close(self) -> None:
        """Closes the database."""
        self.desk.close()


def _at(where: str) -> str:
    return where if where == "dm" else f"#{where}"


def _names(session: Session) -> dict[str, str]:
    """Audiences by the names of the oracle."""
    people = session.execute(select(Account.person_id, Account.external_id))
    places = session.execute(select(Place.id, Place.channel))
    return {
        TEAM: TEAM,
        **{f"person:{key}": f"person:{name}" for key, name in people},
        **{f"place:{key}": f"place:{name}" for key, name in places},
    }


def _asked(session: Session, turn_id: str) -> tuple[str, str, bool]:
    turn = session.get_one(Turn, turn_id)
    place = session.get_one(Place, turn.place_id)
    account = session.get_one(Account, turn.account_id)
    return account.external_id, "dm" if place.kind == "dm" else place.channel, turn.ephemeral
