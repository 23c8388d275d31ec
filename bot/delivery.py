"""Delivery: the reply reaches its place exactly once, streamed while it is made.

The outbox row precedes the first text that is shown, the platform's message id follows at once. After a
crash a row without an id is looked up on the platform by its key, and one with an id is replaced.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from bot.answering import Outcome
from bot.engine import LATER, Engine
from bot.messages import Address, CardView, Platform, Post
from bot.preparation import Cast, cast
from bot.turns import close
from memory.cards import Card
from memory.conversations import Entry, Epoch
from memory.database import Database, now
from memory.errors import StoreError
from memory.people import Account
from memory.turns import Outgoing, Turn

log = logging.getLogger("teambot.delivery")

SEND_SECONDS = 60.0
SEND_ATTEMPTS = 5
NOTHING = "I have no answer to that."
CHANGED = (
    "Who can read here changed while I was answering, so I did not post the answer. Please ask again, "
    "and I will answer with what everybody here may know."
)
STATUS = {"failed": "failed", "stopped": "stopped"}


@dataclass(frozen=True)
class Sending:
    """An outbox row on its way: what to show, the id it has on the platform, whether it may be there already."""

    post: Post
    message_id: str | None
    maybe_sent: bool


class Delivery:
    """Sends replies through the platforms."""

    def __init__(self, database: Database, engine: Engine, platforms: Mapping[str, Platform]) -> None:
        self.database = database
        self.engine = engine
        self.platforms = platforms
        self.with_pass = True

    def draft(self, turn_id: str) -> "Draft":
        """The reply of a turn while it is made."""
        return Draft(self, turn_id)

    async def deliver(self, turn_id: str, outcome: Outcome) -> str:
        """Shows the final reply of a turn and closes the turn; safe to run again after a crash."""
        status = STATUS.get(outcome.next, "completed")
        sending = await self.database.run(_ready, turn_id)
        if sending is None:
            await self.database.run(self._closed, turn_id, status, outcome.error, None)
            return "nothing"
        try:
            message_id = await self._send(sending)
        except Exception as error:
            log.error("turn %s could not be delivered: %s", turn_id, type(error).__name__)
            await self.database.run(_not_sent, turn_id, type(error).__name__)
            await self.database.run(self._closed, turn_id, "failed", "NotDelivered", None)
            return "failed"
        await self.database.run(self._closed, turn_id, status, outcome.error, message_id)
        return "sent"

    async def settle(self, turn_id: str) -> None:
        """Ends a turn whose workflow is gone: its person is told."""
        await self.database.run(_note_lost, turn_id)
        await self.deliver(turn_id, Outcome("failed", "Lost"))

    async def _send(self, sending: Sending) -> str:
        platform = self.platforms[sending.post.address.platform]
        message_id = sending.message_id
        for attempt in range(SEND_ATTEMPTS):
            try:
                async with asyncio.timeout(SEND_SECONDS):
                    if message_id is None and (sending.maybe_sent or attempt > 0):
                        message_id = await platform.find(sending.post)
                    if message_id is None:
                        return await platform.start(sending.post)
                    return await platform.finish(sending.post, message_id)
            except Exception as error:
                log.warning("sending %s failed: %s", sending.post.key, type(error).__name__)
                if attempt + 1 == SEND_ATTEMPTS:
                    raise
                await asyncio.sleep(min(2**attempt, 15))
        raise TimeoutError

    def _closed(
        self, session: Session, turn_id: str, status: Any, error: str | None, message_id: str | None
    ) -> None:
        row = session.get(Outgoing, _key(turn_id))
        if row is not None and message_id is not None:
            row.status, row.message_id, row.sent_at = "sent", message_id, now()
            _remember_message(session, row, message_id)
        if not close(session, turn_id, status, error):
            return
        turn = session.get(Turn, turn_id)
        if turn is not None and self.with_pass:
            self.engine.enqueue(
                session, "pass", f"pass:{turn_id}", turn.conversation_id, turn_id, queue=LATER
            )


class Draft:
    """Shows text as it comes: the newest wins, one update at a time."""

    def __init__(self, delivery: Delivery, turn_id: str) -> None:
        self.delivery = delivery
        self.turn_id = turn_id
        self.text = ""
        self.task: asyncio.Task[None] | None = None
        self.changed = asyncio.Event()
        self.closed = False

    def push(self, text: str) -> None:
        """Takes the whole text so far; never waits."""
        if not text.strip() or self.closed:
            return
        self.text = text
        self.changed.set()
        if self.task is None:
            self.task = asyncio.create_task(self._show())

    async def close(self) -> None:
        """Stops updating; delivery shows the final text."""
        self.closed = True
        self.changed.set()
        if self.task is not None:
            await asyncio.gather(self.task, return_exceptions=True)

    async def _show(self) -> None:
        try:
            sending = await self.delivery.database.run(_drafted, self.turn_id, self.text)
            if sending is None:
                return
            platform = self.delivery.platforms[sending.post.address.platform]
            message_id = sending.message_id or (
                await platform.find(sending.post) if sending.maybe_sent else None
            )
            if message_id is None:
                message_id = await platform.start(sending.post)
            await self.delivery.database.run(_note_message, self.turn_id, message_id)
            while not self.closed:
                await self.changed.wait()
                self.changed.clear()
                if not self.closed:
                    await platform.update(_with_text(sending.post, self.text), message_id)
        except Exception as error:
            log.warning("draft of %s stopped: %s", self.turn_id, type(error).__name__)


def _key(turn_id: str) -> str:
    return f"{turn_id}:0"


def _with_text(post: Post, text: str) -> Post:
    return Post(**{**post.__dict__, "text": text})


def _drafted(session: Session, turn_id: str, text: str) -> Sending | None:
    """The outbox row before anything is shown; nothing for readers who may not see it any more."""
    scene = cast(session, turn_id)
    if not _may_post(session, scene):
        return None
    row = session.get(Outgoing, _key(turn_id))
    known = row is not None
    if row is None:
        row = _row(session, scene, "streaming")
    return Sending(_post(session, row, scene, text, final=False), row.message_id, known)


def _note_message(session: Session, turn_id: str, message_id: str) -> None:
    row = session.get(Outgoing, _key(turn_id))
    if row is not None:
        row.message_id = message_id


def _ready(session: Session, turn_id: str) -> Sending | None:
    """The final reply, written to the outbox as on its way; none when it was sent already."""
    turn = session.get(Turn, turn_id)
    if turn is None or turn.status != "running":
        return None
    try:
        scene = cast(session, turn_id)
    except Exception:
        return None
    row = session.get(Outgoing, _key(turn_id))
    if row is not None and row.status == "sent":
        return None
    maybe = row is not None
    if row is None:
        row = _row(session, scene, "sending")
    text, entry = _final_text(session, scene)
    row.status, row.text, row.entry_id = "sending", text, entry.id if entry else None
    row.extras = {"sources": _sources(session, turn_id), "cards": _cards(session, turn_id)}
    session.flush()
    return Sending(_post(session, row, scene, text, final=True), row.message_id, maybe)


def _final_text(session: Session, scene: Cast) -> tuple[str, Entry | None]:
    failure = scene.turn.remembered.get("failure")
    if failure:
        return str(failure), None
    if not _may_post(session, scene):
        return CHANGED, None
    entry = session.scalar(
        select(Entry)
        .where(Entry.turn_id == scene.turn.id, Entry.role == "assistant", Entry.text != "")
        .order_by(Entry.position.desc())
        .limit(1)
    )
    return (entry.text, entry) if entry is not None else (NOTHING, None)


def _may_post(session: Session, scene: Cast) -> bool:
    """Whether today's readers may read everything that the turn has seen."""
    epoch = session.scalar(
        select(Epoch)
        .where(Epoch.conversation_id == scene.conversation.id, Epoch.ended_at.is_(None))
        .order_by(Epoch.number.desc())
        .limit(1)
    )
    return epoch is None or scene.readers.reads_all(epoch.audiences)


def _row(session: Session, scene: Cast, status: str) -> Outgoing:
    row = Outgoing(
        id=_key(scene.turn.id),
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


def _sources(session: Session, turn_id: str) -> list[dict[str, str]]:
    rows = session.scalars(select(Entry.files).where(Entry.turn_id == turn_id, Entry.kind == "results"))
    unique = {(source.get("link") or source.get("label", "")): source for row in rows for source in row}
    return list(unique.values())[:5]


def _cards(session: Session, turn_id: str) -> list[dict[str, str]]:
    rows = session.scalars(
        select(Card).where(Card.turn_id == turn_id, Card.status == "open").order_by(Card.id)
    )
    return [{"id": row.id, "text": row.text, "readers": row.readers, "action": row.action} for row in rows]


def _remember_message(session: Session, row: Outgoing, message_id: str) -> None:
    entry = session.get_one(Entry, _entry_seq(session, row.entry_id)) if row.entry_id else None
    if entry is not None and entry.message_id is None:
        entry.platform, entry.message_id = row.platform, message_id
        entry.channel_key = f"{row.workspace}/{row.channel}"


def _entry_seq(session: Session, entry_id: str) -> int:
    return session.scalars(select(Entry.seq).where(Entry.id == entry_id)).one()


def _not_sent(session: Session, turn_id: str, code: str) -> None:
    row = session.get(Outgoing, _key(turn_id))
    if row is not None:
        row.status, row.error = "failed", code


def _note_lost(session: Session, turn_id: str) -> None:
    turn = session.get(Turn, turn_id)
    if turn is None:
        raise StoreError
    turn.remembered = {
        **turn.remembered,
        "failure": "I lost this answer while it was being made. Your message is kept; please ask again.",
    }
