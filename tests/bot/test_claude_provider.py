"""What Claude itself offers beyond the portable profile, and the plain way on other servers."""

import json
from typing import Any

import httpx2
import pytest

from bot.claude import capabilities
from bot.errors import ModelOverloaded
from bot.model import Capabilities, Model, Usage, texts
from tests.bot.asking import MARK, body, elsewhere, on_claude, settings
from tests.contracts import assert_valid_request
from tests.stand_ins import streams
from tests.stand_ins.streams import Server, failed, streamed

SCHEMA = {
    "type": "object",
    "properties": {"facts": {"type": "array", "items": {"type": "string"}, "minItems": 2}},
    "required": ["facts"],
}


def test_claude_is_a_model() -> None:
    model: Model = on_claude(Server(streamed(streams.stream())))

    assert model.capabilities.prewarm


def test_capabilities_come_from_the_settings() -> None:
    whole = capabilities(settings(anthropic_api_key="key"))

    assert whole == Capabilities(True, True, True, True, True, window=1_000_000)
    assert capabilities(settings(anthropic_api_key="key", model="claude-haiku-4-5")).window == 200_000
    assert capabilities(settings(anthropic_base_url="http://localhost:8080")) == Capabilities()


async def test_the_key_goes_to_the_server_that_was_named_and_no_other_key_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "of-this-machine")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://example.com")
    one, other = Server(streamed(streams.stream())), Server(streamed(streams.stream()))

    await on_claude(one).respond(body())
    await elsewhere(other).respond(body())

    assert one.headers[0]["host"] == "api.anthropic.com"
    assert one.headers[0]["authorization"] == "Bearer key"
    assert other.headers[0]["host"] == "localhost:8080"
    assert "of-this-machine" not in str(other.headers[0])
    assert "anthropic-beta" not in other.headers[0]


async def test_what_was_read_from_and_written_to_the_cache_is_counted() -> None:
    used = streams.usage(
        input_tokens=12,
        cache_read_input_tokens=40_000,
        cache_creation_input_tokens=900,
        cache_creation={"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 800},
    )
    server = Server(streamed(streams.stream(streams.text(0, "Tues", "day"), usage=used)))

    response = await on_claude(server).respond(body())

    assert response.usage == Usage(12, 7, 40_000, 100, 800)
    assert response.usage.prompt_tokens == 40_912
    assert (response.id, response.model) == ("msg_1", "claude-sonnet-5-5")


async def test_writes_that_are_not_told_apart_count_as_the_dearer_ones() -> None:
    used = streams.usage(cache_creation_input_tokens=900)

    response = await on_claude(Server(streamed(streams.stream(usage=used)))).respond(body())

    assert response.usage.cache_write_1h_tokens == 900


@pytest.mark.parametrize(
    ("diagnostics", "missed"),
    [
        (None, None),
        ({"cache_miss_reason": None}, None),
        ({"cache_miss_reason": {"type": "tools_changed", "cache_missed_input_tokens": 5}}, "tools"),
        ({"cache_miss_reason": {"type": "messages_changed", "cache_missed_input_tokens": 5}}, "messages"),
        ({"cache_miss_reason": {"type": "previous_message_not_found"}}, None),
    ],
)
async def test_the_part_that_made_the_cache_miss_is_named(diagnostics: Any, missed: str | None) -> None:
    server = Server(streamed(streams.stream(diagnostics=diagnostics)))

    response = await on_claude(server).respond(body(diagnostics={"previous_message_id": "msg_0"}))

    assert response.missed == missed
    assert server.sent[0]["diagnostics"] == {"previous_message_id": "msg_0"}
    assert_valid_request(server.sent[0])


async def test_prewarm_asks_for_nothing_and_keeps_all_that_the_cache_depends_on() -> None:
    answer = streams.message(
        stop="max_tokens", usage=streams.usage(output_tokens=0, cache_read_input_tokens=9)
    )
    server = Server(httpx2.Response(200, json=answer))
    form = {"type": "json_schema", "schema": {"type": "object"}}
    given = body(output_config={"effort": "low", "format": form}, tool_choice={"type": "any"})

    response = await on_claude(server).prewarm(given)

    assert response is not None
    assert (response.usage.cache_read_tokens, response.content) == (9, [])
    (sent,) = server.sent
    assert_valid_request(sent)
    assert sent["max_tokens"] == 0
    assert "stream" not in sent
    assert "tool_choice" not in sent
    assert sent["output_config"] == {"effort": "low"}
    assert sent["system"] == given["system"]
    before = given["messages"][0]["content"]
    assert sent["messages"][0]["content"] == [*before, {"type": "text", "text": "warmup"}]


async def test_prewarm_after_an_answer_stands_in_a_message_of_its_own() -> None:
    server = Server(httpx2.Response(200, json=streams.message(stop="max_tokens")))
    history = [
        *body()["messages"],
        {"role": "assistant", "content": [{"type": "text", "text": "Tuesday", **MARK}]},
    ]

    await on_claude(server).prewarm(body(messages=history))

    assert server.sent[0]["messages"] == [
        *history,
        {"role": "user", "content": [{"type": "text", "text": "warmup"}]},
    ]


async def test_prewarm_is_tried_once_and_elsewhere_not_at_all() -> None:
    server = Server(failed(529, "overloaded_error"))

    with pytest.raises(ModelOverloaded):
        await on_claude(server).prewarm(body())
    assert await elsewhere(server).prewarm(body()) is None
    assert len(server.sent) == 1


async def test_claude_promises_the_form_of_an_answer() -> None:
    server = Server(streamed(streams.stream(streams.text(0, '{"facts": [', '"Tuesday"]}'))))

    response = await on_claude(server).structured(body(output_config={"effort": "low"}), SCHEMA)

    assert json.loads(texts(response.content)) == {"facts": ["Tuesday"]}
    (sent,) = server.sent
    assert_valid_request(sent)
    assert sent["output_config"]["effort"] == "low"
    form = sent["output_config"]["format"]
    assert form["type"] == "json_schema"
    assert form["schema"]["additionalProperties"] is False
    assert "minItems" not in form["schema"]["properties"]["facts"], "the provider refuses limits"


@pytest.mark.parametrize(
    "said",
    [
        '{"facts": ["Tuesday"]}',
        'Sure! Here it is:\n```json\n{"facts": ["Tuesday"]}\n```\nAnything else?',
        '<think>Maybe {"facts": []} or {broken</think> {"facts": ["Tuesday"]}',
    ],
)
async def test_other_servers_are_asked_for_json_in_words(said: str) -> None:
    server = Server(streamed(streams.stream(streams.text(0, said))))

    response = await elsewhere(server).structured(body(), SCHEMA)

    assert json.loads(texts(response.content)) == {"facts": ["Tuesday"]}
    (sent,) = server.sent
    assert_valid_request(sent)
    assert "output_config" not in sent
    assert sent["system"][0] == body()["system"][0], "what is cached stays in front"
    assert '"facts"' in sent["system"][1]["text"]
    assert sent["messages"] == body()["messages"]


async def test_an_answer_without_json_stays_as_it_is() -> None:
    server = Server(streamed(streams.stream(streams.text(0, "I would rather not."))))

    response = await elsewhere(server).structured(body(system="Plain."), SCHEMA)

    assert texts(response.content) == "I would rather not."
    assert server.sent[0]["system"][0] == {"type": "text", "text": "Plain."}


def test_the_worst_cost_counts_all_as_written_and_all_output_as_used() -> None:
    model = on_claude(Server(streamed(streams.stream())))
    long = body(messages=[{"role": "user", "content": "deploy on Tuesday " * 4_000}], max_tokens=1_000)

    worst = model.worst_cost(long)

    assert worst > model.cost("claude-sonnet-5-5", Usage(cache_write_1h_tokens=18_000, output_tokens=1_000))
    assert model.worst_cost({**long, "model": "qwen"}) == 0
