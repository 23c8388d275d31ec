"""The team of the memory tests with commands to type and tools to call."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from bot.commands import registry
from bot.commands.command import Caller
from bot.messages import CommandResult
from bot.settings import Settings
from bot.tools.registry import TOOLS
from bot.tools.tool import ToolCall, ToolResult
from memory.audience import person_viewer, viewer
from memory.bots import Bot
from memory.conversations import Entry
from memory.people import speaker
from tests.memory.world import BOT, World, account, place

SETTINGS = Settings(home=Path(), database_url="")


@dataclass
class Office(World):
    """People who type commands in places, and a bot whose tools are called in their turns."""

    tools: dict[str, Any] = field(default_factory=lambda: {tool.name: tool for tool in TOOLS})

    def type(
        self, name: str, channel: str, text: str, *, bot: str = BOT, thread: str | None = None
    ) -> CommandResult:
        """A typed command, in one transaction."""
        return self.run(_typed, name, channel, text, bot, thread)

    def ids(self, name: str, channel: str = "dm", scope: str = "mine") -> dict[str, str]:
        """What `/memory show` lists: texts and their ids."""
        return {row["text"]: row["id"] for row in self.type(name, channel, f"/memory show {scope}").rows}

    def call(self, tool: str, entry: Entry, *, call_id: str = "call-1", **arguments: Any) -> ToolResult:
        """A tool call in the turn of a message, as a model makes it."""
        checked = self.tools[tool].arguments.model_validate(arguments)
        result: ToolResult = asyncio.run(self.tools[tool].run(self.turn(entry, call_id), checked))
        return result

    def turn(self, entry: Entry, call_id: str = "call-1") -> ToolCall:
        """The call's surroundings: all from the message, nothing from the model."""
        assert entry.turn_id is not None
        return ToolCall(
            database=self.database,
            settings=SETTINGS,
            team_id=entry.team_id,
            bot_id=entry.bot_id,
            conversation_id=entry.conversation_id,
            place_id=entry.place_id,
            account_id=entry.account_id,
            turn_id=entry.turn_id,
            step=0,
            call_id=call_id,
            ephemeral=entry.ephemeral,
        )


def _typed(
    session: Session, name: str, channel: str, text: str, bot: str, thread: str | None
) -> CommandResult:
    who = speaker(session, account(session, name).id)
    where = place(session, f"dm-{name}" if channel == "dm" else channel)
    caller = Caller(
        speaker=who,
        place=where,
        bot=session.get_one(Bot, bot),
        viewer=person_viewer(session, bot, who),
        here=viewer(session, bot, where, who.account_id),
        settings=SETTINGS,
        thread=thread,
    )
    return registry.run(session, caller, *registry.parse(text))
