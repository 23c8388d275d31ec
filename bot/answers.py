"""What a server answered, read as a `Response`."""

import json
from typing import Any

from bot.model import Block, Response, Usage
from memory.words import canonical, clean_json

_CUT_REASONS = ("max_tokens", "model_context_window_exceeded")


def response(message: dict[str, Any], written: dict[int, str]) -> Response:
    """The response in a message as received. `written` holds the arguments of calls as they were streamed.

    A refusal has no content: what was said before it is withdrawn. Calls and stop reason always fit together,
    also where a server counts otherwise.
    """
    content: list[Block] = clean_json(message.get("content") or [])
    reason = str(message.get("stop_reason") or "end_turn")
    cut = _cut_calls(content, reason, written)
    whole = [block for index, block in enumerate(content) if index not in cut]
    if reason in ("end_turn", "stop_sequence", "tool_use"):
        called = any(block.get("type") == "tool_use" for block in whole)
        fitting = "tool_use" if called else ("end_turn" if reason == "tool_use" else reason)
        reason = "max_tokens" if cut else fitting
    return Response(
        content=[] if reason == "refusal" else whole,
        stop_reason=reason,
        usage=_usage(message.get("usage") or {}),
        model=str(message.get("model") or ""),
        id=str(message.get("id") or ""),
        missed=_missed(message.get("diagnostics") or {}),
        cut=bool(cut) and reason != "refusal",
    )


def _cut_calls(content: list[Block], reason: str, written: dict[int, str]) -> set[int]:
    """Calls whose arguments are not all there, or no JSON: the SDK completes broken JSON without a word."""
    calls = [index for index, block in enumerate(content) if block.get("type") == "tool_use"]
    cut = {index for index in calls if not _is_object(content[index].get("input"), written.get(index, ""))}
    if reason in _CUT_REASONS and len(content) - 1 in calls:
        cut.add(len(content) - 1)
    return cut


def _is_object(value: Any, text: str) -> bool:
    try:
        # Numbers such as NaN pass the parsers and are no JSON all the same.
        canonical(json.loads(text) if text else value)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict)


def _usage(used: dict[str, Any]) -> Usage:
    parts = used.get("cache_creation") or {}
    short = int(parts.get("ephemeral_5m_input_tokens") or 0)
    long = int(parts.get("ephemeral_1h_input_tokens") or 0)
    written = int(used.get("cache_creation_input_tokens") or 0)
    return Usage(
        input_tokens=int(used.get("input_tokens") or 0),
        output_tokens=int(used.get("output_tokens") or 0),
        cache_read_tokens=int(used.get("cache_read_input_tokens") or 0),
        cache_write_5m_tokens=short,
        # What a server does not tell apart counts as the dearer one.
        cache_write_1h_tokens=max(written - short, long),
    )


def _missed(diagnostics: dict[str, Any]) -> str | None:
    reason = str((diagnostics.get("cache_miss_reason") or {}).get("type") or "")
    return reason.removesuffix("_changed") if reason.endswith("_changed") else None
