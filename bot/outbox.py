"""The outbox: what is on its way to a platform, row by row.

A row precedes the first text that is shown. Its id is the key that the platform gives back after a crash.
"""

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from bot.epochs import newest
from bot.errors import Unknown
from bot.messages import Address, CardView, Post
from bot.preparation import Cast, cast
from memory.cards import Card
from memory.conversations import Entry
from memory.database import now
from memory.people import Account
from memory.turns import Outgoing, Turn

NOTHING = "I have no answer to that."
CHANGED = (
    "Who can read here changed while I was answering, so I did not post the answer. Please ask again, "
    "and I will answer with what everybody here may know."
)
DELETED = "This bot was deleted while it was answering, so there is no answer."
LOST = "I lost this answer while it was being made. Your message is kept; please ask again."
RESEND_FOR = timedelta(hours=1)


@dataclass(frozen=True)
class Sending:
    """An outbox row on its way: what to show, its id on the platform, whether it may be there."""

    post: Post
    message_id: str | None
    maybe_sent: bool


def key_of(turn_id: str) -> str:
    return f"{turn_id}:0"


def drafted(session: Session, turn_id: str, text: str) -> Sending | None:
    """The outbox row before anything is shown; nothing for readers who may not see it any more."""
    if not may_show(session, turn_id):
        return None
    scene = cast(session, turn_id)
    row = session.get(Outgoing, key_of(turn_id))
    known = row is not None
    if row is None:
        row = _row(session, scene, "streaming")
    return Sending(_post(session, row, scene, text, final=False), row.message_id, known)


def note_message(session: Session, turn_id: str, message_id: str) -> None:
    row = session.get(Outgoing, key_of(turn_id))
    if row is not None:
        row.message_id = message_id


def expected(session: Session, turn_id: str) -> Post | None:
    """A word of goodbye, for a bot that is deleted while it answers."""
    try:
        scene = cast(session, turn_id)
    except Unknown:
        return None
    account = session.get(Account, scene.turn.account_id) if scene.turn.account_id else None
    place = scene.place
    return Post(
        key=key_of(turn_id),
        address=Address(place.platform, place.workspace, place.channel, _thread(session, scene)),
        text=DELETED,
        asker=account.external_id if account else None,
        ephemeral=scene.turn.ephemeral,
        persona=scene.bot.name,
    )


def ready(session: Session, turn_id: str, failed: bool) -> Sending | None:
    """The final reply, written to the outbox as on its way; none when the turn has ended already."""
    scene = cast(session, turn_id)
    row = session.get(Outgoing, key_of(turn_id))
    if scene.turn.status != "running" or (row is not None and row.status == "sent"):
        return None
    maybe = row is not None
    if row is None:
        row = _row(session, scene, "sending")
    text, entry = _final_text(session, scene, failed)
    row.status, row.text, row.entry_id = "sending", text, entry.id if entry else None
    row.audience, row.drawn_from = scene.readers.writes, scene.readers.drawn_from
    row.extras = {"sources": _sources(session, scene), "cards": _cards(session, scene)}
    session.flush()
    return Sending(_post(session, row, scene, text, final=True), row.message_id, maybe)


def again(session: Session, key: str) -> Sending | None:
    """A reply that could not be sent, checked once more against who reads it now."""
    row = session.get(Outgoing, key)
    if row is None or row.status != "failed" or row.turn_id is None:
        return None
    try:
        scene = cast(session, row.turn_id)
    except Unknown:
        return None
    if not scene.readers.reads_row(row):
        row.text, row.entry_id, row.extras = CHANGED, None, {}
        row.audience, row.drawn_from = scene.readers.writes, scene.readers.drawn_from
    return Sending(_post(session, row, scene, row.text, final=True), row.message_id, True)


def sent_late(session: Session, key: str, message_id: str) -> None:
    row = session.get(Outgoing, key)
    if row is None or row.status == "sent":
        return
    row.status, row.message_id, row.sent_at, row.error = "sent", message_id, now(), None
    remember_message(session, row, message_id)
    turn = session.get(Turn, row.turn_id) if row.turn_id else None
    if turn is not None and turn.error == "NotDelivered":
        turn.status, turn.error = "completed", None


def unsent(session: Session) -> list[str]:
    """Replies of the last hour that their platform did not take."""
    since = now() - RESEND_FOR
    query = select(Outgoing.id).where(Outgoing.status == "failed", Outgoing.created_at > since)
    return list(session.scalars(query.limit(100)))


def _final_text(session: Session, scene: Cast, failed: bool) -> tuple[str, Entry | None]:
    failure = scene.turn.remembered.get("failure")
    if failed and failure:
        return str(failure), None
    entry = session.scalar(
        select(Entry)
        .where(Entry.turn_id == scene.turn.id, Entry.role == "assistant", Entry.text != "")
        .order_by(Entry.position.desc())
        .limit(1)
    )
    if entry is None:
        return NOTHING, None
    return (entry.text, entry) if scene.readers.reads_row(entry) else (CHANGED, None)


def may_show(session: Session, turn_id: str) -> bool:
    """Whether those who read there now may read everything that the answer is being made from."""
    scene = cast(session, turn_id)
    epoch = newest(session, scene.conversation.id)
    return epoch is None or scene.readers.reads_all(epoch.audiences)


def _row(session: Session, scene: Cast, status: str) -> Outgoing:
    row = Outgoing(
        id=key_of(scene.turn.id),
        team_id=scene.turn.team_id,
        conversation_id=scene.conversation.id,
        place_id=scene.place.id,
        turn_id=scene.turn.id,
        audience=scene.readers.writes,
        drawn_from=scene.readers.drawn_from,
        person_id=scene.turn.person_id,
        ephemeral=scene.turn.ephemeral,
        platform=scene.place.platform,
        workspace=scene.place.workspace,
        channel=scene.place.channel,
        thread=_thread(session, scene),
        status=status,
    )
    session.add(row)
    session.flush()
    return row


def _thread(session: Session, scene: Cast) -> str | None:
    """The thread that the message came from: a direct message is one conversation across its threads."""
    return session.scalar(
        select(Entry.thread)
        .where(Entry.turn_id == scene.turn.id, Entry.kind == "message")
        .order_by(Entry.position)
        .limit(1)
    )


def _post(session: Session, row: Outgoing, scene: Cast, text: str, *, final: bool) -> Post:
    account = session.get(Account, scene.turn.account_id) if scene.turn.account_id else None
    return Post(
        key=row.id,
        address=Address(row.platform, row.workspace, row.channel, row.thread),
        text=text,
        asker=account.external_id if account else None,
        ephemeral=row.ephemeral,
        persona=scene.bot.name,
        sources=tuple(row.extras.get("sources", ())) if row.extras else (),
        cards=tuple(CardView(**card) for card in row.extras.get("cards", ())) if row.extras else (),
        final=final,
        failed=final and bool(scene.turn.remembered.get("failure")),
    )


def _sources(session: Session, scene: Cast) -> list[dict[str, str]]:
    rows = session.scalars(
        select(Entry.files).where(
            Entry.turn_id == scene.turn.id, Entry.kind == "results", scene.readers.may_read(Entry)
        )
    )
    unique = {(source.get("link") or source.get("label", "")): source for row in rows for source in row}
    return list(unique.values())[:5]


def _cards(session: Session, scene: Cast) -> list[dict[str, str]]:
    """The cards that the turn opened for its asker, whose words everybody who reads there may read."""
    rows = session.scalars(
        select(Card)
        .where(
            Card.turn_id == scene.turn.id,
            Card.person_id == scene.turn.person_id,
            Card.status == "open",
            scene.readers.may_read(Card),
        )
        .order_by(Card.id)
    )
    return [{"id": row.id, "text": row.text, "readers": row.readers, "action": row.action} for row in rows]


def remember_message(session: Session, row: Outgoing, message_id: str) -> None:
    entry = session.get_one(Entry, _entry_seq(session, row.entry_id)) if row.entry_id else None
    if entry is not None and entry.message_id is None:
        entry.platform, entry.message_id = row.platform, message_id
        entry.channel_key = f"{row.workspace}/{row.channel}"


def _entry_seq(session: Session, entry_id: str) -> int:
    return session.scalars(select(Entry.seq).where(Entry.id == entry_id)).one()


def not_sent(session: Session, turn_id: str, code: str) -> None:
    row = session.get(Outgoing, key_of(turn_id))
    if row is not None:
        row.status, row.error = "failed", code


def is_lost(session: Session, turn_id: str) -> bool:
    """Notes what the person is told, unless the answer was made and only its delivery is missing."""
    answered = select(Entry.id).where(Entry.turn_id == turn_id, Entry.kind == "reply").limit(1)
    turn = session.get(Turn, turn_id)
    if turn is None or session.scalar(answered) is not None:
        return False
    turn.remembered = {**turn.remembered, "failure": LOST}
    return True
