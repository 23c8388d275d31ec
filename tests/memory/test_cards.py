"""A card is pressed once, in time, by the person it is for."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from memory.cards import Card, cancel, open_card, open_cards, press
from memory.errors import NotFound, Refused
from tests.memory.world import BOT, World


def opened(world: World, name: str = "ada", **more: Any) -> Card:
    values: dict[str, Any] = {
        "action": "forget",
        "payload": {"memory": "abc"},
        "text": "Forget “We deploy on Tuesdays”?",
        "readers": "every member of the team",
        "audience": world.own(name).writes,
        "place_id": None,
        "bot_id": BOT,
        "turn_id": None,
        "key": ("turn", 1),
    }
    return world.run(open_card, world.who(name), **{**values, **more})


def test_a_card_is_opened_once_for_one_act(world: World) -> None:
    assert opened(world).id == opened(world).id != opened(world, key=("turn", 2)).id
    assert len(world.read(open_cards, world.who("ada"))) == 2
    assert world.read(open_cards, world.who("ben")) == []


def test_only_the_right_person_presses_and_only_once(world: World) -> None:
    card = opened(world)
    for wanted in (card.id, card.id[:5]):
        with pytest.raises(NotFound):
            world.run(press, world.who("ben"), wanted)
    pressed = world.run(press, world.who("ada"), card.id[:5])
    assert (pressed.id, pressed.status, pressed.payload) == (card.id, "pressed", {"memory": "abc"})
    for act in (press, cancel):
        with pytest.raises(Refused, match="already"):
            world.run(act, world.who("ada"), card.id)


def test_two_presses_at_once_are_one(world: World) -> None:
    card, who = opened(world), world.who("ada")

    def attempt(_: int) -> bool:
        try:
            world.run(press, who, card.id)
        except Refused:
            return False
        return True

    with ThreadPoolExecutor(4) as threads:
        assert sorted(threads.map(attempt, range(4))) == [False, False, False, True]


def test_an_expired_or_cancelled_card_does_nothing(world: World) -> None:
    with pytest.raises(Refused, match="expired"):
        world.run(press, world.who("ada"), opened(world, minutes=0).id)
    card = opened(world, key=("turn", 3))
    assert world.run(cancel, world.who("ada"), card.id).status == "cancelled"
    with pytest.raises(Refused):
        world.run(press, world.who("ada"), card.id)


@pytest.mark.parametrize("wanted", ["", "x", "____", "%%%%%%", "zzzzzzzzzzzz"])
def test_what_is_no_card_is_not_found(world: World, wanted: str) -> None:
    opened(world)
    with pytest.raises(NotFound):
        world.run(press, world.who("ada"), wanted)
