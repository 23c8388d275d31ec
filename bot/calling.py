"""Calling: the tool calls of a step, each checked, run once, and stored with its result."""

import json
import logging
from dataclasses import replace
from typing import Any

from pydantic import ValidationError
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from bot import turns
from bot.engine import told
from bot.errors import BotError
from bot.long_output import bounded, shortened
from bot.model import Block, tool_uses
from bot.patience import Stopped, watched
from bot.preparation import cast
from bot.repair import interrupted
from bot.settings import Settings
from bot.tools.tool import READERS_CHANGED, Tool, ToolCall, ToolResult
from memory.conversations import Entry
from memory.database import Database, now
from memory.errors import StoreError
from memory.ids import derive
from memory.meaning import Meaning
from memory.turns import Call
from memory.words import canonical, clean

log = logging.getLogger("teambot.tools")

TOOL_SECONDS = 120.0
EMPTY = "(no output)"
NOT_RUN = "Not run: the person stopped this answer."


class Calling:
    """Runs the tool calls of a stored answer, in order, and stores their results as one entry."""

    def __init__(
        self, database: Database, settings: Settings, tools: tuple[Tool, ...], meaning: Meaning | None = None
    ) -> None:
        self.database = database
        self.settings = settings
        self.tools = {tool.name: tool for tool in tools}
        self.meaning = meaning
        self.seconds = TOOL_SECONDS

    async def step(self, turn_id: str, number: int) -> int:
        """Runs what is not done yet of step `number`; the number of calls. Once the turn is to stop, calls
        that have not begun are not run."""
        calls, context = await self.database.read(self._calls, turn_id, number)
        if context is None:
            return len(calls)
        for block in calls:
            await self._run(block, context)
        await self.database.run(_store, turn_id, number, [block["id"] for block in calls])
        return len(calls)

    def _calls(self, session: Session, turn_id: str, number: int) -> tuple[list[Block], ToolCall | None]:
        answer = session.scalar(
            select(Entry).where(Entry.turn_id == turn_id, Entry.role == "assistant", Entry.step == number)
        )
        if answer is None or answer.blocks is None:
            return [], None
        calls = tool_uses(json.loads(answer.blocks))
        if session.scalar(select(Entry.id).where(Entry.id == _results_id(turn_id, number))) is not None:
            return calls, None
        scene = cast(session, turn_id)
        return calls, ToolCall(
            database=self.database,
            settings=self.settings,
            team_id=scene.turn.team_id,
            bot_id=scene.bot.id,
            conversation_id=scene.conversation.id,
            place_id=scene.place.id,
            account_id=scene.turn.account_id,
            turn_id=turn_id,
            step=number,
            call_id="",
            ephemeral=scene.turn.ephemeral,
            meaning=self.meaning,
            basis=tuple(filter(None, (answer.audience, answer.drawn_from))),
        )

    async def _run(self, block: Block, context: ToolCall) -> None:
        call = replace(context, call_id=str(block["id"]), used=set())
        state = await self.database.run(_begin, call)
        if state == "done":
            return
        tool = self.tools.get(str(block.get("name")))
        if state == "begun" and tool is not None and tool.writes:
            result = ToolResult(interrupted(call.call_id)["content"], is_error=True)
        elif state == "changed":
            result = ToolResult(READERS_CHANGED, is_error=True)
        elif await self._stopped(call.turn_id):
            result = ToolResult(NOT_RUN, is_error=True)
        else:
            result = await self._result(tool, block, call)
        text = await self.database.apart(bounded, result.content)
        content = await shortened(call, text, recalled=bool(result.shown))
        await self.database.run(_finish, call, result, content)

    async def _result(self, tool: Tool | None, block: Block, call: ToolCall) -> ToolResult:
        if tool is None:
            return ToolResult(f"There is no tool called {clean(str(block.get('name')))!r}.", is_error=True)
        try:
            arguments = tool.arguments.model_validate(block.get("input") or {})
        except ValidationError as error:
            problems = "; ".join(
                f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()
            )
            return ToolResult(f"The arguments do not fit the tool: {problems}", is_error=True)
        try:
            return await watched(
                _run(tool, call, arguments), self.seconds, lambda: self._stopped(call.turn_id)
            )
        except Stopped:
            return ToolResult("The person stopped this; its outcome is unknown.", is_error=True)
        except TimeoutError:
            return ToolResult("The tool did not finish in time; its outcome is unknown.", is_error=True)
        except (BotError, StoreError) as error:
            return ToolResult(str(error), is_error=True)
        except Exception as error:
            log.error("tool %s failed: %s", tool.name, told(error))
            return ToolResult("The tool failed; its outcome is unknown.", is_error=True)

    async def _stopped(self, turn_id: str) -> bool:
        return await self.database.read(turns.stop_requested, turn_id)


async def _run(tool: Tool, call: ToolCall, arguments: Any) -> ToolResult:
    return await tool.run(call, arguments)


def _results_id(turn_id: str, number: int) -> str:
    return derive("results", turn_id, number)


def _begin(session: Session, call: ToolCall) -> str:
    """`new`, `begun` (a crash came between), `done`, or `changed`: it was made for other readers."""
    call_id = derive("call", call.turn_id, call.step, call.call_id)
    row = session.get(Call, call_id)
    if row is not None:
        return "done" if row.result is not None else "begun"
    readers = call.readers(session)
    session.add(
        Call(
            id=call_id,
            team_id=call.team_id,
            turn_id=call.turn_id,
            audience=readers.writes,
            drawn_from=readers.drawn_from,
        )
    )
    return "new" if readers.reads_all(call.basis) else "changed"


def _finish(session: Session, call: ToolCall, result: ToolResult, content: str) -> None:
    row = session.get(Call, derive("call", call.turn_id, call.step, call.call_id))
    if row is None:
        return
    readers = call.readers(session)
    if not readers.reads_all(call.used):
        result, content = ToolResult(READERS_CHANGED, is_error=True), READERS_CHANGED
    row.audience, row.drawn_from = readers.writes, readers.drawn_from
    row.result = canonical(_block(call.call_id, content if content.strip() else EMPTY, result.is_error))
    row.shown = sorted(result.shown)
    row.sources = list(result.sources)


def _block(call_id: str, content: str, is_error: bool) -> Block:
    block: Block = {
        "type": "tool_result",
        "tool_use_id": call_id,
        "content": [{"type": "text", "text": content}],
    }
    return {**block, "is_error": True} if is_error else block


def _hide(row: Call) -> None:
    """Takes out a result whose readers are no longer those of the turn."""
    call_id = str(json.loads(row.result or "{}").get("tool_use_id"))
    row.result, row.shown, row.sources = canonical(_block(call_id, READERS_CHANGED, True)), [], []


def _store(session: Session, turn_id: str, number: int, call_ids: list[str]) -> None:
    """One entry with every result, in the order of the calls; the rows of the calls go."""
    scene = cast(session, turn_id)
    keys = [derive("call", turn_id, number, call_id) for call_id in call_ids]
    rows = {row.id: row for row in session.scalars(select(Call).where(Call.id.in_(keys)))}
    found = [rows[key] for key in keys if key in rows]
    for row in found:
        if not scene.readers.reads_row(row):
            _hide(row)
    entry = Entry(
        id=_results_id(turn_id, number),
        team_id=scene.turn.team_id,
        conversation_id=scene.conversation.id,
        bot_id=scene.bot.id,
        place_id=scene.place.id,
        turn_id=turn_id,
        step=number,
        audience=scene.readers.writes,
        drawn_from=scene.readers.drawn_from,
        role="user",
        kind="results",
        ephemeral=scene.turn.ephemeral,
        blocks=canonical([json.loads(row.result or "{}") for row in found]),
        shown=sorted({memory_id for row in found for memory_id in row.shown}),
        files=[source for row in found for source in row.sources],
        learnable=False,
        said_at=now(),
    )
    turns.append(session, scene.turn, entry)
    session.execute(delete(Call).where(Call.id.in_(keys)))
