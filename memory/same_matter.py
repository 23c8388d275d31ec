"""When two memories say the same, and when one is the newer word on the same matter."""

from memory.own_words import is_said
from memory.proposals import Known
from memory.stop_words import STOP_WORDS
from memory.text import fold, tokens

TELLING = frozenset(
    "not no nor never only off out against before after under over from without until".split()
)
"""Stop words that change what a sentence says."""
_IGNORED = STOP_WORDS - TELLING


def says_the_same(new: str, old: str) -> bool:
    """Whether a text adds nothing to another: its telling words stand there, in the same order."""
    if fold(new).split() == fold(old).split():
        return True
    wanted, there = _telling(new), _telling(old)
    if not wanted or len(there) > 2 * len(wanted):
        return False
    rest = iter(there)
    return all(any(_same_word(word, other) for other in rest) for word in wanted)


def is_same_matter(topic: str, text: str, old: Known, names: str, *, meant: bool) -> bool:
    """Whether a text is the newer word on what an older memory tells (of the same subject).

    `meant`: the model said so. Then either the topic or the words must agree with it, otherwise both.
    """
    topics = bool(topic) and same_topic(topic, old.topic)
    if topics and meant:
        return True
    shared = _share_words(text, old.text, names)
    return shared and (topics or (meant and not (topic and old.topic)))


def same_topic(one: str, other: str) -> bool:
    """Whether two topics are spelt alike."""
    return " ".join(tokens(one)) == " ".join(tokens(other)) != ""


def tells_much_of(new: str, old: str, names: str) -> bool:
    """Whether half of a text's telling words stand in another."""
    people = set(tokens(names))
    wanted = [word for word in _telling(new) if word not in people]
    there = set(_telling(old))
    return bool(wanted) and 2 * sum(is_said(word, there) for word in wanted) >= len(wanted)


def _share_words(one: str, other: str, names: str) -> bool:
    people = set(tokens(names))
    first = {word for word in _telling(one) if word not in people}
    second = {word for word in _telling(other) if word not in people}
    return any(is_said(word, second) for word in first)


def _telling(text: str) -> list[str]:
    return [word for word in tokens(text) if word not in _IGNORED]


def _same_word(one: str, other: str) -> bool:
    """The same word, whatever its English ending."""
    return one == other or (len(one) > 3 and len(other) > 3 and _stem(one) == _stem(other))


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.isascii() and word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word
