"""A model, as the bot sees it: a request in Messages API shape, a response, usage and its cost."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

Block = dict[str, Any]
Body = dict[str, Any]
OnText = Callable[[str], None]
"""Called with the whole text so far, whenever there is more."""


@dataclass(frozen=True)
class Usage:
    """Tokens of one call; `input_tokens` counts only what was neither read from nor written to the cache."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_5m_tokens: int = 0
    cache_write_1h_tokens: int = 0

    @property
    def cache_write_tokens(self) -> int:
        return self.cache_write_5m_tokens + self.cache_write_1h_tokens

    @property
    def prompt_tokens(self) -> int:
        """All tokens of the prompt."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens


@dataclass(frozen=True)
class Response:
    """One answer: content blocks exactly as received, why it stopped, what it used.

    `cut`: the answer ended within a tool call, which is left out of `content`; ask again with more room.
    `missed`: the part of the prompt whose change made the provider's cache miss (model, tools, system or
    messages).
    """

    content: list[Block]
    stop_reason: str
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    id: str = ""
    missed: str | None = None
    cut: bool = False


@dataclass(frozen=True)
class Capabilities:
    """What a server offers beyond the portable profile; set by configuration, never by probing."""

    structured_output: bool = False
    prewarm: bool = False
    effort: bool = False
    diagnostics: bool = False
    batches: bool = False
    window: int = 200_000


class Model(Protocol):
    """A server of models. Raises `bot.errors.ModelError` and nothing else."""

    capabilities: Capabilities

    async def respond(self, body: Body, on_text: OnText | None = None) -> Response:
        """Streams one answer to a request body."""

    async def structured(self, body: Body, schema: dict[str, Any]) -> Response:
        """One answer whose only text block is JSON of that schema, as far as the server can promise it."""

    def cost(self, model: str, usage: Usage) -> int:
        """Millionths of a US dollar."""

    def worst_cost(self, body: Body) -> int:
        """The most that a request can cost, in millionths of a US dollar, estimated before it is sent."""


def texts(content: list[Block]) -> str:
    """The text blocks of an answer, joined."""
    return "\n\n".join(
        block["text"] for block in content if block.get("type") == "text" and block["text"].strip()
    )


def tool_uses(content: list[Block]) -> list[Block]:
    """The tool calls of an answer, in order."""
    return [block for block in content if block.get("type") == "tool_use"]
