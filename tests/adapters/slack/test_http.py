"""Slack by HTTP: the same handlers, signed; several workspaces, each with its own encrypted token."""

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import aiohttp
import pytest
from slack_sdk.signature import SignatureVerifier

from adapters.slack.installs import Seal
from adapters.slack.setup import Setup
from bot.errors import BadInput
from memory.people import Workspace
from tests.adapters.slack.server import BOT, TEAM, Answer, words
from tests.adapters.slack.team import ADA, GENERAL, Team, at_work

# slack_sdk exchanges the code with a way of aiohttp that goes away in its next major version.
pytestmark = pytest.mark.filterwarnings("ignore:BasicAuth is deprecated:DeprecationWarning")

SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
KEY = "a long and random secret"


@asynccontextmanager
async def by_http(url: str, **options: Any) -> AsyncIterator[tuple[Team, aiohttp.ClientSession]]:
    """A team that Slack reaches by HTTP."""
    set_up = {"app_token": "", "signing_secret": SECRET, "port": 0, **options}
    async with at_work(url, None, **set_up) as team, aiohttp.ClientSession(address(team)) as session:
        yield team, session


def address(team: Team) -> str:
    """Where the adapter listens."""
    return f"http://127.0.0.1:{team.adapter.port}"


async def deliver(
    session: aiohttp.ClientSession, payload: Answer, *, secret: str = SECRET, at: float | None = None
) -> int:
    """Slack sends an event; what it is answered."""
    body = json.dumps(payload)
    stamp = str(int(at or time.time()))
    signature = SignatureVerifier(secret).generate_signature(timestamp=stamp, body=body)
    headers = {
        "Content-Type": "application/json",
        "X-Slack-Request-Timestamp": stamp,
        "X-Slack-Signature": str(signature),
    }
    async with session.post("/slack/events", data=body, headers=headers) as answer:
        return answer.status


async def test_a_signed_event_is_answered_and_others_are_not(fresh_sqlite: str) -> None:
    async with by_http(fresh_sqlite) as (team, session):
        message = team.slack.put(GENERAL, ADA, f"<@{BOT}> hello")
        event = team.slack.event(GENERAL, message)
        assert await deliver(session, event, secret="another secret") == 401
        assert await deliver(session, event, at=time.time() - 3_600) == 401
        assert await deliver(session, event) == 200
        assert await deliver(session, event) == 200
        await team.slack.until(lambda: team.slack.done(GENERAL))
        await team.quiet()
        assert [words(one) for one in team.slack.replies(GENERAL)] == ["ok"]


async def test_nothing_is_asked_of_slack_for_each_event(fresh_sqlite: str) -> None:
    async with by_http(fresh_sqlite) as (team, session):
        for number in range(3):
            message = team.slack.put(GENERAL, ADA, f"nobody is meant {number}")
            assert await deliver(session, team.slack.event(GENERAL, message)) == 200
        assert len(team.slack.called("auth.test")) == 1


async def test_a_workspace_installs_itself_when_it_is_admitted(database_url: str) -> None:
    oauth = {"client_id": "1.2", "client_secret": "x", "secret": KEY, "bot_token": ""}
    async with by_http(database_url, admitted=(TEAM,), **oauth) as (team, session):
        assert team.adapter.rooms == {}
        assert "xoxb-installed" not in str(await install(team, session, TEAM))
        assert TEAM in team.adapter.rooms
        kept = await team.desk.tokens("slack")
        assert "xoxb" not in str(kept)
        assert Seal(KEY).opened(kept[TEAM]) == "xoxb-installed"
        message = team.slack.put(GENERAL, ADA, f"<@{BOT}> hello")
        assert await deliver(session, team.slack.event(GENERAL, message)) == 200
        await team.slack.until(lambda: team.slack.done(GENERAL))
        await deliver(session, team.slack.wrapped({"type": "app_uninstalled"}))
        await team.slack.until(lambda: TEAM not in team.adapter.rooms)
        for _ in range(100):
            if not await team.desk.tokens("slack"):
                break
        assert await team.desk.tokens("slack") == {}


async def test_a_workspace_that_nobody_admitted_is_turned_away(fresh_sqlite: str) -> None:
    oauth = {"client_id": "1.2", "client_secret": "x", "secret": KEY, "bot_token": ""}
    async with by_http(fresh_sqlite, admitted=(TEAM,), **oauth) as (team, session):
        assert "not admitted" in await install(team, session, "T0STRANGER")
        assert team.slack.called("oauth.v2.access")
        assert team.adapter.rooms == {}
        known = await team.desk.database.read(lambda session: session.query(Workspace).count())
        assert known == 1


async def install(team: Team, session: aiohttp.ClientSession, workspace: str) -> str:
    """Somebody clicks through the installation."""
    granted = {
        "access_token": "xoxb-installed",
        "token_type": "bot",
        "bot_user_id": BOT,
        "app_id": "A0APP",
        "team": {"id": workspace, "name": "Team"},
        "authed_user": {"id": ADA},
        "scope": "chat:write",
        "is_enterprise_install": False,
    }
    team.slack.faults["oauth.v2.access"] = [lambda _: {"ok": True, **granted}]
    async with session.get("/slack/install") as page:
        found = (await page.text()).partition('href="https://slack.com/oauth')[2].partition('"')[0]
        state = parse_qs(urlsplit(found.replace("&amp;", "&")).query)["state"][0]
        cookie = page.headers["Set-Cookie"].partition(";")[0]
    where = f"/slack/oauth_redirect?code=1&state={state}"
    async with session.get(where, headers={"Cookie": cookie}) as page:
        return await page.text()


async def test_the_library_reads_no_environment(fresh_sqlite: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET", "SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET"):
        monkeypatch.setenv(name, "from elsewhere")
    async with by_http(fresh_sqlite) as (team, session):
        assert team.adapter.app.oauth_flow is None
        message = team.slack.put(GENERAL, ADA, f"<@{BOT}> hello")
        assert await deliver(session, team.slack.event(GENERAL, message)) == 200
        await team.slack.until(lambda: team.slack.done(GENERAL))


def test_a_token_is_sealed_and_needs_its_secret() -> None:
    sealed = Seal(KEY).sealed("xoxb-1")
    assert "xoxb" not in sealed
    with pytest.raises(BadInput, match="TEAMBOT_SECRET"):
        Seal("another long secret").opened(sealed)
    with pytest.raises(BadInput, match="TEAMBOT_SECRET"):
        Seal("short")


def test_slack_needs_a_way_to_be_reached() -> None:
    with pytest.raises(BadInput, match="SLACK_APP_TOKEN"):
        Setup(bot_token="xoxb-1")
    assert "xoxb" not in str(Setup(bot_token="xoxb-1", app_token="xapp-1"))
