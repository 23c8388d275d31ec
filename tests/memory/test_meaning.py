"""Search by meaning follows the rows: new ones, changed ones, gone ones, and a new model."""

import hashlib
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from sqlalchemy import select
from sqlalchemy.orm import Session

from memory.conversations import Entry
from memory.database import Database
from memory.embedding_queue import EmbeddingQueue, progress
from memory.meaning import Meaning
from memory.memories import Memory, Vector
from memory.search import search_entries, search_memories
from memory.vectors import NoEmbedder
from tests.memory.talk import ADA, BEN, NOW, remember, say, settle, texts

ALIKE = {"automobile": "car", "vehicle": "car", "feline": "cat", "kitty": "cat"}


class Synonyms:
    """A stand-in for a sentence model: words of one meaning point the same way."""

    def __init__(self, model: str = "synonyms", dimension: int = 64) -> None:
        self.model, self.dimension = model, dimension

    def documents(self, given: Sequence[str]) -> NDArray[np.float32]:
        """The sum of each text's word directions, with unit length."""
        return np.array([self.question(text) for text in given])

    def question(self, text: str) -> NDArray[np.float32]:
        """The same for one text."""
        row = sum((self._word(word) for word in text.lower().split()), np.zeros(self.dimension))
        return (row / max(float(np.linalg.norm(row)), 1e-9)).astype(np.float32)

    def _word(self, word: str) -> NDArray[np.float64]:
        plain = word.strip(".,?!:()")
        seed = hashlib.sha256((self.model + ALIKE.get(plain, plain)).encode()).digest()
        return np.random.default_rng(int.from_bytes(seed[:8])).standard_normal(self.dimension)


class Broken(Synonyms):
    """A sentence model whose files are not the expected ones."""

    def question(self, text: str) -> NDArray[np.float32]:
        """Refuses."""
        raise NoEmbedder()


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """A team's database."""
    opened = Database(database_url)
    opened.run_now(settle)
    yield opened
    opened.close()


def embed_all(database: Database, queue: EmbeddingQueue) -> int:
    """Embeds until nothing waits."""
    done = 0
    while some := queue.step(database):
        done += some
    return done


def ask(database: Database, meaning: Meaning | None, query: str, viewer: object = ADA) -> list[str]:
    """The texts of the memories that a question finds."""
    return texts(database.read_now(search_memories, viewer, query, at=NOW, meaning=meaning))  # type: ignore[arg-type]


def vectors(database: Database) -> list[tuple[str, int]]:
    """What vectors there are: by which model, with how many numbers."""
    rows = database.read_now(lambda session: session.scalars(select(Vector)).all())
    return [(row.model, row.dimension) for row in rows]


def test_other_words_for_the_same_thing_are_found(database: Database) -> None:
    database.run_now(remember, "the automobile is red", "lunch is at noon")
    meaning = Meaning(Synonyms())
    assert ask(database, None, "which vehicle") == []
    embed_all(database, EmbeddingQueue(Synonyms()))
    assert ask(database, meaning, "which vehicle")[0] == "the automobile is red"


def test_what_is_hidden_from_the_viewer_is_not_found_by_meaning_either(database: Database) -> None:
    database.run_now(remember, "my automobile is red", audience="person:ada", subject="ada")
    database.run_now(remember, "the other bot's automobile", bot_id="b2")
    database.run_now(remember, "an old automobile", status="archived")
    database.run_now(remember, "lunch is at noon")
    embed_all(database, EmbeddingQueue(Synonyms()))
    meaning = Meaning(Synonyms())
    assert ask(database, meaning, "vehicle", BEN) == ["lunch is at noon"]
    assert set(ask(database, meaning, "vehicle", ADA)) == {"my automobile is red", "lunch is at noon"}


def test_the_index_follows_what_is_added_changed_archived_and_deleted(database: Database) -> None:
    queue, meaning = EmbeddingQueue(Synonyms()), Meaning(Synonyms())
    database.run_now(remember, "lunch is at noon")
    embed_all(database, queue)
    assert ask(database, meaning, "vehicle") == ["lunch is at noon"]

    database.run_now(remember, "the automobile is red")
    embed_all(database, queue)
    assert ask(database, meaning, "vehicle")[0] == "the automobile is red"

    def rewrite(session: Session) -> None:
        session.query(Memory).filter_by(text="the automobile is red").one().text = "a feline sleeps"

    database.run_now(rewrite)
    assert len(vectors(database)) == 1
    assert embed_all(database, queue) == 1
    assert ask(database, meaning, "kitty")[0] == "a feline sleeps"

    def archive(session: Session) -> None:
        session.query(Memory).filter_by(text="a feline sleeps").one().status = "archived"

    database.run_now(archive)
    assert ask(database, meaning, "kitty") == ["lunch is at noon"]

    def forget(session: Session) -> None:
        session.query(Memory).filter_by(text="a feline sleeps").delete()

    database.run_now(forget)
    assert len(vectors(database)) == 1
    assert ask(database, meaning, "kitty") == ["lunch is at noon"]


def test_a_memory_that_takes_the_number_of_a_forgotten_one_has_its_own_meaning(database: Database) -> None:
    queue, meaning = EmbeddingQueue(Synonyms()), Meaning(Synonyms())
    database.run_now(remember, "lunch is at noon", "the automobile is red")
    embed_all(database, queue)
    assert ask(database, meaning, "vehicle")[0] == "the automobile is red"
    database.run_now(lambda session: session.query(Memory).filter_by(text="the automobile is red").delete())
    database.run_now(remember, "a feline sleeps")
    embed_all(database, queue)
    found = database.read_now(search_memories, ADA, "vehicle", at=NOW, meaning=meaning)
    assert {item.row.text: item.score > 0.3 for item in found} == {
        "lunch is at noon": False,
        "a feline sleeps": False,
    }
    assert ask(database, meaning, "kitty")[0] == "a feline sleeps"


def test_a_new_model_is_never_compared_with_old_vectors_and_words_go_on_meanwhile(database: Database) -> None:
    database.run_now(remember, "the automobile is red", *(f"note number {number}" for number in range(20)))
    embed_all(database, EmbeddingQueue(Synonyms()))
    new = Synonyms("synonyms-2", 128)
    queue, meaning = EmbeddingQueue(new), Meaning(new)
    assert database.read_now(progress, new.model).done == 0
    assert ask(database, meaning, "vehicle") == []
    assert ask(database, meaning, "red automobile") == ["the automobile is red"]

    assert queue.step(database) == 8
    half = database.read_now(progress, new.model)
    assert (half.done, half.total) == (8, 21)
    assert "the automobile is red" in ask(database, meaning, "red automobile")

    embed_all(database, queue)
    assert database.read_now(progress, new.model).done == 21
    assert set(vectors(database)) == {("synonyms-2", 128)}
    assert ask(database, meaning, "vehicle")[0] == "the automobile is red"


def test_vectors_of_another_dimension_under_the_same_name_are_not_compared(database: Database) -> None:
    database.run_now(remember, "the automobile is red")
    embed_all(database, EmbeddingQueue(Synonyms(dimension=64)))
    assert ask(database, Meaning(Synonyms(dimension=128)), "vehicle") == []
    assert embed_all(database, EmbeddingQueue(Synonyms(dimension=128))) == 1
    assert ask(database, Meaning(Synonyms(dimension=128)), "vehicle") == ["the automobile is red"]


def test_without_a_usable_model_search_goes_by_words(database: Database) -> None:
    database.run_now(remember, "the automobile is red")
    assert ask(database, Meaning(Broken()), "automobile") == ["the automobile is red"]


def test_an_answer_is_found_by_the_meaning_of_the_question_before_it(database: Database) -> None:
    database.run_now(
        say, "any automobile news?", "it arrives tomorrow", "thanks a lot", "see you", "bye then"
    )
    database.run_now(say, "a tool's automobile", kind="results")
    queue, meaning = EmbeddingQueue(Synonyms()), Meaning(Synonyms())
    assert embed_all(database, queue) == 5
    found = texts(database.read_now(search_entries, ADA, "vehicle", meaning=meaning))
    assert found[:2] == ["any automobile news?", "it arrives tomorrow"]


def test_a_redacted_message_leaves_the_meaning_of_the_next_ones(database: Database) -> None:
    database.run_now(say, "any automobile news?", "it arrives tomorrow", "thanks a lot", "see you")
    queue, meaning = EmbeddingQueue(Synonyms()), Meaning(Synonyms())
    embed_all(database, queue)

    def redact(session: Session) -> None:
        entry = session.query(Entry).filter_by(text="any automobile news?").one()
        entry.text, entry.redacted_at = "", NOW

    database.run_now(redact)
    assert len(vectors(database)) == 1
    assert embed_all(database, queue) == 2
    found = database.read_now(search_entries, ADA, "vehicle", meaning=meaning)
    assert "any automobile news?" not in texts(found)
    assert len({round(item.score, 1) for item in found}) < 3


def test_the_log_of_changes_is_cut_and_an_index_that_missed_some_starts_over(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.embedding_queue.LOG_KEPT", 2)
    meaning = Meaning(Synonyms())
    database.run_now(remember, "lunch is at noon")
    embed_all(database, EmbeddingQueue(Synonyms()))
    assert ask(database, meaning, "vehicle") == ["lunch is at noon"]
    database.run_now(remember, "the automobile is red", *(f"note {number}" for number in range(700)))
    embed_all(database, EmbeddingQueue(Synonyms()))
    EmbeddingQueue(Synonyms()).step(database)
    assert ask(database, meaning, "vehicle")[0] == "the automobile is red"
