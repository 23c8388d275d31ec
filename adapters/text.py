"""Long text in parts: code fences are closed and opened again; no character, link or mention is cut."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

Measure = Callable[[str], int]

FENCE = re.compile(r"^ {0,3}(?P<mark>`{3,12}|~{3,12})(?P<info>[^`\n]{0,60})$")
_ATOM = re.compile(
    r"!?\[[^\]\n]{0,500}\]\([^)\s]{0,2000}\)"  # a link
    r"|<[^<>\s][^<>\n]{0,2000}>"  # a mention, or an address in angle brackets
    r"|https?://\S+"
    r"|`[^`\n]{1,500}`"
    r"|\s+"
    r"|[^\s<\[`!]+|."
)
_JOINER = "\u200d"


def utf8(text: str) -> int:
    """Bytes, as some platforms count."""
    return len(text.encode("utf-8", "replace"))


def utf16(text: str) -> int:
    """UTF-16 units, the stricter count of characters."""
    return len(text.encode("utf-16-le", "replace")) // 2


def clusters(text: str) -> Iterator[str]:
    """The characters as people see them: letters with their marks, whole emoji, flags."""
    held = ""
    for char in text:
        if held and not _joins(held, char):
            yield held
            held = ""
        held += char
    if held:
        yield held


def split(text: str, limit: int, measure: Measure = len) -> list[str]:
    """The text in parts of at most `limit` (at least 200), in order; an open fence is closed in the end."""
    parts = _Parts(limit, measure)
    for line in text.split("\n"):
        parts.add(line)
    return parts.closed()


def fence_after(text: str, fence: str = "") -> str:
    """The line that opened the fence which is still open after this text, or nothing."""
    for line in text.split("\n"):
        fence = _next_fence(line, fence)
    return fence


def closing(fence: str) -> str:
    """The line that closes a fence which that line opened."""
    found = FENCE.match(fence)
    return found["mark"] if found else "```"


@dataclass
class _Parts:
    """Parts as they grow; `fence` is the line that opened the fence we are in."""

    limit: int
    measure: Measure
    done: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    size: int = 0
    fence: str = ""

    def add(self, line: str) -> None:
        after = _next_fence(line, self.fence)
        ends_fence = bool(self.fence) and not after
        if self._fits(line, after):
            self._take(line)
        elif ends_fence:
            # The fence's own closing line is the one that closes the part.
            self._take(line)
        elif self._fresh_fits(line, after) or after != self.fence:
            self._turn(reopen=not ends_fence)
            self._take(line)
        else:
            self._in_pieces(line)
        self.fence = after

    def closed(self) -> list[str]:
        self._turn(reopen=False)
        return [part for part in self.done if part.strip()]

    def _fits(self, line: str, fence: str) -> bool:
        return self.size + self._cost(line) + self._end(fence) <= self.limit

    def _fresh_fits(self, line: str, fence: str) -> bool:
        start = self._cost(self.fence) if self.fence else 0
        return start + self._cost(line) + self._end(fence) <= self.limit

    def _cost(self, line: str) -> int:
        return self.measure(line) + 1

    def _end(self, fence: str) -> int:
        return self._cost(closing(fence)) if fence else 0

    def _take(self, line: str) -> None:
        self.lines.append(line)
        self.size += self._cost(line)

    def _turn(self, *, reopen: bool) -> None:
        if self.fence:
            self._take(closing(self.fence))
        if self.lines:
            self.done.append("\n".join(self.lines).strip("\n"))
        self.lines, self.size = [], 0
        if reopen and self.fence:
            self._take(self.fence)

    def _in_pieces(self, line: str) -> None:
        """A line that fits in no part: cut between words, links and mentions; at worst between characters."""
        piece = ""
        for atom in self._atoms(line):
            if self._fits(piece + atom, self.fence):
                piece += atom
                continue
            if piece.strip() or self.lines[1 if self.fence else 0 :]:
                if piece.strip():
                    self._take(piece)
                self._turn(reopen=True)
            piece = atom if self.fence else atom.lstrip()
        if piece:
            self._take(piece)

    def _atoms(self, line: str) -> Iterator[str]:
        room = self.limit - self._end(self.fence) - (self._cost(self.fence) if self.fence else 0) - 1
        for found in _ATOM.finditer(line):
            if self.measure(found[0]) <= room:
                yield found[0]
            else:
                yield from clusters(found[0])


def _next_fence(line: str, fence: str) -> str:
    found = FENCE.match(line)
    if not fence:
        return line if found else ""
    closes = found is not None and not found["info"].strip() and found["mark"].startswith(closing(fence))
    return "" if closes else fence


def _joins(before: str, char: str) -> bool:
    """Whether a character belongs to the one before it."""
    last, code = before[-1], ord(char)
    if last == "\r" and char == "\n":
        return True
    if _is_control(last) or _is_control(char):
        return False
    if unicodedata.category(char) in ("Mn", "Me", "Mc") or char == _JOINER:
        return True
    if 0x1F3FB <= code <= 0x1F3FF or 0xE0020 <= code <= 0xE007F:
        return True
    if last == _JOINER:
        return unicodedata.category(char) in ("So", "Sk", "Lo", "Sm")
    if _is_flag(code):
        return _is_flag(ord(last)) and len(before) % 2 == 1 and all(_is_flag(ord(c)) for c in before)
    return _hangul(last, char)


def _is_control(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Zl", "Zp")


def _is_flag(code: int) -> bool:
    return 0x1F1E6 <= code <= 0x1F1FF


def _hangul(last: str, char: str) -> bool:
    """Whether two Korean letters share a syllable block."""
    lead, vowel, tail = range(0x1100, 0x1160), range(0x1160, 0x11A8), range(0x11A8, 0x1200)
    one, two = ord(last), ord(char)
    block = 0xAC00 <= one <= 0xD7A3
    if two in vowel:
        return one in lead or one in vowel or (block and (one - 0xAC00) % 28 == 0)
    if two in tail:
        return one in vowel or one in tail or block
    return two in lead and one in lead
