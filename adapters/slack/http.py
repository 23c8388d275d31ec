"""Slack by HTTP instead of sockets: the same handlers behind one signed address."""

import logging

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow

from bot.errors import BotError

log = logging.getLogger("teambot.slack")

LARGEST = 4 * 2**20


class Endpoint:
    """Listens on 127.0.0.1 for a proxy that speaks HTTPS to Slack."""

    def __init__(self, app: AsyncApp, flow: AsyncOAuthFlow | None = None) -> None:
        self._app = app
        self._flow = flow
        self._runner: web.AppRunner | None = None

    async def start(self, port: int, host: str = "127.0.0.1") -> int:
        """Begins to listen; the port that was taken."""
        server = web.Application(client_max_size=LARGEST)
        server.router.add_post("/slack/events", self._event)
        if self._flow is not None:
            server.router.add_get("/slack/install", self._install)
            server.router.add_get("/slack/oauth_redirect", self._installed)
        self._runner = web.AppRunner(server, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, host, port)
        await site.start()
        return int(self._runner.addresses[0][1])

    async def stop(self) -> None:
        """Listens no more; requests in flight are answered."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _event(self, request: web.Request) -> web.StreamResponse:
        return await to_aiohttp_response(await self._app.async_dispatch(await to_bolt_request(request)))

    async def _install(self, request: web.Request) -> web.StreamResponse:
        assert self._flow is not None
        return await to_aiohttp_response(await self._flow.handle_installation(await to_bolt_request(request)))

    async def _installed(self, request: web.Request) -> web.StreamResponse:
        assert self._flow is not None
        try:
            return await to_aiohttp_response(await self._flow.handle_callback(await to_bolt_request(request)))
        except BotError as refusal:
            return web.Response(status=403, text=f"{refusal} Nothing was kept.")
