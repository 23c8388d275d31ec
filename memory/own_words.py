"""A person's own words in a message: not what they quote or forward, nor code that they paste."""

import re
import unicodedata
from dataclasses import dataclass

from memory.stop_words import STOP_WORDS
from memory.text import fold, tokens

SUPPORT = 1 / 3
"""The part of a memory's telling words that the person must have said: names and dates may be added."""
MOST_QUOTED = 2
"""Words within quotation marks that still are one's own, a name or a title; more is another's sentence."""
SHORTEST_QUOTE = 5
"""Letters of a quote that can carry a memory; two characters where a script has no spaces."""

_FENCE = re.compile(r"^\s{0,3}(```+|~~~+)")
_QUOTED = re.compile(r"^\s{0,3}(?:>|&gt;)")
_REST_QUOTED = re.compile(r"^\s{0,3}(?:>>>|&gt;&gt;&gt;)")
_FORWARDED = re.compile(
    r"^\W{0,12}(?:(?:begin )?forwarded message|forwarded from\b.{0,60}|forwarded:|original message"
    r"|weitergeleitete nachricht|ursprungliche nachricht|message transfere|message d'origine"
    r"|mensaje reenviado|mensaje original|iletilen mesaj|転送メッセージ|الرساله المعاد توجیهها"
    r"|अग्रेषित संदेश)\W{0,12}$"
    r"|^(?:on|am|le|el) .{3,80} (?:wrote|schrieb.{0,60}|a ecrit|escribio) ?:$"
)
_CODE = re.compile(r"(`{1,2})[^`\n]{1,2000}\1")
_MARKS = re.compile(r'"([^"\n]{1,600})"')
_SENTENCE_END = re.compile(r"[.!?…。！？؟।\n]+(?=\s|$|[^\x00-\x7f])|[。！？؟।\n]")
_EDGES = "\"'`….,;:!?。、！？؟।() \t\n"
_SAME = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "「": '"', "」": '"'}
)
_HYPHENS = re.compile("[‐‑‒–—―−]")
SHORTEST_WORD = 3
STEM = 4


@dataclass(frozen=True)
class OwnWords:
    """What a person said themselves, folded; `foreign` are spans that are code or somebody's sentence."""

    text: str
    foreign: tuple[tuple[int, int], ...]

    def find(self, quote: str) -> re.Match[str] | None:
        """The first place where the quote stands in the person's own words, on whole words."""
        wanted = re.sub('["`]', " ", folded(quote)).strip(_EDGES)
        if not tokens(wanted):
            return None
        pattern = re.compile(r'[\s"`]+'.join(map(re.escape, wanted.split())))
        for found in pattern.finditer(self.text):
            inside = any(start <= found.start() and found.end() <= end for start, end in self.foreign)
            if not inside and _whole(self.text, found.start(), found.end()):
                return found
        return None

    def sentence(self, found: re.Match[str]) -> str:
        """The sentences in which it stands, with their closing marks."""
        begin = max((end.end() for end in _SENTENCE_END.finditer(self.text, 0, found.start())), default=0)
        last = _SENTENCE_END.search(self.text, max(found.end() - 1, found.start()))
        return self.text[begin : last.end() if last else len(self.text)].strip()


def own_words(text: str) -> OwnWords:
    """The own words of a message: without quoted lines, forwards and fenced code."""
    said: list[str] = []
    spans: list[tuple[int, int]] = []
    length = 0
    for raw in _own_lines(text):
        at = 0
        line = ""
        for code in _CODE.finditer(raw):
            line += folded(raw[at : code.start()])
            start = length + len(line)
            line += folded(code.group())
            spans.append((start, length + len(line)))
            at = code.end()
        line += folded(raw[at:]) + "\n"
        spans += [
            (length + found.start(), length + found.end())
            for found in _MARKS.finditer(line)
            if len(tokens(found[1])) > MOST_QUOTED
        ]
        said.append(line)
        length += len(line)
    return OwnWords("".join(said), tuple(spans))


def says(own: OwnWords, quote: str) -> bool:
    """Whether the quote occurs in a person's own words, and not only as code or as somebody's sentence."""
    return own.find(quote) is not None


def carries(quote: str) -> bool:
    """Whether a quote is long enough to say something."""
    letters = [character for character in folded(quote) if character.isalnum()]
    if len(letters) >= SHORTEST_QUOTE:
        return True
    return len([letter for letter in letters if not letter.isascii()]) > 1 and len(tokens(quote)) > 0


def supports(own: OwnWords, text: str, names: str) -> bool:
    """Whether enough of a memory's words were said by the person themselves; `names` may be added."""
    said = set(tokens(own.text)) | set(tokens(names))
    telling = {word for word in tokens(text) if len(word) >= SHORTEST_WORD or not word.isascii()} - STOP_WORDS
    if not telling:
        return True
    return sum(is_said(word, said) for word in telling) >= SUPPORT * len(telling)


def is_said(word: str, said: set[str]) -> bool:
    """Whether a word, or one that begins the same, is among those said."""
    return word in said or (
        len(word) >= STEM and any(len(other) >= STEM and other[:STEM] == word[:STEM] for other in said)
    )


def folded(text: str) -> str:
    """Text as it is compared: cases, accents, widths, kinds of quotation marks and hyphens are equal."""
    return _HYPHENS.sub("-", fold(text.translate(_SAME)))


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
        if _REST_QUOTED.match(line) or (len(line) < 200 and _FORWARDED.match(folded(line).strip())):
            break
        if not _QUOTED.match(line):
            lines.append(line)
    return lines


def _whole(text: str, start: int, end: int) -> bool:
    """Whether a stretch begins and ends between words; scripts without spaces have no such places."""
    before = start > 0 and _joined(text[start - 1]) and _joined(text[start])
    after = end < len(text) and _joined(text[end]) and _joined(text[end - 1])
    return not before and not after


def _joined(character: str) -> bool:
    """Whether letters beside this one belong to the same word."""
    if character.isascii():
        return character.isalnum()
    kind = unicodedata.category(character)
    spaced = not (
        "\u0e00" <= character <= "\u0fff" or "\u3040" <= character <= "\u9fff" or character >= "\uac00"
    )
    return kind[0] in "LMN" and spaced
