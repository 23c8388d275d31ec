"""What a model adds to a person's words may come from whatever it saw; then its readers must be both."""

import json

from bot.testing import Scripted, use
from memory.drawing import adds, drawn_from
from tests.talk import talking


def test_a_persons_own_words_draw_on_nothing() -> None:
    assert (
        drawn_from("place:p", ("team", "place:p"), "we deploy on Tuesdays", "so: we deploy on Tuesdays")
        is None
    )
    assert not adds("Ada deployed on 3 May", "I deploy on 3 May Ada")


def test_a_word_of_the_models_own_draws_on_all_that_it_saw() -> None:
    assert drawn_from("place:p", ("team", "place:p"), "we deploy zebras", "we deploy") == "team"
    assert drawn_from("team", ("team",), "we deploy zebras", "we deploy") is None


async def test_team_words_laundered_into_a_private_channels_memory_do_not_leave_with_it(
    database_url: str,
) -> None:
    write = {
        "action": "create",
        "text": "the red lantern hangs in the long hall, zebra",
        "quote": "the red lantern hangs in the long hall",
        "about": "team",
        "kind": "fact",
    }
    model = Scripted(answers=[[use("memory_write", write)], "Saved."])
    async with talking(database_url, model) as talk:
        await talk.desk.set_place("#ops", private=True, members=("ada", "ben"))
        await talk.command("ada", "#general", "/memory add the secret project is called zebra")
        await talk.say("ada", "#ops", "remember: the red lantern hangs in the long hall")
        rows = json.dumps(await talk.memories("ben", "#ops"))
        assert "long hall" in rows
        await talk.desk.set_place("#ops", private=True, external=True, members=("ada", "ben"))
        assert "zebra" not in json.dumps(await talk.memories("ben", "#ops"))
