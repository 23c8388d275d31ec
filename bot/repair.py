"""Makes any stored history a valid request, whatever a crash left, and the same bytes every time."""

import re
from collections.abc import Collection, Iterable
from typing import Any

from bot.model import Block
from memory.words import canonical

Message = dict[str, Any]

INTERRUPTED = "interrupted, outcome unknown, check before repeating"
NO_OUTPUT = "(no output)"

_THINKING = frozenset({"thinking", "redacted_thinking"})
_ASSISTANT = frozenset({"text", "tool_use"}) | _THINKING
_USER = frozenset({"text", "image", "document", "search_result", "tool_result"})
_IN_RESULT = frozenset({"text", "image", "document", "search_result"})
_RESULT_KEYS = frozenset({"type", "tool_use_id", "content", "is_error", "cache_control"})
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
_NAME_LENGTH = 128


def repair(history: Iterable[Message], also: Collection[str] = ()) -> list[Message]:
    """The history as messages that the Messages API accepts.

    Starts with a person, alternates, answers every call in the very next message, holds no blank text. Only
    what stands before a message decides how it comes out, so a longer history begins with the shorter one. A
    result that is not in the message after its call is dropped: the call was already settled as interrupted.
    Blocks that belong to the other role or that this API version does not know are dropped; `also` names
    further kinds that the server gave and takes back.
    """
    repaired = _History(frozenset(also))
    for message in history:
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if not isinstance(blocks, list | tuple):
            continue
        known = [block for block in blocks if isinstance(block, dict)]
        if message.get("role") == "assistant":
            repaired.assistant(known)
        elif message.get("role") == "user":
            repaired.user(known)
    return repaired.messages()


class _History:
    """The messages so far. `_open` holds the calls of the last assistant message that wait for results."""

    def __init__(self, also: frozenset[str]) -> None:
        self._assistant = _ASSISTANT | also
        self._user = _USER | also
        self._done: list[Message] = []
        self._ids: set[str] = set()
        self._open: list[tuple[str, str]] = []
        self._results: dict[str, Block] = {}
        self._said: list[Block] = []
        self._asked: list[Block] = []

    def assistant(self, blocks: list[Block]) -> None:
        """One assistant message as stored: joined to the one before, unless that one has calls to settle."""
        kept = [block for block in blocks if block.get("type") in self._assistant and _whole(block)]
        if not kept:
            return
        self._close_user()
        if self._done:
            self._said.extend(self._call(block) if block["type"] == "tool_use" else block for block in kept)

    def user(self, blocks: list[Block]) -> None:
        """One user message as stored: joined to the one before."""
        kept = [block for block in blocks if block.get("type") in self._user and self._wanted(block)]
        if not kept:
            return
        self._close_assistant()
        for block in kept:
            if block["type"] == "tool_result":
                self._answer(block)
            else:
                self._asked.append(block)

    def messages(self) -> list[Message]:
        """Everything, with the calls that nobody answered settled."""
        self._close_assistant()
        self._close_user()
        return self._done

    def _call(self, block: Block) -> Block:
        stored = str(block.get("id") or "call")
        given = _unique(_name(stored), self._ids)
        self._ids.add(given)
        self._open.append((stored, given))
        name, arguments = _name(str(block.get("name") or "unknown")), block.get("input")
        sound = {"id": given, "name": name, "input": arguments if isinstance(arguments, dict) else {}}
        return block if sound.items() <= block.items() else {**block, **sound}

    def _wanted(self, block: Block) -> bool:
        return self._waiting(block) is not None if block["type"] == "tool_result" else _whole(block)

    def _waiting(self, result: Block) -> str | None:
        """The id of the first open call that this result can answer."""
        calls = (given for stored, given in self._open if stored == result.get("tool_use_id"))
        return next((given for given in calls if given not in self._results), None)

    def _answer(self, block: Block) -> None:
        given = self._waiting(block)
        if given is not None:
            self._results[given] = _result(block, given)

    def _close_assistant(self) -> None:
        """Ends the assistant message; thinking that leads to nothing may not stand at its end."""
        while self._said and self._said[-1]["type"] in _THINKING:
            self._said.pop()
        if self._said:
            self._done.append({"role": "assistant", "content": self._said})
        self._said = []

    def _close_user(self) -> None:
        """Ends the user message: results first, in the order of the calls."""
        if self._open:
            self._close_assistant()
        results = [self._results.get(given) or interrupted(given) for _, given in self._open]
        if results or self._asked:
            if self._done and self._done[-1]["role"] == "user":
                self._done[-1]["content"].extend(results + self._asked)
            else:
                self._done.append({"role": "user", "content": results + self._asked})
        self._open, self._results, self._asked = [], {}, []


def interrupted(tool_use_id: str) -> Block:
    """The result of a call whose outcome nobody recorded."""
    return {"type": "tool_result", "tool_use_id": tool_use_id, "content": INTERRUPTED, "is_error": True}


def _whole(block: Block) -> bool:
    """Whether a block has what its kind needs; blank text has not."""
    kind = block.get("type")
    if kind == "text":
        text = block.get("text")
        return isinstance(text, str) and bool(text.strip())
    if kind == "thinking":
        return isinstance(block.get("thinking"), str) and isinstance(block.get("signature"), str)
    if kind == "redacted_thinking":
        return isinstance(block.get("data"), str)
    if kind in ("image", "document"):
        return isinstance(block.get("source"), dict)
    if kind == "search_result":
        return isinstance(block.get("content"), list) and bool(block["content"])
    return True


def _result(block: Block, tool_use_id: str) -> Block:
    """A result with the keys and content that a result may have; a failed one holds text only."""
    result = {key: value for key, value in block.items() if key in _RESULT_KEYS and value is not None}
    result["tool_use_id"] = tool_use_id
    result["content"] = _result_content(block.get("content"), text_only=bool(block.get("is_error")))
    if "is_error" in result:
        result["is_error"] = bool(result["is_error"])
    return result


def _result_content(content: Any, *, text_only: bool) -> Any:
    if isinstance(content, list):
        kinds = {"text"} if text_only else _IN_RESULT
        content = [
            part for part in content if isinstance(part, dict) and part.get("type") in kinds and _whole(part)
        ]
    elif not isinstance(content, str) and content is not None:
        content = canonical(content)
    empty = not content or (isinstance(content, str) and not content.strip())
    return NO_OUTPUT if empty else content


def _name(text: str) -> str:
    return _NOT_IN_NAMES.sub("_", text)[:_NAME_LENGTH]


def _unique(wanted: str, taken: set[str]) -> str:
    number, name = 1, wanted
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name
