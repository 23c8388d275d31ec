"""The `teambot` command."""

from typing import Annotated, Any

import typer

from adapters.cli.house import PARTS, Program
from adapters.cli.manifest import add_manifest
from adapters.cli.printing import fail, run, show_health, show_json, show_memories, show_outcome, show_usage
from bot.messages import CommandResult, Local

NOTHING_USED = dict.fromkeys(("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"), 0)
NOTHING_KEPT: dict[str, list[Any]] = {"added": [], "replaced": [], "removed": [], "refused": []}

As = Annotated[str, typer.Option("--as", help="Who speaks: a local person's name.")]
In = Annotated[str, typer.Option("--in", help="Where: a channel such as '#general', or dm.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
BotName = Annotated[str | None, typer.Option("--bot", help="Which bot is meant.")]


def build(program: Program) -> typer.Typer:
    """The command line of a program."""
    app = typer.Typer(
        help="teambot: a teammate for Slack and Discord that remembers.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    _running(app, program)
    _talking(app, program)
    _looking(app, program)
    _making(app, program)
    _counting(app, program)
    add_manifest(app)
    return app


def _running(app: typer.Typer, program: Program) -> None:
    @app.command("run")
    def start(
        only: Annotated[str, typer.Option(help=f"Parts to run, of {','.join(PARTS)}.")] = "",
        port: Annotated[int, typer.Option(help="Port of the page on 127.0.0.1.", min=0, max=65535)] = 8484,
    ) -> None:
        """Run teambot (without --only, all that is configured)."""
        parts = tuple(part.strip() for part in only.split(",") if part.strip())
        unknown = [part for part in parts if part not in PARTS]
        if unknown:
            fail(f"There is no part called {unknown[0]!r}; there are {', '.join(PARTS)}.", as_json=False)
        run(lambda: program.serve(parts, port), program.spoken, as_json=False)

    @app.command()
    def migrate() -> None:
        """Create the database or bring it up to date."""
        print(run(program.migrate, program.spoken, as_json=False))

    @app.command()
    def doctor(json: Json = False) -> None:
        """Check configuration, database and model, and say what to do."""

        async def work() -> list[dict[str, Any]]:
            async with program.open(worker=False) as desk:
                return await desk.health()

        rows = run(work, program.spoken, as_json=json)
        show_json({"checks": rows}) if json else show_health(rows)
        if not all(row["ok"] for row in rows):
            raise typer.Exit(1)

    @app.command()
    def version() -> None:
        """Print the version."""
        print(program.version)


def _talking(app: typer.Typer, program: Program) -> None:
    @app.command()
    def say(
        text: str,
        who: As,
        where: In,
        overheard: Annotated[bool, typer.Option(help="Talk not addressed to the bot; no reply.")] = False,
        ephemeral: Annotated[bool, typer.Option(help="Only the speaker sees message and reply.")] = False,
        thread: Annotated[str | None, typer.Option(help="A thread of the channel.")] = None,
        bot: BotName = None,
        settle: Annotated[bool, typer.Option(help="Wait for the memory pass too.")] = False,
        json: Json = False,
    ) -> None:
        """Send one message (or a typed command such as "/memory show") and wait for the reply."""
        local = Local(who, where, thread, bot, ephemeral)

        async def work() -> dict[str, Any]:
            if text.lstrip().startswith("/") and not overheard:
                async with program.open(worker=False) as desk:
                    return as_outcome(await desk.run_typed(local, text))
            async with program.open(worker=not overheard) as desk:
                accepted = await desk.say(local, text, overheard=overheard)
                return await desk.outcome(accepted, settle=settle)

        found = run(work, program.spoken, as_json=json)
        show_json(found) if json else show_outcome(found)

    @app.command()
    def edit(
        text: str,
        who: As,
        where: In,
        message: Annotated[str, typer.Option("--message", help="The message's id.")],
        json: Json = False,
    ) -> None:
        """Change a message as its author."""
        _change(program, Local(who, where), message, text, json)

    @app.command()
    def delete(
        who: As,
        where: In,
        message: Annotated[str, typer.Option("--message", help="The message's id.")],
        json: Json = False,
    ) -> None:
        """Delete a message as its author."""
        _change(program, Local(who, where), message, None, json)


def _change(program: Program, local: Local, message: str, text: str | None, as_json: bool) -> None:
    async def work() -> None:
        async with program.open(worker=False) as desk:
            await desk.edit(local, message, text)

    run(work, program.spoken, as_json=as_json)
    done = "deleted" if text is None else "edited"
    show_json({"message": message, "status": done}) if as_json else print(f"{message} is {done}.")


def as_outcome(result: CommandResult) -> dict[str, Any]:
    """A command's answer in the shape of `say`."""
    return {
        "message": None,
        "turn": None,
        "status": "completed",
        "error": None,
        "reply": result.text,
        "sources": [],
        "usage": NOTHING_USED,
        "memory": NOTHING_KEPT,
        "rows": list(result.rows),
        "cards": [{"id": card.id, "text": card.text, "readers": card.readers} for card in result.cards],
        "undo": result.undo,
        **({"file": result.file.name} if result.file else {}),
    }


def _looking(app: typer.Typer, program: Program) -> None:
    @app.command()
    def prompt(text: str, who: As, where: In, bot: BotName = None, json: Json = False) -> None:
        """Print the request that a message would send; nothing is sent or stored."""

        async def work() -> dict[str, Any]:
            async with program.open(worker=False) as desk:
                return await desk.prompt(Local(who, where, bot=bot), text)

        found = run(work, program.spoken, as_json=json)
        if json:
            show_json(found)
            return
        for section in found["sections"]:
            print(f"{section['name']:12} {section['bytes']:>8} bytes  {section['sha256'][:16]}")

    @app.command()
    def memories(
        who: As,
        where: In,
        query: Annotated[str | None, typer.Option(help="Search instead of listing.")] = None,
        bot: BotName = None,
        json: Json = False,
    ) -> None:
        """List what the readers of a reply there may read."""

        async def work() -> list[dict[str, Any]]:
            async with program.open(worker=False) as desk:
                return await desk.memories(Local(who, where, bot=bot), query)

        rows = run(work, program.spoken, as_json=json)
        show_json({"memories": rows}) if json else show_memories(rows)


def _counting(app: typer.Typer, program: Program) -> None:
    @app.command()
    def usage(
        by: Annotated[str, typer.Option(help="day, bot, place, person or tag.")] = "day",
        days: Annotated[int, typer.Option(help="How many days back.", min=1, max=400)] = 7,
        json: Json = False,
    ) -> None:
        """Show what models used and cost, and how much came from the cache."""

        async def work() -> list[dict[str, Any]]:
            async with program.open(worker=False) as desk:
                return await desk.usage(by, days)

        rows = run(work, program.spoken, as_json=json)
        show_json({"usage": rows}) if json else show_usage(rows)


def _making(app: typer.Typer, program: Program) -> None:
    @app.command()
    def person(
        name: str,
        guest: Annotated[
            bool | None,
            typer.Option("--guest/--no-guest", help="A guest reads only channels that name them."),
        ] = None,
        json: Json = False,
    ) -> None:
        """Create or update a local person; what is not said stays as it is."""

        async def work() -> dict[str, Any]:
            async with program.open(worker=False) as desk:
                return await desk.set_person(name, guest=guest)

        row = run(work, program.spoken, as_json=json)
        show_json(row) if json else print(f"{row['name']} is a {row['role']}.")

    @app.command()
    def place(
        name: str,
        private: Annotated[
            bool | None, typer.Option("--private/--public", help="Only its members read it.")
        ] = None,
        external: Annotated[
            bool | None,
            typer.Option("--external/--internal", help="People outside the team read it too."),
        ] = None,
        members: Annotated[str | None, typer.Option(help="Names, separated by commas.")] = None,
        json: Json = False,
    ) -> None:
        """Create or update a local channel; what is not said stays as it is."""
        named = (
            None if members is None else tuple(part.strip() for part in members.split(",") if part.strip())
        )

        async def work() -> dict[str, Any]:
            async with program.open(worker=False) as desk:
                return await desk.set_place(name, private=private, external=external, members=named)

        row = run(work, program.spoken, as_json=json)
        show_json(row) if json else print(
            f"{row['name']} is {row['kind']}; members: {', '.join(row['members']) or '-'}"
        )
