"""Teams, people and their accounts. Ids decide, names are labels."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import JSON, ForeignKey, UniqueConstraint, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from memory.database import Base, Moment, Words, now
from memory.errors import NotFound
from memory.ids import derive

Role = Literal["owner", "admin", "member", "guest"]
Standing = Literal["member", "guest", "external", "deactivated", "unmapped"]

LOCAL = "local"


class Team(Base):
    """One tenant."""

    __tablename__ = "teams"

    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(Words)
    settings: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    created_at: Mapped[datetime] = mapped_column(Moment, default=now)


class Workspace(Base):
    """A Slack workspace, a Discord guild or the local platform, admitted by the installer to a team."""

    __tablename__ = "workspaces"
    __table_args__ = (UniqueConstraint("platform", "external_id"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), index=True)
    platform: Mapped[str]
    external_id: Mapped[str]
    name: Mapped[str] = mapped_column(Words, default="")
    settings: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    created_at: Mapped[datetime] = mapped_column(Moment, default=now)


class Person(Base):
    """A human of one team."""

    __tablename__ = "persons"

    id: Mapped[str] = mapped_column(primary_key=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(Words)
    role: Mapped[str] = mapped_column(default="member")
    zone: Mapped[str] = mapped_column(default="UTC")
    learning_paused: Mapped[bool] = mapped_column(default=False)
    settings: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    created_at: Mapped[datetime] = mapped_column(Moment, default=now)


class Account(Base):
    """A person's identity on one platform; `standing` says what the platform says of it."""

    __tablename__ = "accounts"
    __table_args__ = (UniqueConstraint("platform", "workspace", "external_id"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), index=True)
    person_id: Mapped[str] = mapped_column(ForeignKey("persons.id", ondelete="CASCADE"), index=True)
    platform: Mapped[str]
    workspace: Mapped[str]
    external_id: Mapped[str]
    name: Mapped[str] = mapped_column(Words)
    standing: Mapped[str] = mapped_column(default="member")
    created_at: Mapped[datetime] = mapped_column(Moment, default=now)


@dataclass(frozen=True)
class Speaker:
    """Who acts: an account, its person, and the role that counts now."""

    team_id: str
    person_id: str
    account_id: str
    name: str
    role: Role
    zone: str

    @property
    def is_guest(self) -> bool:
        return self.role == "guest"

    @property
    def is_admin(self) -> bool:
        return self.role in ("owner", "admin")


def speaker(session: Session, account_id: str) -> Speaker:
    """The speaker behind an account, with today's role: any standing but `member` makes a guest."""
    row = session.execute(
        select(Account, Person).join(Person, Person.id == Account.person_id).where(Account.id == account_id)
    ).one_or_none()
    if row is None:
        raise NotFound("There is no such account.")
    account, person = row
    role: Any = person.role if account.standing == "member" else "guest"
    return Speaker(account.team_id, person.id, account.id, person.name, role, person.zone)


def find_account(session: Session, platform: str, workspace: str, external_id: str) -> Account | None:
    """The account with that platform identity."""
    return session.scalar(
        select(Account).where(
            Account.platform == platform, Account.workspace == workspace, Account.external_id == external_id
        )
    )


def add_account(
    session: Session,
    team_id: str,
    platform: str,
    workspace: str,
    external_id: str,
    name: str,
    *,
    role: Role = "member",
    standing: Standing = "member",
    zone: str = "UTC",
) -> Account:
    """A new account with a person of its own (linking accounts is a separate act)."""
    account_id = derive("account", platform, workspace, external_id)
    person = Person(id=derive("person", account_id), team_id=team_id, name=name, role=role, zone=zone)
    account = Account(
        id=account_id,
        team_id=team_id,
        person_id=person.id,
        platform=platform,
        workspace=workspace,
        external_id=external_id,
        name=name,
        standing=standing,
    )
    session.add(person)
    session.flush()
    session.add(account)
    session.flush()
    return account
