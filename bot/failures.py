"""What a failed call to a model's server means, in our words. Only codes are read of what the server said,
and its text where a server gives no code; none of it goes further."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from bot.errors import (
    ModelContextFull,
    ModelError,
    ModelKeyRefused,
    ModelOverloaded,
    ModelRejected,
    ModelSpendLimit,
    ModelTimeout,
    ModelUnknown,
)

_A_DAY = 86_400.0
_SPENT_CODES = frozenset(
    {
        "enforced_spend_limit_reached",
        "contract_spend_limit_reached",
        "linked_organization_spend_limit_reached",
        "linked_organization_billing_unavailable",
    }
)
_SPENT = re.compile(
    r"usage limit|spend(ing)? limit|credit balance|insufficient (credit|fund|quota)", re.IGNORECASE
)
_FULL_TYPES = frozenset({"exceed_context_size_error", "context_length_exceeded", "request_too_large"})
_FULL = re.compile(
    r"prompt is too long|too many (input )?tokens|(maximum|available|model'?s?) context"
    r"|context (length|window|size)|exceeds? the context",
    re.IGNORECASE,
)
_BUSY = frozenset({408, 409, 425})
_SHAPE = frozenset(
    "messages system tools max_tokens model thinking output_config content text type id name input role"
    " source tool_use tool_result tool_use_id is_error signature cache_control ttl input_schema format"
    " schema data media_type image document search_result tool_choice metadata stop_sequences effort".split()
)


def meaning(status: int, kind: str = "", code: str = "", said: str = "") -> type[ModelError]:
    """The error for an answer of the server: its status, error type, error code and text.

    An overload in the middle of a stream comes with status 200, so the type is read before the status.
    """
    if code in _SPENT_CODES or kind == "billing_error" or status == 402:
        return ModelSpendLimit
    if kind == "overloaded_error":
        return ModelOverloaded
    if kind == "timeout_error":
        return ModelTimeout
    if status in (401, 403) or kind in ("authentication_error", "permission_error"):
        return ModelKeyRefused
    if kind in _FULL_TYPES or status == 413:
        return ModelContextFull
    if status == 404 or kind == "not_found_error":
        return ModelUnknown
    if status == 429 or kind == "rate_limit_error":
        return ModelSpendLimit if _SPENT.search(said) else ModelOverloaded
    if status in (400, 422) or (status == 200 and kind == "invalid_request_error"):
        return _rejected(said)
    if status in _BUSY or status >= 500 or status == 200:
        return ModelOverloaded
    return ModelRejected


def where(said: str) -> str:
    """The part of the request that the server did not like, such as `messages.3.content.0.text`, or nothing.

    Only words of the request's own shape and numbers pass, so it can stand in a log.
    """
    path = said.partition(":")[0].split(".")
    if path[0] in _SHAPE and all(part in _SHAPE or part.isdecimal() for part in path):
        return ".".join(path)
    return ""


def retry_after(headers: Mapping[str, str], now: datetime) -> float:
    """Seconds that the server asks to wait, 0 where it says nothing that can be read."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        said = headers.get(name, "")
        try:
            seconds = float(said) * unit
        except ValueError:
            seconds = _until(said, now)
        if 0 < seconds < _A_DAY:
            return seconds
    return 0.0


def _until(said: str, now: datetime) -> float:
    try:
        moment = parsedate_to_datetime(said)
    except ValueError:
        return 0.0
    return (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds()


def _rejected(said: str) -> type[ModelError]:
    if _SPENT.search(said):
        return ModelSpendLimit
    return ModelContextFull if _FULL.search(said) else ModelRejected
