"""The page in front of a small desk, and somebody who talks HTTP with it."""

import io
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

import aiohttp
import pytest

from adapters.web.adapter import Web
from adapters.web.visitor import CSRF_HEADER
from tests.adapters.web.small_desk import SmallDesk


@pytest.fixture
def desk() -> SmallDesk:
    """Ada, Ben, #general and a bot."""
    return SmallDesk()


@pytest.fixture
async def address(desk: SmallDesk) -> AsyncIterator[str]:
    """The page's address while it is served."""
    web = Web(desk.desk, 0)
    yield (await web.start()).rstrip("/")
    await web.stop()


@dataclass
class Tab:
    """A browser's tab without a browser: cookies, form token and origin of one person's page."""

    client: aiohttp.ClientSession
    address: str
    path: str
    token: str = ""
    html: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    async def open(self) -> "Tab":
        """Opens the page as a person does."""
        status, self.html, _ = await self.get("")
        assert status == 200, self.html
        found = re.search(rf'{CSRF_HEADER}&#34;: &#34;(\w+)|"{CSRF_HEADER}": "(\w+)"', self.html)
        assert found
        self.token = found[1] or found[2]
        return self

    async def get(self, part: str, **headers: str) -> tuple[int, str, Mapping[str, str]]:
        """Asks for a part of the page."""
        url = f"{self.address}{self.path}{part}"
        async with self.client.get(url, headers=headers, allow_redirects=False) as response:
            return response.status, await response.text(), dict(response.headers)

    async def post(
        self, part: str, form: dict[str, str] | None = None, **headers: str | None
    ) -> tuple[int, str, Mapping[str, str]]:
        """Sends a form as the page's own script does; headers given as None are left out."""
        sent = {"Origin": self.address, "HX-Request": "true", CSRF_HEADER: self.token, **headers}
        kept = {name: value for name, value in sent.items() if value is not None}
        url = part if part.startswith("http") else f"{self.address}{self.path}{part}"
        kept["Content-Type"] = "application/x-www-form-urlencoded"
        body = io.BytesIO(urlencode(form or {}).encode())
        async with self.client.post(url, data=body, headers=kept, allow_redirects=False) as response:
            return response.status, await response.text(), dict(response.headers)


@pytest.fixture
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    """A client that keeps cookies of 127.0.0.1."""
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as client:
        yield client


@pytest.fixture
async def general(client: aiohttp.ClientSession, address: str) -> Tab:
    """Ada's tab in #general."""
    return await Tab(client, address, "/as/ada/in/general").open()


@pytest.fixture
async def direct(client: aiohttp.ClientSession, address: str) -> Tab:
    """Ada's tab with the bot."""
    return await Tab(client, address, "/as/ada/with/teambot").open()
