"""Long answers arrive whole, in order, with their code blocks."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.tables import aligned, width
from adapters.text import FENCE, clusters, fence_after, split, utf8, utf16

WORDS = st.sampled_from(
    [
        "word",
        "日本語",
        "👩‍👩‍👧‍👦",
        "`code`",
        "<@U0ADA>",
        "[doc](https://x.example/a)",
        "🇩🇪",
        "é",
        "\n",
        "\n\n",
        " ",
        "a" * 90,
    ]
)
TEXTS = st.lists(
    st.one_of(WORDS, st.sampled_from(["\n```py\n", "\n```\n", "\n~~~\n"]), st.text(max_size=20)), max_size=120
).map("".join)


def bare(text: str) -> str:
    """What people read: no blanks and no fence lines."""
    return re.sub(r"\s", "", "".join(line for line in text.split("\n") if not FENCE.match(line)))


@given(TEXTS, st.integers(200, 400), st.sampled_from([len, utf8, utf16]))
def test_parts_hold_everything_within_the_limit(text: str, limit: int, measure: object) -> None:
    count = measure
    assert callable(count)
    parts = split(text, limit, count)
    assert "".join(map(bare, parts)) == bare(text)
    assert all(count(part) <= limit for part in parts)
    assert all(fence_after(part) == "" for part in parts)


@given(st.lists(st.sampled_from(["<@U0ADA>", "[doc](https://x.example/a)", "👩‍👩‍👧‍👦", "x"]), max_size=80))
def test_no_link_mention_or_character_is_cut(atoms: list[str]) -> None:
    for part in split("".join(atoms), 200):
        left = part
        for atom in ("<@U0ADA>", "[doc](https://x.example/a)", "👩‍👩‍👧‍👦"):
            left = left.replace(atom, "")
        assert set(left) <= {"x"}


@given(st.text(max_size=60))
def test_clusters_are_the_text(text: str) -> None:
    assert "".join(clusters(text)) == text


@pytest.mark.parametrize("character", ["👩‍👩‍👧‍👦", "é", "🇩🇪", "👍🏽", "각", "नि", "❤️"])
def test_a_character_is_one(character: str) -> None:
    assert list(clusters(f"a{character}b")) == ["a", character, "b"]


def test_flags_come_in_pairs() -> None:
    assert list(clusters("🇩🇪🇫🇷")) == ["🇩🇪", "🇫🇷"]


def test_a_long_code_block_stays_one_in_every_part() -> None:
    code = "\n".join(f"line_{number} = {number}" for number in range(300))
    parts = split(f"Here is the module:\n```py\n{code}\n```\nDone.", 2_000)
    assert len(parts) > 2
    assert parts[0].startswith("Here is the module:\n```py\n")
    assert all(part.startswith("```py\n") for part in parts[1:])
    assert all(part.endswith("\n```") for part in parts[:-1])
    assert parts[-1].endswith("\n```\nDone.")
    assert re.findall(r"line_(\d+) =", "".join(parts)) == [str(number) for number in range(300)]


def test_a_table_becomes_columns() -> None:
    table = "Look:\n| name | value |\n|---|---|\n| `a|b` | 日本語 |\n| **x** |  |\nEnd"
    drawn = aligned(table)
    assert drawn == "Look:\n```\nname  value\n----  ------\na|b   日本語\nx\n```\nEnd"
    assert width("日本語") == 6


def test_a_table_in_code_stays_as_it_is() -> None:
    code = "```\n| a | b |\n|---|---|\n| 1 | 2 |\n```"
    assert aligned(code) == code
