"""From what Slack told to what is taken in: who is meant, what is context, what is dropped at the door."""

import asyncio
import logging
import re
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

from slack_sdk.errors import SlackApiError

from adapters.slack.files import fetched
from adapters.slack.inbound import Gone, Heard, Revised, heard
from adapters.slack.people import Directory
from adapters.slack.status import Statuses
from adapters.slack.wire import addresses, decoded, moment, permalink, without_mention
from adapters.slack.workspace import Workspace, error_code
from bot.errors import BadInput, NotAdmitted, NotAllowed, Unknown
from bot.messages import Accepted, Address, Author, Deleted, Door, Edited, Message

log = logging.getLogger("teambot.slack")

CONTEXT = 30
"""Earlier messages of a thread that come along when the bot is first called into it."""
CONTEXT_SECONDS = 1.5
NEW_SECONDS = 900.0
"""How old a message may be that arrives as a change for the first time."""
BOT_TURNS = 3
PLATFORM = "slack"


class Remembered:
    """The newest few thousand keys."""

    def __init__(self, most: int = 5_000) -> None:
        self._most = most
        self._keys: OrderedDict[Any, Any] = OrderedDict()

    def get(self, key: Any) -> Any:
        """What was kept under a key."""
        return self._keys.get(key)

    def keep(self, key: Any, value: Any = True) -> None:
        """Keeps it, and forgets the oldest."""
        self._keys[key] = value
        while len(self._keys) > self._most:
            self._keys.popitem(last=False)


class Receiving:
    """Takes in messages of one workspace: when `take` returns they are committed, or nothing is owed."""

    def __init__(
        self,
        door: Door,
        directory: Directory,
        statuses: Statuses,
        typed: Callable[[Heard, str], Any],
        *,
        other_bots: bool = False,
    ) -> None:
        self._door = door
        self._directory = directory
        self._space: Workspace = directory.workspace
        self._statuses = statuses
        self._typed = typed
        self._other_bots = other_bots
        self._gestures = Remembered()
        self._commands = Remembered()
        self._bot_turns = Remembered()
        self._turnstiles: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def address(self, channel: str, thread: str | None) -> Address:
        """Where on Slack."""
        return Address(PLATFORM, self._space.id, channel, thread)

    async def take(self, item: Heard | Revised | Gone) -> Accepted | None:
        """Commits what was said, changed or deleted; in each channel one after the other."""
        channel = item.message.channel if isinstance(item, Revised) else item.channel
        async with self._turnstiles[channel]:
            return await self._taken(item)

    async def _taken(self, item: Heard | Revised | Gone) -> Accepted | None:
        try:
            if isinstance(item, Gone):
                await self._door.deleted(Deleted(self.address(item.channel, None), item.ts))
                return None
            if isinstance(item, Revised):
                return await self._revised(item)
            return await self._heard(item)
        except NotAdmitted:
            return None
        except (BadInput, NotAllowed, Unknown) as refusal:
            await self.tell(item, str(refusal))
            return None

    async def tell(self, item: Heard | Revised | Gone, sentence: str) -> None:
        """Says to a person alone what went wrong."""
        if isinstance(item, Gone):
            return
        message = item.message if isinstance(item, Revised) else item
        try:
            await self._space.posts.chat_postEphemeral(
                channel=message.channel,
                user=message.user,
                thread_ts=message.thread,
                text=sentence.replace("<", "&lt;"),
            )
        except (TimeoutError, SlackApiError, OSError) as error:
            log.info("a person could not be told: %s", error_code(error) or type(error).__name__)

    async def _revised(self, item: Revised) -> Accepted | None:
        message = item.message
        if self._is_own(message) or message.is_bot:
            return None
        where = self.address(message.channel, None)
        if await self._door.known(where, message.ts):
            if item.before is not None and item.before == message.text:
                return None
            text = await self.words(message)
            await self._door.edited(Edited(where, message.ts, text, moment(item.edited_at)))
            return None
        new = float(item.edited_at) - float(message.ts) < NEW_SECONDS
        return await self._heard(message) if new else None

    async def _heard(self, item: Heard) -> Accepted | None:
        if self._is_own(item) or not self._may_speak(item):
            return None
        if item.client_id and self._gestures.get(item.client_id) not in (None, item.ts):
            return None
        direct = item.channel_type == "im"
        where = self.address(item.channel, item.thread or item.ts)
        engaged = await self._door.engaged(where) if item.thread and not direct else None
        if not (direct or engaged or item.names(self._space.me.user)):
            return None
        meant = direct or item.names(self._space.me.user) or not item.mentions
        text = await self.words(item)
        if meant and await self._is_command(item, text):
            return None
        if item.thread and not direct and engaged is None:
            await self.fetch_context(item)
        message = await self._message(item, where, text, addressed=meant, engaged=engaged)
        accepted = await self._door.accept(message)
        if item.client_id:
            self._gestures.keep(item.client_id, item.ts)
        if accepted.turn_id is not None and not accepted.repeated:
            self._statuses.begin(self._space, item.channel, where.thread, item.user)
        return accepted

    async def _message(
        self, item: Heard, where: Address, text: str, *, addressed: bool, engaged: str | None
    ) -> Message:
        author = await self._author(item)
        place = await self._directory.surroundings(
            item.channel, item.channel_type, shared=item.shared_externally
        )
        if place.kind != "dm" and author.standing in ("guest", "external"):
            self._directory.came(item.channel, author, joined=True)
        bot, text = await self._named_bot(where, text)
        self._space.note_addresses(where.channel, where.thread, addresses(item.text))
        files = await self._files(item)
        if not text.strip() and not files:
            text = "Hello"
        return Message(
            address=where,
            id=item.ts,
            author=author,
            place=place,
            text=text,
            said_at=moment(item.ts),
            addressed=addressed,
            bot=bot or engaged,
            link=permalink(self._space.url, item.channel, item.ts, item.thread),
            files=files,
        )

    async def words(self, item: Heard) -> str:
        """The text as people read it, without the mention that only calls the bot."""
        names = await self._directory.names(item.mentions)
        return decoded(without_mention(item.text, self._space.me.user), names)

    async def fetch_context(self, item: Heard) -> None:
        """Keeps what was said in a thread before the bot was called into it, as talk overheard."""
        try:
            async with asyncio.timeout(CONTEXT_SECONDS):
                answer = await self._space.client.conversations_replies(
                    channel=item.channel, ts=str(item.thread), latest=item.ts, limit=CONTEXT
                )
        except (TimeoutError, SlackApiError, OSError) as error:
            log.info("a thread could not be read: %s", error_code(error) or type(error).__name__)
            return
        for raw in answer.get("messages") or []:
            earlier = heard(item.workspace, item.channel, raw, {})
            if earlier is not None and earlier.ts < item.ts:
                await self._overhear(item, earlier)

    async def _overhear(self, item: Heard, earlier: Heard) -> None:
        own = self._is_own(earlier)
        text = decoded(earlier.text, await self._directory.names(earlier.mentions))
        if not text.strip() or (earlier.is_bot and not own):
            return
        who = await self._author(earlier)
        if own:
            who = Author(self._space.me.user, self._space.handle or "teambot", "member")
        place = await self._directory.surroundings(item.channel, item.channel_type)
        await self._door.accept(
            Message(
                address=self.address(item.channel, item.thread),
                id=earlier.ts,
                author=who,
                place=place,
                text=text,
                said_at=moment(earlier.ts),
                addressed=False,
                link=permalink(self._space.url, item.channel, earlier.ts, item.thread),
            )
        )

    async def _author(self, item: Heard) -> Author:
        return await self._directory.author(item.user, item.user_team, is_bot=item.is_bot)

    async def _files(self, item: Heard) -> tuple[Any, ...]:
        files = item.files[:10]
        if not files:
            return ()
        gathered = asyncio.gather(*(fetched(self._space, file) for file in files))
        return tuple(await gathered)

    async def _named_bot(self, where: Address, text: str) -> tuple[str | None, str]:
        """The bot that is named at the start, where there are several."""
        names = await self._door.bot_names(where)
        if len(names) < 2:
            return None, text
        for name in sorted(names, key=len, reverse=True):
            found = re.match(rf"\s*@?{re.escape(name)}(?:[,:]\s*|\s+|$)", text, re.IGNORECASE)
            if found:
                return name, text[found.end() :] or text
        return None, text

    async def _is_command(self, item: Heard, text: str) -> bool:
        """Runs what was typed as a command: threads on Slack have no slash commands."""
        key = (item.channel, item.ts)
        if self._commands.get(key):
            return True
        if not await self._typed(item, text):
            return False
        self._commands.keep(key)
        return True

    def _is_own(self, item: Heard) -> bool:
        return item.user in (self._space.me.user, self._space.me.bot)

    def _may_speak(self, item: Heard) -> bool:
        """Other bots are not heard; where they are, at most three times in a row."""
        key = (item.channel, item.thread or item.ts)
        if not item.is_bot:
            self._bot_turns.keep(key, frozenset())
            return True
        spoken = (self._bot_turns.get(key) or frozenset()) | {item.ts}
        self._bot_turns.keep(key, spoken)
        return self._other_bots and len(spoken) <= BOT_TURNS
