"""What the memory pass asks, and how an answer is read."""

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.bodies import json_only
from bot.pass_request import (
    EXTRACTION_INSTRUCTIONS,
    FIELDS,
    INSTRUCTIONS,
    MOST_FAILURES,
    PASS_SCHEMA,
    parse,
    request,
)
from memory.proposals import Proposal
from tests.exchange import PLAIN

GOOD: dict[str, Any] = {**PLAIN, "quote": "We deploy on Tuesdays", "text": "The team deploys on Tuesdays."}
READ = [Proposal(**GOOD)]


def test_the_schema_is_flat_closed_and_without_optional_fields() -> None:
    jsonschema.Draft202012Validator.check_schema(PASS_SCHEMA)
    item = PASS_SCHEMA["properties"]["memories"]["items"]
    assert item["additionalProperties"] is False
    assert PASS_SCHEMA["additionalProperties"] is False
    assert sorted(item["required"]) == sorted(FIELDS)
    assert all(field["type"] in ("string", "integer", "boolean") for field in FIELDS.values())
    jsonschema.validate({"memories": [GOOD]}, PASS_SCHEMA)
    assert "rule" not in FIELDS["kind"]["enum"]


def test_every_field_is_explained_to_the_model() -> None:
    assert all(f"`{name}`" in INSTRUCTIONS for name in FIELDS)
    assert EXTRACTION_INSTRUCTIONS.startswith(INSTRUCTIONS)


def test_a_request_is_a_frozen_text_and_one_json_message() -> None:
    body = request("small", {"messages": [{"text": "half \ud83d, NUL \x00"}]})
    assert body["system"][0]["text"] == INSTRUCTIONS
    assert json.loads(body["messages"][0]["content"][0]["text"]) == {
        "messages": [{"text": "half \ufffd, NUL "}]
    }
    assert "output_config" not in body
    json.dumps(body).encode("utf-8")


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"memories": [GOOD]}),
        json.dumps([GOOD]),
        f"Here you are:\n```json\n{json.dumps({'memories': [GOOD]})}\n```\nAnything else?",
        f"I think {{maybe}} [this]: {json.dumps({'memories': [GOOD]})}",
        json.dumps({"memories": [GOOD, GOOD]})[:-5],
        json.dumps({"memories": [{**GOOD, "extra": 1}, 7, None, "x", {}, [], {**GOOD, "message": "1"}]}),
        json.dumps({"memories": [GOOD, {**GOOD, "certain": 1}, {**GOOD, "importance": True}]}),
    ],
)
def test_what_is_whole_in_an_answer_is_read(text: str) -> None:
    assert parse(text) == READ


def test_missing_details_have_careful_defaults() -> None:
    few = {name: GOOD[name] for name in ("message", "quote", "text", "speech_act")}
    assert parse(json.dumps({"memories": [few]})) == READ


@pytest.mark.parametrize("name", ["message", "quote", "text", "speech_act"])
def test_without_evidence_there_is_no_proposal(name: str) -> None:
    rest = {key: value for key, value in GOOD.items() if key != name}
    assert parse(json.dumps({"memories": [rest]})) == []


@pytest.mark.parametrize(
    "text", ["", "no", "null", "{}", '{"memories": {}}', '{"memories": [[]]}', "[1, 2]", "NaN"]
)
def test_what_is_nothing_is_nothing(text: str) -> None:
    assert parse(text) == []


def test_half_a_character_becomes_a_whole_one() -> None:
    [found] = parse(json.dumps({"memories": [{**GOOD, "text": "ship it \ud83d\ude80 \ud83d"}]}))
    found.text.encode("utf-8", "surrogatepass")
    assert found.text.startswith("ship it 🚀")


def test_an_answer_of_a_server_without_formats_is_read_the_same() -> None:
    content = json_only([{"type": "text", "text": f"Well.\n{json.dumps({'memories': [GOOD]})}"}])
    assert parse(content[0]["text"]) == READ


@given(
    st.text(max_size=200)
    | st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from([*FIELDS, "memories"]), inner, max_size=4)
        ),
        max_leaves=20,
    ).map(json.dumps)
)
def test_any_answer_is_read(text: str) -> None:
    assert all(isinstance(found, Proposal) for found in parse(text))


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", ["{", "[", '{"a":', '[{"quote":', "[[", '{"memories":[', "\\", '"'])
def test_hostile_answers_are_read_to_their_end(piece: str) -> None:
    assert parse(piece * 100_000) == []
    assert MOST_FAILURES < 1_000
