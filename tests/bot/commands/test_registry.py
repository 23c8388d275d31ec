"""The registry: one check of rights and arguments for every platform, when the command runs."""

import dataclasses
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from bot.commands import registry
from bot.commands.command import Argument, Caller, Command
from bot.errors import BadInput, NotAllowed, Unknown
from bot.messages import CommandResult
from memory.audience import person_viewer, viewer
from memory.bots import Bot
from memory.cards import Card
from memory.errors import NotFound, Refused, StoreBusy
from memory.people import Account
from tests.bot.office import SETTINGS, Office
from tests.memory.world import BOT, account, place


def as_caller(session: Session, name: str) -> Caller:
    from memory.people import speaker

    who = speaker(session, account(session, name).id)
    where = place(session, "general")
    return Caller(
        speaker=who,
        place=where,
        bot=session.get_one(Bot, BOT),
        viewer=person_viewer(session, BOT, who),
        here=viewer(session, BOT, where, who.account_id),
        settings=SETTINGS,
    )


def run(
    office: Office, name: str, command: Command, arguments: dict[str, str] | None = None
) -> CommandResult:
    def work(session: Session) -> CommandResult:
        return registry.run(session, as_caller(session, name), command, arguments or {})

    return office.run(work)


def echo(_: Session, __: Caller, arguments: dict[str, str]) -> CommandResult:
    return CommandResult(str(arguments))


CHOICE = Command(
    "echo",
    "",
    echo,
    (Argument("text", ""), Argument("how", "", required=False, choices=("loud", "soft"))),
)


@pytest.mark.parametrize(
    ("who", "guests", "allowed"),
    [
        ("everyone", True, {"ada", "ben", "gil"}),
        ("everyone", False, {"ada", "ben"}),
        ("admin", True, {"ada"}),
        ("owner", True, {"ada"}),
    ],
)
def test_rights_are_those_of_the_moment(office: Office, who: Any, guests: bool, allowed: set[str]) -> None:
    command = Command("echo", "", echo, who=who, guests=guests)
    for name in ("ada", "ben", "gil"):
        if name in allowed:
            assert run(office, name, command).text == "{}"
        else:
            with pytest.raises(NotAllowed, match="only for"):
                run(office, name, command)
    office.run(_deactivate, "ada")
    if who != "everyone" or not guests:
        with pytest.raises(NotAllowed):
            run(office, "ada", command)


def _deactivate(session: Session, name: str) -> None:
    row: Account = account(session, name)
    row.standing = "deactivated"


def test_arguments_are_whole_known_and_among_their_choices(office: Office) -> None:
    assert (
        run(office, "ben", CHOICE, {"text": " a\x00b ", "how": "LOUD"}).text
        == "{'text': 'ab', 'how': 'loud'}"
    )
    for arguments, problem in (
        ({}, "text is missing"),
        ({"text": "  "}, "text is missing"),
        ({"text": "a", "how": "wild"}, "one of: loud, soft"),
        ({"text": "a", "team": "x"}, "takes no 'team'"),
        ({"text": "a" * 30_000}, "too long"),
    ):
        with pytest.raises(BadInput, match=problem):
            run(office, "ben", CHOICE, arguments)


def test_errors_of_the_store_become_sentences_for_platforms(office: Office) -> None:
    for raised, told in (
        (Refused("No."), NotAllowed),
        (NotFound("Nothing."), Unknown),
        (StoreBusy(), StoreBusy),
    ):

        def fail(_: Session, __: Caller, ___: dict[str, str], raised: Exception = raised) -> CommandResult:
            raise raised

        with pytest.raises(told, match=str(raised)):
            run(office, "ben", Command("fail", "", fail))


def test_another_package_registers_its_commands_once() -> None:
    before = list(registry.COMMANDS)
    try:
        registry.register([CHOICE])
        registry.register([dataclasses.replace(CHOICE, description="new")])
        assert registry.find("ECHO").description == "new"
        assert len(registry.COMMANDS) == len(before) + 1
    finally:
        registry.COMMANDS[:] = before
    with pytest.raises(Unknown):
        registry.find("echo")


def test_help_lists_what_its_caller_may_use_and_explains_one(office: Office) -> None:
    text = office.type("gil", "dm", "/help").text
    assert "`/memory show [mine|team]`" in text
    assert "`/memory add TEXT [share:me|team]`" in text
    (row,) = office.type("ben", "dm", "/help memory forget").rows
    assert row["usage"] == "/memory forget ID"
    names = {row["name"] for row in office.type("ben", "dm", "/help /note").rows}
    assert names == {"note add", "note list", "note delete"}
    with pytest.raises(Unknown):
        office.type("ben", "dm", "/help frobnicate")


def test_about_says_what_is_kept_and_how_to_stop_it(office: Office) -> None:
    text = office.type("gil", "general", "/about").text
    for word in ("teambot", "/memory show", "/memory pause", "/memory erase", "/note add"):
        assert word in text
    assert "Admins decide" in office.type("ben", "dm", "/about admin").text


def test_a_card_of_an_unknown_kind_does_nothing_and_stays_open(office: Office) -> None:
    memory_id = office.type("ada", "dm", "/memory add I use Vim").rows[0]["id"]
    card = office.type("ada", "dm", f"/memory forget {memory_id}").cards[0]
    office.run(_rename_action, card.id)
    with pytest.raises(NotAllowed, match="does not know"):
        office.type("ada", "dm", f"/confirm {card.id}")
    assert office.read(lambda session: session.get_one(Card, card.id).status) == "open"


def _rename_action(session: Session, card_id: str) -> None:
    session.scalars(select(Card).where(Card.id == card_id)).one().action = "fly"
