"""Guesses of size are rather too large than too small."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.tokens import PICTURE, block_tokens, body_tokens, content_tokens, estimate, tools_tokens

PICTURE_BLOCK = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
}


def test_a_character_of_chinese_japanese_or_korean_is_about_one_token() -> None:
    for text in ("我们星期二部署" * 100, "火曜日にデプロイします" * 100, "화요일에배포합니다" * 100):
        assert len(text) <= estimate(text) <= len(text) * 1.25


def test_a_history_of_sixty_thousand_japanese_characters_is_too_much_for_fifty_thousand_tokens() -> None:
    history = [
        {"role": "user", "content": [{"type": "text", "text": "火曜日にデプロイ。" * 667}]} for _ in range(10)
    ]

    assert body_tokens({"messages": history}) > 50_000


# Counted by the tokenizer that came with Claude 2; later ones make up to a third more of Latin text.
@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("We deploy on Tuesdays, because nobody is on call on Fridays. ", 321),
        ('{"author":"Ada","said_at":"2026-11-30T12:00:00Z","text":"ok"}\n', 560),
        ("def f(x):\n    return [y ** 2 for y in x if y % 3 == 0]\n", 460),
        ("2026-11-30 12:00:01,234 INFO bot.claude model call took 1234 ms req_011CVabc\n", 580),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n", 300),
        ("我们星期二部署，因为星期五没有人值班。", 360),
        ("金曜日は誰もいないので、火曜日にデプロイします。", 500),
        ("금요일에는 아무도 없어서 화요일에 배포합니다. ", 481),
        ("Мы выкатываем по вторникам, потому что в пятницу никого нет. ", 621),
        ("ننشر يوم الثلاثاء لأن لا أحد متاح يوم الجمعة. ", 900),
        ("เราปรับใช้ในวันอังคารเพราะวันศุกร์ไม่มีใครอยู่เวร ", 1_800),
        ("😀🚀👩\u200d💻🎉🔥", 300),
    ],
)
def test_the_guess_is_above_what_a_tokenizer_counts_and_not_absurd(text: str, counted: int) -> None:
    assert counted <= estimate(text * 20) <= counted * 2.5


def test_encoded_data_takes_more_than_words_of_the_same_length() -> None:
    words = "deploy on Tuesday " * 100
    encoded = base64.b64encode(bytes(range(256)) * 6).decode()[: len(words)]

    assert estimate(encoded) > 1.7 * estimate(words)


def test_pictures_and_documents_are_counted_by_what_they_are_not_by_their_letters() -> None:
    picture = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "A" * 400_000},
    }
    pages = {
        "type": "document",
        "source": {"type": "base64", "media_type": "application/pdf", "data": "A" * 400_000},
    }
    plain = {
        "type": "document",
        "source": {"type": "text", "media_type": "text/plain", "data": "deploy " * 30},
    }

    assert PICTURE <= block_tokens(picture) < PICTURE + 100
    assert block_tokens(pages) >= 100_000
    assert block_tokens(plain) < 200
    assert content_tokens([PICTURE_BLOCK] * 40) >= 40 * PICTURE


def test_tool_schemas_count() -> None:
    tools: list[dict[str, Any]] = [
        {
            "name": f"tool_{number}",
            "description": "Does something useful with what it is given.",
            "input_schema": {
                "type": "object",
                "properties": {"query": {"type": "string"}},
                "required": ["query"],
            },
        }
        for number in range(60)
    ]

    assert tools_tokens([]) == 0
    assert tools_tokens(tools) > 60 * 50
    assert body_tokens({"messages": [], "tools": tools}) == tools_tokens(tools)


def test_every_part_of_a_request_counts() -> None:
    whole: dict[str, Any] = {
        "system": [{"type": "text", "text": "You are teambot."}],
        "tools": [{"name": "shell", "input_schema": {"type": "object"}}],
        "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
        "messages": [
            {"role": "user", "content": "When do we deploy?"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "", "signature": "c2ln" * 50},
                    {"type": "redacted_thinking", "data": "c2ln" * 50},
                    {"type": "tool_use", "id": "a", "name": "shell", "input": {"command": "date"}},
                ],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "Tuesday"}]},
        ],
    }
    size = body_tokens(whole)

    for key in ("system", "tools", "output_config"):
        assert body_tokens({name: value for name, value in whole.items() if name != key}) < size
    for index in range(3):
        fewer = [message for number, message in enumerate(whole["messages"]) if number != index]
        assert body_tokens({**whole, "messages": fewer}) < size


@given(st.text(), st.text())
def test_any_text_has_a_size_that_grows_with_it(one: str, two: str) -> None:
    assert estimate(one) >= (1 if one else 0)
    assert estimate(one + two) >= estimate(one) // 2
    assert estimate(one) <= 3 * len(one.encode("utf-8", "surrogatepass")) + 1


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_any_block_has_a_size(value: Any) -> None:
    assert block_tokens({"type": "tool_use", "input": value}) >= estimate(json.dumps(value)) // 4
