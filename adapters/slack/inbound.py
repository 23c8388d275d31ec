"""Slack's events as what they mean, without asking anybody: pure, tried on recorded shapes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from adapters.slack.wire import is_ts, mentioned, unescaped

Body = Mapping[str, Any]
SPOKEN = ("", "file_share", "thread_broadcast", "me_message", "bot_message")
SYSTEM_USERS = ("USLACKBOT", "USLACK")
PLACES = (
    "channel_shared channel_unshared channel_archive channel_unarchive channel_deleted channel_rename "
    "channel_id_changed channel_left group_archive group_unarchive group_deleted group_rename group_left"
).split()


@dataclass(frozen=True)
class Me:
    """The bot as Slack knows it in one workspace."""

    user: str
    bot: str = ""
    app: str = ""


@dataclass(frozen=True)
class Heard:
    """A message by somebody. `text` is still as on the wire."""

    workspace: str
    channel: str
    channel_type: str
    ts: str
    thread: str | None
    user: str
    user_team: str
    text: str
    mentions: tuple[str, ...]
    files: tuple[dict[str, Any], ...] = ()
    client_id: str = ""
    is_bot: bool = False
    shared_externally: bool = False

    def names(self, user: str) -> bool:
        """Whether the text mentions that user."""
        return user in self.mentions


@dataclass(frozen=True)
class Revised:
    """A message that stands there with this text now; what it was before, where Slack says it."""

    message: Heard
    before: str | None
    edited_at: str


@dataclass(frozen=True)
class Gone:
    """A message was deleted."""

    workspace: str
    channel: str
    ts: str


@dataclass(frozen=True)
class Opened:
    """Somebody opened the bot's tab, or looks at something beside the bot."""

    workspace: str
    user: str
    channel: str
    tab: str


@dataclass(frozen=True)
class Came:
    """Somebody came to a channel or left it."""

    workspace: str
    channel: str
    user: str
    joined: bool


@dataclass(frozen=True)
class PlaceChanged:
    """A channel was shared, closed or renamed."""

    workspace: str
    channel: str


@dataclass(frozen=True)
class PersonChanged:
    """A person joined, left the workspace, or changed; `user` is Slack's whole user."""

    workspace: str
    user: dict[str, Any] = field(hash=False)


@dataclass(frozen=True)
class Stopped:
    """Somebody pressed the stop button of an answer."""

    workspace: str
    channel: str
    thread: str | None
    user: str


@dataclass(frozen=True)
class Uninstalled:
    """The app was removed, or its tokens were revoked."""

    workspace: str


Incoming = Heard | Revised | Gone | Opened | Came | PlaceChanged | PersonChanged | Stopped | Uninstalled


def read(body: Body) -> Incoming | None:
    """What an event means, or nothing for what does not concern the bot. Never raises on any shape."""
    event = body.get("event")
    if not isinstance(event, dict):
        return None
    kind = event.get("type")
    reader = _READERS.get(str(kind))
    return reader(workspace_of(body), event, body) if reader else None


def workspace_of(body: Body) -> str:
    """The workspace whose installation received this."""
    for grant in _items(body, "authorizations"):
        if grant.get("team_id"):
            return str(grant["team_id"])
    return str(body.get("context_team_id") or body.get("team_id") or "")


def _message(workspace: str, event: dict[str, Any], body: Body) -> Incoming | None:
    subtype = event.get("subtype")
    if subtype == "message_changed":
        return _changed(workspace, event, body)
    if subtype == "message_deleted":
        ts = event.get("deleted_ts") or _inner(event, "previous_message").get("ts")
        return Gone(workspace, str(event.get("channel")), str(ts)) if is_ts(ts) else None
    if not _is_spoken(subtype):
        return None
    return heard(workspace, str(event.get("channel") or ""), event, body)


def _is_spoken(subtype: object) -> bool:
    return subtype is None or (isinstance(subtype, str) and subtype in SPOKEN)


def _changed(workspace: str, event: dict[str, Any], body: Body) -> Incoming | None:
    now, was = _inner(event, "message"), _inner(event, "previous_message")
    channel = str(event.get("channel") or "")
    if now.get("subtype") == "tombstone" or (now.get("hidden") and not now.get("text")):
        ts = now.get("ts") or was.get("ts")
        return Gone(workspace, channel, str(ts)) if is_ts(ts) else None
    if not _is_spoken(now.get("subtype")):
        return None
    typed = {"channel_type": event.get("channel_type"), **now}
    message = heard(workspace, channel, typed, body)
    if message is None:
        return None
    before = str(was["text"]) if isinstance(was.get("text"), str) else None
    edited = _inner(now, "edited").get("ts") or event.get("event_ts") or event.get("ts")
    return Revised(message, before, str(edited) if is_ts(edited) else message.ts)


def heard(workspace: str, channel: str, event: Mapping[str, Any], body: Body) -> Heard | None:
    """A message as Slack's events and its history have it; nothing where nobody is to be heard."""
    ts, user = event.get("ts"), str(event.get("user") or "")
    bot = str(event.get("bot_id") or "")
    if not is_ts(ts) or not channel or not (user or bot) or user in SYSTEM_USERS:
        return None
    text = str(event.get("text") or "") + _forwarded(event)
    thread = event.get("thread_ts")
    return Heard(
        workspace=workspace,
        channel=channel,
        channel_type=str(event.get("channel_type") or _type_of(channel)),
        ts=str(ts),
        thread=str(thread) if is_ts(thread) else None,
        user=user or bot,
        user_team=str(event.get("user_team") or event.get("team") or ""),
        text=text,
        mentions=tuple(mentioned(str(event.get("text") or ""))),
        files=tuple(_items(event, "files")),
        client_id=str(event.get("client_msg_id") or ""),
        is_bot=bool(bot),
        shared_externally=bool(body.get("is_ext_shared_channel")),
    )


def _forwarded(event: Mapping[str, Any]) -> str:
    """What was forwarded, as a quote: it is somebody else's words."""
    quotes: list[str] = []
    for part in _items(event, "attachments"):
        if part.get("is_share") and part.get("text"):
            whom = unescaped(str(part.get("author_name") or "somebody"))
            quotes += ["", f"> forwarded from {whom}:"]
            quotes += [f"> {line}" for line in str(part["text"]).splitlines()]
    return "\n".join(["", *quotes]) if quotes else ""


def _type_of(channel: str) -> str:
    return {"D": "im", "G": "group"}.get(channel[:1], "channel")


def _opened(workspace: str, event: dict[str, Any], _: Body) -> Incoming | None:
    user = event.get("user")
    tab = str(event.get("tab") or "messages")
    return Opened(workspace, str(user), str(event.get("channel") or ""), tab) if user else None


def _came(workspace: str, event: dict[str, Any], _: Body) -> Incoming | None:
    user, channel = event.get("user"), event.get("channel")
    if not isinstance(user, str) or not isinstance(channel, str) or not user or not channel:
        return None
    return Came(workspace, channel, user, event.get("type") == "member_joined_channel")


def _place(workspace: str, event: dict[str, Any], _: Body) -> Incoming | None:
    channel = event.get("channel") or event.get("new_channel_id")
    identity = channel.get("id") if isinstance(channel, dict) else channel
    return PlaceChanged(workspace, str(identity)) if identity else None


def _person(workspace: str, event: dict[str, Any], _: Body) -> Incoming | None:
    user = event.get("user")
    return PersonChanged(workspace, user) if isinstance(user, dict) and user.get("id") else None


def _stopped(workspace: str, event: dict[str, Any], _: Body) -> Incoming | None:
    channel = event.get("channel") or event.get("channel_id")
    thread = event.get("thread_ts")
    if not channel or not event.get("user"):
        return None
    return Stopped(workspace, str(channel), str(thread) if is_ts(thread) else None, str(event["user"]))


def _uninstalled(workspace: str, event: dict[str, Any], body: Body) -> Incoming | None:
    if event.get("type") == "tokens_revoked" and not _inner(event, "tokens").get("bot"):
        return None
    return Uninstalled(str(body.get("team_id") or workspace))


def _inner(event: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = event.get(name)
    return found if isinstance(found, dict) else {}


def _items(event: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    found = event.get(name)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


_READERS: dict[str, Callable[[str, dict[str, Any], Body], Incoming | None]] = {
    "message": _message,
    "app_mention": lambda workspace, event, body: heard(
        workspace, str(event.get("channel") or ""), event, body
    ),
    "app_home_opened": _opened,
    "app_context_changed": lambda workspace, event, body: _opened(
        workspace, {**event, "tab": "context"}, body
    ),
    "member_joined_channel": _came,
    "member_left_channel": _came,
    "team_join": _person,
    "user_change": _person,
    "user_profile_changed": _person,
    "user_status_changed": _person,
    "agent_session_stopped": _stopped,
    "app_uninstalled": _uninstalled,
    "tokens_revoked": _uninstalled,
    **dict.fromkeys(PLACES, _place),
}
