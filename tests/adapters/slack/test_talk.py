"""People talk with the bot on Slack: each message has exactly one answer, where it belongs."""

from bot.testing import Scripted
from tests.adapters.slack.team import ADA, GENERAL, at_work


async def test_a_mention_is_answered_once_in_its_thread(database_url: str) -> None:
    async with at_work(database_url, Scripted(["Hello Ada."])) as team:
        assert await team.ask(GENERAL, ADA, "hello") == "Hello Ada."
        await team.quiet()
        asked = team.slack.messages[GENERAL]
        question = next(ts for ts, message in asked.items() if message["user"] == ADA)
        replies = team.slack.replies(GENERAL)
        assert [reply["thread_ts"] for reply in replies] == [question]
        assert replies[0]["metadata"]["event_type"] == "teambot_reply"
