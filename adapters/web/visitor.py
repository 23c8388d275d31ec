"""Who a tab is: chosen by its path, held by a signed cookie of that path, proven on every request after."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from urllib.parse import quote

from aiohttp import web

from bot.errors import NotAllowed

CSRF_HEADER = "X-CSRF-Token"


@dataclass(frozen=True)
class Visitor:
    """A signed-in tab: the person it acts as, and the token that its forms carry."""

    person: str
    csrf: str


class Doorkeeper:
    """Signs cookies and form tokens; the key lives as long as the process."""

    def __init__(self, port: int) -> None:
        self._key = secrets.token_bytes(32)
        self.cookie = f"teambot-{port}"
        self.boot = self._sign("boot")[:12]

    def greet(self, request: web.Request, person: str) -> tuple[Visitor, str | None]:
        """The visitor of a page that is opened, and the cookie to set if the tab has none yet."""
        nonce = self._nonce(request, person)
        if nonce:
            return self._visitor(person, nonce), None
        nonce = secrets.token_urlsafe(16)
        return self._visitor(person, nonce), f"{nonce}.{self._sign('person', person, nonce)}"

    def know(self, request: web.Request, person: str) -> Visitor:
        """The visitor of every request that a page makes; its cookie must be there."""
        nonce = self._nonce(request, person)
        if not nonce:
            raise NotAllowed("This tab is not signed in any more. Reload the page; what you wrote is kept.")
        return self._visitor(person, nonce)

    def knows(self, request: web.Request, person: str) -> bool:
        """Whether a tab is signed in as that person."""
        return self._nonce(request, person) is not None

    def check_form(self, request: web.Request, visitor: Visitor) -> None:
        """Refuses a form that our own page did not make."""
        token = request.headers.get(CSRF_HEADER, "")
        if not hmac.compare_digest(token.encode(), visitor.csrf.encode()):
            raise NotAllowed("This form is not from this page, or from before a restart. Reload the page.")

    def remember(self, response: web.StreamResponse, person: str, value: str) -> None:
        """Sets the cookie for that person's pages only, so that two tabs can be two people."""
        response.set_cookie(
            self.cookie, value, path=f"/as/{quote(person, safe='')}", httponly=True, samesite="Strict"
        )

    def _nonce(self, request: web.Request, person: str) -> str | None:
        nonce, _, signature = request.cookies.get(self.cookie, "").partition(".")
        expected = self._sign("person", person, nonce)
        return nonce if nonce and hmac.compare_digest(signature.encode(), expected.encode()) else None

    def _visitor(self, person: str, nonce: str) -> Visitor:
        return Visitor(person, self._sign("form", person, nonce))

    def _sign(self, *parts: str) -> str:
        return hmac.new(self._key, "\x1f".join(parts).encode(), hashlib.sha256).hexdigest()
