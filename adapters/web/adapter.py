"""The web adapter: serves the local page on 127.0.0.1 and nowhere else."""

import logging
import socket

from aiohttp import web

from adapters.web.acting import Acting
from adapters.web.drawing import STATIC, Drawing
from adapters.web.following import Following
from adapters.web.guard import MAX_BODY, add_headers, guards
from adapters.web.reading import Reading
from adapters.web.talk import CHANNEL_ROUTE, DIRECT_ROUTE
from adapters.web.visitor import Doorkeeper
from adapters.web.wire import Wires
from bot.errors import BadInput
from bot.messages import Desk

ADDRESS = "127.0.0.1"
PORT = 8484
LAST_PORT = 65_535
_NOTICES = {"add-person": "#notice-person", "add-place": "#notice-place"}


class Web:
    """The page's server. It knows the desk and nothing behind it."""

    def __init__(self, desk: Desk, port: int = PORT) -> None:
        self._desk = desk
        self._port = port
        self._wires = Wires()
        self._following: Following | None = None
        self._runner: web.AppRunner | None = None

    async def start(self) -> str:
        """Begins to answer, and returns the address of the page. Port 0 takes any free port."""
        if not 0 <= self._port <= LAST_PORT:
            raise BadInput(f"A port is a number from 0 to {LAST_PORT}; choose another one with --port.")
        try:
            listening = socket.create_server((ADDRESS, self._port))
        except OSError as error:
            raise BadInput(
                f"Port {self._port} cannot be used (another program has it?). Choose another one with --port."
            ) from error
        self._port = int(listening.getsockname()[1])
        self._runner = web.AppRunner(self._application(), access_log=None, shutdown_timeout=2.0)
        await self._runner.setup()
        await web.SockSite(self._runner, listening).start()
        return f"http://{ADDRESS}:{self._port}/"

    async def stop(self) -> None:
        """Ends all streams and stops answering."""
        self._wires.hang_up()
        if self._following:
            await self._following.close()
        if self._runner:
            await self._runner.cleanup()
            self._runner = None

    def _application(self) -> web.Application:
        door = Doorkeeper(self._port)
        drawing = Drawing(door.boot)

        def show(request: web.Request, status: int, sentence: str) -> web.StreamResponse:
            return _show(drawing, request, status, sentence)

        application = web.Application(
            middlewares=guards(self._port, show),
            client_max_size=MAX_BODY,
            logger=logging.getLogger(__name__),
        )
        application.on_response_prepare.append(add_headers)
        application.add_routes(self._routes(door, drawing))
        return application

    def _routes(self, door: Doorkeeper, drawing: Drawing) -> list[web.AbstractRouteDef]:
        self._following = Following(self._desk, drawing, self._wires)
        reading = Reading(self._desk, door, drawing, self._wires, self._following)
        acting = Acting(self._desk, door, drawing, self._wires, self._following)
        routes: list[web.AbstractRouteDef] = [
            web.get("/", reading.front),
            web.get("/as/{person}", reading.front),
            web.post("/as/{person}/people", acting.add_person, name="add-person"),
            web.post("/as/{person}/places", acting.add_place, name="add-place"),
            web.static("/static", STATIC),
        ]
        for talk in (CHANNEL_ROUTE, DIRECT_ROUTE):
            routes += [
                web.get(talk, reading.page),
                web.get(f"{talk}/lines", reading.lines),
                web.get(f"{talk}/lines/{{line}}", reading.whole),
                web.get(f"{talk}/memories", reading.memories),
                web.get(f"{talk}/events", reading.events),
                web.post(f"{talk}/say", acting.say),
                web.post(f"{talk}/typed", acting.typed),
                web.post(f"{talk}/opened", acting.opened),
                web.post(f"{talk}/stop", acting.stop),
            ]
        return routes


def _show(drawing: Drawing, request: web.Request, status: int, sentence: str) -> web.StreamResponse:
    """A sentence where a person sees it: in the part of the page that asked, or on a page of its own."""
    if request.headers.get("HX-Request") != "true":
        return web.Response(text=drawing.problem(sentence), status=status, content_type="text/html")
    place = _NOTICES.get(request.match_info.route.name or "", "#notice")
    headers = {"HX-Retarget": place, "HX-Reswap": "innerHTML"}
    return web.Response(
        text=drawing.notice(sentence), status=status, content_type="text/html", headers=headers
    )
