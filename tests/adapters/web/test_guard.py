"""Who is answered: this machine, this page, this tab; nobody else."""

import re
from collections.abc import Mapping

import aiohttp
import pytest

from adapters.web.adapter import Web
from bot.errors import BadInput
from tests.adapters.web.conftest import Tab
from tests.adapters.web.small_desk import SmallDesk


def said(desk: SmallDesk) -> list[str]:
    return [line.text for line in desk.talks.get(("#general",), [])]


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "teambot.example.test"},
        {"Host": "127.0.0.1"},
        {"Host": "localhost:1"},
        {"Host": "127.0.0.1.example.test:80"},
        {"X-Forwarded-For": "10.0.0.9"},
        {"X-Forwarded-Host": "teambot.example.test"},
        {"x-forwarded-anything": "1"},
        {"Forwarded": "for=10.0.0.9"},
        {"Via": "1.1 proxy"},
        {"X-Real-IP": "10.0.0.9"},
        {"Origin": "http://evil.example.test"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
    ],
)
async def test_another_host_a_proxy_or_another_site_gets_a_sentence(
    client: aiohttp.ClientSession, address: str, headers: Mapping[str, str]
) -> None:
    for path in ("/", "/as/ada/in/general", "/static/page.js", "/nowhere"):
        async with client.get(f"{address}{path}", headers=headers, allow_redirects=False) as response:
            assert response.status == 403
            text = await response.text()
            assert "Ada" not in text
            assert 'class="problem"' in text


async def test_a_link_from_elsewhere_opens_the_page(client: aiohttp.ClientSession, address: str) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    async with client.get(f"{address}/as/ada/in/general", headers=headers) as response:
        assert response.status == 200


async def test_localhost_is_this_machine_too(client: aiohttp.ClientSession, address: str) -> None:
    async with client.get(address.replace("127.0.0.1", "localhost")) as response:
        assert response.status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": None},
        {"Origin": "null"},
        {"Origin": "http://evil.example.test"},
        {"Origin": "https://127.0.0.1"},
        {"X-CSRF-Token": None},
        {"X-CSRF-Token": ""},
        {"X-CSRF-Token": "0" * 64},
        {"X-CSRF-Token": "ö"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"},
        {"X-Forwarded-For": "127.0.0.1"},
    ],
)
async def test_a_form_that_is_not_ours_does_nothing(
    general: Tab, desk: SmallDesk, headers: dict[str, str | None]
) -> None:
    status, text, _ = await general.post("/say", {"text": "hello"}, **headers)
    assert status == 403
    assert "notice" in text
    assert said(desk) == []


async def test_a_tab_acts_as_its_own_person_only(general: Tab, desk: SmallDesk) -> None:
    elsewhere = general.address + "/as/ben/in/general/say"
    status, text, _ = await general.post(elsewhere, {"text": "hello", "person": "ben"})
    assert (status, said(desk)) == (403, [])
    assert "Reload the page" in text
    await general.post("/say", {"text": "hello", "person": "ben", "as": "ben"})
    assert [line.who for line in desk.talks["#general",]] == ["Ada", "teambot"]


async def test_a_cookie_is_signed_for_one_person(general: Tab, client: aiohttp.ClientSession) -> None:
    cookie = next(iter(client.cookie_jar))
    assert cookie["path"] == "/as/ada"
    assert cookie["httponly"]
    assert cookie["samesite"] == "Strict"
    headers = {"Cookie": f"{cookie.key}={cookie.value}"}
    url = f"{general.address}/as/ben/in/general/lines"
    async with aiohttp.ClientSession() as other, other.get(url, headers=headers) as response:
        assert response.status == 403


async def test_parts_of_the_page_need_the_cookie(client: aiohttp.ClientSession, address: str) -> None:
    for part in ("lines", "lines/l1", "memories"):
        async with client.get(f"{address}/as/ada/in/general/{part}") as response:
            assert response.status == 403
    async with client.get(f"{address}/as/ada/in/general/events") as response:
        assert re.fullmatch(r"event: boot\ndata: \w+\n\n", await response.text())


async def test_every_answer_carries_the_policy(general: Tab) -> None:
    for part in ("", "/lines", "/nothing"):
        _, _, headers = await general.get(part)
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["Cache-Control"] == "no-store"
        assert headers["X-Content-Type-Options"] == "nosniff"


async def test_the_page_has_no_inline_script_or_style(general: Tab) -> None:
    assert "<script>" not in general.html
    assert "style=" not in general.html
    assert "<style" not in general.html
    assert "hx-on" not in general.html
    assert " onclick" not in general.html


async def test_a_database_with_platform_people_shows_a_sentence_and_nobody(
    client: aiohttp.ClientSession, address: str, desk: SmallDesk
) -> None:
    desk.refuses = "This database holds people of Slack, so nobody may act as somebody here."
    for path in ("/", "/as/ada/in/general"):
        async with client.get(f"{address}{path}") as response:
            assert response.status == 403
            text = await response.text()
            assert desk.refuses in text
            assert "Ada" not in text


async def test_a_port_that_is_taken_is_a_sentence(address: str, desk: SmallDesk) -> None:
    with pytest.raises(BadInput, match="--port"):
        await Web(desk.desk, int(address.rpartition(":")[2])).start()
    with pytest.raises(BadInput, match="--port"):
        await Web(desk.desk, 70_000).start()


async def test_stopping_ends_open_streams(desk: SmallDesk, client: aiohttp.ClientSession) -> None:
    web = Web(desk.desk, 0)
    tab = await Tab(client, (await web.start()).rstrip("/"), "/as/ada/in/general").open()
    async with client.get(f"{tab.address}{tab.path}/events") as stream:
        assert (await stream.content.readline()).startswith(b"event: boot")
        await web.stop()
        await stream.content.read()
    assert desk.listeners == []
