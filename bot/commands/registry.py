"""Every command of every platform: found by name, read from typed text, run with the rights of now."""

import difflib
from collections.abc import Iterable

from sqlalchemy.orm import Session

from bot.commands.command import Caller, Command
from bot.commands.typed import arguments_of, usage
from bot.errors import BadInput, NotAllowed, Unknown
from bot.messages import CommandResult
from memory.errors import NotFound, Refused
from memory.words import clean

COMMANDS: list[Command] = []

MAX_ARGUMENT = 20_000


def register(commands: Iterable[Command]) -> None:
    """Adds commands of another package (or replaces those of the same name)."""
    for command in commands:
        COMMANDS[:] = [*(known for known in COMMANDS if known.name != command.name), command]


def find(name: str) -> Command:
    """The command of that name; a wrong name is answered with those that are near."""
    wanted = " ".join(name.casefold().split())
    for command in COMMANDS:
        if command.name == wanted:
            return command
    raise Unknown(_did_you_mean(wanted))


def parse(text: str) -> tuple[Command, dict[str, str]]:
    """The command and the arguments in typed text such as `/memory show team` (also `!memory show team`)."""
    words = clean(text).strip()
    words = words[1:] if words[:1] in ("/", "!") else words
    parts = words.split(None, 2)
    for length in (2, 1):
        name = " ".join(parts[:length]).casefold()
        for command in COMMANDS:
            if command.name == name:
                after = words.split(None, length)[length:]
                return command, arguments_of(command, after[0] if after else "")
    raise Unknown(_did_you_mean(" ".join(parts[:2]).casefold()))


def run(session: Session, caller: Caller, command: Command, arguments: dict[str, str]) -> CommandResult:
    """Runs a command, once its caller may do so now and its arguments are whole."""
    _check_rights(caller, command)
    checked = _check_arguments(command, arguments)
    try:
        return command.run(session, caller, checked)
    except Refused as refused:
        raise NotAllowed(str(refused)) from refused
    except NotFound as missing:
        raise Unknown(str(missing)) from missing


def may_use(caller: Caller, command: Command) -> bool:
    """Whether that caller may use the command at all."""
    if caller.speaker.is_guest and not command.guests:
        return False
    if command.who == "admin":
        return caller.speaker.is_admin
    return command.who == "everyone" or caller.speaker.role == "owner"


def _check_rights(caller: Caller, command: Command) -> None:
    if may_use(caller, command):
        return
    if caller.speaker.is_guest and not command.guests:
        raise NotAllowed(f"`/{command.name}` is for members of the team; nothing was changed.")
    whom = "an admin" if command.who == "admin" else "the owner"
    raise NotAllowed(f"Only {whom} may use `/{command.name}`; nothing was changed.")


def _check_arguments(command: Command, given: dict[str, str]) -> dict[str, str]:
    known = {argument.name: argument for argument in command.arguments}
    for name in given:
        if name not in known:
            raise BadInput(f"`/{command.name}` takes no {name!r}. It is used like this: `{usage(command)}`")
    checked = {name: clean(value).strip() for name, value in given.items() if clean(value).strip()}
    for name, argument in known.items():
        if argument.required and name not in checked:
            raise BadInput(f"The {argument.name} is missing. It is used like this: `{usage(command)}`")
        value = checked.get(name)
        if value is not None and len(value) > MAX_ARGUMENT:
            raise BadInput(f"The {argument.name} is too long ({len(value):,} characters); nothing was saved.")
        if value is not None and argument.choices:
            checked[name] = value.casefold()
            if checked[name] not in argument.choices:
                raise BadInput(f"The {argument.name} is one of: {', '.join(argument.choices)}.")
    return checked


def _did_you_mean(name: str) -> str:
    if not name:
        return "A command is missing after the slash. `/help` lists them."
    shown = name if len(name) <= 40 else f"{name[:40]}…"
    names = [command.name for command in COMMANDS]
    first = name.split()[0]
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    near += [known for known in names if known.split()[0] == first and known not in near]
    near += [known for known in names if known == first and known not in near]
    if not near:
        near = difflib.get_close_matches(
            first, sorted({known.split()[0] for known in names}), n=2, cutoff=0.7
        )
    listed = ", ".join(f"`/{known}`" for known in near)
    return f"There is no command `/{shown}`. " + (f"Near it: {listed}." if near else "`/help` lists them.")
