"""Stand-in models that ship with the code: one follows a script, one obeys whoever speaks."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.errors import ModelError
from bot.model import Block, Body, Capabilities, OnText, Response, Usage
from bot.tokens import body_tokens

Answer = str | list[Block] | Response | ModelError | Callable[[Body], "str | list[Block]"]


def use(name: str, arguments: dict[str, Any], call_id: str = "") -> Block:
    """A tool call as a content block."""
    return {"type": "tool_use", "id": call_id or f"toolu_{name}", "name": name, "input": arguments}


@dataclass
class Scripted:
    """Answers with its script, in order (the last answer repeats), and keeps the requests.

    `passes` are the answers of the memory pass. `hold` keeps every answer back until it is set.
    """

    answers: Sequence[Answer] = ("ok",)
    passes: Sequence[str] = ('{"memories":[]}',)
    capabilities: Capabilities = field(default_factory=lambda: Capabilities(structured_output=True))
    bodies: list[Body] = field(default_factory=list)
    pass_bodies: list[Body] = field(default_factory=list)
    hold: asyncio.Event | None = None

    async def respond(self, body: Body, on_text: OnText | None = None) -> Response:
        """The next answer of the script."""
        self.bodies.append(json.loads(json.dumps(body)))
        answer = self.answers[min(len(self.bodies), len(self.answers)) - 1]
        if self.hold is not None:
            await self.hold.wait()
        if isinstance(answer, ModelError):
            raise answer
        if isinstance(answer, Response):
            return answer
        made = answer(body) if callable(answer) else answer
        return respond_with(body, made, on_text)

    async def structured(self, body: Body, schema: dict[str, Any]) -> Response:
        """The next answer of the memory pass."""
        self.pass_bodies.append(json.loads(json.dumps(body)))
        answer = self.passes[min(len(self.pass_bodies), len(self.passes)) - 1]
        return Response([{"type": "text", "text": answer}], "end_turn", Usage(body_tokens(body), 10))

    def cost(self, model: str, usage: Usage) -> int:
        return usage.output_tokens

    def worst_cost(self, body: Body) -> int:
        return 1


class Obedient(Scripted):
    """Does what anybody's words say, and repeats its whole prompt: the worst model there can be.

    A message `{"tool": NAME, "input": {…}}` becomes that call; the answer to anything is everything that the
    model was shown.
    """

    async def respond(self, body: Body, on_text: OnText | None = None) -> Response:
        """Calls what the newest words say, then tells all it knows."""
        self.bodies.append(json.loads(json.dumps(body)))
        last = body["messages"][-1]["content"]
        order = _order(last[-1].get("text", "")) if last[-1].get("type") == "text" else None
        if order is not None:
            return respond_with(
                body, [use(order["tool"], order["input"], f"toolu_{len(self.bodies)}")], on_text
            )
        return respond_with(body, json.dumps(body["messages"], ensure_ascii=False)[-20_000:], on_text)


def respond_with(body: Body, made: "str | list[Block]", on_text: OnText | None) -> Response:
    """A response of text or blocks, streamed as one piece."""
    content: list[Block] = [{"type": "text", "text": made}] if isinstance(made, str) else made
    if on_text is not None:
        for block in content:
            if block.get("type") == "text":
                on_text(block["text"])
    stop = "tool_use" if any(block.get("type") == "tool_use" for block in content) else "end_turn"
    written = sum(len(json.dumps(block)) // 3 for block in content)
    return Response(content, stop, Usage(body_tokens(body), written), str(body["model"]), "")


def _order(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    whole = (
        isinstance(value, dict)
        and isinstance(value.get("tool"), str)
        and isinstance(value.get("input"), dict)
    )
    return value if whole else None
