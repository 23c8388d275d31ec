"""Where a search looks: which rows exist for its viewer."""

from dataclasses import dataclass
from typing import Literal

from sqlalchemy import ColumnElement

from memory.conversations import Entry
from memory.memories import Memory
from memory.vectors import Allowed

RowKind = Literal["memory", "entry"]


@dataclass(frozen=True)
class Scope:
    """A table and the condition that says which of its rows exist for this viewer.

    `key` names the condition (equal keys: equal conditions, but for the time of day). `allowed` is the same
    gate for the index of meanings, which may know a row's state of a moment ago: rows are always read again
    with `condition`.
    """

    kind: RowKind
    table: type[Memory] | type[Entry]
    condition: ColumnElement[bool]
    key: tuple[object, ...]
    allowed: Allowed
