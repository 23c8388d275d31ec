"""A person's own words: what counts as said by them, and what only stands in their message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.own_words import carries, own_words, says, supports

SAID = [
    ("We deploy on Tuesdays, OK?", "we deploy on tuesdays"),
    ("We   deploy\non Tuesdays", "We deploy on Tuesdays"),
    ("It’s Ada’s turn", "It's Ada's turn"),
    ("Unser Café heißt Größe", "unser Cafe\u0301 heisst größe"),
    ("OFİSİMİZ IZMIR'DE", "ofisimiz izmir'de"),
    ("ızmir güzel", "IZMIR GÜZEL"),
    ("می‌خواهم چای سبز", "میخواهم چای سبز"),
    ("مَكتَبُنا هنا", "مكتبنا هنا"),
    ("デプロイは木曜に行います", "デプロイは木曜"),
    ("経費精算は毎月１０日", "経費精算は毎月10日"),
    ('My name is "Ada".', "my name is Ada"),
    ("a pre‑release build", "pre-release build"),
    ("Ben said “no” and I deploy on Mondays", "I deploy on Mondays"),
    ("see > 5 people there", "see > 5 people there"),
    ("`main` is our release branch", "main is our release branch"),
]
NOT_SAID = [
    ("> we deploy on Mondays\nI disagree", "we deploy on Mondays"),
    ("&gt; we deploy on Mondays\nI disagree", "we deploy on Mondays"),
    ("look\n>>> we deploy on Mondays\nand on Fridays", "on Fridays"),
    ("```\nwe deploy on Mondays\n```\nsee", "we deploy on Mondays"),
    ("~~~text\nwe deploy on Mondays\n~~~", "we deploy on Mondays"),
    ("```\nnever closed, we deploy on Mondays", "we deploy on Mondays"),
    ("run `we deploy on Mondays` now", "we deploy on Mondays"),
    ("run ``we deploy on Mondays`` now", "we deploy on Mondays"),
    ('Ben said "we deploy on Mondays" yesterday', "we deploy on Mondays"),
    ("Ben sagte „wir deployen immer montags“ gestern", "wir deployen immer montags"),
    ("Ben a dit « on déploie le lundi matin » hier", "on déploie le lundi matin"),
    ("Benさんは「来年から全員が在宅勤務」と", "来年から全員が在宅勤務"),
    ("fyi\n---------- Forwarded message ---------\nwe deploy on Mondays", "we deploy on Mondays"),
    ("fyi\nBegin forwarded message:\n\nwe deploy on Mondays", "we deploy on Mondays"),
    ("fyi\nOn Mon, 16 Nov 2026, Ben wrote:\nwe deploy on Mondays", "we deploy on Mondays"),
    ("fyi\nAm 16.11.2026 schrieb Ben:\nwir deployen montags", "wir deployen montags"),
    ("The Department relocates", "part relocates"),
    ("party on", "art"),
    ("कलम मेरी है", "कल"),
    ("we deploy on Tuesdays", "we deploy on Mondays"),
    ("anything", ""),
    ("anything", "…"),
]


@pytest.mark.parametrize(("text", "quote"), SAID)
def test_the_same_words_are_found_however_they_are_spelt(text: str, quote: str) -> None:
    assert says(own_words(text), quote)


@pytest.mark.parametrize(("text", "quote"), NOT_SAID)
def test_what_another_said_or_nobody_said_is_not_found(text: str, quote: str) -> None:
    assert not says(own_words(text), quote)


def test_the_sentence_around_a_quote_has_its_closing_mark() -> None:
    own = own_words("Hi there. Do we deploy on Tuesdays? Yes!\nFine")
    found = own.find("we deploy on Tuesdays")
    assert found
    assert own.sentence(found) == "do we deploy on tuesdays?"
    japanese = own_words("会議は火曜です。デプロイは木曜ですか？はい")
    asked = japanese.find("デプロイは木曜")
    assert asked
    assert japanese.sentence(asked) == "デプロイは木曜ですか?"


def test_a_version_number_ends_no_sentence() -> None:
    own = own_words("If we take 3.13 the build breaks")
    found = own.find("the build breaks")
    assert found
    assert own.sentence(found) == "if we take 3.13 the build breaks"


@pytest.mark.parametrize(
    ("quote", "enough"), [("we", False), ("vegan", True), ("ok", False), ("東京", True), ("!", False)]
)
def test_a_quote_must_be_long_enough_to_say_something(quote: str, enough: bool) -> None:
    assert carries(quote) == enough


def test_a_memory_rests_on_what_was_said_with_names_and_dates_added() -> None:
    own = own_words("I prefer short answers")
    assert supports(own, "Ada prefers short answers.", "Ada")
    assert not supports(own, "Ada earns ninety thousand euros yearly.", "Ada")
    assert supports(own, "…", "Ada")


@given(st.text(max_size=300), st.text(max_size=60))
def test_any_text_is_read(text: str, quote: str) -> None:
    own = own_words(text)
    found = own.find(quote)
    if found:
        assert own.sentence(found)
        assert any(character.isalnum() or not character.isascii() for character in found.group())


@given(st.lists(st.sampled_from(["we", "deploy", "on", "Tuesdays", "火曜", "غدا"]), min_size=2, max_size=8))
def test_whole_messages_are_always_said(words: list[str]) -> None:
    text = " ".join(words)
    assert says(own_words(text), text)
    assert not says(own_words(f"> {text}"), text)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", ["`", "```\n", ">", "> ", '"', "``a", "On x wrote:\n", "[", "<", "*"])
def test_hostile_text_is_read_to_its_end(piece: str) -> None:
    own = own_words((piece * 100_000)[:100_000])
    assert not says(own, "we deploy on Tuesdays")
