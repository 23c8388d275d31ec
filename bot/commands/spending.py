"""`/usage` and `/status`: what the bot costs, how much of it comes from the cache, and what it missed."""

from typing import Any

from sqlalchemy.orm import Session

from bot.commands.command import Argument, Caller, Command
from bot.errors import BadInput
from bot.messages import CommandResult
from bot.usage import GROUPS, misses, span_of, usage

DAYS = 7
MOST_DAYS = 400


def _usage(session: Session, caller: Caller, arguments: dict[str, str]) -> CommandResult:
    """Everybody sees their own; admins see the team's."""
    days = _days(arguments.get("days", str(DAYS)))
    by = arguments.get("by", "day")
    own = None if caller.speaker.is_admin else caller.speaker.person_id
    rows = usage(session, span_of(caller.speaker.team_id, days, own), by)
    whose = "Your usage" if own else "The team's usage"
    if not rows:
        return CommandResult(f"{whose} in the last {days} days: no model was called.")
    lines = [f"{whose} in the last {days} days, by {by}:", *map(_line, rows)]
    return CommandResult("\n".join(lines), rows=tuple(rows))


def _status(session: Session, caller: Caller, _: dict[str, str]) -> CommandResult:
    """Today's cost and cache share, and unplanned cache misses of the week."""
    own = None if caller.speaker.is_admin else caller.speaker.person_id
    today = usage(session, span_of(caller.speaker.team_id, 1, own), "bot")
    missed = misses(session, span_of(caller.speaker.team_id, DAYS, own))
    lines = ["In the last 24 hours:", *(map(_line, today) if today else ["no model was called."])]
    if missed:
        lines.append("Cache misses that were not planned, in the last 7 days:")
        lines += [f"• {row['section']}: {row['count']}, last {row['last'][:16]} UTC" for row in missed]
    else:
        lines.append("No unplanned cache miss in the last 7 days.")
    return CommandResult("\n".join(lines), rows=(*today, *missed))


def _days(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= MOST_DAYS:
        raise BadInput(f"The number of days is from 1 to {MOST_DAYS}.")
    return int(text)


def _line(row: dict[str, Any]) -> str:
    share = f"{row['cache_share']:.0%} of the prompt from cache"
    return f"• {row['group']}: ${row['cost']:.4f}, {row['calls']} calls, {share}"


COMMANDS = (
    Command(
        "usage",
        "What the models cost, by day, bot, place, person or kind of call",
        _usage,
        (
            Argument("by", "How to group it", required=False, choices=GROUPS),
            Argument("days", "How many days back", required=False),
        ),
        guests=False,
    ),
    Command("status", "Cost and cache share today, and unplanned cache misses", _status, guests=False),
)
