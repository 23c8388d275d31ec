"""Server-sent events: one wire per open tab, which never slows the bot and never falls behind."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from adapters.web.talk import Talk

PAUSE = 0.08
"""Seconds between two sendings: words that come in between go together."""
BEAT = 15.0

Key = tuple[str | None, ...]


@dataclass
class Wire:
    """What one tab has not been told yet. Only the newest of each kind counts."""

    talk: Talk
    bot: str
    busy: Callable[[], bool]
    drafts: dict[str, str] = field(default_factory=dict)
    status: str = ""
    letters: dict[str, str] = field(default_factory=dict)
    news: set[str] = field(default_factory=set)
    wake: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def running(self) -> bool:
        """Whether an answer is on the way."""
        return bool(self.drafts) or self.busy()

    async def hear(self, event: dict[str, Any]) -> None:
        """Takes an event of the bot and returns at once."""
        kind = event.get("type")
        if kind == "draft":
            self.drafts[str(event.get("key", ""))] = str(event.get("text", ""))
            self.tell("draft", "status")
        elif kind == "status":
            self.status = str(event.get("text", ""))
            self.tell("status")
        elif kind in ("line", "memory"):
            self.tell(str(kind))

    def tell(self, *kinds: str) -> None:
        """Something changed."""
        self.news.update(kinds)
        self.wake.set()

    def send(self, kind: str, html: str) -> None:
        """Something for this tab alone."""
        self.letters[kind] = html
        self.tell(kind)

    def drop(self, shown: set[str]) -> None:
        """Forgets the drafts whose final words are shown now."""
        for key in shown & self.drafts.keys():
            del self.drafts[key]
            self.tell("status")

    async def wait(self) -> set[str] | None:
        """What is new, or nothing when it is time for a sign of life."""
        try:
            await asyncio.wait_for(self.wake.wait(), BEAT)
        except TimeoutError:
            return None
        self.wake.clear()
        news, self.news = self.news, set()
        return news


class Wires:
    """All open tabs, and how many answers are awaited in each talk."""

    def __init__(self) -> None:
        self._open: list[Wire] = []
        self._awaited: Counter[Key] = Counter()

    def plug(self, talk: Talk, bot: str) -> Wire:
        """A new wire."""
        keys = (talk.shared_key, talk.own_key)
        wire = Wire(talk, bot, busy=lambda: any(self._awaited[key] for key in keys))
        self._open.append(wire)
        return wire

    def unplug(self, wire: Wire) -> None:
        """Forgets a tab that was closed."""
        self._open.remove(wire)

    def begin(self, talk: Talk, *, alone: bool) -> None:
        """An answer is awaited in a talk (`alone`: only this person will see it)."""
        self._awaited[talk.own_key if alone else talk.shared_key] += 1
        self.tell(talk, "status")

    def end(self, talk: Talk, *, alone: bool) -> None:
        """That answer came, or will not come."""
        self._awaited[talk.own_key if alone else talk.shared_key] -= 1
        for wire in self._of(talk):
            wire.status = ""
        self.tell(talk, "status", "line")

    def tell(self, talk: Talk, *kinds: str) -> None:
        """Tells every tab of a place that something changed."""
        for wire in self._of(talk):
            wire.tell(*kinds)

    def send(self, talk: Talk, kind: str, html: str) -> None:
        """Something for the tabs of one person in a talk."""
        for wire in self._of(talk):
            if wire.talk.person == talk.person:
                wire.send(kind, html)

    def take_back(self, talk: Talk, turn: str) -> None:
        """Drops the draft of a turn whose answer does not stay in the talk."""
        for wire in self._of(talk):
            wire.drop({key for key in wire.drafts if key.startswith(turn)})
            wire.tell("draft")

    def shown(self, talk: Talk, lines: set[str]) -> None:
        """The final words of these lines are in a tab of the talk."""
        for wire in self._of(talk):
            wire.drop(lines)

    def hang_up(self) -> None:
        """Ends all wires, so that stopping waits for none."""
        for wire in self._open:
            wire.tell("bye")

    def _of(self, talk: Talk) -> Iterator[Wire]:
        return (wire for wire in self._open if wire.talk.shared_key == talk.shared_key)


def event(name: str, data: str) -> bytes:
    """One event in the wire format; any line break in the data stays one."""
    lines = data.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "".join([f"event: {name}\n", *(f"data: {line}\n" for line in lines), "\n"]).encode(
        "utf-8", "replace"
    )


async def stream(
    request: web.Request, wire: Wire, boot: str, draw: Callable[[str, Wire], str]
) -> web.StreamResponse:
    """Sends a tab its news until it goes away; `draw` makes the HTML of one kind of news."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    with suppress(ConnectionError):
        await response.write(event("boot", boot) + event("status", draw("status", wire)))
        while True:
            news = await wire.wait()
            if news is None:
                await response.write(b": still here\n\n")
                continue
            if "bye" in news:
                break
            await response.write(b"".join(event(kind, draw(kind, wire)) for kind in sorted(news)))
            await asyncio.sleep(PAUSE)
    return response
