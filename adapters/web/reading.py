"""What a tab asks for: the page, its parts when something changed, and the wire of news."""

from aiohttp import web

from adapters.web import view
from adapters.web.drawing import MOST, STEP, Around, Drawing
from adapters.web.following import Following
from adapters.web.talk import Talk, channel_path, direct_path, label, talk_of
from adapters.web.visitor import Doorkeeper
from adapters.web.wire import Wires, event, stream
from bot.errors import Unknown
from bot.messages import Desk, Line

MAX_QUERY = 2_000


class Reading:
    """The handlers of GET."""

    def __init__(
        self, desk: Desk, door: Doorkeeper, drawing: Drawing, wires: Wires, following: Following
    ) -> None:
        self._following = following
        self._desk = desk
        self._door = door
        self._drawing = drawing
        self._wires = wires

    async def front(self, request: web.Request) -> web.StreamResponse:
        """Opens the first talk of a person, or of the first person."""
        people = await self._desk.people()
        if not people:
            raise Unknown("There is nobody here yet. `teambot person ada` makes somebody.")
        person = request.match_info.get("person") or str(people[0]["id"])
        self._check_person(person, people)
        places = await self._desk.places(person)
        if places:
            raise web.HTTPSeeOther(channel_path(person, str(places[0]["name"])))
        bots = await self._desk.bots(person)
        if not bots:
            raise Unknown(f"There is no place here that {label(person)} may read.")
        raise web.HTTPSeeOther(direct_path(person, str(bots[0]["name"])))

    async def page(self, request: web.Request) -> web.StreamResponse:
        """The page of a talk; opening it signs the tab in as its person."""
        talk = talk_of(request)
        people = await self._desk.people()
        self._check_person(talk.person, people)
        around = Around(
            people,
            await self._desk.places(talk.person),
            await self._desk.bots(talk.person),
            self._desk.model_name(),
        )
        _check_place(talk, around)
        lines = await self._lines(talk, STEP, request.query.get("m", ""))
        rows = await self._rows(talk, None)
        visitor, cookie = self._door.greet(request, talk.person)
        response = _html(self._drawing.page(talk, visitor, around, lines, rows))
        if cookie:
            self._door.remember(response, talk.person, cookie)
        return response

    async def lines(self, request: web.Request) -> web.StreamResponse:
        """The talk as it is now, or nothing if the tab has it so already."""
        talk = self._signed_in(request)
        limit = _limit(request.query.get("limit", ""))
        lines = await self._lines(talk, limit)
        self._wires.shown(talk, {line.id for line in lines if line.is_bot})
        html, mark = self._drawing.lines(talk, lines, limit)
        if request.query.get("mark") == mark:
            return web.Response(status=204)
        return _html(html)

    async def whole(self, request: web.Request) -> web.StreamResponse:
        """All of one long message."""
        talk = self._signed_in(request)
        wanted = request.match_info["line"]
        for line in await self._lines(talk, MOST, wanted):
            if line.id == wanted:
                return _html(self._drawing.whole(talk, line))
        raise Unknown("That message is not here any more.")

    async def memories(self, request: web.Request) -> web.StreamResponse:
        """What the bot knows here, or what a search of it finds."""
        talk = self._signed_in(request)
        query = request.query.get("q", "").strip()[:MAX_QUERY]
        return _html(self._drawing.memories(talk, await self._rows(talk, query or None), query))

    async def events(self, request: web.Request) -> web.StreamResponse:
        """The news of a talk, until the tab goes away. A tab from before a restart is told only that."""
        talk = talk_of(request)
        if not self._door.knows(request, talk.person):
            return web.Response(body=event("boot", self._door.boot), content_type="text/event-stream")
        bots = await self._desk.bots(talk.person)
        wire = self._wires.plug(talk, talk.bot or (str(bots[0]["name"]) if bots else ""))
        try:
            hush = await self._desk.listen(talk.local(), wire.hear)
            try:
                return await stream(request, wire, self._door.boot, self._drawing.news)
            finally:
                hush()
        finally:
            self._wires.unplug(wire)

    async def _rows(self, talk: Talk, query: str | None) -> list[view.Row]:
        found = await self._desk.memories(talk.local(), query)
        return view.rows(found, talk, self._following.undo(talk.person))

    async def _lines(self, talk: Talk, limit: int, wanted: str = "") -> list[Line]:
        """The newest lines; as many as it takes to reach a wanted one, up to the most that a page shows."""
        lines = await self._desk.lines(talk.local(), limit=limit)
        while (
            wanted and len(lines) >= limit and limit < MOST and not any(_is(line, wanted) for line in lines)
        ):
            limit = min(limit * 4, MOST)
            lines = await self._desk.lines(talk.local(), limit=limit)
        return lines

    def _signed_in(self, request: web.Request) -> Talk:
        talk = talk_of(request)
        self._door.know(request, talk.person)
        return talk

    @staticmethod
    def _check_person(person: str, people: list[dict[str, object]]) -> None:
        if person not in [row["id"] for row in people]:
            raise Unknown(f"There is nobody called {label(person[:80])} here.")


def _is(line: Line, wanted: str) -> bool:
    return wanted in (line.id, line.message_id)


def _check_place(talk: Talk, around: Around) -> None:
    if talk.channel and around.place(talk) is None:
        raise Unknown(f"There is no {talk.channel[:80]} here that {label(talk.person)} takes part in.")
    if talk.bot and talk.bot not in [bot["name"] for bot in around.bots]:
        raise Unknown(f"There is no bot called {talk.bot[:80]} here for {label(talk.person)}.")


def _limit(text: str) -> int:
    return min(max(int(text), 1), MOST) if text.isascii() and text.isdigit() and len(text) < 6 else STEP


def _html(text: str) -> web.Response:
    return web.Response(text=text, content_type="text/html")
