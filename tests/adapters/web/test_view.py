"""What the templates are given: chips, groups, sources, answers of commands."""

from datetime import UTC, datetime, timedelta

import pytest

from adapters.web import view
from adapters.web.talk import Talk
from bot.messages import CardView, CommandResult, Line

GENERAL = Talk("ada", "#general")
DIRECT = Talk("ada", bot="teambot")
MORNING = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)


def line(who: str, minutes: int, **more: bool) -> Line:
    is_bot = who == "teambot"
    return Line(f"{who}{minutes}", who, is_bot, "words", MORNING + timedelta(minutes=minutes), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("audience", "kind", "words"),
    [
        ("team", "team", "Team"),
        ("place:#general", "place", "Only this channel"),
        ("place:#ops", "place", "Only #ops"),
        ("place:private", "place", "Only a private channel"),
        ("person:ada", "person", "Only Ada"),
        ("person:", "person", "Only one person"),
    ],
)
def test_an_audience_is_an_icon_and_words(audience: str, kind: str, words: str) -> None:
    assert view.chip(audience, GENERAL) == view.Chip(kind, words)


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ({"kind": "public", "external": False, "guests": "no"}, "Team"),
        ({"kind": "public", "external": False, "guests": "yes"}, "Only this channel"),
        ({"kind": "public", "external": False, "guests": "unknown"}, "Only this channel"),
        ({"kind": "public", "external": True, "guests": "no"}, "Only this channel"),
        ({"kind": "private", "external": False, "guests": "no"}, "Only this channel"),
        (None, "Only this channel"),
    ],
)
def test_a_channel_says_who_reads_it(place: dict[str, object] | None, words: str) -> None:
    assert view.place_chip(GENERAL, place, "Ada").words == words
    assert view.place_chip(DIRECT, place, "Ada").words == "Only Ada"


def test_lines_are_grouped_by_speaker_day_and_pause() -> None:
    lines = [
        line("Ada", 0),
        line("Ada", 2),
        line("teambot", 3),
        line("Ada", 4),
        line("Ada", 10),
        line("Ada", 11, ephemeral=True),
        line("Ada", 60 * 24 + 11),
    ]
    found = view.groups(lines)
    assert [len(group.lines) for group in found] == [2, 1, 1, 1, 1, 1]
    assert [bool(group.day) for group in found] == [True, False, False, False, False, True]
    assert view.groups([]) == []


def test_a_day_is_told_in_words_of_no_locale() -> None:
    assert view.day(datetime(2026, 3, 3, 12, tzinfo=UTC)) == "Tuesday, 3 March 2026"


@pytest.mark.parametrize(
    ("link", "address"),
    [
        ("/in/general#x1", "/as/ada/in/general?m=x1#m-x1"),
        ("/in/dm#x-1", "/as/ada/with/teambot?m=x-1#m-x-1"),
        ("https://team.example.test/p1", "https://team.example.test/p1"),
        ("javascript:alert(1)", None),
        ("/in/general", None),
        ("/in/a/b#x1", None),
        ('/in/general#x"y', None),
        ("//example.test/in/general#x", None),
        ("", None),
    ],
)
def test_a_link_leads_to_its_message(link: str, address: str | None) -> None:
    assert view.href(link, DIRECT) == address


def test_a_source_tells_what_is_known_of_it() -> None:
    found = view.source(
        {"quote": "we deploy", "author": "Ada", "created_at": "2026-03-03T12:00:00+00:00"}, GENERAL
    )
    assert found == view.Source("we deploy", "Ada · Tuesday, 3 March 2026", None)
    assert view.source({"label": "Ada, 2026-03-03", "link": "/in/general#x1"}, GENERAL) == view.Source(
        "", "Ada, 2026-03-03", "/as/ada/in/general?m=x1#m-x1"
    )
    assert view.source({"on": "last week"}, GENERAL).about == "last week"


def test_sources_that_cannot_be_opened_are_left_out_beside_others() -> None:
    known, vague = {"label": "Ada, 3 March", "link": "/in/general#x1"}, {"label": "teambot, 3 March"}
    assert [one.about for one in view.sources([vague, known], GENERAL, "")] == ["Ada, 3 March"]
    assert [one.about for one in view.sources([vague], GENERAL, "")] == ["teambot, 3 March"]
    assert view.sources([{}], GENERAL, "") == []


def test_a_source_that_the_answer_links_to_is_not_repeated() -> None:
    known = {"label": "Ada, 3 March", "link": "/in/general#x1"}
    assert view.sources([known], GENERAL, "“we deploy” [/in/general#x1]") == []


def test_rows_that_a_command_lists_become_rows_with_buttons() -> None:
    row = {"id": "abc", "text": "We deploy", "audience": "team", "author": "Ada", "origin": "pass"}
    listed = CommandResult(
        "What I remember:\n• “We deploy” (the team) `abc`\n• “other” `zzz`\nWhy: …", rows=(row,)
    )
    words, rows = view.answered(listed, GENERAL)
    assert words == "What I remember:\n• “other” `zzz`\nWhy: …"
    assert [(one.id, one.about) for one in rows] == [("abc", "learnt from talk · by Ada")]
    told = CommandResult("Saved: We deploy", rows=(row, {"setting": "x"}))
    assert view.answered(told, GENERAL) == ("Saved: We deploy", [])


def test_what_a_card_says_is_not_said_twice() -> None:
    card = CardView("c1", "Forget for good: “We deploy”", "you", "forget")
    twice = CommandResult(f"{card.text}\nRead by: you.", cards=(card,))
    assert view.answered(twice, GENERAL) == ("", [])
    once = CommandResult("This would be read by everyone.", cards=(card,))
    assert view.answered(once, GENERAL) == ("This would be read by everyone.", [])


def test_things_to_try_need_people_a_public_channel_and_a_bot() -> None:
    people = [{"id": "ada", "name": "Ada", "is_guest": False}]
    places, bots = [{"name": "#general", "kind": "public"}], [{"name": "teambot"}]
    assert len(view.tries(people, places, bots)) == 3
    assert (
        view.tries([], places, bots) == view.tries(people, [], bots) == view.tries(people, places, []) == []
    )


def test_becoming_somebody_else_lands_where_they_may_be() -> None:
    ben, guest = {"id": "ben", "is_guest": False}, {"id": "eli", "is_guest": True}
    team, place = view.Chip("team", "Team"), view.Chip("place", "Only this channel")
    assert view.path_as(ben, GENERAL, team) == "/as/ben/in/general"
    assert view.path_as(ben, GENERAL, place) == "/as/ben"
    assert view.path_as(guest, GENERAL, team) == "/as/eli"
    assert view.path_as(ben, DIRECT, place) == "/as/ben/with/teambot"
