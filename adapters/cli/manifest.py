"""`teambot manifest slack`: what an admin pastes where a platform's app is made."""

from collections.abc import Callable
from typing import Annotated

import typer

from adapters.cli.printing import fail
from bot.errors import BotError


def add_manifest(app: typer.Typer) -> None:
    """Adds the command."""

    @app.command()
    def manifest(
        platform: Annotated[str, typer.Argument(help="slack")] = "slack",
        name: Annotated[str, typer.Option(help="The bot's name there.")] = "teambot",
        prefix: Annotated[str, typer.Option(help="Begins every slash command, such as tb-.")] = "",
        url: Annotated[
            str, typer.Option(help="A public https:// address, for HTTP instead of sockets.")
        ] = "",
    ) -> None:
        """Print the app manifest for a platform."""
        if platform != "slack":
            fail(f"There is no manifest for {platform!r}; there is one for slack.", as_json=False)
        from adapters.slack.manifest import printed

        _say(lambda: printed(name, prefix=prefix, url=url))


def _say(made: Callable[[], str]) -> None:
    try:
        print(made())
    except BotError as refusal:
        fail(str(refusal), as_json=False)
