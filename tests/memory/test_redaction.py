"""Words give way to placeholders, and what a model needs to read a conversation stays whole."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from memory.conversations import Entry, Epoch, Summary
from memory.redaction import PLACEHOLDER, context_placeholders, placeholders, redact
from memory.text import fold, tokens
from memory.traces import Words
from memory.words import canonical
from tests.memory.world import TEAM, World

CANARY = "zyzzyva"
WORDS = st.text(max_size=10).map(lambda text: f"{text} {CANARY}")
BLOCKS: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.fixed_dictionaries({"type": st.just("text"), "text": WORDS}),
    st.fixed_dictionaries({"type": st.just("thinking"), "thinking": WORDS, "signature": st.just("s")}),
    st.fixed_dictionaries({"type": st.just("redacted_thinking"), "data": WORDS}),
    st.fixed_dictionaries(
        {
            "type": st.just("tool_use"),
            "id": st.sampled_from(["t1", "t2"]),
            "name": st.just("memory_write"),
            "input": st.dictionaries(WORDS, WORDS, max_size=2),
        }
    ),
    st.fixed_dictionaries(
        {
            "type": st.just("tool_result"),
            "tool_use_id": st.sampled_from(["t1", "t2"]),
            "content": st.one_of(
                WORDS, st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": WORDS}))
            ),
            "is_error": st.booleans(),
        }
    ),
    st.fixed_dictionaries({"type": st.just("image"), "source": st.dictionaries(WORDS, WORDS, max_size=1)}),
)


@given(st.lists(BLOCKS, max_size=6))
def test_no_word_stays_and_every_call_keeps_its_result(blocks: list[dict[str, Any]]) -> None:
    text = placeholders(canonical(blocks))
    left = json.loads(text)
    assert CANARY not in text
    assert left
    for kind, name in (("tool_use", "id"), ("tool_result", "tool_use_id")):
        assert [block[name] for block in blocks if block["type"] == kind] == [
            block[name] for block in left if block["type"] == kind
        ]
    assert placeholders(text) == text


@given(st.lists(BLOCKS, max_size=3), WORDS)
def test_a_persons_own_words_stay_behind_the_programs(blocks: list[dict[str, Any]], words: str) -> None:
    message = {"type": "text", "text": words}
    left = json.loads(context_placeholders(canonical([*blocks, message])))
    assert left[-1] == message
    assert CANARY not in canonical(left[:-1])


def test_what_is_no_list_of_blocks_becomes_one_placeholder() -> None:
    assert json.loads(placeholders('"zyzzyva"')) == [{"type": "text", "text": PLACEHOLDER}]


def test_prompts_and_summaries_that_hold_an_entry_end_and_earlier_ones_stay(world: World) -> None:
    entries = [world.say("ada", "dm", f"{word} is what I said") for word in ("one", "two", "three")]
    talk = entries[0].conversation_id

    def add(session: Any) -> None:
        for number, start in enumerate((0, 1, 2)):
            session.add(
                Epoch(
                    id=f"e{number}", team_id=TEAM, conversation_id=talk, number=number, audience="team",
                    audiences=["team"], head="{}", hashes={}, shown={}, start=start, model="m",
                )
            )  # fmt: skip
            session.add(
                Summary(
                    id=f"s{number}", team_id=TEAM, conversation_id=talk, audience="team", audiences=["team"],
                    text="…", since=0, upto=number,
                )
            )  # fmt: skip

    world.run(add)
    world.run(lambda session: redact(session, [session.merge(entries[1])]))
    epochs = {row.id: row for row in world.read(lambda session: session.scalars(select(Epoch)).all())}
    assert {key: (row.head, row.end_reason) for key, row in epochs.items()} == {
        "e0": ("{}", "forgotten"),
        "e1": ("{}", "forgotten"),
        "e2": ("", "forgotten"),
    }
    left = world.read(lambda session: session.scalars(select(Summary.id)).all())
    assert sorted(left) == ["s0", "s1"]


def test_no_later_message_keeps_the_words_as_its_search_context(world: World) -> None:
    secret = world.say("ada", "dm", "the  zyzzyva\nis mine")
    for number in range(3):
        world.say("ada", "dm", f"line {number}")
    world.run(lambda session: redact(session, [session.merge(secret)]))
    rows = world.read(lambda session: session.scalars(select(Entry).order_by(Entry.seq)).all())
    assert [row.id for row in rows if CANARY in f"{row.text}{row.ctx}{row.folds}{row.head}{row.blocks}"] == []
    assert rows[0].redacted_at is not None
    assert (rows[0].link, rows[0].person_id) == (None, world.person("ada"))


@given(st.text(max_size=30), st.lists(st.text(min_size=1, max_size=12), max_size=3), st.booleans())
def test_the_quick_look_never_rules_out_an_echo(text: str, said: list[str], quoted: bool) -> None:
    telling = {word for line in said for word in tokens(line) if len(word) > 3}
    words = Words(frozenset(" ".join(fold(line).split()) for line in said) - {""}, frozenset(telling))
    heard = f"{text} {said[0]}" if said and quoted else text
    assert words.may_be_in(heard) or not words.echoed_in(heard)
