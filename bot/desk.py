"""The desk: the local platform as the page and the command line use it; implements `bot.messages.Desk`."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from bot import desk_rows
from bot.errors import BadInput, BotError
from bot.health import health
from bot.house import House
from bot.messages import (
    Accepted,
    CommandCall,
    CommandResult,
    Deleted,
    Edited,
    Line,
    Listener,
    Local,
    Message,
)
from bot.outcome import outcome_of
from bot.preview import previewed
from bot.seeding import TEAM_ID
from bot.settings import Settings
from bot.usage import GROUPS, span_of, usage
from memory.database import now

POLL_SECONDS = 0.05
Check = Callable[[Settings], Awaitable[list[dict[str, Any]]]]


class NotAnswered(BotError):
    """There is no answer yet; the message is kept and will be answered when teambot runs."""


class Desk(House):
    """Everything that a local person can do. `checks` are what platforms add to `doctor`."""

    checks: tuple[Check, ...] = ()

    async def say(self, local: Local, text: str, *, overheard: bool = False) -> Accepted:
        """Commits a local message."""
        address, author, place = await self.database.read(desk_rows.scene_of, local)
        return await self.accept(
            Message(
                address=address,
                id="",
                author=author,
                place=place,
                text=text,
                said_at=now(),
                addressed=not overheard,
                ephemeral=local.ephemeral,
                bot=local.bot,
            )
        )

    async def outcome(
        self,
        accepted: Accepted,
        *,
        settle: bool = False,
        timeout: float = 300.0,
    ) -> dict[str, Any]:
        """Waits for the reply (and the memory pass)."""
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout
        while True:
            found = await self.database.read(outcome_of, accepted, settle)
            if found is not None:
                return found
            if loop.time() > end:
                raise NotAnswered
            await asyncio.sleep(POLL_SECONDS)

    async def run_typed(self, local: Local, text: str) -> CommandResult:
        """Runs a typed command of a local person."""
        return await self.typed(await self._call(local), text)

    async def _call(self, local: Local) -> CommandCall:
        address, author, place = await self.database.read(desk_rows.scene_of, local)
        return CommandCall(address, author, place, "", bot=local.bot)

    async def edit(self, local: Local, message_id: str, text: str | None) -> None:
        """Changes or deletes a local person's own message."""
        address, _, _ = await self.database.read(desk_rows.scene_of, local)
        await self.database.read(desk_rows.own_message, local, address, message_id)
        if text is None:
            await self.deleted(Deleted(address, message_id))
        else:
            desk_rows.refuse_empty(text)
            await self.edited(Edited(address, message_id, text, now()))

    async def people(self) -> list[dict[str, Any]]:
        """Local people."""
        return await self.database.read(desk_rows.people)

    async def places(self, person: str) -> list[dict[str, Any]]:
        """Channels that a person takes part in."""
        return await self.database.read(desk_rows.places, person)

    async def bots(self, person: str) -> list[dict[str, Any]]:
        """Bots that a person may talk to."""
        return await self.database.read(desk_rows.bots, person)

    async def set_person(self, name: str, *, guest: bool | None = None) -> dict[str, Any]:
        """Creates or updates a local person; None leaves it as it is."""
        return await self.database.run(desk_rows.set_person, name, guest)

    async def set_place(
        self,
        name: str,
        *,
        private: bool | None = None,
        external: bool | None = None,
        members: tuple[str, ...] | None = None,
    ) -> dict[str, Any]:
        """Creates or updates a local channel; None leaves it as it is."""
        return await self.database.run(desk_rows.set_place, name, private, external, members)

    async def lines(self, local: Local, *, before: str | None = None, limit: int = 50) -> list[Line]:
        """The talk there."""
        return await self.database.read(desk_rows.lines, local, before, limit)

    async def memories(self, local: Local, query: str | None = None) -> list[dict[str, Any]]:
        """What the readers of a reply there may read."""
        return await self.database.read(desk_rows.memories, local, query, self.meaning)

    async def prompt(self, local: Local, text: str) -> dict[str, Any]:
        """The request that a message would send; stores and sends nothing."""
        return await self.database.run(
            previewed, self.engine, local, text, self.tools, self.talk_model, self.answering.options()
        )

    async def listen(self, local: Local, listener: Listener) -> Callable[[], None]:
        """Tells a listener what happens there, as long as they take part there."""
        address, author, _ = await self.database.read(desk_rows.scene_of, local)

        async def heard(event: dict[str, Any]) -> None:
            if event["type"] != "draft" or await self.database.read(desk_rows.takes_part, local):
                await listener(event)

        return self.local.listen(address.channel, address.thread, author.id, heard)

    async def stop_local(self, local: Local) -> bool:
        """Stops the answer that is made there."""
        address, author, place = await self.database.read(desk_rows.scene_of, local)
        return await self.stop_turn(address, author, place, local.bot)

    async def open_local(self, local: Local) -> None:
        """A local person opened the talk or types."""
        address, author, place = await self.database.read(desk_rows.scene_of, local)
        await self.opened(address, author, place, bot=local.bot)

    async def usage(self, by: str, days: int) -> list[dict[str, Any]]:
        """What models used and cost."""
        if by not in GROUPS:
            raise BadInput(f"Usage is grouped by one of: {', '.join(GROUPS)}.")
        return await self.database.read(usage, span_of(TEAM_ID, days), by)

    async def health(self) -> list[dict[str, Any]]:
        """What `doctor` says."""
        rows = await health(self.settings, self.database, self.model)
        return [*rows, *[row for check in self.checks for row in await check(self.settings)]]

    def model_name(self) -> str:
        """The model that answers."""
        return self.talk_model
