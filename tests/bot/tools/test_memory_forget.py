"""`memory_forget`: finds what its asker may forget, shows a card, and forgets nothing by itself."""

from sqlalchemy import select

from bot.tools.registry import TOOLS
from memory.cards import Card
from memory.memories import Memory
from tests.bot.office import Office


def kept(office: Office) -> set[str]:
    return office.read(lambda session: set(session.scalars(select(Memory.text))))


def test_a_person_is_shown_what_would_go_and_decides_with_a_press(office: Office) -> None:
    said = office.say("ada", "dm", "remember that I may leave in March")
    office.learn(said, "ada", "I may leave in March", "dm")
    entry = office.say("ada", "dm", "forget that I may leave")
    result = office.call("memory_forget", entry, query="I may leave")
    content = result.content
    assert content["text"] == "I may leave in March"
    assert content["readers"] == "only Ada"
    assert "Nothing is forgotten yet" in content["say"]
    assert result.cards == (content["card"],)
    assert kept(office) == {"I may leave in March"}
    card = office.read(lambda session: session.get_one(Card, content["card"]))
    assert "“I may leave in March”" in card.text
    assert card.turn_id == entry.turn_id
    assert office.call("memory_forget", entry, query="I may leave").content["card"] == card.id
    office.type("ada", "dm", f"/confirm {card.id}")
    assert kept(office) == set()


def test_the_best_match_is_asked_about_and_others_are_named(office: Office) -> None:
    for text in ("The demo is on Friday", "The demo needs a big screen", "We deploy on Tuesdays"):
        office.keep("ada", text)
    entry = office.say("ada", "general", "forget the demo needs a big screen")
    content = office.call("memory_forget", entry, query="the demo needs a big screen").content
    assert content["text"] == "The demo needs a big screen"
    assert [row["text"] for row in content["others"]] == ["The demo is on Friday"]


def test_nobody_is_asked_about_what_they_may_not_read_or_forget(office: Office) -> None:
    office.keep("ada", "Ada may leave in March", "dm", subject=office.person("ada"))
    office.keep("ada", "The vault is in Oslo", "ops")
    team = office.keep("ada", "We deploy on Tuesdays in March from Oslo")
    nothing = None
    for name, channel in (("ben", "dm"), ("dana", "general"), ("gil", "dm")):
        entry = office.say(name, channel, "forget March and Oslo")
        content = office.call("memory_forget", entry, query="March Oslo").content
        nothing = nothing or content
        assert content == nothing
        assert content["found"] == 0
    refused = office.call("memory_forget", office.say("dana", "general", "forget it"), id=team.id)
    assert refused.content["refused"] == "not_allowed"
    missing = office.call("memory_forget", office.say("gil", "dm", "forget it"), id=team.id)
    assert missing.content == nothing
    assert office.read(lambda session: session.scalars(select(Card)).all()) == []


def test_the_id_of_a_private_memory_is_not_found_from_a_channel(office: Office) -> None:
    memory = office.keep("ada", "I may leave in March", "dm", subject=office.person("ada"))
    entry = office.say("ada", "general", "forget the March thing")
    content = office.call("memory_forget", entry, id=memory.id).content
    assert content["found"] == 0
    assert "March" not in str(content)


def test_a_card_in_a_reply_is_pressed_by_its_asker_only(office: Office) -> None:
    office.keep("ada", "We deploy on Tuesdays")
    entry = office.say("ada", "general", "forget that we deploy on Tuesdays")
    card = office.call("memory_forget", entry, query="deploy on Tuesdays").content["card"]
    assert office.type("ben", "general", "/confirm").cards == ()
    assert [one.id for one in office.type("ada", "dm", "/confirm").cards] == [card]


def test_nothing_is_forgotten_without_knowing_what(office: Office) -> None:
    office.keep("ada", "We deploy on Tuesdays")
    entry = office.say("ada", "general", "forget it")
    assert office.call("memory_forget", entry).content["found"] == 0
    assert office.call("memory_forget", entry, query="  ").content["found"] == 0


def test_tools_are_sorted_by_name() -> None:
    names = [tool.name for tool in TOOLS]
    assert names == sorted(set(names))
