"""What `teambot doctor` says: configuration, database, model, in plain words and with remedies."""

import os
from typing import Any

from sqlalchemy import text

from bot.errors import BotError
from bot.model import Model
from bot.settings import Settings
from memory.database import Database
from memory.errors import StoreError
from migrations import check


async def health(settings: Settings, database: Database, model: Model) -> list[dict[str, Any]]:
    """Every check as {ok, about, text, remedy}."""
    return [
        _home(settings),
        await _database(database),
        await _model(settings, model),
        _meaning(),
        _platforms(settings),
    ]


def _row(ok: bool, about: str, words: str, remedy: str = "") -> dict[str, Any]:
    return {"ok": ok, "about": about, "text": words, "remedy": remedy}


def _home(settings: Settings) -> dict[str, Any]:
    if os.access(settings.home, os.W_OK):
        return _row(True, "home", f"Files are kept in {settings.home}.")
    return _row(
        False, "home", f"{settings.home} cannot be written.", "Set TEAMBOT_HOME to a folder that can."
    )


async def _database(database: Database) -> dict[str, Any]:
    kind = "SQLite" if database.is_sqlite else "PostgreSQL"
    try:
        check(database)
        await database.read(lambda session: session.execute(text("SELECT 1")))
    except StoreError as error:
        return _row(False, "database", str(error), "Run `teambot migrate`, or check DATABASE_URL.")
    except Exception as error:
        return _row(
            False, "database", f"{kind} does not answer ({type(error).__name__}).", "Check DATABASE_URL."
        )
    return _row(True, "database", f"{kind} is reachable and up to date.")


async def _model(settings: Settings, model: Model) -> dict[str, Any]:
    if not settings.has_model:
        return _row(
            True,
            "model",
            "No model is connected: the offline stand-in answers, word for word.",
            "Set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL for a local server that speaks the Messages API.",
        )
    body = {"model": settings.model, "max_tokens": 16, "messages": [{"role": "user", "content": "Say ok."}]}
    try:
        await model.respond(body)
    except BotError as error:
        return _row(
            False, "model", str(error), "Check ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL and TEAMBOT_MODEL."
        )
    return _row(True, "model", f"{settings.model} answers.")


def _meaning() -> dict[str, Any]:
    from bot.embedding import find_embedder

    if find_embedder() is not None:
        return _row(True, "search", "Memory is searched by words and by meaning.")
    return _row(
        True,
        "search",
        "Memory is searched by words only.",
        "Install the extra `semantic` (`make run` does) to search by meaning too.",
    )


def _platforms(settings: Settings) -> dict[str, Any]:
    if settings.discord_token:
        return _row(
            False, "platforms", "This version cannot talk on Discord yet.", "Leave DISCORD_TOKEN unset."
        )
    if settings.has_platform:
        return _row(True, "platforms", "Slack is configured.")
    return _row(
        True,
        "platforms",
        "Neither Slack nor Discord is configured: the local page is the only place.",
        "See docs/slack.md.",
    )
