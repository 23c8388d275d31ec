"""Markdown of messages: a small subset, safe on any text, linear on hostile text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.web.markdown import markdown

OUR_TAGS = re.compile(
    r"</?(?:p|br|em|strong|del|code|pre|ul|ol|li|blockquote|h[3-6]|hr|a|table|thead|tbody|tr|th|td|div)"
    r'(?: (?:href|target|rel|class|tabindex|start|data-language)="[^"<>]*")*>'
)

HOSTILE = {
    "backticks": "`" * 100_000,
    "growing backticks": " ".join("`" * length for length in range(1, 440)),
    "opening angles": "<" * 50_000,
    "asterisks": "*" * 20_000,
    "apart": "*a " * 33_000,
    "mixed emphasis": "**a *b __c _d ~~e " * 6_000,
    "brackets": "[" * 5_000 + "]" * 5_000 + "(x)",
    "links and openers": "[a](http://x) *b " * 6_000,
    "unclosed links": "[a](" * 25_000,
    "unclosed targets": ("[a](http://x" + "(" * 200) * 450,
    "quotes": ">" * 100_000,
    "quoted lists": "> - " * 25_000,
    "list in list": "- " * 50_000,
    "deep lists": "\n".join(" " * (line % 16) + "- x" for line in range(20_000)),
    "lazy lines": "- a\n" + "b\n" * 50_000,
    "numbers": "1. " * 33_000,
    "table": "|" * 100_000 + "\n" + "|-" * 50_000,
    "table rows": ("|a" * 20 + "\n") * 2_000,
    "urls": "https://" * 12_000,
    "url and parentheses": "https://" + ")" * 99_990,
    "fences": "```\n" * 25_000,
    "headings": "# " * 50_000,
    "newlines": "\n" * 100_000,
    "spaces": " " * 100_000,
    "local links": "[/in/general#x] " * 6_000,
    "tabs": "\t" * 100_000,
    "escapes": "\\*" * 50_000,
}


def links(link: str) -> str | None:
    return f"/as/ada{link}" if link.startswith("/in/general#") else None


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("plain & <b>", "<p>plain &amp; &lt;b&gt;</p>"),
        ("one\ntwo\n\nthree", "<p>one<br>\ntwo</p>\n<p>three</p>"),
        ("**a *b* c** ~~d~~", "<p><strong>a <em>b</em> c</strong> <del>d</del></p>"),
        ("***both***", "<p><strong><em>both</em></strong></p>"),
        ("snake_case_name 2 * 3 * 4 **open", "<p>snake_case_name 2 * 3 * 4 **open</p>"),
        ("*a **b* c**", "<p><em>a **b</em> c**</p>"),
        ("`a*b*` ``x ` y``", "<p><code>a*b*</code> <code>x ` y</code></p>"),
        (r"\*not\* \q", r"<p>*not* \q</p>"),
        ("# Top\n#### Low", "<h3>Top</h3>\n<h6>Low</h6>"),
        ("---", "<hr>"),
        ("- a\n- b\n  - c", "<ul><li>a</li><li>b\n<ul><li>c</li></ul></li></ul>"),
        ("3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'),
        ("> a\n> b", "<blockquote><p>a<br>\nb</p></blockquote>"),
        ("```py\na < b\n```", '<pre tabindex="0" data-language="py"><code>a &lt; b</code></pre>'),
        ("```\nopen", '<pre tabindex="0"><code>open</code></pre>'),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>"),
        ("[x](JaVaScRiPt://a)", "<p>[x](JaVaScRiPt://a)</p>"),
        ("[/in/ops#x]", "<p>[/in/ops#x]</p>"),
        ("[a *b](c) d*", "<p>[a <em>b](c) d</em></p>"),
        ("", ""),
    ],
)
def test_markdown_becomes_html(text: str, html: str) -> None:
    assert str(markdown(text, links)) == html


def test_a_table_keeps_its_columns() -> None:
    html = str(markdown("| a | b |\n|:--|--:|\n| 1 | <i> | 3 |\n| 4 |"))
    assert "<th>a</th><th>b</th>" in html
    assert "<tr><td>1</td><td>&lt;i&gt;</td></tr><tr><td>4</td><td></td></tr>" in html


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("[doc](https://x.test/a_(b)?c=1&d=2)", "https://x.test/a_(b)?c=1&amp;d=2"),
        ("see https://x.test/a_b_c, and", "https://x.test/a_b_c"),
        ("(https://x.test/a)", "https://x.test/a"),
        ("https://x.test/(a)", "https://x.test/(a)"),
        ('[q](https://x.test/"onclick="1)', "https://x.test/&quot;onclick=&quot;1"),
        ("[m](mailto:ada@x.test)", "mailto:ada@x.test"),
    ],
)
def test_links_lead_to_the_web_in_a_new_tab(text: str, address: str) -> None:
    html = str(markdown(text))
    assert f'<a href="{address}" target="_blank" rel="noopener noreferrer nofollow">' in html


def test_a_local_link_leads_to_its_message() -> None:
    html = str(markdown("- “a” — Ada [/in/general#x1]", links))
    assert '<a class="to-message" href="/as/ada/in/general#x1">see the message</a>' in html


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_drawn_whole_and_inert(name: str) -> None:
    assert "<" not in OUR_TAGS.sub("", str(markdown(HOSTILE[name], links)))


PIECES = st.sampled_from(
    [
        *"*_`~[]()<>|#-+.\\\n \t:&\"'!1a",
        "**",
        "```",
        "~~~",
        "https://x.test",
        "](",
        "> ",
        "- ",
        "1. ",
        "|-|",
        "    ",
    ]
)


@given(st.lists(PIECES, max_size=60).map("".join) | st.text(max_size=200))
def test_any_text_becomes_only_our_tags_well_nested(text: str) -> None:
    html = str(markdown(text, links))
    assert "<" not in OUR_TAGS.sub("", html)
    waiting: list[str] = []
    for closing, name in re.findall(r"<(/?)([a-z]+[3-6]?)", html):
        if closing:
            assert waiting.pop() == name
        elif name not in ("br", "hr"):
            waiting.append(name)
    assert waiting == []


@given(st.text(alphabet="abc xyz", min_size=1, max_size=80))
def test_plain_words_are_kept(text: str) -> None:
    html = str(markdown(text))
    assert re.sub(r"<[^>]*>|\s", "", html) == re.sub(r"\s", "", text)
