"""Installations by OAuth: bot tokens only, of workspaces that the installer named, kept encrypted."""

import base64
import hashlib
import logging
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_sdk.oauth.installation_store import Bot, Installation
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore
from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.manifest import OPTIONAL, SCOPES
from bot.errors import BadInput, NotAdmitted
from bot.messages import Door

log = logging.getLogger("teambot.slack")

PLATFORM = "slack"
STATE_SECONDS = 600.0
SHORTEST_SECRET = 16
Entered = Callable[[str], Awaitable[None]]


class Seal:
    """Encrypts tokens with a key made from TEAMBOT_SECRET."""

    def __init__(self, secret: str) -> None:
        if len(secret) < SHORTEST_SECRET:
            raise BadInput(
                f"Set TEAMBOT_SECRET to {SHORTEST_SECRET} random characters or more; it encrypts the tokens."
            )
        try:
            from cryptography.fernet import Fernet
        except ImportError:
            raise BadInput(
                "Installing by OAuth needs the extra `oauth`: pip install 'teambot[oauth]'."
            ) from None
        self._fernet = Fernet(base64.urlsafe_b64encode(hashlib.sha256(secret.encode()).digest()))

    def sealed(self, token: str) -> str:
        """The token as it is kept."""
        return self._fernet.encrypt(token.encode()).decode()

    def opened(self, sealed: str) -> str:
        """The token itself."""
        from cryptography.fernet import InvalidToken

        try:
            return self._fernet.decrypt(sealed.encode()).decode()
        except InvalidToken:
            raise BadInput("A kept Slack token cannot be read: TEAMBOT_SECRET is another one now.") from None


class Installs(AsyncInstallationStore):
    """Keeps what Slack hands over at the end of an installation."""

    def __init__(self, door: Door, seal: Seal, admitted: frozenset[str], entered: Entered) -> None:
        self._door = door
        self._seal = seal
        self._admitted = admitted
        self._entered = entered

    @property
    def logger(self) -> logging.Logger:
        """Where the library writes."""
        return log

    async def async_save(self, installation: Installation) -> None:
        """Keeps the bot's token; a workspace that nobody admitted is turned away."""
        workspace, token = installation.team_id, installation.bot_token
        if workspace is None or token is None or workspace not in self._admitted:
            raise NotAdmitted
        await self._door.admit(PLATFORM, workspace, installation.team_name or "")
        await self._door.keep_token(PLATFORM, workspace, self._seal.sealed(token))
        await self._entered(token)

    async def async_find_bot(self, **_: Any) -> Bot | None:
        """Tokens are handed out by the adapter, keyed by workspace; the library need not look here."""
        return None

    async def tokens(self) -> list[str]:
        """Every token that is kept."""
        kept = await self._door.tokens(PLATFORM)
        return [self._seal.opened(sealed) for sealed in kept.values()]


class States(AsyncOAuthStateStore):
    """Single-use marks of installations that were begun here within ten minutes."""

    def __init__(self) -> None:
        self._begun: dict[str, float] = {}

    @property
    def logger(self) -> logging.Logger:
        """Where the library writes."""
        return log

    async def async_issue(self, *_: Any, **__: Any) -> str:
        """A new mark."""
        now = time.monotonic()
        self._begun = {mark: end for mark, end in self._begun.items() if end > now}
        mark = secrets.token_urlsafe(24)
        self._begun[mark] = now + STATE_SECONDS
        return mark

    async def async_consume(self, state: str) -> bool:
        """Whether that mark is ours; it holds once."""
        return self._begun.pop(state, 0.0) > time.monotonic()


def flow(
    client_id: str, client_secret: str, installs: Installs, base_url: str | None = None
) -> AsyncOAuthFlow:
    """The pages of an installation: bot scopes only, no tokens of people."""
    return AsyncOAuthFlow(
        client=AsyncWebClient(base_url=base_url) if base_url else AsyncWebClient(),
        settings=AsyncOAuthSettings(
            client_id=client_id,
            client_secret=client_secret,
            scopes=sorted(SCOPES | OPTIONAL),
            user_scopes=[],
            installation_store=installs,
            installation_store_bot_only=True,
            state_store=States(),
        ),
    )
