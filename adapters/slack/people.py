"""Who people are and who reads a channel, by Slack's own flags; what is not known counts as unknown."""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from slack_sdk.errors import SlackApiError

from adapters.slack.workspace import Workspace, error_code
from bot.messages import Author, PlaceKind, Presence, Rank, Standing, Surroundings

log = logging.getLogger("teambot.slack")

PERSON_SECONDS = 600.0
PLACE_SECONDS = 120.0
PROBLEMS = (SlackApiError, OSError, asyncio.TimeoutError)
KINDS: dict[str, PlaceKind] = {"im": "dm", "mpim": "private", "group": "private", "channel": "public"}
SHARED = ("is_ext_shared", "is_pending_ext_shared", "is_shared", "is_org_shared")
GUEST_CHANNELS = "public_channel,private_channel,mpim"


def standing(user: Mapping[str, Any], workspace: str) -> Standing:
    """What a person is to this workspace."""
    if user.get("deleted"):
        return "deactivated"
    if user.get("is_bot") or user.get("is_workflow_bot"):
        return "unmapped"
    grid = user.get("enterprise_user") or {}
    teams = grid.get("teams") or [] if isinstance(grid, dict) else []
    home = user.get("team_id")
    if user.get("is_stranger") or (home and home != workspace and workspace not in teams):
        return "external"
    if user.get("is_restricted") or user.get("is_ultra_restricted"):
        return "guest"
    return "member"


def author_of(user: Mapping[str, Any], workspace: str) -> Author:
    """A person as Slack describes them."""
    profile = user.get("profile") or {}
    shown = profile.get("display_name") or profile.get("real_name") if isinstance(profile, dict) else ""
    name = shown or user.get("real_name") or user.get("name") or user.get("id") or ""
    rank: Rank = "member"
    if user.get("is_primary_owner"):
        rank = "owner"
    elif user.get("is_admin") or user.get("is_owner"):
        rank = "admin"
    zone = user.get("tz")
    return Author(
        id=str(user.get("id") or ""),
        name=str(name),
        standing=standing(user, workspace),
        zone=str(zone) if zone else None,
        rank=rank,
    )


@dataclass
class Directory:
    """People and channels of one workspace, kept for minutes and dropped when Slack says they changed."""

    workspace: Workspace
    people: dict[str, tuple[float, Author]] = field(default_factory=dict)
    places: dict[str, tuple[float, dict[str, Any]]] = field(default_factory=dict)
    guests: set[str] = field(default_factory=set)
    where_guests: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    knows_guests: bool = False

    async def author(self, user: str, user_team: str = "", *, is_bot: bool = False) -> Author:
        """A person; who cannot be looked up counts as unmapped and reads only their own."""
        if is_bot:
            return Author(user, "another bot", "unmapped")
        kept = self.people.get(user)
        if kept is None or kept[0] < time.monotonic():
            kept = (time.monotonic() + PERSON_SECONDS, await self._looked_up(user))
            if kept[1].standing != "unmapped":
                self.people[user] = kept
        found = kept[1]
        foreign = bool(user_team) and user_team[:1] == "T" and user_team != self.workspace.id
        if foreign and found.standing == "member":
            return Author(found.id, found.name, "external", found.zone)
        return found

    async def surroundings(
        self, channel: str, channel_type: str = "", *, shared: bool = False
    ) -> Surroundings:
        """A channel by its flags of now; where Slack does not tell, its readers are unknown."""
        info = await self._info(channel)
        if info is None:
            kind = KINDS.get(channel_type) or ("dm" if channel[:1] == "D" else "private")
            return Surroundings(kind, external=shared, guests="no" if kind == "dm" else "unknown")
        if info.get("is_im"):
            return Surroundings("dm", "Direct message")
        private = info.get("is_private") or info.get("is_mpim") or info.get("is_group")
        external = shared or any(
            info.get(flag)
            for flag in ("is_ext_shared", "is_pending_ext_shared", "is_shared", "is_org_shared")
        )
        return Surroundings(
            kind="private" if private else "public",
            name=str(info.get("name") or ""),
            external=bool(external),
            guests=self.guests_in(channel),
        )

    def guests_in(self, channel: str) -> Presence:
        """Whether guests read a channel."""
        if self.where_guests.get(channel):
            return "yes"
        return "no" if self.knows_guests else "unknown"

    async def names(self, users: Iterable[str]) -> dict[str, str]:
        """How the people in a text are called."""
        found = {self.workspace.me.user: self.workspace.handle}
        for user in list(dict.fromkeys(users))[:20]:
            if user not in found:
                found[user] = (await self.author(user)).name
        return found

    def changed(self, user: Mapping[str, Any]) -> Author:
        """Slack told of a person who changed."""
        author = author_of(user, self.workspace.id)
        if "deleted" in user and "is_restricted" in user:
            self.people[author.id] = (time.monotonic() + PERSON_SECONDS, author)
        else:
            self.people.pop(author.id, None)
        return author

    def forget_place(self, channel: str) -> None:
        """Slack told of a channel that changed."""
        self.places.pop(channel, None)

    def came(self, channel: str, author: Author, *, joined: bool) -> bool:
        """Somebody came or left; says whether the guests of the channel are others now."""
        before = self.guests_in(channel)
        if joined and author.standing in ("guest", "external"):
            self.where_guests[channel].add(author.id)
        elif not joined:
            self.where_guests[channel].discard(author.id)
        return self.guests_in(channel) != before

    async def learn_guests(self) -> None:
        """Asks once who the guests are and where they read; until then nobody knows."""
        try:
            async for page in await self.workspace.client.users_list(limit=200):
                self.guests |= {
                    str(user["id"])
                    for user in page.get("members") or []
                    if standing(user, self.workspace.id) in ("guest", "external")
                }
            for guest in sorted(self.guests):
                await self.learn_guest(guest)
        except PROBLEMS as error:
            log.warning("guests could not be listed: %s", error_code(error) or type(error).__name__)
            return
        self.knows_guests = True

    async def learn_guest(self, guest: str) -> set[str]:
        """Asks where one guest reads now; the channels that changed."""
        found: set[str] = set()
        pages = await self.workspace.client.users_conversations(
            user=guest, types=GUEST_CHANNELS, limit=200, exclude_archived=True
        )
        async for page in pages:
            found |= {str(channel["id"]) for channel in page.get("channels") or []}
        was = {channel for channel, who in self.where_guests.items() if guest in who}
        for channel in was - found:
            self.where_guests[channel].discard(guest)
        for channel in found:
            self.where_guests[channel].add(guest)
        return was ^ found

    def forget_guest(self, person: str) -> set[str]:
        """That person is no guest any more; the channels that changed."""
        self.guests.discard(person)
        was = {channel for channel, who in self.where_guests.items() if person in who}
        for channel in was:
            self.where_guests[channel].discard(person)
        return was

    async def _looked_up(self, user: str) -> Author:
        try:
            answer = await self.workspace.client.users_info(user=user, include_locale=True)
        except PROBLEMS as error:
            log.info("a person could not be looked up: %s", error_code(error) or type(error).__name__)
            return Author(user, user, "unmapped")
        found = answer.get("user")
        return (
            author_of(found, self.workspace.id) if isinstance(found, dict) else Author(user, user, "unmapped")
        )

    async def _info(self, channel: str) -> dict[str, Any] | None:
        kept = self.places.get(channel)
        if kept is not None and kept[0] > time.monotonic():
            return kept[1]
        try:
            answer = await self.workspace.client.conversations_info(channel=channel)
        except PROBLEMS as error:
            log.info("a channel could not be looked up: %s", error_code(error) or type(error).__name__)
            return None
        info = answer.get("channel")
        if not isinstance(info, dict):
            return None
        self.places[channel] = (time.monotonic() + PLACE_SECONDS, info)
        return info
