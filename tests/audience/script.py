"""Dialogues as data: what people say, type, change and look at, and random ones."""

from dataclasses import dataclass
from typing import Any, get_args

from hypothesis import strategies as st

from tests.audience.flips import Flip, What

PEOPLE = ("ada", "ben", "dana", "gus")
PLACES = ("general", "ops", "annex", "partner", "lobby", "fog")
MOMENTS = (
    "claim", "model:0", "asked", "drafted", "tools:0", "tool", "stop:0", "model:1", "deliver", "remember",
    "remembering",
)  # fmt: skip
"""When the world may change while a turn runs: before a step, or in the middle of one."""
CALLS = (
    "remember", "remember mine", "remember rule", "remember quietly", "note", "append", "correct",
    "archive", "share", "forget", "forget words", "search", "recall", "list mine", "list team", "flip",
    "pause",
)  # fmt: skip
COMMANDS = (
    "show", "show team", "search", "source", "add", "add team", "add me", "note add", "note list",
    "note delete", "edit", "archive", "undo", "undo memory", "undo change", "forget", "share", "confirm",
    "confirm card", "cancel card", "policy", "export",
)  # fmt: skip


LAUNDERING = ("", "", "text", "topic", "topic about", "wider", "replaces", "text log")
"""Where a hostile model hides what it was shown, in what it wants to be remembered."""
_WHO, _WHERE = st.sampled_from(PEOPLE), st.sampled_from(("dm", *PLACES))
_NUMBER, _SELDOM = st.integers(0, 11), st.sampled_from((False, False, False, True))


@dataclass(frozen=True)
class Say:
    """A message, what the model is told to do with it, and what changes meanwhile.

    `calls` are the tool calls of the first answers, a tuple for each step; `target` is which memory they
    name, whoever's it is. `later`: its turn runs only when the next message comes.
    """

    who: str
    where: str
    calls: tuple[tuple[str, ...], ...] = ()
    flips: tuple[tuple[str, Flip], ...] = ()
    target: int = 0
    ephemeral: bool = False
    overheard: bool = False
    later: bool = False
    drafts: bool = False
    whole: bool = False
    thread: str | None = None
    launder: str = ""


@dataclass(frozen=True)
class Type:
    """A typed command; `target` is which memory, change or card it names, whoever's it is."""

    who: str
    where: str
    command: str
    target: int = 0


@dataclass(frozen=True)
class Change:
    """The world changes between messages."""

    flip: Flip


@dataclass(frozen=True)
class Rewrite:
    """Somebody edits or deletes the message of theirs with that number."""

    which: int
    delete: bool = False


@dataclass(frozen=True)
class Listen:
    """Somebody opens the page of a place and keeps it open."""

    who: str
    where: str


@dataclass(frozen=True)
class Look:
    """Somebody looks at everything that a place shows them."""

    who: str
    where: str


Op = Say | Type | Change | Rewrite | Listen | Look


def scripts(longest: int = 9) -> st.SearchStrategy[list[Op]]:
    """Random dialogues."""
    other: st.SearchStrategy[Any] = st.one_of(
        st.builds(Type, who=_WHO, where=_WHERE, command=st.sampled_from(COMMANDS), target=_NUMBER),
        st.builds(Type, who=_WHO, where=_WHERE, command=st.sampled_from(COMMANDS), target=_NUMBER),
        st.builds(Change, flip=_flips()),
        st.builds(Rewrite, which=_NUMBER, delete=st.booleans()),
        st.builds(Listen, who=_WHO, where=_WHERE),
        st.builds(Look, who=_WHO, where=_WHERE),
    )
    return st.lists(st.one_of(sayings(), sayings(), other), min_size=3, max_size=longest)


@st.composite
def sayings(draw: st.DrawFn) -> Say:
    """A message; what changes meanwhile is mostly about its place and its author."""
    who, where = draw(_WHO), draw(_WHERE)
    changes = draw(st.lists(st.tuples(st.sampled_from(MOMENTS), _flips(who, where)), max_size=2))
    calls = st.lists(st.sampled_from(CALLS), min_size=1, max_size=3).map(tuple)
    return Say(
        who=who,
        where=where,
        calls=tuple(draw(st.lists(calls, max_size=2))),
        flips=tuple(changes),
        target=draw(_NUMBER),
        ephemeral=draw(_SELDOM),
        overheard=draw(_SELDOM),
        later=draw(_SELDOM),
        drafts=draw(_SELDOM),
        whole=draw(_SELDOM),
        thread=draw(st.sampled_from((None, None, None, "t1"))),
        launder=draw(st.sampled_from(LAUNDERING)),
    )


def _flips(who: str | None = None, where: str | None = None) -> st.SearchStrategy[Flip]:
    """Changes, mostly of that person and that place."""
    there = st.just(where) if where in PLACES else st.sampled_from(PLACES)
    them = _WHO if who is None else st.one_of(st.just(who), _WHO)
    return st.builds(
        Flip,
        what=st.sampled_from(get_args(What)),
        where=st.one_of(there, there, st.sampled_from(PLACES)),
        who=them,
        told=st.booleans(),
    )
