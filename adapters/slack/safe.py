"""The model's text for Slack: nobody is pinged, addresses that nobody gave are inert, tables are columns."""

import re
from collections.abc import Callable

from adapters.tables import aligned, is_row
from adapters.text import FENCE, closing, fence_after

Allowed = Callable[[str], bool]
"""Whether an address may be one that can be pressed."""

_CODE = re.compile(r"(?<!`)(`+)([^`\n]+)\1(?!`)")
_LINK = re.compile(
    r"!?\[([^\[\]\n]*)\]"
    r"\(\s*<?([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)?)>?(?:\s+\"[^\"\n]*\")?\s*\)"
)
_BARE = re.compile(
    r"(?:(?<!\w)[a-z][a-z0-9+.-]{1,20}://|://|(?<!\w)www\.)[^\s<>`\"|]+"
    r"|(?<![\w@./-])(?:[a-z0-9-]{1,63}\.){1,8}(?:com|net|org|io|dev|app|co|ai|info|biz|xyz|me|link|site"
    r"|online|cloud|example|test)(?![\w-])(?:[/?#][^\s<>`\"|]*)?",
    re.IGNORECASE,
)
_TRAILING = re.compile(r"[.,;:!?'\")\]*_~]+$")
_ALL = re.compile(r"@(?=(?:channel|here|everyone|group)\b)", re.IGNORECASE)
_ENTITY = re.compile(r"&(?=(?:amp|lt|gt);)")
_QUOTE = re.compile(r"^(?: {0,3}>)+")
_UNFINISHED = re.compile(r"\[[^\]]*$|\]\([^)]*$")
_SILENT = "\u2060"
_STRAY = "\u02cb"
"""Looks like a backtick that opens nothing."""
_LANGUAGE = re.compile(r"[\w+#-]{1,20}$")


def nothing(_: str) -> bool:
    """No address may be pressed."""
    return False


def rendered(text: str, allowed: Allowed = nothing) -> str:
    """The text as Slack may show it; what `committed` gives is rendered to the beginning of this."""
    made, fence = [], ""
    for line in aligned(text).split("\n"):
        after = fence_after(line, fence)
        if after and not fence:
            made.append(_opening(line))
        else:
            made.append(escaped(line) if fence else _line(line, allowed))
        fence = after
    return "\n".join(made)


def committed(text: str) -> str:
    """The beginning of a text still being written that will be rendered the same whatever follows."""
    head, _, last = text.rpartition("\n")
    lines = head.split("\n") if "\n" in text else []
    fence = fence_after(head) if lines else ""
    if fence:
        return head + "\n"
    if not last.strip() or last.lstrip()[0] in "|`~" or len(last) - len(last.lstrip()) > 3:
        kept = len(lines)
        while kept and (is_row(lines[kept - 1]) if last.lstrip()[:1] in ("", "|") else False):
            kept -= 1
        return "".join(line + "\n" for line in lines[:kept])
    cut = max(last.rfind(" "), last.rfind("\t")) + 1
    while cut and _is_open(last[:cut]):
        cut = max(last.rfind(" ", 0, cut - 1), last.rfind("\t", 0, cut - 1)) + 1
    return text[: len(text) - len(last) + (cut if last[:cut].strip() else 0)]


def escaped(text: str) -> str:
    """The text with nothing that Slack takes for a mention, a channel or a link."""
    return _ENTITY.sub("&amp;", text).replace("<", "&lt;").replace(">", "&gt;")


def plain(text: str, limit: int = 3_000) -> str:
    """The text for notifications and screen readers."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _opening(line: str) -> str:
    """The line that opens a fence, with at most the name of a language."""
    found = FENCE.match(line)
    language = _LANGUAGE.match(found["info"].strip()) if found else None
    return closing(line) + (language[0] if language else "")


def _line(line: str, allowed: Allowed) -> str:
    quote = _QUOTE.match(line)
    start = quote[0] if quote else ""
    rest, made, at = line[len(start) :], [start], 0
    for found in _CODE.finditer(rest):
        made += [_words(rest[at : found.start()], allowed), escaped(found[0])]
        at = found.end()
    return "".join([*made, _words(rest[at:], allowed)])


def _words(text: str, allowed: Allowed) -> str:
    made, at = [], 0
    for found in _LINK.finditer(text):
        made += [_bare(text[at : found.start()], allowed), _link(found, allowed)]
        at = found.end()
    return "".join([*made, _bare(text[at:], allowed)])


def _link(found: re.Match[str], allowed: Allowed) -> str:
    label, address = found[1], found[2]
    if allowed(address) and not found[0].startswith("!"):
        return f"[{_silent(label)}]({escaped(address)})"
    if not address:
        return _silent(label)
    shown = f"`{escaped(address)}`"
    return f"{_bare(label, allowed)} ({shown})" if label.strip() else shown


def _bare(text: str, allowed: Allowed) -> str:
    made, at = [], 0
    for found in _BARE.finditer(text):
        address = _TRAILING.sub("", found[0])
        made.append(_silent(text[at : found.start()]))
        made.append(escaped(address) if allowed(address) else f"`{escaped(address)}`")
        at = found.start() + len(address)
    return "".join([*made, _silent(text[at:])])


def _silent(text: str) -> str:
    return escaped(_ALL.sub(f"@{_SILENT}", text)).replace("`", _STRAY)


def _is_open(text: str) -> bool:
    """Whether something begun in this beginning of a line may still end."""
    rest = _LINK.sub("", _CODE.sub("", text))
    return "`" in rest or rest.count("**") % 2 == 1 or _UNFINISHED.search(rest) is not None
