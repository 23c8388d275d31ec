"""A town of conversations, on two platforms, and a count of what was answered in them."""

import asyncio
import json
import random
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from bot.house import House
from bot.messages import Accepted, Address, Author, Message, Surroundings
from bot.seeding import seed
from memory.conversations import Entry
from memory.people import LOCAL
from memory.turns import Outgoing, Step, Turn
from tests.crash.far import NAME, WORKSPACE, Far, admit
from tests.crash.worker import made

ROOT = Path(__file__).parent.parent.parent
PEOPLE = ("ada", "ben")
CHANNELS = (
    Address(LOCAL, LOCAL, "general"),
    Address(LOCAL, LOCAL, "general", "t1"),
    Address(NAME, WORKSPACE, "C1"),
    Address(NAME, WORKSPACE, "C2"),
    Address(NAME, WORKSPACE, "C2", "t1"),
)


def message(address: Address, who: str, number: int, text: str = "") -> Message:
    """The message of that number; the same number is the same message, however often it comes."""
    own = f"{who}-far" if address.platform == NAME else who
    return Message(
        address=address,
        id=f"m{number}",
        author=Author(own, who.capitalize()),
        place=Surroundings("public", address.channel),
        text=text or f"message {number}",
        said_at=datetime.now(UTC),
    )


@dataclass
class Town:
    """Writes messages from this process, and never answers any."""

    options: dict[str, Any]
    house: House = field(init=False)
    accepted: dict[int, Accepted] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.house = made(self.options)
        self.house.engine.prepare()
        self.house.database.run_now(seed, local_people=True)
        self.house.database.run_now(admit)

    @property
    def far(self) -> Far:
        """What stands on the far platform."""
        return Far(Path(self.options["far"]))

    async def say(self, address: Address, who: str, text: str = "") -> Accepted:
        """One more message."""
        number = len(self.accepted) + 1
        accepted = await self.house.accept(message(address, who, number, text))
        self.accepted[number] = accepted
        return accepted

    async def talk(self, dice: random.Random, count: int) -> None:
        """Some messages here and there, one of them told twice."""
        for _ in range(count):
            address, who = dice.choice(CHANNELS), dice.choice(PEOPLE)
            await self.say(address, who)
            if dice.random() < 0.2:
                again = await self.house.accept(message(address, who, len(self.accepted)))
                assert again.repeated

    async def settled(self, seconds: float) -> bool:
        """Whether every message has been answered within that time."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while loop.time() < end:
            if not await self.house.database.read(unanswered) and not await self.house.engine.owed():
                return True
            await asyncio.sleep(0.1)
        return False

    def findings(self) -> list[str]:
        """Everything that is not as it should be."""
        return [*self.house.database.read_now(lost, self.accepted), *self._doubled(), *self._disordered()]

    def _doubled(self) -> list[str]:
        sent = {
            row.id: row.text
            for row in self.house.database.read_now(
                lambda session: list(session.scalars(select(Outgoing).where(Outgoing.platform == NAME)))
            )
        }
        posts = self.far.posts()
        keys = [key for key, _, _, _ in posts]
        wrong = [f"{key} stands there {keys.count(key)} times" for key in sent if keys.count(key) != 1]
        wrong += [f"{key} is nobody's" for key in keys if key not in sent]
        wrong += [
            f"{key} is unfinished" for key, _, text, final in posts if not final or text != sent.get(key)
        ]
        return wrong

    def _disordered(self) -> list[str]:
        return self.house.database.read_now(disordered)

    async def close(self) -> None:
        """Ends."""
        await self.house.stop(0)


def unanswered(session: Session) -> int:
    """Messages and turns that are not done."""
    waiting = select(func.count()).select_from(Entry).where(Entry.addressed, Entry.turn_id.is_(None))
    running = select(func.count()).select_from(Turn).where(Turn.status == "running")
    return int(session.scalar(waiting) or 0) + int(session.scalar(running) or 0)


def running(session: Session) -> int:
    """How many turns are in flight."""
    return int(session.scalar(select(func.count()).select_from(Turn).where(Turn.status == "running")) or 0)


def lost(session: Session, accepted: dict[int, Accepted]) -> list[str]:
    """Messages that no sent reply covers, and money that is still reserved."""
    wrong = []
    for number, receipt in accepted.items():
        entry = session.scalars(select(Entry).where(Entry.id == receipt.entry_id)).one()
        turn = session.get(Turn, entry.turn_id) if entry.turn_id else None
        row = session.get(Outgoing, f"{entry.turn_id}:0")
        if turn is None or turn.status != "completed":
            wrong.append(f"message {number}: turn {turn and (turn.id, turn.status, turn.error)}")
        elif row is None or row.status != "sent" or "answer to" not in row.text:
            wrong.append(f"message {number}: reply {row and (row.id, row.status, row.text)}")
    open_steps = session.scalar(
        select(func.count()).select_from(Step).where(Step.cost.is_(None), Step.tag == "main")
    )
    return wrong + ([f"{open_steps} reservations are open"] if open_steps else [])


def disordered(session: Session) -> list[str]:
    """Conversations whose turns overlap, or began in another order than their messages came."""
    wrong = []
    turns = session.scalars(select(Turn).order_by(Turn.conversation_id, Turn.started_at)).all()
    firsts = dict(
        session.execute(
            select(Entry.turn_id, func.min(Entry.seq)).where(Entry.kind == "message").group_by(Entry.turn_id)
        ).all()
    )
    for one, two in pairwise(turns):
        if one.conversation_id != two.conversation_id:
            continue
        if one.ended_at is None or one.ended_at > two.started_at:
            wrong.append(f"{one.id} and {two.id} overlap")
        if firsts[one.id] > firsts[two.id]:
            wrong.append(f"{two.id} came too late")
    by_author = session.execute(
        select(Entry.conversation_id, Entry.person_id, Entry.seq, Entry.position)
        .where(Entry.kind == "message", Entry.position.is_not(None))
        .order_by(Entry.conversation_id, Entry.person_id, Entry.seq)
    ).all()
    for before, after in pairwise(by_author):
        if before[:2] == after[:2] and (before.position or 0) > (after.position or 0):
            wrong.append(f"messages {before.seq} and {after.seq} changed places")
    return wrong


@dataclass
class Worker:
    """A process that runs turns. It is started ahead of time, so that it runs as soon as it is told to."""

    process: asyncio.subprocess.Process

    @classmethod
    async def wait(cls, options: dict[str, Any]) -> "Worker":
        """A worker that stands by."""
        return cls(
            await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "tests.crash.worker",
                json.dumps(options),
                cwd=ROOT,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=None if options.get("loud") else asyncio.subprocess.DEVNULL,
            )
        )

    async def go(self) -> None:
        """Lets it work."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(b"go\n")
        assert await self.process.stdout.readline() == b"ready\n"

    async def kill(self) -> None:
        """kill -9; of one that is gone already, nothing."""
        if self.process.returncode is None:
            self.process.kill()
            await self._gone()

    async def stop(self) -> int:
        """SIGTERM; the exit code."""
        self.process.terminate()
        return await self._gone()

    async def _gone(self) -> int:
        await self.process.communicate()
        return await self.process.wait()
