"""Dates as people say them: which day "tomorrow" was, and whether a date can be the one that was meant."""

import calendar
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memory import date_words
from memory.own_words import folded

FAR_BACK = timedelta(days=150 * 366)
FAR_AHEAD = timedelta(days=20 * 366)
NEAR = timedelta(days=400)
"""How far a date that was said without a year may lie from the day on which it was said."""
WEEKDAY_NEAR = timedelta(days=14)

# Scripts without spaces between words have no edges; Devanagari's vowel signs count as letters of a word.
_UNSPACED = r"[\u3040-\u9fff\uac00-\ud7af]"
_BEGINS = rf"(?:(?<![^\W_])(?<![\u0900-\u0963])|(?<={_UNSPACED})|(?={_UNSPACED}))"
_ENDS = rf"(?:(?![^\W_]|[\u0900-\u0963])|(?<={_UNSPACED})|(?={_UNSPACED}))"


@cache
def words(spelt: str) -> re.Pattern[str]:
    """A pattern for any of these, folded, as words of their own; made when it is first needed."""
    line = re.sub(r"\s*\|\s*", "|", " ".join(spelt.split()))
    return re.compile(f"{_BEGINS}(?:{folded(line)}){_ENDS}")


_DAYS = sorted(date_words.DAYS.items(), key=lambda item: -abs(item[0]))
_MORNING = re.compile(f"(?:{folded(date_words.MORNING)}) $")
_WEEKDAYS = [f"(?:{spelt})日?" for spelt in date_words.WEEKDAYS]
_ISO = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b")
_WHEN = re.compile(
    r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})"
    r"(?:[T ](\d{1,2}):(\d{2})(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?)?)?"
)


@dataclass(frozen=True)
class When:
    """A date as the model gave it, in the speaker's zone: its first and last moment, and how exact it is."""

    start: datetime
    end: datetime
    day: date
    exact: bool
    hour: int | None = None


def zone(name: str) -> ZoneInfo:
    """A time zone; one that nobody knows counts as UTC."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


def parse(text: str, here: ZoneInfo) -> When | None:
    """`2026`, `2026-11`, `2026-11-21` or `2026-11-21T09:00` in that zone; None where nothing is said.

    Raises ValueError for what is no date.
    """
    if not text.strip():
        return None
    found = _WHEN.fullmatch(text.strip())
    if found is None:
        raise ValueError("not a date")
    year, month, day, hour, minute, offset = found.groups()
    first = date(int(year), int(month or 1), int(day or 1))
    last = first if day else _last_day(first, by_month=month is not None)
    if hour is None:
        end = _at(last, time(23, 59, 59), here)
        return When(_at(first, time(0), here), end, first, exact=day is not None)
    moment = datetime.combine(first, time(int(hour), int(minute)))
    if offset:
        moment = datetime.fromisoformat(f"{moment.isoformat()}{offset.replace('Z', '+00:00')}").astimezone(
            here
        )
    else:
        moment = moment.replace(tzinfo=here)
    utc = moment.astimezone(UTC)
    return When(utc, utc, moment.date(), exact=True, hour=moment.hour)


def said_days(said: str, at: datetime, here: ZoneInfo) -> set[date]:
    """The days that words like "tomorrow" meant in folded text, said at that moment in that zone."""
    local = at.astimezone(here).date()
    found: set[date] = set()
    for step, spelt in _DAYS:
        rest = []
        last = 0
        for match in words(spelt).finditer(said):
            if step == 1 and _MORNING.search(said[: match.start()]):
                continue
            found.add(local + timedelta(days=step))
            rest.append(said[last : match.start()])
            last = match.end()
        # Longer words first: "the day after tomorrow" holds "tomorrow".
        said = " ".join([*rest, said[last:]])
    for spelt, steps in date_words.EITHER.items():
        if words(spelt).search(said):
            found.update(local + timedelta(days=step) for step in steps)
    return found


def is_relative(text: str) -> bool:
    """Whether a text has words that mean another day whenever they are read."""
    said = folded(text)
    if _is_loose(said) or any(words(spelt).search(said) for spelt in date_words.EITHER):
        return True
    return bool(said_days(said, datetime(2026, 1, 1, tzinfo=UTC), ZoneInfo("UTC")))


def end_of_day(when: When, here: ZoneInfo) -> datetime:
    """The last second of its day."""
    return _at(when.day, time(23, 59, 59), here)


def holds_day(text: str, day: date) -> bool:
    """Whether a text names that day as `2026-11-20`."""
    return day in _iso_days(text)


def holds_impossible_day(text: str) -> bool:
    """Whether a text names a day that no calendar has."""
    return None in _iso_days(text)


def can_be_meant(when: When, said: str, at: datetime, here: ZoneInfo) -> bool:
    """Whether the date fits the folded words that it was taken from, said at that moment in that zone."""
    today = at.astimezone(here).date()
    away = when.day - today
    if not -FAR_BACK <= away <= FAR_AHEAD:
        return False
    days = said_days(said, at, here)
    if days and not holds_day(said, when.day):
        return when.exact and when.day in days and _hour_fits(when, said)
    if not re.search(r"(?<!\d)\d{4}(?!\d)", said) and _is_loose(said):
        return -NEAR <= away <= NEAR
    named = _weekdays(said)
    if (
        len(named) == 1
        and when.exact
        and not re.search(r"\d{1,2}[./ -]", said)
        and not words(date_words.EVERY).search(said)
    ):
        return (
            when.day.weekday() in named and -WEEKDAY_NEAR <= away <= WEEKDAY_NEAR and _hour_fits(when, said)
        )
    return True


def _is_loose(said: str) -> bool:
    return any(words(spelt).search(said) for spelt in date_words.LOOSE)


def _weekdays(said: str) -> set[int]:
    return {number for number, spelt in enumerate(_WEEKDAYS) if words(spelt).search(said)}


def _hour_fits(when: When, said: str) -> bool:
    """Whether a clock time is among the numbers that were said (either half of the day)."""
    if when.hour is None:
        return True
    hours = {int(number) % 12 for number in re.findall(r"\d{1,2}", said)}
    return not hours or when.hour % 12 in hours


def _iso_days(text: str) -> set[date | None]:
    found: set[date | None] = set()
    for year, month, day in _ISO.findall(text):
        try:
            found.add(date(int(year), int(month), int(day)))
        except ValueError:
            found.add(None)
    return found


def _last_day(first: date, *, by_month: bool) -> date:
    month = first.month if by_month else 12
    return date(first.year, month, calendar.monthrange(first.year, month)[1])


def _at(day: date, hour: time, here: ZoneInfo) -> datetime:
    return datetime.combine(day, hour, here).astimezone(UTC)
