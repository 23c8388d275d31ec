"""Requests that are no turns, and JSON out of words."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.bodies import asking_for_json, json_only, warming
from bot.model import texts
from tests.contracts import assert_valid_request

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def said(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]


def test_warming_and_asking_work_on_plain_text_as_well() -> None:
    body = {"model": "m", "max_tokens": 9, "system": "S", "messages": [{"role": "user", "content": "Hello"}]}

    warm, asking = warming(body), asking_for_json({**body, "system": None}, {"type": "object"})

    assert warm["messages"] == [{"role": "user", "content": [*said("Hello"), *said("warmup")]}]
    assert "output_config" not in warm
    assert [block["type"] for block in asking["system"]] == ["text"]
    for request in (warm, asking):
        assert_valid_request(request)
    assert body["messages"] == [{"role": "user", "content": "Hello"}], "what was given is not changed"


@given(
    st.dictionaries(st.text(), VALUES),
    st.sampled_from(["", "Here you are: ", "```json\n", "1. I think {so}\n"]),
)
def test_an_object_is_found_whatever_stands_around_it(value: dict[str, object], before: str) -> None:
    found = texts(json_only(said(f"{before}{json.dumps(value)}\n```\nDone.")))

    assert json.loads(found) == value


def test_a_list_is_found_where_there_is_no_object() -> None:
    assert texts(json_only(said("I found these: [1, 2] and no more."))) == "[1, 2]"


def test_thinking_is_left_out_and_calls_stay() -> None:
    call = {"type": "tool_use", "id": "a", "name": "x", "input": {}}
    thought = {"type": "thinking", "thinking": "{}", "signature": ""}

    assert json_only([thought, *said('{"a": 1}'), call]) == [*said('{"a": 1}'), call]


@given(st.text())
def test_any_text_is_survived(text: str) -> None:
    content = json_only(said(text))

    assert content == said(text) or json.loads(texts(content)) is not None


@pytest.mark.parametrize("hostile", ["{" * 200_000, "[" * 200_000, '{"a":' * 40_000, '[{"' * 60_000])
def test_hostile_nesting_is_given_up_on(hostile: str) -> None:
    assert json_only(said(hostile)) == said(hostile)
