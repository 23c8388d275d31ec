"""Slack's Web API as emulate plays it: state and signed events; no Socket Mode, streaming or slash commands.

It reads arguments from bodies only, while slack_sdk puts those of reads into the query.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.stand_ins.process import started


@contextmanager
def running(seed: dict[str, Any] | None = None) -> Iterator[str]:
    """The address of a server of its own, holding `seed` (`{"tokens": {…}, "slack": {…}}`)."""
    with started("emulate.mjs", json.dumps(seed or {})) as process:
        yield str(process.hello["url"])
