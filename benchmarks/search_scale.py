"""Memory search as a team's memories grow, on SQLite and on PostgreSQL.

One team, half of its memories visible to the person who asks, the rest private to 2,000 owners. Texts are
synthetic (word frequencies as in English), document vectors are synthetic too, because embedding a million
takes hours; a question's embedding is real and part of what is measured.

    python -m benchmarks.search_scale --json [--sizes 10000,100000,1000000] [--database URL]
"""

import argparse
import itertools
import json
import random
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import insert, text
from sqlalchemy.orm import Session

from benchmarks import databases
from bot.embedding import find_embedder
from memory.audience import TEAM, Viewer, of_person
from memory.bots import Bot
from memory.database import Database
from memory.meaning import Meaning
from memory.memories import Memory, Vector
from memory.people import Person, Team
from memory.search import search_memories

SIZES = (10_000, 100_000, 1_000_000)
OWNERS = 2_000
QUESTIONS = 100
WARM = 10
ADDS = 2_000
WORDS_OF_A_TEXT = (8, 24)
SEED = 20_261_130
NOW = datetime(2026, 11, 30, tzinfo=UTC)
CHUNK = 20_000
ASKER = Viewer("t", "b", "p0", "", (TEAM, of_person("p0")), of_person("p0"))


class Talk:
    """Texts and questions with word frequencies as in English, the same in every run."""

    def __init__(self, words: Sequence[str]) -> None:
        self.random = random.Random(SEED)
        self.words = list(words)
        self.random.shuffle(self.words)
        self.weights = list(itertools.accumulate(1 / (rank + 10) for rank in range(len(self.words))))

    def text(self) -> str:
        """A sentence."""
        count = self.random.randint(*WORDS_OF_A_TEXT)
        return " ".join(self.random.choices(self.words, cum_weights=self.weights, k=count))

    def question(self) -> str:
        """A plain question about some words, rarer ones more often than in texts."""
        ranks = sorted(int(len(self.words) ** self.random.uniform(0.25, 1.0)) for _ in range(4))
        words = [self.words[rank - 1] for rank in ranks]
        return f"What did we say about the {words[3]} {words[1]} when {words[0]} was {words[2]}?"


def rows(talk: Talk, start: int, stop: int) -> Iterator[dict[str, Any]]:
    """Memories: every second one for the team, the others private to their owners."""
    for number in range(start, stop):
        owner = f"p{talk.random.randrange(OWNERS)}"
        shared = number % 2 == 0
        yield {
            "seq": number + 1,
            "id": f"m{number}",
            "team_id": "t",
            "bot_id": "b",
            "author_id": owner,
            "subject": "team" if shared else owner,
            "audience": TEAM if shared else of_person(owner),
            "layer": "fact",
            "kind": "fact",
            "text": talk.text(),
            "origin": "pass",
            "head": f"Person {owner[1:]} (30 November 2026):",
            "topic": "",
            "importance": 3,
            "confidence": 1.0,
            "status": "active",
            "version": 1,
            "confirmations": 0,
            "ctx": "",
            "folds": "",
            "created_at": NOW,
            "confirmed_at": NOW,
        }


def settle(session: Session) -> None:
    """The team, its bot and its people."""
    session.add(Team(id="t", name="Team"))
    session.flush()
    session.add(Bot(id="b", team_id="t", name="teambot"))
    session.add_all(Person(id=f"p{number}", team_id="t", name=f"Person {number}") for number in range(OWNERS))


def load(database: Database, talk: Talk, model: str, dimension: int, start: int, stop: int) -> None:
    """Adds memories with their vectors, many in one transaction."""
    import numpy as np

    generator = np.random.default_rng(start)
    for first in range(start, stop, CHUNK):
        last = min(first + CHUNK, stop)
        values = generator.standard_normal((last - first, dimension)).astype(np.float32)
        values /= np.linalg.norm(values, axis=1, keepdims=True)
        scales = np.abs(values).max(axis=1) / 127
        packed = np.rint(values / scales[:, None]).astype(np.int8)
        memories = list(rows(talk, first, last))
        vectors = [
            {
                "seq": row["seq"],
                "team_id": "t",
                "audience": row["audience"],
                "kind": "memory",
                "row_seq": row["seq"],
                "model": model,
                "dimension": dimension,
                "scale": float(scale),
                "components": components.tobytes(),
            }
            for row, scale, components in zip(memories, scales, packed, strict=True)
        ]
        database.run_now(_insert, memories, vectors)


def _insert(session: Session, memories: Sequence[dict[str, Any]], vectors: Sequence[dict[str, Any]]) -> None:
    connection = session.connection()
    connection.execute(insert(Memory.__table__), memories)  # type: ignore[arg-type]
    connection.execute(insert(Vector.__table__), vectors)  # type: ignore[arg-type]


def measure(database: Database, talk: Talk, meaning: Meaning) -> dict[str, float]:
    """Milliseconds of a search, embedding included, after a few that load what is loaded lazily."""
    questions = [talk.question() for _ in range(WARM + QUESTIONS)]
    times = []
    started = time.perf_counter()
    ask(database, questions[0], meaning)
    first = time.perf_counter() - started
    for question in questions[1:]:
        started = time.perf_counter()
        ask(database, question, meaning)
        times.append((time.perf_counter() - started) * 1_000)
    times = sorted(times[WARM - 1 :])
    return {
        "p50_ms": round(statistics.median(times), 1),
        "p99_ms": round(times[int(len(times) * 0.99)], 1),
        "first_s": round(first, 1),
    }


def ask(database: Database, question: str, meaning: Meaning) -> int:
    """One search, as the tool makes it; how many it found."""
    return len(database.read_now(search_memories, ASKER, question, at=NOW, limit=10, meaning=meaning))


def adds_a_second(database: Database, talk: Talk, start: int) -> float:
    """Memories added one by one, a commit each, keyword index included, before they are embedded."""
    memories = list(rows(talk, start, start + ADDS))
    started = time.perf_counter()
    for memory in memories:
        database.run_now(_add, memory)
    return round(ADDS / (time.perf_counter() - started), 0)


def _add(session: Session, memory: dict[str, Any]) -> None:
    session.execute(insert(Memory.__table__), memory)  # type: ignore[arg-type]


def size(database: Database) -> int:
    """Bytes on disk of memories, their keyword index and their vectors."""
    if database.is_sqlite:
        query = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
    else:
        query = "SELECT pg_total_relation_size('memories') + pg_total_relation_size('vectors')"
    return int(database.read_now(lambda session: session.scalar(text(query))) or 0)


def run(url: str, sizes: Sequence[int]) -> dict[str, Any]:
    """The figures of one database, growing from size to size."""
    embedder = find_embedder()
    if embedder is None:
        raise SystemExit("This needs the extra `semantic`.")
    figures: dict[str, Any] = {}
    talk, start = Talk(embedder.words()), 0
    with databases.opened(url) as database:
        database.run_now(settle)
        for stop in sizes:
            load(database, talk, embedder.model, embedder.dimension, start, stop)
            if not database.is_sqlite:
                with database.writing.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                    connection.execute(text("VACUUM ANALYZE"))
            disk = size(database) / stop
            found = measure(database, talk, Meaning(embedder))
            added = adds_a_second(database, talk, stop)
            figures[str(stop)] = {**found, "adds_per_s": added, "bytes_per_memory": round(disk)}
            start = stop + ADDS
    return figures


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description="Memory search at scale.")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--database", help="one empty database instead of a new SQLite and a new PostgreSQL")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    sizes = sorted(int(part) for part in options.sizes.split(","))
    figures: dict[str, Any] = {"machine": databases.machine(), "questions": QUESTIONS}
    with tempfile.TemporaryDirectory() as folder, databases.both(Path(folder)) as fresh:
        for url in [options.database] if options.database else fresh:
            figures["sqlite" if url.startswith("sqlite") else "postgresql"] = run(url, sizes)
    print(json.dumps(figures, indent=None if options.json else 2))


if __name__ == "__main__":
    main()
