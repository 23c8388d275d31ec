"""`/help`: the commands that its caller may use."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from bot.commands.command import Argument, Caller, Command
from bot.commands.rights import may_use
from bot.commands.typed import usage
from bot.errors import Unknown
from bot.messages import CommandResult


def help_on(commands: Sequence[Command]) -> Command:
    """The command that explains `commands`, as they are when it is used."""

    def run(session: Session, caller: Caller, arguments: dict[str, str]) -> CommandResult:
        usable = sorted((one for one in commands if may_use(caller, one)), key=lambda one: one.name)
        topic = arguments.get("topic", "").casefold().lstrip("/!")
        if topic:
            usable = [one for one in usable if topic in (one.name, one.name.split()[0])]
        if not usable:
            raise Unknown(f"There is no command {topic!r} that you may use. `/help` lists them.")
        lines = [f"`{usage(one)}` {one.description}" for one in usable]
        rows = tuple(_row(one) for one in usable)
        return CommandResult("\n".join(["What you can type here:", *lines, _LAST]), rows=rows)

    topic = Argument("topic", "A command", required=False, rest=True)
    return Command("help", "List the commands, or explain one", run, (topic,))


_LAST = "Or just talk to me: “remember …”, “forget …”, “what do you know about me, and why?”"


def _row(command: Command) -> dict[str, str]:
    return {"name": command.name, "usage": usage(command), "description": command.description}
