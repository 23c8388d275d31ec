"""What stands where a secret is expected: the value itself, and whether it can be one."""

import re
from enum import Enum
from typing import NamedTuple

from memory import secret_words as words
from memory.secret_text import Legible

LONGEST = 128
"""Characters of a value that are looked at before it is believed."""

_CJK = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_QUOTED = re.compile(r"([\"'`])([^\"'`\n]{1,200})\1|[“„«「『]([^”“»」』\n]{1,200})[”“»」』]")
_CLOSED = rf"\s\"'`<>“”„«»「」『』、。，；|{_CJK}"
_RUN = re.compile(rf"[^{_CLOSED}]{{1,{LONGEST}}}")
_LINE = re.compile(rf"[^\s\"'`<>“”„«»「」『』、。，；]{{1,{LONGEST}}}")
_REST = re.compile(rf"[^{_CLOSED}]*")
_FIELD = re.compile(r"[&;,][\w.-]{1,40}=")
_SENTENCE = re.compile(r"[^\n.!?,;:()—–]{1,120}")
_OVER = re.compile(r"[\"'`)\]*_]{0,3}[ \t]*(?:$|\n|[.!?,;)]{1,4}(?:\s|$)|[—–。、]|(?:です|है|だ))")
_TAIL = ".,;:?)]}*_'\""

_PLACEHOLDER = re.compile(
    r"(?:\[withheld.*|[*•.…x_-]+|<.*|\[.*|\{.*|\$\{?\w+.*|%\w+%|[a-z_]\w*\(.*|[a-z_]\w*(?:\.[a-z_]\w*)+|your[-_].*)",
    re.IGNORECASE | re.DOTALL,
)
_DATE = re.compile(
    r"\d{4}-\d\d-\d\d.*|\d{1,2}[:.]\d\d(?::\d\d)?(?:am|pm|h)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}|v?\d+(?:\.\d+)+"
)
_COUNTED = re.compile(r"\d{1,4}[-‑]?[a-zà-öø-ÿ]{1,12}")
_ADDRESS = re.compile(r"[a-z][\w+.-]*://.*|[^@\s]+@[^@\s]+\.\w+|<?[@#].*|[\w.-]*/[\w./-]*", re.IGNORECASE)
_SPECIAL = re.compile(r"[!@#$%^&*+=~?|\\]")
_CAMEL = re.compile(r"[a-z][A-Z]")
_SAYING = re.compile(r"(?:ed|ing|iert|able|ible|lich|isch|ado|ada|ido|ida|é|ée|és|ly|bar)$")
_PLAIN_WORD = re.compile(r"[^\W\d_]+")
_FUNCTION = frozenset(
    """the a an in on at to of for with and or is are not no my our your his her their it this that what who
    when where how from by as than very so too every each be been has have had will would can could should
    must only just""".split()
)


_SAID = words.STATES | words.TERMS


class Link(Enum):
    """What stands between an introduction and a candidate."""

    NONE = 0
    """Nothing: the candidate must look like a secret."""
    LOOSE = 1
    """A verb, after a word with other meanings."""
    VERB = 2
    """A verb: "is", "lautet"."""
    SIGN = 3
    """A colon or an equals sign: a plain word is believed too."""


class Value(NamedTuple):
    """A candidate: its place, its text without quotes and closing punctuation, how it was written."""

    start: int
    end: int
    text: str
    quoted: bool
    ends: bool
    """Whether its sentence ends with it."""


def read(seen: Legible, at: int, *, phrase: bool = False, script: bool = False) -> Value | None:
    """The candidate at a position; with `phrase`, several plain words may be one, with `script`, it may begin
    in a script that puts no spaces between words."""
    quoted = _QUOTED.match(seen.text, at)
    if quoted:
        group = 2 if quoted[2] is not None else 3
        return Value(quoted.start(group), quoted.end(group), quoted[group], quoted=True, ends=True)
    if at < len(seen.text) and seen.text[at] in "\"'`“„«「『":
        at += 1
    run = _RUN.match(seen.text, at) or (_LINE.match(seen.text, at) if script else None)
    if run is None:
        return None
    if phrase:
        several = _phrase(seen.text, at)
        if several:
            return several
    field = _FIELD.search(run.group())
    text = (run.group()[: field.start()] if field else run.group()).rstrip(_TAIL)
    end = at + len(text)
    return Value(at, end, text, quoted=False, ends=bool(_OVER.match(seen.text, end))) if text else None


def whole_end(seen: Legible, value: Value) -> int:
    """Where a believed value really ends: a very long one goes on after what was looked at."""
    if len(value.text) < LONGEST - len(_TAIL):
        return value.end
    rest = _REST.match(seen.text, value.end)
    return rest.end() if rest else value.end


def _phrase(text: str, at: int) -> Value | None:
    """Three or more plain words to the end of a sentence that say nothing: a pass phrase."""
    found = _SENTENCE.match(text, at)
    if found is None:
        return None
    said = found.group().rstrip()
    parts = said.split()
    if not 3 <= len(parts) <= 24 or not all(map(_PLAIN_WORD.fullmatch, parts)):
        return None
    telling = sum(part.lower() in words.STATES or bool(_SAYING.search(part)) for part in parts)
    if telling > len(parts) // 4 or any(part.lower() in _FUNCTION for part in parts) or said != said.lower():
        return None
    return Value(at, at + len(said), said, quoted=True, ends=True)


def believable(value: Value, kind: str, link: Link) -> bool:
    """Whether the candidate is a secret of that kind, given what stands before it."""
    linked, signed = link is not Link.NONE, link is Link.SIGN
    text = value.text.strip()
    if (
        not text
        or _PLACEHOLDER.fullmatch(text)
        or text.lower() in words.STATES
        or text.lower() in words.TERMS
    ):
        return False
    if kind in (words.PIN, words.CODE):
        return _is_code(text, linked=linked)
    if (
        _DATE.fullmatch(text)
        or _ADDRESS.fullmatch(text)
        or (_COUNTED.fullmatch(text) and not value.quoted and not signed)
    ):
        return False
    if kind == words.TOKEN:
        return _mixed(text) and len(text) >= (6 if linked else 16)
    if _strong(text, linked=linked):
        return True
    return link in (Link.SIGN, Link.VERB) and _weak(value, text, signed=signed)


def _is_code(text: str, *, linked: bool) -> bool:
    digits = sum(map(str.isdigit, text))
    return 3 <= digits <= 12 and len(text) <= 16 and (linked or text.isdigit())


def _mixed(text: str) -> bool:
    return any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def _strong(text: str, *, linked: bool) -> bool:
    if len(text) < 4:
        return False
    if text.isdigit():
        return linked or not re.fullmatch(r"(?:19|20)\d\d", text)
    core = text.rstrip("!?")
    if _mixed(text) or (any(map(str.isalpha, text)) and _SPECIAL.search(core)):
        return True
    return linked and bool(_CAMEL.search(text) or core.count("-") >= 2 or core.count("_") >= 2)


def _weak(value: Value, text: str, *, signed: bool) -> bool:
    """A plain word or a quoted phrase: believed only where nothing else can be meant."""
    first = text.split(maxsplit=1)[0].lower()
    if first in words.STATES and not (value.quoted and len(text.split()) > 2):
        return False
    if value.quoted:
        return True
    if not value.ends or not _PLAIN_WORD.fullmatch(text.rstrip("!?")) or _SAYING.search(text.rstrip("!?")):
        return False
    return len(text) >= (3 if signed else 4)
