"""Tables of pipes as aligned monospace: a platform that draws no tables shows columns all the same."""

import re
import unicodedata
from collections.abc import Sequence

from adapters.text import fence_after

_RULE = re.compile(r"^ {0,3}\|? *:?-+:? *(\| *:?-+:? *)*\|? *$")
_BREAK = re.compile(r"(?<!\\)\|")
_CODE = re.compile(r"(`+)(.+?)\1(?!`)")
_BOLD = re.compile(r"\*\*(.+?)\*\*")
_HELD = "\ue000"
GAP = "  "


def aligned(text: str) -> str:
    """The text with every table of pipes outside code as a code block with columns."""
    lines = text.split("\n")
    made: list[str] = []
    fence, at = "", 0
    while at < len(lines):
        rows = 0 if fence else table_length(lines, at)
        if rows:
            made += _drawn(lines[at : at + rows])
            at += rows
            continue
        fence = fence_after(lines[at], fence)
        made.append(lines[at])
        at += 1
    return "\n".join(made)


def table_length(lines: Sequence[str], at: int) -> int:
    """How many lines from there are a table: a row, a rule as wide, the rows below; 0 where none begins."""
    if at + 1 >= len(lines) or not is_row(lines[at]) or not _RULE.match(lines[at + 1]):
        return 0
    if len(_cells(lines[at])) != len(_cells(lines[at + 1])):
        return 0
    end = at + 2
    while end < len(lines) and is_row(lines[end]):
        end += 1
    return end - at


def is_row(line: str) -> bool:
    """Whether a line may be a row of a table: rows begin with a pipe."""
    return line.lstrip(" ").startswith("|") and len(line) - len(line.lstrip(" ")) <= 3


def width(text: str) -> int:
    """Columns of a terminal: wide characters take two, marks none."""
    return sum(
        0
        if unicodedata.category(char) in ("Mn", "Me", "Cf")
        else 2
        if unicodedata.east_asian_width(char) in ("W", "F")
        else 1
        for char in text
    )


def _cells(line: str) -> list[str]:
    inner = _CODE.sub(lambda found: found[0].replace("|", _HELD), line.strip())
    inner = inner.removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [_plain(cell.replace(_HELD, "|")) for cell in _BREAK.split(inner)]


def _plain(cell: str) -> str:
    bare = _CODE.sub(lambda found: found[2].strip() or found[2], cell.strip())
    return _BOLD.sub(r"\1", bare).replace("\\|", "|").strip()


def _drawn(lines: Sequence[str]) -> list[str]:
    rows = [_cells(line) for line in lines]
    columns = len(rows[0])
    rows = [(row + [""] * columns)[:columns] for row in (rows[0], *rows[2:])]
    widths = [max(width(row[column]) for row in rows) for column in range(columns)]
    drawn = [_line(row, widths) for row in rows]
    drawn.insert(1, GAP.join("-" * max(size, 1) for size in widths))
    longest = max((len(run) for row in drawn for run in re.findall("`+", row)), default=0)
    mark = "`" * max(3, longest + 1)
    return [mark, *drawn, mark]


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell + " " * (size - width(cell)) for cell, size in zip(row, widths, strict=True))
    return GAP.join(padded).rstrip()
