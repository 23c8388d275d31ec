"""What `teambot doctor` says of Slack: tokens, scopes, sockets, each with what to do."""

import asyncio
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.manifest import SCOPES
from adapters.slack.workspace import error_code
from bot.settings import Settings

Row = dict[str, Any]
PROBLEMS = (SlackApiError, OSError, asyncio.TimeoutError)
PAGE = "on the app's page"


async def checked(settings: Settings, base_url: str | None = None) -> list[Row]:
    """Every check of Slack as {ok, about, text, remedy}; nothing where Slack is not configured."""
    if not settings.slack_bot_token and not settings.slack_app_token:
        return []
    rows = _shapes(settings)
    if rows:
        return rows
    client = AsyncWebClient(base_url=base_url) if base_url else AsyncWebClient()
    rows = [await _bot(client, settings.slack_bot_token)]
    if settings.slack_app_token:
        rows.append(await _sockets(client, settings.slack_app_token))
    elif settings.slack_signing_secret:
        text = f"Slack is heard by HTTP on 127.0.0.1:{settings.slack_port}/slack/events."
        rows.append(_row(True, text, "A proxy must bring the public https:// address there."))
    return rows


def _row(ok: bool, text: str, remedy: str = "") -> Row:
    return {"ok": ok, "about": "slack", "text": text, "remedy": remedy}


def _shapes(settings: Settings) -> list[Row]:
    """Tokens that are in each other's place, or missing."""
    bot, app = settings.slack_bot_token, settings.slack_app_token
    if not bot or bot.startswith("xapp-"):
        where = f"Install the app, then copy the `Bot User OAuth Token` {PAGE} `OAuth & Permissions`."
        return [_row(False, "SLACK_BOT_TOKEN is no bot token (xoxb-…).", where)]
    if app and not app.startswith("xapp-"):
        where = f"Make an app-level token with `connections:write` {PAGE} `Basic Information`."
        return [_row(False, "SLACK_APP_TOKEN is no app-level token (xapp-…).", where)]
    if not app and not settings.slack_signing_secret:
        return [_row(False, "Slack cannot reach teambot.", "Set SLACK_APP_TOKEN, or SLACK_SIGNING_SECRET.")]
    return []


async def _bot(client: AsyncWebClient, token: str) -> Row:
    try:
        told = await client.auth_test(token=token)
    except PROBLEMS as error:
        why = error_code(error) or type(error).__name__
        return _row(
            False, f"Slack does not take SLACK_BOT_TOKEN ({why}).", "Copy it again, or reinstall the app."
        )
    granted = {scope.strip() for scope in _header(told.headers, "x-oauth-scopes").split(",") if scope.strip()}
    missing = sorted(set(SCOPES) - granted) if granted else []
    if missing:
        remedy = "Paste the manifest of `teambot manifest slack` again and reinstall the app."
        return _row(False, f"The app lacks scopes: {', '.join(missing)}.", remedy)
    return _row(True, f"Slack knows the bot as {told.get('user')} in {told.get('team')}.")


async def _sockets(client: AsyncWebClient, token: str) -> Row:
    try:
        await client.apps_connections_open(app_token=token)
    except PROBLEMS as error:
        why = error_code(error) or type(error).__name__
        remedy = f"Turn on Socket Mode {PAGE}, and give the token `connections:write`."
        return _row(False, f"Slack opens no socket for SLACK_APP_TOKEN ({why}).", remedy)
    return _row(True, "Slack opens sockets.")


def _header(headers: Any, name: str) -> str:
    for key, value in dict(headers or {}).items():
        if str(key).lower() == name:
            return str(value[0] if isinstance(value, list) else value)
    return ""
