"""People talk with the bot on Slack: each message has exactly one answer, where it belongs."""

import asyncio

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from bot.offline import Offline
from bot.seeding import TEAM_ID
from bot.testing import Scripted
from memory.bots import Bot
from memory.conversations import Entry
from memory.turns import Turn
from tests.adapters.slack.server import BOT, Slack, running
from tests.adapters.slack.team import ADA, BEN, GENERAL, OPS, Team, at_work, peopled, working


async def turns_of(team: Team) -> int:
    """How many turns there were."""
    return await team.desk.database.read(lambda session: session.scalar(select(func.count(Turn.id))) or 0)


async def entries_of(team: Team) -> list[tuple[str, str]]:
    """Kind and text of what people said, in order."""
    return await team.desk.database.read(
        lambda session: [
            (row.kind, row.text)
            for row in session.scalars(select(Entry).where(Entry.role == "user").order_by(Entry.seq))
            if row.kind in ("message", "overheard")
        ]
    )


async def test_a_mention_is_answered_once_in_its_thread(database_url: str) -> None:
    async with at_work(database_url, Scripted(["Hello Ada."])) as team:
        assert await team.ask(GENERAL, ADA, "hello") == "Hello Ada."
        await team.quiet()
        asked = team.slack.messages[GENERAL]
        question = next(ts for ts, message in asked.items() if message["user"] == ADA)
        replies = team.slack.replies(GENERAL)
        assert [reply["thread_ts"] for reply in replies] == [question]
        assert replies[0]["metadata"]["event_type"] == "teambot_reply"
        assert await turns_of(team) == 1
        statuses = [call["status"] for call in team.slack.called("assistant.threads.setStatus")]
        assert statuses == ["is thinking…"]
        sessions = [call["status"] for call in team.slack.called("agents.sessions.setStatus")]
        assert sessions == ["processing", "active"]


async def test_what_the_team_learns_and_what_stays_private(database_url: str) -> None:
    async with at_work(database_url, Offline()) as team:
        assert "Saved" in await team.ask(GENERAL, ADA, "remember: we deploy on Tuesdays")
        ben, ada = "D0BEN", "D0ADA"
        answer = await team.ask(ben, BEN, "When do we deploy?")
        assert "Tuesdays" in answer
        under = next(
            block
            for block in team.slack.replies(ben)[-1]["blocks"]
            if block["type"] == "context" and "Sources" in block["elements"][0]["text"]
        )
        assert "https://team.slack.com/archives/C0GENERAL/p" in under["elements"][0]["text"]
        await team.ask(ada, ADA, "remember that I may leave in March, keep it to yourself")
        for channel, user in ((ben, BEN), (GENERAL, BEN), (GENERAL, ADA)):
            answer = await team.ask(channel, user, "Who may leave in March?")
            assert "leave in March" not in answer.replace("Who may leave in March?", "")
        assert "March" in await team.ask(ada, ADA, "What do you know about me?")
        await team.ask(ada, ADA, "forget that I may leave in March")
        cards = [
            element
            for block in team.slack.replies(ada)[-1]["blocks"]
            for element in block.get("elements", [])
            if element.get("action_id") == "tb:confirm"
        ]
        await team.press(ada, ADA, "tb:confirm", cards[0]["value"])
        await team.slack.until(lambda: team.slack.hooks)
        answer = await team.ask(ada, ADA, "Who may leave in March?")
        assert "leave in March" not in answer.replace("Who may leave in March?", "")


async def test_a_message_told_again_is_answered_once(database_url: str) -> None:
    async with at_work(database_url) as team:
        message = await team.slack.say(GENERAL, ADA, f"<@{BOT}> hello")
        await team.slack.until(lambda: team.slack.done(GENERAL))
        for kind in ("message", "app_mention"):
            await team.slack.tell(team.slack.event(GENERAL, message, kind=kind), retry=1)
        await team.quiet()
        assert len(team.slack.done(GENERAL)) == await turns_of(team) == 1


async def test_a_message_told_again_after_a_restart_is_answered_once(database_url: str) -> None:
    async with running(peopled(Slack())) as slack:
        async with working(database_url, slack) as team:
            message = await slack.say(GENERAL, ADA, f"<@{BOT}> hello")
            await slack.until(lambda: slack.done(GENERAL))
            await team.quiet()
        async with working(database_url, slack) as team:
            await slack.tell(slack.event(GENERAL, message), retry=1)
            await slack.tell(slack.event(GENERAL, message, kind="app_mention"), retry=2)
            await team.quiet()
            assert len(slack.done(GENERAL)) == await turns_of(team) == 1


async def test_one_gesture_with_two_ts_is_one_message(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite) as team:
        for _ in range(2):
            await team.slack.say(GENERAL, ADA, f"<@{BOT}> hello", client_msg_id="m-1")
        await team.slack.until(lambda: team.slack.done(GENERAL))
        await team.quiet()
        assert await turns_of(team) == 1


async def test_a_thread_goes_on_without_a_mention(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite, Scripted(["One.", "Two."])) as team:
        await team.ask(GENERAL, ADA, "first")
        root = team.slack.replies(GENERAL)[0]["thread_ts"]
        assert await team.ask(GENERAL, BEN, "and then?", thread_ts=root) == "Two."
        await team.slack.say(GENERAL, BEN, f"<@{ADA}> lunch?", thread_ts=root)
        await team.slack.say(GENERAL, BEN, "nobody means the bot here")
        await team.quiet()
        assert await turns_of(team) == 2
        assert await entries_of(team) == [
            ("message", "first"),
            ("message", "and then?"),
            ("overheard", "@Ada (U0ADA) lunch?"),
        ]


async def test_called_into_a_thread_the_bot_knows_what_was_said(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite) as team:
        root = team.slack.put(GENERAL, BOT, "Draft invite: Thu 14:00 with Kim, ok?", bot_id="B0BOT")
        team.slack.put(GENERAL, BEN, "Thursday is bad", thread_ts=root["ts"])
        await team.ask(GENERAL, ADA, f"<@{BOT}> make it Sunday 12:30", thread_ts=root["ts"])
        assert await entries_of(team) == [
            ("overheard", "Draft invite: Thu 14:00 with Kim, ok?"),
            ("overheard", "Thursday is bad"),
            ("message", "make it Sunday 12:30"),
        ]
        prompt = str(team.desk.model.bodies[-1])  # type: ignore[attr-defined]
        assert "Kim" in prompt
        assert "Ben" in prompt


async def test_edits_that_nobody_made_change_nothing(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite) as team:
        message = await team.slack.say(GENERAL, ADA, f"<@{BOT}> deploy to stagin")
        await team.slack.until(lambda: team.slack.done(GENERAL))
        edited = {**message, "text": f"<@{BOT}> deploy to staging", "edited": {"ts": "1900000000.0"}}
        for now in ({**message, "reply_count": 1}, {**message, "attachments": [{"id": 1}]}, edited):
            change = {"subtype": "message_changed", "message": now, "previous_message": message}
            await team.slack.tell(team.slack.wrapped({"type": "message", "channel": GENERAL, **change}))
        await team.quiet()
        assert await turns_of(team) == 1
        assert await entries_of(team) == [("message", "deploy to staging")]


async def test_a_new_message_that_comes_as_a_change_is_answered(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite) as team:
        message = team.slack.put("D0ADA", ADA, "hello")
        change = {
            "subtype": "message_changed",
            "message": message,
            "channel_type": "im",
            "event_ts": message["ts"],
        }
        await team.slack.tell(team.slack.wrapped({"type": "message", "channel": "D0ADA", **change}))
        await team.slack.until(lambda: team.slack.done("D0ADA"))
        await team.slack.tell(team.slack.event("D0ADA", message))
        await team.quiet()
        assert await turns_of(team) == 1


async def test_a_message_deleted_before_it_came_is_not_taken_in(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite) as team:
        message = {"type": "message", "user": ADA, "text": f"<@{BOT}> my code is 4711", "ts": team.slack.ts()}
        gone = {"type": "message", "subtype": "message_deleted", "deleted_ts": message["ts"]}
        await team.slack.tell(team.slack.wrapped({**gone, "channel": GENERAL}))
        await team.slack.tell(team.slack.event(GENERAL, message))
        await team.quiet()
        assert await entries_of(team) == []
        assert await turns_of(team) == 0


async def test_a_deleted_message_is_forgotten(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite) as team:
        message = await team.slack.say(GENERAL, ADA, f"<@{BOT}> my code is 4711")
        await team.slack.until(lambda: team.slack.done(GENERAL))
        tomb = {**message, "text": "This message was deleted.", "subtype": "tombstone", "user": "USLACKBOT"}
        change = {"type": "message", "subtype": "message_changed", "message": tomb, "channel": GENERAL}
        await team.slack.tell(team.slack.wrapped(change))
        assert "4711" not in str(await entries_of(team))


async def test_another_bot_is_not_heard(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite) as team:
        await team.slack.say(GENERAL, "U0OTHER", f"<@{BOT}> thanks!", bot_id="B0OTHER")
        await team.slack.say(GENERAL, BOT, f"<@{BOT}> I said so", bot_id="B0BOT")
        await team.quiet()
        assert await turns_of(team) == 0


async def test_other_bots_get_three_answers_where_they_are_heard(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite, other_bots=True) as team:
        root = team.slack.put(GENERAL, BEN, "robots, talk")
        for _ in range(6):
            await team.slack.say(
                GENERAL, "B0OTHER", f"<@{BOT}> thanks!", bot_id="B0OTHER", thread_ts=root["ts"]
            )
        await team.slack.until(lambda: team.slack.done(GENERAL))
        await team.quiet()
        assert 1 <= await turns_of(team) <= 3
        assert len(await entries_of(team)) == 4
        assert await team.ask(OPS, ADA, "still there?") == "ok"


async def test_a_mention_in_a_private_channel_and_talk_at_once(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite) as team:
        await asyncio.gather(
            *(
                team.slack.say(channel, user, f"<@{BOT}> hello {number}")
                for number, (channel, user) in enumerate([(GENERAL, ADA), (OPS, BEN), (GENERAL, BEN)] * 3)
            )
        )
        await team.slack.until(lambda: len(team.slack.done(GENERAL)) + len(team.slack.done(OPS)) == 9)
        await team.quiet()
        assert len(team.slack.done(GENERAL)) + len(team.slack.done(OPS)) == 9


async def test_a_bot_that_is_named_answers_under_its_own_name(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite, Scripted(["As Nova.", "Still Nova.", "As teambot."])) as team:
        await team.desk.database.run(_add_nova)
        assert await team.ask(GENERAL, ADA, "Nova, hello") == "As Nova."
        root = team.slack.replies(GENERAL)[0]["thread_ts"]
        assert await team.ask(GENERAL, ADA, "and now?", thread_ts=root) == "Still Nova."
        assert await team.ask(GENERAL, ADA, "hello") == "As teambot."
        names = [call.get("username") for call in team.slack.called("chat.startStream")]
        assert names == ["Nova", "Nova", None]


def _add_nova(session: Session) -> None:
    session.add(Bot(id="bot-nova", team_id=TEAM_ID, name="Nova", title="a second teammate"))
