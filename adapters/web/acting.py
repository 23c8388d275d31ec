"""What a tab does: say, run a typed command, press, stop, and add people and places."""

from aiohttp import web
from multidict import MultiDictProxy

from adapters.web.drawing import Drawing
from adapters.web.following import Following
from adapters.web.talk import Talk, channel_path, label, person_path, talk_of
from adapters.web.visitor import Doorkeeper, Visitor
from adapters.web.wire import Wires
from bot.errors import BadInput
from bot.messages import Desk, Local

Form = MultiDictProxy[str | bytes | bytearray | web.FileField]

SAID = {"HX-Trigger": "said"}
CHANGED = {"HX-Trigger": "said, remembered"}


class Acting:
    """The handlers of POST. Who acts is the tab's signed cookie; a form says only what to do."""

    def __init__(
        self, desk: Desk, door: Doorkeeper, drawing: Drawing, wires: Wires, following: Following
    ) -> None:
        self._desk = desk
        self._door = door
        self._drawing = drawing
        self._wires = wires
        self._following = following

    async def say(self, request: web.Request) -> web.StreamResponse:
        """Sends a message; text that begins with a slash is a command."""
        talk, form = await self._form(request)
        text, to = _text(form, "text"), _text(form, "to")
        if not text.strip():
            raise BadInput("There is nothing to send yet: the message is empty.")
        if text.lstrip().startswith("/"):
            return await self._run(talk, text.strip(), {"HX-Retarget": "#aside", "HX-Reswap": "innerHTML"})
        quiet, alone = to == "talk" and not talk.is_direct, to == "me" and not talk.is_direct
        local = talk.local(bot=_text(form, "bot") or None, ephemeral=alone)
        accepted = await self._desk.say(local, text, overheard=quiet)
        if accepted.turn_id is not None:
            self._wires.begin(talk, alone=alone)
            self._following.follow(talk, accepted, text, alone=alone)
        return web.Response(status=204, headers=SAID)

    async def typed(self, request: web.Request) -> web.StreamResponse:
        """Runs the command of a button: the same words that a person could type."""
        talk, form = await self._form(request)
        return await self._run(talk, _text(form, "text").strip(), {})

    async def opened(self, request: web.Request) -> web.StreamResponse:
        """Somebody looks at a talk or starts to type there."""
        talk, _ = await self._form(request)
        await self._desk.open_local(talk.local())
        return web.Response(status=204)

    async def stop(self, request: web.Request) -> web.StreamResponse:
        """Stops the turn that runs in a talk."""
        talk, _ = await self._form(request)
        if not await self._desk.stop_local(talk.local()) and not talk.is_direct:
            await self._desk.stop_local(Local(talk.person, "dm"))
        return web.Response(status=204, headers=SAID)

    async def add_person(self, request: web.Request) -> web.StreamResponse:
        """Makes a local person."""
        _, form = await self._form_of_person(request)
        name = _text(form, "name").strip()
        if not name:
            raise BadInput("A person needs a name.")
        if name.casefold() in [person["id"] for person in await self._desk.people()]:
            raise BadInput(f"{label(name)} is here already.")
        made = await self._desk.set_person(name, guest=_text(form, "guest") == "yes")
        return _go(person_path(str(made["id"])))

    async def add_place(self, request: web.Request) -> web.StreamResponse:
        """Makes a local channel."""
        visitor, form = await self._form_of_person(request)
        name = _text(form, "name").strip().lstrip("#").strip()
        if not name:
            raise BadInput("A channel needs a name.")
        for person in await self._desk.people():
            if f"#{name.casefold()}" in [
                place["name"] for place in await self._desk.places(str(person["id"]))
            ]:
                raise BadInput(f"There is a channel #{name.casefold()} already.")
        members = tuple(str(value) for value in form.getall("members", []))
        made = await self._desk.set_place(
            f"#{name}",
            private=_text(form, "kind") == "private",
            external=_text(form, "kind") == "external",
            members=(*members, visitor.person)
            if members and visitor.person not in members
            else members or None,
        )
        return _go(channel_path(visitor.person, str(made["name"])))

    async def _run(self, talk: Talk, text: str, headers: dict[str, str]) -> web.StreamResponse:
        local: Local = talk.local()
        result = await self._desk.run_typed(local, text)
        html = self._drawing.result(talk, result, text)
        return web.Response(text=html, content_type="text/html", headers={**CHANGED, **headers})

    async def _form(self, request: web.Request) -> tuple[Talk, Form]:
        talk = talk_of(request)
        self._door.check_form(request, self._door.know(request, talk.person))
        return talk, await request.post()

    async def _form_of_person(self, request: web.Request) -> tuple[Visitor, Form]:
        visitor = self._door.know(request, request.match_info["person"])
        self._door.check_form(request, visitor)
        return visitor, await request.post()


def _text(form: Form, name: str) -> str:
    value = form.get(name, "")
    return value if isinstance(value, str) else ""


def _go(path: str) -> web.Response:
    return web.Response(status=204, headers={"HX-Redirect": path})
