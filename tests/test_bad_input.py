"""Bad input and bad surroundings on the command line: a sentence, exit code 2, and nothing half written."""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import text

from memory.database import Database
from migrations import migrate

ROOT = Path(__file__).parent.parent


def teambot(home: Path, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    kept = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "LANG")}
    return subprocess.run(
        [sys.executable, "-m", "bot", *arguments],
        env={**kept, "TEAMBOT_HOME": str(home), **environment},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def says(done: "subprocess.CompletedProcess[str]", *words: str) -> None:
    """One sentence on stderr, exit code 2, no traceback."""
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    for word in words:
        assert word in done.stderr


def entries(home: Path) -> int:
    store = sqlite3.connect(home / "teambot.db")
    try:
        return int(store.execute("SELECT count(*) FROM entries").fetchone()[0])
    finally:
        store.close()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    assert teambot(folder, "migrate").returncode == 0
    return folder


HERE = ("--as", "ada", "--in", "#general")


def test_an_empty_message_is_refused_and_not_kept(home: Path) -> None:
    before = entries(home)
    says(teambot(home, "say", "   ", *HERE), "empty", "nothing was saved")
    assert entries(home) == before


def test_a_message_of_a_megabyte_is_refused_and_not_kept(home: Path, tmp_path: Path) -> None:
    before = entries(home)
    code = (
        "import sys; sys.argv = ['teambot', 'say', 'x' * 1_000_000, '--as', 'ada', '--in', '#general'];"
        "sys.argv.append('--json');"
        "from bot.__main__ import main; main()"
    )
    kept = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**kept, "TEAMBOT_HOME": str(home)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    says(done, "1,000,000 characters", "nothing was saved")
    assert "error" in json.loads(done.stdout)
    assert entries(home) == before


@pytest.mark.parametrize("words", ["a\\x00b", "half \\ud83d a rocket", "\\u202e right to left"])
def test_strange_characters_are_kept_as_what_every_database_takes(home: Path, words: str) -> None:
    code = (
        f"import sys; sys.argv = ['teambot', 'say', '{words}', '--as', 'ada', '--in', 'dm', '--json'];"
        "from bot.__main__ import main; main()"
    )
    kept = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**kept, "TEAMBOT_HOME": str(home)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"] == "completed"


def test_unknown_people_places_and_bots_are_named(home: Path) -> None:
    says(teambot(home, "say", "hi", "--as", "zoe", "--in", "dm"), "zoe")
    says(teambot(home, "say", "hi", "--as", "ada", "--in", "#nowhere"), "#nowhere")
    says(teambot(home, "say", "hi", *HERE, "--bot", "hal"), "hal")
    says(teambot(home, "say", "/nonsense", *HERE), "/nonsense")
    says(teambot(home, "edit", "new", *HERE, "--message", "general-999"), "general-999")
    says(teambot(home, "run", "--only", "kitchen"), "kitchen")


def test_a_read_only_database_is_said(home: Path, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        folder = tmp_path / "ro"
        folder.mkdir()
        done = teambot(folder, "migrate", DATABASE_URL=f"sqlite:///{folder}/missing/teambot.db")
        says(done, "does not exist", "nothing was saved")
        return
    folder = tmp_path / "ro"
    folder.mkdir(mode=0o500)
    says(teambot(folder, "say", "hi", *HERE), "nothing was saved")


def test_a_database_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "newer"
    folder.mkdir()
    database = Database(f"sqlite:///{folder / 'teambot.db'}")
    migrate(database)
    with database.writing.connect() as connection, connection.begin():
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    database.close()
    says(teambot(folder, "say", "hi", *HERE), "newer", "nothing was changed")


def test_a_file_that_is_no_database_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "teambot.db").write_text("this is no database, " * 400)
    says(teambot(folder, "say", "hi", *HERE), "nothing was saved")


def test_a_full_database_loses_nothing_and_says_so(tmp_path: Path) -> None:
    """A page limit stands in for a full disk: SQLite answers both with the same error."""
    folder = tmp_path / "full"
    folder.mkdir()
    code = (
        "import sys, memory.database as d; real = d.prepare_sqlite\n"
        "def limited(c):\n    real(c); c.execute('PRAGMA max_page_count=' + str(int(sys.argv.pop())))\n"
        "n = sys.argv[-1]\n"
        "def each(c):\n    real(c); c.execute('PRAGMA max_page_count=' + n)\n"
        "d.prepare_sqlite = each\n"
        "sys.argv = ['teambot', 'say', 'lorem ipsum ' * 8000, '--as', 'ada', '--in', '#general']\n"
        "from bot.__main__ import main; main()"
    )
    assert teambot(folder, "migrate").returncode == 0
    store = sqlite3.connect(folder / "teambot.db")
    pages = store.execute("PRAGMA page_count").fetchone()[0]
    store.close()
    before = entries(folder)
    kept = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME")}
    done = subprocess.run(
        [sys.executable, "-c", code, str(pages + 2)],
        env={**kept, "TEAMBOT_HOME": str(folder)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    says(done, "full", "nothing was saved")
    assert entries(folder) == before


def test_an_address_that_is_none_is_said(tmp_path: Path) -> None:
    says(teambot(tmp_path, "say", "hi", *HERE, DATABASE_URL="mysql://x"), "DATABASE_URL")
    says(
        teambot(tmp_path, "say", "hi", *HERE, DATABASE_URL="postgresql://nobody@127.0.0.1:1/none"),
        "cannot be reached",
    )
    says(teambot(tmp_path, "say", "hi", *HERE, TEAMBOT_DAILY_CAP="lots"), "TEAMBOT_DAILY_CAP")


def test_a_model_that_cannot_be_reached_is_said_and_the_message_is_kept(tmp_path: Path) -> None:
    done = teambot(tmp_path, "say", "hi", *HERE, "--json", ANTHROPIC_BASE_URL="http://127.0.0.1:9")
    found = json.loads(done.stdout)
    assert found["status"] == "failed"
    assert "Your message is kept" in found["reply"]
    assert entries(tmp_path) >= 1


def test_split_processes_on_sqlite_are_refused_with_the_remedy(tmp_path: Path) -> None:
    says(teambot(tmp_path, "run", "--only", "web"), "PostgreSQL", "DATABASE_URL")


def test_what_is_not_said_of_a_channel_or_person_stays_as_it_is(tmp_path: Path) -> None:
    def row(*arguments: str) -> dict[str, object]:
        found: dict[str, object] = json.loads(teambot(tmp_path, *arguments, "--json").stdout)
        return found

    assert row("place", "#ops", "--private", "--members", "ada")["kind"] == "private"
    assert row("place", "#ops", "--members", "ada,ben")["kind"] == "private"
    assert row("place", "#ops", "--external")["kind"] == "private"
    assert row("place", "#ops", "--internal", "--public")["kind"] == "public"
    assert row("person", "gus", "--guest")["is_guest"] is True
    assert row("person", "gus")["is_guest"] is True
    assert row("person", "gus", "--no-guest")["is_guest"] is False
