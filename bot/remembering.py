"""The memory pass: after a turn, a small model proposes what to remember, and code decides."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from sqlalchemy.orm import Session

from bot.model import Body, Model, Response, texts
from bot.offline import NAME as OFFLINE
from bot.pass_input import DONE, PassInput, context, delta
from bot.pass_request import PASS_SCHEMA, parse, request
from bot.settings import Settings
from memory.admission import admit_all
from memory.database import Database, now
from memory.evidence import keep, note_refusal
from memory.proposals import Confirms, Proposal, Refused, Verdict
from memory.turns import CallTag, Turn

__all__ = ["PassInput", "PassOutcome", "apply", "ask", "delta", "parse", "remember", "request"]


class Reserved(Protocol):
    """A model call whose worst cost is reserved."""

    async def settle(self, response: Response) -> None:
        """Records what it used."""

    async def release(self) -> None:
        """It failed before it cost anything."""


class Reserve(Protocol):
    """Reserves the worst cost of a call; raises `CapReached`."""

    async def __call__(self, tag: CallTag, body: Body, model: Model) -> Reserved: ...


@dataclass(frozen=True)
class PassOutcome:
    """What a pass changed: ids of memories, and codes of refusals."""

    added: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    confirmed: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """As the turn keeps it: ids and codes only."""
        return {name: list(getattr(self, name)) for name in ("added", "replaced", "confirmed", "refused")}


async def remember(
    database: Database, model: Model, settings: Settings, turn_id: str, reserve: Reserve
) -> PassOutcome:
    """One turn's memory pass; run again it does nothing twice. The model thinks outside any transaction."""
    given = await database.read(delta, turn_id)
    if given is None:
        return PassOutcome()
    name = settings.memory_model if settings.has_model else OFFLINE
    body = request(name, given.payload, effort=model.capabilities.effort)
    response = await ask(model, body, "pass", reserve)
    return await database.run(apply, given, parse(texts(response.content)), now())


async def ask(model: Model, body: Body, tag: CallTag, reserve: Reserve) -> Response:
    """The model's answer as JSON, its cost reserved first and settled after."""
    reserved = await reserve(tag, body, model)
    try:
        response = await model.structured(body, PASS_SCHEMA)
    except BaseException:
        await reserved.release()
        raise
    await reserved.settle(response)
    return response


def apply(session: Session, given: PassInput, proposals: list[Proposal], at: datetime) -> PassOutcome:
    """Judges the proposals by what holds now and writes what is admitted, all in one transaction."""
    turn = session.get(Turn, given.turn_id or "")
    if turn is None:
        return PassOutcome()
    if DONE in turn.remembered:
        return PassOutcome(**{name: tuple(ids) for name, ids in turn.remembered[DONE].items()})
    outcome: dict[str, list[str]] = {"added": [], "replaced": [], "confirmed": [], "refused": []}
    seen: dict[str, int] = {}
    for verdict in admit_all(proposals, context(session, given, proposals, at)):
        entry_id = verdict.said.entry_id if verdict.said else ""
        seen[entry_id] = seen.get(entry_id, 0) + 1
        kind, what = _keep(session, given, verdict, (DONE, turn.id, entry_id, seen[entry_id]))
        outcome[kind].append(what)
    done = PassOutcome(**{kind: tuple(ids) for kind, ids in outcome.items()})
    turn.remembered = {**turn.remembered, DONE: done.record()}
    return done


def _keep(
    session: Session, given: PassInput, verdict: Verdict, key: tuple[str | int, ...]
) -> tuple[str, str]:
    """What became of a verdict, and the id or code of it."""
    if not isinstance(verdict, Refused):
        written = keep(
            session,
            verdict,
            team_id=given.team_id,
            bot_id=given.bot_id,
            origin="pass",
            key=key,
            seen=given.seen,
        )
        if not isinstance(written, str):
            kind = "confirmed" if isinstance(verdict, Confirms) else written.action
            return (kind if kind in ("added", "replaced") else "confirmed"), written.memory.id
        verdict = Refused(written, verdict.said)
    note_refusal(
        session, verdict, team_id=given.team_id, audience=given.audience, turn_id=given.turn_id, key=key
    )
    return "refused", verdict.reason
