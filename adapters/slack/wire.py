"""Slack's text on the wire: tokens in angle brackets and three escapes, read into plain words."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime

_TOKEN = re.compile(r"<([^<>\n]+)>")
_ESCAPE = re.compile(r"&(amp|lt|gt);")
_ESCAPES = {"amp": "&", "lt": "<", "gt": ">"}
_ADDRESS = re.compile(r"https?://[^\s<>|]+")
_PERSON = re.compile(r"<@([UW][A-Z0-9]+)(?:\|[^<>]*)?>")


def unescaped(text: str) -> str:
    """The three escapes decoded in one pass, so that nothing is decoded twice."""
    return _ESCAPE.sub(lambda found: _ESCAPES[found[1]], text)


def decoded(text: str, names: Mapping[str, str] | None = None) -> str:
    """Plain words: mentions and links keep both their name and their id or address."""
    known = names or {}
    made, at = [], 0
    for found in _TOKEN.finditer(text):
        made += [unescaped(text[at : found.start()]), _token(found[1], known)]
        at = found.end()
    return "".join([*made, unescaped(text[at:])])


def mentioned(text: str) -> list[str]:
    """The people named in a text, by id."""
    return _PERSON.findall(text)


def without_mention(text: str, user: str) -> str:
    """The text without the mention of that user at its beginning."""
    return re.sub(rf"^\s*<@{re.escape(user)}(?:\|[^<>]*)?>[\s,:]*", "", text, count=1)


def addresses(text: str) -> frozenset[str]:
    """The web addresses that a person wrote."""
    return frozenset(unescaped(found) for found in _ADDRESS.findall(text))


def moment(ts: str) -> datetime:
    """When a message was written: its ts is seconds since 1970."""
    return datetime.fromtimestamp(float(ts), UTC)


def is_ts(value: object) -> bool:
    """Whether that is a message's ts."""
    return isinstance(value, str) and re.fullmatch(r"\d{1,12}\.\d{1,9}", value) is not None


def permalink(workspace_url: str, channel: str, ts: str, thread: str | None = None) -> str | None:
    """The address of a message, as Slack itself builds it; a reply opens in its thread."""
    if not workspace_url.startswith("https://") or not channel:
        return None
    link = f"{workspace_url.rstrip('/')}/archives/{channel}/p{ts.replace('.', '')}"
    return link if thread in (None, ts) else f"{link}?thread_ts={thread}&cid={channel}"


def _token(inner: str, names: Mapping[str, str]) -> str:
    target, _, label = inner.partition("|")
    label = unescaped(label)
    if target.startswith("@"):
        return _named("@", target[1:], label.removeprefix("@") or names.get(target[1:], ""))
    if target.startswith("#"):
        return _named("#", target[1:], label.removeprefix("#") or names.get(target[1:], ""))
    if target.startswith("!subteam^"):
        return _named("@", target.removeprefix("!subteam^"), label.removeprefix("@"))
    if target.startswith("!date^"):
        return label or target
    if target.startswith("!"):
        return f"@{(label or target[1:]).removeprefix('@')}"
    address = unescaped(target)
    bare = address.removeprefix("mailto:").removeprefix("tel:")
    if not label or label in (address, bare) or address.split("://", 1)[-1].rstrip("/") == label:
        return bare
    return f"{label} ({bare})"


def _named(mark: str, identity: str, name: str) -> str:
    return f"{mark}{name} ({identity})" if name and name != identity else f"{mark}{identity}"
