"""A team on Slack: the real house, the real adapter, the thinnest Slack."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adapters.slack.adapter import Slack as Adapter
from adapters.slack.setup import Setup
from adapters.slack.socket import Patience
from bot.desk import Desk
from bot.engine import Engine
from bot.model import Model
from bot.seeding import seed
from bot.settings import Settings
from bot.testing import Scripted
from memory.database import Database
from tests.adapters.slack.server import BOT, TEAM, Slack, running

ADA, BEN, DANA, EVE = "U0ADA", "U0BEN", "U0DANA", "U0EVE"
GENERAL, OPS, SHARED = "C0GENERAL", "C0OPS", "C0SHARED"
BRISK = Patience(check=0.2, quiet=0.6, deaf=60, overlap=100)


@dataclass
class Team:
    """`slack` is what people see, `desk` the house, `adapter` what is tested."""

    slack: Slack
    desk: Desk
    adapter: Adapter

    async def ask(self, channel: str, user: str, text: str, **more: Any) -> str:
        """A message to the bot, and the text of its next finished reply there."""
        before = len(self.slack.done(channel))
        mention = "" if channel.startswith("D") or "thread_ts" in more else f"<@{BOT}> "
        await self.slack.say(channel, user, mention + text, **more)
        await self.slack.until(lambda: len(self.slack.done(channel)) > before)
        return self.slack.done(channel)[-1]

    async def press(self, channel: str, user: str, action: str, value: str, **more: Any) -> None:
        """Somebody presses a button of a message of the bot."""
        message = (self.slack.replies(channel) or [{"ts": self.slack.ts()}])[-1]
        await self.slack.tell(
            {
                "type": "block_actions",
                "team": {"id": TEAM},
                "user": {"id": user, "team_id": TEAM},
                "api_app_id": "A0APP",
                "trigger_id": self.slack.ts(),
                "response_url": f"{self.slack.url}/hook/1",
                "channel": {"id": channel},
                "container": {"type": "message", "message_ts": message["ts"], "channel_id": channel},
                "message": {key: message[key] for key in ("ts", "thread_ts") if key in message},
                "actions": [{"type": "button", "block_id": "b", "action_id": action, "value": value}],
                **more,
            },
            kind="interactive",
        )

    async def slash(self, channel: str, user: str, command: str, text: str = "") -> dict[str, Any]:
        """Somebody uses a slash command; what they alone are told."""
        before = len(self.slack.hooks)
        await self.slack.tell(
            {
                "command": command,
                "text": text,
                "user_id": user,
                "team_id": TEAM,
                "channel_id": channel,
                "trigger_id": self.slack.ts(),
                "response_url": f"{self.slack.url}/hook/1",
            },
            kind="slash_commands",
        )
        await self.slack.until(lambda: len(self.slack.hooks) > before)
        return self.slack.hooks[-1]

    async def quiet(self) -> None:
        """Waits until no turn runs."""
        from sqlalchemy import select

        from memory.turns import Turn

        async with asyncio.timeout(20):
            while await self.desk.database.read(
                lambda session: session.scalar(select(Turn.id).where(Turn.status == "running").limit(1))
            ):
                await asyncio.sleep(0.05)


def peopled(slack: Slack) -> Slack:
    """Ada (owner), Ben, Dana (a guest), Eve (of elsewhere) and their channels."""
    slack.person(ADA, "Ada", is_primary_owner=True)
    slack.person(BEN, "Ben")
    slack.person(DANA, "Dana", is_restricted=True)
    slack.person(EVE, "Eve", team_id="T0OTHER", is_stranger=True)
    slack.channel(GENERAL, "general", ADA, BEN)
    slack.channel(OPS, "ops", ADA, BEN, is_private=True)
    slack.channel(SHARED, "shared", ADA, EVE, is_ext_shared=True)
    for user in (ADA, BEN, DANA, EVE):
        channel = f"D{user[1:]}"
        slack.channels[channel] = {"id": channel, "is_im": True}
        slack.members[channel] |= {user, BOT}
    return slack


@asynccontextmanager
async def working(url: str, slack: Slack, model: Model | None = None, **options: Any) -> AsyncIterator[Team]:
    """A team whose Slack runs already."""
    database = Database(url)
    engine = Engine(database)
    engine.prepare()
    engine.close()
    database.run_now(seed, local_people=False)
    desk = Desk(Settings(home=Path("/nowhere"), database_url=url), database, model or Scripted())
    desk.loop.answering.deadline = 30
    tokens: dict[str, Any] = {"bot_token": "xoxb-1", "app_token": "xapp-1", **options}
    adapter = Adapter(desk, Setup(base_url=f"{slack.url}/api/", patience=BRISK, ping=0.5, **tokens))
    desk.platforms["slack"] = adapter.outbound
    await adapter.connect()
    await desk.start()
    await adapter.listen()
    try:
        yield Team(slack, desk, adapter)
    finally:
        await adapter.stop()
        await desk.stop(10)


@asynccontextmanager
async def at_work(url: str, model: Model | None = None, **options: Any) -> AsyncIterator[Team]:
    """A team at work."""
    async with running(peopled(Slack())) as slack, working(url, slack, model, **options) as team:
        yield team
