"""The house: every part made once and put together; implements what platforms may ask of the bot."""

import importlib
import logging
from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from bot import turns
from bot.answering import Answering
from bot.calling import Calling
from bot.commands import registry
from bot.commands.command import Caller
from bot.compaction import idle_task
from bot.delivery import Delivery
from bot.engine import Engine, step
from bot.errors import NotAllowed
from bot.indexing import Indexing
from bot.intake import channel_key, committed
from bot.local import LocalPlatform
from bot.loop import Loop
from bot.messages import (
    Accepted,
    Address,
    Author,
    CommandCall,
    CommandResult,
    Deleted,
    Edited,
    Message,
    Platform,
    Surroundings,
)
from bot.model import Model
from bot.offline import NAME as OFFLINE
from bot.prewarm import Prewarm
from bot.reception import Reception
from bot.reservation import Reservation
from bot.settings import Settings
from bot.surroundings import conversation_key, find_conversation, scene
from bot.tools.registry import TOOLS
from bot.tools.tool import Tool
from memory.audience import may_enter, person_viewer, viewer
from memory.database import Database, now
from memory.files import sweep
from memory.following import message_deleted, message_edited
from memory.meaning import Meaning
from memory.people import LOCAL
from memory.turns import Outgoing, Turn
from memory.vectors import Embedder

log = logging.getLogger("teambot.house")


class House(Reception):
    """Implements `bot.messages.Door`. `start` begins to run turns in this process."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        model: Model,
        embedder: Embedder | None = None,
        tools: tuple[Tool, ...] = TOOLS,
    ) -> None:
        self.tools = tools
        self.settings = settings
        self.database = database
        database.home = settings.home
        self.model = model
        self.engine = Engine(database)
        self.local = LocalPlatform()
        self.platforms: dict[str, Platform] = {LOCAL: self.local}
        self.further: dict[str, Any] = {}
        """Kinds of workflows that other packages bring, with what runs them."""
        self.delivery = Delivery(database, self.engine, self.platforms)
        self.answering = Answering(database, model, tools, self.talk_model, settings.daily_cap)
        self.meaning = Meaning(embedder) if embedder is not None else None
        self.indexing = Indexing(database, embedder)
        self.calling = Calling(database, settings, tools, self.meaning)
        self.prewarm = Prewarm(database, model, tools, self.talk_model, settings.daily_cap)
        self.loop = Loop(database, self.engine, self.answering, self.calling, self.delivery)

    @property
    def talk_model(self) -> str:
        """The model that answers."""
        return self.settings.model if self.settings.has_model else OFFLINE

    def handlers(self) -> Mapping[str, Any]:
        """Every kind of workflow and what runs it."""
        own = {"turn": self._turn, "pass": self._pass, "summary": self._summary}
        return {**own, **self.loop.handlers(), **self.further}

    async def _summary(self, _: str, conversation_id: str, due: str) -> str:
        """An idle summary, on the conversation's own lane: no turn runs meanwhile."""

        async def work() -> dict[str, bool]:
            task = await self.database.run(
                idle_task,
                conversation_id,
                due,
                self.answering.options(),
                self.model.worst_cost,
                self.settings.daily_cap,
            )
            return {"made": task is not None and await self.answering.window.summarise(task)}

        found = await step("summarise", work)
        return "made" if found["made"] else "skipped"

    async def start(self) -> None:
        """Runs turns in this process."""
        await self.database.run(sweep)
        await self.engine.launch(self.handlers(), self.loop.rescue)
        self.indexing.start()

    async def stop(self, seconds: int = 20) -> None:
        """Stops: turns in flight get some seconds, the rest goes on at the next start."""
        await self.prewarm.stop()
        await self.indexing.stop()
        await self.engine.stop(seconds)
        close = getattr(self.model, "aclose", None)
        if close is not None:
            await close()
        self.engine.close()
        self.database.close()

    async def accept(self, message: Message) -> Accepted:
        """Commits a message and its turn."""
        accepted = await committed(self.database, self.engine, message)
        if not accepted.repeated:
            await self._tell(message.address, {"type": "line"})
        return accepted

    async def edited(self, change: Edited) -> None:
        """Follows an edit."""
        where = change.address
        await self.database.run(
            message_edited,
            where.platform,
            where.workspace,
            where.channel,
            change.message_id,
            change.text,
            change.at,
        )
        await self._tell(where, {"type": "line"})

    async def deleted(self, change: Deleted) -> None:
        """Follows a deletion."""
        where = change.address
        await self.database.run(
            message_deleted, where.platform, where.workspace, where.channel, change.message_id, now()
        )
        await self._tell(where, {"type": "line"})

    async def opened(
        self, address: Address, author: Author, place: Surroundings, *, bot: str | None = None
    ) -> None:
        """Somebody opened the talk or types: their account and place are made known."""
        await self.database.run(_known, address, author, place, bot)
        self.prewarm.begin(address, author, place, bot, self.answering.options())

    async def command(self, call: CommandCall) -> CommandResult:
        """Runs a command by name."""
        return await self._commanded(call, None)

    async def typed(self, call: CommandCall, text: str) -> CommandResult:
        """Runs a typed command."""
        return await self._commanded(call, text)

    async def stop_turn(
        self, address: Address, author: Author, place: Surroundings, bot: str | None = None
    ) -> bool:
        """Asks the turn that runs there to end."""
        return await self.database.run(_stop, address, author, place, bot)

    async def _commanded(self, call: CommandCall, text: str | None) -> CommandResult:
        result = await self.database.run(_command, self.settings, call, text, self.meaning)
        await self._tell(call.address, {"type": "memory"})
        return result

    async def _turn(self, workflow_id: str, conversation_id: str) -> str:
        outcome = await self.loop.turn(workflow_id, conversation_id)
        await self._told(workflow_id, "line")
        return outcome

    async def _pass(self, _: str, turn_id: str) -> str:
        async def work() -> dict[str, int]:
            # Its many patterns take a fifth of a second to compile: not at the start, and not in the loop.
            remembering = await self.database.apart(importlib.import_module, "bot.remembering")
            try:
                outcome = await remembering.remember(
                    self.database,
                    self.model,
                    self.settings,
                    turn_id,
                    Reservation(self.database, self.settings, turn_id),
                )
                return {"added": len(outcome.added), "refused": len(outcome.refused)}
            except Exception as error:
                log.warning("the memory pass of %s failed: %s", turn_id, type(error).__name__)
                return {"failed": 1}
            finally:
                await self.database.run(_settled, turn_id)

        await step("remember", work)
        await self._told(turn_id, "memory")
        return "done"

    async def _told(self, turn_id: str, kind: str) -> None:
        address = await self.database.read(_where, turn_id)
        if address is not None:
            await self._tell(address, {"type": kind})

    async def _tell(self, address: Address, event: dict[str, Any]) -> None:
        if address.platform == LOCAL:
            await self.local.tell(address.channel, address.thread, event)


def caller(session: Session, settings: Settings, call: CommandCall, meaning: Meaning | None = None) -> Caller:
    """Who calls a command, by the rows of now."""
    here = scene(session, call.address, call.author, call.place, call.bot)
    if call.address.platform == LOCAL and not may_enter(session, here.place, here.who):
        raise NotAllowed("You are not in that channel.")
    return Caller(
        speaker=here.who,
        place=here.place,
        bot=here.bot,
        viewer=person_viewer(session, here.bot.id, here.who),
        here=viewer(session, here.bot.id, here.place, here.who.account_id),
        settings=settings,
        thread=call.address.thread,
        meaning=meaning,
    )


def _command(
    session: Session, settings: Settings, call: CommandCall, text: str | None, meaning: Meaning | None = None
) -> CommandResult:
    who = caller(session, settings, call, meaning)
    if text is None:
        return registry.run(session, who, registry.find(call.name), dict(call.arguments))
    command, arguments = registry.parse(text)
    return registry.run(session, who, command, arguments)


def _known(session: Session, address: Address, author: Author, place: Surroundings, bot: str | None) -> None:
    scene(session, address, author, place, bot)


def _stop(session: Session, address: Address, author: Author, place: Surroundings, bot: str | None) -> bool:
    here = scene(session, address, author, place, bot)
    key = conversation_key(here.place, here.who, address.thread, ephemeral=False)
    conversation = find_conversation(session, here.bot.id, key)
    return conversation is not None and turns.request_stop(session, conversation.id, here.who) is not None


def _settled(session: Session, turn_id: str) -> None:
    turn = session.get(Turn, turn_id)
    if turn is not None:
        turn.settled_at = now()


def _where(session: Session, turn_id: str) -> Address | None:
    row = session.get(Outgoing, f"{turn_id}:0")
    return Address(row.platform, row.workspace, row.channel, row.thread) if row else None


__all__ = ["House", "caller", "channel_key"]
