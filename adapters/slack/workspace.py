"""One Slack workspace as the adapter holds it: who the bot is there, its client, what works there."""

import logging
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry import HttpRequest, HttpResponse, RetryState
from slack_sdk.http_retry.builtin_async_handlers import (
    AsyncConnectionErrorRetryHandler,
    AsyncRateLimitErrorRetryHandler,
    AsyncServerErrorRetryHandler,
)
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.budget import Budget
from adapters.slack.inbound import Me

log = logging.getLogger("teambot.slack")

REMEMBERED = 2_000
UNAVAILABLE = {
    "unknown_method",
    "feature_not_enabled",
    "method_deprecated",
    "not_allowed_token_type",
    "missing_scope",
    "access_denied",
    "not_supported",
    "team_not_found",
    "streaming_not_supported",
}
"""What Slack says where a workspace does not have a feature at all."""


def error_code(error: BaseException) -> str:
    """Slack's word for what went wrong, without anybody's words."""
    if isinstance(error, SlackApiError):
        response = error.response
        if response is None:
            return ""
        missing = "unknown_method" if getattr(response, "status_code", 0) == 404 else ""
        return str(response.get("error") or missing)
    return ""


@dataclass
class Workspace:
    """`client` repeats what may be repeated; `posts` never repeats a new message whose fate is unknown."""

    id: str
    client: AsyncWebClient
    posts: AsyncWebClient
    me: Me
    name: str = ""
    url: str = ""
    handle: str = ""
    has_streams: bool = True
    has_sessions: bool = True
    has_status: bool = True
    has_personas: bool = True
    budget: Budget = field(default_factory=Budget)
    given: OrderedDict[tuple[str, str | None], frozenset[str]] = field(default_factory=OrderedDict)

    def note_addresses(self, channel: str, thread: str | None, found: frozenset[str]) -> None:
        """Remembers the addresses that people wrote in a thread: they may be pressed in replies there."""
        if not found:
            return
        key = (channel, thread)
        self.given[key] = self.given.pop(key, frozenset()) | found
        while len(self.given) > REMEMBERED:
            self.given.popitem(last=False)

    def allows(self, channel: str, thread: str | None, sources: frozenset[str], address: str) -> bool:
        """Whether an address may be pressed: a person wrote it, it is a source, or a message of here."""
        if address in sources or address in self.given.get((channel, thread), ()):
            return True
        return bool(self.url) and address.startswith(f"{self.url.rstrip('/')}/archives/")

    def lacks(self, feature: str, error: BaseException) -> bool:
        """Notes that a feature is not there, if that is what Slack said."""
        if error_code(error) not in UNAVAILABLE:
            return False
        if getattr(self, f"has_{feature}"):
            log.warning("workspace %s has no %s (%s)", self.id, feature, error_code(error))
        setattr(self, f"has_{feature}", False)
        return True


class Waits(AsyncRateLimitErrorRetryHandler):
    """Waits as long as Slack says and a little more; nobody else calls that method meanwhile."""

    def __init__(self, budget: Budget) -> None:
        super().__init__(max_retry_count=6)
        self._budget = budget

    async def prepare_for_next_attempt_async(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> None:
        """Notes the wait for everybody, then waits."""
        told = (response.headers.get("Retry-After") or ["1"])[0] if response is not None else "1"
        seconds = float(told) if str(told).isdecimal() else 1.0
        self._budget.held_back(request.url.rstrip("/").rsplit("/", 1)[-1], seconds)
        await super().prepare_for_next_attempt_async(
            state=state, request=request, response=response, error=error
        )


def clients(token: str, budget: Budget, base_url: str | None = None) -> tuple[AsyncWebClient, AsyncWebClient]:
    """The client for what may be repeated, and the one for new messages."""
    where: dict[str, Any] = {"base_url": base_url} if base_url else {}
    waits = Waits(budget)
    patient = [waits, AsyncServerErrorRetryHandler(max_retry_count=2), AsyncConnectionErrorRetryHandler()]
    made = AsyncWebClient(token=token, retry_handlers=patient, **where)
    # Nothing tells Slack that a message is the same as before: after a lost answer we look for it first.
    posting = AsyncWebClient(token=token, retry_handlers=[waits], **where)
    return made, posting


async def connected(token: str, base_url: str | None = None) -> Workspace:
    """The workspace of a bot token, as Slack itself names it."""
    budget = Budget()
    client, posts = clients(token, budget, base_url)
    told = await client.auth_test()
    return Workspace(
        id=str(told.get("team_id") or ""),
        client=client,
        posts=posts,
        me=Me(str(told.get("user_id") or ""), str(told.get("bot_id") or "")),
        name=str(told.get("team") or ""),
        url=str(told.get("url") or ""),
        handle=str(told.get("user") or ""),
        budget=budget,
    )
