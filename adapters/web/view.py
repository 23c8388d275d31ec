"""What the templates show: lines grouped by day and speaker, memories with audience, source and history."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

from adapters.web.talk import Talk, channel_path, direct_path, label, person_path
from bot.messages import CommandResult, Line

LONG = 12_000
"""Characters of a line that are drawn at once; the rest is fetched when somebody wants it."""
_LOCAL_LINK = re.compile(r"/in/(?P<where>[^/#?\s]{1,80})#(?P<message>[\w.:-]{1,120})")
_PAUSE = timedelta(minutes=5)
PRIVATE = "remember that I may leave in March, keep it to yourself"
_ORIGINS = {
    "explicit": "asked to remember",
    "manual": "added by hand",
    "pass": "learnt from talk",
    "extraction": "learnt from older talk",
    "import": "imported",
}
_LAYERS = {"fact": "", "log": "log", "note": "note", "work": "work record"}


@dataclass(frozen=True)
class Chip:
    """Who may read a thing: an icon and words, never a colour alone."""

    kind: str
    words: str


@dataclass(frozen=True)
class Group:
    """Lines that one speaker said in a row."""

    day: str | None
    who: str
    is_bot: bool
    lines: tuple[Line, ...]

    @property
    def at(self) -> datetime:
        """When the first of them was said."""
        return self.lines[0].at


@dataclass(frozen=True)
class Source:
    """Where words come from: quote, who, when, and a link when there is one to open."""

    quote: str
    about: str
    href: str | None


@dataclass(frozen=True)
class Row:
    """One memory as it is shown."""

    id: str
    text: str
    chip: Chip
    about: str
    state: str
    source: Source | None
    undo: str | None = None
    """The change that put it there, if this person made it a moment ago."""


def origin(word: str) -> str:
    """How a memory came to be, in words."""
    return _ORIGINS.get(word, word)


def chip(audience: str, talk: Talk) -> Chip:
    """The chip of an audience such as `team`, `place:#ops` or `person:ada`."""
    kind, _, name = audience.partition(":")
    if kind == "team":
        return Chip("team", "Team")
    if kind == "place":
        shown = name if name.startswith("#") else "a private channel"
        return Chip("place", "Only this channel" if name == talk.channel else f"Only {shown}")
    return Chip("person", f"Only {label(name)}" if name else "Only one person")


def place_chip(talk: Talk, place: dict[str, Any] | None, me: str) -> Chip:
    """Who reads what is said in a talk."""
    if talk.is_direct:
        return Chip("person", f"Only {me}")
    if place and place.get("kind") == "public" and not place.get("external") and place.get("guests") == "no":
        return Chip("team", "Team")
    return Chip("place", "Only this channel")


def answered(result: CommandResult, talk: Talk) -> tuple[str, list[Row]]:
    """A command's answer: its words, and as rows with buttons the memories that these list line by line.

    What a card says is not said twice.
    """
    if any(card.text in result.text for card in result.cards):
        return "", []
    listed = {str(row["id"]): row for row in result.rows if "id" in row and "audience" in row}
    lines, found = [], []
    for line in result.text.split("\n"):
        name = line.rstrip("`").rpartition("`")[2]
        if line.startswith("• ") and name in listed:
            found.append(_row(listed[name], talk))
        else:
            lines.append(line)
    return "\n".join(lines), found


def path_as(person: dict[str, Any], talk: Talk, here: Chip) -> str:
    """Where one lands as another person: in the same talk if they surely take part in it."""
    if talk.is_direct:
        return direct_path(str(person["id"]), talk.bot or "")
    shared = here.kind == "team" and not person["is_guest"]
    return channel_path(str(person["id"]), talk.channel or "") if shared else person_path(str(person["id"]))


def groups(lines: Sequence[Line]) -> list[Group]:
    """Lines as they are drawn: a new group for a new day, another speaker, or after a while."""
    found: list[Group] = []
    previous: Line | None = None
    for line in lines:
        new_day = previous is None or _local(previous.at).date() != _local(line.at).date()
        if previous and not new_day and _same_group(previous, line):
            last = found[-1]
            found[-1] = Group(last.day, last.who, last.is_bot, (*last.lines, line))
        else:
            found.append(Group(day(line.at) if new_day else None, line.who, line.is_bot, (line,)))
        previous = line
    return found


def _same_group(one: Line, other: Line) -> bool:
    same = (one.who, one.is_bot, one.ephemeral) == (other.who, other.is_bot, other.ephemeral)
    return same and other.at - one.at < _PAUSE


def rows(memories: Iterable[dict[str, Any]], talk: Talk, undo: Mapping[str, str]) -> list[Row]:
    """Memories as they are shown; `undo` names the changes that this person may still take back at once."""
    return [replace(_row(memory, talk), undo=undo.get(str(memory["id"]))) for memory in memories]


def _row(memory: dict[str, Any], talk: Talk) -> Row:
    layer = _LAYERS.get(str(memory.get("layer", "")), "")
    origin = _ORIGINS.get(str(memory.get("origin", "")), "")
    kind = str(memory.get("kind") or "")
    words = [layer or (kind if kind in ("rule", "decision", "preference", "event") else ""), origin]
    author = memory.get("author")
    if author:
        words.append(f"by {author}")
    if memory.get("conflict"):
        words.append("another memory disagrees")
    status = str(memory.get("status") or "active")
    return Row(
        id=str(memory["id"]),
        text=str(memory.get("text", "")),
        chip=chip(str(memory.get("audience", "")), talk),
        about=" · ".join(word for word in words if word),
        state="" if status == "active" else status,
        source=_memory_source(memory, talk),
    )


def _memory_source(memory: dict[str, Any], talk: Talk) -> Source | None:
    if not memory.get("quote") and not memory.get("link"):
        return None
    return source({**memory, "text": ""}, talk)


def source(words: dict[str, Any], talk: Talk) -> Source:
    """A source of an answer or of a memory, from whatever of it is known."""
    about = [str(words["author"])] if words.get("author") else []
    if words.get("place"):
        about.append(str(words["place"]))
    moment = words.get("said_at") or words.get("on") or words.get("date") or words.get("created_at")
    if moment:
        about.append(_when(moment))
    if words.get("label"):
        about.append(str(words["label"]))
    said = str(words.get("quote") or words.get("text") or "")
    return Source(said, " · ".join(about), href(str(words.get("link") or ""), talk))


def sources(found: Iterable[dict[str, Any]], talk: Talk, text: str) -> list[Source]:
    """Sources under an answer: those that can be opened or read, else whatever is known of them.

    What the answer's own text links to stands there already.
    """
    shown = [source(words, talk) for words in found if f"[{words.get('link')}]" not in text]
    return [one for one in shown if one.href or one.quote] or [one for one in shown if one.about]


def href(link: str, talk: Talk) -> str | None:
    """Where a link leads on this page: `/in/general#ID` and `/in/dm#ID` lead to the message there."""
    if link.startswith(("https://", "http://")):
        return link
    local = _LOCAL_LINK.fullmatch(link)
    if not local:
        return None
    where, message = local["where"], quote(local["message"], safe="")
    if where == "dm":
        return f"{direct_path(talk.person, talk.bot)}?m={message}#m-{message}" if talk.bot else None
    return f"{channel_path(talk.person, where)}?m={message}#m-{message}"


def _when(moment: Any) -> str:
    if isinstance(moment, datetime):
        return day(moment)
    try:
        return day(datetime.fromisoformat(str(moment)))
    except ValueError:
        return str(moment)


@dataclass(frozen=True)
class Try:
    """Something to try: who says what where."""

    who: str
    where: str
    path: str
    text: str


def tries(
    people: Sequence[dict[str, Any]], places: Sequence[dict[str, Any]], bots: Sequence[dict[str, Any]]
) -> list[Try]:
    """Three things to try, which show what the team shares and what stays with one person."""
    members = [person for person in people if not person["is_guest"]]
    channels = [str(place["name"]) for place in places if place.get("kind") == "public"]
    if not members or not channels or not bots:
        return []
    first, second, bot = members[0], members[min(1, len(members) - 1)], str(bots[0]["name"])
    direct = f"a direct message with {bot}"
    return [
        Try(
            first["name"],
            channels[0],
            channel_path(first["id"], channels[0]),
            "remember: we deploy on Tuesdays",
        ),
        Try(second["name"], direct, direct_path(second["id"], bot), "when do we deploy?"),
        Try(first["name"], direct, direct_path(first["id"], bot), PRIVATE),
    ]


def _local(moment: datetime) -> datetime:
    return moment.astimezone()


def day(moment: datetime) -> str:
    """A day in words that do not change: `Tuesday, 3 March 2026` (names are not taken from the locale)."""
    here = _local(moment)
    return f"{_DAYS[here.weekday()]}, {here.day} {_MONTHS[here.month - 1]} {here.year}"


def clock(moment: datetime) -> str:
    """The time of day."""
    return _local(moment).strftime("%H:%M")


_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
