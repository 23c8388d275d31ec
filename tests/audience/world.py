"""Who may ever see what: the design's table written once more, knowing nothing of the program.

Every message holds a word that stands nowhere else. Where a word was said decides its home, an audience; who
reads something decides which homes may show there.
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

TEAM = "team"
CONSONANTS, VOWELS = "bdfgklmnprtv", "aeiou"
CANARY = re.compile(f"[{CONSONANTS}][{VOWELS}][{CONSONANTS}][{VOWELS}]qux")


def words() -> Iterator[str]:
    """Words that nobody says by chance and that share no beginning."""
    for letters in itertools.product(CONSONANTS, VOWELS, CONSONANTS, VOWELS):
        yield "".join(letters) + "qux"


@dataclass
class Human:
    """A person: their role, and what the platform says of their account."""

    role: str = "member"
    standing: str = "member"

    @property
    def is_member(self) -> bool:
        return self.role != "guest" and self.standing == "member"


@dataclass
class Channel:
    """A channel and what is known of its readers."""

    kind: str = "public"
    external: bool = False
    guests: str = "no"
    members: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Leak:
    """A word that was shown to readers who may not have it."""

    path: str
    word: str
    home: str
    readers: str


@dataclass
class World:
    """People, channels, and the home of every word."""

    people: dict[str, Human]
    channels: dict[str, Channel]
    guests_read_team: bool = False
    homes: dict[str, set[str]] = field(default_factory=dict)
    leaks: list[Leak] = field(default_factory=list)
    looked: dict[str, int] = field(default_factory=dict)
    fresh: Iterator[str] = field(default_factory=words)

    def may_enter(self, who: str, where: str) -> bool:
        """Whether somebody takes part in a channel."""
        channel = self.channels[where]
        return who in channel.members or (channel.kind == "public" and self.people[who].is_member)

    def only_members_read(self, where: str) -> bool:
        """Whether it is sure that everybody who reads a channel is a member of the team."""
        channel = self.channels[where]
        if channel.external or channel.guests == "unknown":
            return False
        guests = channel.guests == "yes" or any(not self.people[name].is_member for name in channel.members)
        return self.guests_read_team or not guests

    def said(self, who: str, where: str, *, ephemeral: bool = False) -> str:
        """The home of a word that somebody says there now."""
        if where == "dm" or ephemeral:
            return f"person:{who}"
        open_to_team = self.channels[where].kind == "public" and self.people[who].is_member
        return TEAM if open_to_team and self.only_members_read(where) else f"place:{where}"

    def readers(self, who: str, where: str, *, ephemeral: bool = False) -> set[str]:
        """The homes that a reply to somebody there may show now."""
        member = self.people[who].is_member
        if where == "dm" or ephemeral:
            return {TEAM, f"person:{who}"} if member else {f"person:{who}"}
        if not member or not self.only_members_read(where):
            return {f"place:{where}"}
        return {TEAM} if self.channels[where].kind == "public" else {TEAM, f"place:{where}"}

    def alone(self, who: str, where: str) -> set[str]:
        """The homes that may show in what one person alone reads while they are in a place."""
        own = self.readers(who, "dm")
        if where == "dm" or not self.people[who].is_member or not self.may_enter(who, where):
            return own
        return own | self.readers(who, where)

    def page(self, who: str, where: str) -> set[str]:
        """The homes that may show in a place's talk on somebody's own page."""
        own = self.readers(who, "dm")
        return own if where == "dm" else own | {f"place:{where}"}

    def everywhere(self, who: str) -> set[str]:
        """The homes that somebody's export may show."""
        entered = {f"place:{where}" for where in self.channels if self.may_enter(who, where)}
        return self.readers(who, "dm") | entered

    def new_word(self, *homes: str) -> str:
        """A word whose homes are these."""
        word = next(self.fresh)
        self.homes[word] = set(homes)
        return word

    def check(self, path: str, shown: str, readers: set[str]) -> None:
        """Notes every word in what was shown that these readers may not have."""
        self.looked[path] = self.looked.get(path, 0) + 1
        for word in set(CANARY.findall(shown.casefold())):
            homes = self.homes.get(word)
            if homes is not None and not homes & readers:
                self.leaks.append(Leak(path, word, ",".join(sorted(homes)), ",".join(sorted(readers))))


def first_world() -> World:
    """Ada the owner, Ben, Dana, Gus the guest, and a channel of every kind."""
    return World(
        people={"ada": Human("owner"), "ben": Human(), "dana": Human(), "gus": Human("guest", "guest")},
        channels={
            "general": Channel(),
            "ops": Channel("private", members={"ada", "ben"}),
            "annex": Channel("private", members={"ada", "dana"}),
            "partner": Channel(external=True, members={"gus"}),
            "lobby": Channel(members={"gus"}),
            "fog": Channel("private", guests="unknown", members={"ben", "dana"}),
        },
    )
