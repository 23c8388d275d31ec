"""Whatever is stored and whatever is asked, search answers, and only with what the viewer may read."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from memory.audience import Viewer
from memory.conversations import Entry
from memory.database import Database
from memory.embedding_queue import EmbeddingQueue
from memory.meaning import Meaning
from memory.memories import Memory, Vector
from memory.search import search_entries, search_memories
from memory.text import extra_terms, fold, tokens
from memory.words import clean
from tests.memory.talk import ADA, BEN, NOW, remember, say, settle
from tests.memory.test_meaning import Synonyms

SYNTAX = st.sampled_from(
    ["AND", "NOT", '"', "'", "*", "NEAR(", "{text}:", "<->", ":*", "\\", "%", "\x00", "\ud83d"]
)
ANYTHING = st.lists(
    st.one_of(st.text(max_size=12), SYNTAX, st.sampled_from(["canary", "会議"])), max_size=8
).map(" ".join)
AUDIENCES = st.sampled_from(["team", "person:ada", "person:ben", "place:p"])
ROWS = st.lists(st.tuples(ANYTHING, AUDIENCES, st.sampled_from(["b", "b2"])), max_size=8)


def fill(session: Session, rows: list[tuple[str, str, str]]) -> None:
    """Memories and messages with these texts, audiences and bots."""
    for number, (text, audience, bot) in enumerate(rows):
        remember(session, text, id=f"m{number}", audience=audience, bot_id=bot, subject="ada")
        say(session, text, id=f"e{number}", audience=audience, bot_id=bot, conversation_id=f"c-{bot}")


def may_see(row: Memory | Entry, viewer: Viewer) -> bool:
    """The rule, said again without SQL."""
    return row.audience in viewer.audiences and (isinstance(row, Memory) or row.bot_id == viewer.bot_id)


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """A team's database."""
    opened = Database(database_url)
    opened.run_now(settle)
    yield opened
    opened.close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ROWS, ANYTHING)
def test_any_text_is_answered_with_visible_rows_only(
    database: Database, rows: list[tuple[str, str, str]], query: str
) -> None:
    database.run_now(empty)
    database.run_now(fill, rows)
    queue = EmbeddingQueue(Synonyms())
    while queue.step(database):
        pass
    for viewer in (ADA, BEN):
        for meaning in (None, Meaning(Synonyms())):
            memories = database.read_now(search_memories, viewer, query, at=NOW, meaning=meaning)
            entries = database.read_now(search_entries, viewer, query, meaning=meaning)
            assert all(may_see(item.row, viewer) for item in [*memories, *entries])
    assert database.read_now(lambda session: session.scalar(select(func.count(Vector.seq)))) == count(rows)


def empty(session: Session) -> None:
    """Takes all memories and messages away."""
    session.execute(delete(Memory))
    session.execute(delete(Entry))


def count(rows: list[tuple[str, str, str]]) -> int:
    """How many vectors these rows have: none for empty texts, none left of rows that are gone."""
    return 2 * sum(clean(text) != "" for text, _, _ in rows)


@given(st.text())
def test_folding_is_stable_and_terms_are_plain(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert all(token for token in tokens(text))
    assert extra_terms(text).replace(" ", "").isalnum() or not extra_terms(text)
    assert extra_terms(text).isascii()
