"""Usage: what models read, wrote and cost, by bot, place, person or day, with the share read from cache."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, case, func, select
from sqlalchemy.orm import Session

from memory.bots import Bot
from memory.database import now
from memory.people import Person
from memory.places import Place
from memory.turns import Step

MICRO = 1_000_000
GROUPS = ("day", "bot", "place", "person", "tag")


@dataclass(frozen=True)
class Span:
    """Whose usage, since when; `person_id` limits it to one person's."""

    team_id: str
    since: datetime
    person_id: str | None = None


def usage(session: Session, span: Span, by: str) -> list[dict[str, Any]]:
    """Rows {group, calls, tokens…, cost, cache_share}, the costliest first (days in order)."""
    group = _group(session, by)
    rows = session.execute(
        select(
            group.label("key"),
            func.count().label("calls"),
            func.sum(Step.input_tokens).label("input_tokens"),
            func.sum(Step.output_tokens).label("output_tokens"),
            func.sum(Step.cache_read_tokens).label("cache_read_tokens"),
            func.sum(Step.cache_write_5m_tokens).label("cache_write_5m_tokens"),
            func.sum(Step.cache_write_1h_tokens).label("cache_write_1h_tokens"),
            func.sum(func.coalesce(Step.cost, 0)).label("cost"),
            func.sum(case((Step.missed.is_not(None), 1), else_=0)).label("missed"),
        )
        .where(*_of(span))
        .group_by(group)
    ).all()
    names = _names(session, by, [row.key for row in rows])
    found = [_row(row, names.get(row.key, row.key or "-")) for row in rows]
    return sorted(found, key=lambda row: row["group"] if by == "day" else (-row["cost"], row["group"]))


def misses(session: Session, span: Span) -> list[dict[str, Any]]:
    """Cache misses that nobody planned: which section changed, how often, when last."""
    rows = session.execute(
        select(Step.missed, func.count(), func.max(Step.created_at))
        .where(*_of(span), Step.missed.is_not(None))
        .group_by(Step.missed)
        .order_by(Step.missed)
    ).all()
    return [{"section": section, "count": count, "last": last.isoformat()} for section, count, last in rows]


def span_of(team_id: str, days: int, person_id: str | None = None) -> Span:
    """The last so many days."""
    return Span(team_id, now() - timedelta(days=days), person_id)


def _of(span: Span) -> list[ColumnElement[bool]]:
    conditions = [Step.team_id == span.team_id, Step.created_at >= span.since]
    return [*conditions, Step.person_id == span.person_id] if span.person_id else conditions


def _group(session: Session, by: str) -> Any:
    if by != "day":
        return {"bot": Step.bot_id, "place": Step.place_id, "person": Step.person_id, "tag": Step.tag}[by]
    if session.get_bind().dialect.name == "sqlite":
        return func.strftime("%Y-%m-%d", Step.created_at)
    return func.to_char(func.timezone("UTC", Step.created_at), "YYYY-MM-DD")


def _names(session: Session, by: str, keys: list[str | None]) -> dict[str | None, str]:
    tables: dict[str, Any] = {"bot": Bot, "place": Place, "person": Person}
    table = tables.get(by)
    if table is None:
        return {}
    rows = session.execute(select(table.id, table.name).where(table.id.in_([key for key in keys if key])))
    return {row.id: row.name for row in rows}


def _row(row: Any, name: str) -> dict[str, Any]:
    read, written = int(row.cache_read_tokens), int(row.cache_write_5m_tokens + row.cache_write_1h_tokens)
    prompt = int(row.input_tokens) + read + written
    return {
        "group": name,
        "calls": int(row.calls),
        "input_tokens": int(row.input_tokens),
        "output_tokens": int(row.output_tokens),
        "cache_read_tokens": read,
        "cache_write_5m_tokens": int(row.cache_write_5m_tokens),
        "cache_write_1h_tokens": int(row.cache_write_1h_tokens),
        "cost": round(int(row.cost) / MICRO, 6),
        "cache_share": round(read / prompt, 3) if prompt else 0.0,
        "unplanned_misses": int(row.missed),
    }
