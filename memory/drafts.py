"""Drafts: memories about to be written, cleaned and checked before anything else happens to them."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from memory import tombstones
from memory.audience import TEAM, of_person
from memory.conversations import Conversation, Entry
from memory.database import now
from memory.errors import NotFound, Refused
from memory.learning import is_paused, may_learn_in
from memory.memories import MAX_TEXT, TEAM_SUBJECT
from memory.people import Person, Speaker
from memory.places import Place
from memory.ranking import NOTE_LIFE
from memory.secrets import withhold
from memory.text import fold
from memory.words import clean

MAX_TOPIC = 80
LEARNT = ("pass", "extraction")
"""Origins that nobody asked for by name."""


@dataclass(frozen=True)
class Source:
    """Where a memory was learnt."""

    entry_id: str | None
    conversation_id: str | None
    turn_id: str | None
    quote: str | None
    link: str | None
    said_at: datetime


@dataclass(frozen=True)
class Draft:
    """A memory about to be written."""

    team_id: str
    bot_id: str
    author: Speaker
    audience: str
    subject: str
    layer: str
    kind: str
    text: str
    origin: str
    topic: str = ""
    importance: int = 3
    confidence: float = 1.0
    source: Source | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    expires_at: datetime | None = None
    shared_from: str | None = None
    work: dict[str, Any] | None = None
    drawn_from: str | None = None

    @property
    def said_at(self) -> datetime:
        """When its author said it; never in the future."""
        return min(self.source.said_at, now()) if self.source else now()

    @property
    def turn_id(self) -> str | None:
        """The turn in which it was said."""
        return self.source.turn_id if self.source else None

    @property
    def ends_at(self) -> datetime | None:
        """When it expires: notes after a while, private notes never."""
        if self.kind == "private":
            return None
        if self.layer == "note" and self.expires_at is None:
            return now() + NOTE_LIFE
        return self.expires_at


def checked(session: Session, draft: Draft) -> tuple[Draft, tuple[str, ...]]:
    """The draft as it may be kept, and the kinds of secrets that were taken out."""
    text = withhold(kept_text(draft.text))
    topic = withhold(clean(draft.topic))
    work, work_kinds = _withheld_json(draft.work)
    quoted = draft.source.quote if draft.source else None
    quote = withhold(clean(quoted)) if quoted else None
    kinds = dict.fromkeys([*text.kinds, *topic.kinds, *work_kinds, *(quote.kinds if quote else ())])
    own = draft.kind in ("rule", "private")
    kept = replace(
        draft,
        text=kept_text(text.text),
        topic=" ".join(fold(topic.text).split())[:MAX_TOPIC],
        work=work,
        subject=draft.author.person_id if own else draft.subject,
        importance=min(max(draft.importance, 1), 5),
        confidence=min(max(draft.confidence, 0.0), 1.0),
        source=replace(draft.source, quote=quote.text if quote else None) if draft.source else None,
    )
    _refuse_misplaced(session, kept)
    return kept, tuple(kinds)


def kept_text(text: str) -> str:
    """The words of a memory, cleaned; refused when there are none or too many."""
    kept = clean(text).strip()
    if not kept:
        raise Refused("There are no words in it; nothing was saved.")
    if len(kept) > MAX_TEXT:
        raise Refused(
            f"A memory holds at most {MAX_TEXT:,} characters and this has {len(kept):,}; "
            "nothing was saved. Please say it shorter or in parts."
        )
    return kept


def refuse_source(session: Session, draft: Draft) -> None:
    """Nothing rests on a message that is gone, or is learnt where that is paused."""
    source = draft.source
    conversation = session.get(Conversation, source.conversation_id or "") if source else None
    _refuse_paused(session, draft, conversation)
    if source is None or source.entry_id is None:
        return
    entry = session.scalar(select(Entry).where(Entry.id == source.entry_id, Entry.team_id == draft.team_id))
    key = tombstones.key_of(entry) if entry else None
    marked = key is not None and tombstones.stands(session, draft.team_id, key, draft.audience)
    if entry is None or entry.redacted_at is not None or marked:
        raise Refused("The message it comes from was removed or forgotten; nothing was saved.")
    if draft.origin in LEARNT and not entry.learnable:
        raise Refused("That message is not to be learnt from; nothing was saved.")


def _refuse_paused(session: Session, draft: Draft, conversation: Conversation | None) -> None:
    person_id = draft.author.person_id
    if draft.origin == "explicit":
        if is_paused(session, person_id):
            raise Refused(
                "Remembering is paused for you, so nothing was saved. `/memory resume` turns it on again."
            )
        place = session.get(Place, conversation.place_id) if conversation else None
        if place is not None and not place.learning:
            raise Refused("An admin turned remembering off in this place, so nothing was saved.")
    elif draft.origin in LEARNT:
        learns = not is_paused(session, person_id)
        if conversation is not None:
            learns = may_learn_in(session, person_id, conversation)
        if not learns:
            raise Refused("Learning is paused there; nothing was saved.")


def _refuse_misplaced(session: Session, draft: Draft) -> None:
    """Rules and private notes are for their author alone; nobody writes into another person's memory."""
    own = of_person(draft.author.person_id)
    if draft.kind == "rule" and draft.audience != own:
        raise Refused(
            "A rule holds in a person's own direct messages only; for everybody an admin edits the bot's "
            "profile. Nothing was saved."
        )
    if draft.audience.startswith("person:") and draft.audience != own:
        raise Refused("That is another person's own memory; nothing was saved.")
    if draft.kind == "private" and (draft.audience != own or draft.layer != "fact"):
        raise Refused("A private note is for its author alone; nothing was saved.")
    if draft.audience == TEAM and draft.author.is_guest:
        raise Refused("What guests say does not enter the team's memory; nothing was saved.")
    if draft.subject != TEAM_SUBJECT:
        about = session.get(Person, draft.subject)
        if about is None or about.team_id != draft.team_id:
            raise NotFound("There is no such person; nothing was saved.")


def _withheld_json(value: Any) -> tuple[Any, list[str]]:
    """JSON without the secrets in its texts, and their kinds."""
    if isinstance(value, str):
        found = withhold(clean(value))
        return found.text, list(found.kinds)
    if isinstance(value, list | tuple):
        items = [_withheld_json(item) for item in value]
        return [item for item, _ in items], [kind for _, kinds in items for kind in kinds]
    if isinstance(value, dict):
        pairs = {clean(str(name)): _withheld_json(item) for name, item in value.items()}
        return {name: item for name, (item, _) in pairs.items()}, [
            kind for _, kinds in pairs.values() for kind in kinds
        ]
    return value, []
