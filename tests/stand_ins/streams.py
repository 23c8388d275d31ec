"""A server in this process, for what no stand-in plays: cache counters, diagnostics, odd streams.

Every event and answer is checked against the SDK's types before it is sent, so that it says nothing that
the real server could not; `raw` is for what a broken server says.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any

import httpx2
from anthropic import DefaultAsyncHttpxClient
from anthropic.types import Message
from pydantic import TypeAdapter

from tests.contracts import assert_valid_event

Event = dict[str, Any]
_MESSAGE: TypeAdapter[Message] = TypeAdapter(Message)


def usage(**counts: Any) -> dict[str, Any]:
    """Usage with the counts that matter to a test."""
    return {"input_tokens": 1, "output_tokens": 1, **counts}


def message(*content: dict[str, Any], stop: str | None = None, **more: Any) -> dict[str, Any]:
    """A message as the API sends it."""
    whole = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5-5",
        "content": list(content),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage(),
        **more,
    }
    _MESSAGE.validate_python(whole)
    return whole


def text(index: int, *pieces: str) -> list[Event]:
    """A text block in pieces."""
    return _block(
        index, {"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in pieces]
    )


def call(index: int, id_: str, name: str, *pieces: str) -> list[Event]:
    """A tool call whose arguments come in pieces of JSON."""
    start = {"type": "tool_use", "id": id_, "name": name, "input": {}}
    return _block(index, start, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces])


def stream(*blocks: list[Event], stop: str = "end_turn", **more: Any) -> bytes:
    """A whole answer: start, blocks, end."""
    events = [
        {"type": "message_start", "message": message(**more)},
        *(event for block in blocks for event in block),
        {
            "type": "message_delta",
            "delta": {"stop_reason": stop, "stop_sequence": None},
            "usage": {"output_tokens": 7},
        },
        {"type": "message_stop"},
    ]
    for event in events:
        assert_valid_event(event)
    return raw(events)


def raw(events: Iterable[Event]) -> bytes:
    """Events as they go over the wire, unchecked."""
    return b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)


def streamed(body: bytes) -> httpx2.Response:
    """A response that streams."""
    return httpx2.Response(200, headers={"content-type": "text/event-stream; charset=utf-8"}, content=body)


def failed(
    status: int, kind: str, said: str = "", code: str | None = None, **headers: str
) -> httpx2.Response:
    """An error in the API's shape."""
    error: dict[str, Any] = {"type": kind, "message": said or kind}
    if code:
        error["details"] = {"error_code": code}
    return httpx2.Response(status, headers=headers, json={"type": "error", "error": error})


class Server:
    """Answers with the responses in turn, the last one for ever, and keeps what was sent."""

    def __init__(self, *responses: httpx2.Response | Callable[[], httpx2.Response]) -> None:
        self._responses = list(responses)
        self.sent: list[dict[str, Any]] = []
        self.headers: list[httpx2.Headers] = []

    def client(self) -> httpx2.AsyncClient:
        """An HTTP client that reaches nothing but this server."""
        return DefaultAsyncHttpxClient(transport=httpx2.MockTransport(self._answer))

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self.sent.append(json.loads(request.content))
        self.headers.append(request.headers)
        response = self._responses.pop(0) if len(self._responses) > 1 else self._responses[0]
        return response() if callable(response) else response


def _block(index: int, start: dict[str, Any], deltas: list[dict[str, Any]]) -> list[Event]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]
