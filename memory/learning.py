"""Whose words may be learnt from, and where: pausing and going on."""

from typing import Literal

from sqlalchemy.orm import Session

from memory.conversations import Conversation
from memory.errors import NotFound
from memory.people import Person
from memory.places import Place

Extent = Literal["here", "thread", "everywhere"]

_PAUSED = "paused"


def is_paused(session: Session, person_id: str) -> bool:
    """Whether that person has paused learning everywhere."""
    return _person(session, person_id).learning_paused


def may_learn(session: Session, person_id: str, place: Place, conversation_key: str) -> bool:
    """Whether that person's words in that conversation may be learnt from now.

    `conversation_key` is a conversation's key: what is paused for a thread holds with every bot in it.
    """
    person = _person(session, person_id)
    if person.learning_paused or not place.learning:
        return False
    paused = person.settings.get(_PAUSED, [])
    return place.id not in paused and conversation_key not in paused


def may_learn_in(session: Session, person_id: str, conversation: Conversation) -> bool:
    """The same for a conversation, whose own switch counts too."""
    place = session.get(Place, conversation.place_id)
    if place is None or not conversation.learning:
        return False
    return may_learn(session, person_id, place, conversation.key)


def pause(session: Session, person_id: str, mark: str | None = None) -> None:
    """Stops learning from a person: everywhere, or at `mark` (a place's id or a conversation's key)."""
    person = _person(session, person_id)
    if mark is None:
        person.learning_paused = True
        return
    marks = [*person.settings.get(_PAUSED, [])]
    if mark not in marks:
        person.settings = {**person.settings, _PAUSED: [*marks, mark]}


def resume(session: Session, person_id: str, mark: str | None = None) -> bool:
    """Learns from that person again: everywhere without exception, or at that one mark.

    Says whether something was paused.
    """
    person = _person(session, person_id)
    marks = [*person.settings.get(_PAUSED, [])]
    left = [] if mark is None else [kept for kept in marks if kept != mark]
    changed = left != marks or (mark is None and person.learning_paused)
    person.settings = {**person.settings, _PAUSED: left}
    if mark is None:
        person.learning_paused = False
    return changed


def paused_marks(session: Session, person_id: str) -> tuple[str, ...]:
    """The places and conversations for which that person has paused learning."""
    return tuple(_person(session, person_id).settings.get(_PAUSED, []))


def _person(session: Session, person_id: str) -> Person:
    person = session.get(Person, person_id)
    if person is None:
        raise NotFound("There is no such person.")
    return person
