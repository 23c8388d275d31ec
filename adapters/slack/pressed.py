"""Slack's commands, buttons, forms and menus as what was asked; pure. Who asked is whom Slack names."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from adapters.slack.wire import is_ts

Body = Mapping[str, Any]


@dataclass(frozen=True)
class Asked:
    """What all of them have: who, where, and how to answer."""

    workspace: str
    user: str
    user_team: str
    channel: str = ""
    thread: str | None = None
    trigger: str = ""
    reply_to: str = ""


@dataclass(frozen=True)
class Typed(Asked):
    """A slash command: its name, and what stood behind it."""

    name: str = ""
    text: str = ""


@dataclass(frozen=True)
class Button(Asked):
    """A button, menu or field: which one, its value, and the message or view it stands in."""

    action: str = ""
    value: str = ""
    message: str = ""
    view: str = ""
    note: str = ""
    ephemeral: bool = False


@dataclass(frozen=True)
class Form(Asked):
    """A form that was sent: what its fields hold, and what it was opened with."""

    name: str = ""
    note: str = ""
    view: str = ""
    fields: dict[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Menu(Asked):
    """A shortcut: on a message, or from anywhere."""

    name: str = ""
    message: str = ""
    text: str = ""
    author: str = ""


def typed(body: Body) -> Typed | None:
    """A slash command."""
    user, command = body.get("user_id"), str(body.get("command") or "")
    if not user or not command:
        return None
    return Typed(
        workspace=str(body.get("team_id") or ""),
        user=str(user),
        user_team=str(body.get("team_id") or ""),
        channel=str(body.get("channel_id") or ""),
        trigger=str(body.get("trigger_id") or ""),
        reply_to=str(body.get("response_url") or ""),
        name=command.removeprefix("/"),
        text=str(body.get("text") or ""),
    )


def buttons(body: Body) -> list[Button]:
    """What was pressed; Slack may send several at once."""
    asked = _asked(body)
    if asked is None:
        return []
    container, view = _inner(body, "container"), _inner(body, "view")
    return [
        Button(
            **asked,
            action=str(action.get("action_id") or ""),
            value=_value(action),
            message=str(container.get("message_ts") or _inner(body, "message").get("ts") or ""),
            view=str(view.get("id") or container.get("view_id") or ""),
            note=str(view.get("private_metadata") or ""),
            ephemeral=bool(container.get("is_ephemeral")),
        )
        for action in _items(body, "actions")
    ]


def form(body: Body) -> Form | None:
    """A form that was sent."""
    asked, view = _asked(body), _inner(body, "view")
    if asked is None or not view:
        return None
    state = _inner(view, "state").get("values")
    return Form(
        **asked,
        name=str(view.get("callback_id") or ""),
        note=str(view.get("private_metadata") or ""),
        view=str(view.get("id") or ""),
        fields=_fields(state if isinstance(state, dict) else {}),
    )


def menu(body: Body) -> Menu | None:
    """A shortcut."""
    asked, message = _asked(body), _inner(body, "message")
    if asked is None:
        return None
    return Menu(
        **asked,
        name=str(body.get("callback_id") or ""),
        message=str(message.get("ts") or body.get("message_ts") or ""),
        text=str(message.get("text") or ""),
        author=str(message.get("user") or message.get("bot_id") or ""),
    )


def _asked(body: Body) -> dict[str, Any] | None:
    user, team = _inner(body, "user"), _inner(body, "team")
    if not user.get("id"):
        return None
    container, message = _inner(body, "container"), _inner(body, "message")
    thread = message.get("thread_ts") or container.get("thread_ts")
    own = str(user.get("team_id") or team.get("id") or "")
    return {
        "workspace": str(team.get("id") or own),
        "user": str(user["id"]),
        "user_team": own,
        "channel": str(_inner(body, "channel").get("id") or container.get("channel_id") or ""),
        "thread": str(thread) if is_ts(thread) else None,
        "trigger": str(body.get("trigger_id") or ""),
        "reply_to": str(body.get("response_url") or _first_url(body)),
    }


def _first_url(body: Body) -> str:
    for entry in _items(body, "response_urls"):
        if entry.get("response_url"):
            return str(entry["response_url"])
    return ""


def _fields(values: Mapping[str, Any]) -> dict[str, str]:
    return {
        str(action): _value(content)
        for block in values.values()
        if isinstance(block, dict)
        for action, content in block.items()
        if isinstance(content, dict)
    }


def _value(action: Mapping[str, Any]) -> str:
    option = action.get("selected_option")
    if isinstance(option, dict):
        return str(option.get("value") or "")
    options = action.get("selected_options")
    if isinstance(options, list):
        return ",".join(str(one.get("value") or "") for one in options if isinstance(one, dict))
    return str(action.get("value") or "")


def _inner(body: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = body.get(name)
    return found if isinstance(found, dict) else {}


def _items(body: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    found = body.get(name)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []
