"""Files of messages: fetched at once, judged by their bytes, the token never shown to other hosts."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.errors import SlackApiError

from adapters.slack.workspace import Workspace, error_code
from bot.messages import Attachment

log = logging.getLogger("teambot.slack")

LARGEST = 20_000_000
SECONDS = 2.2
"""A message is taken in only after its files were tried, and Slack waits three seconds for that."""
HOSTS = (".slack.com", ".slack-files.com", ".slack-edge.com")
_KINDS: tuple[tuple[bytes, int, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", 0, "image/png"),
    (b"\xff\xd8\xff", 0, "image/jpeg"),
    (b"GIF8", 0, "image/gif"),
    (b"WEBP", 8, "image/webp"),
    (b"ftypheic", 4, "image/heic"),
    (b"ftypheix", 4, "image/heic"),
    (b"ftypmif1", 4, "image/heic"),
    (b"%PDF-", 0, "application/pdf"),
    (b"PK\x03\x04", 0, "application/zip"),
)
UNREADABLE = {"image/heic": "It is a HEIC picture, which I cannot open; please send it as JPEG or PNG."}


def kind_of(data: bytes, told: str) -> str:
    """What a file is by its first bytes; what it says it is where they do not tell."""
    for mark, at, kind in _KINDS:
        if data[at : at + len(mark)] == mark:
            return kind
    return "application/octet-stream" if told.startswith("image/") and told != "image/svg+xml" else told


async def fetched(workspace: Workspace, file: Mapping[str, Any]) -> Attachment:
    """A file of a message, or the reason why it cannot be opened."""
    try:
        async with asyncio.timeout(SECONDS):
            return await _fetched(workspace, file)
    except (TimeoutError, aiohttp.ClientError, SlackApiError, OSError) as error:
        log.info("a file could not be fetched: %s", error_code(error) or type(error).__name__)
        return _without(file, "It could not be fetched from Slack; please send it again.")


async def _fetched(workspace: Workspace, file: Mapping[str, Any]) -> Attachment:
    if file.get("file_access") == "check_file_info" or not file.get("url_private"):
        answer = await workspace.client.files_info(file=str(file.get("id") or ""))
        found = answer.get("file")
        file = found if isinstance(found, dict) else file
    if file.get("mode") in ("tombstone", "hidden_by_limit", "external") or file.get("is_external"):
        return _without(file, "It is not kept on Slack, so I cannot open it.")
    if _size(file) > LARGEST:
        return _without(file, f"It is larger than {LARGEST // 1_000_000} MB, which is the most I take.")
    url = str(file.get("url_private_download") or file.get("url_private") or "")
    return await _downloaded(workspace, file, url)


async def _downloaded(workspace: Workspace, file: Mapping[str, Any], url: str) -> Attachment:
    async with aiohttp.ClientSession() as session:
        for _ in range(4):
            own = _is_slack(url, workspace)
            headers = {"Authorization": f"Bearer {workspace.client.token}"} if own else {}
            async with session.get(url, headers=headers, allow_redirects=False) as answer:
                if answer.status in (301, 302, 303, 307, 308):
                    url = str(answer.headers.get("Location") or "")
                    continue
                return await _read(file, answer)
    return _without(file, "It could not be fetched from Slack; please send it again.")


async def _read(file: Mapping[str, Any], answer: aiohttp.ClientResponse) -> Attachment:
    told = str(file.get("mimetype") or answer.content_type)
    if answer.status != 200:
        return _without(file, "Slack did not let me open it.")
    if answer.content_type == "text/html" and told != "text/html":
        return _without(file, "Slack did not let me open it (the app may lack the scope files:read).")
    data = await answer.content.read(LARGEST + 1)
    while len(data) <= LARGEST and not answer.content.at_eof():
        data += await answer.content.read(LARGEST + 1 - len(data))
    if len(data) > LARGEST:
        return _without(file, f"It is larger than {LARGEST // 1_000_000} MB, which is the most I take.")
    if not data:
        return _without(file, "It is empty.")
    kind = kind_of(data, told)
    problem = UNREADABLE.get(kind)
    if kind == "application/octet-stream" and told.startswith("image/"):
        problem = "It says that it is a picture, but it is none that I can open."
    return Attachment(_name(file), kind, len(data), None if problem else data, problem)


def _is_slack(url: str, workspace: Workspace) -> bool:
    parts = urlsplit(url)
    home = urlsplit(workspace.client.base_url)
    host = parts.hostname or ""
    if (parts.scheme, parts.netloc) == (home.scheme, home.netloc):
        return True
    return parts.scheme == "https" and any(host.endswith(end) for end in HOSTS)


def _without(file: Mapping[str, Any], problem: str) -> Attachment:
    return Attachment(_name(file), str(file.get("mimetype") or ""), _size(file), None, problem)


def _name(file: Mapping[str, Any]) -> str:
    return str(file.get("name") or file.get("title") or "file")


def _size(file: Mapping[str, Any]) -> int:
    size = file.get("size")
    return size if isinstance(size, int) else 0
