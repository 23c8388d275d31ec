"""Messages and blocks as a conversation stores them."""

from typing import Any

from memory.words import canonical
from tests.contracts import assert_valid_order, assert_valid_request

Message = dict[str, Any]
Block = dict[str, Any]


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def call(id_: str, name: str = "memory_search") -> Block:
    return {"type": "tool_use", "id": id_, "name": name, "input": {"query": "deploy"}}


def result(id_: str, content: Any = "Tuesday") -> Block:
    return {"type": "tool_result", "tool_use_id": id_, "content": content}


def thought(words: str = "hm") -> Block:
    return {"type": "thinking", "thinking": words, "signature": "c2lnbmVk"}


def user(*blocks: Block) -> Message:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Block) -> Message:
    return {"role": "assistant", "content": list(blocks)}


def flat(messages: list[Message]) -> list[str]:
    return [canonical([message["role"], block]) for message in messages for block in message["content"]]


def assert_valid(messages: list[Message]) -> None:
    assert_valid_order(messages)
    assert_valid_request({"model": "claude-sonnet-5-5", "max_tokens": 1, "messages": messages})
