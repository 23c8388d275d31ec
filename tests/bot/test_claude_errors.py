"""When the model's server fails: what is tried again, what is told, and what nobody gets to see."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator

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
from bot.model import texts
from tests.bot.asking import Waits, asked, body, settings
from tests.stand_ins import aimock

BROKEN_OFF = aimock.cut(aimock.says("We deploy " * 40, latency=20), 6)


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
async def model(claude: aimock.Claude, waits: Waits) -> AsyncIterator[Claude]:
    async with asked(claude, waits) as model:
        yield model


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
