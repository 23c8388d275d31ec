"""Talk over a Slack that others wrote: install, channel, thread, direct message, edit, delete, signatures."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from sqlalchemy import select

from adapters.slack.adapter import Slack as Adapter
from adapters.slack.setup import Setup
from bot.desk import Desk
from bot.engine import Engine
from bot.seeding import seed
from bot.settings import Settings
from bot.testing import Scripted
from memory.conversations import Entry
from memory.database import Database
from tests.adapters.slack.server import Slack, _arguments
from tests.adapters.slack.team import Team
from tests.adapters.slack.test_http import SECRET, address, deliver
from tests.stand_ins import emulate

pytestmark = pytest.mark.slow

GENERAL = "C000000001"
BOT_TOKEN, ADA_TOKEN = "xoxb-bot", "xoxp-ada"
STATE: dict[str, Any] = {
    "slack": {
        "team": {"name": "Team", "domain": "team"},
        "users": [
            {"name": "teambot", "real_name": "teambot", "email": "bot@x.example"},
            {"name": "ada", "real_name": "Ada", "email": "ada@x.example"},
        ],
        "channels": [{"name": "general"}],
        "tokens": [
            {"token": BOT_TOKEN, "user": "teambot", "scopes": []},
            {"token": ADA_TOKEN, "user": "ada", "scopes": []},
        ],
    }
}


@dataclass
class Emulated:
    """Emulate behind a relay that puts all arguments where it reads them: in the body."""

    url: str
    team: Team
    web: aiohttp.ClientSession
    bot: str
    ada: str

    async def call(self, method: str, token: str = ADA_TOKEN, **given: Any) -> dict[str, Any]:
        """A call by somebody."""
        headers = {"Authorization": f"Bearer {token}"}
        async with self.web.post(f"{self.url}/api/{method}", json=given, headers=headers) as answer:
            found: dict[str, Any] = await answer.json()
            return found

    async def say(self, channel: str, text: str, **more: Any) -> dict[str, Any]:
        """Ada posts, and Slack tells the app of it."""
        posted = await self.call("chat.postMessage", channel=channel, text=text, **more)
        message: dict[str, Any] = {**posted["message"], **more}
        await self.tell(channel, {**message, "type": "message"})
        return message

    async def tell(self, channel: str, event: dict[str, Any]) -> None:
        """Slack tells the app, signed."""
        kind = "im" if channel.startswith("D") else "channel"
        wrapped = self.team.slack.wrapped({**event, "channel": channel, "channel_type": kind})
        wrapped |= {"team_id": "T000000001", "authorizations": [{"team_id": "T000000001"}]}
        async with aiohttp.ClientSession(address(self.team)) as session:
            assert await deliver(session, wrapped) == 200

    async def thread(self, channel: str, root: str) -> list[tuple[str, str]]:
        """Who said what in a thread, as everybody there sees it."""
        found = await self.call("conversations.replies", channel=channel, ts=root)
        return [(message["user"], message["text"]) for message in found["messages"]]

    async def answered(self, channel: str, root: str, count: int) -> list[str]:
        """The bot's messages in a thread, once there are so many and nothing runs."""
        said: list[str] = []
        for _ in range(200):
            said = [text for who, text in await self.thread(channel, root) if who == self.bot]
            await self.team.quiet()
            if len(said) >= count:
                return said
        raise AssertionError(said)


@asynccontextmanager
async def relay(target: str) -> AsyncIterator[str]:
    """A server between the SDK and emulate."""

    async def api(request: web.Request) -> web.StreamResponse:
        given = await _arguments(request)
        headers = {"Authorization": request.headers.get("Authorization", "")}
        where = f"{target}/api/{request.match_info['method']}"
        async with (
            aiohttp.ClientSession() as session,
            session.post(where, json=given, headers=headers) as answer,
        ):
            return web.json_response(await answer.json(), status=answer.status)

    app = web.Application()
    app.router.add_route("*", "/api/{method}", api)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def emulated(database: str, model: Scripted) -> AsyncIterator[Emulated]:
    """The bot at work on emulate."""
    with emulate.running(STATE) as url:
        async with relay(url) as relayed, aiohttp.ClientSession() as session:
            desk = opened(database, model)
            setup = Setup(BOT_TOKEN, signing_secret=SECRET, port=0, base_url=f"{relayed}/api/")
            adapter = Adapter(desk, setup)
            desk.platforms["slack"] = adapter.outbound
            await adapter.connect()
            await desk.start()
            await adapter.listen()
            team = Team(Slack(), desk, adapter)
            talk = Emulated(url, team, session, "", "")
            talk.bot = (await talk.call("auth.test", BOT_TOKEN))["user_id"]
            talk.ada = (await talk.call("auth.test"))["user_id"]
            await talk.call("conversations.join", BOT_TOKEN, channel=GENERAL)
            try:
                yield talk
            finally:
                await adapter.stop()
                await desk.stop(10)


def opened(url: str, model: Scripted) -> Desk:
    """A house over that database."""
    database = Database(url)
    engine = Engine(database)
    engine.prepare()
    engine.close()
    database.run_now(seed, local_people=False)
    return Desk(Settings(home=Path("/nowhere"), database_url=url), database, model)


async def test_talk_in_a_channel_a_thread_and_a_direct_message(database_url: str) -> None:
    async with emulated(database_url, Scripted(["One.", "Two.", "Three."])) as talk:
        first = await talk.say(GENERAL, f"<@{talk.bot}> hello")
        root = first["ts"]
        assert await talk.answered(GENERAL, root, 1) == ["One."]
        await talk.say(GENERAL, "and then?", thread_ts=root)
        assert await talk.answered(GENERAL, root, 2) == ["One.", "Two."]
        direct = (await talk.call("conversations.open", users=talk.bot))["channel"]["id"]
        asked = await talk.say(direct, "and here?")
        assert await talk.answered(direct, asked["ts"], 1) == ["Three."]
        await talk.tell(GENERAL, first)
        assert await talk.answered(GENERAL, root, 2) == ["One.", "Two."]


async def test_an_edit_is_followed_and_a_deletion_forgotten(fresh_sqlite: str) -> None:
    async with emulated(fresh_sqlite, Scripted()) as talk:
        said = await talk.say(GENERAL, f"<@{talk.bot}> deploy to stagin")
        await talk.answered(GENERAL, said["ts"], 1)
        now = f"<@{talk.bot}> deploy to staging"
        await talk.call("chat.update", channel=GENERAL, ts=said["ts"], text=now)
        changed = {**said, "text": now, "edited": {"ts": "1900000000.0"}}
        event = {
            "type": "message",
            "subtype": "message_changed",
            "message": changed,
            "previous_message": said,
        }
        await talk.tell(GENERAL, event)
        assert await texts(talk) == ["deploy to staging"]
        await talk.call("chat.delete", channel=GENERAL, ts=said["ts"])
        gone = {"type": "message", "subtype": "message_deleted", "deleted_ts": said["ts"]}
        await talk.tell(GENERAL, gone)
        assert "staging" not in str(await texts(talk))
        assert len(await talk.answered(GENERAL, said["ts"], 1)) == 1


async def texts(talk: Emulated) -> list[str]:
    """What people said, as it is kept."""
    return await talk.team.desk.database.read(
        lambda session: list(session.scalars(select(Entry.text).where(Entry.kind == "message")))
    )
