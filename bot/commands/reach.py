"""What the caller of a command may read where they call it."""

from dataclasses import replace

from sqlalchemy.orm import Session

from bot.commands.command import Caller
from memory.audience import Viewer, may_enter, viewer
from memory.places import Place


def reach(session: Session, caller: Caller, place: Place | None = None) -> Viewer:
    """The readers of an answer that its caller alone sees: besides what is theirs, what the place may read.

    Guests reach only what is their own. `place` is another place than the caller's, such as a card's.
    """
    where = place or caller.place
    who = caller.speaker
    if who.is_guest or where.kind == "dm" or not may_enter(session, where, who):
        return caller.viewer
    there = caller.here if place is None else viewer(session, caller.bot.id, where, who.account_id)
    more = tuple(audience for audience in there.audiences if audience not in caller.viewer.audiences)
    return replace(caller.viewer, audiences=(*caller.viewer.audiences, *more))
