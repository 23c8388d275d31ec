"""The offline model: a small deterministic stand-in for when no model is connected.

It understands `remember …`, `forget …`, "what do you know about …", questions (answered only from memory and
earlier conversation, quoting what it found) and says what it is. It pretends nothing.
"""

import json
import re
from typing import Any

from bot.model import Block, Body, Capabilities, OnText, Response, Usage
from bot.tokens import body_tokens, estimate
from memory.ids import derive
from memory.text import tokens

NAME = "offline"
INTRODUCTION = (
    "I am teambot's offline stand-in: no language model is connected, so I only remember, forget and look "
    "things up, word for word."
)
CONNECT = (
    "To connect a model, set ANTHROPIC_API_KEY (or ANTHROPIC_BASE_URL for a server that speaks the Messages "
    "API) in the environment or in .env, and start me again."
)
CAN = (
    "Try `remember: we deploy on Tuesdays`, `when do we deploy?`, `what do you know about me?` or `forget …`."
)
CHUNK = 24

REMEMBER = re.compile(
    r"^(?:please |pls |hey |ok,? )?(?:remember|note|keep in mind)(?: that| this)?\s*[:,-]?\s+(?P<what>.+)$",
    re.IGNORECASE | re.DOTALL,
)
FORGET = re.compile(
    r"^(?:please |pls )?forget(?: about)?(?: that| this)?\s*[:,-]?\s+(?P<what>.+)$", re.IGNORECASE | re.DOTALL
)
KNOW = re.compile(
    r"\bwhat (?:do|does|did) (?:you|teambot) (?:know|remember)\b(?P<rest>.*)", re.IGNORECASE | re.DOTALL
)
FIRST_PERSON = re.compile(r"^\W*(?:i|i['’]m|my|me|mine)\b", re.IGNORECASE)
STATEMENT = re.compile(r"^\W*(?:i am|i['’]m|i prefer|i use|i work|i live|i like|my \w+ is)\b", re.IGNORECASE)
QUESTION = re.compile(
    r"^\W*(?:who|whom|whose|what|when|where|why|which|how|do|does|did|is|are|was|were|can|could|should|will|would)\b",
    re.IGNORECASE,
)
ASIDE = re.compile(
    r"[,;.\s(]*(?:but |and |please )*(?:keep (?:it|this|that) (?:to yourself|private|between us)|"
    r"don['’]t tell (?:any(?:one|body)|the others))[.!)\s]*$",
    re.IGNORECASE,
)
MARKS = frozenset('"“”„«»')
COMMON = 4
"""Letters that two words must share at their start to count as the same word (deploy, deploys)."""


class Offline:
    """Implements `bot.model.Model` without any server."""

    capabilities = Capabilities(structured_output=True)

    async def respond(self, body: Body, on_text: OnText | None = None) -> Response:
        """One answer, made from the request alone."""
        content = answer(body)
        if on_text is not None:
            for block in content:
                text = block.get("text", "") if block["type"] == "text" else ""
                for end in range(CHUNK, len(text) + CHUNK, CHUNK):
                    on_text(text[:end])
        return _response(body, content)

    async def structured(self, body: Body, schema: dict[str, Any]) -> Response:
        """The memory pass: first-person statements, as JSON of the pass's schema."""
        from bot.offline_pass import is_pass, pass_answer

        text = pass_answer(body) if is_pass(schema) else "{}"
        return _response(body, [{"type": "text", "text": text}])

    def cost(self, model: str, usage: Usage) -> int:
        return 0

    def worst_cost(self, body: Body) -> int:
        return 0


def _response(body: Body, content: list[Block]) -> Response:
    written = sum(estimate(json.dumps(block, ensure_ascii=False)) for block in content)
    stop = "tool_use" if any(block["type"] == "tool_use" for block in content) else "end_turn"
    return Response(content, stop, Usage(body_tokens(body), written), NAME, "")


def answer(body: Body) -> list[Block]:
    """The content blocks of the answer to a request."""
    results = _results(body)
    if results:
        told = (_told(name, value, body) for name, value in results)
        return [_text(body, next((text for text in told if text), _nothing(body)))]
    return _asked(body, _message(body))


def _asked(body: Body, message: str) -> list[Block]:
    if found := REMEMBER.match(message):
        what = ASIDE.sub("", found["what"]).strip()
        about = "me" if FIRST_PERSON.match(what) else "team"
        # Words between quotation marks are the asker's only together with what asks to remember them.
        quote = message if MARKS & set(what) else what or message
        whole = what[:1] in MARKS and what[-1:] in MARKS and not MARKS & set(what[1:-1])
        text = (what[1:-1].strip() if whole else "") or what
        arguments = {"action": "create", "text": text, "quote": quote, "about": about, "kind": "fact"}
        return [_call(body, "memory_write", arguments)]
    if found := FORGET.match(message):
        return [_call(body, "memory_forget", {"query": ASIDE.sub("", found["what"]).strip()})]
    if found := KNOW.search(message):
        return [_call(body, "memory_search", _listing(found["rest"], message))]
    if QUESTION.match(message) or message.rstrip().endswith(("?", "？", "؟")):
        query = message[:400]
        return [
            _call(body, "memory_search", {"query": query}),
            _call(body, "conversation_search", {"query": query}),
        ]
    if STATEMENT.match(message):
        return [_text(body, "Thank you. After this answer I keep what is a clear statement about you.")]
    return [_text(body, f"I did not understand that without a model. {CAN} {CONNECT}")]


def _listing(rest: str, message: str) -> dict[str, Any]:
    topic = re.sub(r"^\W*about\b", "", rest.strip(" ?.!"), flags=re.IGNORECASE).strip(" ?.!,")
    topic = re.sub(r",?\s*and why\W*$", "", topic, flags=re.IGNORECASE).strip()
    if not topic or re.match(r"^(?:me|myself)\b", topic, re.IGNORECASE):
        return {"query": "", "list": "about_me"}
    if re.match(r"^(?:us|the team|our team|everyone)\b", topic, re.IGNORECASE):
        return {"query": "", "list": "team"}
    return {"query": topic or message}


def _told(name: str, value: Any, body: Body) -> str:
    if not isinstance(value, dict):
        return str(value)
    if name == "memory_write":
        return _saved(value)
    if name == "memory_forget":
        return str(value.get("say") or "Press the card to forget it for good.")
    return _found(name, value.get("results", []), body)


def _saved(value: dict[str, Any]) -> str:
    if "saved" not in value:
        return str(value.get("say") or "That was not saved.")
    saved = value["saved"]
    withheld = " I left the secret in it out." if value.get("withheld") else ""
    return f"Saved for {saved['audience_words']}: “{saved['text']}”.{withheld} Undo with `/memory undo`."


def _found(name: str, results: list[dict[str, Any]], body: Body) -> str:
    asked = _question(body)
    listing = KNOW.search(asked) is not None
    people = [row for row in results if not row.get("by_bot")]
    near = [row for row in people if listing or _shares_a_word(asked, str(row.get("text", "")))]
    lines = [_line(row) for row in near[: 10 if listing else 3]]
    if not lines:
        return ""
    heading = "This is what I remember:" if name == "memory_search" else "This was said before:"
    return "\n".join([heading, *lines])


def _line(row: dict[str, Any]) -> str:
    parts = [str(row.get("author") or ""), str(row.get("said_at") or row.get("on") or "")]
    source = ", ".join(part for part in parts if part)
    quote = row.get("quote")
    why = f", because of “{quote}”" if quote and quote != row.get("text") else ""
    marks = " (another memory disagrees)" if row.get("conflict") else ""
    link = f" [{row['link']}]" if row.get("link") else ""
    return f"- “{row.get('text', '')}” — {source}{why}{marks}{link}"


def _shares_a_word(asked: str, text: str) -> bool:
    stop = {
        "when",
        "what",
        "where",
        "which",
        "who",
        "how",
        "does",
        "have",
        "with",
        "that",
        "this",
        "your",
        "about",
    }
    words = {word for word in tokens(asked) if word not in stop and (len(word) > 2 or not word.isascii())}
    there = tokens(text)
    return any(word == other or _stem(word, other) for word in words for other in there)


def _stem(one: str, other: str) -> bool:
    return len(one) >= COMMON and len(other) >= COMMON and one[:COMMON] == other[:COMMON]


def _nothing(body: Body) -> str:
    if KNOW.search(_question(body)):
        return "I remember nothing about that here."
    return "I found nothing about that, neither in memory nor in our earlier conversation."


def _text(body: Body, text: str) -> Block:
    first = not any(message["role"] == "assistant" and _has_text(message) for message in body["messages"])
    return {"type": "text", "text": f"{text}\n\n_{INTRODUCTION}_" if first else text}


def _has_text(message: dict[str, Any]) -> bool:
    return any(block.get("type") == "text" for block in message["content"])


def _call(body: Body, name: str, arguments: dict[str, Any]) -> Block:
    mark = derive(name, len(body["messages"]), json.dumps(arguments, sort_keys=True))
    return {"type": "tool_use", "id": f"toolu_{mark}", "name": name, "input": arguments}


def _message(body: Body) -> str:
    """The words of the newest message: the last text block of the last user message."""
    content = body["messages"][-1]["content"]
    texts = [block["text"] for block in content if block.get("type") == "text"]
    return str(texts[-1]).strip() if texts else ""


def _question(body: Body) -> str:
    """The words that the pending results answer."""
    for message in reversed(body["messages"]):
        texts = [block["text"] for block in message["content"] if block.get("type") == "text"]
        if message["role"] == "user" and texts:
            return str(texts[-1]).strip()
    return ""


def _results(body: Body) -> list[tuple[str, Any]]:
    """(tool name, parsed result) of the tool results that the request ends with."""
    messages = body["messages"]
    last = messages[-1]["content"]
    if last and last[-1].get("type") != "tool_result":
        return []
    names = {
        block["id"]: block["name"]
        for message in messages[-2:-1]
        for block in message["content"]
        if block.get("type") == "tool_use"
    }
    found = []
    for block in last:
        if block.get("type") == "tool_result":
            text = "".join(part.get("text", "") for part in block.get("content", []))
            found.append((names.get(block["tool_use_id"], ""), _parsed(text)))
    return found


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
