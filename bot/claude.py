"""The Messages API through Anthropic's SDK: Claude, or any server that speaks the same."""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import anthropic
import httpx2
from anthropic.lib.streaming import AsyncMessageStream

from bot import answers, prices
from bot.bodies import asking_for_json, json_only, warming
from bot.errors import BadInput, ModelBroken, ModelError, ModelOverloaded, ModelTimeout, ModelUnreachable
from bot.failures import meaning, retry_after, where
from bot.limiter import Limiter
from bot.model import Body, Capabilities, OnText, Response, Usage, texts
from bot.settings import Settings
from bot.tokens import body_tokens
from memory.words import clean, clean_json

log = logging.getLogger(__name__)

CLAUDE_URL = "https://api.anthropic.com"
RETRIES = 2
PATIENCE = 120.0
"""Seconds that a call waits at most because the server said so; longer ones fail at once."""

_BROKEN = (
    anthropic.AnthropicError,
    httpx2.HTTPError,
    httpx2.StreamError,
    OSError,
    ValueError,
    TypeError,
    RuntimeError,
    LookupError,
    AttributeError,
    AssertionError,
)
"""What the SDK may raise over an answer that broke off or is not what it should be."""


def capabilities(settings: Settings) -> Capabilities:
    """What the configured server offers: everything on Claude itself, the portable profile anywhere else."""
    if settings.anthropic_base_url:
        return Capabilities()
    large = any(mark in settings.model for mark in ("-5-5", "fable-5", "mythos-5"))
    return Capabilities(
        structured_output=True,
        prewarm=True,
        effort=True,
        diagnostics=True,
        batches=True,
        window=1_000_000 if large else 200_000,
    )


class Claude:
    """A `Model` behind a key or a base URL. Request bodies go out as they are given."""

    def __init__(
        self,
        settings: Settings,
        *,
        limiter: Limiter | None = None,
        http_client: httpx2.AsyncClient | None = None,
        deadline: float = 600.0,
        quiet: float | None = None,
    ) -> None:
        self.capabilities = capabilities(settings)
        self._url = settings.anthropic_base_url or CLAUDE_URL
        if not self._url.startswith(("http://", "https://")):
            raise BadInput("ANTHROPIC_BASE_URL must start with http:// or https://.")
        if not re.fullmatch(r"[!-~]*", settings.anthropic_api_key):
            raise BadInput("ANTHROPIC_API_KEY contains characters that no key has.")
        self._limiter = limiter or Limiter()
        self._deadline = deadline
        silence = quiet or (deadline if settings.anthropic_base_url else min(deadline, 180.0))
        self._client = anthropic.AsyncAnthropic(
            # Without a key the SDK would look for one on this machine and send it to somebody's server.
            api_key=settings.anthropic_api_key or "none",
            base_url=self._url,
            max_retries=0,
            timeout=httpx2.Timeout(silence, connect=min(deadline, 10.0)),
            http_client=http_client,
            open_telemetry=False,
        )
        for name in ("anthropic", "httpx2", "httpcore2"):
            # At DEBUG the SDK logs whole requests.
            logging.getLogger(name).setLevel(logging.WARNING)

    async def respond(self, body: Body, on_text: OnText | None = None) -> Response:
        """Streams one answer; `on_text` gets the whole text so far. A refusal comes without content."""
        async with self._within(self._deadline), self._stream(body) as stream:
            return await _read(stream, on_text)

    async def structured(self, body: Body, schema: dict[str, Any]) -> Response:
        """One answer whose text is JSON of that schema: promised by Claude, asked for in words elsewhere."""
        if self.capabilities.structured_output:
            output = {"type": "json_schema", "schema": anthropic.transform_schema(schema)}
            config = {**(body.get("output_config") or {}), "format": output}
            return await self.respond({**body, "output_config": config})
        response = await self.respond(asking_for_json(body, schema))
        return replace(response, content=json_only(response.content))

    async def prewarm(self, body: Body) -> Response | None:
        """Writes or renews the cache up to the marked blocks of a body without its newest message.

        None where the server cannot. One try: a chat that opens can be answered without.
        """
        if not self.capabilities.prewarm:
            return None
        request = warming(clean_json(body))
        async with self._within(min(self._deadline, 60.0)), self._place():
            try:
                message = await self._client.messages.create(
                    model=request["model"], max_tokens=0, messages=[], extra_body=request
                )
            except _BROKEN as error:
                failed, _ = self._failed(error)
                raise failed from None
            return answers.response(message.to_dict(warnings=False), {})

    def cost(self, model: str, usage: Usage) -> int:
        """Millionths of a US dollar by the list of prices."""
        return prices.cost(model, usage)

    def worst_cost(self, body: Body) -> int:
        """The most that a request can cost: nothing read from the cache, all of `max_tokens` used."""
        return prices.worst(body["model"], body_tokens(body), body["max_tokens"])

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.close()

    @asynccontextmanager
    async def _within(self, seconds: float) -> AsyncIterator[None]:
        """Ends what takes longer, and logs the codes of what fails."""
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                yield
        except TimeoutError:
            if not limit.expired():
                raise
            log.warning("model call failed: no answer in time")
            raise ModelTimeout from None
        except ModelError as failed:
            log.warning("model call failed: %s %s", failed.code, failed.detail)
            raise

    @asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        if self._limiter.wait > PATIENCE:
            raise ModelOverloaded
        async with self._limiter.place():
            yield

    @asynccontextmanager
    async def _stream(self, body: Body) -> AsyncIterator[AsyncMessageStream[None]]:
        """A stream that has begun: failures before the first event are tried again."""
        attempt = 0
        while True:
            async with self._place():
                request = self._client.messages.stream(
                    model=body["model"], max_tokens=body["max_tokens"], messages=[], extra_body=body
                )
                try:
                    stream = await request.__aenter__()
                except UnicodeEncodeError:
                    # Half a character got in; to look for one every time would cost more than the rest.
                    body = clean_json(body)
                    continue
                except _BROKEN as error:
                    failure = error
                else:
                    try:
                        self._check(stream)
                        yield stream
                    finally:
                        await request.__aexit__(None, None, None)
                    return
            await self._rest(failure, attempt)
            attempt += 1

    def _check(self, stream: AsyncMessageStream[None]) -> None:
        if not stream.response.headers.get("content-type", "").startswith("text/event-stream"):
            raise _another_api(self._url)

    async def _rest(self, error: Exception, attempt: int) -> None:
        """Waits before another try, or fails where none is left or none would help."""
        failed, told = self._failed(error)
        if isinstance(error, anthropic.APIStatusError):
            again = failed.retryable and error.response.headers.get("x-should-retry") != "false"
        else:
            again = failed.retryable or isinstance(failed, ModelUnreachable)
        if attempt >= RETRIES or told > PATIENCE or not again:
            raise failed
        log.info("model call is tried again: %s %s", failed.code, failed.detail)
        if not told:
            await self._limiter.pause(attempt)

    def _failed(self, error: Exception) -> tuple[ModelError, float]:
        """Our error, and the seconds that the server asks everybody to wait."""
        failed = _translated(error, self._url)
        if not isinstance(error, anthropic.APIStatusError) or not isinstance(failed, ModelOverloaded):
            return failed, 0.0
        told = retry_after(error.response.headers, datetime.now(UTC))
        if told:
            self._limiter.told(told)
        return failed, told


async def _read(stream: AsyncMessageStream[None], on_text: OnText | None) -> Response:
    """Follows a stream to its end. `written` holds the arguments of calls as they were written, by block."""
    written: dict[int, str] = {}
    async with aclosing(_events(stream)) as events:
        async for event in events:
            if event.type != "content_block_delta":
                continue
            if event.delta.type == "input_json_delta":
                written[event.index] = written.get(event.index, "") + event.delta.partial_json
            elif event.delta.type == "text_delta" and on_text is not None:
                words = texts([{"type": "text", "text": block.text} for block in _said(stream)])
                if words:
                    on_text(clean(words))
    # Its warnings would print what was said.
    return answers.response(stream.current_message_snapshot.to_dict(warnings=False), written)


async def _events(stream: AsyncMessageStream[None]) -> AsyncGenerator[Any]:
    """The events of a stream that came to its end; one that did not is an error."""
    ended = False
    try:
        async for event in stream:
            ended = ended or event.type == "message_stop"
            yield event
    except _BROKEN as error:
        if not ended:
            raise _translated(error, "") from None
    if not ended:
        raise ModelBroken


def _said(stream: AsyncMessageStream[None]) -> list[Any]:
    return [block for block in stream.current_message_snapshot.content if block.type == "text"]


def _translated(error: Exception, url: str) -> ModelError:
    """Our error for the SDK's; nothing that the server said goes along, codes excepted."""
    if isinstance(error, anthropic.APIStatusError):
        if error.status_code == 404 and not error.type:
            return _another_api(url)
        said = str(error.api_message or error.body or "")[:2_000]
        failed = meaning(error.status_code, error.type or "", error.error_code or "", said)()
        codes = [error.status_code, error.type, error.error_code, where(said), error.request_id]
        failed.detail = " ".join(_code(code) for code in codes if code)
        return failed
    cause = error.__cause__ if isinstance(error, anthropic.APIConnectionError) else error
    if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.UnsupportedProtocol) and url:
        remedy = "the network" if url == CLAUDE_URL else "ANTHROPIC_BASE_URL and whether that server runs"
        return ModelUnreachable(
            f"The model's server at {_origin(url)} cannot be reached. Your message is kept; "
            f"whoever runs teambot must check {remedy}."
        )
    failed = ModelTimeout() if isinstance(cause, httpx2.TimeoutException) else ModelBroken()
    failed.detail = type(cause).__name__
    return failed


def _another_api(url: str) -> ModelError:
    return ModelUnreachable(
        f"The server at {_origin(url)} does not speak the Messages API. Your message is kept; "
        "whoever runs teambot must check ANTHROPIC_BASE_URL."
    )


def _origin(url: str) -> str:
    """Scheme, host and port: an address may hold a password."""
    parsed = httpx2.URL(url)
    return f"{parsed.scheme}://{parsed.host}" + (f":{parsed.port}" if parsed.port else "")


def _code(value: object) -> str:
    text = str(value)
    return text if re.fullmatch(r"[\w.-]{1,80}", text) else "?"
