"""What odd servers say, and what we make of it."""

import httpx2
import pytest

from bot.errors import (
    ModelBroken,
    ModelError,
    ModelOverloaded,
    ModelSpendLimit,
    ModelUnknown,
    ModelUnreachable,
)
from bot.model import texts
from tests.bot.asking import body, elsewhere, on_claude
from tests.stand_ins import streams
from tests.stand_ins.streams import Server, failed, streamed


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
