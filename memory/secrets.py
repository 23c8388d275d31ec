"""Secrets in text: the useful part stays, the value is withheld. Pure, and linear on any text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from classifinder_engine import PATTERN_REGISTRY, scan

from memory import secret_words as words
from memory.secret_prose import spoken
from memory.secret_text import Span, legible

MARK = "[withheld: {}]"
PRIVATE_KEY, CARD = "private key", "card number"


@dataclass(frozen=True)
class Withheld:
    """A text without its secrets, and the kinds that were taken out (empty: the text is unchanged)."""

    text: str
    kinds: tuple[str, ...]


def withhold(text: str) -> Withheld:
    """The text with every secret value replaced by `[withheld: kind]`."""
    seen = legible(text)
    copy = seen.text
    spans = [*_keys(copy), *_tokens(copy), *_addresses(copy), *_cards(copy), *_known(copy), *spoken(seen)]
    if not spans:
        return Withheld(text, ())
    parts: list[str] = []
    kinds: dict[str, None] = {}
    at = 0
    for span in _merged(spans):
        start, end = seen.original(span)
        parts += [text[at:start], MARK.format(span.kind)]
        kinds[span.kind] = None
        at = end
    return Withheld("".join(parts) + text[at:], tuple(kinds))


def _merged(spans: list[Span]) -> list[Span]:
    """Overlapping spans as one, named after the first."""
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span.start < merged[-1].end:
            last = merged.pop()
            merged.append(Span(last.start, max(last.end, span.end), last.kind))
        else:
            merged.append(span)
    return merged


_KEY_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_LINE = re.compile(r"(?:\s|\\[nr])*[A-Za-z0-9+/=]{16,}")


def _keys(text: str) -> Iterator[Span]:
    """Private key blocks; one without an end reaches as far as its lines look like one."""
    at = 0
    ends = [found.end() for found in _KEY_END.finditer(text)] if "PRIVATE KEY" in text else []
    for begin in _KEY_BEGIN.finditer(text) if "PRIVATE KEY" in text else ():
        if begin.start() < at:
            continue
        while ends and ends[0] <= begin.end():
            ends.pop(0)
        at = ends[0] if ends else _lines_end(text, begin.end())
        yield Span(begin.start(), at, PRIVATE_KEY)


def _lines_end(text: str, at: int) -> int:
    line = _KEY_LINE.match(text, at)
    while line:
        at = line.end()
        line = _KEY_LINE.match(text, at)
    return at


_PREFIXED = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"xox[a-z](?:\.xox[a-z])?-[\w.%-]{4,}|xapp-[\w-]{4,}|sk-(?:ant|proj|svcacct|lf|or)-[\w-]{4,}|sk-[A-Za-z0-9]{20,}"
    r"|gh[pousr]_\w{4,}|github_pat_\w{4,}|gl(?:pat|ptt|dt|rt|soat)-[\w.-]{4,}|(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{8,}"
    r"|(?:sk|rk)_(?:live|test)_\w{4,}|whsec_[\w/+=]{8,}|AIza[\w-]{16,}|ya29\.[\w-]{8,}|npm_\w{16,}|pypi-[\w-]{16,}"
    r"|hf_[A-Za-z0-9]{16,}|SG\.[\w-]{8,}\.[\w-]{8,}|shp(?:at|ca|pa|ss)_\w{8,}|dop_v1_\w{8,}|glsa_\w{8,}"
    r"|eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?|[MNO][\w-]{22,28}\.[\w-]{6}\.[\w-]{20,}"
    r"|AGE-SECRET-KEY-1[A-Z0-9]{8,}|lin_api_\w{8,}|secret_[A-Za-z0-9]{24,}"
    r")"
)
_BEARER = re.compile(r"\b(?:bearer|basic)[ \t]+(?=[\w.~+/-]*\d)([\w.~+/-]{12,}=*)", re.IGNORECASE)
_HOOK = re.compile(
    r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/-]{8,})|discord(?:app)?\.com/api/webhooks/(\d+/[\w-]{8,})"
)
_SIGNATURE = re.compile(
    r"[?&#](?:access_token|token|api_key|apikey|key|sig|signature|x-amz-signature|password|secret|client_secret)="
    r"([^\s&#\"'<>\[]{6,})",
    re.IGNORECASE,
)


def _tokens(text: str) -> Iterator[Span]:
    """Tokens that their beginning or their place gives away."""
    for found in _PREFIXED.finditer(text):
        yield Span(found.start(), found.end(), words.TOKEN)
    for pattern in (_BEARER, _HOOK, _SIGNATURE):
        for found in pattern.finditer(text):
            group = found.lastindex or 0
            yield Span(found.start(group), found.end(group), words.TOKEN)


_CREDENTIALS = re.compile(r"[^\s:/@\"'<>]{0,128}:([^\s@/?#\"'<>\[]{1,256})@(?=[\w\[])")
_DATABASE = re.compile(r"[^\s:/@\"'<>]{0,128}:([^\s\"'<>\[]{1,256})@(?=[\w\[])")
_DATABASES = (
    "postgres",
    "postgresql",
    "mysql",
    "mariadb",
    "mongodb",
    "redis",
    "rediss",
    "amqp",
    "amqps",
    "mssql",
    "oracle",
)
_REFERENCE = re.compile(r"\*+|x{3,}|\$.*|\{.*|<.*|%.*%", re.IGNORECASE)


def _addresses(text: str) -> Iterator[Span]:
    """Passwords in addresses: `scheme://user:password@host`."""
    at = text.find("://")
    while at >= 0:
        scheme = re.split(r"[^a-z0-9+]", text[max(0, at - 24) : at].lower())[-1].split("+")[0]
        pattern = _DATABASE if scheme in _DATABASES else _CREDENTIALS
        found = pattern.match(text, at + 3)
        if found and not _REFERENCE.fullmatch(found[1]):
            yield Span(found.start(1), found.end(1), words.PASSWORD)
        at = text.find("://", at + 3)


_CARD = re.compile(r"(?<![\w-])(?:\d{4}([ -])\d{4}\1\d{4}\1\d{4}|3[47]\d{2}([ -])\d{6}\2\d{5})(?![\w-])")


def _cards(text: str) -> Iterator[Span]:
    """Payment cards, written in groups, with a right check digit (a plain number stays an order number)."""
    for found in _CARD.finditer(text):
        digits = [int(character) for character in found.group() if character.isdigit()]
        doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
        if (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0:
            yield Span(found.start(), found.end(), CARD)


# Quadratic on hostile text and found above, not secret, or too easily an order number or ordinary base64.
_LEFT_OUT = """ssh_private_key gcp_service_account_key twilio_account_sid stripe_live_publishable_key
    credit_card_number square_access_token nuget_api_key generic_high_entropy password_in_url
    postgres_connection_string mysql_connection_string mongodb_connection_string
    redis_connection_string""".split()
_TYPES = [p.id for p in PATTERN_REGISTRY if p.provider != "prompt_injection" and p.id not in _LEFT_OUT]
_CANDIDATE = re.compile(r"[A-Za-z0-9_+/=.:~-]{20,}")
_BEFORE, _WINDOW = 60, 700


def _known(text: str) -> Iterator[Span]:
    """What the library's patterns find, in short windows around words long enough to be a token."""
    for start, end in _windows(text):
        for found in scan(text[start:end], types=_TYPES, min_confidence=0.6, include_context=False):
            yield Span(start + found.span_start, start + found.span_end, words.TOKEN)


def _windows(text: str) -> Iterator[tuple[int, int]]:
    """Stretches with candidates, each at most `_WINDOW` long (a longer run is cut, with an overlap)."""
    start = end = -1
    for found in _CANDIDATE.finditer(text):
        if not any(map(str.isdigit, found.group()[:64])):
            continue
        if start >= 0 and found.start() - _BEFORE <= end and found.end() - start <= _WINDOW:
            end = found.end()
            continue
        if start >= 0:
            yield start, end
        start, end = max(0, found.start() - _BEFORE), found.end()
        while end - start > _WINDOW:
            yield start, start + _WINDOW
            start += _WINDOW - 200
    if start >= 0:
        yield start, end
