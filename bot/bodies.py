"""Bodies of requests that are no turns: one that warms the cache, one that asks for JSON in words."""

import json
from typing import Any

from bot.model import Block, Body
from memory.words import canonical

_WARMUP: Block = {"type": "text", "text": "warmup"}
_LONGEST_ANSWER = 200_000
_MOST_TRIES = 500


def warming(body: Body) -> Body:
    """A body that only fills the cache, from one without newest message whose stable blocks are marked.

    A placeholder follows the last block. What the provider refuses here (a format, a forced tool) goes, all
    else that the cache depends on stays.
    """
    warm = {key: value for key, value in body.items() if key not in ("stream", "diagnostics")}
    config = {key: value for key, value in (warm.pop("output_config", None) or {}).items() if key != "format"}
    if config:
        warm["output_config"] = config
    if (warm.get("tool_choice") or {}).get("type") in ("any", "tool"):
        del warm["tool_choice"]
    messages = list(body["messages"])
    if messages and messages[-1]["role"] == "user":
        last = messages.pop()
        messages.append({**last, "content": [*_blocks(last["content"]), _WARMUP]})
    else:
        messages.append({"role": "user", "content": [_WARMUP]})
    return {**warm, "max_tokens": 0, "messages": messages}


def asking_for_json(body: Body, schema: dict[str, Any]) -> Body:
    """The same body for a server that promises no format: the schema stands at the end of `system`."""
    blocks = _blocks(body.get("system") or [])
    wish = (
        "Answer with one JSON value and nothing else: no words around it, no code fence. "
        f"It must fit this JSON schema: {canonical(schema)}"
    )
    return {**body, "system": [*blocks, {"type": "text", "text": wish}]}


def json_only(content: list[Block]) -> list[Block]:
    """The answer reduced to the JSON in its text; as it is where there is none."""
    text = "\n".join(str(block.get("text", "")) for block in content if block.get("type") == "text")
    found = _last_json(text[:_LONGEST_ANSWER])
    if found is None:
        return content
    others = [
        block for block in content if block.get("type") not in ("text", "thinking", "redacted_thinking")
    ]
    return [{"type": "text", "text": found}, *others]


def _blocks(content: str | list[Block]) -> list[Block]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _last_json(text: str) -> str | None:
    """The last object in a text, or list where it holds no object: models think aloud before they answer."""
    decoder = json.JSONDecoder()
    for opening in "{[":
        found, at = None, text.find(opening)
        for _ in range(_MOST_TRIES):
            if at < 0:
                break
            try:
                _, end = decoder.raw_decode(text, at)
                found = text[at:end]
            except (ValueError, RecursionError):
                end = at + 1
            at = text.find(opening, end)
        if found is not None:
            return found
    return None
