"""Who people are and who reads a place, by Slack's flags of now, on every path."""

import asyncio
import json

import pytest
from sqlalchemy import select

from adapters.slack.people import author_of, standing
from memory.conversations import Entry
from memory.people import Account, Person
from memory.places import Place
from tests.adapters.slack.server import BOT, TEAM, Slack, running
from tests.adapters.slack.team import (
    ADA,
    BEN,
    DANA,
    EVE,
    GENERAL,
    OPS,
    SHARED,
    Team,
    at_work,
    peopled,
    working,
)

CANARY = "marmalade"


@pytest.mark.parametrize(
    ("user", "expected"),
    [
        ({"id": "U1", "team_id": "T1"}, "member"),
        ({"id": "U1", "team_id": "T1", "deleted": True, "is_restricted": True}, "deactivated"),
        ({"id": "U1", "team_id": "T1", "is_restricted": True}, "guest"),
        ({"id": "U1", "team_id": "T1", "is_restricted": True, "is_ultra_restricted": True}, "guest"),
        ({"id": "U1", "team_id": "T2"}, "external"),
        ({"id": "U1", "team_id": "T1", "is_stranger": True}, "external"),
        ({"id": "U1", "team_id": "T2", "enterprise_user": {"teams": ["T1", "T2"]}}, "member"),
        ({"id": "U1", "team_id": "T1", "is_bot": True}, "unmapped"),
    ],
)
def test_what_a_person_is_to_the_workspace(user: dict[str, object], expected: str) -> None:
    assert standing(user, "T1") == expected


def test_those_who_run_the_workspace_run_the_bot() -> None:
    assert author_of({"id": "U1", "is_primary_owner": True, "is_owner": True}, "T1").rank == "owner"
    assert author_of({"id": "U1", "is_owner": True}, "T1").rank == "admin"
    assert author_of({"id": "U1", "is_admin": True}, "T1").rank == "admin"
    assert author_of({"id": "U1"}, "T1").rank == "member"


async def role_of(team: Team, user: str) -> str:
    """The role of somebody as it is kept."""
    found = await team.desk.database.read(
        lambda session: session.scalar(
            select(Person.role)
            .join(Account, Account.person_id == Person.id)
            .where(Account.external_id == user)
        )
    )
    return str(found)


async def audience_of(team: Team, text: str) -> str:
    """The audience of what somebody said."""
    found = await team.desk.database.read(
        lambda session: session.scalar(select(Entry.audience).where(Entry.text == text))
    )
    return str(found).split(":", 1)[0]


async def share(team: Team) -> None:
    """Ada shares something from her direct message: the exact words and readers are shown first."""
    told = await team.slash("D0ADA", ADA, "/memory", f"add share:team We like {CANARY}")
    card = next(
        element["value"]
        for block in told["blocks"]
        for element in block.get("elements", [])
        if element.get("action_id") == "tb:confirm"
    )
    before = len(team.slack.hooks)
    await team.press("D0ADA", ADA, "tb:confirm", card)
    await team.slack.until(lambda: len(team.slack.hooks) > before)


async def prompt_of(team: Team, channel: str, user: str) -> str:
    """What the model is shown when somebody asks there."""
    await team.ask(channel, user, "what do you know?")
    return json.dumps(team.desk.model.bodies[-1])  # type: ignore[attr-defined]


async def test_account_kind_by_path(database_url: str) -> None:
    async with at_work(database_url) as team:
        await team.slash(GENERAL, ADA, "/memory", f"add share:team We like {CANARY}")
        for channel, user, reads in (
            (GENERAL, BEN, True),
            ("D0BEN", BEN, True),
            (OPS, BEN, True),
            ("D0DANA", DANA, False),
            (SHARED, ADA, False),
            (SHARED, EVE, False),
            ("D0EVE", EVE, False),
        ):
            assert (CANARY in await prompt_of(team, channel, user)) is reads, (channel, user)
        for user, reads in ((BEN, True), (DANA, False), (EVE, False)):
            told = await team.slash(f"D{user[1:]}", user, "/memory", f"search {CANARY}")
            assert (f"We like {CANARY}" in str(told["blocks"])) is reads, user
        assert await role_of(team, ADA) == "owner"
        assert await role_of(team, BEN) == "member"


async def test_what_is_said_has_the_audience_of_its_place(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite) as team:
        for channel, user, audience in (
            (GENERAL, ADA, "team"),
            (OPS, ADA, "place"),
            (SHARED, ADA, "place"),
            ("D0ADA", ADA, "person"),
            ("D0EVE", EVE, "person"),
        ):
            text = f"said in {channel} by {user}"
            await team.ask(channel, user, text)
            assert await audience_of(team, text) == audience


async def test_a_guest_who_comes_closes_the_team_memory_of_a_channel(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite) as team:
        await team.slash(GENERAL, ADA, "/memory", f"add share:team We like {CANARY}")
        assert CANARY in await prompt_of(team, GENERAL, ADA)
        came = {"type": "member_joined_channel", "user": DANA, "channel": GENERAL}
        await team.slack.tell(team.slack.wrapped(came))
        await place_is(team, GENERAL, "guests", "yes")
        assert CANARY not in await prompt_of(team, GENERAL, ADA)
        await team.slack.tell(team.slack.wrapped({**came, "type": "member_left_channel"}))
        await place_is(team, GENERAL, "guests", "no")
        assert CANARY in await prompt_of(team, GENERAL, ADA)


async def place_is(team: Team, channel: str, flag: str, value: object) -> None:
    """Waits until a channel is known to be so."""

    async def now() -> object:
        return await team.desk.database.read(
            lambda session: session.scalar(select(getattr(Place, flag)).where(Place.channel == channel))
        )

    for _ in range(200):
        if await now() == value:
            return
        await asyncio.sleep(0.02)
    assert await now() == value


async def test_a_channel_that_is_shared_closes_its_team_memory(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite) as team:
        await team.slash(GENERAL, ADA, "/memory", f"add share:team We like {CANARY}")
        assert CANARY in await prompt_of(team, GENERAL, ADA)
        team.slack.channels[GENERAL]["is_ext_shared"] = True
        await team.slack.tell(team.slack.wrapped({"type": "channel_shared", "channel": GENERAL}))
        await place_is(team, GENERAL, "external", True)
        assert CANARY not in await prompt_of(team, GENERAL, ADA)


async def test_a_guest_since_long_is_known_at_the_start(fresh_sqlite: str) -> None:
    async with running(peopled(Slack())) as slack:
        slack.members[GENERAL].add(DANA)
        async with working(fresh_sqlite, slack) as team:
            await share(team)
            assert CANARY not in await prompt_of(team, GENERAL, ADA)
            assert CANARY in await prompt_of(team, OPS, ADA)


async def test_where_slack_does_not_tell_team_memory_stays_out(fresh_sqlite: str) -> None:
    async with running(peopled(Slack())) as slack:
        slack.faults["users.list"] = [lambda _: {"ok": False, "error": "missing_scope"}]
        async with working(fresh_sqlite, slack) as team:
            await share(team)
            assert CANARY not in await prompt_of(team, GENERAL, ADA)
            assert CANARY in await prompt_of(team, "D0ADA", ADA)


async def test_who_left_reads_nothing_of_the_team(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite) as team:
        await team.slash(GENERAL, ADA, "/memory", f"add share:team We like {CANARY}")
        assert CANARY in await prompt_of(team, "D0BEN", BEN)
        gone = {**team.slack.people[BEN], "deleted": True}
        team.slack.people[BEN] = gone
        await team.slack.tell(team.slack.wrapped({"type": "user_change", "user": gone}))
        told = await team.slash("D0BEN", BEN, "/memory", f"search {CANARY}")
        assert f"We like {CANARY}" not in str(told["blocks"])


async def test_strangers_get_no_storage(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite) as team:
        message = team.slack.put(GENERAL, ADA, f"<@{BOT}> hello")
        other = team.slack.event(GENERAL, message)
        other |= {"team_id": "T0STRANGE", "authorizations": [{"team_id": "T0STRANGE"}]}
        await team.slack.tell(other)
        await team.quiet()
        found = await team.desk.database.read(lambda session: session.scalars(select(Entry.text)).all())
        assert list(found) == []
        assert team.slack.replies(GENERAL) == []


async def test_the_bot_introduces_itself_once(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite) as team:
        came = team.slack.wrapped({"type": "member_joined_channel", "user": BOT, "channel": GENERAL})
        await team.slack.tell(came)
        await team.slack.tell(came, retry=1)
        await team.slack.until(lambda: team.slack.replies(GENERAL))
        words = team.slack.replies(GENERAL)[0]["text"]
        assert all(command in words for command in ("/memory show", "/memory pause", "/memory erase"))
        assert len(team.slack.replies(GENERAL)) == 1


async def test_an_uninstalled_app_says_nothing_more(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite) as team:
        await team.slack.tell(team.slack.wrapped({"type": "app_uninstalled"}))
        await team.slack.until(lambda: TEAM not in team.adapter.rooms)
        await team.slack.say(GENERAL, ADA, f"<@{BOT}> hello")
        assert team.slack.replies(GENERAL) == []
