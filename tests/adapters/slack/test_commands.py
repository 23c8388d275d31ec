"""Commands, buttons, menus, forms and My memory on Slack: acknowledged first, told to the caller alone."""

import json
from typing import Any

from bot.errors import ModelUnreachable
from bot.offline import Offline
from bot.testing import Scripted
from tests.adapters.slack.server import BOT, TEAM, words
from tests.adapters.slack.team import ADA, BEN, DANA, GENERAL, OPS, Team, at_work


def buttons(message: dict[str, Any]) -> dict[str, str]:
    """What may be pressed under a message, with its value."""
    return {
        element["action_id"]: element.get("value", "")
        for block in message.get("blocks") or []
        for element in block.get("elements", [])
        if "action_id" in element
    }


def shown(view: dict[str, Any]) -> str:
    """All words of a view."""
    return json.dumps(view["blocks"], ensure_ascii=False)


async def pick(team: Team, user: str, value: str) -> None:
    """Somebody picks an entry of a memory's menu in the Home tab."""
    view = team.slack.home_of(user)
    await team.slack.tell(
        {
            "type": "block_actions",
            "team": {"id": TEAM},
            "user": {"id": user, "team_id": TEAM},
            "trigger_id": team.slack.ts(),
            "container": {"type": "view", "view_id": "VHOME"},
            "view": {"id": "VHOME", "type": "home", "private_metadata": view["private_metadata"]},
            "actions": [
                {
                    "type": "overflow",
                    "action_id": "tb:row",
                    "selected_option": {"value": value},
                }
            ],
        },
        kind="interactive",
    )


async def act(team: Team, user: str, action: str, value: str = "") -> None:
    """Somebody presses something in the Home tab."""
    view = team.slack.home_of(user)
    await team.slack.tell(
        {
            "type": "block_actions",
            "team": {"id": TEAM},
            "user": {"id": user, "team_id": TEAM},
            "trigger_id": team.slack.ts(),
            "container": {"type": "view", "view_id": "VHOME"},
            "view": {"id": "VHOME", "type": "home", "private_metadata": view["private_metadata"]},
            "actions": [{"type": "button", "action_id": action, "value": value, "block_id": "b"}],
        },
        kind="interactive",
    )


async def send(team: Team, user: str, name: str, fields: dict[str, str], note: str = "") -> None:
    """Somebody sends a form."""
    values = {key: {key: {"type": "plain_text_input", "value": value}} for key, value in fields.items()}
    if "share" in fields:
        values["share"] = {"share": {"selected_option": {"value": fields["share"]}}}  # type: ignore[dict-item]
    await team.slack.tell(
        {
            "type": "view_submission",
            "team": {"id": TEAM},
            "user": {"id": user, "team_id": TEAM},
            "view": {
                "id": "VFORM",
                "type": "modal",
                "callback_id": name,
                "private_metadata": note,
                "state": {"values": values},
            },
        },
        kind="interactive",
    )


async def choose(team: Team, user: str, name: str, channel: str, text: str) -> None:
    """Somebody uses a menu entry on a message."""
    await team.slack.tell(
        {
            "type": "message_action",
            "callback_id": name,
            "team": {"id": TEAM},
            "user": {"id": user, "team_id": TEAM},
            "channel": {"id": channel},
            "message": {"ts": team.slack.ts(), "text": text, "user": BEN},
            "trigger_id": team.slack.ts(),
            "response_url": f"{team.slack.url}/hook/1",
        },
        kind="interactive",
    )


async def test_a_slash_command_answers_its_caller_alone(database_url: str) -> None:
    async with at_work(database_url) as team:
        told = await team.slash(GENERAL, ADA, "/memory", "add We deploy on <https://x.example|Tuesdays>")
        assert told["response_type"] == "ephemeral"
        assert told["replace_original"] is False
        undo = buttons({"blocks": told["blocks"]})["tb:undo"]
        assert "Tuesdays" in str((await team.slash(GENERAL, ADA, "/memory"))["blocks"])
        before = len(team.slack.hooks)
        await team.slack.say(GENERAL, ADA, f"<@{BOT}> hi")
        await team.slack.until(lambda: team.slack.done(GENERAL))
        await team.press(GENERAL, ADA, "tb:undo", undo)
        await team.slack.until(lambda: len(team.slack.hooks) > before)
        assert "Tuesdays (" not in str(
            (await team.slash(GENERAL, ADA, "/memory", "search Tuesdays"))["blocks"]
        )
        assert [words(one) for one in team.slack.replies(GENERAL)] == ["ok"]


async def test_commands_have_their_prefix_and_their_help(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite) as team:
        assert "memory" in str((await team.slash(GENERAL, ADA, "/tb-teambot", ""))["blocks"])
        assert "pause" in str((await team.slash(GENERAL, ADA, "/tb-teambot", "privacy"))["blocks"])
        assert "no command" in (await team.slash(GENERAL, ADA, "/tb-memory", "shwo"))["text"]


async def test_in_threads_commands_are_words(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite) as team:
        await team.ask(GENERAL, ADA, "hello")
        root = team.slack.replies(GENERAL)[0]["thread_ts"]
        for text in ("!note add buy milk", f"<@{BOT}> note list"):
            before = len(team.slack.whispers)
            await team.slack.say(GENERAL, ADA, text, thread_ts=root)
            await team.slack.until(lambda: len(team.slack.whispers) > before)  # noqa: B023
            assert team.slack.whispers[-1]["user"] == ADA
            assert team.slack.whispers[-1]["thread_ts"] == root
        assert "buy milk" in str(team.slack.whispers[-1]["blocks"])
        await team.quiet()
        assert len(team.slack.replies(GENERAL)) == 1


async def test_a_question_by_command_is_shown_with_its_answer(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite, Scripted(["On Tuesdays."])) as team:
        await team.slack.tell(
            command(team, GENERAL, ADA, "/ask", "When do we deploy?"), kind="slash_commands"
        )
        await team.slack.until(lambda: team.slack.done(GENERAL))
        shown_question, answered = team.slack.replies(GENERAL)
        assert shown_question["text"] == "*Ada* asks: When do we deploy?"
        assert (answered["thread_ts"], words(answered)) == (shown_question["ts"], "On Tuesdays.")


async def test_a_private_question_is_answered_to_its_asker_alone(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite, Scripted(["On Tuesdays."])) as team:
        await team.slash(GENERAL, ADA, "/ask", "private When do we deploy?")
        await team.slack.until(lambda: team.slack.whispers)
        assert [one["user"] for one in team.slack.whispers] == [ADA]
        assert "On Tuesdays." in str(team.slack.whispers[0]["blocks"])
        assert team.slack.replies(GENERAL) == []


async def test_where_the_bot_is_not_the_answer_goes_to_the_direct_message(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite, Scripted(["On Tuesdays."])) as team:
        team.slack.channel("C0ELSEWHERE", "elsewhere", ADA)
        team.slack.members["C0ELSEWHERE"].discard(BOT)
        await team.slash("C0ELSEWHERE", ADA, "/ask", "When do we deploy?")
        await team.slack.until(lambda: team.slack.replies("D0ADA"))
        assert "On Tuesdays." in words(team.slack.replies("D0ADA")[0])


def command(team: Team, channel: str, user: str, name: str, text: str) -> dict[str, Any]:
    """A slash command's payload."""
    return {
        "command": name,
        "text": text,
        "user_id": user,
        "team_id": TEAM,
        "channel_id": channel,
        "trigger_id": team.slack.ts(),
        "response_url": f"{team.slack.url}/hook/1",
    }


async def test_my_memory_is_clicked_through(database_url: str) -> None:
    async with at_work(database_url, Offline()) as team:
        await team.ask("D0ADA", ADA, "remember that I like trains")
        await team.slack.tell(team.slack.wrapped({"type": "app_home_opened", "user": ADA, "tab": "home"}))
        await team.slack.until(lambda: team.slack.home_of(ADA))
        assert "I like trains" in shown(team.slack.home_of(ADA))
        row = next(block for block in team.slack.home_of(ADA)["blocks"] if "accessory" in block)
        value = row["accessory"]["options"][0]["value"]
        identity = value.partition(":")[2]

        await pick(team, ADA, value)
        await team.slack.until(lambda: any(kind == "open" for kind, _ in team.slack.views))
        assert "Why I know it" in shown(team.slack.window())

        await pick(team, ADA, f"edit:{identity}")
        await team.slack.until(lambda: team.slack.window().get("callback_id") == "tb:edit")
        form = team.slack.window()
        assert form["blocks"][0]["element"]["initial_value"] == "I like trains"
        await send(team, ADA, "tb:edit", {"text": "I like night trains"}, form["private_metadata"])
        await team.slack.until(lambda: "night trains" in shown(team.slack.home_of(ADA)))

        await act(team, ADA, "tb:search", "night")
        await team.slack.until(lambda: '"query": "night"' in team.slack.home_of(ADA)["private_metadata"])
        for action, scope in (
            ("tb:scope:team", "team"),
            ("tb:scope:notes", "notes"),
            ("tb:scope:mine", "mine"),
        ):
            await act(team, ADA, action, scope)
            await team.slack.until(
                lambda: f'"scope": "{scope}"' in team.slack.home_of(ADA)["private_metadata"]  # noqa: B023
            )
        rows = [block for block in team.slack.home_of(ADA)["blocks"] if "accessory" in block]
        identity = rows[0]["accessory"]["options"][0]["value"].partition(":")[2]
        await pick(team, ADA, f"forget:{identity}")
        await team.slack.until(lambda: "tb:confirm" in buttons(team.slack.window()))
        await act(team, ADA, "tb:confirm", buttons(team.slack.window())["tb:confirm"])
        await team.slack.until(lambda: "night trains" not in shown(team.slack.home_of(ADA)))

        await act(team, ADA, "tb:run:pause", "memory pause")
        await team.slack.until(lambda: "learn nothing from you" in shown(team.slack.window()))


async def test_somebody_elses_memory_is_not_found(database_url: str) -> None:
    async with at_work(database_url, Offline()) as team:
        await team.ask("D0ADA", ADA, "remember that I like trains")
        for user in (ADA, BEN):
            await team.slack.tell(
                team.slack.wrapped({"type": "app_home_opened", "user": user, "tab": "home"})
            )
        await team.slack.until(lambda: team.slack.home_of(ADA) and team.slack.home_of(BEN))
        assert "trains" not in shown(team.slack.home_of(BEN))
        row = next(block for block in team.slack.home_of(ADA)["blocks"] if "accessory" in block)
        identity = row["accessory"]["options"][0]["value"].partition(":")[2]
        for action in ("source", "archive", "forget", "share"):
            before = len(team.slack.views)
            await pick(team, BEN, f"{action}:{identity}")
            await team.slack.until(lambda: len(team.slack.views) > before)  # noqa: B023
            assert "trains" not in shown(team.slack.window())
        await send(team, BEN, "tb:edit", {"text": "Ben was here"}, json.dumps({"id": identity}))
        assert "I like trains" in str((await team.slash("D0ADA", ADA, "/memory"))["blocks"])


async def test_menus_on_messages(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite, Scripted(["It means yes."])) as team:
        await choose(team, ADA, "remember_message", GENERAL, "We moved to <#C07|ops> &amp; like it")
        await team.slack.until(lambda: team.slack.views)
        form = team.slack.window()
        assert form["blocks"][0]["element"]["initial_value"] == "We moved to #ops (C07) & like it"
        assert form["blocks"][1]["element"]["initial_option"]["value"] == "team"
        note = form["private_metadata"]
        await send(team, ADA, "tb:remember", {"text": "We moved to ops", "share": "team"}, note)
        await team.slack.until(lambda: any(kind == "update" for kind, _ in team.slack.views))
        assert "We moved to ops" in str((await team.slash(GENERAL, ADA, "/memory", "show team"))["blocks"])

        before = len(team.slack.hooks)
        await choose(team, ADA, "note_message", OPS, "milk")
        await team.slack.until(lambda: len(team.slack.hooks) > before)
        assert "milk" in str((await team.slash(GENERAL, ADA, "/note"))["blocks"])

        await choose(team, ADA, "ask_message", GENERAL, "jawohl")
        await team.slack.until(lambda: team.slack.window().get("callback_id") == "tb:ask")
        await send(
            team, ADA, "tb:ask", {"text": "What does it mean?"}, team.slack.window()["private_metadata"]
        )
        await team.slack.until(lambda: "It means yes." in str(team.slack.whispers))
        assert "> jawohl" in str(team.desk.model.bodies[-1])  # type: ignore[attr-defined]


async def test_an_answer_is_judged_and_deleted(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite) as team:
        await team.ask(GENERAL, ADA, "hello")
        await team.quiet()
        pressed = buttons(team.slack.replies(GENERAL)[0])
        key = pressed["tb:delete"]
        await team.press(GENERAL, BEN, "tb:rate", f"good {key}")
        await team.slack.until(lambda: "Thank you" in str(team.slack.hooks))
        await team.press(GENERAL, BEN, "tb:delete", key)
        await team.slack.until(lambda: "Only the person who asked" in str(team.slack.hooks))
        assert len(team.slack.replies(GENERAL)) == 1
        await team.press(OPS if team.slack.replies(OPS) else GENERAL, ADA, "tb:delete", key)
        await team.slack.until(lambda: not team.slack.replies(GENERAL))


async def test_a_failed_answer_is_tried_again_once(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite, Scripted([ModelUnreachable(), "Now it works."])) as team:
        await team.ask(GENERAL, ADA, "hello")
        await team.quiet()
        failed = team.slack.replies(GENERAL)[0]
        assert "cannot be reached" in words(failed)
        key = buttons(failed)["tb:again"]
        await team.press(GENERAL, BEN, "tb:again", key)
        await team.slack.until(lambda: "Only the person who asked" in str(team.slack.hooks))
        for _ in range(2):
            await team.press(GENERAL, ADA, "tb:again", key)
        await team.slack.until(lambda: len(team.slack.done(GENERAL)) == 2)
        await team.quiet()
        assert [words(one) for one in team.slack.replies(GENERAL)][1:] == ["Now it works."]


async def test_opening_the_talk_offers_a_beginning(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite) as team:
        opened = {"type": "app_home_opened", "user": ADA, "tab": "messages", "channel": "D0ADA"}
        for _ in range(2):
            await team.slack.tell(team.slack.wrapped(opened))
        await team.slack.until(lambda: team.slack.called("assistant.threads.setSuggestedPrompts"))
        assert len(team.slack.called("assistant.threads.setSuggestedPrompts")) == 1


async def test_a_guest_may_use_what_is_theirs(fresh_sqlite: str) -> None:
    async with at_work(fresh_sqlite) as team:
        await team.slash(GENERAL, ADA, "/memory", "add share:team We deploy on Tuesdays")
        assert "Tuesdays" not in str((await team.slash("D0DANA", DANA, "/memory", "show team"))["blocks"])
        await team.slash("D0DANA", DANA, "/note", "add my own")
        assert "my own" in str((await team.slash("D0DANA", DANA, "/note"))["blocks"])
