"""When two memories say the same, and when one is the newer word on the same matter."""

from datetime import UTC, datetime

import pytest

from memory.proposals import Known
from memory.same_matter import is_same_matter, says_the_same


def known(text: str, topic: str = "") -> Known:
    return Known(
        id="m1",
        version=1,
        bot_id="bot-1",
        audience="team",
        subject="team",
        author_id="ada",
        layer="fact",
        kind="fact",
        topic=topic,
        text=text,
        origin="pass",
        active=True,
        confirmed_at=datetime(2026, 11, 1, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("The team deploys on Tuesdays.", "The team deploys on Tuesdays."),
        ("the TEAM deploys on tuesdays", "The team deploys on Tuesdays."),
        ("The team deploys on Tuesday after lunch.", "The team deploys on Tuesdays, after lunch."),
        ("Ada likes tea", "Ada likes green tea"),
        ("定例会議は火曜です。", "定例会議は火曜です"),
        ("経費精算は毎月１０日に締めます", "経費精算は毎月10日に締めます"),
        ("İzmir ofisi", "IZMIR OFISI"),
    ],
)
def test_nothing_new_is_the_same(new: str, old: str) -> None:
    assert says_the_same(new, old)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("The team deploys on Mondays.", "The team deploys on Tuesdays."),
        ("Ada reports to Ben.", "Ben reports to Ada."),
        ("The team does not deploy on Fridays.", "The team deploys on Fridays."),
        ("The budget is 500 euros.", "The budget is 400 euros."),
        ("Ada likes green tea", "Ada likes tea"),
        ("Ada", "Ada works from Lisbon on Mondays and Tuesdays, mostly"),
        ("Ada works without Ben", "Ada works with Ben"),
        ("定例会議は月曜です。", "定例会議は火曜です。"),
        ("…", "The team deploys."),
    ],
)
def test_anything_new_is_not(new: str, old: str) -> None:
    assert not says_the_same(new, old)


def test_the_same_topic_and_a_shared_word_are_the_same_matter() -> None:
    old = known("Staging is at stage-a.example.test.", "staging address")
    assert is_same_matter("Staging Address", "staging moved to stage-b.example.test", old, "", meant=False)
    assert not is_same_matter("other topic", "staging moved to stage-b.example.test", old, "", meant=False)


def test_one_topic_for_everything_retires_nothing_by_itself() -> None:
    old = known("Lee is on call on Mondays.", "lee")
    assert not is_same_matter("lee", "Lee lives in Lisbon.", old, "Lee", meant=False)


def test_where_the_model_means_it_the_topic_is_enough() -> None:
    old = known("Ada is vegetarian.", "diet")
    assert is_same_matter("diet", "Ada eats meat again.", old, "Ada", meant=True)
    assert not is_same_matter("diet", "Ada eats meat again.", old, "Ada", meant=False)
    assert not is_same_matter("home", "Ada eats meat again.", old, "Ada", meant=True)


def test_without_topics_a_shared_word_and_the_models_word_are_needed() -> None:
    old = known("Staging is at stage-a.example.test.")
    assert is_same_matter("staging address", "Staging is at stage-b.example.test.", old, "", meant=True)
    assert not is_same_matter("staging address", "Staging is at stage-b.example.test.", old, "", meant=False)
    assert not is_same_matter("home", "Lee lives in Lisbon.", old, "", meant=True)
