"""What every request passes first: this machine only, this page only, and errors that are sentences."""

import logging
from collections.abc import Awaitable, Callable

from aiohttp import web
from aiohttp.typedefs import Middleware

from bot.errors import BadInput, BotError, ModelError, NotAdmitted, NotAllowed, Unknown

logger = logging.getLogger(__name__)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Show = Callable[[web.Request, int, str], web.StreamResponse]

MAX_BODY = 16 * 1024 * 1024
_FORWARDED = ("Forwarded", "Via", "X-Real-IP", "X-Client-IP", "True-Client-IP", "CF-Connecting-IP")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
_STATUS: tuple[tuple[type[BotError], int], ...] = (
    (Unknown, 404),
    (NotAllowed, 403),
    (NotAdmitted, 403),
    (ModelError, 503),
    (BadInput, 422),
)
_PLAIN = {
    404: "There is no such page here.",
    405: "This address does not do that.",
    413: "That is more than one message can hold. Nothing was sent; your text is still in the box.",
}


async def add_headers(_request: web.Request, response: web.StreamResponse) -> None:
    """What every answer carries, streams included."""
    response.headers.update(HEADERS)
    response.headers.setdefault("Cache-Control", "no-store")


def refusal(request: web.Request, port: int) -> str | None:
    """Why a request is not answered: another host's name, a proxy, or another site's page."""
    names = {name.lower() for name in request.headers}
    if any(name.lower() in names for name in _FORWARDED) or any(n.startswith("x-forwarded") for n in names):
        return "This page is for the machine it runs on: it does not answer through a proxy."
    hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
    host = request.headers.getall("Host", [])
    if len(host) != 1 or host[0].lower() not in hosts:
        return f"This page answers at http://127.0.0.1:{port} only."
    origin = request.headers.get("Origin")
    if origin is None and request.method not in ("GET", "HEAD"):
        return "A form must say which page it comes from."
    if origin is not None and origin.lower() != f"http://{host[0].lower()}":
        return "This was sent by another page, so it was not done."
    site, mode = request.headers.get("Sec-Fetch-Site"), request.headers.get("Sec-Fetch-Mode")
    if site in ("cross-site", "same-site") and (mode != "navigate" or request.method != "GET"):
        return "This was asked for by another site, so it is not answered."
    return None


def guards(port: int, show: Show) -> list[Middleware]:
    """The middlewares, outermost first; `show` draws an error for the page or for one of its parts."""

    @web.middleware
    async def speak(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            response = await handler(request)
        except web.HTTPException as error:
            if error.status < 400:
                raise
            response = show(
                request, error.status, _PLAIN.get(error.status, "That request could not be read.")
            )
        except BotError as error:
            response = show(request, _status(error), str(error))
        except ConnectionError:
            raise
        except Exception as error:
            logger.error("web request failed: %s at %s", type(error).__name__, request.match_info.route.name)
            response = show(request, 500, _sentence(error))
        return response

    @web.middleware
    async def stay_home(request: web.Request, handler: Handler) -> web.StreamResponse:
        reason = refusal(request, port)
        if reason:
            raise NotAllowed(reason)
        return await handler(request)

    return [speak, stay_home]


def _status(error: BotError) -> int:
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def _sentence(error: Exception) -> str:
    """The store's errors are sentences too; anything else stays in the log."""
    if type(error).__module__ == "memory.errors":
        return str(error)
    return "Something went wrong here, so it was not done. What you wrote is kept; please try again."
