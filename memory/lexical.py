"""Search by words: which rows hold a term, and how strongly, on both databases.

Every number that ranks comes from rows that the viewer may read, so nobody's ranking tells of rows that are
hidden from them.
"""

import math
import sqlite3
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import ColumnElement, Engine, column, func, literal_column, select, table
from sqlalchemy.orm import Session

from memory.scope import Scope
from memory.stop_words import STOP_WORDS
from memory.text import coded, is_one_unspaced, tokens

MAX_QUERY = 4_000
"""Characters of a question that are looked at."""
MAX_TERMS = 64
COMMON = 5_000
"""A term that more visible rows hold tells little: it is left out, unless all are so."""
BUDGET = 40_000
"""Postings that one question may read."""
SAMPLE = 20_000
"""Rows counted at most to know how rare a term is."""
COUNT_FOR = 60.0
COMMON_FOR = 600.0
SMALL = 1_000
CACHED = 20_000

BESIDE = 0.4
"""The weight of a term in the messages before, against one in the text itself."""
TOKENIZER = "porter unicode61 remove_diacritics 2"
WORDS = "teambot_words"
_WEIGHTS = f"{{0.1,{BESIDE},{BESIDE},1.0}}"
_ZETA = math.pi**2 / 6


@dataclass(frozen=True)
class Term:
    """One thing to look for: as the index spells it; a beginning, if one character of an unspaced script."""

    word: str
    prefix: bool = False


@dataclass
class _Known:
    """What one engine's scopes are known to hold, for a while."""

    counts: dict[object, tuple[float, int]] = field(default_factory=dict)
    common: dict[object, float] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


_known: WeakKeyDictionary[Engine, _Known] = WeakKeyDictionary()
_known_lock = threading.Lock()
_stemmer: list[sqlite3.Connection] = []
_stemmer_lock = threading.Lock()


def terms_of(query: str) -> list[Term]:
    """The distinct terms of a question, without words that every text holds (unless there are no others)."""
    words = list(dict.fromkeys(tokens(query[:MAX_QUERY])))
    telling = [word for word in words if word not in STOP_WORDS] or words
    return [Term(coded(word), is_one_unspaced(word)) for word in telling[:MAX_TERMS]]


def word_scores(session: Session, scope: Scope, terms: Sequence[Term]) -> dict[int, float]:
    """Rows (by `seq`) that hold any of the terms: rarer terms and more of them score higher."""
    postings = _postings(session, scope, terms)
    rows = max(_row_count(session, scope), *(len(found) for found in postings), 1) if postings else 1
    scores: dict[int, float] = {}
    for found in postings:
        rarity = math.log(1 + (rows - len(found) + 0.5) / (len(found) + 0.5))
        for seq, strength in found.items():
            scores[seq] = scores.get(seq, 0.0) + rarity * strength
    return scores


def _postings(session: Session, scope: Scope, terms: Sequence[Term]) -> list[dict[int, float]]:
    """For each term that tells something, the visible rows that hold it."""
    known = _of_engine(session)
    found: list[dict[int, float]] = []
    common: list[Term] = []
    left = BUDGET
    for term in terms:
        if left <= 0:
            break
        if _is_common(known, scope, term):
            common.append(term)
            continue
        rows = _rows_with(session, scope, [term], COMMON + 1)
        left -= len(rows)
        if len(rows) > COMMON:
            _note_common(known, scope, term)
            common.append(term)
        elif rows:
            found.append(rows)
    if not found and common:
        together = _rows_with(session, scope, common, COMMON)
        found.append(together or _rows_with(session, scope, common[:1], COMMON))
    return found


def _rows_with(session: Session, scope: Scope, terms: Sequence[Term], limit: int) -> dict[int, float]:
    """Visible rows that hold all of the terms, with the strength of the first."""
    assert session.bind is not None
    if session.bind.dialect.name == "sqlite":
        return _sqlite_rows(session, scope, terms, limit)
    return _postgres_rows(session, scope, terms, limit)


def _sqlite_rows(session: Session, scope: Scope, terms: Sequence[Term], limit: int) -> dict[int, float]:
    name = scope.table.__tablename__
    index = table(f"{name}_terms", column("term"), column("doc"), column("col"))
    first = terms[0]
    stem = first.word if first.prefix else _stem(first.word)
    holds = index.c.term.between(stem, stem + "zzzz") if first.prefix else index.c.term == stem
    query = (
        select(index.c.doc, index.c.col)
        .join(scope.table, scope.table.seq == index.c.doc)
        .where(holds, scope.condition)
        .limit(limit * 2)
    )
    if len(terms) > 1:
        fts = table(f"{name}_fts", column("rowid"), column(f"{name}_fts"))
        every = " AND ".join(_fts_phrase(term) for term in terms)
        query = query.where(
            index.c.doc.in_(select(fts.c.rowid).where(fts.c[f"{name}_fts"].op("MATCH")(every)))
        )
    places: dict[int, list[float]] = {}
    for seq, where in session.execute(query):
        places.setdefault(seq, []).append(BESIDE if where == "ctx" else 1.0)
    return {seq: _strength(weights) for seq, weights in places.items()}


def _fts_phrase(term: Term) -> str:
    return f'"{term.word}"' + ("*" if term.prefix else "")


def _strength(weights: list[float]) -> float:
    """How strongly a row holds a term: each further occurrence counts less (PostgreSQL's `ts_rank`)."""
    if len(weights) == 1:
        return weights[0] / _ZETA
    weights.sort(reverse=True)
    return sum(weight / (at * at) for at, weight in enumerate(weights, 1)) / _ZETA


def _postgres_rows(session: Session, scope: Scope, terms: Sequence[Term], limit: int) -> dict[int, float]:
    vector: ColumnElement[Any] = literal_column(f"{scope.table.__tablename__}.ts")
    strength = func.ts_rank(literal_column(f"'{_WEIGHTS}'::real[]"), vector, _tsquery(terms[:1]))
    query = (
        select(scope.table.seq, strength)
        .where(vector.op("@@")(_tsquery(terms)), scope.condition)
        .limit(limit)
    )
    return {seq: float(rank) for seq, rank in session.execute(query)}


def _tsquery(terms: Iterable[Term]) -> ColumnElement[Any]:
    text = " & ".join(term.word + (":*" if term.prefix else "") for term in terms)
    return func.to_tsquery(literal_column(f"'{WORDS}'::regconfig"), text)


@lru_cache(CACHED)
def _stem(word: str) -> str:
    """A word as SQLite's index holds it, told by the same tokeniser."""
    with _stemmer_lock:
        if not _stemmer:
            _stemmer.append(sqlite3.connect(":memory:", check_same_thread=False))
            _stemmer[0].execute(f"CREATE VIRTUAL TABLE words USING fts5(word, tokenize='{TOKENIZER}')")
            _stemmer[0].execute("CREATE VIRTUAL TABLE stems USING fts5vocab(words, row)")
        connection = _stemmer[0]
        connection.execute("DELETE FROM words")
        connection.execute("INSERT INTO words VALUES (?)", (word,))
        found = connection.execute("SELECT term FROM stems").fetchone()
    return str(found[0]) if found else word


def _of_engine(session: Session) -> _Known:
    engine = session.get_bind()
    assert isinstance(engine, Engine)
    with _known_lock:
        return _known.setdefault(engine, _Known())


def _row_count(session: Session, scope: Scope) -> int:
    """How many rows the viewer may find, counted to `SAMPLE`; a large count is kept for a minute."""
    known = _of_engine(session)
    since, count = known.counts.get(scope.key, (0.0, 0))
    if time.monotonic() - since < COUNT_FOR:
        return count
    some = select(scope.table.seq).where(scope.condition).limit(SAMPLE).subquery()
    count = session.scalar(select(func.count()).select_from(some)) or 0
    if count > SMALL:
        with known.lock:
            _make_room(known.counts)
            known.counts[scope.key] = (time.monotonic(), count)
    return count


def _is_common(known: _Known, scope: Scope, term: Term) -> bool:
    since = known.common.get((scope.key, term))
    return since is not None and time.monotonic() - since < COMMON_FOR


def _note_common(known: _Known, scope: Scope, term: Term) -> None:
    with known.lock:
        _make_room(known.common)
        known.common[(scope.key, term)] = time.monotonic()


def _make_room(cache: dict[object, Any]) -> None:
    if len(cache) >= CACHED:
        cache.clear()
