"""Background extraction: later, over sealed stretches of what people said, a few lasting things more."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import and_, or_, select
from sqlalchemy.orm import Session

from bot.model import Body, Model, texts
from bot.offline import NAME as OFFLINE
from bot.pass_input import PassInput, context, line, people_of
from bot.pass_request import EXTRACTION_INSTRUCTIONS, parse
from bot.pass_request import request as asking
from bot.remembering import Reserve, ask
from bot.settings import Settings
from memory.admission import admit_all
from memory.conversations import Conversation, Entry, Epoch
from memory.database import Database, now
from memory.evidence import keep, note_refusal, said
from memory.places import Place
from memory.proposals import Admitted, Confirms, Proposal, Refused, Said, Verdict
from memory.speech import is_trivial

SILENCE = timedelta(hours=6)
"""After so much silence everything in a conversation is sealed."""
CAP = 2
CONFIDENCE = 0.6
"""Whatever the model says: nobody was there to object."""
MOST_MESSAGES = 40
MOST_CHARACTERS = 16_000
MOST_DUE = 100
ORIGIN: Final = "extraction"


@dataclass(frozen=True)
class Segment:
    """A sealed stretch of a conversation's positions, after `since` up to `upto`.

    `given` is None where nothing in it can be learnt from.
    """

    conversation_id: str
    since: int
    upto: int
    given: PassInput | None


@dataclass(frozen=True)
class Extracted:
    """What one segment brought: ids of memories, codes of refusals, and whether more is waiting."""

    added: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    more: bool = False


def due(session: Session, at: datetime, limit: int = MOST_DUE) -> list[str]:
    """Conversations with sealed originals that were not looked at yet, the longest silent first."""
    compacted = (
        select(Epoch.id)
        .where(
            Epoch.conversation_id == Conversation.id,
            Epoch.ended_at.is_(None),
            Epoch.start > Conversation.extracted_to,
        )
        .exists()
    )
    silent = and_(
        Conversation.last_at <= at - SILENCE, Conversation.last_position > Conversation.extracted_to
    )
    query = (
        select(Conversation.id)
        .where(Conversation.learning.is_(True), or_(silent, compacted))
        .order_by(Conversation.last_at, Conversation.id)
    )
    return list(session.scalars(query.limit(limit)))


def segment(session: Session, conversation_id: str, at: datetime) -> Segment | None:
    """The next sealed stretch: messages of one audience, no more than the small model reads well."""
    conversation = session.get(Conversation, conversation_id)
    if conversation is None:
        return None
    sealed = _sealed(session, conversation, at)
    since = conversation.extracted_to
    if sealed <= since:
        return None
    rows = session.scalars(
        select(Entry)
        .where(
            Entry.conversation_id == conversation_id,
            Entry.position > since,
            Entry.position <= sealed,
            Entry.kind == "message",
            Entry.redacted_at.is_(None),
        )
        .order_by(Entry.position)
        .limit(MOST_MESSAGES + 1)
    ).all()
    heard, end = _stretch(session, list(rows))
    upto = sealed if end is None else end
    worth = any(not is_trivial(one.text) for one in heard)
    return Segment(conversation_id, since, upto, _given(session, conversation, heard) if worth else None)


def request(settings: Settings, found: Segment, *, effort: bool = False) -> Body | None:
    """The request for a segment, for a call of its own or for a batch; None where there is nothing to ask."""
    if found.given is None:
        return None
    name = settings.memory_model if settings.has_model else OFFLINE
    return asking(name, found.given.payload, instructions=EXTRACTION_INSTRUCTIONS, effort=effort)


def apply(session: Session, found: Segment, proposals: list[Proposal], at: datetime) -> Extracted:
    """Adds what is admitted and moves on, in one transaction; a segment done already changes nothing."""
    conversation = session.scalar(
        select(Conversation).where(Conversation.id == found.conversation_id).with_for_update(key_share=True)
    )
    if conversation is None or conversation.extracted_to != found.since:
        return Extracted()
    conversation.extracted_to = found.upto
    added: list[str] = []
    refused: list[str] = []
    if found.given is not None:
        judged = context(session, found.given, proposals, at, adds_only=True)
        for number, verdict in enumerate(admit_all(proposals, judged, CAP)):
            _keep(session, found, found.given, _lasting(verdict), number, added, refused)
    return Extracted(tuple(added), tuple(refused), more=_sealed(session, conversation, at) > found.upto)


async def extract(
    database: Database, model: Model, settings: Settings, conversation_id: str, reserve: Reserve
) -> Extracted:
    """Looks at the next sealed segment of a conversation; run again it does nothing twice."""
    found = await database.read(segment, conversation_id, now())
    if found is None:
        return Extracted()
    body = request(settings, found, effort=model.capabilities.effort)
    if body is None:
        return await database.run(apply, found, [], now())
    response = await ask(model, body, ORIGIN, reserve)
    return await database.run(apply, found, parse(texts(response.content)), now())


def _sealed(session: Session, conversation: Conversation, at: datetime) -> int:
    """The position up to which nothing changes any more."""
    if conversation.last_at <= at - SILENCE:
        return conversation.last_position
    start = session.scalar(
        select(Epoch.start)
        .where(Epoch.conversation_id == conversation.id, Epoch.ended_at.is_(None))
        .order_by(Epoch.number.desc())
        .limit(1)
    )
    return min(start or 0, conversation.last_position)


def _stretch(session: Session, rows: list[Entry]) -> tuple[list[Said], int | None]:
    """The first messages of one audience that fit, and the position of the last when others follow."""
    heard: list[Said] = []
    last: int | None = None
    room = MOST_CHARACTERS
    for number, entry in enumerate(rows):
        one = said(session, entry)
        other = one is not None and bool(heard) and one.audience != heard[0].audience
        room -= len(entry.text)
        if number == MOST_MESSAGES or other or (room < 0 and number > 0):
            return heard, last
        last = entry.position
        if one is not None and one.learnable and not one.gone:
            heard.append(one)
    return heard, None


def _given(session: Session, conversation: Conversation, heard: list[Said]) -> PassInput:
    place = session.get_one(Place, conversation.place_id)
    alone = conversation.person_id is not None
    messages = dict(enumerate(heard, start=1))
    people = people_of(session, conversation.team_id, heard)
    numbers = {person_id: number for number, (person_id, _) in people.items()}
    return PassInput(
        turn_id=None,
        team_id=conversation.team_id,
        bot_id=conversation.bot_id,
        audience=heard[0].audience,
        seen=(heard[0].audience,),
        alone=alone,
        entries={number: (one.entry_id, True) for number, one in messages.items()},
        people=people,
        shown={},
        payload={
            "place": "direct message" if alone else f"#{place.name}",
            "people": [{"number": number, "name": name} for number, (_, name) in people.items()],
            "messages": [line(number, one, numbers) for number, one in messages.items()],
        },
    )


def _lasting(verdict: Verdict) -> Verdict:
    """Only something new is added, and no note of an hour long ago."""
    if isinstance(verdict, Confirms):
        return Refused("known", verdict.said)
    if isinstance(verdict, Admitted):
        if verdict.layer == "note":
            return Refused("temporary", verdict.said)
        return replace(verdict, confidence=min(verdict.confidence, CONFIDENCE))
    return verdict


def _keep(
    session: Session,
    found: Segment,
    given: PassInput,
    verdict: Verdict,
    number: int,
    added: list[str],
    refused: list[str],
) -> None:
    key = (ORIGIN, found.conversation_id, found.since, number)
    if isinstance(verdict, Admitted):
        written = keep(
            session,
            verdict,
            team_id=given.team_id,
            bot_id=given.bot_id,
            origin=ORIGIN,
            key=key,
            seen=given.seen,
        )
        if not isinstance(written, str):
            added.append(written.memory.id)
            return
        verdict = Refused(written, verdict.said)
    if isinstance(verdict, Refused):
        note_refusal(session, verdict, team_id=given.team_id, audience=given.audience, turn_id=None, key=key)
        refused.append(verdict.reason)
