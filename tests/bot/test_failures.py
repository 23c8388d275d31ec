"""What a failed call means, in our words."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from bot.failures import meaning, retry_after, where

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "kind", "code", "said", "error"),
    [
        (529, "overloaded_error", "", "", ModelOverloaded),
        (200, "overloaded_error", "", "", ModelOverloaded),
        (200, "api_error", "", "", ModelOverloaded),
        (200, "timeout_error", "", "", ModelTimeout),
        (504, "timeout_error", "", "", ModelTimeout),
        (500, "api_error", "", "", ModelOverloaded),
        (503, "", "", "no backend", ModelOverloaded),
        (408, "", "", "", ModelOverloaded),
        (429, "rate_limit_error", "", "40,000 input tokens per minute", ModelOverloaded),
        (429, "rate_limit_error", "ramp_limit_exceeded", "", ModelOverloaded),
        (429, "rate_limit_error", "enforced_spend_limit_reached", "", ModelSpendLimit),
        (429, "rate_limit_error", "contract_spend_limit_reached", "", ModelSpendLimit),
        (429, "", "", "Monthly spending limit reached", ModelSpendLimit),
        (
            400,
            "invalid_request_error",
            "",
            "You have reached your specified API usage limits.",
            ModelSpendLimit,
        ),
        (400, "invalid_request_error", "", "Your credit balance is too low", ModelSpendLimit),
        (402, "billing_error", "", "", ModelSpendLimit),
        (401, "authentication_error", "", "", ModelKeyRefused),
        (403, "permission_error", "", "", ModelKeyRefused),
        (404, "not_found_error", "", "model: claude-sonnet-9", ModelUnknown),
        (413, "request_too_large", "", "", ModelContextFull),
        (
            400,
            "invalid_request_error",
            "",
            "prompt is too long: 210000 tokens > 200000 maximum",
            ModelContextFull,
        ),
        (400, "exceed_context_size_error", "", "", ModelContextFull),
        (400, "BadRequestError", "", "This model's maximum context length is 32768 tokens", ModelContextFull),
        (200, "invalid_request_error", "", "prompt is too long", ModelContextFull),
        (400, "invalid_request_error", "", "messages.1: text is blank", ModelRejected),
        (422, "invalid_request_error", "", "body → max_tokens: wrong", ModelRejected),
        (418, "", "", "", ModelRejected),
    ],
)
def test_every_failure_has_a_sentence(
    status: int, kind: str, code: str, said: str, error: type[ModelError]
) -> None:
    assert meaning(status, kind, code, said) is error
    assert "Your message is kept" in str(error())
    assert "\n" not in str(error())


@given(st.integers(200, 599), st.text(max_size=20), st.text(max_size=20), st.text())
def test_whatever_a_server_says_it_means_something(status: int, kind: str, code: str, said: str) -> None:
    assert issubclass(meaning(status, kind, code, said), ModelError)


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ("messages.3.content.0.text: blank", "messages.3.content.0.text"),
        ("tools.0.input_schema: wrong", "tools.0.input_schema"),
        ("max_tokens: 1 > 0", "max_tokens"),
        ("messages.0.content.0.tool_use.input.kumquat: odd", ""),
        ("Ada said: kumquat", ""),
        ("", ""),
    ],
)
def test_the_log_names_the_place_and_no_word(said: str, place: str) -> None:
    assert where(said) == place


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        ({"retry-after": "20"}, 20),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "20", "retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:45 GMT"}, 45),
        ({"retry-after": "Mon, 30 Nov 2026 11:00:00 GMT"}, 0),
        ({"retry-after": "soon"}, 0),
        ({"retry-after": "-3"}, 0),
        ({"retry-after": "nan"}, 0),
        ({"retry-after": "1e9"}, 0),
    ],
)
def test_how_long_to_wait_is_read_in_every_form(headers: dict[str, str], seconds: float) -> None:
    assert retry_after(headers, NOW) == seconds
