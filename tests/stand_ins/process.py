"""A stand-in that runs under Node, in a process of its own."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.stand_ins.node import HERE, environment, node
from tests.stand_ins.required import left_out

Call = tuple[Any, ...]


class StandIn:
    """Its first line (`hello`) says where it listens; `call` runs a chain of its own methods."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.hello: dict[str, Any] = self._read()

    def call(self, *chain: Call) -> Any:
        """`call(("user", "7"), ("sendMessage", {…}))`: each method on what the one before returned."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(chain) + "\n")
        self._process.stdin.flush()
        answer = self._read()
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["value"]

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"a stand-in ended with code {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def started(script: str, *arguments: str) -> Iterator[StandIn]:
    """Starts a script of this folder and ends it; without its packages the test is left out."""
    if not (HERE / "node_modules" / ".package-lock.json").exists():
        left_out("stand-ins from npm", "they are not installed; `make test` installs them")
    command = [str(node()), str(HERE / script), *arguments]
    with subprocess.Popen(
        command, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield StandIn(process)
        finally:
            process.kill()
