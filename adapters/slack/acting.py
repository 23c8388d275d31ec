"""What happens when something is pressed or sent on Slack: cards, answers, the Home tab, forms and menus."""

import json
import logging
from dataclasses import replace
from typing import Any

from slack_sdk.errors import SlackApiError

from adapters.slack import home
from adapters.slack.asking import PROBLEMS, Asking
from adapters.slack.pressed import Asked, Button, Form, Menu
from adapters.slack.wire import decoded
from adapters.slack.workspace import error_code
from bot.errors import BotError
from bot.messages import CommandResult

log = logging.getLogger("teambot.slack")

CARDS = {"tb:confirm": "confirm", "tb:cancel": "cancel"}
QUOTED = 1_500


class Acting:
    """Buttons, forms and menus of one workspace. Who acts is whom Slack names, what with is an id."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking
        self._door = asking.door
        self._space = asking.space

    async def pressed(self, item: Button) -> None:
        """A button, a menu or a field."""
        action = item.action
        if action in CARDS:
            await self._show(item, self._asking.run(item, CARDS[action], {"card": item.value}))
        elif action == "tb:undo":
            await self._show(item, self._asking.run(item, "memory undo", {"id": item.value}))
        elif action == "tb:row":
            await self._row(item)
        elif action == "tb:add":
            fields = [home.words_field("What should I remember?"), home.readers_field("me")]
            await self._open(item, home.form("Add a memory", "tb:remember", fields))
        elif action.startswith("tb:run:"):
            await self._show(item, self._asking.run_typed(item, item.value))
        elif action.startswith(("tb:scope:", "tb:page:")) or action == "tb:search":
            await self._turn_page(item)
        elif action in ("tb:again", "tb:rate", "tb:delete"):
            await self._on_reply(item)

    async def sent(self, item: Form) -> None:
        """A form; its window shows what came of it."""
        state = home.state_of(item.note)
        place = replace(item, channel=str(state.get("channel") or ""))
        text = item.fields.get("text", "")
        if item.name == "tb:ask":
            quoted = "\n".join(f"> {line}" for line in str(state.get("quote") or "").splitlines())
            await self._asking.accept_question(place, f"{text}\n\n{quoted}".strip(), None)
            result = CommandResult("I am on it; only you will see the answer.")
        elif item.name == "tb:edit":
            running = self._asking.run(place, "memory edit", {"id": str(state.get("id")), "text": text})
            result = await self._asking.attempted(running)
        else:
            share = item.fields.get("share") or "me"
            running = self._asking.run(place, "memory add", {"text": text, "share": share})
            result = await self._asking.attempted(running)
        await self._space.client.views_update(view_id=item.view, view=home.shown("My memory", result))
        await self.publish(item.user)

    async def chosen(self, item: Menu) -> None:
        """A menu entry on a message, or a shortcut from anywhere."""
        words = decoded(item.text)
        if item.name == "remember_message":
            place = await self._asking.directory.surroundings(item.channel)
            preset = "team" if place.kind == "public" and not place.external else "me"
            hint = "Saved as your words. If the message changes later, this does not."
            fields = [home.words_field("What to remember", words, hint), home.readers_field(preset)]
            await self._open(item, home.form("Remember this", "tb:remember", fields, _note(item)))
        elif item.name == "note_message":
            await self._show(item, self._asking.run(item, "note add", {"text": words}))
        elif item.name == "ask_message":
            fields = [home.words_field("Your question")]
            note = _note(item, quote=words[:QUOTED])
            await self._open(item, home.form("Ask about this", "tb:ask", fields, note, "Ask"))
        elif item.name == "my_memory":
            await self._show(item, self._asking.run(item, "memory show", {}))
        elif item.name == "new_routine":
            await self._show(item, self._asking.run_typed(item, "help routine create"))

    async def publish(
        self,
        user: str,
        *,
        scope: str = "mine",
        query: str = "",
        page: int = 0,
        notice: str = "",
        mark: str = "",
    ) -> None:
        """Draws the Home tab of a person anew."""
        asked = Asked(workspace=self._space.id, user=user, user_team=self._space.id)
        name, arguments = _listing(scope, query)
        result = await self._asking.attempted(self._asking.run(asked, name, arguments))
        notice = "" if result.rows else result.text
        view = home.home(result.rows, scope=scope, query=query, page=page, notice=notice)
        try:
            await self._space.client.views_publish(user_id=user, view=view, hash=mark or None)
        except SlackApiError as error:
            if error_code(error) != "hash_conflict":
                raise
            await self._space.client.views_publish(user_id=user, view=view)

    async def _row(self, item: Button) -> None:
        action, _, identity = item.value.partition(":")
        if action == "edit":
            found = await self._asking.attempted(self._asking.run(item, "memory source", {"id": identity}))
            words = str(found.rows[0].get("text") or "") if found.rows else ""
            fields = [home.words_field("How it should be", words)]
            note = _note(item, id=identity)
            await self._open(item, home.form("Correct", "tb:edit", fields, note))
            return
        name = "note delete" if action == "delete" else f"memory {action}"
        await self._show(item, self._asking.run(item, name, {"id": identity}))

    async def _turn_page(self, item: Button) -> None:
        state = home.state_of(item.note)
        scope, query, page = str(state.get("scope") or "mine"), str(state.get("query") or ""), 0
        if item.action.startswith("tb:scope:"):
            scope, query = item.value, ""
        elif item.action == "tb:search":
            query = item.value.strip()
        else:
            page = int(item.value) if item.value.isdecimal() else 0
        await self.publish(item.user, scope=scope, query=query, page=page)

    async def _on_reply(self, item: Button) -> None:
        """Judging, repeating or deleting an answer."""
        try:
            where, who, place = await self._asking.who_and_where(item)
            if item.action == "tb:delete":
                await self._door.withdraw(where, who, place, item.value)
                return
            if item.action == "tb:again":
                message = await self._door.again(where, who, place, item.value)
                accepted = await self._door.accept(message)
                if accepted.turn_id is not None and not accepted.repeated:
                    thread = message.address.thread
                    self._asking.statuses.begin(self._space, where.channel, thread, item.user)
                return
            verdict, _, key = item.value.partition(" ")
            await self._door.rated(where, who, place, key, good=verdict == "good")
        except BotError as refusal:
            await self._asking.answer(item, CommandResult(str(refusal)))
            return
        await self._asking.answer(item, CommandResult("Thank you. Only whoever runs teambot sees how often."))

    async def _show(self, item: Button | Menu, running: Any) -> None:
        """Shows a result where its caller looks: in a window from Home, else beside the message."""
        result = await self._asking.attempted(running)
        in_view = isinstance(item, Button) and bool(item.view)
        if (in_view or not item.channel) and item.trigger:
            await self._open(item, home.shown("My memory", result))
            await self.publish(item.user)
            return
        await self._asking.answer(item, result, "memory export" if "export" in _value(item) else "")

    async def _open(self, item: Asked, view: home.View) -> None:
        try:
            await self._space.client.views_open(trigger_id=item.trigger, view=view)
        except PROBLEMS as error:
            log.warning("a window could not be opened: %s", error_code(error) or type(error).__name__)


def _value(item: Button | Menu) -> str:
    return item.value if isinstance(item, Button) else ""


def _listing(scope: str, query: str) -> tuple[str, dict[str, str]]:
    if scope == "notes":
        return "note list", {"query": query} if query else {}
    return ("memory search", {"query": query}) if query else ("memory show", {"scope": scope})


def _note(item: Asked, **more: str) -> str:
    return json.dumps({"channel": item.channel, **more})
