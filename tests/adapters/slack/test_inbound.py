"""Every recorded shape of Slack goes through; what people did is read as they meant it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack import inbound, pressed
from adapters.slack.inbound import Came, Gone, Heard, Opened, PersonChanged, Revised, Stopped, Uninstalled
from adapters.slack.wire import addresses, decoded, permalink, without_mention

LOGS = Path(__file__).parents[4] / "shared" / "contracts" / "slack-json-logs"
BOT = "U0BOT"


def event(kind: str = "message", **fields: Any) -> dict[str, Any]:
    """An event as Slack wraps it."""
    given = {"type": kind, "channel": "C1", "user": "U1", "ts": "1700000000.000100", **fields}
    return {
        "team_id": "T1",
        "event_id": "Ev1",
        "authorizations": [{"team_id": "T1", "is_bot": True}],
        "event": {key: value for key, value in given.items() if value is not None},
    }


def recorded(folder: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The recorded shapes of a folder, and each with its values filled in."""
    for path in sorted((LOGS / folder).rglob("*.json")):
        shape = json.loads(path.read_text())
        yield path.name, shape
        yield f"filled {path.name}", filled(shape)


def filled(value: Any, key: str = "") -> Any:
    """The shape with values that look like Slack's."""
    if isinstance(value, dict):
        return {name: filled(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner, key) for inner in value]
    if value == "":
        known = {"user": "U1", "channel": "C1", "team_id": "T1", "user_id": "U1", "command": "/memory"}
        known["subtype"] = ""
        return "1700000000.000100" if key.endswith("ts") else known.get(key, key)
    return value


def test_every_recorded_event_goes_through() -> None:
    if not LOGS.is_dir():
        pytest.skip("the recorded shapes of Slack are not here")
    seen = {name: inbound.read(body) for name, body in recorded("events")}
    assert len(seen) > 150
    kinds = {type(found) for found in seen.values()}
    assert {Heard, Revised, Gone, Opened, Came, PersonChanged, Uninstalled} <= kinds


def test_every_recorded_press_goes_through() -> None:
    if not LOGS.is_dir():
        pytest.skip("the recorded shapes of Slack are not here")
    for name, body in recorded("app-backend"):
        pressed.buttons(body)
        pressed.form(body)
        pressed.menu(body)
        command = pressed.typed(body)
        if name == "filled SlashCommandPayload.json":
            assert command is not None
            assert command.name == "memory"
        if name == "filled BlockActionPayload.json":
            assert pressed.buttons(body)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "type subtype channel user ts thread_ts message previous_message edited text files tab "
                "tokens bot team id attachments is_share authorizations actions container view "
                "state values".split()
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(["event", "team_id", "authorizations"]), JSON, max_size=3), JSON)
def test_no_shape_raises(body: dict[str, Any], inner: Any) -> None:
    for kind in ("message", "app_mention", "user_change", "member_joined_channel", "channel_rename"):
        given = inner if isinstance(inner, dict) else {}
        inbound.read({**body, "event": {**given, "type": kind}})
        inbound.read(body)
        for read in (pressed.buttons, pressed.form, pressed.menu, pressed.typed):
            read(given)


def test_a_message_and_its_mention_are_one() -> None:
    text = f"<@{BOT}> hello"
    message = inbound.read(event(text=text, client_msg_id="m1", channel_type="channel"))
    mention = inbound.read(event("app_mention", text=text, client_msg_id="m1"))
    assert isinstance(message, Heard)
    assert isinstance(mention, Heard)
    assert (message.channel, message.ts) == (mention.channel, mention.ts)
    assert message.names(BOT)
    assert mention.names(BOT)


def test_system_messages_are_not_heard() -> None:
    for subtype in ("channel_join", "channel_topic", "message_replied", "reminder_add", "huddle_thread"):
        assert inbound.read(event(subtype=subtype, text="x")) is None
    assert inbound.read(event(user="USLACKBOT", text="x")) is None


def test_a_file_without_words_is_heard() -> None:
    found = inbound.read(event(subtype="file_share", text="", files=[{"id": "F1"}]))
    assert isinstance(found, Heard)
    assert found.files == ({"id": "F1"},)


def test_a_deleted_message_is_gone_in_every_form() -> None:
    ts = "1700000000.000100"
    forms = [
        event(subtype="message_deleted", deleted_ts=ts, user=None),
        event(subtype="message_deleted", previous_message={"ts": ts}, user=None),
        event(subtype="message_changed", message={"ts": ts, "subtype": "tombstone", "user": "USLACKBOT"}),
    ]
    assert [inbound.read(form) for form in forms] == [Gone("T1", "C1", ts)] * 3


def test_an_edit_tells_both_texts() -> None:
    now = {
        "type": "message",
        "user": "U1",
        "text": "staging",
        "ts": "1700000000.000100",
        "edited": {"ts": "1700000009.0"},
    }
    found = inbound.read(event(subtype="message_changed", message=now, previous_message={"text": "stagin"}))
    assert isinstance(found, Revised)
    assert (found.before, found.message.text, found.edited_at) == ("stagin", "staging", "1700000009.0")


def test_a_forwarded_message_is_a_quote() -> None:
    part = {"is_share": True, "author_name": "Dana", "text": "we moved\nto Oslo"}
    found = inbound.read(event(text="see", attachments=[part]))
    assert isinstance(found, Heard)
    assert found.text == "see\n\n> forwarded from Dana:\n> we moved\n> to Oslo"


def test_stop_names_its_thread() -> None:
    found = inbound.read(event("agent_session_stopped", thread_ts="1700000000.000100"))
    assert found == Stopped("T1", "C1", "1700000000.000100", "U1")


def test_a_revoked_user_token_is_no_goodbye() -> None:
    assert inbound.read(event("tokens_revoked", tokens={"oauth": ["U1"]})) is None
    assert inbound.read(event("tokens_revoked", tokens={"bot": ["U0BOT"]})) == Uninstalled("T1")


def test_escapes_are_decoded_once() -> None:
    wire = "&amp;lt;b&amp;gt; R&amp;amp;D if a &lt; b &amp;&amp; c"
    assert decoded(wire) == "&lt;b&gt; R&amp;D if a < b && c"


def test_ids_names_and_addresses_stay() -> None:
    link = "<https://x.example.test/?a=1&amp;b=2|the doc>"
    wire = f"ask <@U02> in <#C07|ops> about {link}, cc <!subteam^S03> <!here>"
    expected = "ask @Ben (U02) in #ops (C07) about the doc (https://x.example.test/?a=1&b=2), cc @S03 @here"
    assert decoded(wire, {"U02": "Ben"}) == expected
    assert addresses(wire) == {"https://x.example.test/?a=1&b=2"}
    assert decoded("<https://a.example|a.example> <mailto:ada@x.example|ada@x.example>") == (
        "https://a.example ada@x.example"
    )


def test_only_the_first_mention_goes() -> None:
    assert without_mention(f" <@{BOT}>, tell <@{BOT}>", BOT) == f"tell <@{BOT}>"


def test_a_reply_opens_in_its_thread() -> None:
    url = "https://team.slack.com/"
    assert (
        permalink(url, "C1", "1.02", "1.01")
        == "https://team.slack.com/archives/C1/p102?thread_ts=1.01&cid=C1"
    )
    assert permalink(url, "C1", "1.01", "1.01") == "https://team.slack.com/archives/C1/p101"


@given(st.text(max_size=50))
def test_any_text_decodes(text: str) -> None:
    decoded(text)
    addresses(text)
