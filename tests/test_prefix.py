"""The frozen prefix: an earlier request is, block for block, the beginning of a later one."""

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.testing import Scripted
from memory.words import canonical
from tests.contracts import assert_valid_request
from tests.talk import talking

ROOT = Path(__file__).parent.parent


def teambot(home: Path, *arguments: str, url: str | None = None, seed: str = "0") -> dict[str, Any]:
    """One call of the command line in a process of its own."""
    kept = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "LANG")}
    environment = {
        **kept,
        "TEAMBOT_HOME": str(home),
        "PYTHONHASHSEED": seed,
        **({"DATABASE_URL": url} if url else {}),
    }
    done = subprocess.run(
        [sys.executable, "-m", "bot", *arguments, "--json"],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def blocks(request: dict[str, Any]) -> list[str]:
    """Every block of a request in order, without cache marks, as bytes would be compared."""
    bare = json.loads(json.dumps(request))
    flat: list[str] = [canonical(tool) for tool in bare["tools"]]
    for block in bare["system"]:
        block.pop("cache_control", None)
        flat.append(canonical(block))
    for message in bare["messages"]:
        for block in message["content"]:
            block.pop("cache_control", None)
            flat.append(canonical({"role": message["role"], **block}))
    return flat


def without_newest(found: dict[str, Any]) -> list[str]:
    """The blocks of a previewed request before its newest message (which is two blocks)."""
    return blocks(found["request"])[:-2]


@pytest.fixture(params=["sqlite", "postgresql"])
def home_and_url(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str | None]:
    url = str(request.getfixturevalue("fresh_postgres")) if request.param == "postgresql" else None
    return tmp_path / "home", url


def test_a_write_a_restart_a_hash_seed_and_another_speaker_leave_the_prefix_alone(
    home_and_url: tuple[Path, str | None],
) -> None:
    home, url = home_and_url
    ada, general = ("--as", "ada", "--in", "#general"), ("--in", "#general")
    teambot(home, "say", *ada, "remember: we deploy on Tuesdays", url=url)
    first = teambot(home, "prompt", *ada, "when do we deploy?", url=url, seed="1")
    assert blocks(first["request"])[:-2] == without_newest(first)
    teambot(home, "say", *ada, "remember: the wifi is called Oak", url=url, seed="2")
    teambot(home, "say", "--as", "ben", *general, "who is on call?", url=url, seed="3")
    teambot(home, "say", "--as", "ben", *general, "/memory add the office is in Ghent", url=url, seed="3")
    second = teambot(home, "prompt", *ada, "and now?", url=url, seed="4")
    early, late = without_newest(first), blocks(second["request"])
    assert late[: len(early)] == early
    assert len(late) > len(early)
    for name in ("tools", "system", "environment", "memory", "routines", "summary"):
        assert section(first, name) == section(second, name), name
    assert "Ghent" in late[-2], "what changed rides in the newest message"


def section(found: dict[str, Any], name: str) -> dict[str, Any]:
    return next(row for row in found["sections"] if row["name"] == name)


def test_on_the_first_turn_snapshot_and_message_share_the_first_message(tmp_path: Path) -> None:
    found = teambot(tmp_path / "home", "prompt", "--as", "ada", "--in", "dm", "hello")
    request = found["request"]
    assert_valid_request(request)
    assert len(request["messages"]) == 1
    assert request["messages"][0]["content"][-1]["text"] == "hello"
    assert [row["name"] for row in found["sections"]] == [
        "tools",
        "system",
        "environment",
        "memory",
        "routines",
        "summary",
        "history",
        "newest",
    ]


def test_a_look_at_the_prompt_stores_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    teambot(home, "prompt", "--as", "ada", "--in", "dm", "hello")
    again = teambot(home, "prompt", "--as", "ada", "--in", "dm", "hello")
    assert len(again["request"]["messages"]) == 1
    assert teambot(home, "memories", "--as", "ada", "--in", "dm") == {"memories": []}


async def test_what_is_sent_in_real_turns_only_grows(database_url: str) -> None:
    model = Scripted(answers=["one", "two", "three", "four"])
    async with talking(database_url, model) as talk:
        await talk.say("ada", "#general", "first")
        await talk.overhear("ben", "#general", "unrelated talk")
        await talk.command("ben", "#general", "/memory add the office is in Ghent")
        await talk.say("ben", "#general", "second")
        await talk.say("ada", "#general", "third")
    sent = [blocks(body) for body in model.bodies]
    for body in model.bodies:
        assert_valid_request(body)
    for early, late in itertools.pairwise(sent):
        assert late[: len(early)] == early
    assert any("unrelated talk" in block for block in sent[1])
    assert any("Ghent" in block for block in sent[1][len(sent[0]) :])


async def test_readers_who_may_not_read_all_of_it_get_a_new_prefix(database_url: str) -> None:
    model = Scripted(answers=["one", "two"])
    async with talking(database_url, model) as talk:
        await talk.command("ada", "#general", "/memory add the canary is called Pip")
        await talk.say("ada", "#general", "first")
        assert "Pip" in json.dumps(model.bodies[0])
        await talk.desk.set_place("#general", external=True)
        await talk.say("ada", "#general", "second")
    assert "Pip" not in json.dumps(model.bodies[1])
    assert len(model.bodies[1]["messages"]) == 1
