"""The model behind the protocol: dialogues with aimock through Anthropic's own SDK."""

from collections.abc import AsyncIterator

import pytest

from bot.claude import Claude
from bot.model import texts, tool_uses
from memory.words import canonical
from tests.bot.asking import SEARCH, Waits, asked, body
from tests.stand_ins import aimock


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
async def model(claude: aimock.Claude, waits: Waits) -> AsyncIterator[Claude]:
    async with asked(claude, waits) as model:
        yield model


async def test_text_is_streamed_as_the_whole_text_so_far(model: Claude, claude: aimock.Claude) -> None:
    answer = "We deploy on Tuesdays, said Ada. 日本語 and 👩‍💻 too."
    claude.script(aimock.says(answer, chunkSize=3))
    seen: list[str] = []

    response = await model.respond(body(), seen.append)

    assert response.stop_reason == "end_turn"
    assert response.content == [{"type": "text", "text": answer}]
    assert len(seen) > 5
    assert seen[-1] == texts(response.content) == answer
    whole = [text.rstrip("\ufffd") for text in seen]
    assert all(answer.startswith(text) for text in whole)


async def test_the_body_goes_out_as_it_is_given(model: Claude, claude: aimock.Claude) -> None:
    claude.script(aimock.says("Yes."))
    given = body()

    await model.respond(given)

    (sent,) = claude.requests()
    assert sent.pop("stream") is True
    assert canonical(sent) == canonical(given)
    assert list(sent["tools"][0]) == list(SEARCH), "the order of keys is part of what the cache compares"


async def test_two_tools_are_called_in_one_answer_and_their_results_follow(
    model: Claude, claude: aimock.Claude
) -> None:
    wanted = ("memory_search", {"query": "deploy"}), ("memory_search", {"query": "Tuesday"})
    claude.script(aimock.calls(*wanted, text="Let me look.", chunkSize=4), aimock.says("On Tuesdays."))

    first = await model.respond(body())
    calls = tool_uses(first.content)
    results = [{"type": "tool_result", "tool_use_id": call["id"], "content": "Tuesdays"} for call in calls]
    history = [
        *body()["messages"],
        {"role": "assistant", "content": first.content},
        {"role": "user", "content": results},
    ]
    second = await model.respond(body(messages=history))

    assert first.stop_reason == "tool_use"
    assert [(call["name"], call["input"]) for call in calls] == list(wanted)
    assert texts(first.content) == "Let me look."
    assert texts(second.content) == "On Tuesdays."
    assert canonical(claude.requests()[1]["messages"]) == canonical(history)


async def test_thinking_comes_back_as_it_was_received(model: Claude, claude: aimock.Claude) -> None:
    answer = aimock.says("On Tuesdays.")
    answer["response"] |= {
        "reasoning": "Ada said so.",
        "reasoningSignature": "c2lnbmVk",
        "redactedThinking": ["eA=="],
    }
    claude.script(answer, aimock.says("Yes."))
    seen: list[str] = []

    response = await model.respond(body(), seen.append)

    assert response.content == [
        {"type": "redacted_thinking", "data": "eA=="},
        {"type": "thinking", "thinking": "Ada said so.", "signature": "c2lnbmVk"},
        {"type": "text", "text": "On Tuesdays."},
    ]
    assert seen[-1] == "On Tuesdays."
    history = [
        *body()["messages"],
        {"role": "assistant", "content": response.content},
        *body("Sure?")["messages"],
    ]
    await model.respond(body(messages=history))
    assert claude.requests()[1]["messages"][1]["content"] == response.content


@pytest.mark.parametrize(
    "stop", ["end_turn", "stop_sequence", "max_tokens", "pause_turn", "model_context_window_exceeded"]
)
async def test_why_an_answer_stopped_is_told(model: Claude, claude: aimock.Claude, stop: str) -> None:
    claude.script(aimock.says("Half of it", stop=stop))

    response = await model.respond(body())

    assert response.stop_reason == stop
    assert texts(response.content) == "Half of it"
    assert not response.cut


async def test_an_empty_answer_ends_the_turn_without_words(model: Claude, claude: aimock.Claude) -> None:
    claude.script(aimock.says(""))
    seen: list[str] = []

    response = await model.respond(body(), seen.append)

    assert (response.stop_reason, texts(response.content), seen) == ("end_turn", "", [])


async def test_a_refusal_withdraws_what_was_said_before_it(model: Claude, claude: aimock.Claude) -> None:
    claude.script(aimock.says("First you take", stop="refusal"))
    seen: list[str] = []

    response = await model.respond(body(), seen.append)

    assert seen
    assert (response.stop_reason, response.content) == ("refusal", [])


async def test_a_tool_call_that_was_cut_off_is_marked_and_left_out(
    model: Claude, claude: aimock.Claude
) -> None:
    answer = aimock.calls(
        ("memory_search", {"query": "a"}), ("memory_search", {"query": "b"}), text="Looking."
    )
    answer["response"]["finishReason"] = "max_tokens"
    claude.script(answer)

    response = await model.respond(body())

    assert response.cut
    assert response.stop_reason == "max_tokens"
    assert [call["input"] for call in tool_uses(response.content)] == [{"query": "a"}]
    assert texts(response.content) == "Looking."


async def test_lone_surrogates_do_not_stop_a_request(model: Claude, claude: aimock.Claude) -> None:
    claude.script(aimock.says("ok"))

    await model.respond(body("broken \ud83d emoji and \ud83d\ude00"))

    assert claude.requests()[0]["messages"][0]["content"][0]["text"] == "broken \ufffd emoji and 😀"
