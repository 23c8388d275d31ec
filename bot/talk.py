"""A talk as its people see it on the page: messages and replies, as that person may read them."""

from dataclasses import replace

from sqlalchemy import select
from sqlalchemy.orm import Session

from bot.messages import CardView, Line
from memory.audience import Viewer, of_place, person_viewer
from memory.bots import Bot
from memory.cards import Card
from memory.conversations import Conversation, Entry
from memory.people import Person, Speaker
from memory.places import Place
from memory.redaction import PLACEHOLDER
from memory.turns import Outgoing

SPOKEN = ("message", "overheard")
REMOVED = "(removed)"


def lines_of(
    session: Session,
    conversation: Conversation | None,
    place: Place,
    who: Speaker,
    bot: Bot,
    *,
    before: str | None,
    limit: int,
) -> list[Line]:
    """The newest lines there, oldest first; `before` is a line's id to page back from."""
    if conversation is None and place.kind == "dm":
        return []
    own = person_viewer(session, bot.id, who)
    reader = replace(own, audiences=(*own.audiences, of_place(place.id)))
    found = [
        *_said(session, conversation, reader, limit),
        *_replied(session, conversation, bot, reader, limit),
    ]
    found.sort(key=lambda line: (line.at, line.is_bot))
    if before is not None:
        ids = [line.id for line in found]
        found = found[: ids.index(before)] if before in ids else []
    return found[-limit:]


def _said(session: Session, conversation: Conversation | None, reader: Viewer, limit: int) -> list[Line]:
    if conversation is None:
        return []
    rows = session.execute(
        select(Entry, Person.name)
        .outerjoin(Person, Person.id == Entry.person_id)
        .where(
            Entry.conversation_id == conversation.id,
            Entry.kind.in_(SPOKEN),
            reader.may_read(Entry),
        )
        .order_by(Entry.seq.desc())
        .limit(limit)
    )
    return [
        Line(
            id=entry.id,
            who=name or "somebody",
            is_bot=False,
            text=REMOVED if entry.redacted_at else entry.text,
            at=entry.said_at,
            message_id=entry.message_id or "",
            ephemeral=entry.ephemeral,
            edited=entry.edited_at is not None,
            removed=entry.redacted_at is not None,
        )
        for entry, name in rows
    ]


def _replied(
    session: Session, conversation: Conversation | None, bot: Bot, reader: Viewer, limit: int
) -> list[Line]:
    if conversation is None:
        return []
    rows = session.scalars(
        select(Outgoing)
        .where(
            Outgoing.conversation_id == conversation.id,
            Outgoing.status.in_(("sent", "failed")),
            reader.may_read(Outgoing),
        )
        .order_by(Outgoing.created_at.desc())
        .limit(limit)
    )
    return [_reply(session, row, bot, reader) for row in rows]


def _reply(session: Session, row: Outgoing, bot: Bot, reader: Viewer) -> Line:
    shown = [str(card["id"]) for card in row.extras.get("cards", ())]
    cards = session.scalars(
        select(Card).where(Card.id.in_(shown), Card.status == "open", reader.may_read(Card)).order_by(Card.id)
    ).all()
    return Line(
        id=row.id,
        who=bot.name,
        is_bot=True,
        text=row.text,
        at=row.sent_at or row.created_at,
        message_id=row.message_id or "",
        status=row.status,
        ephemeral=row.ephemeral,
        removed=row.text == PLACEHOLDER,
        sources=tuple(row.extras.get("sources", ())),
        cards=tuple(CardView(card.id, card.text, card.readers, card.action) for card in cards),
    )
