"""What was said while nobody listened: read from Slack's history, through the same door and checks."""

import logging

from slack_sdk.errors import SlackApiError

from adapters.slack.inbound import heard
from adapters.slack.receiving import PLATFORM, Receiving
from adapters.slack.workspace import Workspace, error_code
from bot.messages import Door

log = logging.getLogger("teambot.slack")

MOST_CHANNELS = 100
MOST_THREADS = 40
OWN_CHANNELS = "public_channel,private_channel,mpim,im"


async def catch_up(door: Door, space: Workspace, receiving: Receiving, since: float) -> int:
    """Takes in what was missed since that moment; how many messages were new."""
    _, places = await door.heard(PLATFORM, space.id)
    channels = await _channels(space)
    used = list(dict.fromkeys(place.channel for place in places))
    ordered = [*used, *(channel for channel in channels if channel not in used)][:MOST_CHANNELS]
    threads = [(place.channel, place.thread) for place in places if place.thread is not None]
    found = 0
    for channel in ordered:
        found += await _read(space, receiving, channel, None, since)
    for channel, thread in threads[:MOST_THREADS]:
        found += await _read(space, receiving, channel, thread, since)
    return found


async def since_last(door: Door, space: Workspace) -> float | None:
    """When the last message of that workspace was taken in."""
    newest, _ = await door.heard(PLATFORM, space.id)
    try:
        return float(newest) if newest is not None else None
    except ValueError:
        return None


async def _channels(space: Workspace) -> list[str]:
    """The channels that the bot is in."""
    found: list[str] = []
    pages = await space.client.users_conversations(types=OWN_CHANNELS, limit=200, exclude_archived=True)
    async for page in pages:
        found += [str(channel["id"]) for channel in page.get("channels") or []]
        if len(found) >= MOST_CHANNELS:
            break
    return found


async def _read(
    space: Workspace, receiving: Receiving, channel: str, thread: str | None, since: float
) -> int:
    try:
        if thread is None:
            answer = await space.client.conversations_history(
                channel=channel, oldest=f"{since:.6f}", limit=200
            )
        else:
            answer = await space.client.conversations_replies(
                channel=channel, ts=thread, oldest=f"{since:.6f}", limit=200
            )
    except (TimeoutError, SlackApiError, OSError) as error:
        log.info("a channel could not be read: %s", error_code(error) or type(error).__name__)
        return 0
    found = 0
    for raw in sorted(answer.get("messages") or [], key=lambda message: str(message.get("ts"))):
        if str(raw.get("ts")) <= f"{since:.6f}" or raw.get("subtype") not in (None, "file_share"):
            continue
        item = heard(space.id, channel, raw, {})
        accepted = await receiving.take(item) if item is not None else None
        found += accepted is not None and not accepted.repeated
    return found
