"""What the bot says unasked: when it comes to a channel, and beside an empty talk."""

from typing import Any

from adapters.slack.safe import escaped

PROMPTS = [
    {"title": "What can you do?", "message": "What can you do for me and my team?"},
    {
        "title": "What do you remember about me?",
        "message": "What do you remember about me, and where did it come from?",
    },
    {"title": "Remember something", "message": "Please remember something for me. What do you need to know?"},
    {"title": "What did we decide?", "message": "What did the team decide lately, with links?"},
]
PROMPTS_TITLE = "What shall we begin with?"


def introduction(handle: str, *, learns: bool = True, shared: bool = False) -> dict[str, Any]:
    """What everybody in a channel is told when the bot comes: what it learns, and how to see and end that."""
    learning = (
        "I learn stable facts and decisions only from messages that are meant for me"
        if learns
        else "I learn nothing here"
    )
    limits = (
        " People from elsewhere read here, so I use only what was said in this channel." if shared else ""
    )
    text = (
        f"Hello, I am {escaped(handle)}. Mention me to ask something; in that thread I then answer unasked. "
        f"{learning}, and what you tell me in a direct message stays there.{limits} "
        "See what I keep: `/memory show`. Pause: `/memory pause`. Erase: `/memory erase`. "
        "More: `/teambot help`."
    )
    return {"text": text, "unfurl_links": False, "unfurl_media": False}
