"""Who may use a command, checked when it runs, with the roles of that moment."""

from bot.commands.command import Caller, Command
from bot.errors import NotAllowed


def may_use(caller: Caller, command: Command) -> bool:
    """Whether that caller may use the command now."""
    if caller.speaker.is_guest and not command.guests:
        return False
    if command.who == "admin":
        return caller.speaker.is_admin
    return command.who == "everyone" or caller.speaker.role == "owner"


def require(caller: Caller, command: Command) -> None:
    """Refuses a caller who may not use the command now."""
    if may_use(caller, command):
        return
    whom = {"everyone": "members of the team", "admin": "admins", "owner": "the owner"}[command.who]
    raise NotAllowed(f"`/{command.name}` is only for {whom}; nothing was changed.")


def require_admin(caller: Caller, what: str) -> None:
    """Refuses a caller who is no admin now."""
    if not caller.speaker.is_admin:
        raise NotAllowed(f"Only admins may {what}; nothing was changed.")
