"""What platforms may know of commands: names, arguments, who and how seen; nothing of how they work."""

from dataclasses import dataclass

from bot.commands.command import Argument, Seen, Who
from bot.commands.registry import COMMANDS


@dataclass(frozen=True)
class Spec:
    """One command as a platform registers it, e.g. `memory show`."""

    name: str
    description: str
    arguments: tuple[Argument, ...]
    who: Who
    seen: Seen

    @property
    def root(self) -> str:
        """The word that it begins with."""
        return self.name.partition(" ")[0]


def specs() -> tuple[Spec, ...]:
    """Every command that is known now."""
    return tuple(Spec(one.name, one.description, one.arguments, one.who, one.seen) for one in COMMANDS)
