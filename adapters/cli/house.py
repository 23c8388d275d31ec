"""What the command line needs of the program: handed over by the composition root."""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from bot.messages import Desk

PARTS = ("web", "slack", "discord", "worker", "clock")


class OpenDesk(Protocol):
    """Opens the desk; with `worker`, answers are made in this process unless another one makes them."""

    def __call__(self, *, worker: bool) -> AbstractAsyncContextManager[Desk]: ...


class Serve(Protocol):
    """Runs parts of the program until it is told to stop; `ready` is called with the page's address."""

    async def __call__(self, parts: tuple[str, ...], port: int) -> None: ...


class Migrate(Protocol):
    """Brings the database up to date and says so."""

    async def __call__(self) -> str: ...


@dataclass(frozen=True)
class Program:
    """The program's entries, and the errors that are sentences for people."""

    open: OpenDesk
    serve: Serve
    migrate: Migrate
    spoken: tuple[type[Exception], ...]
    version: str
