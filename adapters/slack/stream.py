"""One reply while it is written: streamed where Slack can, else posted and edited. One writer at a time."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from slack_sdk.errors import SlackApiError

from adapters.slack import blocks
from adapters.slack.posting import persona, post_part, replace, update_part
from adapters.slack.safe import committed, rendered
from adapters.slack.workspace import Workspace, error_code
from adapters.text import closing, clusters, fence_after, split, utf8
from bot.messages import Post

log = logging.getLogger("teambot.slack")

OLDEST_SECONDS = 240.0
"""A stream dies after about five minutes, whatever goes through it."""
EDIT_SECONDS = 1.2
OVER = {"message_not_in_streaming_state", "stopped_by_user", "message_not_found", "streaming_state_conflict"}
SPARE = 40
"""Bytes kept for closing a fence."""


@dataclass
class Part:
    """One message of a reply: what stands in it, and whether it is still a stream."""

    ts: str
    text: str
    streaming: bool
    began: float


@dataclass
class Reply:
    """What was shown of a reply so far; `shown` is its rendered text over all parts, less our own fences."""

    workspace: Workspace
    post: Post
    on_stop: Callable[[Post], None]
    parts: list[Part] = field(default_factory=list)
    shown: str = ""
    pending: str = ""
    stopped: bool = False
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    flusher: asyncio.Task[None] | None = None

    @property
    def where(self) -> dict[str, Any]:
        """Channel and thread as arguments."""
        thread = self.post.address.thread
        return {"channel": self.post.address.channel, **({"thread_ts": thread} if thread else {})}

    def drawn(self, text: str) -> str:
        """The text as Slack may show it."""
        address = self.post.address
        sources = frozenset(source.get("link", "") for source in self.post.sources)
        return rendered(
            text, lambda url: self.workspace.allows(address.channel, address.thread, sources, url)
        )

    async def begin(self) -> str:
        """Shows the first words."""
        async with self.lock:
            self.pending = self.post.text
            text = self.drawn(committed(self.post.text))
            first = _fitting(text, blocks.PART - SPARE)
            await self._open(first)
            self.shown = first
            self.workspace.budget.active += 1
            return self.parts[0].ts

    def push(self, text: str) -> None:
        """Takes the newest text; it is shown when the budget allows."""
        self.pending = text
        if self.stopped or not self.parts:
            return
        if self.flusher is None or self.flusher.done():
            self.flusher = asyncio.create_task(self._flush())

    async def end(self, post: Post) -> str:
        """Makes the final text stand there, with what belongs under it."""
        async with self.lock:
            if self.flusher is not None:
                self.flusher.cancel()
            self.workspace.budget.active = max(0, self.workspace.budget.active - 1)
            self.post = post
            final = self.drawn(post.text)
            if self._goes_on(final):
                try:
                    await self._add(final[len(self.shown) :])
                    if self.parts[-1].streaming:
                        await self._stop(self.parts[-1], blocks.footer(post), len(self.parts) - 1)
                        return self.parts[0].ts
                except SlackApiError as error:
                    log.warning("a stream could not be ended: %s", error_code(error))
            for part in self.parts:
                await self._stop_quietly(part)
            return await replace(self.workspace, post, split(final, blocks.PART, utf8), self._ids())

    def _ids(self) -> list[str]:
        return [part.ts for part in self.parts]

    def _goes_on(self, text: str) -> bool:
        return (
            bool(self.parts) and self.parts[-1].streaming and not self.stopped and text.startswith(self.shown)
        )

    async def _flush(self) -> None:
        """Shows what is waiting, again and again, until nothing is."""
        while self.parts[-1].streaming or len(self.parts) == 1:
            streaming = self.parts[-1].streaming
            await asyncio.sleep(self.workspace.budget.interval() if streaming else EDIT_SECONDS)
            async with self.lock:
                text = self.drawn(committed(self.pending))
                if self.stopped or len(text) <= len(self.shown) or not text.startswith(self.shown):
                    return
                try:
                    await (self._add(text[len(self.shown) :]) if streaming else self._edit(text))
                except (TimeoutError, SlackApiError, OSError) as error:
                    log.warning(
                        "a reply could not be continued: %s", error_code(error) or type(error).__name__
                    )
                    return

    async def _add(self, text: str) -> None:
        """Adds text to the stream, going over to a new message where one is full or old."""
        while text and self.parts[-1].streaming:
            part = self.parts[-1]
            room = blocks.PART - SPARE - utf8(part.text)
            piece = _fitting(text, room) if room > 0 else ""
            old = asyncio.get_running_loop().time() - part.began > OLDEST_SECONDS
            if not piece or old:
                await self._roll()
                continue
            await self._append(part, piece)
            self.shown += piece
            text = text[len(piece) :]

    async def _append(self, part: Part, piece: str) -> None:
        await self.workspace.budget.wait("chat.appendStream")
        try:
            await self.workspace.client.chat_appendStream(
                channel=self.post.address.channel, ts=part.ts, markdown_text=piece
            )
        except SlackApiError as error:
            if error_code(error) not in OVER:
                raise
            if error_code(error) == "stopped_by_user":
                self.stopped = True
                part.streaming = False
                self.on_stop(self.post)
                raise
            part.streaming = False
            await self._open(_reopened(part.text) + piece)
            return
        part.text += piece

    async def _roll(self) -> None:
        """Ends the current message and opens the next, a fence closed and opened again."""
        part = self.parts[-1]
        fence = fence_after(part.text)
        if fence:
            await self._append(part, f"\n{closing(fence)}")
            fence = f"{fence}\n"
        await self._stop_quietly(part)
        await self._open(fence)

    async def _stop(self, part: Part, under: list[blocks.Block], number: int) -> None:
        self.workspace.budget.spend("chat.stopStream")
        where: dict[str, Any] = {"channel": self.post.address.channel, "ts": part.ts}
        mark = blocks.metadata(self.post.key, number)
        try:
            await self.workspace.client.chat_stopStream(
                **where, blocks=under or None, metadata=mark, session_status="active"
            )
        except SlackApiError as error:
            if error_code(error) not in ("invalid_blocks", "invalid_arguments", "invalid_metadata_format"):
                raise
            await self.workspace.client.chat_stopStream(**where, metadata=mark)
        part.streaming = False

    async def _stop_quietly(self, part: Part) -> None:
        if not part.streaming:
            return
        part.streaming = False
        try:
            await self._stop(part, [], self.parts.index(part))
        except (TimeoutError, SlackApiError, OSError) as error:
            log.info("a stream had ended: %s", error_code(error) or type(error).__name__)

    async def _open(self, text: str) -> None:
        began = asyncio.get_running_loop().time()
        ts = await self._streamed(text)
        if ts is not None:
            self.parts.append(Part(ts, text, True, began))
            return
        ts = await post_part(self.workspace, self.post, text or "…", len(self.parts), [])
        self.parts.append(Part(ts, text, False, began))

    async def _streamed(self, text: str) -> str | None:
        """The ts of a new stream; nothing where there is none to be had."""
        space = self.workspace
        if not space.has_streams or self.post.address.thread is None:
            return None
        if not space.budget.take("chat.startStream"):
            return None
        try:
            answer = await space.posts.chat_startStream(
                **self.where,
                markdown_text=text or None,
                recipient_user_id=self.post.asker,
                recipient_team_id=space.id,
                **persona(space, self.post),
            )
        except SlackApiError as error:
            if space.lacks("streams", error):
                return None
            raise
        return str(answer["ts"])

    async def _edit(self, text: str) -> None:
        """Shows more of a reply that is no stream; the end will be complete in any case."""
        part = self.parts[-1]
        if utf8(text) > blocks.PART or not self.workspace.budget.take("chat.update"):
            return
        await update_part(self.workspace, self.post, part.ts, text, len(self.parts) - 1, [])
        part.text = self.shown = text


def _fitting(text: str, room: int) -> str:
    """The longest beginning that fits, cut at the end of a line or a word where there is one."""
    if utf8(text) <= room:
        return text
    taken, size = [], 0
    for cluster in clusters(text):
        size += utf8(cluster)
        if size > room:
            break
        taken.append(cluster)
    piece = "".join(taken)
    for mark in ("\n", " "):
        cut = piece.rfind(mark) + 1
        if cut > len(piece) // 2:
            return piece[:cut]
    return piece


def _reopened(text: str) -> str:
    fence = fence_after(text)
    return f"{fence}\n" if fence else ""
