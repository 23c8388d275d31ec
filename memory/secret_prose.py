"""Secrets told in words: "the password is …", "pin: 4711", "… is my password", in many languages."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from memory import secret_words as words
from memory.secret_text import Legible, Span
from memory.secret_values import Link, Value, believable, read, whole_end

NEEDLES = words.needles()
BACK = 100
"""Characters before an introduction in which a value may stand ("… is the password")."""


def _either(spelt: str | list[str]) -> str:
    found = spelt.split() if isinstance(spelt, str) else spelt
    return "|".join(re.escape(word) for word in sorted(found, key=len, reverse=True))


_CHANGES = "|".join(re.escape(" ".join(change.split())) for change in words.CHANGES.split("|"))
_EDGE = r"(?![^\W_\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])"
_GAP = rf"(?:[ \t]+(?:{_either(words.PREPOSITIONS)})[ \t]+[^\n.:=?!,;]{{1,60}}?)?"
_VERB = rf"[ \t]+(?:{_either(words.VERBS)}){_EDGE}(?:[ \t]+(?:{_either(words.FILLERS)}){_EDGE})?"
_CHANGE = rf"(?:[ \t]+(?:is|was|has been|got|ist|a été))?[ \t]+(?:{_CHANGES}){_EDGE}"
_SIGN = r"[ \t]*(?::=|=>|->|→|=|:|>)"
_GLUED = r"[ \t]?(?:は|が|是|为|為|는|은)"
_CONNECTOR = re.compile(
    rf"[\"'`*_)\]]{{0,3}}{_GAP}(?:(?P<sign>{_SIGN})|(?:{_CHANGE}|{_VERB}|{_GLUED})[ \t]*:?)"
    r"[*_]{0,2}[ \t]*\n?[ \t]*[*_]{0,2}"
)
_PLAIN = re.compile(r"[\"'`*_)\]]{0,3}[ \t]+[*_]{0,2}")
_SUFFIX = re.compile(rf"(?P<plural>es|s)?(?:e|in|iniz|imiz|im|si|miz|niz|m|nin|ue|и|ом|ы)?{_EDGE}")
_OR = re.compile(r"[ \t]*(?:/|\bor\b|\boder\b|\bou\b)[ \t]*")
_AND = re.compile(r"[ \t]*(?:,|/|;|&|\b(?:and|or|und|oder|et|ou|y|o)\b)[ \t]*")
_PAIR = re.compile(r"[ \t]*[:=]?[ \t]*[\"'`]?[^\s/|:\"'`]{1,64}[ \t]*[/|:][ \t]*")
_DONE = re.compile(r"[\"'`)]{0,2}[ \t]*(?:$|[.,;:!?)—–\n]|(?:for|of|to|on|at|für|von|pour|para|de)\b)")
_COPULAS = frozenset("is ist est es è é as als comme como".split())
_SETTING = re.compile(r"(?:change|set|reset|update|ändere?|setze?|changer?|cambiar?)\b[^\n.]{0,30}$")
_TO = re.compile(r"[ \t]+(?:to|auf|en|par|a|por)[ \t]+")
_TOKEN = re.compile(r"\S+")


class Hit(NamedTuple):
    """An introduction found in a text."""

    start: int
    end: int
    word: str
    kind: str
    plural: bool


def spoken(seen: Legible) -> Iterator[Span]:
    """Every value that an introduction makes a secret."""
    at = 0
    for hit in _hits(seen.lowered):
        if hit.start < at:
            continue
        for value in _after(seen, hit) or _before(seen, hit, at):
            at = max(at, whole_end(seen, value))
            yield Span(value.start, at, "password" if hit.kind == words.LOGIN else hit.kind)


def _hits(lowered: str) -> list[Hit]:
    """The introductions in order; of overlapping ones the longest."""
    found: list[Hit] = []
    for needle, kind, whole in NEEDLES:
        at = lowered.find(needle)
        while at >= 0:
            end = at + len(needle)
            edge = _SUFFIX.match(lowered, end)
            if edge and not (whole and at and lowered[at - 1].isalnum()) and lowered[at - 1 : at] != "1":
                found.append(Hit(at, edge.end(), needle, kind, bool(edge["plural"])))
            at = lowered.find(needle, end)
    found.sort(key=lambda hit: (hit.start, -hit.end))
    kept: list[Hit] = []
    for hit in found:
        if not kept or hit.start >= kept[-1].end:
            kept.append(hit)
    return kept


def _after(seen: Legible, hit: Hit) -> list[Value]:
    """The values that follow an introduction."""
    if hit.kind == words.LOGIN:
        pair = _PAIR.match(seen.text, hit.end)
        value = read(seen, pair.end()) if pair else None
        return [value] if value and believable(value, words.PASSWORD, Link.NONE) else []
    connector = _CONNECTOR.match(seen.lowered, hit.end)
    link = Link.SIGN if connector and connector["sign"] else Link.VERB
    if connector is None:
        if hit.word in words.AMBIGUOUS:
            return []
        link = Link.NONE
        connector = _PLAIN.match(seen.lowered, hit.end)
        if _SETTING.search(seen.lowered, max(0, hit.start - 40), hit.start):
            connector = _TO.match(seen.lowered, hit.end) or connector
    elif link is Link.VERB and hit.word in words.AMBIGUOUS:
        link = Link.LOOSE
    if connector is None:
        return []
    phrase = link in (Link.VERB, Link.SIGN) and hit.kind == words.PASSWORD
    value = read(seen, connector.end(), phrase=phrase, script=link is Link.SIGN)
    if value is None or not believable(value, hit.kind, link):
        return []
    return [value, *_more(seen, value, _AND if hit.plural else _OR)]


def _more(seen: Legible, value: Value, separator: re.Pattern[str]) -> Iterator[Value]:
    """Further values of a list: "passwords are a1b2 and c3d4"."""
    found: Value | None = value
    while found:
        more = separator.match(seen.lowered, found.end)
        found = read(seen, more.end()) if more and more.end() > found.end else None
        if found and believable(found, words.PASSWORD, Link.NONE):
            yield found
        else:
            return


def _before(seen: Legible, hit: Hit, at: int) -> list[Value]:
    """The value in "a1b2 is the password"."""
    if hit.kind not in (words.PASSWORD, words.PIN) or not _DONE.match(seen.lowered, hit.end):
        return []
    begin = max(at, hit.start - BACK)
    tokens = list(_TOKEN.finditer(seen.lowered, begin, hit.start))
    for index in range(len(tokens) - 1, max(0, len(tokens) - 5), -1):
        if tokens[index].group() in _COPULAS:
            value = read(seen, tokens[index - 1].start())
            return [value] if value and believable(value, hit.kind, Link.NONE) else []
    return []
