"""How tests ask a model: settings, a request as the prompt makes it, and a clock that nobody waits for."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bot.claude import Claude
from bot.limiter import Limiter
from bot.settings import Settings
from tests.contracts import assert_valid_request
from tests.stand_ins import aimock
from tests.stand_ins.streams import Server

Body = dict[str, Any]
MARK = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
SEARCH = {
    "name": "memory_search",
    "description": "Searches what is remembered.",
    "input_schema": {
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "additionalProperties": False,
    },
}


def settings(**fields: Any) -> Settings:
    """Settings of which only the model's matter."""
    return Settings(home=Path("unused"), database_url="sqlite://", **fields)


def body(words: str = "When do we deploy?", **fields: Any) -> Body:
    """A request as the prompt makes it."""
    return {
        "model": "claude-sonnet-5-5",
        "max_tokens": 500,
        "system": [{"type": "text", "text": "You are teambot.", **MARK}],
        "tools": [SEARCH],
        "messages": [{"role": "user", "content": [{"type": "text", "text": words, **MARK}]}],
        **fields,
    }


class Waits:
    """A clock that a wait moves on, so that nobody waits in earnest."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waited: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.now += seconds

    def limiter(self, chance: float = 0.5) -> Limiter:
        """A limiter that waits by this clock."""
        return Limiter(clock=lambda: self.now, sleep=self.sleep, chance=lambda: chance)


@asynccontextmanager
async def asked(claude: aimock.Claude, waits: Waits) -> AsyncIterator[Claude]:
    """Our model, pointed at aimock; every request that it sent is valid by the closed schema."""
    fields = settings(anthropic_base_url=claude.url, anthropic_api_key="key")
    model = Claude(fields, limiter=waits.limiter())
    yield model
    await model.aclose()
    for request in claude.requests():
        assert_valid_request(request)


def on_claude(server: Server) -> Claude:
    """Claude itself, played by a server in this process."""
    return Claude(settings(anthropic_api_key="key"), http_client=server.client())


def elsewhere(server: Server) -> Claude:
    """Any other server that speaks the Messages API."""
    return Claude(settings(anthropic_base_url="http://localhost:8080"), http_client=server.client())
