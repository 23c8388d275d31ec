"""The model behind the protocol: dialogues with aimock through Anthropic's own SDK."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.claude import Claude
from bot.errors import (
    BadInput,
    ModelBroken,
    ModelError,
    ModelKeyRefused,
    ModelOverloaded,
    ModelRejected,
    ModelTimeout,
    ModelUnreachable,
)
from bot.limiter import Limiter
from bot.model import texts, tool_uses
from bot.settings import Settings
from memory.words import canonical
from tests.contracts import assert_valid_request
from tests.stand_ins import aimock

Body = dict[str, Any]
SEARCH = {
    "name": "memory_search",
    "description": "Searches what is remembered.",
    "input_schema": {
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "additionalProperties": False,
    },
}
BROKEN_OFF = aimock.cut(aimock.says("We deploy " * 40, latency=20), 6)
MARK = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}


def settings(**fields: Any) -> Settings:
    return Settings(home=Path("unused"), database_url="sqlite://", **fields)


def body(words: str = "When do we deploy?", **fields: Any) -> Body:
    """A request as the prompt makes it."""
    return {
        "model": "claude-sonnet-5-5",
        "max_tokens": 500,
        "system": [{"type": "text", "text": "You are teambot.", **MARK}],
        "tools": [SEARCH],
        "messages": [{"role": "user", "content": [{"type": "text", "text": words, **MARK}]}],
        **fields,
    }


class Waits:
    """A clock that a wait moves on, so that nobody waits in earnest."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waited: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.now += seconds

    def limiter(self, chance: float = 0.5) -> Limiter:
        return Limiter(clock=lambda: self.now, sleep=self.sleep, chance=lambda: chance)


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
async def model(claude: aimock.Claude, waits: Waits) -> AsyncIterator[Claude]:
    """Our model, pointed at aimock; every request that it sends is valid by the closed schema."""
    model = Claude(settings(anthropic_base_url=claude.url, anthropic_api_key="key"), limiter=waits.limiter())
    yield model
    await model.aclose()
    for request in claude.requests():
        assert_valid_request(request)


async def test_text_is_streamed_as_the_whole_text_so_far(model: Claude, claude: aimock.Claude) -> None:
    answer = "We deploy on Tuesdays, said Ada. 日本語 and 👩‍💻 too."
    claude.script(aimock.says(answer, chunkSize=3))
    seen: list[str] = []

    response = await model.respond(body(), seen.append)

    assert response.stop_reason == "end_turn"
    assert response.content == [{"type": "text", "text": answer}]
    assert len(seen) > 5
    assert seen[-1] == texts(response.content) == answer
    whole = [text.rstrip("\ufffd") for text in seen]
    assert all(answer.startswith(text) for text in whole)


async def test_the_body_goes_out_as_it_is_given(model: Claude, claude: aimock.Claude) -> None:
    claude.script(aimock.says("Yes."))
    given = body()

    await model.respond(given)

    (sent,) = claude.requests()
    assert sent.pop("stream") is True
    assert canonical(sent) == canonical(given)
    assert list(sent["tools"][0]) == list(SEARCH), "the order of keys is part of what the cache compares"


async def test_two_tools_are_called_in_one_answer_and_their_results_follow(
    model: Claude, claude: aimock.Claude
) -> None:
    wanted = ("memory_search", {"query": "deploy"}), ("memory_search", {"query": "Tuesday"})
    claude.script(aimock.calls(*wanted, text="Let me look.", chunkSize=4), aimock.says("On Tuesdays."))

    first = await model.respond(body())
    calls = tool_uses(first.content)
    results = [{"type": "tool_result", "tool_use_id": call["id"], "content": "Tuesdays"} for call in calls]
    history = [
        *body()["messages"],
        {"role": "assistant", "content": first.content},
        {"role": "user", "content": results},
    ]
    second = await model.respond(body(messages=history))

    assert first.stop_reason == "tool_use"
    assert [(call["name"], call["input"]) for call in calls] == list(wanted)
    assert texts(first.content) == "Let me look."
    assert texts(second.content) == "On Tuesdays."
    assert canonical(claude.requests()[1]["messages"]) == canonical(history)


async def test_thinking_comes_back_as_it_was_received(model: Claude, claude: aimock.Claude) -> None:
    answer = aimock.says("On Tuesdays.")
    answer["response"] |= {
        "reasoning": "Ada said so.",
        "reasoningSignature": "c2lnbmVk",
        "redactedThinking": ["eA=="],
    }
    claude.script(answer, aimock.says("Yes."))
    seen: list[str] = []

    response = await model.respond(body(), seen.append)

    assert response.content == [
        {"type": "redacted_thinking", "data": "eA=="},
        {"type": "thinking", "thinking": "Ada said so.", "signature": "c2lnbmVk"},
        {"type": "text", "text": "On Tuesdays."},
    ]
    assert seen[-1] == "On Tuesdays."
    history = [
        *body()["messages"],
        {"role": "assistant", "content": response.content},
        *body("Sure?")["messages"],
    ]
    await model.respond(body(messages=history))
    assert claude.requests()[1]["messages"][1]["content"] == response.content


@pytest.mark.parametrize(
    "stop", ["end_turn", "stop_sequence", "max_tokens", "pause_turn", "model_context_window_exceeded"]
)
async def test_why_an_answer_stopped_is_told(model: Claude, claude: aimock.Claude, stop: str) -> None:
    claude.script(aimock.says("Half of it", stop=stop))

    response = await model.respond(body())

    assert response.stop_reason == stop
    assert texts(response.content) == "Half of it"
    assert not response.cut


async def test_an_empty_answer_ends_the_turn_without_words(model: Claude, claude: aimock.Claude) -> None:
    claude.script(aimock.says(""))
    seen: list[str] = []

    response = await model.respond(body(), seen.append)

    assert (response.stop_reason, texts(response.content), seen) == ("end_turn", "", [])


async def test_a_refusal_withdraws_what_was_said_before_it(model: Claude, claude: aimock.Claude) -> None:
    claude.script(aimock.says("First you take", stop="refusal"))
    seen: list[str] = []

    response = await model.respond(body(), seen.append)

    assert seen
    assert (response.stop_reason, response.content) == ("refusal", [])


async def test_a_tool_call_that_was_cut_off_is_marked_and_left_out(
    model: Claude, claude: aimock.Claude
) -> None:
    answer = aimock.calls(
        ("memory_search", {"query": "a"}), ("memory_search", {"query": "b"}), text="Looking."
    )
    answer["response"]["finishReason"] = "max_tokens"
    claude.script(answer)

    response = await model.respond(body())

    assert response.cut
    assert response.stop_reason == "max_tokens"
    assert [call["input"] for call in tool_uses(response.content)] == [{"query": "a"}]
    assert texts(response.content) == "Looking."


async def test_an_overload_in_mid_stream_is_told_and_the_next_try_answers(
    model: Claude, claude: aimock.Claude
) -> None:
    claude.script(aimock.overloaded(aimock.says("We deploy " * 40), 6), aimock.says("On Tuesdays."))
    seen: list[str] = []

    with pytest.raises(ModelOverloaded) as raised:
        await model.respond(body(), seen.append)
    again = await model.respond(body(), seen.append)

    assert raised.value.retryable
    assert seen[0].startswith("We deploy"), "part of an answer had been shown"
    assert seen[-1] == texts(again.content) == "On Tuesdays."
    assert len(claude.requests()) == 2, "what was shown is not asked for again behind the turn's back"


async def test_a_connection_cut_in_mid_stream_is_told(model: Claude, claude: aimock.Claude) -> None:
    claude.script(BROKEN_OFF)

    with pytest.raises(ModelBroken) as raised:
        await model.respond(body())

    assert raised.value.retryable
    assert len(claude.requests()) == 1


async def test_a_limit_is_waited_for_never_shorter_than_told_and_a_little_longer_by_chance(
    model: Claude, claude: aimock.Claude, waits: Waits
) -> None:
    claude.script(aimock.fails(429, "rate_limit_error", retryAfter=20), aimock.says("On Tuesdays."))

    response = await model.respond(body())

    assert texts(response.content) == "On Tuesdays."
    (waited,) = waits.waited
    assert 20 < waited <= 25


async def test_a_wait_that_nobody_would_sit_through_fails_at_once(
    model: Claude, claude: aimock.Claude, waits: Waits
) -> None:
    claude.script(aimock.fails(429, "rate_limit_error", retryAfter=600))

    for _ in range(2):
        with pytest.raises(ModelOverloaded):
            await model.respond(body())

    assert waits.waited == []
    assert len(claude.requests()) == 1, "the second call knows already"


async def test_an_overloaded_server_is_asked_three_times_with_growing_pauses(
    model: Claude, claude: aimock.Claude, waits: Waits
) -> None:
    claude.always(aimock.fails(529, "overloaded_error"))

    with pytest.raises(ModelOverloaded):
        await model.respond(body())

    assert len(claude.requests()) == 3
    assert waits.waited == sorted(waits.waited)
    assert len(waits.waited) == 2


@pytest.mark.parametrize(
    ("status", "kind", "error"),
    [
        (401, "authentication_error", ModelKeyRefused),
        (403, "permission_error", ModelKeyRefused),
        (400, "invalid_request_error", ModelRejected),
    ],
)
async def test_what_no_second_try_helps_is_told_at_once(
    model: Claude, claude: aimock.Claude, status: int, kind: str, error: type[ModelError]
) -> None:
    claude.always(aimock.fails(status, kind))

    with pytest.raises(error):
        await model.respond(body())

    assert len(claude.requests()) == 1


async def test_a_server_that_never_answers_is_left_after_the_deadline() -> None:
    left = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(65_536):
            pass
        writer.close()
        await writer.wait_closed()
        left.set()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    model = Claude(settings(anthropic_base_url=f"http://{host}:{port}"), deadline=0.3)

    with pytest.raises(ModelTimeout):
        await model.respond(body())

    await left.wait()
    await model.aclose()
    server.close()


async def test_a_server_that_is_not_there_is_named_without_its_password(waits: Waits) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    model = Claude(
        settings(anthropic_base_url=f"http://ada:secret@127.0.0.1:{port}"), limiter=waits.limiter()
    )

    with pytest.raises(ModelUnreachable, match=f"http://127.0.0.1:{port} cannot be reached") as raised:
        await model.respond(body())

    assert "secret" not in str(raised.value)
    assert len(waits.waited) == 2, "a server that is just starting gets a moment"
    await model.aclose()


async def test_nobodys_words_are_in_logs_or_errors(
    model: Claude, claude: aimock.Claude, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    claude.script(
        aimock.fails(400, "invalid_request_error", "messages.0.content.0.text: kumquat is not allowed"),
        aimock.cut(aimock.says("kumquat " * 40, latency=20), 6),
        aimock.says("kumquat"),
    )

    for error in (ModelRejected, ModelBroken):
        with pytest.raises(error) as raised:
            await model.respond(body("kumquat"))
        assert "kumquat" not in str(raised.value)
        assert raised.value.__cause__ is None
        assert raised.value.__context__ is None or raised.value.__suppress_context__
    await model.respond(body("kumquat"))

    assert "kumquat" not in caplog.text
    assert "ModelRejected 400 invalid_request_error messages.0.content.0.text" in caplog.text


async def test_lone_surrogates_do_not_stop_a_request(model: Claude, claude: aimock.Claude) -> None:
    claude.script(aimock.says("ok"))

    await model.respond(body("broken \ud83d emoji and \ud83d\ude00"))

    assert claude.requests()[0]["messages"][0]["content"][0]["text"] == "broken \ufffd emoji and 😀"


async def test_a_place_is_given_back_whatever_happens(claude: aimock.Claude) -> None:
    claude.script(
        BROKEN_OFF,
        aimock.fails(400, "invalid_request_error"),
        aimock.says("Never mind"),
        aimock.says("On Tuesdays."),
    )
    model = Claude(settings(anthropic_base_url=claude.url), limiter=Limiter(parallel=1))

    def listener(_: str) -> None:
        raise KeyError("the page is gone")

    with pytest.raises(ModelBroken):
        await model.respond(body())
    with pytest.raises(ModelRejected):
        await model.respond(body())
    with pytest.raises(KeyError, match="the page is gone"):
        await model.respond(body(), listener)
    assert texts((await model.respond(body())).content) == "On Tuesdays."
    await model.aclose()


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"anthropic_base_url": "localhost:11434"}, "ANTHROPIC_BASE_URL must start with"),
        ({"anthropic_api_key": "ключ"}, "ANTHROPIC_API_KEY contains"),
        ({"anthropic_api_key": "two\nlines"}, "ANTHROPIC_API_KEY contains"),
    ],
)
def test_settings_that_cannot_work_are_refused_at_the_start(fields: dict[str, str], sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        Claude(settings(**fields))
