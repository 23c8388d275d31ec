"""The line under a question while its answer is made: set at once, kept alive, always ended."""

import asyncio
import logging
from dataclasses import dataclass, field

from slack_sdk.errors import SlackApiError

from adapters.slack.workspace import Workspace, error_code

log = logging.getLogger("teambot.slack")

REFRESH_SECONDS = 90.0
"""Slack drops a status after two minutes."""
LONGEST_SECONDS = 1_800.0
THINKING = "is thinking…"
MEANWHILE = ["Reading what was said…", "Looking at what I know…", "Writing…"]
PROBLEMS = (SlackApiError, OSError, asyncio.TimeoutError)

Key = tuple[str, str, str]


@dataclass
class Statuses:
    """Every status that stands somewhere now, and who asked there."""

    running: dict[Key, asyncio.Task[None]] = field(default_factory=dict)
    askers: dict[Key, str] = field(default_factory=dict)

    def begin(self, workspace: Workspace, channel: str, thread: str | None, asker: str) -> None:
        """Says that the bot works there; waits for nothing."""
        if thread is None:
            return
        key = (workspace.id, channel, thread)
        self.askers[key] = asker
        if key not in self.running:
            self.running[key] = asyncio.create_task(_keep(workspace, channel, thread, asker))

    async def end(
        self, workspace: Workspace, channel: str, thread: str | None, *, posted: bool = True
    ) -> None:
        """The reply stands there, or nothing more will come. A post clears the status by itself."""
        if thread is None:
            return
        key = (workspace.id, channel, thread)
        self.askers.pop(key, None)
        task = self.running.pop(key, None)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        if task is not None and not posted:
            await _status(workspace, channel, thread, "")
        if task is not None:
            await _session(workspace, channel, thread, "active", None)

    def asked_by(self, workspace: str, channel: str, asker: str) -> list[str]:
        """The threads of a channel where that person waits for an answer."""
        return [
            thread
            for (where, place, thread), who in self.askers.items()
            if (where, place, who) == (workspace, channel, asker)
        ]

    async def close(self) -> None:
        """Stops refreshing."""
        for task in self.running.values():
            task.cancel()
        await asyncio.gather(*self.running.values(), return_exceptions=True)
        self.running.clear()


async def _keep(workspace: Workspace, channel: str, thread: str, asker: str) -> None:
    await _session(workspace, channel, thread, "processing", asker)
    loop = asyncio.get_running_loop()
    end = loop.time() + LONGEST_SECONDS
    while workspace.has_status and loop.time() < end:
        await _status(workspace, channel, thread, THINKING)
        await asyncio.sleep(REFRESH_SECONDS)


async def _status(workspace: Workspace, channel: str, thread: str, status: str) -> None:
    if not workspace.has_status:
        return
    try:
        await workspace.client.assistant_threads_setStatus(
            channel_id=channel,
            thread_ts=thread,
            status=status,
            loading_messages=MEANWHILE if status else None,
        )
    except PROBLEMS as error:
        if not workspace.lacks("status", error):
            log.info("a status could not be set: %s", error_code(error) or type(error).__name__)


async def _session(workspace: Workspace, channel: str, thread: str, status: str, asker: str | None) -> None:
    """Slack shows its stop button while a session is processing."""
    if not workspace.has_sessions:
        return
    try:
        await workspace.client.agents_sessions_setStatus(
            channel_id=channel, thread_ts=thread, status=status, initiator_user_id=asker
        )
    except PROBLEMS as error:
        if not workspace.lacks("sessions", error):
            log.info("a session could not be marked: %s", error_code(error) or type(error).__name__)
