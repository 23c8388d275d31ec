"""The prompt: sections from the most stable to the newest, each rendered once and hashed."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bot.model import Block, Body
from memory.words import canonical, sha256

HEAD = ("tools", "system")
FIRST = ("environment", "memory", "routines", "summary")
"""The sections of the first message's first block, in the order of the hashes."""
MAX_OUTPUT = 8_192
CACHE = {"type": "ephemeral", "ttl": "1h"}
UNMARKED = ("thinking", "redacted_thinking")


@dataclass(frozen=True)
class Section:
    """One part of the prompt as canonical JSON."""

    name: str
    json: str

    @classmethod
    def of(cls, name: str, value: Any) -> "Section":
        """The section of a JSON value."""
        return cls(name, canonical(value))

    @property
    def sha256(self) -> str:
        return sha256(self.json)

    @property
    def size(self) -> int:
        """Bytes in UTF-8."""
        return len(self.json.encode("utf-8"))

    def row(self) -> dict[str, Any]:
        """As `teambot prompt` shows it."""
        return {"name": self.name, "sha256": self.sha256, "bytes": self.size}


@dataclass(frozen=True)
class Head:
    """The frozen start of an epoch: tools, system text and the first block's sections."""

    tools: list[dict[str, Any]]
    system: str
    first: dict[str, Any]

    def dump(self) -> str:
        """Canonical JSON, as an epoch stores it."""
        return canonical({"tools": self.tools, "system": self.system, "first": self.first})

    @classmethod
    def load(cls, text: str) -> "Head":
        """The head that an epoch stored."""
        value = json.loads(text)
        return cls(value["tools"], value["system"], value["first"])

    def sections(self) -> list[Section]:
        """Tools, system and the parts of the first block."""
        head = [Section.of("tools", self.tools), Section.of("system", self.system)]
        return head + [Section.of(name, self.first.get(name)) for name in FIRST]


@dataclass(frozen=True)
class Prompt:
    """A whole request: the head, and the messages of history and of now."""

    head: Head
    messages: list[dict[str, Any]]
    model: str
    newest: int
    """How many blocks at the end belong to the newest message."""

    def body(self, max_tokens: int = MAX_OUTPUT, options: dict[str, Any] | None = None) -> Body:
        """The request in Messages API shape, with at most four cache breakpoints of one hour.

        Breakpoints: end of system, end of the first block, the block that was marked last time, the last
        block. The marks stand on copies: the bytes before them never change.
        """
        messages = self._with_first_block()
        marks = {(0, 0), _before_last_answer(messages), (len(messages) - 1, len(messages[-1]["content"]) - 1)}
        for mark in marks - {None}:
            _mark(messages, mark)
        return {
            "model": self.model,
            "max_tokens": max_tokens,
            "system": [{"type": "text", "text": self.head.system, "cache_control": CACHE}],
            "tools": self.head.tools,
            "messages": messages,
            **(options or {}),
        }

    def sections(self) -> list[Section]:
        """Every section of the request, for hashes and for people who look."""
        blocks = [block for message in self.messages for block in message["content"]]
        cut = len(blocks) - self.newest
        return [
            *self.head.sections(),
            Section.of("history", blocks[:cut]),
            Section.of("newest", blocks[cut:]),
        ]

    def _with_first_block(self) -> list[dict[str, Any]]:
        first = {"type": "text", "text": canonical(self.head.first)}
        messages = [
            {"role": message["role"], "content": list(message["content"])} for message in self.messages
        ]
        if messages and messages[0]["role"] == "user":
            messages[0]["content"].insert(0, first)
        else:
            messages.insert(0, {"role": "user", "content": [first]})
        return messages


def _before_last_answer(messages: list[dict[str, Any]]) -> tuple[int, int] | None:
    answers = [index for index, message in enumerate(messages) if message["role"] == "assistant"]
    if not answers or answers[-1] == 0:
        return None
    before = answers[-1] - 1
    return before, len(messages[before]["content"]) - 1


def _mark(messages: list[dict[str, Any]], place: tuple[int, int] | None) -> None:
    if place is None:
        return
    content: list[Block] = messages[place[0]]["content"]
    for index in range(place[1], -1, -1):
        if content[index].get("type") not in UNMARKED:
            content[index] = {**content[index], "cache_control": CACHE}
            return


def merged(parts: Iterable[tuple[str, list[Block]]]) -> list[dict[str, Any]]:
    """Messages from (role, blocks) pairs, neighbours of one role joined."""
    messages: list[dict[str, Any]] = []
    for role, blocks in parts:
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"].extend(blocks)
        elif blocks:
            messages.append({"role": role, "content": list(blocks)})
    return messages
