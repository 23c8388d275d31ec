"""The provider's prompt cache, simulated by its published rules.

Entries are written at breakpoints only, hold the hash of everything before them, and live for an hour from
the start of the last request that used them. A breakpoint finds earlier writes at up to 20 positions back.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from bot.tokens import block_tokens, tools_tokens
from memory.words import canonical, sha256

LIFE = 3_600.0
LOOKBACK = 20
MINIMUM = 512


@dataclass(frozen=True)
class Used:
    """Tokens of one request, and the most that any cache could have read of it."""

    prompt: int
    read: int
    written: int
    ideal: int

    @property
    def plain(self) -> int:
        """Tokens that were neither read nor written."""
        return self.prompt - self.read - self.written


@dataclass
class Cache:
    """The cache of one workspace and model."""

    entries: dict[str, float] = field(default_factory=dict)
    """Hash of a prefix to the moment when it dies."""
    sent: dict[str, float] = field(default_factory=dict)
    """Hash of every prefix ever sent to the moment when an ideal cache would lose it."""

    def request(self, body: dict[str, Any], at: float) -> Used:
        """What a request at that moment (seconds) reads and writes."""
        hashes, tokens, marks = _prefixes(body)
        read, hit = self._read(hashes, tokens, marks, at)
        written = 0
        for mark in marks:
            if tokens[mark] >= MINIMUM:
                self.entries[hashes[mark]] = at + LIFE
                written = max(written, tokens[mark] - read)
        if hit is not None:
            self.entries[hashes[hit]] = at + LIFE
        ideal = max(
            (tokens[place] for place, known in enumerate(hashes) if self.sent.get(known, -1.0) > at),
            default=0,
        )
        for prefix in hashes:
            self.sent[prefix] = at + LIFE
        return Used(tokens[-1], read, written, ideal if ideal >= MINIMUM else 0)

    def _read(
        self, hashes: list[str], tokens: list[int], marks: list[int], at: float
    ) -> tuple[int, int | None]:
        for mark in reversed(marks):
            for place in range(mark, max(-1, mark - LOOKBACK), -1):
                if self.entries.get(hashes[place], -1.0) > at and tokens[place] >= MINIMUM:
                    return tokens[place], place
        return 0, None


def _prefixes(body: dict[str, Any]) -> tuple[list[str], list[int], list[int]]:
    """Cumulative hashes and token counts by position, and the positions that are marked."""
    hashes: list[str] = []
    tokens: list[int] = []
    marks: list[int] = []
    seen, total = "", 0
    for kind, part in _parts(body):
        bare: Any = (
            part if isinstance(part, list) else {k: v for k, v in part.items() if k != "cache_control"}
        )
        seen = sha256(f"{seen}\n{kind}\n{canonical(bare)}")
        total += tools_tokens(part) if isinstance(part, list) else block_tokens(bare)
        hashes.append(seen)
        tokens.append(total)
        if isinstance(part, dict) and "cache_control" in part:
            marks.append(len(hashes) - 1)
    return hashes, tokens, marks


def _parts(body: dict[str, Any]) -> list[tuple[str, Any]]:
    parts: list[tuple[str, Any]] = [("tools", body.get("tools", []))]
    system = body.get("system", [])
    blocks = [{"type": "text", "text": system}] if isinstance(system, str) else system
    parts += [("system", block) for block in blocks]
    for message in body["messages"]:
        content = message["content"]
        content = [{"type": "text", "text": content}] if isinstance(content, str) else content
        parts += [(message["role"], block) for block in content]
    return parts


def with_clock(body: dict[str, Any], moment: str) -> dict[str, Any]:
    """The control: the same request with the time at the head of `system`."""
    copied: dict[str, Any] = json.loads(json.dumps(body))
    system = copied.get("system") or []
    copied["system"] = [{"type": "text", "text": f"It is {moment}."}, *system]
    return copied
