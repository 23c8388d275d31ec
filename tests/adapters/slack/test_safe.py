"""The model's text pings nobody, links nowhere it was not told of, and streams the way it ends."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adapters.slack.safe import committed, rendered

ATOMS = st.sampled_from(
    [
        *"word , `code` `` a`b `` ** **bold** [doc](https://evil.example/x) [doc <!channel> > | ` \\".split(
            " "
        ),
        "https://evil.example/?q=1&lt;",
        "<!channel>",
        "<@U1>",
        "@here",
        "\n| a | b |\n|---|---|\n| 1 | 2 |\n",
        "\n| a |",
        "\n```py\n",
        "\n```\n",
        "\n~~~\n",
        "\n",
        "\n\n",
        "\n> quote",
        " ",
        "&lt;",
        "![x](http://a.example/i.png)",
        '[t](http://a.example "ti tle")',
        "(",
        ")",
        "]",
        "日本語",
    ]
)
TEXTS = st.lists(ATOMS, max_size=25).map("".join)


@given(TEXTS, st.data())
@example("a `b c` d", None)
def test_what_is_streamed_is_the_beginning_of_what_is_said(text: str, data: st.DataObject | None) -> None:
    cuts = range(len(text) + 1) if data is None else [data.draw(st.integers(0, len(text)))]
    for cut in cuts:
        early = committed(text[:cut])
        assert text.startswith(early)
        assert rendered(text).startswith(rendered(early)), (early, rendered(early), rendered(text))


@given(TEXTS)
def test_nothing_is_live(text: str) -> None:
    shown = rendered(text)
    assert not re.search(r"<[^>]*>", shown)
    assert "<" not in shown
    outside = re.sub(r"(`+)[^`\n]+\1", "", re.sub(r"(?ms)^(```+|~~~).*?(?:^\1$|\Z)", "", shown))
    assert not re.search(r"(?i)(?<!`)@(channel|here|everyone)\b", outside)
    assert "://" not in outside


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("hi <!channel> & <@U1>", "hi &lt;!channel&gt; & &lt;@U1&gt;"),
        ("R&D &lt; x", "R&D &amp;lt; x"),
        ("see [the doc](https://evil.example/?a=1)", "see the doc (`https://evil.example/?a=1`)"),
        ("![x](https://evil.example/i.png)", "x (`https://evil.example/i.png`)"),
        ("go to https://evil.example/a. Now", "go to `https://evil.example/a`. Now"),
        ("evil.example/secret and setup.py", "`evil.example/secret` and setup.py"),
        ("> quoted <x>", "> quoted &lt;x&gt;"),
        ("mail ada@x.example", "mail ada@x.example"),
        ("if a > b", "if a &gt; b"),
        ("`https://evil.example", "\u02cb`https://evil.example`"),
        ("````[doc](https://evil.example/x)", "````"),
        ("`<@U1>` @here", "`&lt;@U1&gt;` @\u2060here"),
        ("```\n@here <x> https://a.example\n```", "```\n@here &lt;x&gt; https://a.example\n```"),
    ],
)
def test_text_for_slack(said: str, shown: str) -> None:
    assert rendered(said) == shown


def test_addresses_that_were_given_stay() -> None:
    given_by_asker = {"https://good.example/a?b=1&c=2"}.__contains__
    said = "[the doc](https://good.example/a?b=1&c=2), https://good.example/a?b=1&c=2."
    assert rendered(said, given_by_asker) == said


def test_a_table_waits_until_it_is_whole() -> None:
    assert committed("Look:\n| a | b |\n|---|---|\n| 1 |") == "Look:\n"
    whole = "Look:\n| a | b |\n|---|---|\n| 1 | 2 |\nSo it "
    assert committed(whole) == whole


def test_open_marks_wait() -> None:
    assert committed("one **two three") == "one "
    assert committed("one `two three") == "one "
    assert committed("see [the doc](https://a") == "see "
    assert committed("plain words come wh") == "plain words come "
