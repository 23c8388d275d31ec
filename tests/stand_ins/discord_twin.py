"""Discord's REST and gateway as discord-digital-twin plays them, over real sockets."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.stand_ins.process import StandIn, started


class Discord:
    """A running twin: `rest`, `gateway`, `token`, `bot` and `guild` say where and who."""

    def __init__(self, process: StandIn) -> None:
        self.call = process.call
        self.rest: str = process.hello["rest"]
        self.gateway: str = process.hello["gateway"]
        self.token: str = process.hello["token"]
        self.bot: str = process.hello["bot"]
        self.guild: str = process.hello["guild"]

    def say(self, channel: str, user: str, text: str) -> dict[str, Any]:
        """A message of a person, as the gateway will announce it."""
        sent: dict[str, Any] = self.call(
            ("channel", channel), ("user", user), ("sendMessage", {"content": text})
        )
        return sent


@contextmanager
def running(**options: Any) -> Iterator[Discord]:
    """A server of its own; options are the twin's: `channels=[{"name": "general", "type": 0}], users=[…]`."""
    with started("discord_twin.mjs", json.dumps(options)) as process:
        yield Discord(process)
