"""A server that misbehaves, played by llmock, which also judges how we take it."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from llmock.pytest_plugin import LLMock

from bot.claude import Claude
from bot.errors import ModelBroken, ModelContextFull, ModelError, ModelOverloaded, ModelRejected, ModelTimeout
from bot.model import texts, tool_uses
from bot.settings import Settings

TOOL = {
    "name": "memory_search",
    "description": "Searches what is remembered.",
    "input_schema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
}


def body(**fields: Any) -> dict[str, Any]:
    message = {"role": "user", "content": [{"type": "text", "text": "When do we deploy?"}]}
    return {"model": "claude-sonnet-5-5", "max_tokens": 500, "messages": [message], **fields}


@pytest.fixture
async def model(llmock: LLMock) -> AsyncIterator[Claude]:
    """Our model, pointed at llmock, which has seen no mistake of ours at the end."""
    settings = Settings(Path("unused"), "sqlite://", anthropic_base_url=llmock.base_url("anthropic"))
    model = Claude(settings, deadline=10.0, quiet=1.0)
    yield model
    await model.aclose()
    llmock.assert_resilient()


async def test_a_limit_is_respected(llmock: LLMock, model: Claude) -> None:
    llmock.rate_limit(times=1, retry_after=0.2).reply("On Tuesdays.")

    assert texts((await model.respond(body())).content) == "On Tuesdays."
    assert len(llmock.requests) == 2


async def test_a_server_in_trouble_gets_a_second_and_a_third_try(llmock: LLMock, model: Claude) -> None:
    llmock.fail(529, retry_after=0.01).fail(503, retry_after=0.01).reply("On Tuesdays.")

    assert texts((await model.respond(body())).content) == "On Tuesdays."


@pytest.mark.parametrize(
    ("status", "error"), [(400, ModelRejected), (422, ModelRejected), (413, ModelContextFull)]
)
async def test_a_request_that_is_refused_is_not_repeated(
    llmock: LLMock, model: Claude, status: int, error: type[ModelError]
) -> None:
    llmock.fail(status)

    with pytest.raises(error):
        await model.respond(body())
    assert len(llmock.requests) == 1


async def test_a_body_that_the_server_cannot_read_is_rejected(llmock: LLMock, model: Claude) -> None:
    with pytest.raises(ModelRejected) as raised:
        await model.respond(body(max_tokens="many"))

    assert raised.value.detail.startswith("422")
    assert len(llmock.requests) == 1


async def test_a_prompt_that_is_too_long_is_told_apart(llmock: LLMock, model: Claude) -> None:
    llmock.context_overflow()

    with pytest.raises(ModelContextFull):
        await model.respond(body())


async def test_a_stream_that_breaks_is_never_taken_for_an_answer(llmock: LLMock, model: Claude) -> None:
    llmock.disconnect(after_chunks=3).truncate(after_chunks=3).corrupt(after_chunks=3)

    for _ in range(3):
        with pytest.raises(ModelBroken) as raised:
            await model.respond(body())
        assert raised.value.retryable
    assert texts((await model.respond(body())).content)


async def test_a_stream_that_falls_silent_is_left(llmock: LLMock, model: Claude) -> None:
    llmock.stall(after_chunks=2, seconds=3.0)

    with pytest.raises(ModelTimeout):
        await model.respond(body())


async def test_a_call_made_from_the_schema_arrives_whole(llmock: LLMock, model: Claude) -> None:
    llmock.call_tool("memory_search", {"query": "deploy"}, text="Let me look.")

    response = await model.respond(body(tools=[TOOL]))

    assert response.stop_reason == "tool_use"
    assert [(call["name"], call["input"]) for call in tool_uses(response.content)] == [
        ("memory_search", {"query": "deploy"})
    ]


async def test_a_call_with_broken_arguments_is_never_run(llmock: LLMock, model: Claude) -> None:
    llmock.call_tool("memory_search", {"query": "deploy"}).break_tool_call("malformed_arguments")

    try:
        response = await model.respond(body(tools=[TOOL]))
    except ModelBroken:
        return
    assert response.cut
    assert tool_uses(response.content) == []


async def test_an_outage_ends_in_one_sentence(llmock: LLMock, model: Claude) -> None:
    llmock.outage(status=500)

    with pytest.raises(ModelOverloaded, match="Your message is kept"):
        await model.respond(body())
