"""Forgetting and erasing reach the workspace: bytes, names and rows go, what is others' stays."""

import asyncio
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from bot.long_output import shortened
from bot.tools.tool import ToolCall
from memory.conversations import Entry
from memory.database import HOME, Database, now
from memory.disk import write
from memory.erasing import apply_ledger, erase, ledger
from memory.errors import StoreError
from memory.files import WorkspaceFile, sweep
from memory.following import message_deleted
from memory.forgetting import Receipt, forget, preview
from memory.listing import export
from memory.memories import Memory
from tests.bot.office import SETTINGS, Office
from tests.bot.tools.test_files import call
from tests.memory.world import World

CANARY = "zyzzyva"
FACT = f"The vault code word is {CANARY}"


@pytest.fixture
def home(office: Office, tmp_path: Path) -> Path:
    """The folder of this team's files, known to its database."""
    office.database.home = tmp_path / "home"
    office.database.home.mkdir()
    return office.database.home


def bytes_with(home: Path, word: str = CANARY) -> list[str]:
    """Files that have the word in their bytes or name."""
    return [
        str(path.relative_to(home))
        for path in home.rglob("*")
        if path.is_file() and (word in path.name or word in path.read_text("utf-8", "replace"))
    ]


def rows(office: World) -> list[WorkspaceFile]:
    return list(office.read(lambda session: session.scalars(select(WorkspaceFile)).all()))


def output(office: Office, home: Path, entry: Entry, text: str) -> str:
    turn: ToolCall = replace(office.turn(entry), settings=replace(SETTINGS, home=home))
    kept = json.loads(asyncio.run(shortened(turn, text, recalled=False)))
    return str(kept["path"])


def gone(office: Office, memory: Memory, name: str = "ada") -> Receipt:
    return office.run(forget, office.own(name), office.who(name), memory.id)


def test_long_results_go_with_the_turn_that_is_forgotten(office: Office, home: Path) -> None:
    said = office.say("ada", "dm", FACT)
    memory = office.learn(said, "ada", FACT, "dm")
    output(office, home, said, "lines without the word\n" * 500)
    later = office.say("ada", "dm", "look again")
    output(office, home, later, f"a log\n{FACT}\n" * 500)
    kept = output(office, home, office.say("ada", "dm", "something else"), "harmless\n" * 2_000)
    seen = office.run(preview, office.own("ada"), office.who("ada"), memory.id)
    assert seen.files == 2
    receipt = gone(office, memory)
    assert receipt.counts["files"] == 2
    assert bytes_with(home) == []
    assert [row.shown for row in rows(office)] == [kept]
    assert len([path for path in home.rglob("*") if path.is_file()]) == 1


def test_what_was_written_in_that_turn_goes_and_other_files_are_named(office: Office, home: Path) -> None:
    said = office.say("ada", "dm", FACT)
    memory = office.learn(said, "ada", FACT, "dm")
    call(office, home, "write_file", said, path=f"private/{CANARY}.txt", text=FACT)
    call(office, home, "write_file", said, path="private/list.txt", text="eggs and milk")
    later = office.say("ada", "dm", "note it once more")
    call(office, home, "write_file", later, path="private/again.txt", text=f"note: {FACT}.")
    receipt = gone(office, memory)
    assert bytes_with(home) == ["teams/team-1/private/" + office.person("ada") + "/again.txt"]
    assert "private/again.txt" in "\n".join(receipt.lines)
    assert CANARY not in "\n".join(receipt.lines)
    assert sorted(row.shown for row in rows(office)) == ["private/again.txt", "private/list.txt"]


def test_a_file_that_was_written_anew_since_stays(office: Office, home: Path) -> None:
    said = office.say("ada", "dm", FACT)
    memory = office.learn(said, "ada", FACT, "dm")
    call(office, home, "write_file", said, path="private/a.txt", text=FACT)
    call(office, home, "write_file", said, path="private/b.txt", text=FACT)
    later = office.say("ada", "dm", "write it anew, and add to the other")
    call(office, home, "write_file", later, path="private/a.txt", text="nothing of it")
    call(office, home, "write_file", later, path="private/b.txt", text=" and more", append=True)
    assert len(rows(office)) == 3
    gone(office, memory)
    assert [row.shown for row in rows(office)] == ["private/a.txt"]
    assert bytes_with(home) == []


def test_nobody_learns_of_others_files_from_a_receipt(office: Office, home: Path) -> None:
    """A team fact that stands in Ben's private file: Ada's receipt and preview are as without it."""
    said = office.say("ada", "general", FACT)
    memory = office.learn(said, "ada", FACT, subject="team")
    bens = office.say("ben", "dm", "keep it")
    call(office, home, "write_file", bens, path="private/own.txt", text=FACT)
    before = office.run(preview, office.own("ada"), office.who("ada"), memory.id)
    receipt = gone(office, memory)
    assert (before.files, receipt.counts["files"]) == (0, 0)
    assert "own.txt" not in "\n".join(receipt.lines)
    assert len(bytes_with(home)) == 1


def test_a_deleted_message_takes_the_long_results_of_its_turn(office: Office, home: Path) -> None:
    said = office.say("dana", "general", f"run it on {CANARY}")
    output(office, home, said, f"{CANARY}\n" * 2_000)
    assert bytes_with(home)
    office.run(message_deleted, "local", "here", "general", said.message_id or "", now())
    assert bytes_with(home) == []
    assert rows(office) == []


def test_erasing_takes_the_private_folder_and_names_what_stays(office: Office, home: Path) -> None:
    dm = office.say("ada", "dm", "keep it")
    call(office, home, "write_file", dm, path="private/a/b.txt", text=CANARY)
    folder = home / "teams" / "team-1" / "private" / office.person("ada")
    (folder / "unknown.txt").write_text(CANARY)
    (folder / "link").symlink_to("/etc")
    public = office.say("ada", "general", "write it for all")
    output(office, home, public, f"{CANARY}\n" * 2_000)
    call(office, home, "write_file", public, path="shared/plan.md", text="the plan")
    ben = office.say("ben", "dm", "mine")
    call(office, home, "write_file", ben, path="private/ben.txt", text="Ben's own")
    copy = office.run(export, office.who("ada"))
    assert [(row["path"], row["text"]) for row in copy["files"] if row["path"].startswith("private")] == [
        ("private/a/b.txt", CANARY)
    ]
    assert all("ben" not in row["path"] for row in copy["files"])
    receipt = office.run(erase, office.who("ada"))
    assert bytes_with(home) == []
    assert not folder.exists()
    assert Path("/etc").is_dir()
    assert receipt.counts["files"] == 2
    assert "shared/plan.md" in "\n".join(receipt.lines)
    assert sorted(row.shown for row in rows(office)) == ["private/ben.txt", "shared/plan.md"]
    assert all(row.person_id != office.person("ada") for row in rows(office))


def test_a_restored_backup_loses_its_files_again(office: Office, home: Path, tmp_path: Path) -> None:
    if not office.database.is_sqlite:
        assert office.run(apply_ledger, office.read(ledger)) == 0
        return
    dm = office.say("ada", "dm", "keep it")
    call(office, home, "write_file", dm, path="private/a.txt", text=CANARY)
    bens = office.say("ben", "dm", FACT)
    memory = office.learn(bens, "ben", FACT, "dm")
    output(office, home, bens, f"{CANARY}\n" * 2_000)
    office.run(lambda session: session.info.update(scrub=True))
    path = Path(office.database.url.removeprefix("sqlite:///"))
    shutil.copy(path, tmp_path / "backup.db")
    shutil.copytree(home, tmp_path / "restored")
    office.run(erase, office.who("ada"))
    gone(office, memory, "ben")
    lines = json.loads(json.dumps(office.read(ledger)))
    assert CANARY not in json.dumps(lines)
    old = World(Database(f"sqlite:///{tmp_path / 'backup.db'}"))
    old.database.home = tmp_path / "restored"
    assert len(bytes_with(tmp_path / "restored")) == 2
    old.run(apply_ledger, lines)
    assert bytes_with(tmp_path / "restored") == []
    assert rows(old) == []
    old.database.close()


def test_what_is_forgotten_while_it_is_written_is_not_kept(office: Office, home: Path) -> None:
    """Forgetting falls between a file's row and its bytes."""
    said = office.say("ada", "dm", FACT)
    memory = office.learn(said, "ada", FACT, "dm")

    def late(root: Path, parts: tuple[str, ...], data: bytes, **options: bool) -> int:
        gone(office, memory)
        return write(root, parts, data, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bot.workspace.disk.write", late)
        turn = replace(office.turn(said), settings=replace(SETTINGS, home=home))
        kept = json.loads(asyncio.run(shortened(turn, FACT * 500, recalled=False)))
    assert "path" not in kept
    assert bytes_with(home) == []


def test_bytes_that_a_crash_left_go_at_the_next_start(office: Office, home: Path) -> None:
    dm = office.say("ada", "dm", "keep it")
    call(office, home, "write_file", dm, path="private/a.txt", text=CANARY)
    office.database.home = None
    office.run(erase, office.who("ada"))
    assert bytes_with(home)
    assert rows(office)
    office.database.home = home
    assert office.run(sweep) == len(("private", "private.outside"))
    assert bytes_with(home) == []
    assert rows(office) == []


def test_a_failed_write_leaves_no_row(office: Office, home: Path) -> None:
    dm = office.say("ada", "dm", "keep it")
    call(office, home, "write_file", dm, path="private/a/b.txt", text="x")
    with pytest.raises(StoreError):
        call(office, home, "write_file", dm, path="private/a", text="y")
    assert [row.path for row in rows(office)] == ["a/b.txt"]


def test_a_rolled_back_forgetting_takes_no_bytes(office: Office, home: Path) -> None:
    dm = office.say("ada", "dm", "keep it")
    call(office, home, "write_file", dm, path="private/a.txt", text=CANARY)

    def broken(session: Session) -> None:
        assert session.info[HOME] == home
        erase(session, office.who("ada"))
        raise RuntimeError("the power went")

    with pytest.raises(RuntimeError):
        office.run(broken)
    assert len(bytes_with(home)) == 1
    assert len(rows(office)) == 1
