"""The app manifest that an admin pastes into Slack: made from the command specs, checked against limits."""

import json
import re
from typing import Any
from urllib.parse import urlsplit

from adapters.slack.greeting import PROMPTS
from bot.commands.specs import Spec, specs
from bot.errors import BadInput

SCOPES = {
    "app_mentions:read": "to be told when somebody mentions the bot",
    "assistant:write": "status line, suggested prompts and stop button of an agent",
    "channels:history": "to follow threads in public channels that the bot was invited to",
    "channels:read": "to know whether a public channel is shared with other organisations",
    "chat:write": "to answer",
    "commands": "slash commands and menus",
    "files:read": "to read files that are sent to the bot",
    "files:write": "to send a person their own export",
    "groups:history": "to follow threads in private channels that the bot was invited to",
    "groups:read": "to know who reads a private channel",
    "im:history": "to read direct messages to the bot",
    "im:read": "to know a direct message as one",
    "im:write": "to open a direct message, for what only one person may see",
    "mpim:history": "to follow group messages that the bot was added to",
    "mpim:read": "to know who reads a group message",
    "users:read": "names, time zones, and who is a guest or from elsewhere",
}
OPTIONAL = {"chat:write.customize": "several bots of one team answer under their own names"}
EVENTS = """
agent_session_stopped app_context_changed app_home_opened app_mention app_uninstalled channel_archive
channel_deleted channel_left channel_rename channel_shared channel_unshared group_archive group_deleted
group_left group_rename member_joined_channel member_left_channel message.channels message.groups message.im
message.mpim team_join tokens_revoked user_change
""".split()
ROOTS = {
    "ask": "Ask the bot something here",
    "memory": "See and change what the bot remembers",
    "note": "Private notes that only you can see",
    "routine": "Prompts the bot runs on a schedule",
    "skill": "What the bot knows how to do",
    "botadmin": "Create and manage bots",
    "teambot": "Help, stop, privacy",
}
ALWAYS = {"ask": "your question", "teambot": "help [topic] | stop | privacy"}
MENUS = (
    ("Remember this", "message", "remember_message"),
    ("Save to my notes", "message", "note_message"),
    ("Ask about this", "message", "ask_message"),
    ("My memory", "global", "my_memory"),
)
DESCRIPTION = "A teammate that remembers, with sources, and shows each person what it knows."
LONG = (
    "It answers in channels, threads and direct messages, and remembers what the team tells it. Every memory "
    "keeps a link to the message it came from. Each person can see, correct, pause, export and erase what is "
    "kept about them in My memory. What is said in a direct message stays with that person; private notes "
    "can be read by nobody else. Answers are written by AI and can be wrong: check important facts."
)
AGENT = "Ask, remember, look up. Answers come from AI with sources and can be wrong; you control what I keep."
LIMITS = {"name": 35, "description": 140, "long_description": 4_000, "agent_description": 300, "command": 32}
PREFIX = re.compile(r"[a-z0-9]{1,12}-?")


def manifest(name: str = "teambot", *, prefix: str = "", url: str = "") -> dict[str, Any]:
    """The manifest: for Socket Mode, or with a public `url` for HTTP."""
    if prefix and not PREFIX.fullmatch(prefix):
        raise BadInput("The prefix is up to 12 small letters and digits, such as `tb-`.")
    endpoint = f"{_checked(url)}/slack/events" if url else ""
    made = {
        "_metadata": {"major_version": 2, "minor_version": 1},
        "display_information": {
            "name": name,
            "description": DESCRIPTION,
            "long_description": LONG,
            "background_color": "#1f2a44",
        },
        "features": {
            "agent_view": {"agent_description": AGENT, "suggested_prompts": PROMPTS},
            "app_home": {
                "home_tab_enabled": True,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": False,
            },
            "bot_user": {"display_name": name, "always_online": True},
            "slash_commands": [_command(root, prefix, endpoint) for root in roots()],
            "shortcuts": [
                {"name": label, "type": kind, "callback_id": callback, "description": label}
                for label, kind, callback in MENUS
            ],
        },
        "oauth_config": {
            "scopes": {"bot": sorted(SCOPES), "bot_optional": sorted(OPTIONAL)},
            **({"redirect_urls": [f"{_checked(url)}/slack/oauth_redirect"]} if url else {}),
        },
        "settings": _settings(endpoint),
    }
    check(made)
    return made


def roots() -> list[str]:
    """The slash commands that have something behind them."""
    known = {spec.root for spec in specs()}
    return [root for root in ROOTS if root in known or root in ALWAYS]


def check(made: dict[str, Any]) -> None:
    """Raises where Slack would refuse a manifest."""
    about, features = made["display_information"], made["features"]
    problems = [
        f"{field} is longer than {LIMITS[field]} characters"
        for field, text in (
            *((field, about[field]) for field in ("name", "description", "long_description")),
            ("agent_description", features["agent_view"]["agent_description"]),
            *(("command", command["command"]) for command in features["slash_commands"]),
        )
        if len(text) > LIMITS[field]
    ]
    if not made["display_information"]["name"].strip():
        problems.append("the name is empty")
    if len(about["long_description"]) < 174:
        problems.append("long_description is shorter than 174 characters")
    counts = (
        ("suggested prompts", features["agent_view"]["suggested_prompts"], 4),
        ("slash commands", features["slash_commands"], 50),
        ("shortcuts", features["shortcuts"], 10),
        ("events", made["settings"]["event_subscriptions"]["bot_events"], 100),
    )
    problems += [f"more than {most} {what}" for what, items, most in counts if len(items) > most]
    if problems:
        raise BadInput(f"Slack would refuse this manifest: {'; '.join(problems)}.")


def printed(name: str = "teambot", *, prefix: str = "", url: str = "") -> str:
    """The manifest as text to paste."""
    return json.dumps(manifest(name, prefix=prefix, url=url), indent=2)


def _command(root: str, prefix: str, endpoint: str) -> dict[str, Any]:
    made: dict[str, Any] = {
        "command": f"/{prefix}{root}",
        "description": ROOTS[root],
        "usage_hint": ALWAYS.get(root) or _hint([spec for spec in specs() if spec.root == root]),
        "should_escape": True,
    }
    return {**made, "url": endpoint} if endpoint else made


def _hint(found: list[Spec]) -> str:
    return " | ".join(spec.name.partition(" ")[2] for spec in found)


def _settings(endpoint: str) -> dict[str, Any]:
    events: dict[str, Any] = {"bot_events": sorted(EVENTS)}
    pressing: dict[str, Any] = {"is_enabled": True}
    if endpoint:
        events["request_url"] = endpoint
        pressing |= {"request_url": endpoint, "message_menu_options_url": endpoint}
    return {
        "event_subscriptions": events,
        "interactivity": pressing,
        "org_deploy_enabled": False,
        "socket_mode_enabled": not endpoint,
        "token_rotation_enabled": False,
    }


def _checked(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.netloc:
        raise BadInput("The address must be public and begin with https://.")
    return url.rstrip("/")
