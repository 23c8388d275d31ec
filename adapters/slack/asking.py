"""What is asked by command: run with the caller's rights of now, answered to the caller alone."""

import asyncio
import json
import logging
from datetime import UTC, datetime
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.webhook.async_client import AsyncWebhookClient

from adapters.slack import blocks
from adapters.slack.inbound import Heard
from adapters.slack.outbound import NOT_THERE
from adapters.slack.people import Directory
from adapters.slack.pressed import Asked, Typed
from adapters.slack.safe import escaped, plain, rendered
from adapters.slack.status import Statuses
from adapters.slack.wire import addresses, decoded, moment, permalink
from adapters.slack.workspace import Workspace, error_code
from bot.commands.specs import specs
from bot.errors import BotError
from bot.messages import Address, Author, CommandCall, CommandResult, Door, Message, Surroundings

log = logging.getLogger("teambot.slack")

PLATFORM = "slack"
PROBLEMS = (SlackApiError, OSError, asyncio.TimeoutError)
BROKEN = "Something in me broke, and nothing was saved. Please try again."
USAGE = "Ask like this: `/ask What did we decide?` (begin with `private` to be answered alone)."


class Asking:
    """Runs what one workspace's people ask for by command; answers go to the caller alone."""

    def __init__(self, door: Door, directory: Directory, statuses: Statuses) -> None:
        self.door = door
        self.directory = directory
        self.space: Workspace = directory.workspace
        self.statuses = statuses

    async def who_and_where(self, asked: Asked) -> tuple[Address, Author, Surroundings]:
        """The caller and the place, by Slack's flags of now."""
        team = asked.user_team if asked.user_team != asked.workspace else self.space.id
        author = await self.directory.author(asked.user, team)
        if not asked.channel:
            return await self._own(asked, author)
        place = await self.directory.surroundings(asked.channel)
        return Address(PLATFORM, self.space.id, asked.channel, asked.thread), author, place

    async def _own(self, asked: Asked, author: Author) -> tuple[Address, Author, Surroundings]:
        """The caller's direct message with the bot, for what is asked from no channel."""
        channel = await self.direct_channel(asked.user)
        return Address(PLATFORM, self.space.id, channel), author, Surroundings("dm", "Direct message")

    async def direct_channel(self, user: str) -> str:
        """The direct message between the bot and a person."""
        opened = await self.space.client.conversations_open(users=user)
        return str((opened.get("channel") or {}).get("id") or "")

    async def run(self, asked: Asked, name: str, arguments: dict[str, str]) -> CommandResult:
        """Runs a command by name."""
        where, who, place = await self.who_and_where(asked)
        return await self.door.command(CommandCall(where, who, place, name, arguments))

    async def run_typed(self, asked: Asked, text: str) -> CommandResult:
        """Runs a command from its words."""
        where, who, place = await self.who_and_where(asked)
        return await self.door.typed(CommandCall(where, who, place, ""), text)

    async def slash(self, asked: Typed) -> None:
        """A slash command."""
        words = decoded(asked.text).strip()
        name = without_prefix(asked.name)
        if name == "ask":
            await self.ask(asked, words)
        elif name == "teambot" and words.casefold() == "stop":
            await self.answer(asked, CommandResult(await self.stop(asked)))
        else:
            await self.answer_typed(asked, typed_text(name, words))

    async def answer_typed(self, asked: Asked, text: str) -> None:
        """Runs a command from its words and answers; refusals are answers too."""
        await self.answer(asked, await self.attempted(self.run_typed(asked, text)), typed=text)

    async def attempted(self, running: Any) -> CommandResult:
        """The result, or in words what was refused."""
        try:
            found = await running
        except BotError as refusal:
            return CommandResult(str(refusal))
        except PROBLEMS as error:
            log.warning("a command failed: %s", error_code(error) or type(error).__name__)
            return CommandResult(BROKEN)
        return found if isinstance(found, CommandResult) else CommandResult(str(found))

    async def stop(self, asked: Asked) -> str:
        """Stops the answers that the caller waits for in that channel."""
        where, who, place = await self.who_and_where(asked)
        threads: list[str | None] = [*self.statuses.asked_by(self.space.id, asked.channel, asked.user)]
        stopped = [
            await self.door.stop_turn(Address(PLATFORM, self.space.id, where.channel, thread), who, place)
            for thread in threads or [asked.thread]
        ]
        return "I stop." if any(stopped) else "Nothing is being written for you here."

    async def ask(self, asked: Asked, words: str) -> None:
        """A question by command: shown in the channel with its answer, or (`private`) to the caller alone."""
        alone, question = _private(words)
        if not question:
            await self.answer(asked, CommandResult(USAGE))
            return
        ts = None if alone else await self._shown(asked, question)
        await self.accept_question(asked, question, ts)

    async def accept_question(self, asked: Asked, question: str, ts: str | None) -> None:
        """Takes a question in; without a message of its own it is answered to the caller alone."""
        where, who, place = await self.who_and_where(asked)
        where = Address(PLATFORM, self.space.id, where.channel, ts or asked.thread)
        self.space.note_addresses(where.channel, where.thread, addresses(question))
        message = Message(
            address=where,
            id=ts or f"ask-{asked.trigger or asked.reply_to[-40:]}",
            author=who,
            place=place,
            text=question,
            said_at=moment(ts) if ts else datetime.now(UTC),
            ephemeral=ts is None and place.kind != "dm",
            link=permalink(self.space.url, where.channel, ts) if ts else None,
        )
        try:
            accepted = await self.door.accept(message)
        except BotError as refusal:
            await self.answer(asked, CommandResult(str(refusal)))
            return
        if accepted.turn_id is not None and ts is not None:
            self.statuses.begin(self.space, where.channel, ts, asked.user)
        elif accepted.turn_id is not None:
            await self.answer(asked, CommandResult("I am on it; only you will see the answer."))

    async def _shown(self, asked: Asked, question: str) -> str | None:
        """Shows who asked what, so that the answer has a place; nothing where the bot may not post."""
        who = await self.directory.author(asked.user)
        text = f"*{escaped(who.name)}* asks: {plain(escaped(question))}"
        try:
            posted = await self.space.posts.chat_postMessage(
                channel=asked.channel, text=text, unfurl_links=False, unfurl_media=False
            )
        except SlackApiError as error:
            if error_code(error) in NOT_THERE:
                return None
            raise
        return str(posted["ts"])

    async def answer(self, asked: Asked, result: CommandResult, typed: str = "") -> None:
        """Tells the caller alone."""
        if typed.startswith("memory export") and result.rows:
            await self._export(asked, result)
            return
        content: dict[str, Any] = {"text": plain(rendered(result.text)), "blocks": blocks.answered(result)}
        if asked.reply_to:
            hook = AsyncWebhookClient(asked.reply_to)
            told = await hook.send(**content, response_type="ephemeral", replace_original=False)
            if told.status_code == 200:
                return
            log.info("a response address answered %d", told.status_code)
        await self._whisper(asked, content)

    async def _whisper(self, asked: Asked, content: dict[str, Any]) -> None:
        thread: dict[str, Any] = {"thread_ts": asked.thread} if asked.thread else {}
        try:
            if asked.channel:
                await self.space.posts.chat_postEphemeral(
                    channel=asked.channel, user=asked.user, **thread, **content
                )
                return
        except SlackApiError as error:
            if error_code(error) not in NOT_THERE:
                raise
        channel = await self.direct_channel(asked.user)
        await self.space.posts.chat_postMessage(
            channel=channel, unfurl_links=False, unfurl_media=False, **content
        )

    async def _export(self, asked: Asked, result: CommandResult) -> None:
        """A copy of everything as a file, in the caller's direct message."""
        await self.space.client.files_upload_v2(
            channel=await self.direct_channel(asked.user),
            filename="my-memory.json",
            title="My memory",
            content=json.dumps(list(result.rows), ensure_ascii=False, indent=2),
            initial_comment=plain(escaped(result.text)),
        )
        told = CommandResult("I sent you the file in our direct message.")
        await self.answer(asked, told)

    async def typed_message(self, item: Heard, text: str) -> bool:
        """Runs a message that is a command in words: threads on Slack have no slash commands."""
        words = command_words(text)
        if words is None:
            return False
        asked = Asked(
            workspace=item.workspace,
            user=item.user,
            user_team=item.user_team or self.space.id,
            channel=item.channel,
            thread=item.thread,
        )
        if words in ("stop", "teambot stop"):
            await self.answer(asked, CommandResult(await self.stop(asked)))
        else:
            await self.answer_typed(asked, words)
        return True


def without_prefix(name: str) -> str:
    """The command itself: an admin may have put letters before every one."""
    known = [root for root in ("ask", "teambot", *(spec.root for spec in specs())) if name.endswith(root)]
    return max(known, key=len, default=name)


def typed_text(name: str, words: str) -> str:
    """A slash command as the words of a command."""
    alone = {"memory": "memory show", "note": "note list", "skill": "skill list", "routine": "routine list"}
    if name == "teambot":
        return "about privacy" if words.casefold() == "privacy" else words or "help"
    return f"{name} {words}" if words else alone.get(name, name)


def command_words(text: str) -> str | None:
    """The command that a message is: marked with `!` or `/`, or one of the commands' own names."""
    words = text.strip()
    if words[:1] in ("!", "/") and words[1:2].isalpha():
        return words[1:]
    bare = words.casefold()
    if bare == "stop":
        return words
    for spec in specs():
        if bare == spec.name and (" " in spec.name or spec.name in ("help", "about")):
            return words
        if " " in spec.name and spec.arguments and bare.startswith(f"{spec.name} "):
            return words
    return None


def _private(words: str) -> tuple[bool, str]:
    first, _, rest = words.partition(" ")
    return (True, rest.strip()) if first.casefold().strip(":") == "private" else (False, words)
