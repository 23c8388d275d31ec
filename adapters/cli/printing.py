"""Printing: results as words or as one JSON object; errors as one sentence and exit code 2."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn

import typer

EXIT = 2


def run(work: Callable[[], Awaitable[Any]], spoken: tuple[type[Exception], ...], *, as_json: bool) -> Any:
    """Runs a command's work; an error becomes a sentence on stderr and exit code 2."""
    try:
        return asyncio.run(_awaited(work))
    except spoken as error:
        fail(str(error), as_json=as_json)
    except (KeyboardInterrupt, asyncio.CancelledError):
        fail("Stopped before it was done; what was accepted is kept.", as_json=as_json)
    except BrokenPipeError:
        raise typer.Exit(0) from None


async def _awaited(work: Callable[[], Awaitable[Any]]) -> Any:
    return await work()


def fail(sentence: str, *, as_json: bool) -> NoReturn:
    """One sentence on stderr (and with JSON an object on stdout), exit code 2."""
    print(sentence, file=sys.stderr)
    if as_json:
        show_json({"error": sentence})
    raise typer.Exit(EXIT)


def show_json(value: Any) -> None:
    """One JSON value on a line, with any character that the terminal's encoding may lack escaped."""
    print(json.dumps(value, ensure_ascii=not _prints_unicode(), sort_keys=False, default=str))


def _prints_unicode() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def show_outcome(found: dict[str, Any]) -> None:
    """A reply as a person reads it."""
    if found["reply"]:
        print(found["reply"])
    if found.get("file") and "```" not in found["reply"]:
        print(json.dumps(found["rows"], ensure_ascii=False, indent=2))
    for source in found.get("sources", []):
        print(f"  source: {source.get('label', '')} {source.get('link', '')}".rstrip())
    for card in found["cards"]:
        print(f"\n  {card['text']}\n  Readers: {card['readers']}\n  Confirm with: /confirm {card['id']}")
    for kind, verb in (("added", "remembered"), ("replaced", "replaced"), ("removed", "removed")):
        for item in found["memory"][kind]:
            print(f"  {verb}: {item['text'] or item['id']} ({item['audience']})")


def show_health(rows: list[dict[str, Any]]) -> None:
    """The checks of `doctor`."""
    for row in rows:
        print(f"{'ok ' if row['ok'] else 'NO '} {row['about']}: {row['text']}")
        if row["remedy"]:
            print(f"    {row['remedy']}")


def show_memories(rows: list[dict[str, Any]]) -> None:
    """Memories, one a paragraph."""
    if not rows:
        print("Nothing is remembered here.")
    for row in rows:
        state = "" if row["status"] == "active" else f" [{row['status']}]"
        print(
            f"{row['id']}  {row['text']}{state}\n    {row['audience']}, by {row['author']}, {row['origin']}"
        )


def show_usage(rows: list[dict[str, Any]]) -> None:
    """Usage, one group a line."""
    if not rows:
        print("No model was called.")
    for row in rows:
        cost = f"${row['cost']:.4f}"
        print(f"{row['group']:24} {cost:>12} {row['calls']:>6} calls  {row['cache_share']:.0%} cached")
