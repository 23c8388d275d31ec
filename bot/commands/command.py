"""A command: its words, who may use it, and what it does."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from sqlalchemy.orm import Session

from bot.messages import CommandResult
from bot.settings import Settings
from memory.audience import Viewer
from memory.bots import Bot
from memory.meaning import Meaning
from memory.people import Speaker
from memory.places import Place

Who = Literal["everyone", "admin", "owner"]
Seen = Literal["caller", "channel", "direct"]


@dataclass(frozen=True)
class Argument:
    """One argument: `rest` takes all remaining words when typed; `choices` limits what may be given."""

    name: str
    description: str
    required: bool = True
    rest: bool = False
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Caller:
    """Who calls, where, and what a private answer to them may contain."""

    speaker: Speaker
    place: Place
    bot: Bot
    viewer: Viewer
    """What the caller alone may read: answers to commands are seen by the caller only."""
    here: Viewer
    """What the readers of the place may read."""
    settings: Settings
    thread: str | None = None
    """The thread that the command was used in, where there is one."""
    meaning: Meaning | None = None
    """Search by meaning, where a sentence model is installed."""


Run = Callable[[Session, Caller, dict[str, str]], CommandResult]


@dataclass(frozen=True)
class Command:
    """One command, e.g. `memory show`. `run` works in one transaction; refusals are raised as errors."""

    name: str
    description: str
    run: Run
    arguments: tuple[Argument, ...] = ()
    who: Who = "everyone"
    seen: Seen = "caller"
    guests: bool = True
