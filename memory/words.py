"""Words as they enter: cleaned once, and canonical JSON for everything that is hashed."""

import hashlib
import json
import re
from typing import Any

_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")


def clean(text: str) -> str:
    """Text that every database, model and platform accepts: no NUL, lone surrogates as U+FFFD."""
    paired = (
        text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if _LONE_SURROGATE.search(text)
        else text
    )
    return paired.replace("\x00", "")


def clean_json(value: Any) -> Any:
    """The same JSON value with every string cleaned."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list | tuple):
        return [clean_json(item) for item in value]
    if isinstance(value, dict):
        return {clean(str(key)): clean_json(item) for key, item in value.items()}
    return value


def canonical(value: Any) -> str:
    """Canonical JSON: sorted keys, no spaces, real characters; equal values give equal bytes."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def sha256(text: str) -> str:
    """Hex SHA-256 of the UTF-8 bytes of a text."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
