"""Files of the workspace: whose they are, which turn they came from, and how forgetting reaches them.

The bytes lie below the home folder; a row is written before its bytes, so that none are without one. A row
whose `gone_at` is set waits until its bytes are gone: right after the commit, or at the next start.
"""

import logging
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import ColumnElement, ForeignKey, Index, and_, delete, or_, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from memory import disk, erasures
from memory.audience import TEAM, Audience, Viewer, of_person
from memory.bots import Bot
from memory.database import HOME, UNLINK, Base, Moment, Words, now
from memory.errors import StoreError
from memory.ids import derive
from memory.words import clean

log = logging.getLogger("teambot.files")

Kind = Literal["output", "written", "tree"]
CHUNK = 400
LOOKED_THROUGH = 32_000_000
"""Bytes that one forgetting reads at most, newest files first."""
EXPORTED = 4_000_000
OUTSIDE = ".outside"
SHOWN = {"shared": "shared", "private": "private", "places": "here", "bots": "bot"}
_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,64}")


class WorkspaceFile(Base):
    """One write of a file in one turn; a file that was added to has a row for each write.

    `folder` is below home, `path` below the folder. Kinds: `output` (a long result), `written` (by a tool at
    somebody's request), `tree` (a whole folder that is on its way out).
    """

    __tablename__ = "workspace_files"
    __table_args__ = (
        Index("ix_workspace_files_gate", "team_id", "audience"),
        Index("ix_workspace_files_where", "folder", "path"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"))
    audience: Mapped[str]
    drawn_from: Mapped[str | None]
    bot_id: Mapped[str | None]
    person_id: Mapped[str | None] = mapped_column(ForeignKey("persons.id", ondelete="SET NULL"), index=True)
    turn_id: Mapped[str | None] = mapped_column(index=True)
    kind: Mapped[str]
    folder: Mapped[str]
    path: Mapped[str] = mapped_column(Words)
    created_at: Mapped[datetime] = mapped_column(Moment, default=now)
    gone_at: Mapped[datetime | None] = mapped_column(Moment, index=True)

    @property
    def shown(self) -> str:
        """The file as people and models name it."""
        return f"{SHOWN[self.folder.split('/')[2]]}/{self.path}"

    @property
    def parts(self) -> disk.Parts:
        return tuple(self.path.split("/"))


@dataclass(frozen=True)
class Target:
    """Where a write goes, for whom, and the turn and call that it belongs to."""

    team_id: str
    folder: str
    path: str
    audience: Audience
    drawn_from: Audience | None
    bot_id: str | None
    person_id: str | None
    turn_id: str | None
    key: str
    kind: Kind = "written"


def folder_of(team_id: str, kind: str, key: str = "", *, inside: bool = True) -> str:
    """A folder below home: `shared`, `places`, `private` or `bots`.

    What was made where team memory is read lies apart from what was made where it is not, so that a channel
    that opens to outsiders, or a member who becomes a guest, takes nothing of the team's along.
    """
    parts = ["teams", _plain(team_id), kind]
    return "/".join([*parts, _plain(key) + ("" if inside else OUTSIDE)] if key else parts)


def begin(session: Session, target: Target) -> str:
    """The row of a write that is about to happen."""
    row_id = derive("file", target.team_id, target.folder, target.path, target.turn_id or "", target.key)
    if session.get(WorkspaceFile, row_id) is None:
        session.add(
            WorkspaceFile(
                id=row_id,
                team_id=target.team_id,
                audience=target.audience,
                drawn_from=target.drawn_from,
                bot_id=target.bot_id,
                person_id=target.person_id,
                turn_id=target.turn_id,
                kind=target.kind,
                folder=target.folder,
                path=target.path,
            )
        )
        session.flush()
    return row_id


def settle(session: Session, row_id: str, *, replaces: bool) -> bool:
    """After the bytes: whether they may stay. They may not when their turn was forgotten meanwhile.

    What a whole new file replaced is not what the file rests on any more.
    """
    row = session.get(WorkspaceFile, row_id, populate_existing=True)
    if row is None or row.gone_at is not None:
        return False
    if replaces:
        same = (WorkspaceFile.folder == row.folder, WorkspaceFile.path == row.path)
        session.execute(
            delete(WorkspaceFile).where(*same, WorkspaceFile.id != row.id, WorkspaceFile.gone_at.is_(None))
        )
    return True


def cancel(session: Session, row_id: str) -> None:
    """Takes back the row of a write that did not happen."""
    session.execute(delete(WorkspaceFile).where(WorkspaceFile.id == row_id, WorkspaceFile.gone_at.is_(None)))


def doom(session: Session, rows: Iterable[WorkspaceFile]) -> int:
    """Marks files as gone for good; their bytes go after the commit. How many files."""
    places = {(row.folder, row.path) for row in rows}
    for folder, path in places:
        same = select(WorkspaceFile).where(
            WorkspaceFile.folder == folder, WorkspaceFile.path == path, WorkspaceFile.gone_at.is_(None)
        )
        found = session.scalars(same).all()
        for row in found:
            row.gone_at = now()
            _to_unlink(session, row)
        for team_id in {row.team_id for row in found}:
            erasures.note(session, team_id, "file", [row.id for row in found], now())
    session.flush()
    return len(places)


def doom_outputs(session: Session, turns: Iterable[str]) -> int:
    """Long results of turns whose words go."""
    return doom(session, of_turns(session, turns, ("output",)))


def of_turns(session: Session, turns: Iterable[str], kinds: Sequence[Kind]) -> list[WorkspaceFile]:
    """The files of turns."""
    wanted = sorted(set(turns))
    return [
        row
        for start in range(0, len(wanted), CHUNK)
        for row in session.scalars(
            select(WorkspaceFile).where(
                WorkspaceFile.turn_id.in_(wanted[start : start + CHUNK]),
                WorkspaceFile.kind.in_(kinds),
                WorkspaceFile.gone_at.is_(None),
            )
        )
    ]


def doom_named(session: Session, team_id: str, ids: Sequence[str]) -> int:
    """Files by the ids of the ledger."""
    rows: list[WorkspaceFile] = []
    for start in range(0, len(ids), CHUNK):
        named = WorkspaceFile.id.in_(ids[start : start + CHUNK])
        rows += session.scalars(select(WorkspaceFile).where(WorkspaceFile.team_id == team_id, named))
    return doom(session, rows)


def doom_private(session: Session, team_id: str, person_id: str) -> int:
    """Everything in a person's own folder, and in those of bots that are theirs alone. How many files."""
    own = of_person(person_id)
    bots = session.scalars(select(Bot.id).where(Bot.team_id == team_id, Bot.audience == own))
    folders = [folder_of(team_id, "private", person_id, inside=inside) for inside in (True, False)]
    folders += [folder_of(team_id, "bots", bot_id) for bot_id in bots]
    home = session.info.get(HOME)
    number = sum(disk.used(Path(home, folder))[0] for folder in folders) if home is not None else 0
    session.execute(
        delete(WorkspaceFile).where(
            WorkspaceFile.team_id == team_id,
            or_(WorkspaceFile.audience == own, WorkspaceFile.folder.in_(folders)),
        )
    )
    for folder in folders:
        row = WorkspaceFile(
            id=derive("tree", folder, now().isoformat()),
            team_id=team_id,
            audience=own,
            kind="tree",
            folder=folder,
            path="",
            gone_at=now(),
        )
        session.add(row)
        _to_unlink(session, row)
    session.flush()
    return number


def written_by(session: Session, person_id: str) -> list[WorkspaceFile]:
    """Files for more readers that were written at somebody's request; they stay when that person goes."""
    own = select(WorkspaceFile).where(
        WorkspaceFile.person_id == person_id,
        WorkspaceFile.kind == "written",
        WorkspaceFile.gone_at.is_(None),
        WorkspaceFile.audience != of_person(person_id),
    )
    return _latest(session.scalars(own.order_by(WorkspaceFile.created_at.desc(), WorkspaceFile.id)))


def looked_through(
    session: Session,
    team_id: str,
    audiences: Iterable[Audience],
    turns: Iterable[str],
    person_id: str | None,
) -> tuple[list[tuple[list[WorkspaceFile], str]], bool]:
    """Files that may hold words of these audiences, each with all its rows and its text; and whether that
    was all of them.

    The team's words may stand in anybody's file, one person's or place's only in files of those readers, and
    in what that person had written in these turns.
    """
    home = session.info.get(HOME)
    if home is None:
        return [], True
    query = select(WorkspaceFile).where(
        WorkspaceFile.team_id == team_id, WorkspaceFile.gone_at.is_(None), WorkspaceFile.kind != "tree"
    )
    wanted = set(audiences)
    if TEAM not in wanted:
        own: list[ColumnElement[bool]] = [
            WorkspaceFile.audience.in_(wanted),
            WorkspaceFile.drawn_from.in_(wanted),
        ]
        if person_id is not None:
            some = WorkspaceFile.turn_id.in_(list(turns)[:CHUNK])
            own.append(and_(WorkspaceFile.person_id == person_id, some))
        query = query.where(or_(*own))
    room = LOOKED_THROUGH
    found: list[tuple[list[WorkspaceFile], str]] = []
    files: dict[tuple[str, str], list[WorkspaceFile]] = {}
    for row in session.scalars(query.order_by(WorkspaceFile.created_at.desc(), WorkspaceFile.id)):
        files.setdefault((row.folder, row.path), []).append(row)
    for rows in files.values():
        text = _text(Path(home), rows[0], room)
        if text is None:
            return found, False
        room -= len(text)
        found.append((rows, text))
    return found, True


def exported(session: Session, viewer: Viewer, person_id: str) -> list[dict[str, Any]]:
    """A person's own files, and those written at their request, as far as they may read them."""
    mine = or_(WorkspaceFile.person_id == person_id, WorkspaceFile.audience == of_person(person_id))
    rows = session.scalars(
        select(WorkspaceFile)
        .where(
            viewer.may_read(WorkspaceFile),
            mine,
            WorkspaceFile.gone_at.is_(None),
            WorkspaceFile.kind != "tree",
        )
        .order_by(WorkspaceFile.created_at, WorkspaceFile.id)
    )
    home, room = session.info.get(HOME), EXPORTED
    found: list[dict[str, Any]] = []
    for row in _latest(rows):
        text = _text(Path(home), row, room) if home is not None else None
        room -= len(text or "")
        found.append({"at": row.created_at.isoformat(), "path": row.shown, "text": text})
    return found


def sweep(session: Session) -> int:
    """What a crash left: files that are gone by their rows and not yet from the disk."""
    rows = session.scalars(select(WorkspaceFile).where(WorkspaceFile.gone_at.is_not(None))).all()
    for row in rows:
        _to_unlink(session, row)
    return len(rows)


def unlink(home: Path, gone: Sequence[tuple[str, str, str]]) -> list[str]:
    """Takes bytes away; the ids of the rows whose bytes are gone."""
    done = []
    for row_id, folder, path in gone:
        try:
            if path:
                disk.remove(home / folder, tuple(path.split("/")))
            else:
                disk.clear(home / folder)
        except (OSError, StoreError) as error:
            log.error("file %s could not be removed: %s", row_id, type(error).__name__)
            continue
        done.append(row_id)
    return done


def _to_unlink(session: Session, row: WorkspaceFile) -> None:
    session.info.setdefault(UNLINK, []).append((row.id, row.folder, row.path))


def _latest(rows: Iterable[WorkspaceFile]) -> list[WorkspaceFile]:
    """One row for each file."""
    return list({(row.folder, row.path): row for row in rows}.values())


def _text(home: Path, row: WorkspaceFile, room: int) -> str | None:
    """A file's text, empty where it is gone; none where there is no room for it."""
    try:
        data, size = disk.read(home / row.folder, row.parts, 0, disk.LARGEST_FILE)
    except (OSError, StoreError):
        return ""
    return clean(data.decode("utf-8", "replace")) if size <= room else None


def _plain(key: str) -> str:
    """An id as the name of a folder."""
    return key if _PLAIN.fullmatch(key) else derive("folder", key)
