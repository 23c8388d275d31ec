"""The Messages API as its SDK types it: what a request may be, closed, and what a server may send."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from anthropic.types import RawMessageStreamEvent
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError, best_match
from pydantic import TypeAdapter

Schema = dict[str, Any]

_EVENTS: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)


def assert_valid_request(body: dict[str, Any]) -> None:
    """Fails where the body has a key, block, role or value that the SDK's types do not know.

    `stream` is put in by the SDK, so it may be there; a role `system` in messages is not portable.
    """
    sent = {key: value for key, value in body.items() if key != "stream"}
    worst = best_match(_validator().iter_errors(sent))
    assert worst is None, f"{'.'.join(map(str, worst.absolute_path))}: {worst.message[:300]}"
    assert_valid_order(body["messages"])
    assert _marks(body) <= 4, "more than four cache marks"


def assert_valid_event(event: dict[str, Any]) -> None:
    """Fails where the SDK's types do not know an event of a stream."""
    _EVENTS.validate_python(event)


def assert_valid_order(messages: list[dict[str, Any]]) -> None:
    """What the API asks of messages beyond their types: roles in turn, calls answered, nothing blank."""
    ids: set[str] = set()
    waiting: list[str] = []
    for index, message in enumerate(messages):
        role, blocks = message["role"], message["content"]
        assert role == ("user" if index % 2 == 0 else "assistant"), f"messages.{index} is out of turn"
        assert blocks, f"messages.{index} is empty"
        blocks = [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks
        _assert_answers(index, blocks, waiting)
        _assert_filled(index, blocks)
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
        allowed = {"text", "tool_use", "thinking", "redacted_thinking"} if role == "assistant" else _FROM_USER
        assert {block["type"] for block in blocks} <= allowed, (
            f"messages.{index} has a block of the other role"
        )
        assert not ids.intersection(waiting), "a call has the id of another"
        assert len(set(waiting)) == len(waiting), "two calls have one id"
        ids.update(waiting)
        if role == "assistant":
            assert "thinking" not in blocks[-1]["type"], f"messages.{index} ends in thinking"
    assert not waiting, "calls at the end have no results"


_FROM_USER = {"text", "image", "document", "search_result", "tool_result"}


def _assert_answers(index: int, blocks: list[dict[str, Any]], waiting: list[str]) -> None:
    results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    assert sorted(results) == sorted(waiting), f"messages.{index} does not answer exactly the calls before it"
    first = [block["type"] == "tool_result" for block in blocks[: len(results)]]
    assert all(first), f"messages.{index} has results after something else"


def _assert_filled(index: int, blocks: Iterable[dict[str, Any]]) -> None:
    for block in blocks:
        if block["type"] == "text":
            assert block["text"].strip(), f"messages.{index} has blank text"
        if block["type"] == "tool_result" and isinstance(block.get("content"), list):
            _assert_filled(index, block["content"])


def _marks(value: Any) -> int:
    if isinstance(value, dict):
        return ("cache_control" in value) + sum(_marks(item) for item in value.values())
    return sum(_marks(item) for item in value) if isinstance(value, list) else 0


@cache
def _validator() -> Any:
    schema = TypeAdapter(MessageCreateParamsNonStreaming).json_schema()
    definitions = {
        name: _closed(value, name != "InputSchemaTyped") for name, value in schema["$defs"].items()
    }
    closed = {**_closed({key: value for key, value in schema.items() if key != "$defs"}, True)}
    closed["$defs"] = definitions
    items = closed["properties"]["messages"]["items"]
    items["anyOf"] = [choice for choice in items["anyOf"] if "System" not in choice["$ref"]]
    kind = validators.extend(Draft202012Validator, {"toldApart": _by_kind})  # type: ignore[no-untyped-call]
    return kind(_told_apart(closed, definitions))


def _closed(schema: Any, shut: bool) -> Any:
    """The same schema; an object that names its properties has no others."""
    if isinstance(schema, list):
        return [_closed(item, shut) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: _closed(value, shut) for key, value in schema.items()}
    if shut and schema.get("type") == "object" and "properties" in schema:
        closed["additionalProperties"] = False
    return closed


def _told_apart(schema: Any, definitions: Schema) -> Any:
    """The same schema; where several kinds are possible, `type` or `role` says which one is meant.

    This makes it fast, makes its complaints exact, and leaves the SDK's response types out of requests.
    """
    if isinstance(schema, list):
        return [_told_apart(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    for tag in ("type", "role"):
        kinds = _kinds(schema.get("anyOf"), definitions, tag)
        if kinds:
            return {"toldApart": {"by": tag, "kinds": kinds}}
    return {key: _told_apart(value, definitions) for key, value in schema.items()}


def _by_kind(validator: Any, rule: Schema, instance: Any, _: Schema) -> Iterator[ValidationError]:
    kind = instance.get(rule["by"]) if isinstance(instance, dict) else None
    if kind not in rule["kinds"]:
        yield ValidationError(f"{rule['by']} {kind!r} is none of {sorted(rule['kinds'])}")
    else:
        yield from validator.descend(instance, {"$ref": rule["kinds"][kind]})


def _kinds(choices: Any, definitions: Schema, tag: str) -> dict[str, str]:
    """Reference by the constant that `tag` has there, if all choices have one; parameters before answers."""
    kinds: dict[str, str] = {}
    for choice in choices or []:
        reference = choice.get("$ref", "")
        named = definitions.get(reference.removeprefix("#/$defs/"), {}).get("properties", {}).get(tag, {})
        if "const" not in named:
            return {}
        if named["const"] not in kinds or reference.endswith("Param"):
            kinds[named["const"]] = reference
    return kinds if len(kinds) > 1 else {}
