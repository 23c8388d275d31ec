"""What Claude itself offers beyond the portable profile, and what odd servers say."""

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from bot.claude import Claude, capabilities
from bot.errors import (
    ModelBroken,
    ModelError,
    ModelOverloaded,
    ModelSpendLimit,
    ModelUnknown,
    ModelUnreachable,
)
from bot.model import Capabilities, Model, Usage, texts
from bot.settings import Settings
from tests.contracts import assert_valid_request
from tests.stand_ins import streams
from tests.stand_ins.streams import Server, failed, streamed

Body = dict[str, Any]
MARK = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
SCHEMA = {
    "type": "object",
    "properties": {"facts": {"type": "array", "items": {"type": "string"}, "minItems": 2}},
    "required": ["facts"],
}


def settings(**fields: Any) -> Settings:
    return Settings(Path("unused"), "sqlite://", **fields)


def on_claude(server: Server, **fields: Any) -> Claude:
    return Claude(settings(anthropic_api_key="key", **fields), http_client=server.client())


def elsewhere(server: Server) -> Claude:
    return Claude(settings(anthropic_base_url="http://localhost:8080"), http_client=server.client())


def body(**fields: Any) -> Body:
    content = [{"type": "text", "text": "head", **MARK}, {"type": "text", "text": "When do we deploy?"}]
    return {
        "model": "claude-sonnet-5-5",
        "max_tokens": 500,
        "system": [{"type": "text", "text": "You are teambot.", **MARK}],
        "messages": [{"role": "user", "content": content}],
        **fields,
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


@pytest.mark.parametrize(
    "arguments",
    ['{"query": "dep', '["deploy"]', '{"query": "a"} more', '"deploy"', '{"n": NaN}', '{"n": 1e999}'],
)
async def test_a_call_whose_arguments_are_no_object_is_never_whole(arguments: str) -> None:
    blocks = streams.text(0, "Looking."), streams.call(1, "toolu_1", "memory_search", arguments)
    server = Server(streamed(streams.stream(*blocks, stop="tool_use")))

    response = await elsewhere(server).respond(body())

    assert (response.cut, response.stop_reason) == (True, "max_tokens")
    assert response.content == [{"type": "text", "text": "Looking."}]


async def test_arguments_that_are_no_json_at_all_break_the_answer() -> None:
    broken = streams.stream(streams.call(0, "toolu_1", "memory_search", '{"query": }'), stop="tool_use")

    with pytest.raises(ModelBroken):
        await elsewhere(Server(streamed(broken))).respond(body())


async def test_calls_and_stop_reason_fit_together_whatever_the_server_says() -> None:
    called = streams.stream(streams.call(0, "toolu_1", "memory_search", "{}"), stop="end_turn")
    uncalled = streams.stream(streams.text(0, "No."), stop="tool_use")
    server = Server(streamed(called), streamed(uncalled))
    model = elsewhere(server)

    assert (await model.respond(body())).stop_reason == "tool_use"
    assert (await model.respond(body())).stop_reason == "end_turn"


async def test_fields_that_this_sdk_does_not_know_come_back_unchanged() -> None:
    block = {"type": "hologram", "depth": {"z": 1}, "name": None}
    start = {"type": "content_block_start", "index": 0, "content_block": block}
    whole = streams.stream().split(b"event: message_delta")
    odd = (
        whole[0]
        + streams.raw([start, {"type": "content_block_stop", "index": 0}])
        + b"event: message_delta"
        + whole[1]
    )

    response = await elsewhere(Server(streamed(odd))).respond(body())

    assert response.content == [block]


@pytest.mark.parametrize(
    ("error", "meaning"),
    [
        (failed(429, "rate_limit_error", code="enforced_spend_limit_reached"), ModelSpendLimit),
        (
            failed(400, "invalid_request_error", "You have reached your specified API usage limits."),
            ModelSpendLimit,
        ),
        (failed(402, "billing_error"), ModelSpendLimit),
        (failed(404, "not_found_error", "model: claude-sonnet-9"), ModelUnknown),
        (httpx2.Response(404, text="404 page not found"), ModelUnreachable),
        (httpx2.Response(200, html="<title>Welcome</title>"), ModelUnreachable),
    ],
)
async def test_what_only_the_owner_can_mend_is_told_at_once(
    error: httpx2.Response, meaning: type[ModelError]
) -> None:
    server = Server(error)

    with pytest.raises(meaning, match="Your message is kept"):
        await elsewhere(server).respond(body())
    assert len(server.sent) == 1


@pytest.mark.parametrize(
    ("kind", "meaning"),
    [
        ("overloaded_error", ModelOverloaded),
        ("api_error", ModelOverloaded),
        ("rate_limit_error", ModelOverloaded),
    ],
)
async def test_an_error_in_mid_stream_is_told_by_its_type(kind: str, meaning: type[ModelError]) -> None:
    begun = streams.stream(streams.text(0, "On")).split(b"event: message_delta")[0]
    error = streams.raw([{"type": "error", "error": {"type": kind, "message": kind}}])
    seen: list[str] = []

    with pytest.raises(meaning) as raised:
        await on_claude(Server(streamed(begun + error))).respond(body(), seen.append)

    assert seen == ["On"]
    assert raised.value.detail == f"200 {kind}"


@pytest.mark.parametrize("end", ["event: message_start", "event: message_delta", "event: message_stop"])
async def test_a_stream_that_just_ends_is_never_taken_for_an_answer(end: str) -> None:
    begun = streams.stream(streams.text(0, "On")).split(end.encode())[0]

    with pytest.raises(ModelBroken):
        await on_claude(Server(streamed(begun))).respond(body())


async def test_a_server_may_forbid_another_try() -> None:
    server = Server(failed(500, "api_error", **{"x-should-retry": "false"}))

    with pytest.raises(ModelOverloaded):
        await on_claude(server).respond(body())
    assert len(server.sent) == 1


async def test_half_an_emoji_in_each_of_two_pieces_is_one_emoji() -> None:
    server = Server(streamed(streams.stream(streams.text(0, "ok \ud83d", "\ude00"))))
    seen: list[str] = []

    response = await on_claude(server).respond(body(), seen.append)

    assert texts(response.content) == seen[-1] == "ok 😀"
    assert seen[0].encode()


def test_the_worst_cost_counts_all_as_written_and_all_output_as_used() -> None:
    model = on_claude(Server(streamed(streams.stream())))
    long = body(messages=[{"role": "user", "content": "deploy on Tuesday " * 4_000}], max_tokens=1_000)

    worst = model.worst_cost(long)

    assert worst > model.cost("claude-sonnet-5-5", Usage(cache_write_1h_tokens=18_000, output_tokens=1_000))
    assert model.worst_cost({**long, "model": "qwen"}) == 0
