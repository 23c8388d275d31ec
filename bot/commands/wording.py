"""How memories and their readers are put into words."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy.orm import Session

from memory.audience import TEAM, Viewer, of_person
from memory.listing import readers

MOST_LINES = 25


def audience_words(session: Session, audience: str, viewer: Viewer) -> str:
    """Who reads what has that audience, for the person who asks: `only you`, `people in #ops`."""
    if audience == TEAM:
        return "everyone in the team"
    if viewer.person_id is not None and audience == of_person(viewer.person_id):
        return "only you"
    return readers(session, audience, viewer).replace("everybody in", "people in")


def quoted(text: str) -> str:
    """Somebody's words within a sentence of ours, on one line, so that they cannot pass for ours."""
    return "“" + " ".join(text.split()).replace("”", "'").replace("`", "'") + "”"


def line(row: dict[str, Any]) -> str:
    """A memory's row as one line of a list."""
    marks = [_readers(row), f"by {row['author']}", row["created_at"][:10]]
    marks += [word for word in (_kind(row), _state(row)) if word]
    return f"• {quoted(row['text'])} ({', '.join(marks)}) `{row['id']}`"


def listed(rows: Sequence[dict[str, Any]], more: str) -> str:
    """Rows as lines; `more` says how to reach those that are too many to show."""
    lines = [line(row) for row in rows[:MOST_LINES]]
    if len(rows) > MOST_LINES:
        lines.append(f"… and {len(rows) - MOST_LINES} more. {more}")
    return "\n".join(lines)


def left_out(kinds: Sequence[str]) -> str:
    """What is said about secrets that were not kept; empty when there were none."""
    return f" I did not keep the secret in it ({', '.join(kinds)})." if kinds else ""


def _readers(row: dict[str, Any]) -> str:
    kind, _, name = str(row["audience"]).partition(":")
    if kind == "team":
        return "the team"
    return "only you" if kind == "person" else f"people in {name}"


def _kind(row: dict[str, Any]) -> str:
    return {"private": "private note", "rule": "rule"}.get(row["kind"], "") or (
        "note" if row["layer"] == "note" else ""
    )


def _state(row: dict[str, Any]) -> str:
    words = [row["status"]] if row["status"] != "active" else []
    words += ["another memory disagrees"] if row["conflict"] else []
    words += ["not sure"] if row["confidence"] < 0.6 else []
    return ", ".join(words)
