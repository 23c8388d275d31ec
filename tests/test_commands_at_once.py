"""Several commands at once on one database: one of them runs turns, and the others are answered too."""

import asyncio
import json
import os
import sys
from pathlib import Path


async def say(home: Path, who: str, text: str) -> dict[str, object]:
    """`teambot say` in a process of its own."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("ANTHROPIC", "DATABASE"))}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "say", "--as", who, "--in", "#general", text, "--json"),
        env={**kept, "TEAMBOT_HOME": str(home), "PYTHONPATH": str(Path(__file__).parent.parent)},
        cwd=home,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return dict(json.loads(out))


async def test_every_one_of_several_commands_is_answered(tmp_path: Path) -> None:
    await say(tmp_path, "ada", "remember: we deploy on Tuesdays")
    answers = await asyncio.gather(
        *(say(tmp_path, who, "When do we deploy?") for who in ("ada", "ben", "ada", "ben"))
    )
    assert ["Tuesdays" in str(found["reply"]) for found in answers] == [True] * 4
