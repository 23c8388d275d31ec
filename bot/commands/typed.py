"""Typed commands: what stands after `/memory add` as the command's arguments."""

import re

from bot.commands.command import Argument, Command
from bot.errors import BadInput

_QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»", "「": "」"}
_TAIL = 80


def usage(command: Command) -> str:
    """How a command is typed, e.g. `/memory edit ID TEXT`."""
    return " ".join([f"/{command.name}", *(_shape(command, argument) for argument in command.arguments)])


def arguments_of(command: Command, text: str) -> dict[str, str]:
    """The arguments in what was typed after a command's name; what is missing or wrong is checked later.

    Arguments come in their order. Besides a text, one with choices is given by name at either end:
    `share:team We deploy on Tuesdays`, or `We deploy on Tuesdays share team`.
    """
    found: dict[str, str] = {}
    rest = text.strip()
    for argument in command.arguments:
        if _by_name(command, argument):
            rest = _take_option(argument, rest, found)
    for argument in command.arguments:
        if not rest or _by_name(command, argument):
            continue
        if argument.rest:
            found[argument.name], rest = _unquoted(rest), ""
        else:
            word, _, rest = rest.replace("\n", " \n", 1).partition(" ")
            found[argument.name] = word.strip("`").removeprefix(f"{argument.name}:")
            rest = rest.strip()
    if rest:
        raise BadInput(f"That is more than this command takes. It is used like this: `{usage(command)}`")
    return found


def _shape(command: Command, argument: Argument) -> str:
    shape = "|".join(argument.choices) if argument.choices else argument.name.upper()
    if _by_name(command, argument):
        shape = f"{argument.name}:{shape}"
    return shape if argument.required else f"[{shape}]"


def _by_name(command: Command, argument: Argument) -> bool:
    return bool(argument.choices) and any(other.rest for other in command.arguments)


def _take_option(argument: Argument, text: str, found: dict[str, str]) -> str:
    values = "|".join(map(re.escape, argument.choices))
    named = rf"(?:--)?{re.escape(argument.name)}[:=]({values})"
    first = re.match(rf"{named}(?!\S)", text, re.IGNORECASE)
    if first:
        found[argument.name] = first[1].lower()
        return text[first.end() :].strip()
    tail = text[-_TAIL:]
    last = re.search(
        rf"(?<!\S)(?:{named}|(?:--)?{re.escape(argument.name)} ({values}))$", tail, re.IGNORECASE
    )
    if last:
        found[argument.name] = (last[1] or last[2]).lower()
        return text[: len(text) - len(tail) + last.start()].strip()
    return text


def _unquoted(text: str) -> str:
    """The text without the pair of quotes that somebody put around all of it."""
    closing = _QUOTES.get(text[0])
    inner = text[1:-1]
    if closing and inner.strip() and text.endswith(closing) and not {text[0], closing} & set(inner):
        return inner.strip()
    return text
