"""The stand-ins do what the tests rely on."""

import anthropic
import pytest
from playwright.async_api import BrowserContext
from slack_sdk import WebClient

from tests.stand_ins import aimock, discord_twin


def ask(claude: aimock.Claude, model: str = "claude-sonnet-5-5") -> anthropic.types.Message:
    """One streamed answer through the real SDK."""
    message: anthropic.types.MessageParam = {"role": "user", "content": "hello"}
    with (
        anthropic.Anthropic(base_url=claude.url, api_key="none", max_retries=0) as client,
        client.messages.stream(model=model, max_tokens=100, messages=[message]) as stream,
    ):
        return stream.get_final_message()


def test_claude_answers_in_the_order_of_the_script(claude: aimock.Claude) -> None:
    answers = aimock.calls(("look", {"q": 1}), ("look", {"q": 2})), aimock.says("No.", stop="refusal")
    claude.script(*answers, model="claude-sonnet-5-5")
    claude.always(aimock.says("Small talk."), model="claude-haiku-5-5")
    tools = ask(claude)
    assert [block.input for block in tools.content if block.type == "tool_use"] == [{"q": 1}, {"q": 2}]
    assert ask(claude, "claude-haiku-5-5").stop_reason == "end_turn"
    assert ask(claude).stop_reason == "refusal"
    assert [request["model"] for request in claude.requests()].count("claude-haiku-5-5") == 1


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (aimock.fails(529, "overloaded_error"), "overloaded"),
        (aimock.overloaded(aimock.says("long " * 90), 3), "Overloaded"),
        (aimock.cut(aimock.says("long " * 90), 3), "Connection error"),
    ],
)
def test_claude_breaks_as_scripted(claude: aimock.Claude, answer: aimock.Answer, error: str) -> None:
    claude.script(answer)
    with pytest.raises(anthropic.APIError, match=error):
        ask(claude)


def test_what_nobody_scripted_is_an_error(claude: aimock.Claude) -> None:
    with pytest.raises(anthropic.APIStatusError):
        ask(claude)


def test_slack_takes_a_message(slack_url: str) -> None:
    slack = WebClient(base_url=f"{slack_url}/api/", token="xoxb-test")
    channel = slack.conversations_list()["channels"][0]["id"]
    assert slack.chat_postMessage(channel=channel, text="hello")["message"]["text"] == "hello"


def test_discord_announces_a_message(discord_server: discord_twin.Discord) -> None:
    channel = discord_server.call(("prisma",), ("channel",), ("findMany",))[0]["id"]
    user = discord_server.call(("getFirstNonBotUserId",))
    discord_server.say(channel, user, "hello")
    held = discord_server.call(("channel", channel), ("getMessages",))
    assert [message["content"] for message in held] == ["hello"]


async def test_the_browser_renders(chromium: BrowserContext) -> None:
    page = await chromium.new_page()
    await page.set_content("<title>teambot</title><p>hello</p>")
    assert await page.title() == "teambot"
