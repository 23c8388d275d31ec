"""How much of the prompt is read from the provider's cache over two weeks of talk.

Twelve conversations with nights between, 40 % of the turns with tool loops, new facts, two deploys, three
restarts. The requests are those of the real house; time and the provider's cache are simulated.
"""

import argparse
import asyncio
import json
import random
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.cache_rules import Cache, Used, with_clock
from benchmarks.direct import DirectDesk, fresh, without_engine
from benchmarks.footprint import machine
from bot import prices
from bot.compaction import IDLE_AFTER
from bot.messages import Local
from bot.model import Body, Capabilities, OnText, Response, Usage
from bot.testing import respond_with, use
from bot.tools.registry import TOOLS
from memory.database import set_clock
from routines.idle import enqueue_due

MODEL = "claude-sonnet-5-5"
MEMORY_MODEL = "claude-haiku-5-5"
START = datetime(2026, 11, 2, 9, tzinfo=UTC)
DAYS = 14
TALKS = 12
TURNS_A_DAY = (4, 14)
TOOL_SHARE = 0.4
FACT_SHARE = 0.15
SEED = 20261130
WORDS = "release notes customer invoice staging deploy rota budget review migration meeting plan risk".split()


@dataclass
class Clock:
    """The simulated time."""

    at: datetime = START

    def __call__(self) -> datetime:
        return self.at


@dataclass
class Recorder:
    """A model that answers at once and keeps every request with its moment and kind."""

    clock: Clock
    chance: random.Random
    capabilities: Capabilities = field(
        default_factory=lambda: Capabilities(structured_output=True, prewarm=True, window=1_000_000)
    )
    requests: list[tuple[datetime, str, Body]] = field(default_factory=list)
    loops: int = 0

    async def respond(self, body: Body, on_text: OnText | None = None) -> Response:
        """A tool call in two of five turns, else some words."""
        last = body["messages"][-1]["content"][-1]
        summary = "summary of this conversation" in str(last.get("text", ""))
        self._keep("summary" if summary else "main", body)
        self.clock.at += timedelta(seconds=self.chance.uniform(3, 20))
        if summary:
            return self._used(body, f"Summary of the talk so far. {self._words(400)}", on_text)
        self.loops = 0 if last.get("type") == "text" else self.loops + 1
        if self.chance.random() < (TOOL_SHARE if self.loops == 0 else 0.45) and self.loops < 6:
            call = use("conversation_search", {"query": self._words(4)}, f"toolu_{len(self.requests)}")
            return self._used(body, [call], on_text)
        return self._used(body, self._words(self.chance.randint(30, 250)), on_text)

    async def structured(self, body: Body, _: dict[str, Any]) -> Response:
        """The memory pass finds nothing here; facts come by command."""
        self._keep("pass", body)
        return self._used(body, '{"memories":[]}', None)

    async def prewarm(self, body: Body) -> Response:
        """Fills the cache."""
        from bot.bodies import warming

        self._keep("prewarm", warming(body))
        return Response([], "max_tokens", Usage())

    def cost(self, _: str, __: Usage) -> int:
        return 0

    def worst_cost(self, _: Body) -> int:
        return 0

    def _keep(self, tag: str, body: Body) -> None:
        self.requests.append((self.clock.at, tag, json.loads(json.dumps(body))))

    def _used(self, body: Body, made: Any, on_text: OnText | None) -> Response:
        response = respond_with(body, made, on_text)
        return replace(response, usage=Usage(0, 100, _tokens(body)))

    def _words(self, count: int) -> str:
        return " ".join(self.chance.choice(WORDS) for _ in range(count))


def _tokens(body: Body) -> int:
    from bot.tokens import body_tokens

    return body_tokens(body)


@dataclass(frozen=True)
class Event:
    """Something that happens in the two weeks."""

    at: datetime
    kind: str
    who: str = ""
    where: str = ""


def events(chance: random.Random) -> list[Event]:
    """Two weeks of turns in bursts within working hours, with facts, deploys and restarts between."""
    people = [f"person{number}" for number in range(8)]
    talks = [(person, "dm") for person in people] + [("", f"#room{number}") for number in range(TALKS - 8)]
    found: list[Event] = []
    for day in range(DAYS):
        for person, where in talks:
            morning = START + timedelta(days=day, minutes=chance.uniform(0, 120))
            at = morning
            for _ in range(chance.randint(*TURNS_A_DAY)):
                at += timedelta(minutes=chance.expovariate(1 / 25))
                if at - morning > timedelta(hours=9):
                    break
                who = person or chance.choice(people)
                if chance.random() < 0.5:
                    found.append(Event(at - timedelta(seconds=8), "open", who, where))
                found.append(Event(at, "turn", who, where))
                if chance.random() < FACT_SHARE:
                    found.append(Event(at + timedelta(seconds=40), "fact", who, where))
    found += [Event(START + timedelta(days=day, hours=3), "deploy") for day in (4, 10)]
    found += [Event(START + timedelta(days=day, hours=5), "restart") for day in (2, 6, 11)]
    return sorted(found, key=lambda event: (event.at, event.kind, event.who, event.where))


async def record(folder: Path, scale: float = 1.0) -> list[tuple[datetime, str, Body]]:
    """Every request of the two weeks."""
    without_engine()
    chance = random.Random(SEED)
    clock = Clock()
    model = Recorder(clock, chance)
    set_clock(clock)
    url = fresh(folder)
    settings = {"anthropic_api_key": "none", "model": MODEL, "memory_model": MEMORY_MODEL}
    desk = DirectDesk(url, model, TOOLS, **settings)
    for number in range(8):
        await desk.set_person(f"person{number}")
    for number in range(TALKS - 8):
        await desk.set_place(f"#room{number}")
    deploys = 0
    tools = TOOLS
    for event in events(chance):
        if event.at > START + timedelta(days=DAYS * scale):
            break
        clock.at = max(clock.at, event.at)
        await _summaries(desk)
        if event.kind in ("deploy", "restart"):
            desk.close()
            if event.kind == "deploy":
                deploys += 1
                reworded = replace(TOOLS[0], description=f"{TOOLS[0].description} (Wording {deploys}.)")
                tools = (reworded, *TOOLS[1:])
            desk = DirectDesk(url, model, tools, **settings)
        else:
            await _play(desk, event, chance)
    desk.close()
    set_clock(None)
    return model.requests


async def _play(desk: DirectDesk, event: Event, chance: random.Random) -> None:
    local = Local(event.who, event.where)
    if event.kind == "open":
        await desk.open_local(local)
        await desk.prewarm.settled()
    elif event.kind == "fact":
        await desk.run_typed(
            local, f"/memory add the {chance.choice(WORDS)} is on {chance.randint(1, 28)} May"
        )
    else:
        words = " ".join(chance.choice(WORDS) for _ in range(chance.randint(20, 500)))
        await desk.say(local, words)
        await desk.work()


async def _summaries(desk: DirectDesk) -> None:
    from memory.database import now

    if await desk.database.run(enqueue_due, desk.queue, now()):
        await desk.work()


@dataclass
class Score:
    """Totals of one way of sending."""

    prompt: int = 0
    read: int = 0
    written: int = 0
    ideal: int = 0

    def add(self, used: Used) -> None:
        self.prompt += used.prompt
        self.read += used.read
        self.written += used.written
        self.ideal += used.ideal

    def cost(self, model: str) -> float:
        """Input cost in US dollars."""
        usage = Usage(self.prompt - self.read - self.written, 0, self.read, 0, self.written)
        return prices.cost(model, usage) / 1_000_000


def measure(requests: list[tuple[datetime, str, Body]]) -> dict[str, Any]:
    """The shares and costs of the main model, of the memory pass, and of the control."""
    ours, control, passes = Score(), Score(), Score()
    caches: dict[str, Cache] = {}
    controls = Cache()
    for at, tag, body in requests:
        seconds = at.timestamp()
        used = caches.setdefault(body["model"], Cache()).request(body, seconds)
        if tag == "main":
            ours.add(used)
        elif tag == "pass":
            passes.add(used)
        if tag in ("main", "summary", "prewarm"):
            plain = controls.request(with_clock(body, f"{at:%Y-%m-%d %H:%M}"), seconds)
            if tag == "main":
                control.add(plain)
    return {
        "read_share": round(ours.read / ours.prompt, 4),
        "ideal_share": round(ours.ideal / ours.prompt, 4),
        "control_read_share": round(control.read / control.prompt, 4),
        "pass_share": round(passes.read / passes.prompt, 4) if passes.prompt else 0.0,
        "cost": round(ours.cost(MODEL), 4),
        "control_cost": round(control.cost(MODEL), 4),
        "requests": {kind: sum(tag == kind for _, tag, _ in requests) for kind in KINDS},
        "mean_prompt_tokens": round(ours.prompt / max(1, sum(tag == "main" for _, tag, _ in requests))),
    }


KINDS = ("main", "pass", "summary", "prewarm")


def write_trace(path: Path, requests: list[tuple[datetime, str, Body]]) -> None:
    """One JSON line a request: t, tag, body."""
    with path.open("w", encoding="utf-8") as file:
        for at, tag, body in requests:
            file.write(json.dumps({"t": at.timestamp(), "tag": tag, "body": body}, ensure_ascii=False) + "\n")


def main(show: Callable[[str], None] = print) -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--trace", type=Path, help="write every request to this file")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the two weeks to play")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        requests = asyncio.run(record(Path(folder), options.scale))
    if options.trace:
        write_trace(options.trace, requests)
    found = {**measure(requests), "idle_after_minutes": IDLE_AFTER.seconds // 60, **machine()}
    show(json.dumps(found) if options.json else "\n".join(f"{key}: {value}" for key, value in found.items()))


if __name__ == "__main__":
    main()
