"""Drawing: what a model may have added to a person's words, and who may read it for that reason."""

from collections.abc import Iterable

from memory.audience import Audience
from memory.errors import Refused
from memory.stop_words import STOP_WORDS
from memory.text import MONTHS, fold, tokens

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DATES = {word for name in (*MONTHS, *WEEKDAYS) for word in tokens(fold(name))}
_ENDINGS = ("ing", "ed", "es", "s")
SHORTEST_STEM = 3


def drawn_from(
    audience: Audience, seen: Iterable[Audience], text: str, said: str, allowed: str = ""
) -> Audience | None:
    """Who else must be able to read a memory for that audience, besides it.

    A model that wrote `text` had `seen` words for these audiences. What it took from the person's own words
    (`said`), and names and dates (`allowed`), needs nothing; any other word may come from whatever it saw.
    """
    others = sorted(set(seen) - {audience})
    if not others or not adds(text, f"{said} {allowed}"):
        return None
    if len(others) > 1:
        raise Refused("It holds words that its reader may not read; nothing was saved.")
    return others[0]


def adds(text: str, said: str) -> bool:
    """Whether a text has words that were not said; everyday words and days are nobody's."""
    known = {_stem(word) for word in tokens(said)} | {_stem(word) for word in STOP_WORDS} | _DATES
    return any(_stem(word) not in known and word not in _DATES for word in tokens(text))


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.isascii() and word.endswith(ending) and len(word) - len(ending) >= SHORTEST_STEM:
            return word.removesuffix(ending)
    return word
