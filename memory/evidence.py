"""Evidence: messages as they may be learnt from now, memories beside them, and keeping what was admitted."""

from collections.abc import Iterable, Sequence

from sqlalchemy import and_, or_, select
from sqlalchemy.orm import Session

from memory import tombstones
from memory.admission import LAYERS
from memory.audience import TEAM, Audience, Viewer, viewer
from memory.conversations import Conversation, Entry
from memory.database import now
from memory.drafts import MAX_TOPIC, Draft, Source
from memory.drawing import drawn_from
from memory.errors import NotFound, Refused, Stale
from memory.ids import derive
from memory.learning import may_learn_in
from memory.memories import Memory, Origin, Refusal
from memory.people import Speaker, speaker
from memory.places import Place
from memory.proposals import PROTECTED, Admitted, Confirms, Known, Said
from memory.proposals import Refused as NotKept
from memory.ranking import alive
from memory.rights import may_write_team
from memory.text import fold
from memory.writing import Key, Written, add, supersede

MOST_KNOWN = 300
"""Memories of one subject and audience that are compared with a new one, besides those on its topic."""


def narrower(one: Audience, other: Audience) -> Audience | None:
    """The one of two audiences that is part of the other; None where neither is sure to be."""
    if other in (one, TEAM):
        return one
    if one == TEAM:
        return other
    own = [audience for audience in (one, other) if audience.startswith("person:")]
    return own[0] if len(own) == 1 else None


def said(session: Session, entry: Entry, *, fresh: bool = True) -> Said | None:
    """A person's message, by the flags of now; None where nothing can rest on it any more."""
    place = session.get(Place, entry.place_id)
    conversation = session.get(Conversation, entry.conversation_id)
    if place is None or conversation is None or entry.person_id is None or entry.account_id is None:
        return None
    who = speaker(session, entry.account_id)
    readers = viewer(session, entry.bot_id, place, entry.account_id, ephemeral=entry.ephemeral)
    audience = narrower(entry.audience, readers.writes)
    if audience is None:
        return None
    key = tombstones.key_of(entry)
    gone = entry.redacted_at is not None or not entry.text.strip()
    forgotten = key is not None and tombstones.stands(session, entry.team_id, key, audience)
    learns = entry.learnable and entry.kind == "message" and entry.addressed
    return Said(
        entry_id=entry.id,
        conversation_id=entry.conversation_id,
        turn_id=entry.turn_id,
        account_id=entry.account_id,
        person_id=who.person_id,
        name=who.name,
        zone=who.zone,
        text=entry.text,
        said_at=entry.said_at,
        audience=audience,
        writes_team=may_write_team(session, who) == "yes",
        is_guest=who.is_guest,
        learnable=learns and may_learn_in(session, who.person_id, conversation),
        gone=gone or forgotten,
        fresh=fresh,
        link=entry.link,
    )


def known(
    session: Session,
    team_id: str,
    bot_id: str,
    audiences: Iterable[Audience],
    subjects: Iterable[str],
    topics: Iterable[str],
    shown: Sequence[str] = (),
    sources: Sequence[str] = (),
    seen: Sequence[Audience] = (),
) -> tuple[Known, ...]:
    """Memories of that bot that something new may repeat or replace, as they are now.

    Besides, those shown, and those that rest on the same messages already. `seen`: what else the readers may
    read, for memories that draw from there.
    """
    audience_list, subject_list = sorted(set(audiences)), sorted(set(subjects))
    beside = (
        select(Memory)
        .where(
            Memory.team_id == team_id,
            Memory.bot_id == bot_id,
            Memory.audience.in_(audience_list),
            Memory.subject.in_(subject_list),
            or_(Memory.drawn_from.is_(None), Memory.drawn_from.in_(seen)),
            Memory.layer.in_(LAYERS),
            Memory.kind.not_in(PROTECTED),
            alive(now()),
        )
        .order_by(Memory.confirmed_at.desc(), Memory.id)
    )
    spelt = sorted({" ".join(fold(topic).split())[:MAX_TOPIC] for topic in topics} - {""})
    rows = {row.id: row for row in session.scalars(beside.limit(MOST_KNOWN))}
    if spelt:
        rows |= {
            row.id: row for row in session.scalars(beside.where(Memory.topic.in_(spelt)).limit(MOST_KNOWN))
        }
    if shown or sources:
        same = and_(Memory.bot_id == bot_id, Memory.source_id.in_(sources))
        named = select(Memory).where(Memory.team_id == team_id, or_(Memory.id.in_(shown), same))
        rows |= {row.id: row for row in session.scalars(named)}
    return tuple(_known(row) for row in rows.values())


def keep(
    session: Session,
    verdict: Admitted | Confirms,
    *,
    team_id: str,
    bot_id: str,
    origin: Origin,
    key: Key,
    seen: Sequence[Audience],
) -> Written | str:
    """Writes what was admitted, once for its key; a code where the store refuses it after all.

    `seen` is whose words the model had before it when it wrote.
    """
    try:
        with session.begin_nested():
            draft = _draft(session, verdict, team_id, bot_id, origin, seen)
            old = verdict.replaces if isinstance(verdict, Admitted) else None
            if old is None:
                return add(session, draft, key=key)
            both = tuple({draft.audience, *seen})
            beside = Viewer(team_id, bot_id, draft.author.person_id, "", both, draft.audience)
            return supersede(
                session, beside, draft.author, old.id, draft, key=key, expected_version=old.version
            )
    except Stale:
        return "stale"
    except NotFound:
        return "gone"
    except Refused:
        return "refused"


def note_refusal(
    session: Session, refused: NotKept, *, team_id: str, audience: Audience, turn_id: str | None, key: Key
) -> None:
    """Keeps the reason and ids, no words."""
    refusal_id = derive("refusal", *key)
    if session.get(Refusal, refusal_id) is None:
        session.add(
            Refusal(
                id=refusal_id,
                team_id=team_id,
                audience=refused.said.audience if refused.said else audience,
                turn_id=turn_id,
                source_id=refused.said.entry_id if refused.said else None,
                reason=refused.reason,
            )
        )
        session.flush()


def _draft(
    session: Session,
    verdict: Admitted | Confirms,
    team_id: str,
    bot_id: str,
    origin: Origin,
    seen: Sequence[Audience],
) -> Draft:
    message = verdict.said
    source = Source(
        entry_id=message.entry_id,
        conversation_id=message.conversation_id,
        turn_id=message.turn_id,
        quote=verdict.quote,
        link=message.link,
        said_at=message.said_at,
    )
    author = speaker(session, message.account_id)
    if isinstance(verdict, Confirms):
        return _again(verdict.known, author, source, team_id, bot_id, origin)
    return Draft(
        team_id,
        bot_id,
        author,
        verdict.audience,
        verdict.subject,
        verdict.layer,
        verdict.kind,
        verdict.text,
        origin,
        topic=verdict.topic,
        importance=verdict.importance,
        confidence=verdict.confidence,
        source=source,
        valid_from=verdict.since,
        valid_until=verdict.until,
        drawn_from=drawn_from(
            verdict.audience,
            (verdict.audience, *seen),
            f"{verdict.text} {verdict.topic}",
            message.text,
            message.name,
        ),
    )


def _again(old: Known, author: Speaker, source: Source, team_id: str, bot_id: str, origin: Origin) -> Draft:
    """What is known already, in its own words: the store confirms it."""
    return Draft(
        team_id,
        bot_id,
        author,
        old.audience,
        old.subject,
        old.layer,
        old.kind,
        old.text,
        origin,
        topic=old.topic,
        confidence=0.0,
        source=source,
    )


def _known(row: Memory) -> Known:
    return Known(
        id=row.id,
        version=row.version,
        bot_id=row.bot_id,
        audience=row.audience,
        subject=row.subject,
        author_id=row.author_id,
        layer=row.layer,
        kind=row.kind,
        topic=row.topic,
        text=row.text,
        origin=row.origin,
        active=row.status == "active",
        confirmed_at=row.confirmed_at,
        source_id=row.source_id,
    )
