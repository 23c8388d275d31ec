"""The offline model's memory pass: plain statements that people make about themselves in English."""

import json
import re
from typing import Any

from bot.model import Body
from bot.pass_request import PASS_SCHEMA
from memory.said_dates import is_relative

MOST = 3
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")
_ASIDE = re.compile(
    r"[,;.\s(]*(?:but |and |please )*(?:keep (?:it|this|that) (?:to yourself|private|between us)|"
    r"don['’]t tell (?:any(?:one|body)|the others))[.!)\s]*$",
    re.IGNORECASE,
)
_PATTERNS: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (
        re.compile(
            r"^(?:i am|i['’]m) (?!sure|sorry|not sure|afraid|just|going|so )(.{3,200})$", re.IGNORECASE
        ),
        "{name} is {0}",
        "",
    ),
    (re.compile(r"^i (prefer|use|like|work|live) (.{2,200})$", re.IGNORECASE), "{name} {0}s {1}", ""),
    (re.compile(r"^my (\w[\w ]{1,40}?) is (.{2,200})$", re.IGNORECASE), "{name}'s {0} is {1}", "{0}"),
)


def is_pass(schema: dict[str, Any]) -> bool:
    """Whether the schema is the memory pass's."""
    return schema == PASS_SCHEMA


def pass_answer(body: Body) -> str:
    """The answer to a request of the memory pass."""
    payload = json.loads(body["messages"][-1]["content"][-1]["text"])
    names = {person["number"]: person["name"] for person in payload["people"]}
    found = [
        memory
        for message in payload["messages"]
        if not message.get("earlier")
        for memory in _stated(message, names)
    ]
    return json.dumps({"memories": found[:MOST]}, ensure_ascii=False)


def _stated(message: dict[str, Any], names: dict[int, str]) -> list[dict[str, Any]]:
    text = str(message["text"])
    private = _ASIDE.search(text) is not None
    found = []
    for sentence in _SENTENCE.findall(_ASIDE.sub("", text)):
        said = sentence.strip()
        if said.endswith("?") or is_relative(said):
            continue
        for pattern, shape, topic in _PATTERNS:
            match = pattern.match(said.rstrip(".! "))
            if match:
                found.append(
                    {
                        **_PLAIN,
                        "message": message["number"],
                        "quote": said,
                        "text": shape.format(*match.groups(), name=names[message["from"]]) + ".",
                        "about": message["from"],
                        "topic": topic.format(*match.groups()).lower(),
                        "kind": "preference" if match.group(1).lower() in ("prefer", "like") else "fact",
                        "readers": "author" if private else "same",
                    }
                )
                break
    return found


_PLAIN: dict[str, Any] = {
    "speech_act": "statement",
    "layer": "fact",
    "importance": 3,
    "certain": True,
    "since": "",
    "until": "",
    "temporary": False,
    "live": False,
    "replaces": 0,
    "accepted_in": 0,
    "accepted_quote": "",
}
