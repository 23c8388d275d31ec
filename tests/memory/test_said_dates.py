"""Dates: what "tomorrow" was when it was said, and which dates can be meant."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import said_dates
from memory.own_words import folded
from memory.said_dates import When, can_be_meant, is_relative, parse, said_days, zone

AT = datetime(2026, 11, 19, 15, 30, tzinfo=UTC)
TOKYO = zone("Asia/Tokyo")
BERLIN = zone("Europe/Berlin")


def meant(since: str, said: str, *, at: datetime = AT, here: str = "Asia/Tokyo") -> bool:
    when = parse(since, zone(here))
    assert when is not None
    return can_be_meant(when, folded(said), at, zone(here))


@pytest.mark.parametrize(
    ("said", "days"),
    [
        ("demo is tomorrow at 9", {21}),
        ("the day after tomorrow", {22}),
        ("yesterday and today", {19, 20}),
        ("morgen um neun", {21}),
        ("übermorgen", {22}),
        ("jeden Morgen", set()),
        ("demain matin", {21}),
        ("après-demain", {22}),
        ("mañana a las 9", {21}),
        ("por la mañana", set()),
        ("pasado mañana", {22}),
        ("明日9時から", {21}),
        ("明後日です", {22}),
        ("昨日の会議", {19}),
        ("غدا الساعة", {21}),
        ("بعد غد", {22}),
        ("डेमो कल है", {19, 21}),
        ("कलम", set()),
        ("yarın saat 9'da", {21}),
        ("öbür gün", {22}),
        ("dün bitti", {19}),
        ("we deploy on Tuesdays", set()),
    ],
)
def test_words_for_days_are_counted_in_the_speakers_zone(said: str, days: set[int]) -> None:
    assert said_days(folded(said), AT, TOKYO) == {date(2026, 11, day) for day in days}


def test_tomorrow_at_nine_in_tokyo_is_the_day_after_tomorrow_in_utc_terms() -> None:
    when = parse("2026-11-21T09:00", TOKYO)
    assert when == When(
        datetime(2026, 11, 21, 0, 0, tzinfo=UTC),
        datetime(2026, 11, 21, 0, 0, tzinfo=UTC),
        date(2026, 11, 21),
        exact=True,
        hour=9,
    )
    assert meant("2026-11-21T09:00", "demo is tomorrow at 9")
    assert not meant("2026-11-20T09:00", "demo is tomorrow at 9")
    assert not meant("2026-11-21T15:00", "demo is tomorrow at 9")
    assert meant("2026-11-21T21:00", "demo is tomorrow at 9 pm")
    assert not meant("2026-11", "demo is tomorrow at 9")


def test_an_offset_that_is_given_counts() -> None:
    when = parse("2026-11-20T09:00Z", TOKYO)
    assert when is not None
    assert (when.start, when.day, when.hour) == (
        datetime(2026, 11, 20, 9, 0, tzinfo=UTC),
        date(2026, 11, 20),
        18,
    )
    later = parse("2026-11-21T01:00+02:00", TOKYO)
    assert later is not None
    assert later.start == datetime(2026, 11, 20, 23, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2026", "2025-12-31T23:00", "2026-12-31T22:59:59"),
        ("2026-02", "2026-01-31T23:00", "2026-02-28T22:59:59"),
        ("2026-07-01", "2026-06-30T22:00", "2026-07-01T21:59:59"),
        ("2026-07-01 14:30", "2026-07-01T12:30", "2026-07-01T12:30"),
    ],
)
def test_a_date_lasts_as_long_as_it_is_vague(text: str, start: str, end: str) -> None:
    when = parse(text, BERLIN)
    assert when is not None
    assert when.start == datetime.fromisoformat(start).replace(tzinfo=UTC)
    assert when.end == datetime.fromisoformat(end).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "text", ["spring", "2026-02-30", "2026-13", "21.11.2026", "2026-11-21T25:00", "0000-01-01", "now"]
)
def test_what_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whatever the calendar says
        parse(text, TOKYO)


def test_no_date_is_no_date() -> None:
    assert parse("  ", TOKYO) is None


@pytest.mark.parametrize(
    ("since", "said", "fits"),
    [
        ("2026-11-20", "the audit is on Friday", True),
        ("2026-11-21", "the audit is on Friday", False),
        ("2026-12-25", "the audit is on Friday", False),
        ("2026-11-24", "every Tuesday", True),
        ("2026-11-25", "we deploy on Tuesdays", True),
        ("2026-12-01", "next month we move", True),
        ("2031-12-01", "next month we move", False),
        ("2031-12-01", "next month we decide on the plan for 2031", True),
        ("1990-05-03", "I was born on 3 May 1990", True),
        ("1790-05-03", "the house was built long ago", False),
        ("2126-01-01", "in the year 2126", False),
        ("2026-12-24", "today we fixed the launch for 2026-12-24", True),
        ("2026-12-24", "freitag der 24.12.", True),
    ],
)
def test_a_date_fits_what_was_said(since: str, said: str, fits: bool) -> None:
    assert meant(since, said) == fits


@pytest.mark.parametrize(
    "text",
    [
        "The demo is tomorrow.",
        "The team moves next week.",
        "In two weeks the lease ends.",
        "Three days ago it broke.",
        "Ada is currently in Lisbon.",
        "Nächste Woche ist Inventur.",
        "In 3 Tagen ist Abgabe.",
        "La semaine prochaine",
        "la semana que viene",
        "来週の会議",
        "الأسبوع القادم",
        "अगले हफ्ते",
        "haftaya taşınıyoruz",
        "कल बैठक है",
    ],
)
def test_words_that_mean_another_day_later_are_seen(text: str) -> None:
    assert is_relative(text)


@pytest.mark.parametrize(
    "text",
    [
        "The demo is on 2026-11-21.",
        "The team deploys on Tuesdays.",
        "Every morning the backup runs.",
        "Jeden Morgen läuft das Backup.",
        "Los backups corren por la mañana.",
        "The soonest date is fixed.",
        "定例会議は火曜です。",
        "कलम मेज़ पर है।",
    ],
)
def test_other_words_are_not(text: str) -> None:
    assert not is_relative(text)


def test_a_day_in_a_text_is_found_and_an_impossible_one_too() -> None:
    assert said_dates.holds_day("said on 2026-11-20", date(2026, 11, 20))
    assert not said_dates.holds_day("said on 2026-11-21", date(2026, 11, 20))
    assert said_dates.holds_impossible_day("on 2026-02-30")
    assert not said_dates.holds_impossible_day("on 2026-02-28")


@pytest.mark.parametrize("name", ["", "Nowhere/City", "../etc/passwd", "\x00"])
def test_an_unknown_zone_is_utc(name: str) -> None:
    assert zone(name).key == "UTC"


@given(st.text(max_size=200), st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1)))  # noqa: DTZ001 - made aware below
def test_any_words_are_read(said: str, at: datetime) -> None:
    days = said_days(folded(said), at.replace(tzinfo=UTC), TOKYO)
    assert all(abs((day - at.date()).days) <= 3 for day in days)
    assert is_relative(said) in (True, False)


@given(st.text(max_size=30))
def test_any_date_is_read_or_refused(text: str) -> None:
    try:
        when = parse(text, TOKYO)
    except (ValueError, OverflowError):
        return
    assert when is None or when.start <= when.end


@given(st.dates(date(1990, 1, 1), date(2100, 1, 1)), st.sampled_from(["Asia/Tokyo", "America/Bogota", "UTC"]))
def test_a_plain_day_is_that_day_in_its_zone(day: date, name: str) -> None:
    when = parse(day.isoformat(), zone(name))
    assert when is not None
    assert when.day == day
    assert when.start.astimezone(zone(name)).date() == day == when.end.astimezone(zone(name)).date()
