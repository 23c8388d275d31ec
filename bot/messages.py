"""The neutral words between platforms and the bot: what comes in, what goes out, and both protocols."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

PlaceKind = Literal["dm", "public", "private"]
Presence = Literal["no", "yes", "unknown"]
Standing = Literal["member", "guest", "external", "deactivated", "unmapped"]
Rank = Literal["owner", "admin", "member"]


@dataclass(frozen=True)
class Address:
    """Where on a platform: a channel or direct message, and a thread in it."""

    platform: str
    workspace: str
    channel: str
    thread: str | None = None


@dataclass(frozen=True)
class Author:
    """Who, as the platform says it; names are labels."""

    id: str
    name: str
    standing: Standing = "member"
    zone: str | None = None
    rank: Rank | None = None
    """Who they are among those who run the workspace; nothing where the platform was not asked."""


@dataclass(frozen=True)
class Surroundings:
    """What the platform says of a place at this moment."""

    kind: PlaceKind
    name: str = ""
    external: bool = False
    guests: Presence = "no"


@dataclass(frozen=True)
class Attachment:
    """A file of a message, fetched already."""

    name: str
    media_type: str
    size: int
    data: bytes | None = None
    problem: str | None = None


@dataclass(frozen=True)
class Message:
    """One message by a person. `addressed`: the bot is meant; otherwise it is context only.

    `ephemeral`: only the author sees message and reply. `bot` names which bot is meant where several are.
    """

    address: Address
    id: str
    author: Author
    place: Surroundings
    text: str
    said_at: datetime
    addressed: bool = True
    ephemeral: bool = False
    bot: str | None = None
    link: str | None = None
    files: tuple[Attachment, ...] = ()


@dataclass(frozen=True)
class Edited:
    """A person changed the text of a message."""

    address: Address
    message_id: str
    text: str
    at: datetime


@dataclass(frozen=True)
class Deleted:
    """A message is gone from the platform."""

    address: Address
    message_id: str


@dataclass(frozen=True)
class Accepted:
    """A message that is committed: nothing is told to the platform before.

    `turn_id` is the workflow that will answer (none for talk not addressed to the bot, and for a repeat).
    """

    entry_id: str
    conversation_id: str
    turn_id: str | None
    repeated: bool = False


@dataclass(frozen=True)
class CommandCall:
    """A slash command, menu, button or form, by the person whom the platform names."""

    address: Address
    author: Author
    place: Surroundings
    name: str
    arguments: dict[str, str] = field(default_factory=dict)
    bot: str | None = None


@dataclass(frozen=True)
class CardView:
    """A card as shown: exact words, exact readers, and the id that is pressed."""

    id: str
    text: str
    readers: str
    action: str = ""


@dataclass(frozen=True)
class CommandResult:
    """What a command answers, for its caller only: words, rows as data, cards, and a way back."""

    text: str
    rows: tuple[dict[str, Any], ...] = ()
    cards: tuple[CardView, ...] = ()
    undo: str | None = None
    file: Attachment | None = None
    """Something longer, beside the answer: for the caller only as well."""


@dataclass(frozen=True)
class Post:
    """Something to be shown on a platform. `key` marks it there, so that it is found again after a crash.

    `asker` is the platform id of the person who asked; an `ephemeral` post is shown to them only.
    """

    key: str
    address: Address
    text: str
    asker: str | None = None
    ephemeral: bool = False
    persona: str | None = None
    sources: tuple[dict[str, str], ...] = ()
    cards: tuple[CardView, ...] = ()
    final: bool = True
    failed: bool = False


class Platform(Protocol):
    """What a platform does for the bot. Text is always the whole text so far."""

    name: str

    async def start(self, post: Post) -> str:
        """Shows a new message and returns its id on the platform."""

    async def update(self, post: Post, message_id: str) -> None:
        """Shows more text in it; may be skipped when a newer text follows soon."""

    async def finish(self, post: Post, message_id: str) -> str:
        """Makes it the final message (replacing what stands there) and returns its id."""

    async def find(self, post: Post) -> str | None:
        """The id of the message that carries the post's key, if the platform has it."""

    async def remove(self, address: Address, message_id: str) -> None:
        """Takes a message of the bot away."""


class Door(Protocol):
    """What a platform may ask of the bot."""

    async def accept(self, message: Message) -> Accepted:
        """Commits a message; its turn is on the way when this returns."""

    async def edited(self, change: Edited) -> None:
        """Follows an edit."""

    async def deleted(self, change: Deleted) -> None:
        """Follows a deletion, also of a message that was never seen."""

    async def opened(
        self, address: Address, author: Author, place: Surroundings, *, bot: str | None = None
    ) -> None:
        """A person opened the talk or started to type: the prompt may be prepared."""

    async def command(self, call: CommandCall) -> CommandResult:
        """Runs a command with the rights that its caller has now."""

    async def typed(self, call: CommandCall, text: str) -> CommandResult:
        """Runs a command that was typed as text, such as `/memory show`."""

    async def stop_turn(
        self, address: Address, author: Author, place: Surroundings, bot: str | None = None
    ) -> bool:
        """Stops the turn that runs there, if that person may; says whether one was running."""

    async def admit(self, platform: str, workspace: str, name: str = "") -> None:
        """Admits a workspace to the team: the installer configured its token."""

    async def keep_token(self, platform: str, workspace: str, sealed: str | None) -> None:
        """Keeps an encrypted token of an admitted workspace, or drops it."""

    async def tokens(self, platform: str) -> dict[str, str]:
        """The encrypted tokens by workspace."""

    async def surroundings_changed(self, address: Address, place: Surroundings) -> None:
        """Follows a place that opened, closed or was renamed."""

    async def person_changed(self, address: Address, author: Author) -> None:
        """Follows a person whose name or standing changed."""

    async def engaged(self, address: Address) -> str | None:
        """The name of the bot that takes part in that thread, if one does."""

    async def known(self, address: Address, message_id: str) -> bool:
        """Whether a message was taken in."""

    async def heard(self, platform: str, workspace: str) -> tuple[str | None, tuple[Address, ...]]:
        """The newest message taken in there, and the places and threads that were used lately."""

    async def bot_names(self, address: Address) -> tuple[str, ...]:
        """The bots that everybody there may name."""

    async def again(self, address: Address, author: Author, place: Surroundings, key: str) -> Message:
        """The message behind a reply that failed, to be accepted once more by whoever wrote it."""

    async def withdraw(self, address: Address, author: Author, place: Surroundings, key: str) -> None:
        """Takes a reply away, from the platform and from what is kept; its asker and admins may."""

    async def rated(
        self, address: Address, author: Author, place: Surroundings, key: str, *, good: bool
    ) -> None:
        """Keeps whether a reply helped its reader."""


Listener = Callable[[dict[str, Any]], Awaitable[None]]


@dataclass(frozen=True)
class Line:
    """One line of a talk as its readers see it on the page. `sources` and `cards` belong to bot lines."""

    id: str
    who: str
    is_bot: bool
    text: str
    at: datetime
    message_id: str = ""
    status: str = "sent"
    ephemeral: bool = False
    edited: bool = False
    removed: bool = False
    sources: tuple[dict[str, str], ...] = ()
    cards: tuple[CardView, ...] = ()


@dataclass(frozen=True)
class Local:
    """A local person acting somewhere: `where` is `dm` or a channel such as `#general`."""

    person: str
    where: str
    thread: str | None = None
    bot: str | None = None
    ephemeral: bool = False


class Desk(Door, Protocol):
    """The local platform's side: what the page and the command line use. Acting as somebody is refused in a
    database that holds accounts of other platforms."""

    async def say(self, local: Local, text: str, *, overheard: bool = False) -> Accepted:
        """Commits a local message (its id is made here)."""

    async def outcome(
        self, accepted: Accepted, *, settle: bool = False, timeout: float = 300.0
    ) -> dict[str, Any]:
        """Waits until a message is covered by a sent reply (and, to settle, its memory pass is done); the
        object that `teambot say --json` prints."""

    async def run_typed(self, local: Local, text: str) -> CommandResult:
        """Runs a typed command of a local person."""

    async def edit(self, local: Local, message_id: str, text: str | None) -> None:
        """Changes (or with None deletes) a local person's own message."""

    async def people(self) -> list[dict[str, Any]]:
        """Local people: {name, role, is_guest}."""

    async def places(self, person: str) -> list[dict[str, Any]]:
        """Channels that a person takes part in: {name, kind, external, members, guests}."""

    async def bots(self, person: str) -> list[dict[str, Any]]:
        """Bots that a person may talk to: {name, title, description}."""

    async def set_person(self, name: str, *, guest: bool | None = None) -> dict[str, Any]:
        """Creates or updates a local person; None leaves it as it is."""

    async def set_place(
        self,
        name: str,
        *,
        private: bool | None = None,
        external: bool | None = None,
        members: tuple[str, ...] | None = None,
    ) -> dict[str, Any]:
        """Creates or updates a local channel; None leaves it as it is."""

    async def lines(self, local: Local, *, before: str | None = None, limit: int = 50) -> list[Line]:
        """The talk there, oldest first, as that person may read it."""

    async def memories(self, local: Local, query: str | None = None) -> list[dict[str, Any]]:
        """What the readers of a reply to that person there may read, as rows (`query`: the tool's search)."""

    async def prompt(self, local: Local, text: str) -> dict[str, Any]:
        """The request that a message would send: {request, sections}; stores and sends nothing."""

    async def listen(self, local: Local, listener: Listener) -> Callable[[], None]:
        """Calls the listener with {type: draft|line|status|memory, …} there, until the result is called."""

    async def open_local(self, local: Local) -> None:
        """A local person opened the talk or types."""

    async def stop_local(self, local: Local) -> bool:
        """Stops the answer that is made there; says whether there was one."""

    async def usage(self, by: str, days: int) -> list[dict[str, Any]]:
        """What models used and cost, grouped by day, bot, place, person or tag."""

    async def health(self) -> list[dict[str, Any]]:
        """What `doctor` says: {ok, about, text, remedy}."""

    def model_name(self) -> str:
        """The model that answers, `offline` when none is connected."""
