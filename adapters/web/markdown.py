"""Markdown of messages as safe HTML: a small subset, everything else escaped, linear on hostile text."""

import re
from html import escape

from markupsafe import Markup

from adapters.web.inline import Resolve, inline

MAX_DEPTH = 5
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^`\s]{0,40})[^`]*$")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*)$", re.DOTALL)
_ITEM = re.compile(r"([ \t]{0,16})(?:[-*+]|(\d{1,9})[.)])[ \t]{1,4}(.*)$", re.DOTALL)
_RULES = ("---", "***", "___")


def markdown(text: str, resolve: Resolve | None = None) -> Markup:
    """HTML of a whole message; `resolve` says where local links lead."""
    return Markup(_Page(resolve).blocks(text.expandtabs(4).splitlines(), 0))  # noqa: S704 - all is escaped


class _Page:
    """Blocks of one message."""

    def __init__(self, resolve: Resolve | None) -> None:
        self._resolve = resolve

    def blocks(self, lines: list[str], depth: int) -> str:
        out: list[str] = []
        at = 0
        while at < len(lines):
            if not lines[at].strip():
                at += 1
                continue
            html, at = self._block(lines, at, depth)
            out.append(html)
        return "\n".join(out)

    def _block(self, lines: list[str], at: int, depth: int) -> tuple[str, int]:
        line = lines[at]
        if fence := _FENCE.match(line):
            return _fenced(lines, at, fence)
        if heading := _HEADING.match(line):
            level = min(len(heading[1]) + 2, 6)
            return f"<h{level}>{self._inline(heading[2].rstrip('# '))}</h{level}>", at + 1
        if _is_rule(line):
            return "<hr>", at + 1
        if depth < MAX_DEPTH and line.startswith(">"):
            return self._quote(lines, at, depth)
        if depth < MAX_DEPTH and (item := _ITEM.match(line)):
            return self._list(lines, at, item, depth)
        if _is_table(lines, at):
            return self._table(lines, at)
        return self._paragraph(lines, at)

    def _quote(self, lines: list[str], at: int, depth: int) -> tuple[str, int]:
        end = at
        inner = []
        while end < len(lines) and lines[end].startswith(">"):
            inner.append(lines[end][1:].removeprefix(" "))
            end += 1
        return f"<blockquote>{self.blocks(inner, depth + 1)}</blockquote>", end

    def _list(self, lines: list[str], at: int, first: re.Match[str], depth: int) -> tuple[str, int]:
        """Items of one level: a line that is indented more belongs to the item before it."""
        margin, ordered = len(first[1]), first[2] is not None
        items: list[list[str]] = []
        while at < len(lines):
            item = _ITEM.match(lines[at])
            if item and len(item[1]) <= margin + 1:
                if (item[2] is not None) != ordered or len(item[1]) < margin:
                    break
                items.append([item[3]])
            elif lines[at].startswith(" " * (margin + 2)):
                items[-1].append(lines[at][margin + 2 :])
            elif not lines[at].strip() and at + 1 < len(lines) and _goes_on(lines[at + 1], margin, ordered):
                items[-1].append("")
            elif not lines[at].strip() or not lines[at - 1].strip() or _starts_block(lines[at]):
                break
            else:
                items[-1].append(lines[at])
            at += 1
        tag, start = ("ol", f' start="{int(first[2])}"') if ordered and first[2] != "1" else ("ul", "")
        tag = "ol" if ordered else tag
        body = "".join(f"<li>{self._item(item, depth + 1)}</li>" for item in items)
        return f"<{tag}{start}>{body}</{tag}>", at

    def _item(self, lines: list[str], depth: int) -> str:
        """An item that is one paragraph stands without a paragraph of its own."""
        html = self.blocks(lines, depth)
        if html.startswith("<p>"):
            end = html.index("</p>")
            rest = html[end + len("</p>") :]
            if not rest.startswith("\n<p>"):
                return html[len("<p>") : end] + rest
        return html

    def _table(self, lines: list[str], at: int) -> tuple[str, int]:
        head = _cells(lines[at])
        rows = []
        at += 2
        while at < len(lines) and "|" in lines[at]:
            cells = _cells(lines[at])[: len(head)]
            rows.append(cells + [""] * (len(head) - len(cells)))
            at += 1
        top = "".join(f"<th>{self._inline(cell)}</th>" for cell in head)
        body = "".join(
            "<tr>" + "".join(f"<td>{self._inline(cell)}</td>" for cell in row) + "</tr>" for row in rows
        )
        table = f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
        return f'<div class="table" tabindex="0">{table}</div>', at

    def _paragraph(self, lines: list[str], at: int) -> tuple[str, int]:
        end = at + 1
        while end < len(lines) and lines[end].strip() and not _starts_block(lines[end]):
            end += 1
        text = "\n".join(line.strip() for line in lines[at:end])
        return f"<p>{self._inline(text)}</p>", end

    def _inline(self, text: str) -> str:
        return inline(text, self._resolve)


def _is_rule(line: str) -> bool:
    bare = line.strip()
    return len(bare) >= 3 and bare[:3] in _RULES and not bare.strip(bare[0])


def _fenced(lines: list[str], at: int, fence: re.Match[str]) -> tuple[str, int]:
    mark, language = fence[1], fence[2]
    end = at + 1
    while end < len(lines):
        bare = lines[end].strip()
        if bare.startswith(mark) and not bare.strip(mark[0]):
            break
        end += 1
    code = escape("\n".join(lines[at + 1 : end]))
    label = f' data-language="{escape(language)}"' if language else ""
    return f'<pre tabindex="0"{label}><code>{code}</code></pre>', end + 1


def _goes_on(line: str, margin: int, ordered: bool) -> bool:
    item = _ITEM.match(line)
    if item and len(item[1]) <= margin + 1:
        return (item[2] is not None) == ordered and len(item[1]) >= margin
    return line.startswith(" " * (margin + 2))


def _is_table(lines: list[str], at: int) -> bool:
    if at + 1 >= len(lines) or "|" not in lines[at] or len(lines[at]) > 10_000:
        return False
    rule = lines[at + 1].strip()
    if "-" not in rule or rule.strip("|:- ") or len(rule) > 2_000:
        return False
    return len(_cells(rule)) == len(_cells(lines[at]))


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]


def _starts_block(line: str) -> bool:
    return bool(line.startswith(">") or _FENCE.match(line) or _HEADING.match(line) or _ITEM.match(line))
