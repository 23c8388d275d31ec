"""Which talk an address is: a person, and a channel or a direct message with a bot."""

from dataclasses import dataclass
from urllib.parse import quote

from aiohttp import web

from bot.messages import Local

CHANNEL_ROUTE = "/as/{person}/in/{channel}"
DIRECT_ROUTE = "/as/{person}/with/{bot}"


@dataclass(frozen=True)
class Talk:
    """One person's view of one place. `bot` is set in direct messages; `channel` starts with #."""

    person: str
    channel: str | None = None
    bot: str | None = None

    @property
    def is_direct(self) -> bool:
        """Whether only this person and the bot are in it."""
        return self.channel is None

    @property
    def title(self) -> str:
        """What stands above the talk."""
        return self.channel or label(self.bot or "")

    @property
    def path(self) -> str:
        """The address of its page."""
        return (
            channel_path(self.person, self.channel)
            if self.channel
            else direct_path(self.person, self.bot or "")
        )

    @property
    def shared_key(self) -> tuple[str | None, ...]:
        """The same for everybody who sees the same turn running."""
        return (self.channel,) if self.channel else self.own_key

    @property
    def own_key(self) -> tuple[str | None, ...]:
        """The same for the tabs of this person in this talk."""
        return (self.channel, self.person, self.bot)

    def local(self, *, bot: str | None = None, ephemeral: bool = False) -> Local:
        """The same place in the bot's words."""
        return Local(
            person=self.person, where=self.channel or "dm", bot=self.bot or bot or None, ephemeral=ephemeral
        )


def talk_of(request: web.Request) -> Talk:
    """The talk that a request's path names."""
    person = request.match_info["person"]
    channel = request.match_info.get("channel")
    return Talk(person, f"#{channel}" if channel else None, request.match_info.get("bot"))


def channel_path(person: str, channel: str) -> str:
    """The page of a channel."""
    return f"/as/{_segment(person)}/in/{_segment(channel.removeprefix('#'))}"


def direct_path(person: str, bot: str) -> str:
    """The page of a direct message."""
    return f"/as/{_segment(person)}/with/{_segment(bot)}"


def person_path(person: str) -> str:
    """Where a person begins."""
    return f"/as/{_segment(person)}"


def label(name: str) -> str:
    """A name as it is shown."""
    return name[:1].upper() + name[1:]


def _segment(text: str) -> str:
    return quote(text, safe="")
