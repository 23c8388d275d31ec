"""`teambot doctor` says what is wrong with Slack, and what to do."""

from pathlib import Path
from typing import Any

from aiohttp import web

from adapters.slack.doctor import checked
from adapters.slack.manifest import SCOPES
from bot.settings import Settings
from tests.adapters.slack.server import Slack, running


async def said(slack: Slack, **tokens: str) -> list[dict[str, Any]]:
    """What the doctor says."""
    settings = Settings(home=Path("/nowhere"), database_url="sqlite://", **tokens)  # type: ignore[arg-type]
    return await checked(settings, f"{slack.url}/api/")


def granted(slack: Slack, *scopes: str) -> None:
    """Slack tells the scopes of the token."""
    body = {"ok": True, **slack.on_auth_test({})}
    answer = web.json_response(body, headers={"x-oauth-scopes": ",".join(scopes)})
    slack.faults["auth.test"] = [lambda _: answer]


async def test_all_is_well() -> None:
    async with running() as slack:
        granted(slack, *SCOPES)
        rows = await said(slack, slack_bot_token="xoxb-1", slack_app_token="xapp-1")
        assert [row["ok"] for row in rows] == [True, True]
        assert "teambot in Team" in rows[0]["text"]


async def test_what_is_wrong_has_a_remedy() -> None:
    async with running() as slack:
        assert await said(slack) == []
        for tokens, part in (
            ({"slack_bot_token": "xapp-1", "slack_app_token": "xoxb-1"}, "no bot token"),
            ({"slack_bot_token": "xoxb-1", "slack_app_token": "xoxb-2"}, "no app-level token"),
            ({"slack_bot_token": "xoxb-1"}, "cannot reach"),
        ):
            rows = await said(slack, **tokens)
            assert [row["ok"] for row in rows] == [False]
            assert part in rows[0]["text"]
            assert rows[0]["remedy"]
        granted(slack, "chat:write")
        slack.faults["apps.connections.open"] = [lambda _: {"ok": False, "error": "not_allowed_token_type"}]
        rows = await said(slack, slack_bot_token="xoxb-1", slack_app_token="xapp-1")
        assert "im:history" in rows[0]["text"]
        assert "not_allowed_token_type" in rows[1]["text"]


async def test_a_refused_token_is_said() -> None:
    async with running() as slack:
        slack.faults["auth.test"] = [lambda _: {"ok": False, "error": "invalid_auth"}]
        rows = await said(slack, slack_bot_token="xoxb-1", slack_signing_secret="x")
        assert "invalid_auth" in rows[0]["text"]
        assert "8585/slack/events" in rows[1]["text"]
