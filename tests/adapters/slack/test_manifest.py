"""The manifest is one that Slack takes, and offers what the program can do."""

import pytest

from adapters.slack import manifest
from bot.errors import BadInput


def test_it_offers_the_commands_that_exist() -> None:
    made = manifest.manifest()
    commands = {command["command"]: command["usage_hint"] for command in made["features"]["slash_commands"]}
    assert {"/ask", "/memory", "/note", "/teambot"} <= set(commands)
    assert "search" in commands["/memory"]
    assert made["settings"]["socket_mode_enabled"] is True
    assert made["features"]["app_home"]["messages_tab_read_only_enabled"] is False
    assert "agent_session_stopped" in made["settings"]["event_subscriptions"]["bot_events"]


def test_every_scope_has_its_reason() -> None:
    assert all(reason for reason in (manifest.SCOPES | manifest.OPTIONAL).values())
    assert "chat:write.public" not in manifest.SCOPES
    assert "users:read.email" not in manifest.SCOPES


def test_http_has_an_address_everywhere() -> None:
    made = manifest.manifest(url="https://bot.example/")
    assert {command["url"] for command in made["features"]["slash_commands"]} == {
        "https://bot.example/slack/events"
    }
    assert made["settings"]["interactivity"]["request_url"] == "https://bot.example/slack/events"
    assert made["oauth_config"]["redirect_urls"] == ["https://bot.example/slack/oauth_redirect"]


@pytest.mark.parametrize(
    "given", [{"name": "x" * 36}, {"name": " "}, {"prefix": "Not so!"}, {"url": "http://bot.example"}]
)
def test_what_slack_would_refuse_is_said_here(given: dict[str, str]) -> None:
    with pytest.raises(BadInput):
        manifest.manifest(**given)
