"""Text as search sees it: folded, cut into terms, in every script."""

import re
import unicodedata
from datetime import datetime

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
MAX_TERM = 40
"""Characters of one term; longer ones are cut, in the index and in the query alike."""
MAX_EXTRA = 60_000
"""Characters of extra terms that one row gets."""

PUNCTUATION = (
    "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
    "\u00a0\u00ab\u00b7\u00bb\u2013\u2014\u2018\u2019\u201c\u201d\u2022\u2026"
)
"""What parts words in both databases' tokenisers: PostgreSQL's index turns it into spaces first."""

_MARKS = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\U0001f3fb-\U0001f3ff"
    "\U000e0000-\U000e01ef"
    # Invisible: joiners, soft hyphen, direction marks, byte order mark.
    "\u00ad\u061c\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
)
_ALIKE = str.maketrans(
    {
        "ı": "i",
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "ð": "d",
        "æ": "ae",
        "œ": "oe",
        "þ": "th",
        # Arabic and Persian keyboards write the same letters with other code points.
        "ي": "ی",
        "ى": "ی",
        "ك": "ک",
        "ة": "ه",
        "ـ": "",
    }
)
_INDIC = "\u0900-\u0963\u0966-\u0dff"
_UNSPACED = (
    "\u0e00-\u0eff\u0f00-\u0f0a\u0f18-\u0fbc\u1000-\u1049\u1050-\u109f\u1780-\u17d3\u17d7-\u17ff\u1a20-\u1a9f"
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u309f\u30a1-\u30fa\u30fc-\u318f"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U00016fe0-\U00018cff\U0001b000-\U0001b2ff\U00020000-\U000323af"
)
_SYMBOLS = "\u2100-\u2bff\u3012\u3030\u303d\u3297\u3299\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
_RUN = re.compile(f"([{_UNSPACED}]+)|([{_SYMBOLS}])|((?:(?![{_UNSPACED}{_SYMBOLS}])(?:[^\\W_]|[{_INDIC}]))+)")
_ASCII_WORD = re.compile(r"[0-9a-z]+")
_CHUNK = re.compile(f"[^\\x00-\\x20{re.escape(PUNCTUATION)}]+")
# No vowel, no s, l, t or y: neither database's English stemmer touches such a word.
_CODES = "0123456789bcdfghjkmnpqrvwxz"
_CODED = "q"


def fold(text: str) -> str:
    """Text in the form in which it is compared: cases, accents, widths and both Turkish i's are equal."""
    if text.isascii():
        return text.lower()
    wide = unicodedata.normalize("NFKC", text).casefold()
    plain = _MARKS.sub("", unicodedata.normalize("NFD", wide))
    return unicodedata.normalize("NFC", plain).translate(_ALIKE)


def tokens(text: str) -> list[str]:
    """The terms of a text in order: words, pairs of characters where a script has no spaces, emoji."""
    found: list[str] = []
    for run, single in _runs(text):
        if single:
            found.extend(_pairs(run))
        else:
            found.append(run[:MAX_TERM])
    return found


def extra_terms(text: str) -> str:
    """What the index must hold besides the text itself, because the databases' own tokenisers miss it.

    Every word that touches a character outside ASCII comes in its folded form, coded in ASCII so that no
    tokeniser, stemmer or locale changes it.
    """
    if text.isascii():
        return ""
    terms: list[str] = []
    room = MAX_EXTRA
    for chunk in _CHUNK.findall(text):
        if chunk.isascii():
            continue
        for run, single in _runs(chunk):
            pieces = [*_pairs(run), run[-1]] if single and len(run) > 1 else [run[:MAX_TERM]]
            for piece in pieces:
                term = coded(piece)
                room -= len(term) + 1
                if room < 0:
                    return " ".join(terms)
                terms.append(term)
    return " ".join(terms)


def coded(token: str) -> str:
    """A token as the index spells it: ASCII stays, anything else becomes four letters a character."""
    if token.isascii():
        return token
    return _CODED + "".join(map(_code, token))


def is_one_unspaced(token: str) -> bool:
    """Whether a token is one character of a script without spaces, found as the beginning of a pair."""
    return len(token) == 1 and re.fullmatch(f"[{_UNSPACED}]", token) is not None


def plain_date(when: datetime) -> str:
    """A date as people write it, in English whatever the locale: 08 May 2023."""
    return f"{when.day:02d} {MONTHS[when.month - 1]} {when.year:04d}"


def _runs(text: str) -> list[tuple[str, bool]]:
    """Folded runs of a text; the flag says that the script of a run has no spaces."""
    folded = fold(text)
    if folded.isascii():
        return [(word, False) for word in _ASCII_WORD.findall(folded)]
    return [(match.group(), match.group(1) is not None) for match in _RUN.finditer(folded)]


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def _code(character: str) -> str:
    number = ord(character)
    letters = ""
    for _ in range(4):
        number, digit = divmod(number, len(_CODES))
        letters = _CODES[digit] + letters
    return letters
