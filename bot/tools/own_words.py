"""A person's own words in a message: not what they quote, nor code that they paste."""

import re
from dataclasses import dataclass

from memory.stop_words import STOP_WORDS
from memory.text import fold, tokens

SUPPORT = 1 / 3
"""The part of a memory's telling words that the person must have said: names and dates may be added."""

_FENCE = re.compile(r"^\s{0,3}(```+|~~~+)")
_QUOTED = re.compile(r"^\s{0,3}(?:>|&gt;)")
_REST_QUOTED = re.compile(r"^\s{0,3}(?:>>>|&gt;&gt;&gt;)")
_CODE = re.compile(r"`[^`\n]{1,2000}`")
_SPACE = re.compile(r"\s+")
_EDGES = "\"'“”‘’«»„`…. \t\n"
_SAME = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "`": None})
SHORTEST_WORD = 3
STEM = 4


@dataclass(frozen=True)
class OwnWords:
    """What a person said themselves, folded; `code` are the spans of it that stood in backticks."""

    text: str
    code: tuple[tuple[int, int], ...]


def own_words(text: str) -> OwnWords:
    """The own words of a message: without quoted lines and fenced code; code within a line is marked."""
    said: list[str] = []
    spans: list[tuple[int, int]] = []
    length = 0

    def add(piece: str) -> int:
        nonlocal length
        folded = _folded(piece)
        said.append(folded.lstrip() if not said or said[-1].endswith(" ") else folded)
        length += len(said[-1])
        if not said[-1]:
            said.pop()
        return length

    for line in _own_lines(text):
        at = 0
        for code in _CODE.finditer(line):
            start = add(line[at : code.start()])
            spans.append((start, add(code.group())))
            at = code.end()
        add(line[at:] + " ")
    return OwnWords("".join(said), tuple(spans))


def says(own: OwnWords, quote: str) -> bool:
    """Whether the quote occurs in a person's own words, and not only as code."""
    wanted = _folded(quote).strip(_EDGES)
    if not tokens(wanted):
        return False
    at = own.text.find(wanted)
    while at >= 0:
        if not any(start <= at and at + len(wanted) <= end for start, end in own.code):
            return True
        at = own.text.find(wanted, at + 1)
    return False


def supports(own: OwnWords, text: str, allowed: str) -> bool:
    """Whether enough of a memory's words were said by the person themselves, or are allowed anyway.

    At least one of those that are not allowed anyway must have been said.
    """
    said, free = set(tokens(own.text)), set(tokens(allowed))
    telling = {word for word in tokens(text) if len(word) >= SHORTEST_WORD or not word.isascii()} - STOP_WORDS
    new = telling - free
    if not new:
        return True
    stems = {word[:STEM] for word in said if len(word) >= STEM}
    count = sum(word in said or word[:STEM] in stems for word in new)
    return count > 0 and count + len(telling) - len(new) >= SUPPORT * len(telling)


def _own_lines(text: str) -> list[str]:
    lines: list[str] = []
    fence = ""
    for line in text.splitlines():
        opened = _FENCE.match(line)
        if fence:
            if opened and opened[1].startswith(fence):
                fence = ""
            continue
        if opened and "`" not in line.strip().lstrip("`~"):
            fence = opened[1]
            continue
        if _REST_QUOTED.match(line):
            break
        if not _QUOTED.match(line):
            lines.append(line)
    return lines


def _folded(text: str) -> str:
    """Text as it is compared: quotation marks alike, every run of white space one space."""
    return _SPACE.sub(" ", fold(text.translate(_SAME)))
