"""What a model proposes to remember, and what code knows while it judges: pure data."""

from dataclasses import dataclass
from datetime import datetime

PROTECTED = ("rule", "private")
"""Kinds of memories that only their author's explicit word changes."""


@dataclass(frozen=True)
class Proposal:
    """One memory as the model proposes it; people, messages and memories are named by small numbers.

    `about`: a person's number, 0 for the team. `replaces`: a shown memory's number, 0 for none. `accepted_in`
    and `accepted_quote`: where somebody agreed to a decision. `since` and `until` are dates in the speaker's
    zone.
    """

    message: int
    quote: str
    text: str
    speech_act: str = "statement"
    about: int = 0
    layer: str = "fact"
    kind: str = "fact"
    topic: str = ""
    importance: int = 3
    certain: bool = True
    since: str = ""
    until: str = ""
    temporary: bool = False
    live: bool = False
    readers: str = "same"
    replaces: int = 0
    accepted_in: int = 0
    accepted_quote: str = ""


@dataclass(frozen=True)
class Said:
    """A person's message, with what the gate says of it now.

    `audience` is the narrower of its own and of what is said there today. `learnable`: its author, place and
    conversation may be learnt from. `gone`: removed, forgotten or marked never to be learnt from. `fresh`: of
    the turn that is looked at; older ones may only be agreed to.
    """

    entry_id: str
    conversation_id: str
    turn_id: str | None
    account_id: str
    person_id: str
    name: str
    zone: str
    text: str
    said_at: datetime
    audience: str
    writes_team: bool = True
    is_guest: bool = False
    learnable: bool = True
    gone: bool = False
    fresh: bool = True
    link: str | None = None


@dataclass(frozen=True)
class Known:
    """A memory as it is now."""

    id: str
    version: int
    bot_id: str | None
    audience: str
    subject: str
    author_id: str
    layer: str
    kind: str
    topic: str
    text: str
    origin: str
    active: bool
    confirmed_at: datetime
    source_id: str | None = None


@dataclass(frozen=True)
class Shown:
    """A memory as the model was shown it."""

    id: str
    version: int


@dataclass(frozen=True)
class PassContext:
    """What proposals are judged by: messages, people and shown memories by the numbers that the model saw.

    `known` are memories as they are now, those shown and those on the same subjects. `people`: number to
    (id, name). `adds_only`: nothing may be replaced.
    """

    bot_id: str
    messages: dict[int, Said]
    people: dict[int, tuple[str, str]]
    shown: dict[int, Shown]
    known: tuple[Known, ...]
    at: datetime
    alone: bool
    adds_only: bool = False


@dataclass(frozen=True)
class Admitted:
    """A proposal that may be kept, resolved; `replaces` is the memory that it makes history."""

    said: Said
    quote: str
    text: str
    subject: str
    audience: str
    layer: str
    kind: str
    topic: str
    importance: int
    confidence: float
    since: datetime | None
    until: datetime | None
    replaces: Known | None = None


@dataclass(frozen=True)
class Confirms:
    """A proposal that says what is known already."""

    said: Said
    quote: str
    known: Known


@dataclass(frozen=True)
class Refused:
    """A proposal that is not kept, and why: a code and no words."""

    reason: str
    said: Said | None = None


Verdict = Admitted | Confirms | Refused
