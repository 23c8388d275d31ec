"""Typed commands: what people type becomes a command and its arguments."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.commands.command import Argument, Caller, Command
from bot.commands.registry import COMMANDS, find, parse
from bot.commands.typed import usage
from bot.errors import BadInput, BotError, Unknown


def test_a_command_is_found_whatever_its_case_and_slash() -> None:
    assert parse("/memory show")[0].name == "memory show"
    assert parse("  /Memory   SHOW team ") == (find("memory show"), {"scope": "team"})
    assert parse("!memory show scope:mine") == (find("memory show"), {"scope": "mine"})
    assert parse("memory search when do we deploy?")[1] == {"query": "when do we deploy?"}


def test_a_text_argument_keeps_every_word_as_it_was_typed() -> None:
    text = "we deploy:\n  on  Tuesdays, share of team: 3"
    assert parse(f"/memory add {text}")[1] == {"text": text}
    assert parse('/memory search "half')[1] == {"query": '"half'}
    assert parse("/memory search don't ship AND c++ (core")[1] == {"query": "don't ship AND c++ (core"}


@pytest.mark.parametrize(
    "typed",
    [
        "share:team We deploy on Tuesdays",
        "--share=team We deploy on Tuesdays",
        "We deploy on Tuesdays share:team",
        "We deploy on Tuesdays share team",
        "We deploy on Tuesdays --share team",
        "“We deploy on Tuesdays” share team",
        '"We deploy on Tuesdays" share=TEAM',
    ],
)
def test_who_may_read_it_stands_before_or_after_the_text(typed: str) -> None:
    assert parse(f"/memory add {typed}")[1] == {"share": "team", "text": "We deploy on Tuesdays"}


def test_what_is_no_choice_stays_part_of_the_text() -> None:
    assert parse("/memory add we share food")[1] == {"text": "we share food"}
    assert parse("/memory add timeshare team")[1] == {"text": "timeshare team"}


def test_an_id_may_stand_in_backticks() -> None:
    assert parse("/memory forget `abcd23ef`")[1] == {"id": "abcd23ef"}
    assert parse("/memory edit abcd23ef\nNew words")[1] == {"id": "abcd23ef", "text": "New words"}


def test_an_unknown_command_is_answered_with_those_that_are_near() -> None:
    with pytest.raises(Unknown, match=r"no command `/memory shwo`.*`/memory show`"):
        parse("/memory shwo")
    with pytest.raises(Unknown, match=r"Near it: `/help`"):
        parse("/hepl")
    with pytest.raises(Unknown, match=r"`/memory` needs one more word: show, search"):
        parse("/memory")
    with pytest.raises(Unknown, match=r"`/help` lists them"):
        parse("/frobnicate the thing")
    with pytest.raises(Unknown, match="missing after the slash"):
        parse("/")


def test_too_many_words_are_refused_with_the_usage() -> None:
    with pytest.raises(BadInput, match=r"`/memory forget ID`"):
        parse("/memory forget abcd efgh")


def test_every_command_says_how_it_is_typed_and_takes_it_back() -> None:
    for command in COMMANDS:
        assert usage(command).startswith(f"/{command.name}")
        needed = {argument.name: (argument.choices or ("word",))[0] for argument in command.arguments}
        typed = " ".join(
            f"{name}:{value}" if argument.choices and len(needed) > 1 else value
            for (name, value), argument in zip(needed.items(), command.arguments, strict=True)
        )
        assert parse(f"/{command.name} {typed}") == (command, needed)


@given(st.text())
def test_any_text_is_understood_or_answered_with_a_sentence(text: str) -> None:
    try:
        command, arguments = parse(text)
    except BotError:
        return
    assert command in COMMANDS
    assert all(arguments)


def _never(*_: object) -> None:
    raise AssertionError


def test_usage_shows_what_may_be_left_out() -> None:
    command = Command(
        "note add",
        "",
        _never,  # type: ignore[arg-type]
        (Argument("text", "", rest=True), Argument("share", "", required=False, choices=("me", "team"))),
    )
    assert usage(command) == "/note add TEXT [share:me|team]"
    assert Caller.__dataclass_fields__["thread"].default is None
