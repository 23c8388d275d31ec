"""What is forgotten is in no table, no index and no byte of the file; what is others' stays."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from memory.cards import Card, open_card, press
from memory.conversations import Conversation, Entry, Epoch, Summary
from memory.errors import NotFound, Refused
from memory.forgetting import forget, preview, source_key
from memory.journal import JournalRecord
from memory.listing import as_row
from memory.memories import Memory, MemoryChange, Tombstone, Vector
from memory.redaction import PLACEHOLDER
from memory.search import search_memories
from memory.tables import METADATA
from memory.tombstones import leave, stands
from memory.turns import Call, Outgoing, Turn
from memory.words import canonical
from memory.writing import add, correct, supersede
from tests.memory.world import BOT, TEAM, World, source

CANARY = "zyzzyva"


def holding(world: World, word: str = CANARY) -> list[str]:
    """Tables, indexes and files that have the word, in any letter case."""

    def tables(session: Session) -> list[str]:
        return [
            f"{table.name}:{row.get('id')}"
            for table in METADATA.sorted_tables
            for row in session.execute(select(table)).mappings()
            if word in json.dumps(dict(row), default=str, ensure_ascii=False).casefold()
        ]

    def index(session: Session) -> list[str]:
        if world.database.is_sqlite:
            query = "SELECT count(*) FROM {0}_fts WHERE {0}_fts MATCH :word"
        else:
            query = "SELECT count(*) FROM {0} WHERE ts @@ plainto_tsquery('english', :word)"
        counts = {
            name: session.scalar(text(query.format(name)), {"word": word}) for name in ("memories", "entries")
        }
        return [name for name, count in counts.items() if count]

    return [*world.read(tables), *world.read(index), *files(world, word)]


def files(world: World, word: str) -> list[str]:
    """The files of an SQLite database that have the word in their bytes (terms are kept by their stems)."""
    if not world.database.is_sqlite:
        return []
    path = Path(world.database.url.removeprefix("sqlite:///"))
    beside = [path, Path(f"{path}-wal"), Path(f"{path}-shm")]
    return [file.name for file in beside if file.exists() and word.encode() in file.read_bytes().lower()]


def go(world: World, memory: Memory, name: str = "ada", turn_id: str | None = None) -> Any:
    return world.run(forget, world.own(name), world.who(name), memory.id, turn_id=turn_id)


def test_a_forgotten_canary_is_nowhere(world: World) -> None:
    said = world.say("ada", "dm", f"remember that I may leave in March, {CANARY}")
    memory = world.learn(said, "ada", f"Ada may leave in March ({CANARY})", "dm")
    world.run(correct, world.own("ada"), world.who("ada"), memory.id, f"Ada may leave in April, {CANARY}")
    draft = world.draft("ada", f"Ada leaves in May {CANARY}", "dm", subject=world.person("ada"))
    world.run(supersede, world.own("ada"), world.who("ada"), memory.id, draft, key=("new",))
    world.say("ada", "dm", "what is for lunch?")
    request = world.say("ada", "dm", f"forget that I may leave, {CANARY}")
    world.run(told, said, memory.id)
    world.run(told, request, memory.id)
    assert len(holding(world)) > 10
    receipt = go(world, memory, turn_id=request.turn_id)
    assert holding(world) == []
    assert receipt.counts == {"memories": 2, "messages": 2, "shared": 0, "files": 0}
    assert {said.turn_id, request.turn_id} <= set(receipt.turns)
    assert CANARY not in " ".join(receipt.lines)
    assert any("Not undone" in line for line in receipt.lines)
    texts = world.read(lambda session: session.scalars(select(Entry.text).where(Entry.text != "")).all())
    assert "what is for lunch?" in texts


def told(session: Session, said: Entry, memory_id: str) -> None:
    """Everything that a turn leaves behind: calls, results, a reply, what was sent, the journal, prompts."""
    conversation = session.get_one(Conversation, said.conversation_id)
    conversation.title = f"About {CANARY}"
    session.add(
        Turn(
            id=said.turn_id, team_id=TEAM, conversation_id=conversation.id, bot_id=BOT,
            place_id=said.place_id, person_id=said.person_id, audience=said.audience,
            remembered={"added": [{"id": memory_id, "text": CANARY}], "refused": []},
        )
    )  # fmt: skip
    call = {"type": "tool_use", "id": "t1", "name": "memory_write", "input": {"text": f"… {CANARY}"}}
    think = {"type": "thinking", "thinking": CANARY, "signature": "s"}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": CANARY}]}
    answer = {"type": "text", "text": f"I noted {CANARY}."}
    _bot(session, conversation, said, "working", [think, call], [])
    _bot(session, conversation, said, "results", [result], [memory_id])
    _bot(session, conversation, said, "reply", [answer], [], f"I noted {CANARY}.")
    shared: dict[str, Any] = {"team_id": TEAM, "audience": said.audience}
    rest: list[Any] = [
        Outgoing(
            id=f"{said.turn_id}:0", **shared, conversation_id=conversation.id, place_id=said.place_id,
            turn_id=said.turn_id, platform="local", workspace="here", channel="dm", text=CANARY,
            extras={"sources": [CANARY]}, status="sent",
        ),
        Call(
            id=f"call-{said.id}", **shared, turn_id=said.turn_id, result=canonical(result),
            sources=[{"q": CANARY}],
        ),
        JournalRecord(
            id=f"j-{said.id}", **shared, turn_id=said.turn_id, person_id=said.person_id,
            record={"userMessage": CANARY, "result": CANARY, "status": "completed"},
        ),
        Epoch(
            id=f"epoch-{said.id}", **shared, conversation_id=conversation.id, number=said.seq,
            audiences=["team"], head=CANARY, hashes={}, shown={memory_id: 1}, start=0, model="m",
        ),
        Epoch(
            id=f"late-{said.id}", **shared, conversation_id=conversation.id, number=1_000 + said.seq,
            audiences=["team"], head=CANARY, hashes={}, shown={}, start=said.position, model="m",
        ),
        Summary(
            id=f"sum-{said.id}", **shared, conversation_id=conversation.id, audiences=["team"], text=CANARY,
            shown=[memory_id], since=0, upto=0,
        ),
    ]  # fmt: skip
    session.add_all(rest)
    row = session.scalars(select(Memory).where(Memory.id == memory_id)).one()
    for kind, seq in (("memory", row.seq), ("entry", said.seq)):
        known = session.scalar(select(Vector.seq).where(Vector.kind == kind, Vector.row_seq == seq))
        if known is None:
            session.add(
                Vector(
                    **shared,
                    kind=kind,
                    row_seq=seq,
                    model="m",
                    dimension=7,
                    scale=1.0,
                    components=CANARY.encode(),
                )
            )


def _bot(
    session: Session,
    conversation: Conversation,
    said: Entry,
    kind: str,
    blocks: list[dict[str, Any]],
    shown: list[str],
    words: str = "",
) -> Entry:
    conversation.last_position += 1
    entry = Entry(
        id=f"{said.id}-{kind}", team_id=TEAM, conversation_id=conversation.id, bot_id=BOT,
        place_id=said.place_id, audience=said.audience, turn_id=said.turn_id,
        position=conversation.last_position,
        role="user" if kind == "results" else "assistant", kind=kind, text=words, blocks=canonical(blocks),
        shown=shown, said_at=said.said_at,
    )  # fmt: skip
    session.add(entry)
    session.flush()
    return entry


def test_what_others_were_shown_goes_and_what_they_said_stays(world: World) -> None:
    said = world.say("ada", "general", f"remember: we deploy on Tuesdays, {CANARY}")
    memory = world.learn(said, "ada", f"We deploy on Tuesdays, {CANARY}", subject="team")
    asked = world.say("ben", "dm", "when do we deploy?")

    def answer(session: Session) -> None:
        conversation = session.get_one(Conversation, asked.conversation_id)
        question = session.merge(asked)
        question.shown = [memory.id]
        question.blocks = canonical(
            [{"type": "text", "text": f'{{"changed":"{CANARY}"}}'}, {"type": "text", "text": asked.text}]
        )
        _bot(session, conversation, asked, "reply", [{"type": "text", "text": CANARY}], [memory.id], CANARY)

    world.run(answer)
    later = world.say("dana", "dm", "hello")
    words = "Hello Dana, it is Tuesday"
    world.run(
        lambda session: _bot(
            session,
            session.get_one(Conversation, later.conversation_id),
            later,
            "reply",
            [{"type": "text", "text": words}],
            [],
            words,
        )
    )
    go(world, memory)
    assert holding(world) == []
    rows = {row.id: row for row in world.read(lambda session: session.scalars(select(Entry)).all())}
    assert (rows[asked.id].text, rows[asked.id].redacted_at) == ("when do we deploy?", None)
    assert json.loads(rows[asked.id].blocks or "")[-1] == {"type": "text", "text": "when do we deploy?"}
    assert rows[asked.id].shown == []
    assert rows[f"{asked.id}-reply"].redacted_at is not None
    assert rows[f"{later.id}-reply"].text == words


def test_a_reply_from_the_talk_itself_goes_by_its_words(world: World) -> None:
    said = world.say("ada", "dm", f"my locker code is {CANARY}")
    memory = world.learn(said, "ada", f"Ada's locker code is {CANARY}", "dm", origin="pass")
    lunch, code = world.say("ada", "dm", "lunch?"), world.say("ada", "dm", "and my code?")

    def answer(session: Session) -> None:
        conversation = session.get_one(Conversation, said.conversation_id)
        _bot(session, conversation, lunch, "reply", [{"type": "text", "text": "At noon."}], [], "At noon.")
        words = f"It is {CANARY.upper()}!"
        _bot(session, conversation, code, "reply", [{"type": "text", "text": words}], [], words)

    world.run(answer)
    go(world, memory)
    assert holding(world) == []
    kept = world.read(lambda session: session.scalars(select(Entry.text).where(Entry.text != "")).all())
    assert sorted(kept) == ["At noon.", "and my code?", "lunch?"]


def test_only_author_subject_and_admins_of_the_team_forget(world: World) -> None:
    about_dana = world.keep("ben", "Dana runs the demo", subject=world.person("dana"))
    team = world.keep("ben", "We deploy on Tuesdays")
    place_fact = world.keep("ben", "the pager rotates", "ops")
    private = world.keep("ben", "Ben likes tea", "dm", subject=world.person("ben"))
    with pytest.raises(Refused):
        go(world, team, "dana")
    with pytest.raises(Refused):
        world.run(forget, world.here("ada", "ops"), world.who("ada"), place_fact.id)
    for name in ("ada", "dana", "gil"):
        with pytest.raises(NotFound):
            go(world, private, name)
    go(world, about_dana, "dana")
    go(world, team, "ada")
    go(world, private, "ben")
    assert world.read(lambda session: session.scalars(select(Memory.text)).all()) == ["the pager rotates"]


def test_forgetting_by_the_subject_leaves_the_authors_message(world: World) -> None:
    said = world.say("ben", "general", "Dana runs the demo")
    memory = world.learn(said, "ben", "Dana runs the demo", subject=world.person("dana"), origin="pass")
    go(world, memory, "dana")
    left = world.read(lambda session: session.scalars(select(Entry)).one())
    assert (left.text, left.redacted_at) == ("Dana runs the demo", None)
    with pytest.raises(Refused, match="forgotten"):
        world.learn(said, "ben", "Dana runs the demo", origin="extraction")


def test_the_mark_names_the_message_and_not_its_words(world: World) -> None:
    said = world.say("ada", "dm", "I like tea")
    go(world, world.learn(said, "ada", "Ada likes tea", "dm"))
    mark = world.read(lambda session: session.scalars(select(Tombstone)).one())
    assert (mark.key, mark.reason) == (source_key("local", "here/dm-ada", said.message_id or ""), "forgotten")
    assert mark.audience == f"person:{world.person('ada')}"
    assert holding(world, "likes tea") == []


def test_a_mark_for_one_person_changes_nothing_for_others(world: World) -> None:
    def marks(session: Session) -> list[bool]:
        leave(session, TEAM, "k", "person:x", "forgotten")
        before = [stands(session, TEAM, "k", audience) for audience in ("person:x", "person:y", "team")]
        leave(session, TEAM, "k", "team", "forgotten")
        leave(session, TEAM, "k", "person:x", "forgotten")
        return [
            *before,
            *(stands(session, TEAM, "k", audience) for audience in ("person:y", "place:p", "team")),
        ]

    assert world.run(marks) == [True, False, False, True, True, True]


def test_other_peoples_words_in_the_chain_stay_as_history(world: World) -> None:
    first = world.keep("ben", "staging is at a")
    key = ("later",)
    written = world.run(
        supersede,
        world.own("dana"),
        world.who("dana"),
        first.id,
        world.draft("dana", "staging is at b"),
        key=key,
    )
    receipt = go(world, first, "ben")
    left = world.load(written.memory.id)
    assert left is not None
    assert left.status == "active"
    assert any("other people" in line for line in receipt.lines)
    old = world.keep("ben", "staging is at c")
    newer = world.run(
        supersede,
        world.own("dana"),
        world.who("dana"),
        old.id,
        world.draft("dana", "it is at d"),
        key=("k2",),
    )
    go(world, newer.memory, "dana")
    history = world.load(old.id)
    assert history is not None
    assert (history.status, history.superseded_by) == ("archived", None)


def test_an_admin_forgets_the_whole_chain(world: World) -> None:
    first = world.keep("ben", "staging is at a")
    draft = world.draft("dana", "staging is at b")
    world.run(supersede, world.own("dana"), world.who("dana"), first.id, draft, key=("k",))
    assert go(world, first, "ada").counts["memories"] == 2
    assert world.read(lambda session: session.scalar(select(func.count()).select_from(MemoryChange))) == 0


def test_the_same_matter_kept_twice_from_one_message_goes_as_one(world: World) -> None:
    said = world.say("ada", "dm", f"I may leave in March {CANARY}. I like tea.")
    memory = world.learn(said, "ada", f"Ada may leave in March {CANARY}", "dm")
    world.learn(said, "ada", f"Ada asked to note that she may leave in March {CANARY}", "dm", layer="log")
    tea = world.learn(said, "ada", "Ada likes tea", "dm")
    seen = world.read(preview, world.own("ada"), world.who("ada"), memory.id)
    assert (seen.text, seen.readers, len(seen.also), seen.messages) == (memory.text, "only Ada", 1, 1)
    go(world, memory)
    assert holding(world) == []
    kept = world.load(tea.id)
    assert kept is not None
    assert (kept.text, kept.quote, kept.link) == ("Ada likes tea", None, None)


def test_what_was_shared_stays_and_the_receipt_says_so(world: World) -> None:
    private = world.keep("ada", "Ada may leave in March", "dm")
    shared = world.keep("ada", "Ada leaves in March", shared_from=private.id, origin="manual")
    assert world.read(preview, world.own("ada"), world.who("ada"), private.id).shared == 1
    receipt = go(world, private)
    assert receipt.counts["shared"] == 1
    assert any("shared" in line for line in receipt.lines)
    left = world.load(shared.id)
    assert left is not None
    assert (left.text, left.shared_from) == ("Ada leaves in March", None)


def test_an_open_card_about_it_can_no_longer_be_pressed(world: World) -> None:
    memory = world.keep("ada", f"Ada may leave, {CANARY}", "dm")
    cards = [
        world.run(
            open_card, world.who("ada"), action="share", payload=payload, text=f"Share “{memory.text}”?",
            readers="every member of the team", audience=world.own("ada").writes, place_id=None, bot_id=BOT,
            turn_id=None, key=("card", number),
        )
        for number, payload in enumerate(({"memory_id": memory.id}, {"words": "none"}))
    ]  # fmt: skip
    go(world, memory)
    assert holding(world) == []
    for card in cards:
        with pytest.raises(Refused):
            world.run(press, world.who("ada"), card.id)
    left = world.read(lambda session: session.scalars(select(Card)).all())
    assert {(card.status, card.text) for card in left} == {("gone", PLACEHOLDER)}


def test_nothing_comes_back_from_the_same_thread(world: World) -> None:
    said = world.say("ada", "dm", "violet parrot code 71")
    memory = world.learn(said, "ada", "the violet parrot code is 71", "dm")
    bens = world.keep("ben", "parrots live long")
    go(world, memory)
    with pytest.raises(Refused):
        world.run(add, world.draft("ada", "violet parrot", "dm", source=source(said)), key=("again",))
    found = world.read(search_memories, world.own("ben"), "parrots", at=bens.created_at)
    assert [row.id for row in found] == [bens.id]
    assert holding(world, "violet") == []


def test_forgetting_twice_is_not_found_and_changes_nothing(world: World) -> None:
    memory, other = world.keep("ada", "We use Kanban"), world.keep("ada", "We use Scrum")
    go(world, memory)
    with pytest.raises(NotFound):
        go(world, memory)
    assert world.read(as_row, other, world.own("ada"))["text"] == "We use Scrum"


@pytest.mark.parametrize(
    "words", ["来週の定例会議は火曜に変更", "می‌خواهم چای سبز", "👩‍👩‍👧‍👦", "İzmir", "经费报销每月十号截止"]
)
def test_every_script_is_forgotten(world: World, words: str) -> None:
    said = world.say("ada", "dm", f"{words} ok")
    memory = world.learn(said, "ada", words, "dm")
    lunch = world.say("ada", "dm", "lunch?")

    def answer(session: Session) -> None:
        conversation = session.get_one(Conversation, said.conversation_id)
        _bot(
            session,
            conversation,
            lunch,
            "reply",
            [{"type": "text", "text": f"> {words}!"}],
            [],
            f"> {words}!",
        )

    world.run(answer)
    go(world, memory)
    assert holding(world, words.casefold()) == []
