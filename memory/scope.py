"""Where a search looks: which rows exist for its viewer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ARRAY, JSON, ColumnElement, any_, bindparam, column, func, select
from sqlalchemy.orm import Session

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

    @property
    def check(self) -> ColumnElement[bool]:
        """The condition for rows that are reached by their number or by a term: no index is tried for it.

        Without this, SQLite walks all rows that the viewer may read to find the few that were named.
        """
        return self.condition.is_(True)


def one_of(session: Session, value: Any, among: Sequence[int] | Sequence[str]) -> ColumnElement[bool]:
    """Whether a column's value is one of many, as one parameter: such a statement is prepared once."""
    kind = value.type
    if session.get_bind().dialect.name == "sqlite":
        each = func.json_each(bindparam(None, list(among), JSON)).table_valued(column("value", kind))
        return value.in_(select(each.c.value))  # type: ignore[no-any-return]
    return value == any_(bindparam(None, list(among), ARRAY(kind)))  # type: ignore[no-any-return]
