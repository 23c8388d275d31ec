"""The Slack adapter: one app, its handlers, and everything that belongs to each workspace."""

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack import home, pressed
from adapters.slack.catchup import catch_up, since_last
from adapters.slack.http import Endpoint
from adapters.slack.inbound import Gone, Heard, Revised, read, workspace_of
from adapters.slack.installs import Installs, Seal, flow
from adapters.slack.outbound import Outbound
from adapters.slack.receiving import PLATFORM, Remembered
from adapters.slack.rooms import Room, room_of, unset
from adapters.slack.setup import Setup
from adapters.slack.socket import Sockets
from adapters.slack.status import Statuses
from adapters.slack.workspace import Workspace, connected, error_code
from bot.errors import BadInput
from bot.messages import Door, Post

log = logging.getLogger("teambot.slack")

GUESTS_SECONDS = 15.0
"""How long a start waits until it is known where guests read; till then team memory stays out of channels."""
REFUSED = {"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired"}
Next = Callable[[], Awaitable[Any]]
BOLT_READS = (
    "SLACK_BOT_TOKEN",
    "SLACK_SIGNING_SECRET",
    "SLACK_CLIENT_ID",
    "SLACK_CLIENT_SECRET",
    "SLACK_VERIFICATION_TOKEN",
)
"""With these in the environment the library would install by itself, with tokens in plain files."""


class Slack:
    """Everything of Slack: `outbound` is the platform, `listen` opens the sockets."""

    def __init__(self, door: Door, setup: Setup) -> None:
        self._door = door
        self._setup = setup
        self._base_url = setup.base_url
        self.rooms: dict[str, Room] = {}
        self._spaces: dict[str, Workspace] = {}
        self.statuses = Statuses()
        self.outbound = Outbound(self._spaces, self.statuses, self._stopped)
        self._followed = Remembered()
        self._tasks: set[asyncio.Task[Any]] = set()
        self.sockets: Sockets | None = None
        self.endpoint: Endpoint | None = None
        self.port = setup.port
        self._installs: Installs | None = None
        if setup.client_id:
            admitted = frozenset(setup.admitted)
            self._installs = Installs(door, Seal(setup.secret), admitted, self._installed)
        self.app = self._made(setup.signing_secret)

    async def connect(self) -> None:
        """Learns which workspaces the tokens are for, and admits that of the configured one."""
        if self._setup.bot_token:
            space = await self._known(self._setup.bot_token)
            await self._door.admit(PLATFORM, space.id, space.name)
            self.enter(space)
        for token in await self._installs.tokens() if self._installs else ():
            self.enter(await self._known(token))

    async def _installed(self, token: str) -> None:
        """A workspace was installed while we run."""
        room = self.enter(await self._known(token))
        self._later(room.directory.learn_guests())

    async def _known(self, token: str) -> Workspace:
        try:
            return await connected(token, self._base_url)
        except (TimeoutError, OSError) as error:
            raise BadInput(f"Slack cannot be reached ({type(error).__name__}).") from None
        except SlackApiError as error:
            code = error_code(error)
            if code in REFUSED:
                raise BadInput(
                    f"Slack does not accept SLACK_BOT_TOKEN ({code}). Copy it again from the app's page "
                    "`OAuth & Permissions`."
                ) from None
            raise BadInput(f"Slack refused to tell about SLACK_BOT_TOKEN ({code}).") from None

    def enter(self, space: Workspace) -> Room:
        """Makes the parts of a workspace."""
        room = room_of(self._door, space, self.statuses, other_bots=self._setup.other_bots)
        self.rooms[space.id] = room
        self._spaces[space.id] = space
        return room

    async def listen(self) -> None:
        """Learns who the guests are, opens the sockets, and takes in what was said meanwhile."""
        for room in self.rooms.values():
            learning = self._later(room.directory.learn_guests())
            await asyncio.wait({learning}, timeout=GUESTS_SECONDS)
        await self._open()
        for room in self.rooms.values():
            last = await since_last(self._door, room.space)
            if last is not None:
                self._later(self.catch_up(max(last, time.time() - 86_400 * 2) - 60))

    async def _open(self) -> None:
        setup = self._setup
        if setup.app_token:
            self.sockets = Sockets(
                self.app,
                setup.app_token,
                _client(setup.base_url),
                self.catch_up,
                patience=setup.patience,
                ping=setup.ping,
            )
            await self.sockets.start()
            return
        pages = None
        if self._installs is not None:
            pages = flow(setup.client_id, setup.client_secret, self._installs, setup.base_url)
        self.endpoint = Endpoint(self.app, pages)
        self.port = await self.endpoint.start(setup.port)

    async def stop(self) -> None:
        """Takes in nothing more; replies that are owed are the house's to finish."""
        if self.sockets is not None:
            await self.sockets.stop()
        if self.endpoint is not None:
            await self.endpoint.stop()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.statuses.close()

    async def catch_up(self, since: float) -> int:
        """Takes in what was missed since that moment."""
        return sum(
            [await catch_up(self._door, room.space, room.receiving, since) for room in self.rooms.values()]
        )

    def room_of(self, workspace: str) -> Room | None:
        """The workspace of something pressed. Slack names the presser's own one where a channel is shared."""
        found = self.rooms.get(workspace)
        if found is None and len(self.rooms) == 1:
            return next(iter(self.rooms.values()))
        return found

    def _made(self, signing_secret: str) -> AsyncApp:
        async def authorize(enterprise_id: str | None, team_id: str | None) -> AuthorizeResult | None:
            return self._authorized(enterprise_id, team_id)

        with unset(*BOLT_READS):
            app = AsyncApp(
                logger=logging.getLogger("teambot.slack.bolt"),
                signing_secret=signing_secret or None,
                request_verification_enabled=bool(signing_secret),
                client=_client(self._base_url),
                authorize=authorize,  # type: ignore[arg-type]
                raise_error_for_unhandled_request=False,
            )
        for name in ("slack_bolt", "slack_sdk", "teambot.slack.bolt"):
            # Below INFO both libraries log whole payloads, and so people's words.
            logging.getLogger(name).setLevel(max(logging.getLogger(name).getEffectiveLevel(), logging.INFO))
        app.middleware(self._intake)
        everything = re.compile(".*", re.DOTALL)
        app.command(everything)(self._command)
        app.action(everything)(self._action)
        app.view(everything)(self._view)
        app.shortcut(everything)(self._shortcut)
        app.options(everything)(_no_options)
        app.event(everything)(self._event)
        app.error(_failed)
        return app

    def _authorized(self, enterprise_id: str | None, team_id: str | None) -> AuthorizeResult | None:
        """The bot's token for a workspace, from memory: nothing is asked of Slack at each event."""
        room = self.room_of(str(team_id or ""))
        if room is None:
            return None
        space = room.space
        return AuthorizeResult(
            enterprise_id=enterprise_id,
            team_id=space.id,
            bot_user_id=space.me.user,
            bot_id=space.me.bot or None,
            bot_token=space.client.token,
        )

    async def _intake(self, body: dict[str, Any], next_: Next) -> None:
        """Commits messages before Slack is told anything; a failure here leaves it to Slack to send again."""
        room = self.rooms.get(workspace_of(body)) if "event" in body else None
        item = read(body) if room is not None else None
        if room is not None and isinstance(item, Heard | Revised | Gone):
            await room.receiving.take(item)
        await next_()

    async def _event(self, body: dict[str, Any]) -> None:
        """Everything that is no message; an event that comes again is followed once."""
        room, item = self.rooms.get(workspace_of(body)), read(body)
        event_id = body.get("event_id")
        if room is None or item is None or isinstance(item, Heard | Revised | Gone):
            return
        if event_id and self._followed.get(event_id):
            return
        if event_id:
            self._followed.keep(event_id)
        if await room.following.follow(item):
            self.rooms.pop(room.space.id, None)
            await self._door.keep_token(PLATFORM, room.space.id, None)

    async def _command(self, ack: Any, body: dict[str, Any]) -> None:
        await ack()
        asked = pressed.typed(body)
        room = self.room_of(asked.workspace) if asked else None
        if asked is not None and room is not None:
            await room.asking.slash(asked)

    async def _action(self, ack: Any, body: dict[str, Any]) -> None:
        await ack()
        for item in pressed.buttons(body):
            room = self.room_of(item.workspace)
            if room is not None and item.action.startswith("tb:"):
                await room.acting.pressed(item)

    async def _view(self, ack: Any, body: dict[str, Any]) -> None:
        item = pressed.form(body)
        room = self.room_of(item.workspace) if item else None
        if body.get("type") != "view_submission" or item is None or room is None:
            await ack()
            return
        await ack(response_action="update", view=home.waiting("My memory"))
        await room.acting.sent(item)

    async def _shortcut(self, ack: Any, body: dict[str, Any]) -> None:
        await ack()
        item = pressed.menu(body)
        room = self.room_of(item.workspace) if item else None
        if item is not None and room is not None:
            await room.acting.chosen(item)

    def _stopped(self, post: Post) -> None:
        """Slack says that somebody stopped a stream."""
        room = self.rooms.get(post.address.workspace)
        if room is not None:
            self._later(room.following.stop(post.address, post.asker or ""))

    def _later(self, work: Awaitable[Any]) -> asyncio.Task[Any]:
        async def done() -> None:
            try:
                await work
            except Exception as error:  # a task of its own has nobody else to tell
                log.warning("something beside the talk failed: %s", error_code(error) or type(error).__name__)

        task = asyncio.create_task(done())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _client(base_url: str | None) -> AsyncWebClient:
    return AsyncWebClient(base_url=base_url) if base_url else AsyncWebClient()


async def _no_options(ack: Any) -> None:
    await ack(options=[])


async def _failed(error: Exception) -> None:
    """What broke, without anybody's words."""
    log.error("a handler failed: %s", error_code(error) or type(error).__name__)
