"""Every command of every platform: found by name, read from typed text, run with the rights of now."""

import difflib
from collections.abc import Iterable

from sqlalchemy.orm import Session

from bot.commands import (
    about,
    cards,
    memory,
    memory_all,
    memory_change,
    memory_forget,
    memory_life,
    note,
    sharing,
    spending,
)
from bot.commands.command import Caller, Command
from bot.commands.help import help_on
from bot.commands.rights import require
from bot.commands.typed import arguments_of, usage
from bot.errors import BadInput, NotAllowed, Unknown
from bot.messages import CommandResult
from memory.errors import NotFound, Refused
from memory.words import clean

COMMANDS: list[Command] = [
    *memory.COMMANDS,
    *memory_change.COMMANDS,
    *memory_forget.COMMANDS,
    *sharing.COMMANDS,
    *memory_life.COMMANDS,
    *memory_all.COMMANDS,
    *note.COMMANDS,
    *cards.COMMANDS,
    *about.COMMANDS,
    *spending.COMMANDS,
]
"""The door for a new command: one file, one line here (or `register` from another package)."""

COMMANDS.append(help_on(COMMANDS))

MAX_ARGUMENT = 20_000
MOST_NEAR = 6


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
    require(caller, command)
    checked = _check_arguments(command, arguments)
    try:
        return command.run(session, caller, checked)
    except Refused as refused:
        raise NotAllowed(str(refused)) from refused
    except NotFound as missing:
        raise Unknown(str(missing)) from missing


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
    more = [known.partition(" ")[2] for command in COMMANDS if (known := command.name).startswith(f"{name} ")]
    if more:
        return f"`/{name}` needs one more word: {', '.join(more)}."
    near = _near(name[:40])
    listed = ", ".join(f"`/{known}`" for known in near[:MOST_NEAR])
    return f"There is no command `/{shown}`. " + (f"Near it: {listed}." if near else "`/help` lists them.")


def _near(name: str) -> list[str]:
    """Names of commands that somebody who typed `name` may have meant."""
    names = [command.name for command in COMMANDS]
    roots = {known.partition(" ")[0]: known for known in reversed(names)}
    first = name.partition(" ")[0]
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    for root in difflib.get_close_matches(first, roots, n=1, cutoff=0.7):
        near += [known for known in names if known.partition(" ")[0] == root and known not in near]
    return near
