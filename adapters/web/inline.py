"""Markdown within a line: code, emphasis and links, escaped, in linear time on any text."""

import re
from collections import Counter
from collections.abc import Callable
from html import escape

_SPECIAL = re.compile(r"[\\`*_~\[\]\n]|https?://")
_TICKS = re.compile(r"`+")
_TARGET = re.compile(r"\(((?:[^\s()<>]|\([^\s()<>]{0,200}\)){1,2000})\)")
_BARE_URL = re.compile(r"https?://[^\s<>\"'`\\^{}|]{1,2000}")
_LINKABLE = ("http://", "https://", "mailto:")
_TAGS = {"*": "em", "_": "em", "**": "strong", "__": "strong", "~~": "del"}
MAX_LOCAL = 200
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


Resolve = Callable[[str], str | None]


def inline(text: str, resolve: Resolve | None = None) -> str:
    """HTML of one paragraph's text; nothing in it can be markup of its own.

    `resolve` says where a bracketed local link such as `[/in/general#x1]` leads.
    """
    return _Line(text, resolve).html()


class _Line:
    """One pass over a text. Openers wait on two stacks and stay literal unless their closer comes."""

    def __init__(self, text: str, resolve: Resolve | None) -> None:
        self.text = text
        self.resolve = resolve
        self.at = 0
        self.out: list[str] = []
        self.emphasis: list[tuple[str, int]] = []
        self.waiting: Counter[str] = Counter()
        self.brackets: list[tuple[int, int]] = []
        self.last_link = -1
        self.ticks: dict[int, list[int]] | None = None

    def html(self) -> str:
        while match := _SPECIAL.search(self.text, self.at):
            self._plain(match.start())
            self._special(match[0])
        self._plain(len(self.text))
        return "".join(self.out)

    def _plain(self, end: int) -> None:
        if end > self.at:
            self.out.append(escape(self.text[self.at : end]))
            self.at = end

    def _special(self, sign: str) -> None:
        if sign == "\\":
            self._escaped()
        elif sign == "\n":
            self.out.append("<br>\n")
            self.at += 1
        elif sign == "`":
            self._code()
        elif sign == "[":
            self.brackets.append((len(self.out), self.at))
            self.out.append("[")
            self.at += 1
        elif sign == "]":
            self._close_bracket()
        elif sign.startswith("http"):
            self._bare_url()
        else:
            self._emphasis(sign)

    def _escaped(self) -> None:
        following = self.text[self.at + 1 : self.at + 2]
        if following in _PUNCTUATION and following:
            self.out.append(escape(following))
            self.at += 2
        else:
            self.out.append("\\")
            self.at += 1

    def _code(self) -> None:
        run = _TICKS.match(self.text, self.at)
        assert run
        length, start = len(run[0]), run.end()
        end = self._next_ticks(length, start)
        if end is None:
            self._plain(start)
            return
        code = self.text[start:end].replace("\n", " ")
        if len(code) > 2 and code[0] == code[-1] == " " and code.strip():
            code = code[1:-1]
        self.out.append(f"<code>{escape(code)}</code>")
        self.at = end + length

    def _next_ticks(self, length: int, start: int) -> int | None:
        """Where the next run of exactly that many backticks begins; runs behind us are dropped for good."""
        if self.ticks is None:
            self.ticks = {}
            for run in _TICKS.finditer(self.text):
                self.ticks.setdefault(len(run[0]), []).append(run.start())
            for places in self.ticks.values():
                places.reverse()
        places = self.ticks.get(length, [])
        while places and places[-1] < start:
            places.pop()
        return places[-1] if places else None

    def _close_bracket(self) -> None:
        self.at += 1
        if not self.brackets:
            self.out.append("]")
            return
        opener, began = self.brackets.pop()
        if self.text.startswith("[/in/", began) and self._local_link(opener, began):
            return
        target = _TARGET.match(self.text, self.at)
        if not target or self.last_link > opener or not target[1].lower().startswith(_LINKABLE):
            self.out.append("]")
            return
        while self.emphasis and self.emphasis[-1][1] > opener:
            self.waiting[self.emphasis.pop()[0]] -= 1
        self.out[opener] = _anchor(target[1])
        self.out.append("</a>")
        self.last_link = opener
        self.at = target.end()

    def _local_link(self, opener: int, began: int) -> bool:
        link = self.text[began + 1 : self.at - 1]
        address = self.resolve(link) if self.resolve and len(link) < MAX_LOCAL else None
        if address is None:
            return False
        while self.emphasis and self.emphasis[-1][1] > opener:
            self.waiting[self.emphasis.pop()[0]] -= 1
        del self.out[opener:]
        self.last_link = opener
        self.out.append(f'<a class="to-message" href="{escape(address)}">see the message</a>')
        return True

    def _bare_url(self) -> None:
        before = self.text[self.at - 1 : self.at]
        match = _BARE_URL.match(self.text, self.at)
        url = match[0].rstrip(".,;:!?*_~]") if match else ""
        if url.endswith(")") and url.count("(") < url.count(")"):
            url = url.rstrip(").,;:!?*_~]")
        if self.brackets or before.isalnum() or len(url) <= len("https://"):
            self._plain(self.at + len("http"))
            return
        self.last_link = len(self.out)
        self.out.append(f"{_anchor(url)}{escape(url)}</a>")
        self.at += len(url)

    def _emphasis(self, sign: str) -> None:
        start = end = self.at
        while self.text[end : end + 1] == sign:
            end += 1
        markers = _markers(sign, end - start)
        before, after = self.text[start - 1 : start] if start else "", self.text[end : end + 1]
        opens, closes = bool(after.strip()), bool(before.strip())
        if sign == "_":
            opens, closes = opens and not before.isalnum(), closes and not after.isalnum()
        if closes:
            while markers and self.waiting[markers[-1]]:
                self._close(markers.pop())
        for marker in markers:
            if opens and marker in _TAGS:
                self.waiting[marker] += 1
                self.emphasis.append((marker, len(self.out)))
            self.out.append(marker)
        self.at = end

    def _close(self, marker: str) -> None:
        while True:
            name, opener = self.emphasis.pop()
            self.waiting[name] -= 1
            if name == marker:
                break
        while self.brackets and self.brackets[-1][0] > opener:
            self.brackets.pop()
        self.out[opener] = f"<{_TAGS[marker]}>"
        self.out.append(f"</{_TAGS[marker]}>")


def _markers(sign: str, length: int) -> list[str]:
    if sign == "~" or length > 3:
        return [sign * length]
    return [sign * 2, sign] if length == 3 else [sign * length]


def _anchor(url: str) -> str:
    return f'<a href="{escape(url)}" target="_blank" rel="noopener noreferrer nofollow">'
