"""Messages that are posted or changed as a whole, each part with the mark by which it is found again."""

from collections.abc import Callable
from typing import Any

from slack_sdk.errors import SlackApiError

from adapters.slack import blocks
from adapters.slack.safe import plain
from adapters.slack.workspace import Workspace, error_code
from bot.messages import Post

REFUSED = ("invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "invalid_arguments")


def persona(workspace: Workspace, post: Post) -> dict[str, Any]:
    """The name to post under, where a reply comes from another bot than the app itself."""
    name = post.persona or ""
    if not workspace.has_personas or name.casefold() in ("", "teambot", workspace.handle.casefold()):
        return {}
    return {"username": name}


async def post_part(
    workspace: Workspace, post: Post, text: str, number: int, under: list[blocks.Block]
) -> str:
    """Posts one part of a reply."""
    where: dict[str, Any] = {"channel": post.address.channel}
    if post.address.thread:
        where["thread_ts"] = post.address.thread
    common: dict[str, Any] = {
        "metadata": blocks.metadata(post.key, number),
        "unfurl_links": False,
        "unfurl_media": False,
    }

    async def send(content: dict[str, Any], **name: Any) -> str:
        answer = await workspace.posts.chat_postMessage(**where, **content, **common, **name)
        return str(answer["ts"])

    return await _sent(workspace, post, text, under, send)


async def update_part(
    workspace: Workspace, post: Post, ts: str, text: str, number: int, under: list[blocks.Block]
) -> str:
    """Makes an earlier message hold this part."""

    async def send(content: dict[str, Any], **_: Any) -> str:
        workspace.budget.spend("chat.update")
        await workspace.client.chat_update(
            channel=post.address.channel, ts=ts, metadata=blocks.metadata(post.key, number), **content
        )
        return ts

    return await _sent(workspace, post, text, under, send)


async def _sent(
    workspace: Workspace, post: Post, text: str, under: list[blocks.Block], send: Callable[..., Any]
) -> str:
    """Sends with blocks; where Slack does not take them, with the words alone."""
    full: dict[str, Any] = {"text": plain(text), "blocks": [blocks.markdown(text), *under]}
    name = persona(workspace, post)
    try:
        return str(await send(full, **name))
    except SlackApiError as error:
        code = error_code(error)
        if name and code in ("missing_scope", "invalid_arguments", "not_allowed_token_type"):
            workspace.has_personas = False
            return str(await send(full))
        if code not in (
            "invalid_blocks",
            "invalid_blocks_format",
            "msg_blocks_too_long",
            "invalid_arguments",
        ):
            raise
        return str(await send({"markdown_text": text}, **name))


async def replace(workspace: Workspace, post: Post, parts: list[str], there: list[str]) -> str:
    """Makes these parts stand where those messages are: changed, added or taken away as needed."""
    parts = parts or ["…"]
    first = ""
    for number, text in enumerate(parts):
        under = blocks.footer(post) if number == len(parts) - 1 else []
        if number < len(there):
            ts = await update_part(workspace, post, there[number], text, number, under)
        else:
            ts = await post_part(workspace, post, text, number, under)
        first = first or ts
    for ts in there[len(parts) :]:
        await workspace.client.chat_delete(channel=post.address.channel, ts=ts)
    return first
