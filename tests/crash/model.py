"""A model that takes its time: it streams in pieces, and looks things up before it answers some messages."""

import asyncio
import json
import zlib
from dataclasses import dataclass, field
from typing import Any

from bot.model import Block, Body, Capabilities, OnText, Response, Usage
from bot.testing import respond_with, use

NOTHING = '{"memories":[]}'


@dataclass
class Slow:
    """Answers "answer to X" to X, each piece after `pause` seconds."""

    pause: float = 0.05
    capabilities: Capabilities = field(default_factory=lambda: Capabilities(structured_output=True))

    async def respond(self, body: Body, on_text: OnText | None = None) -> Response:
        """Looks up first, if the text of the message says so."""
        last: list[Block] = body["messages"][-1]["content"]
        looked = any(block["type"] == "tool_result" for block in last)
        words = _words(body)
        await asyncio.sleep(self.pause)
        if not looked and zlib.crc32(words.encode()) % 2:
            calls = [
                use("memory_search", {"query": words}, "t1"),
                use("conversation_search", {"query": words}, "t2"),
            ]
            return respond_with(body, [{"type": "text", "text": "Let me look."}, *calls], on_text)
        for piece in ("answer", "answer to"):
            if on_text is not None:
                on_text(piece)
            await asyncio.sleep(self.pause)
        return respond_with(body, f"answer to {words}", on_text)

    async def structured(self, body: Body, schema: dict[str, Any]) -> Response:
        """Learns nothing."""
        await asyncio.sleep(self.pause)
        return Response([{"type": "text", "text": NOTHING}], "end_turn", Usage(1, 1))

    def cost(self, model: str, usage: Usage) -> int:
        return 1

    def worst_cost(self, body: Body) -> int:
        return 1


def _words(body: Body) -> str:
    """The newest words of a person."""
    for message in reversed(body["messages"]):
        texts = [block["text"] for block in message["content"] if block["type"] == "text"]
        if message["role"] == "user" and texts:
            return str(texts[-1])
    return json.dumps(body["messages"][-1])
