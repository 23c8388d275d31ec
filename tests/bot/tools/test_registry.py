"""The tools' definitions are part of the frozen prompt: the same bytes in every process."""

import hashlib
import json
import os
import subprocess
import sys
from typing import Any

import pytest

from bot.tools.registry import TOOLS
from memory.words import canonical

PRINT = (
    "from bot.tools.registry import TOOLS; from memory.words import canonical; import hashlib; "
    "print(hashlib.sha256(canonical([tool.definition() for tool in TOOLS]).encode()).hexdigest())"
)


def test_definitions_are_the_same_bytes_whatever_the_hash_seed() -> None:
    here = hashlib.sha256(canonical([tool.definition() for tool in TOOLS]).encode()).hexdigest()
    for seed in ("0", "1", "4711"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", PRINT], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == here


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_definition_explains_itself_in_a_few_sentences(tool: Any) -> None:
    definition = tool.definition()
    assert definition["name"] == tool.name
    assert 100 < len(definition["description"]) < 600
    schema = definition["input_schema"]
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert all(field.get("description") for field in schema["properties"].values())
    assert "title" not in json.dumps(schema["properties"])


def test_no_tool_takes_an_audience_a_person_or_a_place() -> None:
    for tool in TOOLS:
        names = set(tool.definition()["input_schema"]["properties"])
        assert not names & {
            "audience",
            "share",
            "author",
            "person",
            "user",
            "account",
            "team",
            "place",
            "channel",
        }
