"""The copy of a text that the scanner reads: nothing invisible, no full-width letters, one case."""

import re
from dataclasses import dataclass
from typing import NamedTuple

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff]"
)
_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20, 0xA0: 0x20}


class Span(NamedTuple):
    """A secret's place in the scanner's copy, and what kind of secret it is."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True)
class Legible:
    """The copy as written, the same in lower case (of equal length), and where its characters came from."""

    text: str
    lowered: str
    positions: list[int] | None

    def original(self, span: Span) -> tuple[int, int]:
        """The span in the text that was given."""
        if self.positions is None:
            return span.start, span.end
        return self.positions[span.start], self.positions[span.end - 1] + 1


def legible(text: str) -> Legible:
    """The copy; joiners and marks that people's scripts need stay in the text itself."""
    positions = None
    copy = text
    if _INVISIBLE.search(text):
        positions = [at for at, character in enumerate(text) if not _INVISIBLE.match(character)]
        copy = "".join([text[at] for at in positions])
    copy = copy.translate(_WIDE)
    return Legible(copy, copy.replace("İ", "i").lower(), positions)
