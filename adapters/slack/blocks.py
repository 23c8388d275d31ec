"""Slack's blocks: what stands under a reply, and what commands answer."""

from collections.abc import Sequence
from typing import Any

from adapters.slack.safe import escaped, plain, rendered
from adapters.text import split, utf8
from bot.messages import CardView, CommandResult, Post

Block = dict[str, Any]

SECTION = 2_900
PART = 9_000
"""Bytes of one message: a streamed one is refused from about 10,600."""
EVENT = "teambot_reply"


def metadata(key: str, part: int = 0) -> dict[str, Any]:
    """The mark by which a message is found again. Every app of the workspace can read it: no words here."""
    return {"event_type": EVENT, "event_payload": {"key": key, "part": part}}


def plain_text(text: str) -> dict[str, Any]:
    """Text of a button, a title or a label."""
    return {"type": "plain_text", "text": text, "emoji": False}


def mrkdwn(text: str) -> dict[str, Any]:
    """Text with Slack's own marks; what people wrote in it is escaped."""
    return {"type": "mrkdwn", "text": text}


def section(text: str, accessory: Block | None = None) -> Block:
    """Words, with something to press beside them."""
    block: Block = {"type": "section", "text": mrkdwn(plain(text, SECTION))}
    return {**block, "accessory": accessory} if accessory else block


def context(text: str) -> Block:
    """Small words."""
    return {"type": "context", "elements": [mrkdwn(plain(text, SECTION))]}


def button(label: str, action: str, value: str, style: str | None = None) -> Block:
    """A button that a screen reader can name."""
    made: Block = {
        "type": "button",
        "text": plain_text(label[:75]),
        "action_id": action,
        "value": value[:2_000],
        "accessibility_label": label[:75],
    }
    return {**made, "style": style} if style else made


def actions(*elements: Block) -> Block:
    """Buttons in a row."""
    return {"type": "actions", "elements": list(elements)}


def markdown(text: str) -> Block:
    """Markdown as it stands."""
    return {"type": "markdown", "text": text}


def footer(post: Post) -> list[Block]:
    """What stands under the last part of a reply: sources, cards, a way to judge, retry and delete it."""
    made: list[Block] = []
    if post.sources:
        made.append(context("Sources: " + " · ".join(map(_source, post.sources[:5]))))
    made += [block for card in post.cards for block in card_blocks(card)]
    if post.failed:
        made.append(actions(button("Try again", "tb:again", post.key, "primary")))
    if not post.ephemeral:
        made.append(_judging(post))
    return made


def card_blocks(card: CardView) -> list[Block]:
    """A card: the exact words, the exact readers, and both buttons."""
    words = f"{escaped(card.text)}\nReaders: {escaped(card.readers)}"
    return [
        section(words),
        actions(button("Confirm", "tb:confirm", card.id, "primary"), button("Cancel", "tb:cancel", card.id)),
    ]


def answered(result: CommandResult) -> list[Block]:
    """What a command answers: its words, cards, and a way back."""
    made: list[Block] = [markdown(part) for part in split(rendered(result.text), 10_000, utf8)[:1]]
    made += [block for card in result.cards[:10] for block in card_blocks(card)]
    if result.undo:
        made.append(actions(button("Undo", "tb:undo", result.undo)))
    return made


def said(text: str) -> list[Block]:
    """Plain words of the bot itself."""
    return [section(escaped(text))]


def menu(action: str, options: Sequence[tuple[str, str]]) -> Block:
    """A small menu of at most five."""
    return {
        "type": "overflow",
        "action_id": action,
        "options": [{"text": plain_text(label), "value": value[:150]} for label, value in options[:5]],
    }


def _source(source: dict[str, str]) -> str:
    label = escaped(source.get("label") or source.get("title") or "message")
    link = source.get("link") or ""
    safe = link.startswith("https://") and not set(link) & set("<>|")
    return f"<{link}|{label.replace('|', '/')}>" if safe else label


def _judging(post: Post) -> Block:
    visible = {"visible_to_user_ids": [post.asker]} if post.asker else {}
    return {
        "type": "context_actions",
        "elements": [
            {
                "type": "feedback_buttons",
                "action_id": "tb:rate",
                "positive_button": {
                    "text": plain_text("Good answer"),
                    "value": f"good {post.key}",
                    "accessibility_label": "This answer helped",
                },
                "negative_button": {
                    "text": plain_text("Bad answer"),
                    "value": f"bad {post.key}",
                    "accessibility_label": "This answer did not help",
                },
            },
            {
                "type": "icon_button",
                "action_id": "tb:delete",
                "icon": "trash",
                "text": plain_text("Delete"),
                "value": post.key,
                "accessibility_label": "Delete this answer",
                "confirm": {
                    "title": plain_text("Delete this answer?"),
                    "text": plain_text("It goes from Slack and from what I keep."),
                    "confirm": plain_text("Delete"),
                    "deny": plain_text("Keep"),
                },
                **visible,
            },
        ],
    }
