"""Claude's Messages API as aimock plays it, scripted from Python."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.stand_ins.process import StandIn, started

Answer = dict[str, Any]


def says(text: str, *, stop: str | None = None, **how: Any) -> Answer:
    """An answer in words; `stop` is its stop reason (refusal, max_tokens, …), `how` is aimock's."""
    return {"response": {"content": text, **({"finishReason": stop} if stop else {})}, **how}


def calls(*tools: tuple[str, dict[str, Any]], text: str = "", **how: Any) -> Answer:
    """An answer that calls tools, after some words if there are any."""
    words = [{"type": "text", "text": text}] if text else []
    uses = [{"type": "toolCall", "name": name, "arguments": json.dumps(given)} for name, given in tools]
    return {"response": {"blocks": [*words, *uses]}, **how}


def fails(status: int, kind: str, message: str = "", **more: Any) -> Answer:
    """An error before the first byte: 529 overloaded_error, 429 rate_limit_error (`retryAfter=1`), …"""
    return {"response": {"error": {"type": kind, "message": message or kind}, "status": status, **more}}


def cut(answer: Answer, after: int) -> Answer:
    """The same answer, its connection broken after some events of the stream."""
    return {**answer, "truncateAfterChunks": after}


def overloaded(answer: Answer, after: int) -> Answer:
    """The same answer, ended by an `overloaded_error` event after some events of the stream."""
    return cut({**answer, "response": {**answer["response"], "id": "msg_overloaded"}}, after)


class Claude:
    """A running aimock; what nobody scripted is answered by an error."""

    def __init__(self, process: StandIn) -> None:
        self._process = process
        self._scripted: Counter[str] = Counter()
        self.url: str = process.hello["url"]

    def script(self, *answers: Answer, **match: Any) -> None:
        """Answers to the next requests that match (`model=…`, `userMessage=…`), one each, in this order."""
        key = json.dumps(match, sort_keys=True)
        for answer in answers:
            self._on({**match, "sequenceIndex": self._scripted[key]}, answer)
            self._scripted[key] += 1

    def always(self, answer: Answer, **match: Any) -> None:
        """The answer to every request that matches and has no scripted one."""
        self._on(match, answer)

    def requests(self) -> list[dict[str, Any]]:
        """The body of every request so far, exactly as it was sent."""
        return [json.loads(body) for body in self._process.call(("bodies",))]

    def reset(self) -> None:
        """Forgets script and requests."""
        self._scripted.clear()
        self._process.call(("forget",))

    def _on(self, match: dict[str, Any], answer: Answer) -> None:
        how = {key: value for key, value in answer.items() if key != "response"}
        self._process.call(("on", match, answer["response"], how))


@contextmanager
def running() -> Iterator[Claude]:
    """A server of its own."""
    with started("aimock.mjs") as process:
        yield Claude(process)
