"""Whatever a crash left in a conversation, the next request is valid."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.repair import INTERRUPTED, NO_OUTPUT, interrupted, repair
from memory.words import canonical
from tests.contracts import assert_valid_order, assert_valid_request

Message = dict[str, Any]
Block = dict[str, Any]


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def call(id_: str, name: str = "memory_search") -> Block:
    return {"type": "tool_use", "id": id_, "name": name, "input": {"query": "deploy"}}


def result(id_: str, content: Any = "Tuesday") -> Block:
    return {"type": "tool_result", "tool_use_id": id_, "content": content}


def thought(words: str = "hm") -> Block:
    return {"type": "thinking", "thinking": words, "signature": "c2lnbmVk"}


def user(*blocks: Block) -> Message:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Block) -> Message:
    return {"role": "assistant", "content": list(blocks)}


def flat(messages: list[Message]) -> list[str]:
    return [canonical([message["role"], block]) for message in messages for block in message["content"]]


def assert_valid(messages: list[Message]) -> None:
    assert_valid_order(messages)
    assert_valid_request({"model": "claude-sonnet-5-5", "max_tokens": 1, "messages": messages})


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


ids = st.sampled_from(["a", "b", "c", "a_2", "toolu_1", "x y", "", "é" * 3, "z" * 200])
words = st.sampled_from(["hi", "", " ", "\n", "日本語", "deploy on Tuesday"])
parts = st.one_of(
    st.builds(text, words),
    st.just({"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}),
    st.just({"type": "image"}),
    st.just({"type": "tool_reference", "tool_name": "x"}),
)
results = st.builds(
    lambda id_, content, flags: {**result(id_, content), **flags},
    ids,
    st.one_of(words, st.none(), st.lists(parts, max_size=3), st.just({"odd": 1})),
    st.sampled_from([{}, {"is_error": True}, {"is_error": None}, {"seen": 1}]),
)
broken: st.SearchStrategy[Block] = st.sampled_from(
    [
        {"type": "text"},
        {"type": "text", "text": 7},
        {"type": "tool_use", "id": "a", "name": "save.skill", "input": '{"cut'},
        {"type": "tool_use", "input": {}},
        {"type": "thinking", "thinking": "unsigned"},
        {"type": "redacted_thinking"},
        {"type": "document", "source": None},
        {"type": "search_result", "content": []},
        {"type": "hologram"},
        {},
    ]
)
blocks = st.one_of(
    st.builds(text, words),
    st.builds(call, ids, st.sampled_from(["memory_search", "shell"])),
    results,
    st.builds(thought, words),
    st.just({"type": "redacted_thinking", "data": "xyz"}),
    parts,
    broken,
)
contents = st.one_of(words, st.lists(blocks, max_size=4), st.none(), st.just(["odd", 1]))
anything = st.lists(
    st.builds(
        lambda role, content: {"role": role, "content": content},
        st.sampled_from(["user", "assistant", "user", "assistant", "system"]),
        contents,
    ),
    max_size=10,
)


@st.composite
def dialogues(draw: st.DrawFn) -> list[Message]:
    """A talk as a conversation stores it while nothing goes wrong, one message an entry."""
    history: list[Message] = []
    number = 0
    for _ in range(draw(st.integers(1, 4))):
        history.append(user(text("Ada says something")))
        for _ in range(draw(st.integers(0, 2))):
            calls = [f"toolu_{number + index}" for index in range(draw(st.integers(1, 3)))]
            number += len(calls)
            opening = draw(st.sampled_from([[], [thought()], [thought(), text("Let me look.")]]))
            history.append(assistant(*opening, *map(call, calls)))
            history.extend([user(*map(result, calls))])
        history.append(assistant(text("Here it is.")))
    return history


@settings(max_examples=200)
@given(dialogues())
def test_a_sound_history_is_not_changed(history: list[Message]) -> None:
    assert repair(history) == history


@settings(max_examples=400)
@given(anything)
def test_whatever_is_stored_the_request_is_valid(history: list[Message]) -> None:
    repaired = repair(history)

    assert_valid_order(repaired)
    if repaired:
        assert_valid(repaired)


@settings(max_examples=400)
@given(anything)
def test_repairing_twice_changes_nothing(history: list[Message]) -> None:
    once = repair(history)

    assert list(map(canonical, repair(once))) == list(map(canonical, once))


@settings(max_examples=200)
@given(st.data())
def test_a_sound_history_with_anything_lost_or_doubled_is_valid(data: st.DataObject) -> None:
    history = data.draw(dialogues())
    places = st.integers(0, len(history) - 1)
    lost = data.draw(st.sets(places, max_size=3))
    doubled = data.draw(st.sets(places, max_size=2))
    left = [
        message
        for index, message in enumerate(history)
        for _ in range(2 if index in doubled else 1)
        if index not in lost
    ]

    assert_valid_order(repair(left))


@settings(max_examples=400)
@given(st.one_of(anything, dialogues()), st.data())
def test_what_was_sent_once_is_sent_again_the_same(history: list[Message], data: st.DataObject) -> None:
    """A longer history begins with the shorter one, at every place where no call waits for its result."""
    cut = data.draw(st.integers(0, len(history)))
    before = repair(history[:cut])
    if before and any(block.get("content") == INTERRUPTED for block in before[-1]["content"]):
        return

    assert flat(repair(history))[: len(flat(before))] == flat(before)
