"""Events that are no messages: tabs opened, people and channels that change, stop buttons, goodbyes."""

import logging
from dataclasses import replace

from slack_sdk.errors import SlackApiError

from adapters.slack.acting import Acting
from adapters.slack.greeting import PROMPTS, PROMPTS_TITLE, introduction
from adapters.slack.inbound import Came, Incoming, Opened, PersonChanged, PlaceChanged, Stopped, Uninstalled
from adapters.slack.people import Directory
from adapters.slack.receiving import Receiving, Remembered
from adapters.slack.status import Statuses
from adapters.slack.workspace import error_code
from bot.errors import BotError
from bot.messages import Address, Door, Surroundings

log = logging.getLogger("teambot.slack")

DIRECT = Surroundings("dm", "Direct message")


class Following:
    """Follows one workspace."""

    def __init__(
        self, door: Door, directory: Directory, receiving: Receiving, acting: Acting, statuses: Statuses
    ) -> None:
        self._door = door
        self._directory = directory
        self._space = directory.workspace
        self._receiving = receiving
        self._acting = acting
        self._statuses = statuses
        self._prompted = Remembered()

    async def follow(self, item: Incoming) -> bool:
        """Follows an event; says whether the workspace is gone."""
        if isinstance(item, Opened):
            await self._opened(item)
        elif isinstance(item, Came):
            await self._came(item)
        elif isinstance(item, PlaceChanged):
            self._directory.forget_place(item.channel)
            await self.place_changed(item.channel)
        elif isinstance(item, PersonChanged):
            await self._person(item)
        elif isinstance(item, Stopped):
            where = self._receiving.address(item.channel, item.thread)
            await self.stop(where, item.user)
        return isinstance(item, Uninstalled)

    async def stop(self, where: Address, user: str) -> None:
        """Stops the answer that is written there, if that person may."""
        who = await self._directory.author(user)
        place = await self._directory.surroundings(where.channel)
        try:
            await self._door.stop_turn(where, who, place)
        except BotError as refusal:
            log.info("an answer was not stopped: %s", refusal.code)
            return
        await self._statuses.end(self._space, where.channel, where.thread, posted=False)

    async def place_changed(self, channel: str) -> None:
        """Tells the house how a channel is now."""
        place = await self._directory.surroundings(channel)
        await self._door.surroundings_changed(self._receiving.address(channel, None), place)

    async def _opened(self, item: Opened) -> None:
        if item.tab == "home":
            await self._acting.publish(item.user)
            return
        who = await self._directory.author(item.user)
        if not item.channel.startswith("D"):
            return
        await self._door.opened(self._receiving.address(item.channel, None), who, DIRECT)
        if item.tab == "messages" and not self._prompted.get(item.user):
            self._prompted.keep(item.user)
            await self._prompts(item.channel)

    async def _prompts(self, channel: str) -> None:
        try:
            await self._space.client.assistant_threads_setSuggestedPrompts(
                channel_id=channel, title=PROMPTS_TITLE, prompts=PROMPTS
            )
        except (TimeoutError, SlackApiError, OSError) as error:
            log.info("prompts could not be set: %s", error_code(error) or type(error).__name__)

    async def _came(self, item: Came) -> None:
        if item.user == self._space.me.user:
            if item.joined:
                await self._introduce(item.channel)
            return
        who = await self._directory.author(item.user)
        if self._directory.came(item.channel, who, joined=item.joined):
            await self.place_changed(item.channel)

    async def _introduce(self, channel: str) -> None:
        self._directory.forget_place(channel)
        place = await self._directory.surroundings(channel)
        words = introduction(self._space.handle or "teambot", shared=place.external)
        await self._space.posts.chat_postMessage(channel=channel, **words)

    async def _person(self, item: PersonChanged) -> None:
        who = self._directory.changed(item.user)
        if who.standing == "guest":
            self._directory.guests.add(who.id)
            channels = await self._directory.learn_guest(who.id)
        else:
            channels = (
                self._directory.forget_guest(who.id) if who.standing in ("member", "deactivated") else set()
            )
        await self._door.person_changed(self._receiving.address("", None), replace(who))
        for channel in channels:
            await self.place_changed(channel)
