"""LoCoMo's dialogues and questions, read from the files as they are published."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
"""The fifth category asks for what was never said, so it has no evidence to find."""


@dataclass(frozen=True)
class Said:
    """One turn of a dialogue."""

    id: str
    speaker: str
    text: str
    when: datetime


@dataclass(frozen=True)
class Question:
    """A question and the turns that hold its answer."""

    text: str
    category: int
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Dialogue:
    """Two people's talk over months, and what is asked about it."""

    id: str
    turns: tuple[Said, ...]
    questions: tuple[Question, ...]


def load(folder: Path) -> list[Dialogue]:
    """The dialogues with corrected evidence labels, where the corrections are there."""
    audit = folder / "locomo_audit_errors.json"
    corrected = {
        item["question_id"]: _turn_ids(item.get("correct_evidence"))
        for item in (json.loads(audit.read_text()) if audit.exists() else [])
    }
    dialogues = []
    for number, raw in enumerate(json.loads((folder / "locomo10.json").read_text())):
        turns = tuple(_turns(raw["conversation"]))
        known = {turn.id for turn in turns}
        questions = []
        for at, asked in enumerate(raw["qa"]):
            labels = corrected.get(f"locomo_{number}_qa{at}") or _turn_ids(asked.get("evidence"))
            evidence = tuple(dict.fromkeys(label for label in labels if label in known))
            if evidence and asked["category"] in CATEGORIES:
                questions.append(Question(asked["question"], asked["category"], evidence))
        dialogues.append(Dialogue(raw["sample_id"], turns, tuple(questions)))
    return dialogues


def _turns(raw: dict[str, Any]) -> Iterator[Said]:
    number = 1
    while f"session_{number}" in raw or f"session_{number}_date_time" in raw:
        for turn in raw.get(f"session_{number}") or []:
            caption = f" [shared a photo: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            when = _moment(raw[f"session_{number}_date_time"])
            yield Said(turn["dia_id"], turn["speaker"], turn["text"] + caption, when)
        number += 1


def _turn_ids(labels: Sequence[str] | None) -> list[str]:
    found = (
        re.match(r"^D:?(\d+):(\d+)$", part) for label in labels or () for part in re.split(r"[;,\s]+", label)
    )
    return [f"D{int(match[1])}:{int(match[2])}" for match in found if match]


def _moment(text: str) -> datetime:
    match = re.match(r"\s*(\d+):(\d+)\s*(am|pm)\s+on\s+(\d+)\s+(\w{3})\w*,?\s+(\d{4})", text)
    assert match
    hour = int(match[1]) % 12 + (12 if match[3] == "pm" else 0)
    day = datetime.strptime(f"{match[4]} {match[5]} {match[6]}", "%d %b %Y").replace(tzinfo=UTC)
    return day.replace(hour=hour, minute=int(match[2]))
