"""Whatever a history holds, repairing it gives a valid request, and always the same one."""

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.repair import INTERRUPTED, repair
from memory.words import canonical
from tests.bot.histories import (
    Block,
    Message,
    assert_valid,
    assistant,
    call,
    flat,
    result,
    text,
    thought,
    user,
)
from tests.contracts import assert_valid_order

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
