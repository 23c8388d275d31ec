"""Room: how much of a list fits into a result that stays in the context."""

from typing import Any

from memory.words import canonical

CHARACTERS = 6_000


def fitting(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first items that fit."""
    room, found = CHARACTERS, []
    for item in items:
        room -= len(canonical(item)) + 1
        if room < 0:
            break
        found.append(item)
    return found
