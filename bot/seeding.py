"""The first rows of a fresh database: a team, its bot and, where no platform is configured, two people."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from memory.bots import FIRST_BOT, Bot
from memory.ids import derive
from memory.people import LOCAL, Account, Person, Team, Workspace, add_account
from memory.places import add_place

TEAM_ID = derive("team", LOCAL)


def seed(session: Session, *, local_people: bool) -> None:
    """Makes the team once; a team that exists is left as it is."""
    if session.scalar(select(func.count()).select_from(Team)):
        return
    session.add(Team(id=TEAM_ID, name="Team"))
    session.flush()
    session.add(Workspace(id=derive("workspace", LOCAL), team_id=TEAM_ID, platform=LOCAL, external_id=LOCAL))
    session.add(
        Bot(
            id=derive("bot", TEAM_ID, FIRST_BOT),
            team_id=TEAM_ID,
            name=FIRST_BOT,
            title="a teammate that remembers",
        )
    )
    session.flush()
    if local_people:
        add_account(session, TEAM_ID, LOCAL, LOCAL, "ada", "Ada", role="owner")
        add_account(session, TEAM_ID, LOCAL, LOCAL, "ben", "Ben")
        add_place(session, TEAM_ID, LOCAL, LOCAL, "general", "public", "general")


def has_platform_accounts(session: Session) -> bool:
    """Whether people of a real platform are known here; then nobody may act as somebody locally."""
    return session.scalar(select(Account.id).where(Account.platform != LOCAL).limit(1)) is not None


def local_people(session: Session) -> list[tuple[Account, Person]]:
    """Local people, by name."""
    rows = session.execute(
        select(Account, Person)
        .join(Person, Person.id == Account.person_id)
        .where(Account.platform == LOCAL)
        .order_by(Account.external_id)
    )
    return [(account, person) for account, person in rows]
