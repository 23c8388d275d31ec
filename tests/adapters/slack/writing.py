"""A model that writes piece by piece, and waits where the test wants it to."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from bot.model import Body, OnText, Response, Usage
from bot.testing import Scripted


@dataclass
class Writing(Scripted):
    """Streams `pieces`; before the piece `pause_at` it waits for `go`."""

    pieces: tuple[str, ...] = ()
    pause_at: int = -1
    pace: float = 0.0
    go: asyncio.Event = field(default_factory=asyncio.Event)
    written: asyncio.Event = field(default_factory=asyncio.Event)

    async def respond(self, body: Body, on_text: OnText | None = None) -> Response:
        """Writes its pieces."""
        self.bodies.append(body)
        for number in range(len(self.pieces)):
            if number == self.pause_at:
                self.written.set()
                await self.go.wait()
            if on_text is not None:
                on_text("".join(self.pieces[: number + 1]))
            await asyncio.sleep(self.pace)
        text: list[dict[str, Any]] = [{"type": "text", "text": "".join(self.pieces)}]
        return Response(text, "end_turn", Usage(10, 10), str(body["model"]), "")
