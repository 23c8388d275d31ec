"""How many tokens something is, guessed before it is sent: rather too many than too few."""

import math
from typing import Any

from bot.model import Block, Body
from memory.words import canonical

PICTURE = 4_800
"""The most that one picture takes."""

_PER_MESSAGE = 8
_PER_BLOCK = 8
_PER_TOOL = 32
_TOOLS = 600
"""What the provider adds in front once there are tools."""

_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SPACES = b" \n\t\r"
_DIGITS = b"0123456789"
_HIGH = bytes(range(0x80, 0x100))

_WEIGHTS = (
    # Tokens of a character by the first byte that it has in UTF-8.
    (bytes(range(0xC0, 0xE0)), 1.2),  # Cyrillic, Greek, Arabic, Hebrew
    (bytes(range(0xE0, 0xE2)), 3.0),  # Thai, Devanagari, Ethiopic
    (bytes(range(0xE2, 0xF0)), 1.2),  # Chinese, Japanese, Korean, typographic marks
    (bytes(range(0xF0, 0x100)), 3.0),  # emoji
)


def estimate(text: str) -> int:
    """Tokens of a text, cautious in every script.

    Words take a token for 2.7 letters, long runs without a space (keys, encoded data) twice as many and more,
    Chinese, Japanese and Korean a little more than one a character.
    """
    raw = text.encode("utf-8", "surrogatepass")
    letters, spaces, digits = _count(raw, _LETTERS), _count(raw, _SPACES), _count(raw, _DIGITS)
    plain = len(raw) if text.isascii() else len(raw) - _count(raw, _HIGH)
    marks = plain - letters - spaces - digits
    per_letter = 2.7 if letters < 64 or spaces * 24 >= letters else 1.25
    tokens = letters / per_letter + spaces / 2.7 + digits / 1.4 + marks
    if plain < len(raw):
        tokens += sum(weight * _count(raw, first) for first, weight in _WEIGHTS)
    return math.ceil(tokens)


def block_tokens(block: Block) -> int:
    """Tokens of one content block."""
    kind = block.get("type")
    if kind == "text":
        return _PER_BLOCK + estimate(str(block.get("text", "")))
    if kind in ("image", "document"):
        return _PER_BLOCK + _picture_or_document(block)
    if kind == "tool_result":
        return _PER_BLOCK + 16 + content_tokens(block.get("content"))
    if kind in ("thinking", "redacted_thinking"):
        sealed = str(block.get("signature") or "") + str(block.get("data") or "")
        return _PER_BLOCK + estimate(str(block.get("thinking") or "")) + len(sealed) // 3
    return _PER_BLOCK + 16 + estimate(canonical(block))


def content_tokens(content: Any) -> int:
    """Tokens of a message's or result's content, text or blocks."""
    if isinstance(content, str):
        return _PER_BLOCK + estimate(content)
    if isinstance(content, list):
        return sum(block_tokens(block) for block in content)
    return 0


def tools_tokens(tools: list[Block]) -> int:
    """Tokens of tool definitions, schemas included."""
    if not tools:
        return 0
    return _TOOLS + sum(_PER_TOOL + estimate(canonical(tool)) for tool in tools)


def body_tokens(body: Body) -> int:
    """Tokens of the whole prompt of a request."""
    messages = sum(
        _PER_MESSAGE + content_tokens(message.get("content")) for message in body.get("messages", [])
    )
    schema = (body.get("output_config") or {}).get("format")
    return (
        tools_tokens(list(body.get("tools", [])))
        + content_tokens(body.get("system"))
        + messages
        + (_TOOLS + estimate(canonical(schema)) if schema else 0)
    )


def _picture_or_document(block: Block) -> int:
    source = block.get("source") or {}
    data = source.get("data")
    if block.get("type") == "image":
        return PICTURE
    if isinstance(data, str):
        return estimate(data) if source.get("type") == "text" else max(PICTURE, len(data) // 4)
    return PICTURE + content_tokens(source.get("content"))


def _count(raw: bytes, which: bytes) -> int:
    return len(raw) - len(raw.translate(None, which))
