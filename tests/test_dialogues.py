"""Dialogues: who says what where, what the bot answers, what is remembered, and who cannot see it."""

import json

from bot.testing import Scripted, use
from tests.talk import talking


async def test_what_ada_tells_the_team_ben_can_ask_for_with_its_source(database_url: str) -> None:
    async with talking(database_url) as talk:
        said = await talk.say("ada", "#general", "remember: we deploy on Tuesdays")
        assert "Saved" in said["reply"]
        assert [item["text"] for item in said["memory"]["added"]] == ["we deploy on Tuesdays"]
        assert said["memory"]["added"][0]["audience"] == "team"
        asked = await talk.say("ben", "dm", "When do we deploy?")
        assert "Tuesdays" in asked["reply"]
        assert "Ada" in asked["reply"]
        assert asked["sources"]


async def test_what_ada_says_in_private_is_nowhere_else(database_url: str) -> None:
    async with talking(database_url) as talk:
        said = await talk.say("ada", "dm", "remember that I may leave in March, keep it to yourself")
        assert said["memory"]["added"][0]["audience"] == "person:ada"
        for who, where in (("ben", "dm"), ("ben", "#general"), ("ada", "#general")):
            asked = await talk.say(who, where, "Who may leave in March?")
            assert "leave in March" not in asked["reply"].replace("Who may leave in March?", "")
            shown = json.dumps(await talk.prompt(who, where, "hello"))
            assert "I may leave" not in shown
            assert not any("March" in row["text"] for row in await talk.memories(who, where))
        assert "March" in (await talk.say("ada", "dm", "What do you know about me?"))["reply"]


async def test_forgetting_asks_first_and_then_it_is_gone(database_url: str) -> None:
    async with talking(database_url) as talk:
        await talk.say("ada", "dm", "remember that I may leave in March")
        asked = await talk.say("ada", "dm", "forget that I may leave in March")
        assert len(asked["cards"]) == 1
        assert await talk.memories("ada", "dm")
        await talk.command("ada", "dm", f"/confirm {asked['cards'][0]['id']}")
        assert await talk.memories("ada", "dm") == []


async def test_tools_are_called_in_order_and_their_results_come_back(database_url: str) -> None:
    model = Scripted(
        answers=[
            [
                use("memory_search", {"query": "deploy"}, "t1"),
                use("conversation_search", {"query": "x"}, "t2"),
            ],
            "We deploy on Tuesdays.",
        ]
    )
    async with talking(database_url, model) as talk:
        said = await talk.say("ada", "#general", "when do we deploy?")
    assert said["reply"] == "We deploy on Tuesdays."
    results = model.bodies[1]["messages"][-1]["content"]
    assert [block["tool_use_id"] for block in results] == ["t1", "t2"]
