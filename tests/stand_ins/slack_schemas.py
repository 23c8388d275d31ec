"""What Slack's methods take, closed, by the types that Slack publishes; made once and kept beside them."""

import hashlib
import json
import subprocess
from functools import cache
from typing import Any

from jsonschema import Draft7Validator
from jsonschema.exceptions import best_match

from tests.stand_ins.node import HERE, environment, node

TYPES = {
    "agents.sessions.setStatus": "AgentsSessionsSetStatusArguments",
    "assistant.threads.setStatus": "AssistantThreadsSetStatusArguments",
    "assistant.threads.setSuggestedPrompts": "AssistantThreadsSetSuggestedPromptsArguments",
    "auth.test": "AuthTestArguments",
    "chat.appendStream": "ChatAppendStreamArguments",
    "chat.delete": "ChatDeleteArguments",
    "chat.postEphemeral": "ChatPostEphemeralArguments",
    "chat.postMessage": "ChatPostMessageArguments",
    "chat.startStream": "ChatStartStreamArguments",
    "chat.stopStream": "ChatStopStreamArguments",
    "chat.update": "ChatUpdateArguments",
    "conversations.history": "ConversationsHistoryArguments",
    "conversations.info": "ConversationsInfoArguments",
    "conversations.open": "ConversationsOpenArguments",
    "conversations.replies": "ConversationsRepliesArguments",
    "files.info": "FilesInfoArguments",
    "users.conversations": "UsersConversationsArguments",
    "users.info": "UsersInfoArguments",
    "users.list": "UsersListArguments",
    "views.open": "ViewsOpenArguments",
    "views.publish": "ViewsPublishArguments",
    "views.update": "ViewsUpdateArguments",
}


UNCHECKED = {"apps.connections.open", "oauth.v2.access"}
"""Called by the libraries themselves."""


def problem(method: str, given: dict[str, Any], *, typed: bool) -> str | None:
    """What is wrong with the arguments of a call. Untyped ones came as text of a form."""
    validator = _validators().get(method)
    if validator is None:
        return None if method in UNCHECKED else f"{method} is not checked"
    wrong = best_match(validator.iter_errors(given if typed else _typed(given)))
    if wrong is None:
        return None
    deepest = wrong
    while deepest.context:
        deepest = max(deepest.context, key=lambda one: len(one.absolute_path))
    where = ".".join(map(str, deepest.absolute_path))
    return f"{method}: {where}: {deepest.message[:300]}"


def available() -> bool:
    """Whether Slack's types are installed."""
    return (HERE / "node_modules" / "ts-json-schema-generator").is_dir()


def _typed(given: dict[str, Any]) -> dict[str, Any]:
    words = {"true": True, "false": False, "1": True, "0": False}
    flags = {"include_all_metadata", "include_locale", "exclude_archived", "inclusive"}
    return {
        name: words.get(value, value) if name in flags else int(value) if name == "limit" else value
        for name, value in given.items()
    }


@cache
def _validators() -> dict[str, Draft7Validator]:
    made = _schemas()
    return {method: Draft7Validator(made[name]) for method, name in TYPES.items() if name in made}


def _schemas() -> dict[str, Any]:
    mark = hashlib.sha256((HERE / "package-lock.json").read_bytes() + repr(TYPES).encode()).hexdigest()[:16]
    kept = HERE / "node_modules" / ".cache" / f"slack-schemas-{mark}.json"
    if not kept.is_file():
        made = subprocess.run(
            [node(), HERE / "slack_schemas.mjs", *sorted(set(TYPES.values()))],
            cwd=HERE,
            env=environment(),
            check=True,
            capture_output=True,
        )
        kept.parent.mkdir(exist_ok=True)
        kept.write_bytes(made.stdout)
    found: dict[str, Any] = json.loads(kept.read_text())
    return found
