"""Files: a turn sees the folders of its readers, nothing leads out, and more readers need a press."""

import asyncio
import errno
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from bot.commands import registry
from bot.commands.command import Caller
from bot.errors import BotError, NotAllowed, Unknown
from bot.long_output import LONGEST, bounded, shortened
from bot.tools.tool import ToolResult
from bot.workspace import Workspace, mounted
from memory.audience import person_viewer, viewer
from memory.bots import Bot
from memory.cards import Card
from memory.conversations import Entry
from memory.disk import MOST_BYTES, listed, read, write
from memory.errors import Refused, StoreError
from memory.files import WorkspaceFile
from memory.people import speaker
from tests.bot.office import SETTINGS, Office
from tests.memory.world import BOT, account, place


def call(office: Office, home: Path, tool: str, entry: Entry, **arguments: Any) -> ToolResult:
    """A tool call in a workspace below `home`."""
    return asyncio.run(acall(office, home, tool, entry, **arguments))


async def acall(office: Office, home: Path, tool: str, entry: Entry, **arguments: Any) -> ToolResult:
    """The same within a running loop; every call is one of its own."""
    number = next(office.counter)
    turn = replace(office.turn(entry, f"call-{number}"), settings=replace(SETTINGS, home=home))
    checked = office.tools[tool].arguments.model_validate(arguments)
    result: ToolResult = await office.tools[tool].run(turn, checked)
    return result


def test_what_is_written_in_private_is_nowhere_else(office: Office, tmp_path: Path) -> None:
    dm = office.say("ada", "dm", "keep a list")
    call(office, tmp_path, "write_file", dm, path="private/list.txt", text="canary of Ada")
    assert call(office, tmp_path, "read_file", dm, path="private/list.txt").content["text"] == "canary of Ada"
    for name, channel in (("ben", "dm"), ("ada", "general"), ("ada", "ops"), ("gil", "dm")):
        entry = office.say(name, channel, "what files are there?")
        assert call(office, tmp_path, "list_files", entry).content["files"] == []
        assert call(office, tmp_path, "search_files", entry, query="canary").content["results"] == []
        with pytest.raises((BotError, StoreError)):
            call(office, tmp_path, "read_file", entry, path=f"private/../{office.person('ada')}/list.txt")


def test_a_private_channels_files_stay_with_its_members(office: Office, tmp_path: Path) -> None:
    ops = office.say("ada", "ops", "keep it")
    call(office, tmp_path, "write_file", ops, path="here/vault.txt", text="the vault is in Oslo")
    assert call(office, tmp_path, "search_files", ops, query="VAULT").content["results"]
    for name, channel in (("dana", "dm"), ("ada", "general"), ("ben", "dm")):
        entry = office.say(name, channel, "where is the vault?")
        assert call(office, tmp_path, "search_files", entry, query="vault").content["results"] == []


def test_the_team_reads_what_was_written_in_public(office: Office, tmp_path: Path) -> None:
    general = office.say("ada", "general", "write it down")
    call(office, tmp_path, "write_file", general, path="shared/a/plan.md", text="one")
    call(office, tmp_path, "write_file", general, path="shared/a/plan.md", text=" two", append=True)
    for name, channel in (("ben", "dm"), ("dana", "general"), ("ben", "ops")):
        entry = office.say(name, channel, "the plan?")
        assert (
            call(office, tmp_path, "read_file", entry, path="shared/a/plan.md").content["text"] == "one two"
        )
    guest = office.say("gil", "dm", "the plan?")
    with pytest.raises((BotError, StoreError)):
        call(office, tmp_path, "read_file", guest, path="shared/a/plan.md")


def _press(session: Session, home: Path, card_id: str, name: str = "ada") -> str:
    who = speaker(session, account(session, name).id)
    where = place(session, f"dm-{name}")
    caller = Caller(
        speaker=who,
        place=where,
        bot=session.get_one(Bot, BOT),
        viewer=person_viewer(session, BOT, who),
        here=viewer(session, BOT, where, who.account_id),
        settings=replace(SETTINGS, home=home),
    )
    return registry.run(session, caller, registry.find("confirm"), {"card": card_id}).text


def test_from_a_direct_message_the_team_gets_a_file_only_by_a_press(office: Office, tmp_path: Path) -> None:
    dm = office.say("ada", "dm", "put it in the team's folder")
    asked = call(office, tmp_path, "write_file", dm, path="shared/news.md", text="exact words")
    card = office.read(lambda session: session.get_one(Card, asked.content["card"]))
    assert "exact words" in card.text
    assert "shared/news.md" in card.text
    assert card.readers == "everyone in the team"
    assert call(office, tmp_path, "list_files", dm).content["files"] == []
    assert "shared/news.md" in office.run(_press, tmp_path, card.id)
    ben = office.say("ben", "general", "any news?")
    assert call(office, tmp_path, "read_file", ben, path="shared/news.md").content["text"] == "exact words"
    guest = office.say("gil", "dm", "write for the team")
    with pytest.raises((BotError, StoreError)):
        call(office, tmp_path, "write_file", guest, path="shared/news.md", text="no")


def test_another_persons_press_finds_nothing_and_an_old_card_writes_nothing(
    office: Office, tmp_path: Path
) -> None:
    dm = office.say("ada", "dm", "put it in the team's folder")
    card_id = call(office, tmp_path, "write_file", dm, path="shared/news.md", text="mine").content["card"]
    with pytest.raises(Unknown):
        office.run(_press, tmp_path, card_id, "ben")
    general = office.say("ben", "general", "write news")
    call(office, tmp_path, "write_file", general, path="shared/news.md", text="Ben's news")
    with pytest.raises(NotAllowed, match="changed since"):
        office.run(_press, tmp_path, card_id)
    assert call(office, tmp_path, "read_file", general, path="shared/news.md").content["text"] == "Ben's news"
    bots = call(office, tmp_path, "write_file", dm, path="bot/rules.md", text="be kind")
    office.run(_press, tmp_path, bots.content["card"])
    assert call(office, tmp_path, "read_file", general, path="bot/rules.md").content["text"] == "be kind"
    with pytest.raises(NotAllowed, match="used already"):
        office.run(_press, tmp_path, bots.content["card"])


@pytest.mark.parametrize(
    "path",
    [
        "/etc/hostname",
        "~/x",
        "shared/../../x",
        "../bot-10/notes.md",
        "shared/a\x00b",
        "shared\\..\\x",
        "memory/x",
        "shared",
        "",
        "shared/" + "a/" * 50 + "x",
        "x" * 500,
        "shared/link",
        "shared/out/hostname",
        "shared/pipe",
    ],
)
def test_no_path_leads_out(path: str, tmp_path: Path, office: Office) -> None:
    space = mounted(tmp_path, office.here("ada", "general"))
    root = space.own.path
    root.mkdir(parents=True)
    (root / "link").symlink_to("/etc/hostname")
    (root / "out").symlink_to("/etc")
    os.mkfifo(root / "pipe")
    with pytest.raises((BotError, StoreError)):
        _read(space, path)
    if path not in ("shared/link", "shared/pipe"):
        with pytest.raises((BotError, StoreError)):
            _write(space, path)
    assert list(listed(space.own.path)) == []
    assert Path("/etc/hostname").read_bytes() != b"x"


def _read(space: Workspace, path: str) -> bytes:
    folder, parts = space.locate(path)
    return read(folder.path, parts, 0, 10)[0]


def _write(space: Workspace, path: str) -> None:
    folder, parts = space.locate(path)
    write(folder.path, parts, b"x")


def test_a_folder_with_a_longer_name_is_another_folder(tmp_path: Path) -> None:
    own = tmp_path / "bot-1"
    (tmp_path / "bot-10").mkdir()
    (tmp_path / "bot-10" / "notes.md").write_text("canary", "utf-8")
    own.mkdir()
    (own / "near").symlink_to(tmp_path / "bot-10")
    with pytest.raises(Refused):
        read(own, ("near", "notes.md"), 0, 10)
    with pytest.raises(Refused):
        list(listed(own, ("near",)))


def test_a_full_folder_takes_no_more_and_stays_as_it_was(tmp_path: Path) -> None:
    own = tmp_path / "team" / "full"
    write(own, ("a.txt",), b"a")
    write(own, ("b.txt",), b"b")
    os.truncate(own / "a.txt", MOST_BYTES - 1)
    write(own, ("b.txt",), b"c")
    with pytest.raises(Refused, match="full"):
        write(own, ("b.txt",), b"cc")
    assert (own / "b.txt").read_bytes() == b"c"
    assert [parts for parts, _ in listed(own)] == [("a.txt",), ("b.txt",)]


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "team" / "disk"
    write(own, ("a.txt",), b"before")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("memory.disk.os.fsync", full)
    with pytest.raises(Refused, match="disk is full"):
        write(own, ("a.txt",), b"after, and longer")
    assert (own / "a.txt").read_bytes() == b"before"
    assert [entry.name for entry in own.iterdir()] == ["a.txt"]


async def test_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    own = tmp_path / "team" / "busy"
    lines = [f"{number}\n".encode() for number in range(40)]
    await asyncio.gather(*(asyncio.to_thread(write, own, ("log.txt",), line, append=True) for line in lines))
    assert sorted((own / "log.txt").read_bytes().splitlines(True)) == sorted(lines)


async def test_a_long_output_becomes_a_file_of_the_turns_readers(office: Office, tmp_path: Path) -> None:
    entry = office.say("ada", "dm", "run it")
    turn = replace(office.turn(entry), settings=replace(SETTINGS, home=tmp_path))
    text = bounded("x" * 2_500_000 + "a\x00b\ud800 last line")
    kept = await shortened(turn, text, recalled=False)
    assert len(kept) < LONGEST
    assert "last line" in kept
    assert "\x00" not in kept
    assert "private/outputs/" in kept
    (found,) = (await acall(office, tmp_path, "list_files", entry)).content["files"]
    part = (await acall(office, tmp_path, "read_file", entry, path=found["path"], offset=-9)).content["text"]
    assert part == "last line"
    assert (await acall(office, tmp_path, "list_files", office.say("ben", "dm", "?"))).content["files"] == []
    row = office.read(lambda session: session.scalars(select(WorkspaceFile)).one())
    assert (row.kind, row.turn_id, row.audience) == ("output", entry.turn_id, entry.audience)
    assert await shortened(turn, "short", recalled=False) == "short"
    assert "path" not in await shortened(turn, "y" * 9_000, recalled=True)


def test_a_file_is_read_in_parts_without_cutting_a_character(office: Office, tmp_path: Path) -> None:
    entry = office.say("ada", "dm", "read it")
    text = "añ語🙂" * 700
    call(office, tmp_path, "write_file", entry, path="private/t.txt", text=text)
    got, offset = "", 0
    while True:
        part = call(office, tmp_path, "read_file", entry, path="private/t.txt", offset=offset, length=101)
        got += part.content["text"]
        if "next_offset" not in part.content:
            break
        offset = part.content["next_offset"]
    assert got == text
