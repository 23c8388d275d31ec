"""What the bot shows on Slack: replies begun, continued, ended, found again and taken away."""

import logging
from collections.abc import Callable
from typing import Any

from slack_sdk.errors import SlackApiError

from adapters.slack import blocks
from adapters.slack.posting import post_part, replace
from adapters.slack.safe import plain, rendered
from adapters.slack.status import Statuses
from adapters.slack.stream import Reply
from adapters.slack.workspace import Workspace, error_code
from adapters.text import split, utf8
from bot.messages import Address, Post

log = logging.getLogger("teambot.slack")

ALONE = "alone:"
"""Begins the id of a reply that one person sees: Slack forgets such messages, so they have no ts."""
NOT_THERE = {"user_not_in_channel", "not_in_channel", "channel_not_found", "messages_tab_disabled"}


class Outbound:
    """Implements `bot.messages.Platform` for Slack."""

    name = "slack"

    def __init__(
        self, workspaces: dict[str, Workspace], statuses: Statuses, on_stop: Callable[[Post], None]
    ) -> None:
        self._workspaces = workspaces
        self._statuses = statuses
        self._on_stop = on_stop
        self._replies: dict[str, Reply] = {}

    async def start(self, post: Post) -> str:
        """Shows a new message."""
        space = self._of(post.address)
        if post.ephemeral:
            return await self._alone(space, post) if post.final else f"{ALONE}{post.key}"
        if post.final:
            ts = await replace(space, post, self._parts(space, post), [])
            await self._ended(space, post)
            return ts
        reply = Reply(space, post, self._on_stop)
        ts = await reply.begin()
        self._replies[post.key] = reply
        return ts

    async def update(self, post: Post, message_id: str) -> None:
        """Shows more text, when the budget allows."""
        reply = self._replies.get(post.key)
        if reply is not None:
            reply.push(post.text)

    async def finish(self, post: Post, message_id: str) -> str:
        """Makes it final; after a restart what stands there is replaced."""
        space = self._of(post.address)
        if post.ephemeral or message_id.startswith(ALONE):
            return await self._alone(space, post)
        reply = self._replies.pop(post.key, None)
        if reply is not None:
            ts = await reply.end(post)
        else:
            there = await self._there(space, post, message_id)
            for found in there:
                await self._stopped(space, post, found)
            ts = await replace(space, post, self._parts(space, post), there)
        await self._ended(space, post)
        return ts

    async def find(self, post: Post) -> str | None:
        """The first message that carries the post's key, or the stream that was left open there."""
        if post.ephemeral:
            return None
        found = await self._there(self._of(post.address), post, None)
        return found[0] if found else None

    async def remove(self, address: Address, message_id: str) -> None:
        """Takes a reply away, with all its parts."""
        space = self._of(address)
        if message_id.startswith(ALONE):
            return
        messages = await self._history(space, address)
        key = next((_key(message) for message in messages if message.get("ts") == message_id), None)
        ids = [str(message["ts"]) for message in messages if key is not None and _key(message) == key]
        for ts in ids or [message_id]:
            try:
                await space.client.chat_delete(channel=address.channel, ts=ts)
            except SlackApiError as error:
                if error_code(error) != "message_not_found":
                    raise

    def _of(self, address: Address) -> Workspace:
        return self._workspaces[address.workspace]

    def _parts(self, space: Workspace, post: Post) -> list[str]:
        sources = frozenset(source.get("link", "") for source in post.sources)
        where = post.address
        text = rendered(post.text, lambda url: space.allows(where.channel, where.thread, sources, url))
        return split(text, blocks.PART, utf8)

    async def _ended(self, space: Workspace, post: Post) -> None:
        await self._statuses.end(space, post.address.channel, post.address.thread)

    async def _alone(self, space: Workspace, post: Post) -> str:
        """Shows it to its asker only: there, or in their direct message, never to others."""
        if post.asker is None:
            raise ValueError("an ephemeral post needs its reader")
        parts = self._parts(space, post) or ["…"]
        thread: dict[str, Any] = {"thread_ts": post.address.thread} if post.address.thread else {}
        for number, text in enumerate(parts):
            under = blocks.footer(post) if number == len(parts) - 1 else []
            content: dict[str, Any] = {"text": plain(text), "blocks": [blocks.markdown(text), *under]}
            try:
                await space.posts.chat_postEphemeral(
                    channel=post.address.channel, user=post.asker, **thread, **content
                )
            except SlackApiError as error:
                if error_code(error) not in NOT_THERE:
                    raise
                await self._direct(space, post, text, number, under)
        await self._ended(space, post)
        return f"{ALONE}{post.key}"

    async def _direct(
        self, space: Workspace, post: Post, text: str, number: int, under: list[blocks.Block]
    ) -> None:
        opened = await space.client.conversations_open(users=post.asker)
        channel = str((opened.get("channel") or {}).get("id") or "")
        where = Address(post.address.platform, space.id, channel)
        await post_part(space, Post(**{**post.__dict__, "address": where}), text, number, under)

    async def _there(self, space: Workspace, post: Post, message_id: str | None) -> list[str]:
        """The messages of a reply that stand there, in order."""
        messages = await self._history(space, post.address)
        own = [message for message in messages if _is_ours(space, message)]
        marked = [message for message in own if _key(message) == post.key]
        marked.sort(key=lambda message: (_part(message), str(message.get("ts"))))
        ids = [str(message["ts"]) for message in marked]
        # A stream that was cut off carries no mark yet; one conversation has one reply at a time.
        ids += [str(message["ts"]) for message in own if _is_open(message) and _key(message) is None]
        if message_id is not None and message_id not in ids:
            ids.insert(0, message_id)
        return ids

    async def _history(self, space: Workspace, address: Address) -> list[dict[str, Any]]:
        if address.thread is None:
            answer = await space.client.conversations_history(
                channel=address.channel, limit=50, include_all_metadata=True
            )
            return list(reversed(answer.get("messages") or []))
        found: list[dict[str, Any]] = []
        cursor: str | None = None
        for _ in range(10):
            answer = await space.client.conversations_replies(
                channel=address.channel,
                ts=address.thread,
                limit=200,
                include_all_metadata=True,
                cursor=cursor,
            )
            found += answer.get("messages") or []
            cursor = (answer.get("response_metadata") or {}).get("next_cursor") or None
            if cursor is None:
                break
        return found

    async def _stopped(self, space: Workspace, post: Post, ts: str) -> None:
        """Ends a stream that an earlier process left open; a message that is none stays as it is."""
        try:
            await space.client.chat_stopStream(
                channel=post.address.channel, ts=ts, metadata=blocks.metadata(post.key)
            )
        except SlackApiError as error:
            log.info("no stream to end: %s", error_code(error))


def _key(message: dict[str, Any]) -> str | None:
    mark = message.get("metadata") or {}
    payload = mark.get("event_payload") or {}
    return str(payload["key"]) if mark.get("event_type") == blocks.EVENT and "key" in payload else None


def _part(message: dict[str, Any]) -> int:
    payload = (message.get("metadata") or {}).get("event_payload") or {}
    return int(payload.get("part") or 0)


def _is_open(message: dict[str, Any]) -> bool:
    return message.get("streaming_state") == "in_progress"


def _is_ours(space: Workspace, message: dict[str, Any]) -> bool:
    me = space.me
    return message.get("user") == me.user or (bool(me.bot) and message.get("bot_id") == me.bot)
