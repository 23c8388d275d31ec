"""The composition root: the only module that knows every part."""

import asyncio
import contextlib
import ctypes
import gc
import logging
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.cli.app import build
from adapters.cli.house import Program
from bot.errors import BadInput, BotError
from bot.model import Model
from bot.settings import Settings, load
from memory.database import Database
from memory.errors import StoreError, StoreReadOnly, StoreUnreachable

if TYPE_CHECKING:
    from adapters.slack.adapter import Slack
    from bot.desk import Desk

VERSION = "0.1.0"
DRAIN_SECONDS = 20
SERVED_SECONDS = 1.0


def _model(settings: Settings) -> Model:
    """The configured model; a real one's SDK is imported only when it is used."""
    if settings.has_model:
        from bot.claude import Claude

        return Claude(settings)
    from bot.offline import Offline

    return Offline()


def _database(settings: Settings) -> Database:
    """The database, with the folders that it needs."""
    home = settings.home
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnreachable(
            f"The folder {home} cannot be made ({error.strerror}); nothing was saved."
        ) from None
    database = Database(settings.database_url)
    if database.is_sqlite:
        path = Path(settings.database_url.removeprefix("sqlite:///"))
        folder = path.parent
        if not folder.is_dir():
            raise StoreUnreachable(f"The folder {folder} of the database does not exist; nothing was saved.")
        if (path.exists() and not os.access(path, os.W_OK)) or not os.access(folder, os.W_OK):
            raise StoreReadOnly
    return database


def _current(settings: Settings, database: Database) -> None:
    """Brings schema, engine tables and first rows up to date; quick when they are."""
    from bot.engine import Engine
    from bot.seeding import seed
    from memory.errors import StoreOutdated
    from migrations import check, migrate

    try:
        check(database)
    except StoreOutdated:
        migrate(database)
    engine = Engine(database)
    engine.prepare()
    engine.close()
    database.run_now(seed, local_people=not settings.has_platform)


@asynccontextmanager
async def _desk(*, worker: bool) -> AsyncIterator["object"]:
    from bot.desk import Desk
    from bot.embedding import find_embedder

    settings = _settings()
    database = _database(settings)
    await asyncio.get_running_loop().run_in_executor(None, _current, settings, database)
    desk = Desk(settings, database, _model(settings), find_embedder())
    if settings.slack_bot_token or settings.slack_app_token:
        from adapters.slack.doctor import checked

        desk.checks = (*desk.checks, checked)
    serving: asyncio.Task[None] | None = None
    try:
        # Replies to Slack and Discord are made where these are connected, never by a command in passing.
        if worker and not settings.has_platform:
            await _serve_if_nobody_does(desk)
            serving = asyncio.create_task(_keep_served(desk))
        yield desk
    finally:
        if serving is not None:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)
        await desk.stop(DRAIN_SECONDS)


async def _serve_if_nobody_does(desk: "Desk") -> None:
    from bot.engine import AnotherRuns

    if not desk.engine.running and not await desk.engine.is_served():
        with contextlib.suppress(AnotherRuns):
            await desk.start()


async def _keep_served(desk: "Desk") -> None:
    """Whoever runs turns may end while this command still waits for its answer."""
    while True:
        await asyncio.sleep(SERVED_SECONDS)
        await _serve_if_nobody_does(desk)


async def _migrate() -> str:
    settings = _settings()
    database = _database(settings)
    await asyncio.get_running_loop().run_in_executor(None, _current, settings, database)
    database.close()
    return "The database is up to date."


async def _serve(parts: tuple[str, ...], port: int) -> None:
    """Runs until SIGINT or SIGTERM; then stops intake first and finishes or keeps what is owed."""
    from bot.desk import Desk
    from bot.embedding import find_embedder

    settings = _settings()
    wanted = parts or _configured(settings)
    if settings.discord_token or "discord" in wanted:
        raise BadInput("This version cannot talk on Discord yet: leave DISCORD_TOKEN unset.")
    if not set(_configured(settings)) <= set(wanted) and settings.database_url.startswith("sqlite"):
        raise BadInput(
            "Running parts in processes of their own needs PostgreSQL: set DATABASE_URL, or leave out --only."
        )
    database = _database(settings)
    await asyncio.get_running_loop().run_in_executor(None, _current, settings, database)
    desk = Desk(settings, database, _model(settings), find_embedder())
    stopping = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    running: list[object] = []
    try:
        slack = await _slack(desk, settings) if {"slack", "worker"} & set(wanted) else None
        if "worker" in wanted:
            await desk.start()
        if slack is not None and "slack" in wanted:
            running.append(slack)
            await slack.listen()
        if "clock" in wanted:
            running.append(_clock(desk))
        if "web" in wanted:
            running.append(await _web(desk, port))
        _give_back_memory()
        await stopping.wait()
    finally:
        for part in reversed(running):
            await part.stop()  # type: ignore[attr-defined]
        await desk.stop(DRAIN_SECONDS)


async def _slack(desk: "Desk", settings: Settings) -> "Slack | None":
    """Slack, connected but not listening yet: a worker needs it to answer."""
    if not settings.slack_bot_token and not settings.slack_client_id:
        return None
    from adapters.slack.adapter import Slack
    from adapters.slack.setup import setup_of

    slack = Slack(desk, setup_of(settings))
    desk.platforms["slack"] = slack.outbound
    await slack.connect()
    return slack


def _give_back_memory() -> None:
    """Frees what only the start needed: modules leave garbage behind, and glibc keeps freed pages."""
    gc.collect()
    gc.freeze()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _clock(desk: "Desk") -> object:
    from routines import idle
    from routines.scheduler import Scheduler

    clock = Scheduler()
    clock.every(idle.SECONDS, "idle summaries", lambda: idle.wake_due(desk.database, desk.engine))
    clock.start()
    return clock


async def _web(desk: object, port: int) -> object:
    from adapters.web.adapter import Web

    page = Web(desk, port)  # type: ignore[arg-type]
    address = await page.start()
    print(f"teambot is ready: {address}", flush=True)
    return page


def _configured(settings: Settings) -> tuple[str, ...]:
    """Every part that has what it needs."""
    slack = ("slack",) if settings.slack_bot_token or settings.slack_client_id else ()
    return ("web", "worker", "clock", *slack)


def _settings() -> Settings:
    settings = load()
    logging.basicConfig(level=settings.log_level, format="%(levelname)s %(name)s: %(message)s")
    return settings


def main() -> None:
    """The `teambot` command."""
    program = Program(
        open=_desk,  # type: ignore[arg-type]
        serve=_serve,
        migrate=_migrate,
        spoken=(BotError, StoreError),
        version=VERSION,
    )
    build(program)()


if __name__ == "__main__":
    main()
