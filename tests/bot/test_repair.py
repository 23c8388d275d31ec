"""Whatever a crash left in a conversation, the next request is valid."""

from typing import Any

import pytest

from bot.repair import INTERRUPTED, NO_OUTPUT, interrupted, repair
from memory.words import canonical
from tests.bot.histories import assert_valid, assistant, call, result, text, thought, user


def test_a_call_that_a_crash_left_open_is_settled_and_its_sibling_keeps_its_result() -> None:
    history = [user(text("Ada asks")), assistant(call("a"), call("b")), user(result("a"))]

    repaired = repair([*history, user(text("continue"))])

    assert repaired[-1] == user(result("a"), interrupted("b"), text("continue"))
    assert interrupted("b")["is_error"]
    assert interrupted("b")["content"] == INTERRUPTED
    assert_valid(repaired)


def test_a_call_at_the_very_end_is_settled() -> None:
    assert repair([user(text("hi")), assistant(call("a"))])[-1] == user(interrupted("a"))


def test_a_call_followed_by_another_answer_is_settled_between_the_two() -> None:
    repaired = repair([user(text("hi")), assistant(call("a")), assistant(text("Sorry, again:"))])

    assert repaired == [
        user(text("hi")),
        assistant(call("a")),
        user(interrupted("a")),
        assistant(text("Sorry, again:")),
    ]


def test_results_come_first_in_the_order_of_their_calls() -> None:
    history = [
        user(text("hi")),
        assistant(call("a"), call("b")),
        user(text("and also this"), result("b", "second")),
        user(result("a", "first")),
    ]

    assert repair(history)[-1] == user(result("a", "first"), result("b", "second"), text("and also this"))


def test_a_result_without_its_call_is_dropped_and_leaves_no_gap() -> None:
    history = [user(text("hi")), assistant(text("one")), user(result("gone")), assistant(text("two"))]

    assert repair(history) == [user(text("hi")), assistant(text("one"), text("two"))]


def test_a_result_that_comes_too_late_is_dropped_because_its_call_was_settled() -> None:
    history = [
        user(text("hi")),
        assistant(call("a")),
        user(text("well?")),
        assistant(text("…")),
        user(result("a")),
    ]

    assert repair(history) == [
        user(text("hi")),
        assistant(call("a")),
        user(interrupted("a"), text("well?")),
        assistant(text("…")),
    ]


def test_the_second_result_of_a_call_is_dropped() -> None:
    history = [user(text("hi")), assistant(call("a")), user(result("a", "one"), result("a", "two"))]

    assert repair(history)[-1] == user(result("a", "one"))


@pytest.mark.parametrize("blank", ["", " ", "\n\n", "\t\u2003"])
def test_blank_text_never_leaves_us(blank: str) -> None:
    history = [
        user(text(blank), text("hi")),
        assistant(text(blank), call("a", "shell")),
        user(result("a", [text(blank)])),
        assistant(text(blank)),
        {"role": "user", "content": blank},
        user(text("again")),
    ]

    assert repair(history) == [
        user(text("hi")),
        assistant(call("a", "shell")),
        user(result("a", NO_OUTPUT), text("again")),
    ]


@pytest.mark.parametrize("silent", [None, "", "\n", [], [text(" ")]])
def test_a_tool_that_said_nothing_says_so(silent: Any) -> None:
    history = [user(text("mkdir x")), assistant(call("a", "shell")), user(result("a", silent))]

    assert repair(history)[-1] == user(result("a", NO_OUTPUT))


def test_an_answer_of_nothing_but_thinking_is_left_out() -> None:
    history = [
        user(text("hi")),
        assistant(thought()),
        user(text("hi?")),
        assistant(thought(), text("yes"), thought()),
    ]

    assert repair(history) == [user(text("hi"), text("hi?")), assistant(thought(), text("yes"))]


def test_thinking_stays_as_it_was_received() -> None:
    sealed = {"signature": "x" * 40, "type": "thinking", "thinking": " \n unclear "}
    hidden = {"type": "redacted_thinking", "data": "abc"}
    history = [user(text("hi")), assistant(sealed, hidden, text("yes"))]

    assert list(map(canonical, repair(history))) == list(map(canonical, history))
    assert repair(history)[1]["content"][0] is sealed


def test_blocks_that_nobody_knows_are_dropped_unless_the_server_is_known_to_take_them() -> None:
    strange = {"type": "hologram", "data": "x"}
    history = [user(text("hi"), strange), assistant(strange, text("yes")), user(call("a"), text("ok"))]

    assert repair(history) == [user(text("hi")), assistant(text("yes")), user(text("ok"))]
    assert repair(history, also=("hologram",))[1] == assistant(strange, text("yes"))


def test_a_conversation_starts_with_a_person() -> None:
    history = [assistant(text("Welcome!"), call("a")), user(result("a")), user(text("hi"))]

    assert repair(history) == [user(text("hi"))]


def test_ids_that_a_server_uses_twice_are_told_apart() -> None:
    history = [
        user(text("hi")),
        assistant(call("call_0"), call("call_0")),
        user(result("call_0", "one"), result("call_0", "two")),
        assistant(call("call_0")),
        user(result("call_0", "three")),
    ]

    repaired = repair(history)

    assert repaired[1] == assistant(call("call_0"), call("call_0_2"))
    assert repaired[2] == user(result("call_0", "one"), result("call_0_2", "two"))
    assert repaired[4] == user(result("call_0_3", "three"))
    assert_valid(repaired)


def test_a_failed_result_holds_text_only() -> None:
    picture = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
    }
    history = [
        user(text("hi")),
        assistant(call("a"), call("b")),
        user({**result("a", [picture, text("broken")]), "is_error": True}, result("b", [picture])),
    ]

    results = repair(history)[-1]["content"]

    assert results[0]["content"] == [text("broken")]
    assert results[1]["content"] == [picture]


def test_nothing_stays_nothing() -> None:
    assert repair([]) == []
    assert repair([user(), assistant(), {"role": "user"}, {"role": "user", "content": None}]) == []
