"""A workspace with its own parts, made once."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from adapters.slack.acting import Acting
from adapters.slack.asking import Asking
from adapters.slack.following import Following
from adapters.slack.people import Directory
from adapters.slack.receiving import Receiving
from adapters.slack.status import Statuses
from adapters.slack.workspace import Workspace
from bot.messages import Door


@dataclass
class Room:
    """One workspace with its own parts."""

    space: Workspace
    directory: Directory
    receiving: Receiving
    asking: Asking
    acting: Acting
    following: Following


def room_of(door: Door, space: Workspace, statuses: Statuses, *, other_bots: bool = False) -> Room:
    """The parts of a workspace."""
    directory = Directory(space)
    asking = Asking(door, directory, statuses)
    acting = Acting(asking)
    receiving = Receiving(door, directory, statuses, asking.typed_message, other_bots=other_bots)
    following = Following(door, directory, receiving, acting, statuses)
    return Room(space, directory, receiving, asking, acting, following)


@contextmanager
def unset(*names: str) -> Iterator[None]:
    """Hides variables of the environment from a library that would read them by itself."""
    held = {name: os.environ.pop(name) for name in names if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(held)
