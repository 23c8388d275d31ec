"""A tool: schema, rights, effect and description in one place."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel
from sqlalchemy.orm import Session

from bot.errors import NotAllowed
from bot.settings import Settings
from memory.audience import Audience, Viewer, viewer
from memory.database import Database
from memory.errors import NotFound
from memory.meaning import Meaning
from memory.people import Speaker, speaker
from memory.places import Place

READERS_CHANGED = (
    "Who can read here changed meanwhile, so nothing was looked up or saved. Please start again."
)


@dataclass(frozen=True)
class ToolCall:
    """The call of a tool within a turn. Ids come from the turn, never from the model's arguments."""

    database: Database
    settings: Settings
    team_id: str
    bot_id: str
    conversation_id: str
    place_id: str
    account_id: str | None
    turn_id: str
    step: int
    call_id: str
    ephemeral: bool = False
    meaning: Meaning | None = None
    """Search by meaning, where a sentence model is installed."""
    basis: tuple[Audience, ...] = ()
    """What the model had read when it made this call: the arguments may hold any of it."""
    used: set[Audience] = field(default_factory=set, compare=False)
    """What the tool has read for since."""

    def viewer(self, session: Session) -> Viewer:
        """The readers of this turn's reply, by the flags of now; a call made for others is refused."""
        found = self.readers(session)
        if not found.reads_all(self.basis):
            raise NotAllowed(READERS_CHANGED)
        self.used.update(found.audiences)
        return found

    def readers(self, session: Session) -> Viewer:
        """The same, whatever the model had read when it made the call."""
        place = session.get(Place, self.place_id)
        if place is None:
            raise NotFound()
        return viewer(session, self.bot_id, place, self.account_id, ephemeral=self.ephemeral)

    def asker(self, session: Session) -> Speaker:
        """The person whose message is handled, with today's role."""
        if self.account_id is None:
            raise NotFound("Nobody asked for this.")
        return speaker(session, self.account_id)


@dataclass(frozen=True)
class ToolResult:
    """What the model reads: JSON or text. `shown` are the ids of memories in it, `cards` those of cards."""

    content: Any
    is_error: bool = False
    shown: tuple[str, ...] = ()
    cards: tuple[str, ...] = ()
    sources: tuple[dict[str, str], ...] = field(default=())


Run = Callable[[ToolCall, Any], Awaitable[ToolResult]]


@dataclass(frozen=True)
class Tool:
    """`arguments` is the schema; `run` gets them checked. `writes`: a call whose outcome is unknown after a
    crash is not repeated by itself (tools whose effects are keyed by the call may be)."""

    name: str
    description: str
    arguments: type[BaseModel]
    run: Run
    writes: bool = False
    admin_only: bool = False

    def definition(self) -> dict[str, Any]:
        """The tool as the Messages API wants it; the same bytes in every process."""
        schema = self.arguments.model_json_schema()
        schema.pop("title", None)
        for field_schema in schema.get("properties", {}).values():
            field_schema.pop("title", None)
        schema["additionalProperties"] = False
        return {"name": self.name, "description": self.description, "input_schema": schema}
