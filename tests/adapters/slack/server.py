"""The thinnest Slack: a Web API with messages and streams, and Socket Mode."""

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import WSMsgType, web

from tests.stand_ins import slack_schemas

BOT = "U0BOT"
TEAM = "T0TEAM"
Answer = dict[str, Any]
Fault = Callable[[dict[str, Any]], "web.Response | Answer | None"]


@dataclass
class Slack:
    """A workspace: people, channels, messages, and the sockets of the app."""

    url: str = ""
    people: dict[str, Answer] = field(default_factory=dict)
    channels: dict[str, Answer] = field(default_factory=dict)
    members: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    messages: dict[str, dict[str, Answer]] = field(default_factory=lambda: defaultdict(dict))
    whispers: list[Answer] = field(default_factory=list)
    calls: list[tuple[str, Answer]] = field(default_factory=list)
    faults: dict[str, list[Fault]] = field(default_factory=lambda: defaultdict(list))
    sockets: list[web.WebSocketResponse] = field(default_factory=list)
    acks: dict[str, Answer] = field(default_factory=dict)
    hooks: list[Answer] = field(default_factory=list)
    views: list[tuple[str, Answer]] = field(default_factory=list)
    files: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    tokens_at: list[str] = field(default_factory=list)
    deaf: bool = False
    problems: list[str] = field(default_factory=list)
    clock: int = 1_800_000_000
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    def person(self, identity: str, name: str, **flags: Any) -> None:
        """Somebody of the workspace."""
        self.people[identity] = {
            "id": identity,
            "team_id": TEAM,
            "name": name.lower(),
            "deleted": False,
            "is_restricted": False,
            "profile": {"display_name": name},
            "tz": "Europe/Berlin",
            **flags,
        }

    def channel(self, identity: str, name: str, *members: str, **flags: Any) -> None:
        """A channel with its members and the bot."""
        self.channels[identity] = {"id": identity, "name": name, "is_private": False, **flags}
        self.members[identity] |= {*members, BOT}

    def ts(self) -> str:
        """The next ts."""
        self.clock += 1
        return f"{self.clock}.000100"

    def put(self, channel: str, user: str, text: str, **more: Any) -> Answer:
        """A message by somebody, as history has it."""
        ts = more.pop("ts", None) or self.ts()
        message = {"type": "message", "user": user, "text": text, "ts": ts, **more}
        self.messages[channel][ts] = message
        return message

    async def say(self, channel: str, user: str, text: str, *, retry: int = 0, **more: Any) -> Answer:
        """A message by somebody, told to the app by Socket Mode as `message` (and `app_mention`)."""
        message = self.put(channel, user, text, **more)
        await self.tell(self.event(channel, message), retry=retry)
        if f"<@{BOT}>" in text:
            await self.tell(self.event(channel, message, kind="app_mention"), retry=retry)
        return message

    def event(self, channel: str, message: Answer, *, kind: str = "message", **more: Any) -> Answer:
        """An event as Slack wraps it."""
        info = self.channels.get(channel, {})
        where = "im" if info.get("is_im") else "group" if info.get("is_private") else "channel"
        inner = {**message, "type": kind, "channel": channel, "channel_type": where, **more}
        return self.wrapped(inner)

    def wrapped(self, event: Answer) -> Answer:
        """The envelope's payload."""
        self.clock += 1
        return {
            "type": "event_callback",
            "team_id": TEAM,
            "api_app_id": "A0APP",
            "event_id": f"Ev{self.clock}",
            "authorizations": [{"team_id": TEAM, "user_id": BOT, "is_bot": True}],
            "event": event,
        }

    async def tell(
        self, payload: Answer, *, kind: str = "events_api", retry: int = 0, wait: bool = True
    ) -> str:
        """Sends an envelope to one socket and waits for its answer."""
        self.clock += 1
        envelope = f"env-{self.clock}"
        frame: Answer = {"envelope_id": envelope, "type": kind, "payload": payload}
        frame["accepts_response_payload"] = kind != "events_api"
        if retry:
            frame |= {"retry_attempt": retry, "retry_reason": "timeout"}
        if not self.deaf:
            socket = next(
                one for one in self.sockets[self.clock % len(self.sockets) :] + self.sockets if not one.closed
            )
            await socket.send_str(json.dumps(frame))
        if wait and not self.deaf:
            await self.until(lambda: envelope in self.acks)
        return envelope

    async def until(self, holds: Callable[[], Any], seconds: float = 20) -> None:
        """Waits until something holds."""
        async with asyncio.timeout(seconds):
            while not holds():
                self.arrived.clear()
                try:
                    await asyncio.wait_for(self.arrived.wait(), 0.2)
                except TimeoutError:
                    continue

    def replies(self, channel: str, *, thread: str | None = None) -> list[Answer]:
        """What the bot said there."""
        return [
            message
            for message in self.messages[channel].values()
            if message.get("user") == BOT and (thread is None or message.get("thread_ts") == thread)
        ]

    def done(self, channel: str) -> list[str]:
        """The texts of the bot's finished messages there."""
        return [words(message) for message in self.replies(channel) if is_done(message)]

    def home_of(self, user: str) -> Answer:
        """The newest Home tab of a person."""
        return next((view for who, view in reversed(self.views) if who == user), {})

    def window(self) -> Answer:
        """The newest window that was opened or changed."""
        found = (view for who, view in reversed(self.views) if who in ("open", "update"))
        return next(found, {"blocks": []})

    def called(self, method: str) -> list[Answer]:
        """The arguments of each call of a method."""
        return [arguments for name, arguments in self.calls if name == method]

    async def answer(self, method: str, given: Answer) -> "web.Response | Answer":
        """Answers a call."""
        self.calls.append((method, given))
        self.arrived.set()
        if self.faults[method]:
            fault = self.faults[method].pop(0)(given)
            if fault is not None:
                return fault
        handler = getattr(self, f"on_{method.replace('.', '_')}", None)
        return {"ok": True} if handler is None else {"ok": True, **(handler(given) or {})}

    def on_auth_test(self, _: Answer) -> Answer:
        return {
            "url": "https://team.slack.com/",
            "team": "Team",
            "user": "teambot",
            "team_id": TEAM,
            "user_id": BOT,
            "bot_id": "B0BOT",
        }

    def on_apps_connections_open(self, _: Answer) -> Answer:
        return {"url": f"{self.url.replace('http', 'ws')}/link"}

    def on_users_info(self, given: Answer) -> Answer:
        found = self.people.get(given["user"])
        return {"user": found} if found else {"ok": False, "error": "user_not_found"}

    def on_users_list(self, _: Answer) -> Answer:
        return {"members": list(self.people.values())}

    def on_users_conversations(self, given: Answer) -> Answer:
        user = given.get("user", BOT)
        return {"channels": [self.channels[one] for one, who in self.members.items() if user in who]}

    def on_conversations_info(self, given: Answer) -> Answer:
        found = self.channels.get(given["channel"])
        return {"channel": found} if found else {"ok": False, "error": "channel_not_found"}

    def on_conversations_open(self, given: Answer) -> Answer:
        channel = f"D{given['users'][1:]}"
        self.channels.setdefault(channel, {"id": channel, "is_im": True})
        return {"channel": {"id": channel}}

    def on_conversations_history(self, given: Answer) -> Answer:
        rows = self.messages[given["channel"]].values()
        top = [row for row in rows if row.get("thread_ts") in (None, row["ts"])]
        newer = [row for row in top if row["ts"] > str(given.get("oldest") or "")]
        return {"messages": sorted(newer, key=lambda row: str(row["ts"]), reverse=True)}

    def on_conversations_replies(self, given: Answer) -> Answer:
        root, rows = given["ts"], self.messages[given["channel"]].values()
        thread = [row for row in rows if row["ts"] == root or row.get("thread_ts") == root]
        newer = [row for row in thread if row["ts"] > str(given.get("oldest") or "")]
        return {"messages": [row for row in newer if not given.get("latest") or row["ts"] <= given["latest"]]}

    def on_chat_postMessage(self, given: Answer) -> Answer:  # noqa: N802 - Slack's name
        if BOT not in self.members.get(given["channel"], set()) and not given["channel"].startswith("D"):
            return {"ok": False, "error": "not_in_channel"}
        kept = ("text", "markdown_text", "blocks", "thread_ts", "metadata", "username")
        fields = {name: given[name] for name in kept if name in given}
        message = self.put(given["channel"], BOT, fields.pop("text", ""), bot_id="B0BOT", **fields)
        return {"ts": message["ts"], "channel": given["channel"], "message": message}

    def on_chat_postEphemeral(self, given: Answer) -> Answer:  # noqa: N802 - Slack's name
        if BOT not in self.members.get(given["channel"], set()) and not given["channel"].startswith("D"):
            return {"ok": False, "error": "not_in_channel"}
        self.whispers.append(given)
        return {"message_ts": self.ts()}

    def on_chat_update(self, given: Answer) -> Answer:
        found = self.messages[given["channel"]].get(given["ts"])
        if found is None:
            return {"ok": False, "error": "message_not_found"}
        if found.get("streaming_state") == "in_progress":
            return {"ok": False, "error": "streaming_state_conflict"}
        if len(given.get("text") or "") > 4_000:
            return {"ok": False, "error": "msg_too_long"}
        found.pop("streamed", None)
        found |= {
            name: given[name] for name in ("text", "blocks", "metadata", "markdown_text") if name in given
        }
        return {"ts": given["ts"], "text": given.get("text", "")}

    def on_chat_delete(self, given: Answer) -> Answer:
        gone = self.messages[given["channel"]].pop(given["ts"], None)
        return {} if gone else {"ok": False, "error": "message_not_found"}

    def on_chat_startStream(self, given: Answer) -> Answer:  # noqa: N802 - Slack's name
        message = self.put(
            given["channel"],
            BOT,
            "",
            bot_id="B0BOT",
            thread_ts=given["thread_ts"],
            streaming_state="in_progress",
            streamed=given.get("markdown_text") or "",
        )
        return {"ts": message["ts"], "channel": given["channel"]}

    def on_chat_appendStream(self, given: Answer) -> Answer:  # noqa: N802 - Slack's name
        found = self.messages[given["channel"]][given["ts"]]
        if found.get("streaming_state") != "in_progress":
            return {"ok": False, "error": "message_not_in_streaming_state"}
        found["streamed"] += given.get("markdown_text") or ""
        if len(found["streamed"].encode()) > 10_600:
            return {"ok": False, "error": "msg_too_long"}
        return {"ts": given["ts"]}

    def on_chat_stopStream(self, given: Answer) -> Answer:  # noqa: N802 - Slack's name
        found = self.messages[given["channel"]].get(given["ts"])
        if found is None or found.get("streaming_state") != "in_progress":
            return {"ok": False, "error": "message_not_in_streaming_state"}
        found["streaming_state"] = "completed"
        found |= {name: given[name] for name in ("blocks", "metadata") if name in given}
        return {"ts": given["ts"]}

    def on_views_open(self, given: Answer) -> Answer:
        self.views.append(("open", given["view"]))
        return {"view": {"id": f"V{len(self.views)}"}}

    def on_views_update(self, given: Answer) -> Answer:
        self.views.append(("update", given["view"]))
        return {}

    def on_views_publish(self, given: Answer) -> Answer:
        self.views.append((given["user_id"], given["view"]))
        return {}


def is_done(message: Answer) -> bool:
    """Whether it is the last message of a finished reply: the buttons stand under it."""
    if message.get("streaming_state") == "in_progress":
        return False
    return any(block["type"] == "context_actions" for block in message.get("blocks") or [])


def words(message: Answer) -> str:
    """What people read in a message: what was streamed, or its markdown blocks."""
    if message.get("streamed"):
        return str(message["streamed"])
    blocks = [block["text"] for block in message.get("blocks") or [] if block["type"] == "markdown"]
    return "\n".join(blocks) or str(message.get("markdown_text") or message.get("text") or "")


async def _arguments(request: web.Request) -> Answer:
    given: Answer = dict(request.query)
    if request.content_type == "application/json":
        given |= await request.json()
    elif request.can_read_body:
        given |= dict(parse_qsl((await request.read()).decode(), keep_blank_values=True))
    for name in ("blocks", "view", "metadata", "prompts", "chunks"):
        if isinstance(given.get(name), str):
            given[name] = json.loads(given[name])
    return given


@asynccontextmanager
async def running(slack: Slack | None = None, port: int = 0) -> AsyncIterator[Slack]:
    """A Slack that runs here."""
    held = slack or Slack()

    async def api(request: web.Request) -> web.StreamResponse:
        method, given = request.match_info["method"], await _arguments(request)
        typed = request.content_type == "application/json"
        if slack_schemas.available() and (wrong := slack_schemas.problem(method, given, typed=typed)):
            held.problems.append(wrong)
        found = await held.answer(method, given)
        return web.json_response(found) if isinstance(found, dict) else found

    async def link(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(autoping=True)
        await socket.prepare(request)
        held.sockets.append(socket)
        await socket.send_str(json.dumps({"type": "hello", "num_connections": len(held.sockets)}))
        async for frame in socket:
            if frame.type == WSMsgType.TEXT:
                body = json.loads(frame.data)
                held.acks[body["envelope_id"]] = body.get("payload") or {}
                held.arrived.set()
        held.sockets.remove(socket)
        return socket

    async def hook(request: web.Request) -> web.StreamResponse:
        held.hooks.append(await request.json())
        held.arrived.set()
        return web.Response(text="ok")

    async def file(request: web.Request) -> web.StreamResponse:
        held.tokens_at.append(request.headers.get("Authorization", ""))
        kind, data = held.files[request.match_info["name"]]
        if kind.startswith("http"):
            return web.Response(status=302, headers={"Location": kind})
        return web.Response(body=data, content_type=kind)

    app = web.Application()
    app.router.add_route("*", "/api/{method}", api)
    app.router.add_get("/link", link)
    app.router.add_post("/hook/{name}", hook)
    app.router.add_get("/files/{name}", file)
    runner = web.AppRunner(app, shutdown_timeout=0.5)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    assert site._server is not None
    held.url = f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}"  # type: ignore[attr-defined]
    try:
        yield held
    finally:
        for socket in list(held.sockets):
            await socket.close()
        await runner.cleanup()
    assert held.problems == [], held.problems
