"""Erasures: a ledger of what is gone for good, by hashes and ids, kept outside backups."""

from collections.abc import Iterable
from datetime import datetime
from typing import Literal

from sqlalchemy import ForeignKey, Index, UniqueConstraint, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from memory.database import Base, Moment
from memory.ids import derive
from memory.words import sha256

CHUNK = 400
Kind = Literal["account", "memory", "entry", "file"]


class Erasure(Base):
    """An account that was erased, a memory, an entry or a file that was forgotten; `key` holds no words.

    An account stands as a hash. The ledger is what brings a restored backup up to date.
    """

    __tablename__ = "erasures"
    __table_args__ = (UniqueConstraint("kind", "key"), Index("ix_erasures_team_id", "team_id"))

    id: Mapped[str] = mapped_column(primary_key=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"))
    kind: Mapped[str]
    key: Mapped[str]
    at: Mapped[datetime] = mapped_column(Moment)


def account_key(account_id: str) -> str:
    """An account as the ledger names it."""
    return sha256(account_id)


def note(session: Session, team_id: str, kind: Kind, keys: Iterable[str], at: datetime) -> None:
    """Writes lines of the ledger; a later one for the same thing moves its moment on."""
    wanted = list(dict.fromkeys(keys))
    for start in range(0, len(wanted), CHUNK):
        some = wanted[start : start + CHUNK]
        known = {
            row.key: row
            for row in session.scalars(select(Erasure).where(Erasure.kind == kind, Erasure.key.in_(some)))
        }
        for row in known.values():
            row.at = max(row.at, at)
        session.add_all(
            Erasure(id=derive("erasure", kind, key), team_id=team_id, kind=kind, key=key, at=at)
            for key in some
            if key not in known
        )
    session.flush()


def erased_since(session: Session, account_id: str, said_at: datetime) -> bool:
    """Whether what that account said then was erased: it must not come in again."""
    mark = select(Erasure.at).where(Erasure.kind == "account", Erasure.key == account_key(account_id))
    at = session.scalar(mark)
    return at is not None and said_at <= at
