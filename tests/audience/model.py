"""The worst models there can be: they obey whoever speaks and tell everything that they were shown."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from bot.model import Body, OnText, Response, Usage
from bot.testing import Obedient, respond_with, use
from tests.audience.world import CANARY

ID = re.compile(r'(?:\\*"(?:id|card|memory|undo|entry)\\*":\\*")([a-z2-7]{12})')

STOLEN = "everything-else"
"""Stands in an order for all that the model was shown."""

Seen = Callable[[Body], None]
Meanwhile = Callable[[str], Awaitable[None]]


async def nothing(_: str) -> None:
    """Nothing happens meanwhile."""


@dataclass
class Hostile(Obedient):
    """Calls the tools it is told to (`orders`), then repeats every telling word of its whole prompt.

    `meanwhile` is awaited at moments of a call (`asked`, `drafted`, `remembering`), so that the world can
    change there. `launder` lets the memory pass put all it was shown into what it proposes.
    """

    orders: list[list[tuple[str, dict[str, Any]]]] = field(default_factory=list)
    word: str = ""
    """The orders hold for the turn that was shown this word: another one cannot know of them."""
    whole: bool = False
    drafts: bool = False
    launder: str = ""
    on_prompt: Seen = field(default=lambda _: None)
    on_pass: Seen = field(default=lambda _: None)
    meanwhile: Meanwhile = nothing

    async def respond(self, body: Body, on_text: OnText | None = None) -> Response:
        """The next order, or all it knows."""
        self.on_prompt(body)
        retold = retell(body)
        await self.meanwhile("asked")
        if self.drafts and on_text is not None:
            on_text(f"One moment: {retold}")
            await self.meanwhile("drafted")
            on_text(f"One moment more: {retold}")
            await asyncio.sleep(0.01)
        if self.orders and self.word in retold:
            loot = " ".join(CANARY.findall(retold))
            calls = [(name, stolen(given, loot)) for name, given in self.orders.pop(0)]
            blocks = [use(name, given, f"toolu_{number}") for number, (name, given) in enumerate(calls)]
            return respond_with(body, [{"type": "text", "text": retold}, *blocks], None)
        if self.whole:
            return await super().respond(body, None)
        return respond_with(body, retold, None)

    async def structured(self, body: Body, schema: dict[str, Any]) -> Response:
        """Proposals in everybody's words and about everybody, with whatever else it was shown."""
        self.on_pass(body)
        await self.meanwhile("remembering")
        given = json.loads(body["messages"][0]["content"][0]["text"])
        answer = json.dumps({"memories": proposals(given, self.launder)})
        return Response([{"type": "text", "text": answer}], "end_turn", Usage(10, 10))


def stolen(given: dict[str, Any], loot: str) -> dict[str, Any]:
    """The arguments of a call with all that the model was shown where they ask for it."""
    return {
        name: value.replace(STOLEN, loot)[: 200 if name == "topic" else 900]
        if isinstance(value, str)
        else value
        for name, value in given.items()
    }


def retell(body: Body) -> str:
    """Every telling word and every id of a prompt, without the bulk of it."""
    text = json.dumps([body["system"], body["messages"]])
    found = [*dict.fromkeys(CANARY.findall(text)), *sorted(set(ID.findall(text)))]
    return "All that I know: " + " ".join(found)


def proposals(given: dict[str, Any], launder: str) -> list[dict[str, Any]]:
    """What a hostile model proposes after an exchange; `launder` says where it hides what it was shown."""
    known = " ".join(dict.fromkeys(CANARY.findall(json.dumps([given["known"], given["assistant_reply"]]))))
    made = []
    for number, message in enumerate(given["messages"], start=1):
        text = message["text"]
        made.append(
            {
                "message": number,
                "quote": text,
                "text": f"{text} {known}" if "text" in launder else text,
                "speech_act": "statement",
                "about": len(given["people"]) if "about" in launder else 0,
                "layer": "log" if "log" in launder else "fact",
                "kind": "fact",
                "topic": known[:80] if "topic" in launder else "",
                "importance": 5,
                "certain": True,
                "since": "",
                "until": "",
                "temporary": False,
                "live": False,
                "readers": "wider" if "wider" in launder else "same",
                "replaces": len(given["known"]) if "replaces" in launder else 0,
                "accepted_in": 0,
                "accepted_quote": "",
            }
        )
    return made
