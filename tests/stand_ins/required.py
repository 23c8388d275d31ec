"""What a test needs and cannot bring: without it the test is left out, or fails where nothing may be."""

import os
from typing import NoReturn, TypeVar

import pytest

T = TypeVar("T")

STRICT = "TEAMBOT_TEST_REQUIRED"


def left_out(thing: str, why: str) -> NoReturn:
    """Leaves the current test out and says why; with TEAMBOT_TEST_REQUIRED=1 it fails instead."""
    sentence = f"needs {thing}: {why}"
    if os.environ.get(STRICT) == "1":
        pytest.fail(sentence, pytrace=False)
    pytest.skip(sentence)


def required(thing: str, found: T | None, why: str) -> T:
    """`found`, or the test is left out."""
    if found is None:
        left_out(thing, why)
    return found
