"""What kind of saying a sentence is, as far as its words tell: a check on what a model says of it."""

import re
from functools import cache

from memory import speech_words
from memory.own_words import folded
from memory.said_dates import words
from memory.text import tokens

_START = r"^[\W_]*(?:(?:and|but|so|ok|okay|also|please|hey|und|aber|et|mais|y|pero)[,\s]+)*"


@cache
def _folded(pattern: str) -> re.Pattern[str]:
    """A pattern whose words are folded like the text it looks at; line breaks in tables do not count."""
    return re.compile(folded(re.sub(r"\|\s+", "|", pattern)))


@cache
def _starting(spelt: str) -> re.Pattern[str]:
    """A pattern for any of these at the beginning of a sentence."""
    return re.compile(_START + words(spelt).pattern)


_QUESTION = re.compile(r"[?？؟]\W*$|ですか[。\s]*$|ますか[。\s]*$")
_TRIVIAL = frozenset(token for word in speech_words.TRIVIAL.split() for token in tokens(word))
MOST_TRIVIAL = 12
"""Terms of a message that can be nothing but politeness."""


def is_question(sentence: str) -> bool:
    """Whether a folded sentence asks."""
    return _QUESTION.search(sentence) is not None


def is_hypothetical(sentence: str) -> bool:
    """Whether a folded sentence supposes something."""
    return _starting(speech_words.HYPOTHETICAL).search(sentence) is not None


def is_joke(message: str) -> bool:
    """Whether a folded message says that it was not meant."""
    return (
        words(speech_words.JOKE).search(message) is not None
        or re.search(r"(?:^|\s)/s\b", message) is not None
    )


def is_off_record(message: str) -> bool:
    """Whether a folded message asks not to be remembered."""
    return words(speech_words.OFF_RECORD).search(message) is not None


def asks_to_forget(sentence: str) -> bool:
    """Whether a folded sentence asks to forget what it says."""
    return _starting(speech_words.FORGET).search(sentence) is not None


def is_invented(sentence: str) -> bool:
    """Whether a folded sentence is about a made-up person."""
    return words(speech_words.INVENTED).search(sentence) is not None


def is_order(text: str) -> bool:
    """Whether a text tells the bot what to do."""
    said = folded(text)
    return any(_folded(pattern).search(said) for pattern in speech_words.ORDERS)


def is_live(text: str) -> bool:
    """Whether a text tells a price or a state that changes by itself."""
    said = folded(text)
    return any(_folded(pattern).search(said) for pattern in speech_words.LIVE)


def is_trivial(message: str) -> bool:
    """Whether a message is politeness or a sign, and nothing could be learnt from it."""
    found = tokens(message)
    said = [token for token in found if any(map(str.isalnum, token))]
    return len(said) <= MOST_TRIVIAL and all(token in _TRIVIAL for token in said)
