"""Drawing: templates in, HTML out. Every value is escaped unless our own markdown made it."""

import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from adapters.web import view
from adapters.web.inline import inline
from adapters.web.markdown import markdown
from adapters.web.talk import Talk, channel_path, direct_path, label
from adapters.web.visitor import CSRF_HEADER, Visitor
from adapters.web.wire import Wire
from bot.messages import CardView, CommandResult, Line

HERE = Path(__file__).parent
STATIC = HERE / "static"
STEP = 50
"""Lines that are shown at first, and that `earlier` adds."""
MOST = 1_000


@dataclass(frozen=True)
class Around:
    """What stands around a talk: who there is, where one can go, who answers."""

    people: list[dict[str, Any]]
    places: list[dict[str, Any]]
    bots: list[dict[str, Any]]
    model: str

    def name_of(self, person: str) -> str:
        """How a person is called."""
        return next((str(row["name"]) for row in self.people if row["id"] == person), label(person))

    @property
    def bot(self) -> str:
        """The bot that is meant when none is named."""
        return str(self.bots[0]["name"]) if self.bots else "the bot"

    def place(self, talk: Talk) -> dict[str, Any] | None:
        """The channel of a talk, if it is one."""
        return next((place for place in self.places if place["name"] == talk.channel), None)


class Drawing:
    """The page and its parts."""

    def __init__(self, boot: str) -> None:
        self._boot = boot
        self._environment = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.globals.update(version=_version(), csrf_header=CSRF_HEADER)
        self._environment.filters.update(
            markdown=markdown,
            inline=_inline,
            origin=view.origin,
            markdown_in=_markdown_in,
            label=label,
            day=view.day,
            clock=view.clock,
            beginning=_beginning,
            hue=_hue,
        )
        self._environment.globals.update(
            channel_path=channel_path,
            direct_path=direct_path,
            chip=view.chip,
            path_as=view.path_as,
            sources_in=view.sources,
            LONG=view.LONG,
        )

    def page(
        self,
        talk: Talk,
        visitor: Visitor,
        around: Around,
        lines: Sequence[Line],
        rows: list[view.Row],
    ) -> str:
        """The whole page of a talk."""
        return self._draw(
            "page.html",
            talk=talk,
            visitor=visitor,
            around=around,
            boot=self._boot,
            here=view.place_chip(talk, around.place(talk), around.name_of(talk.person)),
            me=around.name_of(talk.person),
            lines_html=Markup(self.lines(talk, lines, STEP)[0]),  # noqa: S704 - drawn by our own template
            **_split(rows, ""),
            tries=view.tries(around.people, around.places, around.bots),
        )

    def lines(self, talk: Talk, lines: Sequence[Line], limit: int) -> tuple[str, str]:
        """The talk itself, and a mark that changes when anything in it does."""
        more = len(lines) >= limit and limit < MOST
        html = self._draw(
            "lines.html", talk=talk, groups=view.groups(lines), more=more, limit=limit, step=STEP
        )
        mark = hashlib.blake2b(html.encode("utf-8", "replace"), digest_size=9).hexdigest()
        return f'{html}<input type="hidden" name="mark" value="{mark}">', mark

    def whole(self, talk: Talk, line: Line) -> str:
        """All of one long message."""
        return self._draw("whole.html", talk=talk, line=line)

    def news(self, kind: str, wire: Wire) -> str:
        """One kind of news for a tab; the tab fetches what this leaves empty."""
        if kind == "draft":
            return self._draw("drafts.html", wire=wire)
        if kind == "status":
            return self._draw("status.html", wire=wire)
        return wire.letters.pop(kind, "")

    def memories(self, talk: Talk, rows: list[view.Row], query: str) -> str:
        """What the bot knows here."""
        return self._draw("memories.html", talk=talk, **_split(rows, query))

    def result(self, talk: Talk, result: CommandResult, text: str) -> str:
        """The answer to a command, for its caller only."""
        words, rows = view.answered(result, talk)
        return self._draw("result.html", talk=talk, result=result, words=words, rows=rows, typed=text)

    def reply(self, talk: Talk, text: str, outcome: dict[str, Any]) -> str:
        """An answer that only its asker sees, with what was asked."""
        cards = [CardView(card["id"], card["text"], card["readers"]) for card in outcome.get("cards", ())]
        return self._draw("reply.html", talk=talk, asked=text, outcome=outcome, cards=cards)

    def notice(self, sentence: str) -> str:
        """A sentence about what went wrong."""
        return self._draw("notice.html", sentence=sentence)

    def problem(self, sentence: str) -> str:
        """A page of its own for a sentence."""
        return self._draw("problem.html", sentence=sentence)

    def _draw(self, template: str, **values: Any) -> str:
        return self._environment.get_template(template).render(**values)


def _split(rows: list[view.Row], query: str) -> dict[str, Any]:
    """What holds now, and what is kept as history."""
    return {
        "now": [row for row in rows if not row.state],
        "past": [row for row in rows if row.state],
        "query": query,
    }


def _version() -> str:
    """A mark of the assets, so that a browser keeps them exactly as long as they are the same."""
    digest = hashlib.blake2b(digest_size=6)
    for path in sorted(path for path in STATIC.rglob("*") if path.suffix in (".css", ".js")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _beginning(text: str) -> str:
    return text[: view.LONG]


def _inline(text: str) -> Markup:
    return Markup(inline(text))  # noqa: S704 - all is escaped


def _markdown_in(text: str, talk: Talk) -> Markup:
    return markdown(text, lambda link: view.href(link, talk))


def _hue(name: str) -> int:
    """One of six colours for a person's picture, always the same."""
    return zlib.crc32(name.casefold().encode("utf-8", "replace")) % 6
