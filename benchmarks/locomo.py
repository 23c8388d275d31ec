"""Retrieval on LoCoMo: does conversation search find the turns that hold a question's answer?

Each turn of a dialogue is one entry, written and searched through the real schema. `conv`: one team for each
dialogue. `pool`: all dialogues in one team, each in a private channel of its own, and the gate in the query.
The control is a plain SQLite FTS5 table (default tokeniser, any word, bm25) with the same texts.

    python -m benchmarks.locomo --json [--data PATH] [--scope conv|pool] [--no-model] [--database URL]

The data is snap-research/LoCoMo (`locomo10.json`, CC BY-NC 4.0) with the corrected evidence labels of
dial481/locomo-audit (`errors.json` as `locomo_audit_errors.json`); neither is part of this project.
"""

import argparse
import json
import re
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete
from sqlalchemy.orm import Session

from benchmarks import databases
from benchmarks.locomo_data import CATEGORIES, Dialogue, Said, load
from bot.embedding import find_embedder
from memory.audience import Viewer, of_place
from memory.bots import Bot
from memory.conversations import Conversation, Entry
from memory.database import Database
from memory.embedding_queue import EmbeddingQueue
from memory.ids import derive
from memory.meaning import Meaning
from memory.people import Person, Team
from memory.places import Place
from memory.search import search_entries
from memory.vectors import Embedder

if TYPE_CHECKING:
    from memory.vectors import Floats

DATA = Path(__file__).parents[2] / "shared" / "data" / "locomo"
DEPTHS = (5, 10, 30)
Scores = dict[str, float]


class Remembered:
    """An embedder that embeds each text once for all databases of a run."""

    def __init__(self, inner: Embedder) -> None:
        self.inner = inner
        self.model, self.dimension = inner.model, inner.dimension
        self._known: dict[str, Floats] = {}

    def documents(self, texts: Sequence[str]) -> "Floats":
        """The vectors, computed where they are new."""
        import numpy as np

        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, self.inner.documents(new), strict=True))
        return np.array([self._known[text] for text in texts])

    def question(self, text: str) -> "Floats":
        """The vector of a question, computed every time: it is part of what is measured."""
        return self.inner.question(text)


Search = Callable[[Dialogue, str], list[str]]


def fill(session: Session, dialogues: Sequence[Dialogue], scope: str) -> None:
    """Writes every turn as a person's message in a conversation."""
    for dialogue in dialogues:
        team = _team(dialogue, scope)
        if session.get(Team, team) is None:
            session.add(Team(id=team, name=team))
            session.flush()
            session.add(Bot(id=f"bot-{team}", team_id=team, name="teambot"))
        for name in dict.fromkeys(turn.speaker for turn in dialogue.turns):
            session.add(Person(id=f"{dialogue.id}-{name}", team_id=team, name=name))
        place = Place(
            id=dialogue.id,
            team_id=team,
            platform="local",
            workspace=team,
            channel=dialogue.id,
            kind="private",
        )
        session.add(place)
        session.flush()
        bot, audience = f"bot-{team}", of_place(dialogue.id)
        session.add(
            Conversation(
                id=dialogue.id,
                team_id=team,
                bot_id=bot,
                place_id=place.id,
                key=dialogue.id,
                audience=audience,
            )
        )
        session.flush()
        for position, turn in enumerate(dialogue.turns, 1):
            session.add(_entry(dialogue, turn, position, team, bot, audience))
            session.flush()


def _entry(dialogue: Dialogue, turn: Said, position: int, team: str, bot: str, audience: str) -> Entry:
    return Entry(
        id=derive(dialogue.id, turn.id),
        team_id=team,
        conversation_id=dialogue.id,
        bot_id=bot,
        place_id=dialogue.id,
        audience=audience,
        position=position,
        role="user",
        kind="message",
        person_id=f"{dialogue.id}-{turn.speaker}",
        text=turn.text,
        said_at=turn.when,
    )


def _team(dialogue: Dialogue, scope: str) -> str:
    return dialogue.id if scope == "conv" else "pool"


def searcher(
    database: Database, dialogues: Sequence[Dialogue], scope: str, meaning: Meaning | None
) -> Search:
    """Conversation search as a person in the dialogue's channel has it."""
    names = {derive(one.id, turn.id): turn.id for one in dialogues for turn in one.turns}

    def search(dialogue: Dialogue, question: str) -> list[str]:
        team = _team(dialogue, scope)
        viewer = Viewer(
            team, f"bot-{team}", None, dialogue.id, (of_place(dialogue.id),), of_place(dialogue.id)
        )
        found = database.read_now(search_entries, viewer, question, limit=max(DEPTHS), meaning=meaning)
        return [names[item.id] for item in found]

    return search


def control(dialogues: Sequence[Dialogue]) -> Search:
    """A plain FTS5 table for each dialogue: any of the question's words, best bm25 first."""
    connection = sqlite3.connect(":memory:")
    for number, dialogue in enumerate(dialogues):
        connection.execute(f"CREATE VIRTUAL TABLE dialogue_{number} USING fts5(id UNINDEXED, text)")
        rows = [(turn.id, turn.text) for turn in dialogue.turns]
        connection.executemany(f"INSERT INTO dialogue_{number} VALUES (?, ?)", rows)
    tables = {dialogue.id: f"dialogue_{number}" for number, dialogue in enumerate(dialogues)}

    def search(dialogue: Dialogue, question: str) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        name = tables[dialogue.id]
        query = f"SELECT id FROM {name} WHERE {name} MATCH ? ORDER BY rank LIMIT {max(DEPTHS)}"
        return [row[0] for row in connection.execute(query, (words,))] if words else []

    return search


def measure(dialogues: Sequence[Dialogue], search: Search) -> dict[str, Any]:
    """Recall at each depth and the mean reciprocal rank, over all questions and by category."""
    scores: dict[str, list[Scores]] = defaultdict(list)
    times = []
    for dialogue in dialogues:
        for question in dialogue.questions:
            started = time.perf_counter()
            found = search(dialogue, question.text)
            times.append((time.perf_counter() - started) * 1_000)
            score = _score(found, question.evidence)
            scores["all"].append(score)
            scores[CATEGORIES[question.category]].append(score)
    categories = {name: _mean(rows) for name, rows in scores.items() if name != "all"}
    return {**_mean(scores["all"]), "by_category": categories, "p50_ms": round(statistics.median(times), 2)}


def _score(found: Sequence[str], evidence: Sequence[str]) -> Scores:
    places = {turn: at for at, turn in enumerate(found, 1)}
    ranks = [places[turn] for turn in evidence if turn in places]
    score = {f"r{depth}": sum(rank <= depth for rank in ranks) / len(evidence) for depth in DEPTHS}
    return {**score, "mrr": 1 / min(ranks) if ranks else 0.0}


def _mean(rows: Sequence[Scores]) -> dict[str, float]:
    return {
        "questions": len(rows),
        **{key: round(sum(row[key] for row in rows) / len(rows), 4) for key in rows[0]},
    }


@contextmanager
def filled(
    url: str, dialogues: Sequence[Dialogue], scope: str, embedder: Embedder | None
) -> Iterator[tuple[Database, Meaning | None]]:
    """A database with every turn in it, embedded if there is an embedder."""
    with databases.opened(url) as database:
        database.run_now(fill, dialogues, scope)
        if embedder is not None:
            queue = EmbeddingQueue(embedder)
            while queue.step(database):
                pass
        yield database, Meaning(embedder) if embedder else None
        teams = {_team(dialogue, scope) for dialogue in dialogues}
        database.run_now(lambda session: session.execute(delete(Team).where(Team.id.in_(teams))))


def run(data: Path, scope: str, model: bool, urls: Sequence[str]) -> dict[str, Any]:
    """All figures: those of SQLite at the top, each database's under its name, the control beside them."""
    dialogues = load(data)
    found = find_embedder() if model else None
    embedder = Remembered(found) if found else None
    figures = {}
    for url in urls:
        with filled(url, dialogues, scope, embedder) as (database, meaning):
            name = "sqlite" if database.is_sqlite else "postgresql"
            figures[name] = measure(dialogues, searcher(database, dialogues, scope, meaning))
    plain = measure(dialogues, control(dialogues))
    beside = {f"control_{key}": plain[key] for key in ("r5", "r10", "r30", "mrr")}
    return {
        "scope": scope,
        "model": embedder.model if embedder else None,
        "turns": sum(len(dialogue.turns) for dialogue in dialogues),
        **next(iter(figures.values())),
        **beside,
        **figures,
        "machine": databases.machine(),
    }


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description="Retrieval on LoCoMo.")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder that holds locomo10.json")
    parser.add_argument("--scope", choices=("conv", "pool"), default="conv")
    parser.add_argument("--no-model", action="store_true", help="by words alone")
    parser.add_argument(
        "--database", help="one database address instead of a new SQLite and a new PostgreSQL"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    if not (options.data / "locomo10.json").is_file():
        sys.exit(
            f"There is no locomo10.json in {options.data}: get it from snap-research/LoCoMo, see --data."
        )
    with tempfile.TemporaryDirectory() as folder, databases.both(Path(folder)) as fresh:
        urls = [options.database] if options.database else fresh
        figures = run(options.data, options.scope, not options.no_model, urls)
    print(json.dumps(figures, indent=None if options.json else 2))


if __name__ == "__main__":
    main()
