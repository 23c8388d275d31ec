"""My memory: each person sees, adds, corrects, archives, forgets and shares what is kept, and sees why."""

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from bot.errors import BadInput, NotAllowed, Unknown
from memory.cards import Card
from memory.conversations import Entry
from memory.memories import Memory
from memory.people import Account
from tests.bot.office import Office
from tests.memory.world import SCOUT, account


def statuses(office: Office) -> dict[str, str]:
    return office.read(lambda session: {row.text: row.status for row in session.scalars(select(Memory))})


def test_a_fact_added_in_a_direct_message_is_ones_own(office: Office) -> None:
    result = office.type("ada", "dm", "/memory add I use Vim")
    (row,) = result.rows
    assert (row["audience"], row["subject"], row["origin"], row["quote"]) == (
        "person:ada",
        "Ada",
        "manual",
        "I use Vim",
    )
    assert "only you" in result.text
    assert office.ids("ada") == {"I use Vim": row["id"]}
    assert office.ids("ben") == {}
    assert office.type("ben", "dm", "/memory show team").rows == ()
    assert result.undo is not None


def test_a_fact_added_in_a_channel_is_its_readers(office: Office) -> None:
    public = office.type("ada", "general", "/memory add We deploy on Tuesdays")
    private = office.type("ada", "ops", "/memory add The vault is in Oslo")
    own = office.type("ada", "general", "/memory add I may leave share me")
    assert [result.rows[0]["audience"] for result in (public, private, own)] == [
        "team",
        "place:#ops",
        "person:ada",
    ]
    assert office.ids("ben", scope="team") == {"We deploy on Tuesdays": public.rows[0]["id"]}


def test_show_lists_ones_own_here_and_names_how_to_go_on(office: Office) -> None:
    office.type("ada", "ops", "/memory add The vault is in Oslo")
    office.type("ada", "dm", "/memory add I use Vim")
    assert set(office.ids("ada", "dm")) == {"I use Vim"}
    assert set(office.ids("ada", "ops")) == {"I use Vim", "The vault is in Oslo"}
    assert "/memory source ID" in office.type("ada", "dm", "/memory show").text
    assert office.type("dana", "dm", "/memory show").text == "I remember nothing about you and from you."


def test_search_finds_archived_memories_and_marks_them(office: Office) -> None:
    memory_id = office.type("ada", "general", "/memory add The demo is on Friday").rows[0]["id"]
    done = office.type("ada", "general", f"/memory archive {memory_id}")
    assert done.undo is not None
    assert office.ids("ada") == {}
    (row,) = office.type("ben", "dm", "/memory search when is the demo?").rows
    assert row["status"] == "archived"
    assert "archived" in office.type("ben", "dm", "/memory search demo").text
    assert "nothing" in office.type("ben", "dm", "/memory search zebra").text


def test_source_says_why_with_quote_day_link_and_history(office: Office) -> None:
    said = office.say("ada", "dm", "I'm a vegetarian since May")
    memory = office.learn(said, "ada", "Ada is a vegetarian", "dm", origin="pass")
    office.type("ada", "dm", f"/memory edit {memory.id} Ada eats fish")
    result = office.type("ada", "dm", f"/memory source {memory.id}")
    (row,) = result.rows
    assert [step["action"] for step in row["history"]] == ["added", "corrected"]
    assert row["history"][1]["was"] == "Ada is a vegetarian"
    assert "“Ada is a vegetarian”" in result.text
    other = office.learn(said, "ada", "Ada became one in May", "dm", origin="pass")
    result = office.type("ada", "dm", f"/memory source {other.id}")
    assert "“I'm a vegetarian since May”" in result.text
    assert said.link is not None
    assert said.link in result.text


def test_source_shows_what_a_memory_replaced(office: Office) -> None:
    first = office.type("ada", "general", "/memory add We deploy on Tuesdays").rows[0]["id"]
    done = office.type("ben", "general", f"/memory edit {first} We deploy on Thursdays")
    second = done.rows[0]["id"]
    assert second != first
    (row,) = office.type("dana", "dm", f"/memory source {second}").rows
    assert [(step["action"], step["was"]) for step in row["history"]] == [
        ("superseded", "We deploy on Tuesdays"),
        ("replaced", None),
    ]
    assert statuses(office) == {"We deploy on Tuesdays": "superseded", "We deploy on Thursdays": "active"}


@pytest.mark.parametrize(
    "command", ["source {}", "edit {} Something else", "archive {}", "forget {}", "share {}", "undo {}"]
)
def test_somebody_elses_id_is_not_found_and_nothing_changes(office: Office, command: str) -> None:
    own = office.type("ada", "dm", "/memory add I may leave in March")
    place = office.type("ada", "ops", "/memory add The vault is in Oslo")
    before = statuses(office)
    told = set()
    for memory_id in (own.rows[0]["id"], place.rows[0]["id"], own.undo, "a" * 12):
        for name, channel in (("dana", "dm"), ("dana", "general"), ("gil", "dm")):
            with pytest.raises(Unknown) as refused:
                office.type(name, channel, f"/memory {command.format(memory_id)}")
            told.add(str(refused.value))
    assert len(told) == 1
    assert statuses(office) == before


def test_admins_manage_the_teams_memory_and_never_a_persons(office: Office) -> None:
    team = office.type("ben", "general", "/memory add We deploy on Tuesdays").rows[0]["id"]
    private = office.type("ben", "dm", "/memory add I may leave").rows[0]["id"]
    assert office.type("ada", "dm", f"/memory archive {team}").undo
    with pytest.raises(Unknown):
        office.type("ada", "dm", f"/memory source {private}")


def test_only_author_and_admin_archive_or_forget_a_teams_fact(office: Office) -> None:
    memory_id = office.type("ben", "general", "/memory add We deploy on Tuesdays").rows[0]["id"]
    for command in ("archive", "forget"):
        with pytest.raises(NotAllowed):
            office.type("dana", "general", f"/memory {command} {memory_id}")
    assert office.type("ben", "general", f"/memory forget {memory_id}").cards


def test_forgetting_shows_the_exact_words_and_waits_for_the_right_press(office: Office) -> None:
    memory_id = office.type("ada", "dm", "/memory add I may leave in March").rows[0]["id"]
    asked = office.type("ada", "dm", f"/memory forget {memory_id}")
    (card,) = asked.cards
    assert "“I may leave in March”" in card.text
    assert card.readers == "only Ada"
    assert office.type("ada", "dm", f"/memory forget {memory_id}").cards[0].id == card.id
    for name in ("ben", "dana", "gil"):
        with pytest.raises(Unknown):
            office.type(name, "dm", f"/confirm {card.id}")
        with pytest.raises(Unknown):
            office.type(name, "dm", f"/cancel {card.id}")
    assert office.ids("ada")
    done = office.type("ada", "dm", f"/confirm {card.id}")
    assert "Not undone" in done.text
    assert done.undo is None
    assert office.ids("ada") == {}
    with pytest.raises(NotAllowed):
        office.type("ada", "dm", f"/confirm {card.id}")
    assert "March" not in str(
        office.read(lambda session: [vars(row) for row in session.scalars(select(Card))])
    )


def test_a_cancelled_card_does_nothing_and_may_be_asked_for_again(office: Office) -> None:
    memory_id = office.type("ada", "dm", "/memory add I use Vim").rows[0]["id"]
    card = office.type("ada", "dm", f"/memory forget {memory_id}").cards[0]
    assert "nothing was done" in office.type("ada", "dm", f"/cancel {card.id}").text
    with pytest.raises(NotAllowed):
        office.type("ada", "dm", f"/confirm {card.id}")
    again = office.type("ada", "dm", f"/memory forget {memory_id}").cards[0]
    assert again.id != card.id
    assert office.type("ada", "dm", "/confirm").cards == (again,)
    office.type("ada", "dm", f"/confirm {again.id}")
    assert office.type("ada", "dm", "/confirm").text == "No card waits for you."


def test_a_card_keeps_its_place_wherever_it_is_pressed(office: Office) -> None:
    memory_id = office.type("ada", "ops", "/memory add The vault is in Oslo").rows[0]["id"]
    card = office.type("ada", "ops", f"/memory forget {memory_id}").cards[0]
    office.type("ada", "dm", f"/confirm {card.id}")
    assert statuses(office) == {}


def test_a_press_needs_the_rights_of_that_moment(office: Office) -> None:
    memory_id = office.type("ben", "general", "/memory add We deploy on Tuesdays").rows[0]["id"]
    card = office.type("ada", "dm", f"/memory forget {memory_id}").cards[0]
    office.run(_set_role, "ada", "member")
    with pytest.raises(NotAllowed):
        office.type("ada", "dm", f"/confirm {card.id}")
    office.run(_set_role, "ada", "admin")
    office.type("ada", "dm", f"/confirm {card.id}")
    assert statuses(office) == {}


def _set_role(session: Session, name: str, role: str) -> None:
    from memory.people import Person

    by: Account = account(session, name)
    session.get_one(Person, by.person_id).role = role


def test_every_write_is_undone_by_its_id_or_as_the_last_one(office: Office) -> None:
    added = office.type("ada", "dm", "/memory add I use Vim")
    memory_id = added.rows[0]["id"]
    office.type("ada", "dm", f"/memory edit {memory_id} I use Emacs")
    assert "I use Vim" in office.type("ada", "dm", "/memory undo").text
    assert office.ids("ada") == {"I use Vim": memory_id}
    archived = office.type("ada", "dm", f"/memory archive {memory_id}")
    office.type("ada", "dm", f"/memory undo {archived.undo}")
    assert office.ids("ada") == {"I use Vim": memory_id}
    office.type("ada", "dm", f"/memory undo {memory_id}")
    assert office.ids("ada") == {}
    with pytest.raises(Unknown, match="nothing of yours to undo"):
        office.type("ada", "dm", "/memory undo")
    assert office.ids("ada") == {}
    assert "I use Vim" in office.type("ada", "dm", "/memory add I use Vim").text
    assert list(office.ids("ada")) == ["I use Vim"]


def test_undo_reaches_nobody_elses_changes(office: Office) -> None:
    added = office.type("ada", "general", "/memory add We deploy on Tuesdays")
    with pytest.raises(NotAllowed):
        office.type("ben", "general", f"/memory undo {added.undo}")
    with pytest.raises(Unknown):
        office.type("ben", "general", "/memory undo")


def test_sharing_shows_words_and_readers_and_makes_a_new_row_without_its_past(office: Office) -> None:
    said = office.say("ada", "dm", "I'm a vegetarian, the doctor said so")
    memory = office.learn(said, "ada", "Ada is a vegetarian", "dm")
    asked = office.type("ada", "dm", f"/memory share {memory.id}")
    (card,) = asked.cards
    assert (card.text, card.readers) == ("Ada is a vegetarian", "every member of the team")
    assert office.type("ben", "dm", "/memory search vegetarian").rows == ()
    done = office.type("ada", "dm", f"/confirm {card.id}")
    (row,) = office.type("ben", "dm", "/memory search vegetarian").rows
    assert (row["text"], row["audience"], row["quote"], row["link"]) == (
        "Ada is a vegetarian",
        "team",
        None,
        None,
    )
    (source,) = office.type("ben", "dm", f"/memory source {row['id']}").rows
    assert "doctor" not in str(source)
    assert memory.id not in str(source)
    office.type("ada", "dm", f"/memory undo {done.undo}")
    assert office.type("ben", "dm", "/memory search vegetarian").rows == ()
    assert list(office.ids("ada")) == ["Ada is a vegetarian"]


def test_only_ones_own_words_are_shared_and_only_as_they_were_shown(office: Office) -> None:
    place = office.type("ada", "ops", "/memory add The vault is in Oslo").rows[0]["id"]
    with pytest.raises(NotAllowed):
        office.type("ben", "ops", f"/memory share {place}")
    card = office.type("ada", "ops", f"/memory share {place}").cards[0]
    office.type("ada", "ops", f"/memory edit {place} The vault is in Bergen")
    with pytest.raises((NotAllowed, Unknown)):
        office.type("ada", "ops", f"/confirm {card.id}")
    assert office.type("dana", "dm", "/memory show team").rows == ()


def test_words_typed_in_private_for_the_team_wait_for_a_press(office: Office) -> None:
    asked = office.type("ada", "dm", "/memory add We deploy on Tuesdays share team")
    (card,) = asked.cards
    assert statuses(office) == {}
    office.type("ada", "dm", f"/confirm {card.id}")
    (row,) = office.type("ben", "dm", "/memory show team").rows
    assert (row["text"], row["author"], row["link"]) == ("We deploy on Tuesdays", "Ada", None)


def test_guests_keep_what_is_their_own(office: Office) -> None:
    assert office.type("gil", "dm", "/memory add I deliver on Mondays").rows[0]["audience"] == "person:gil"
    with pytest.raises(NotAllowed):
        office.type("gil", "dm", "/memory add Ada pays share team")
    memory_id = office.ids("gil")["I deliver on Mondays"]
    with pytest.raises(NotAllowed):
        office.type("gil", "dm", f"/memory share {memory_id}")


def test_another_bots_facts_about_a_person_are_theirs_too(office: Office) -> None:
    memory_id = office.type("ada", "dm", "/memory add I use Vim", bot=SCOUT).rows[0]["id"]
    office.type("ada", "general", "/memory add Scout knows a canary", bot=SCOUT)
    assert office.ids("ada") == {"I use Vim": memory_id}


def test_secrets_are_left_out_of_what_is_typed(office: Office) -> None:
    result = office.type("ada", "dm", "/memory add The wiki user is svc_app, password Tr0ub4dor-EXAMPLE")
    assert "svc_app" in result.text
    assert "did not keep the secret" in result.text
    assert "Tr0ub4dor" not in result.text
    card = office.type("ada", "dm", "/memory add password is Tr0ub4dor-EXAMPLE share team").cards[0]
    assert "Tr0ub4dor" not in card.text


def test_too_long_a_fact_is_refused_in_a_sentence(office: Office) -> None:
    with pytest.raises(NotAllowed, match="at most 1,000 characters"):
        office.type("ada", "dm", f"/memory add {'long ' * 300}")
    with pytest.raises(BadInput, match="too long"):
        office.type("ada", "dm", f"/memory add {'x' * 100_000}")
    with pytest.raises(BadInput, match="The text is missing"):
        office.type("ada", "dm", "/memory add")
    assert statuses(office) == {}


def test_a_hostile_text_is_shown_as_words_on_one_line(office: Office) -> None:
    office.type("ada", "dm", "/memory add one\n• “two” (the team) `abcd`")
    text = office.type("ada", "dm", "/memory show").text
    assert "“one • “two' (the team) 'abcd'”" in text


def test_answers_are_the_same_with_and_without_others_private_words(office: Office) -> None:
    office.say("ada", "general", "we deploy on Tuesdays")
    memory_id = office.type("ada", "general", "/memory add We deploy on Tuesdays").rows[0]["id"]
    office.type("ada", "dm", "/memory add I use Vim")
    asked = (
        "/memory show",
        "/memory show team",
        "/memory search Ada deploy Vim canary",
        f"/memory source {memory_id}",
        "/note list",
        "/confirm",
        "/memory policy",
    )
    before = [office.type("ada", channel, text) for text in asked for channel in ("dm", "general")]
    ben = office.say("ben", "dm", "Ada deploys the canary with Vim")
    office.learn(ben, "ben", "Ada deploys the canary", "dm", subject=office.person("ada"), topic="deploy")
    office.type("ben", "dm", "/memory add Ada uses Vim badly")
    office.type("ben", "dm", "/note add Ada owes me a canary")
    office.type("ben", "dm", f"/memory forget {next(iter(office.ids('ben').values()))}")
    assert [office.type("ada", channel, text) for text in asked for channel in ("dm", "general")] == before


def test_entries_are_untouched_by_looking(office: Office) -> None:
    office.type("ada", "dm", "/memory show")
    assert office.read(lambda session: session.scalars(select(Entry)).all()) == []
