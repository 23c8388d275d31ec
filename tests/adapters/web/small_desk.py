"""A desk in memory, so that the page's own promises can be tested without a house behind it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, cast

from bot.errors import BadInput, NotAllowed, Unknown
from bot.messages import (
    Accepted,
    CardView,
    CommandResult,
    Desk,
    Line,
    Listener,
    Local,
)

Talk = tuple[str, ...]
MAX_TEXT = 100_000


def talk_of(local: Local) -> Talk:
    """Who shares a talk."""
    return ("dm", local.person, local.bot or "teambot") if local.where == "dm" else (local.where,)


@dataclass
class SmallDesk:
    """People, places, lines and memories, and a bot that repeats what it hears."""

    model: str = "offline"
    answers: bool = True
    refuses: str = ""
    people_here: list[dict[str, Any]] = field(
        default_factory=lambda: [
            {"id": "ada", "name": "Ada", "role": "owner", "is_guest": False},
            {"id": "ben", "name": "Ben", "role": "member", "is_guest": False},
        ]
    )
    places_here: list[dict[str, Any]] = field(
        default_factory=lambda: [
            {"name": "#general", "kind": "public", "external": False, "members": [], "guests": "no"}
        ]
    )
    talks: dict[Talk, list[Line]] = field(default_factory=dict)
    kept: list[dict[str, Any]] = field(default_factory=list)
    listeners: list[tuple[Talk, Listener]] = field(default_factory=list)
    asked: list[tuple[str, Any]] = field(default_factory=list)
    answered: asyncio.Event = field(default_factory=asyncio.Event)

    async def say(self, local: Local, text: str, *, overheard: bool = False) -> Accepted:
        if not text.strip():
            raise BadInput("The message is empty; nothing was saved.")
        if len(text) > MAX_TEXT:
            raise BadInput(f"The message has {len(text):,} characters; nothing was saved.")
        self.asked.append(("say", (local, overheard)))
        seen_in = replace(local, where="dm") if local.ephemeral else local
        line = await self.add(seen_in, local.person.title(), text)
        if overheard:
            return Accepted(line.id, "c", None)
        if self.answers:
            await self.answer(seen_in, f"You said: {text[:80]}")
        return Accepted(line.id, "c", f"turn:{line.id}")

    async def answer(self, local: Local, text: str) -> None:
        """What the bot says, and nobody waits any more."""
        await self.add(local, local.bot or "teambot", text, is_bot=True)
        self.answered.set()

    async def add(self, local: Local, who: str, text: str, *, is_bot: bool = False, **more: Any) -> Line:
        """Puts a line into a talk and tells everybody who listens."""
        lines = self.talks.setdefault(talk_of(local), [])
        name = f"{sum(map(len, self.talks.values())) + 1}"
        line = Line(
            f"l{name}", who, is_bot, text, datetime.now(UTC), f"x{name}", ephemeral=local.ephemeral, **more
        )
        lines.append(line)
        await self.tell(local, {"type": "line", "line": line})
        return line

    async def tell(self, local: Local, event: dict[str, Any]) -> None:
        """An event for everybody who listens to a talk."""
        for talk, listener in list(self.listeners):
            if talk == talk_of(local):
                await listener(event)

    def remember(self, text: str, audience: str, **more: Any) -> dict[str, Any]:
        """Puts a memory in."""
        row = {
            "id": f"m{len(self.kept)}",
            "text": text,
            "layer": "fact",
            "kind": "fact",
            "audience": audience,
            "author": "Ada",
            "subject": "team",
            "origin": "explicit",
            "status": "active",
            "quote": text,
            "link": None,
            **more,
        }
        self.kept.append(row)
        return row

    async def run_typed(self, local: Local, text: str) -> CommandResult:
        self.asked.append(("typed", text))
        name, _, rest = text.removeprefix("/").partition(" ")
        if name == "memory" and rest.startswith("forget "):
            row = next((row for row in self.kept if row["id"] == rest.removeprefix("forget ")), None)
            if row is None:
                raise Unknown
            card = CardView(row["id"], f"Forget for good: “{row['text']}”", "you", "forget")
            return CommandResult("This cannot be undone.", cards=(card,))
        if name == "memory":
            rows = await self.memories(local)
            words = "\n".join(["What I know:", *(f"• “{row['text']}” `{row['id']}`" for row in rows)])
            return CommandResult(words, rows=tuple(rows), undo="c1")
        if name == "cancel":
            return CommandResult("The card is closed, and nothing was done.")
        if name == "confirm":
            self.kept[:] = [row for row in self.kept if row["id"] != rest]
            await self.tell(local, {"type": "memory"})
            return CommandResult("Forgotten for good.")
        raise Unknown(f"There is no command `/{name}`.")

    async def edit(self, local: Local, message_id: str, text: str | None) -> None:
        lines = self.talks.get(talk_of(local), [])
        lines[:] = [
            replace(line, text=text or "", removed=text is None) if line.message_id == message_id else line
            for line in lines
        ]

    async def people(self) -> list[dict[str, Any]]:
        if self.refuses:
            raise NotAllowed(self.refuses)
        return self.people_here

    async def places(self, person: str) -> list[dict[str, Any]]:
        return [
            place for place in self.places_here if place["kind"] == "public" or person in place["members"]
        ]

    async def bots(self, person: str) -> list[dict[str, Any]]:
        return [{"name": "teambot", "title": "Teammate", "description": ""}]

    async def set_person(self, name: str, *, guest: bool = False) -> dict[str, Any]:
        if " " in name:
            raise BadInput("A name is one word.")
        row = {
            "id": name.casefold(),
            "name": name.title(),
            "role": "guest" if guest else "member",
            "is_guest": guest,
        }
        self.people_here.append(row)
        return row

    async def set_place(
        self,
        name: str,
        *,
        private: bool = False,
        external: bool = False,
        members: tuple[str, ...] | None = None,
    ) -> dict[str, Any]:
        kind = "private" if private else "public"
        row = {
            "name": name,
            "kind": kind,
            "external": external,
            "members": list(members or ()),
            "guests": "no",
        }
        self.places_here.append(row)
        return row

    async def lines(self, local: Local, *, before: str | None = None, limit: int = 50) -> list[Line]:
        return self.talks.get(talk_of(local), [])[-limit:]

    async def memories(self, local: Local, query: str | None = None) -> list[dict[str, Any]]:
        readable = {
            "team",
            f"person:{local.person.title()}" if local.where == "dm" else f"place:{local.where}",
        }
        return [
            row
            for row in self.kept
            if row["audience"] in readable and (not query or query.casefold() in row["text"].casefold())
        ]

    async def listen(self, local: Local, listener: Listener) -> Callable[[], None]:
        entry = (talk_of(local), listener)
        self.listeners.append(entry)
        return lambda: self.listeners.remove(entry)

    async def open_local(self, local: Local) -> None:
        self.asked.append(("opened", local.person))

    async def stop_local(self, local: Local) -> bool:
        self.asked.append(("stop", local.person))
        return True

    async def outcome(
        self, accepted: Accepted, *, settle: bool = False, timeout: float = 300.0
    ) -> dict[str, Any]:
        await self.answered.wait()
        reply = next(line.text for talk in self.talks.values() for line in reversed(talk) if line.is_bot)
        added = [{**row, "change": f"c-{row['id']}"} for row in self.kept] if settle else []
        memory = {"added": added, "replaced": [], "removed": [], "refused": []}
        return {"turn": accepted.turn_id, "reply": reply, "sources": [], "cards": [], "memory": memory}

    def model_name(self) -> str:
        return self.model

    @property
    def desk(self) -> Desk:
        """This, as the page takes it: it has all that the page asks for, and nothing for other platforms."""
        return cast("Desk", self)
