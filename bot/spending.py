"""Spending: every model call reserves its worst cost against the caps first, and settles it after."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from bot.errors import CapReached
from bot.model import Response
from memory.bots import Bot
from memory.database import now
from memory.ids import derive
from memory.people import Team
from memory.turns import CallTag, Step

MICRO = 1_000_000
PERSON_SHARE = 0.25
BOT_SHARE = 0.75
"""Default caps of a person and a bot, as shares of the team's daily cap."""


@dataclass(frozen=True)
class Caps:
    """Money a day, in US dollars."""

    team: float
    bot: float
    person: float


def caps(session: Session, team_id: str, bot_id: str | None, daily: float) -> Caps:
    """Today's caps: the installer's, unless an admin set others for the team or the bot."""
    team = session.get(Team, team_id)
    settings: dict[str, Any] = dict(team.settings.get("caps", {})) if team else {}
    whole = float(settings.get("team", daily))
    bot = session.get(Bot, bot_id) if bot_id else None
    own = (bot.settings.get("cap") if bot else None) or settings.get("bot", whole * BOT_SHARE)
    return Caps(whole, float(own), float(settings.get("person", whole * PERSON_SHARE)))


@dataclass(frozen=True)
class Purpose:
    """Whose money a call spends, and for what."""

    team_id: str
    tag: CallTag
    model: str
    bot_id: str | None = None
    person_id: str | None = None
    place_id: str | None = None
    conversation_id: str | None = None
    turn_id: str | None = None
    number: int = 0


def reserve(
    session: Session, purpose: Purpose, worst: int, daily: float, hashes: dict[str, Any] | None = None
) -> str:
    """The id of a new step whose worst cost (millionths of a dollar) fits today's caps; else `CapReached`.

    The team's row is locked meanwhile, so that any number of calls at once never overspend together.
    """
    session.execute(select(Team.id).where(Team.id == purpose.team_id).with_for_update(key_share=True))
    limits = caps(session, purpose.team_id, purpose.bot_id, daily)
    _within(session, purpose, worst, "the team", limits.team)
    if purpose.bot_id:
        _within(session, purpose, worst, "this bot", limits.bot, Step.bot_id == purpose.bot_id)
    if purpose.person_id:
        _within(session, purpose, worst, "one person", limits.person, Step.person_id == purpose.person_id)
    attempts = (
        session.scalar(select(func.count()).select_from(Step).where(Step.turn_id == purpose.turn_id)) or 0
    )
    salt = purpose.turn_id or f"{purpose.conversation_id}:{now().isoformat()}"
    step = Step(
        id=derive("step", salt, purpose.tag, purpose.number, attempts),
        team_id=purpose.team_id,
        bot_id=purpose.bot_id,
        person_id=purpose.person_id,
        place_id=purpose.place_id,
        conversation_id=purpose.conversation_id,
        turn_id=purpose.turn_id,
        number=purpose.number,
        tag=purpose.tag,
        model=purpose.model,
        reserved=worst,
        hashes=hashes or {},
    )
    session.add(step)
    session.flush()
    return step.id


def settle(session: Session, step_id: str, response: Response, cost: int) -> None:
    """Records what a call used and cost."""
    step = session.get(Step, step_id)
    if step is None:
        return
    usage = response.usage
    step.cost = cost
    step.input_tokens = usage.input_tokens
    step.output_tokens = usage.output_tokens
    step.cache_read_tokens = usage.cache_read_tokens
    step.cache_write_5m_tokens = usage.cache_write_5m_tokens
    step.cache_write_1h_tokens = usage.cache_write_1h_tokens
    step.stop_reason = response.stop_reason
    step.missed = response.missed
    step.ended_at = now()


def release(session: Session, step_id: str) -> None:
    """Gives a reservation back: the call failed before the provider charged for it."""
    step = session.get(Step, step_id)
    if step is not None and step.cost is None:
        step.cost, step.ended_at, step.stop_reason = 0, now(), "failed"


def release_open(session: Session, turn_id: str) -> None:
    """Gives back what calls of a turn reserved that a crash ended: no answer of theirs will come."""
    session.execute(
        update(Step)
        .where(Step.turn_id == turn_id, Step.tag == "main", Step.cost.is_(None))
        .values(cost=0, ended_at=now(), stop_reason="lost")
    )


def spent(session: Session, team_id: str, *conditions: Any) -> int:
    """Millionths of a dollar spent or reserved since midnight UTC."""
    midnight = now().replace(hour=0, minute=0, second=0, microsecond=0)
    total = session.scalar(
        select(func.sum(func.coalesce(Step.cost, Step.reserved))).where(
            Step.team_id == team_id,
            Step.created_at >= midnight,
            Step.created_at < midnight + timedelta(days=1),
            *conditions,
        )
    )
    return int(total or 0)


def _within(
    session: Session, purpose: Purpose, worst: int, whose: str, dollars: float, *conditions: Any
) -> None:
    if spent(session, purpose.team_id, *conditions) + worst > dollars * MICRO:
        raise CapReached(
            f"Today's spending cap of {whose} (${dollars:,.2f}) is reached. Your message is kept; "
            "an admin can raise the cap, or it goes on tomorrow (UTC)."
        )
