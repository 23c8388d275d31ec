"""Socket Mode: two sockets, so that one listens while Slack renews the other, and a watch over deaf ones."""

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import aiohttp
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

log = logging.getLogger("teambot.slack")

CatchUp = Callable[[float], Awaitable[int]]
"""Reads what was said since that moment (seconds since 1970) and says how much of it was new."""


@dataclass(frozen=True)
class Patience:
    """How long, in seconds, until silence is looked into, and until sockets are renewed in any case."""

    check: float = 15.0
    quiet: float = 120.0
    deaf: float = 600.0
    overlap: float = 60.0


class Sockets:
    """The connections of one app. Events of any of them go through the same app."""

    def __init__(
        self,
        app: AsyncApp,
        app_token: str,
        client: AsyncWebClient,
        catch_up: CatchUp,
        *,
        count: int = 2,
        patience: Patience | None = None,
        ping: float = 10.0,
    ) -> None:
        self._patience = patience or Patience()
        self._catch_up = catch_up
        self._handlers = [
            AsyncSocketModeHandler(app, app_token, web_client=client, ping_interval=ping)
            for _ in range(count)
        ]
        self._greeted: set[int] = set()
        self._watch: asyncio.Task[None] | None = None
        self._reading: asyncio.Task[None] | None = None
        self.heard_at = time.time()
        """When the last frame came; `doctor` and the watch look at it."""
        self._probed_at = self.heard_at

    async def start(self) -> None:
        """Connects, and begins to watch."""
        for number, handler in enumerate(self._handlers):
            handler.client.on_message_listeners.append(self._listener(number))
            await handler.connect_async()  # type: ignore[no-untyped-call]
        self._watch = asyncio.create_task(self._watching())

    async def stop(self) -> None:
        """Takes in nothing more."""
        tasks = [task for task in (self._watch, self._reading) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for handler in self._handlers:
            await handler.close_async()  # type: ignore[no-untyped-call]

    async def renew(self) -> None:
        """Opens every socket anew, one after the other."""
        for handler in self._handlers:
            await handler.client.connect_to_new_endpoint(force=True)

    def _listener(self, number: int) -> Callable[[aiohttp.WSMessage], Awaitable[None]]:
        async def heard(frame: aiohttp.WSMessage) -> None:
            before, self.heard_at = self.heard_at, time.time()
            if _kind(frame) != "hello":
                return
            if number in self._greeted:
                self._read_since(before)
            self._greeted.add(number)

        return heard

    def _read_since(self, moment: float) -> None:
        """A socket was opened anew: what it may have missed is read, beside everything else."""
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._caught_up(moment))

    async def _caught_up(self, moment: float) -> None:
        try:
            found = await self._catch_up(moment - self._patience.overlap)
        except (TimeoutError, SlackApiError, OSError, aiohttp.ClientError) as error:
            log.warning("what was missed could not be read: %s", type(error).__name__)
            return
        if found:
            log.warning("%d messages had been missed and are taken in now", found)

    async def _watching(self) -> None:
        while True:
            await asyncio.sleep(self._patience.check)
            now = time.time()
            silent = now - self.heard_at
            if silent < self._patience.quiet or now - self._probed_at < self._patience.quiet:
                continue
            self._probed_at = now
            try:
                missed = await self._catch_up(self.heard_at - self._patience.overlap)
                if missed or silent > self._patience.deaf:
                    log.warning("the sockets were silent for %d s and are renewed", silent)
                    await self.renew()
            except (TimeoutError, SlackApiError, OSError, aiohttp.ClientError) as error:
                log.warning("the sockets could not be checked: %s", type(error).__name__)


def _kind(frame: aiohttp.WSMessage) -> str:
    try:
        body = json.loads(frame.data)
    except (TypeError, ValueError):
        return ""
    return str(body.get("type") or "") if isinstance(body, dict) else ""
