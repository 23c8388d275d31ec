"""The house stays as it was meant: small files, clean locks, no trace of the machine it was built on."""

import ast
import re
import subprocess
from dataclasses import fields
from pathlib import Path

import pytest

from bot.settings import Settings

ROOT = Path(__file__).parent.parent
PACKAGES = ("bot", "adapters", "memory", "routines", "migrations", "benchmarks", "tests")
LOCKS = ("requirements.lock", "requirements-semantic.lock", "requirements-dev.lock")
FILE_LINES = 400
FUNCTION_LINES = 60

# What is longer for a reason: the path of a file, or path and function, and why.
LARGE: dict[str, str] = {}


def sources() -> list[Path]:
    """Every Python file of ours."""
    held = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return sorted(path for path in held if "node_modules" not in path.parts)


def name(path: Path) -> str:
    """The path as it is written in messages."""
    return path.relative_to(ROOT).as_posix()


def long_functions(path: Path) -> list[str]:
    """Functions that are longer than a screen or two, their docstring not counted."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
        lines = (node.end_lineno or 0) - body[0].lineno + 1
        if lines > FUNCTION_LINES:
            found.append(f"{name(path)}:{node.name}")
    return found


def test_files_and_functions_are_short() -> None:
    code = [path for path in sources() if not name(path).startswith(("tests/", "migrations/versions/"))]
    files = [name(path) for path in code if len(path.read_text(encoding="utf-8").splitlines()) > FILE_LINES]
    functions = [long for path in code for long in long_functions(path)]
    assert sorted(files + functions) == sorted(LARGE)


def test_modules_are_named_for_what_they_hold() -> None:
    vague = re.compile(r"manager|helper|util")
    assert [name(path) for path in sources() if vague.search(path.stem)] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_locks_hold_versions_and_hashes_only(lock: str) -> None:
    line = re.compile(r"[A-Za-z0-9._-]+==[^\s:/]+( ; [^:/]+)? \\|    --hash=sha256:[0-9a-f]{64}( \\)?")
    assert [text for text in (ROOT / lock).read_text().splitlines() if not line.fullmatch(text)] == []


def test_the_lock_of_the_stand_ins_holds_no_addresses() -> None:
    assert "://" not in (ROOT / "tests/stand_ins/package-lock.json").read_text()


def test_the_smaller_locks_agree_with_the_largest() -> None:
    core, semantic, dev = (
        {*re.findall(r"^\S+==\S+", (ROOT / lock).read_text(), re.MULTILINE)} for lock in LOCKS
    )
    assert core < semantic < dev


def test_no_file_knows_the_machine_it_was_written_on() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    folders = re.compile(rb"(?<![\w.])/(?:work|root|home/\w+|Users/\w+)/")
    held = [ROOT / path for path in listed.stdout.decode().split("\0") if path]
    guilty = [name(path) for path in held if path.is_file() and folders.search(path.read_bytes())]
    assert [path for path in guilty if path != name(Path(__file__))] == []


def test_the_example_of_settings_names_each_of_them() -> None:
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    named = set(re.findall(r"^# ([A-Z_]+)=", example, re.MULTILINE))
    known = {field.name.upper() for field in fields(Settings)}
    assert {setting.removeprefix("TEAMBOT_") for setting in named} == known
    code = (ROOT / "bot/settings.py").read_text(encoding="utf-8")
    assert [setting for setting in sorted(named) if f'"{setting}"' not in code] == []
