"""My memory on Slack: the Home tab and the forms that it opens; pure, rows in and views out."""

import json
from collections.abc import Sequence
from typing import Any

from adapters.slack import blocks
from adapters.slack.blocks import Block, button, context, menu, plain_text, section
from adapters.slack.safe import escaped, plain
from bot.messages import CommandResult

PAGE = 20
"""Rows on a page: each takes two blocks of at most a hundred."""
Row = dict[str, Any]
View = dict[str, Any]

ROW_MENU = (("Why", "source"), ("Correct", "edit"), ("Archive", "archive"), ("Forget", "forget"))
SHARE = ("Share with the team", "share")


def home(
    rows: Sequence[Row], *, scope: str = "mine", query: str = "", page: int = 0, notice: str = ""
) -> View:
    """The Home tab: what is kept, with everything that can be done with it."""
    last = max(0, (len(rows) - 1) // PAGE)
    page = min(max(page, 0), last)
    made: list[Block] = [
        {"type": "header", "text": plain_text("My memory")},
        context("Only you see this page. Private channels and other people's notes are not on it."),
        *([section(escaped(notice))] if notice else []),
        _tabs(scope),
        _search(query),
        {"type": "divider"},
    ]
    for row in rows[page * PAGE : (page + 1) * PAGE]:
        made += row_blocks(row)
    if not rows:
        made.append(section("Nothing here." if query else "I remember nothing here yet."))
    if last:
        made.append(_pages(page, last))
    made += [{"type": "divider"}, _life(), context("Answers come from AI and can be wrong.")]
    state = json.dumps({"scope": scope, "query": query[:200], "page": page})
    return {"type": "home", "blocks": made, "private_metadata": state}


def row_blocks(row: Row) -> list[Block]:
    """One memory: its words, where it comes from, and its menu."""
    words = escaped(plain(str(row.get("text") or ""), 1_000))
    choices = [(label, f"{action}:{row.get('id')}") for label, action in _menu_of(row)]
    state = "" if row.get("status") == "active" else f"{row.get('status')} · "
    conflict = " · another memory disagrees" if row.get("conflict") else ""
    who = escaped(str(row.get("author") or "somebody"))
    readers = escaped(str(row.get("audience") or ""))
    line = f"{state}from {who}, {str(row.get('created_at') or '')[:10]} · read by {readers}{conflict}"
    return [section(words or "(empty)", menu("tb:row", choices)), context(line)]


def state_of(note: str) -> dict[str, Any]:
    """What a Home tab or a form was opened with."""
    try:
        found = json.loads(note)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def form(title: str, name: str, fields: Sequence[Block], note: str = "", send: str = "Save") -> View:
    """A form."""
    return {
        "type": "modal",
        "callback_id": name,
        "title": plain_text(title[:24]),
        "submit": plain_text(send[:24]),
        "close": plain_text("Cancel"),
        "private_metadata": note[:3_000],
        "blocks": list(fields),
    }


def shown(title: str, result: CommandResult) -> View:
    """What a command answered, as a window."""
    return {
        "type": "modal",
        "title": plain_text(title[:24]),
        "close": plain_text("Close"),
        "blocks": blocks.answered(result)[:100],
    }


def waiting(title: str) -> View:
    """A window while something is done."""
    return {
        "type": "modal",
        "title": plain_text(title[:24]),
        "close": plain_text("Close"),
        "blocks": [section("One moment…")],
    }


def words_field(label: str, initial: str = "", hint: str = "") -> Block:
    """A field for several lines, called `text`."""
    element: Block = {
        "type": "plain_text_input",
        "action_id": "text",
        "multiline": True,
        "max_length": 3_000,
        **({"initial_value": initial[:3_000]} if initial else {}),
    }
    block: Block = {"type": "input", "block_id": "text", "label": plain_text(label), "element": element}
    return {**block, "hint": plain_text(hint)} if hint else block


def readers_field(preset: str) -> Block:
    """Who may read what is saved, called `share`."""
    options = {
        "me": {"text": plain_text("Only me"), "value": "me"},
        "team": {"text": plain_text("Everyone in the team"), "value": "team"},
    }
    return {
        "type": "input",
        "block_id": "share",
        "label": plain_text("Who may read it"),
        "element": {
            "type": "static_select",
            "action_id": "share",
            "options": list(options.values()),
            "initial_option": options[preset],
        },
    }


def _menu_of(row: Row) -> list[tuple[str, str]]:
    if row.get("kind") == "private":
        return [("Why", "source"), ("Correct", "edit"), ("Delete", "delete")]
    mine = str(row.get("audience") or "").casefold() not in ("team", "everyone in the team")
    return [*ROW_MENU, SHARE] if mine else list(ROW_MENU)


def _tabs(scope: str) -> Block:
    made = [
        button("About me", "tb:scope:mine", "mine", "primary" if scope == "mine" else None),
        button("The team's", "tb:scope:team", "team", "primary" if scope == "team" else None),
        button("My notes", "tb:scope:notes", "notes", "primary" if scope == "notes" else None),
        button("Add", "tb:add", "add"),
    ]
    return blocks.actions(*made)


def _search(query: str) -> Block:
    element: Block = {
        "type": "plain_text_input",
        "action_id": "tb:search",
        "placeholder": plain_text("Words to look for"),
        "max_length": 200,
        "dispatch_action_config": {"trigger_actions_on": ["on_enter_pressed"]},
        **({"initial_value": query[:200]} if query else {}),
    }
    return {"type": "input", "dispatch_action": True, "label": plain_text("Search"), "element": element}


def _pages(page: int, last: int) -> Block:
    made = []
    if page > 0:
        made.append(button("Earlier page", "tb:page:back", str(page - 1)))
    if page < last:
        made.append(button("Next page", "tb:page:next", str(page + 1)))
    return blocks.actions(*made)


def _life() -> Block:
    return blocks.actions(
        button("Pause learning", "tb:run:pause", "memory pause"),
        button("Resume learning", "tb:run:resume", "memory resume"),
        button("Export", "tb:run:export", "memory export"),
        button("Erase everything", "tb:run:erase", "memory erase", "danger"),
        button("Routines", "tb:run:routines", "routine list"),
        button("Help", "tb:run:help", "about"),
    )
