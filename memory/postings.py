"""Which visible rows hold a term, and how strongly: asked of SQLite's FTS5 or of PostgreSQL's tsvector."""

import math
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import ARRAY, ColumnElement, String, bindparam, column, func, literal_column, select, table
from sqlalchemy.orm import Session

from memory.scope import Scope, one_of

BESIDE = 0.4
"""The weight of a term in the messages before, against one in the text itself."""
TOKENIZER = "porter unicode61 remove_diacritics 2"
WORDS = "teambot_words"
CACHED = 20_000
_WEIGHTS: ColumnElement[Any] = literal_column(f"'{{0.1,{BESIDE},{BESIDE},1.0}}'::real[]")
_CONFIGURATION: ColumnElement[Any] = literal_column(f"'{WORDS}'::regconfig")
_ZETA = math.pi**2 / 6
_stemmer: list[sqlite3.Connection] = []
_stemmer_lock = threading.Lock()

Posting = dict[int, float]
"""Rows by `seq`, with how strongly each holds a term."""


@dataclass(frozen=True)
class Term:
    """One thing to look for: as the index spells it; a beginning, if one character of an unspaced script."""

    word: str
    prefix: bool = False


def rows_with(session: Session, scope: Scope, terms: Sequence[Term], limit: int) -> Posting:
    """Visible rows that hold all of the terms, with the strength of the first."""
    if session.get_bind().dialect.name == "sqlite":
        return _sqlite_rows(session, scope, terms, limit)
    return _postgres_rows(session, scope, terms, limit)


def rows_with_each(session: Session, scope: Scope, terms: Sequence[Term], limit: int) -> list[Posting] | None:
    """For each of the terms the visible rows that hold it, in one query; nothing if they are too many."""
    if session.get_bind().dialect.name == "sqlite":
        return _sqlite_rows_each(session, scope, terms, limit)
    return _postgres_rows_each(session, scope, terms, limit)


@lru_cache(CACHED)
def stem(word: str) -> str:
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


def _sqlite_rows(session: Session, scope: Scope, terms: Sequence[Term], limit: int) -> Posting:
    index, first = _terms_of(scope), terms[0]
    start = first.word if first.prefix else stem(first.word)
    holds = index.c.term.between(start, start + "zzzz") if first.prefix else index.c.term == start
    query = (
        select(index.c.doc, index.c.col)
        .join(scope.table, scope.table.seq == index.c.doc)
        .where(holds, scope.check)
        .limit(limit * 2)
    )
    if len(terms) > 1:
        name = f"{scope.table.__tablename__}_fts"
        fts = table(name, column("rowid"), column(name))
        every = " AND ".join(f'"{term.word}"' + ("*" if term.prefix else "") for term in terms)
        query = query.where(index.c.doc.in_(select(fts.c.rowid).where(fts.c[name].op("MATCH")(every))))
    places: dict[int, list[float]] = defaultdict(list)
    for seq, where in session.connection().execute(query):
        places[seq].append(BESIDE if where == "ctx" else 1.0)
    return {seq: _strength(weights) for seq, weights in places.items()}


def _sqlite_rows_each(
    session: Session, scope: Scope, terms: Sequence[Term], limit: int
) -> list[Posting] | None:
    if any(term.prefix for term in terms):
        return None
    index = _terms_of(scope)
    stems = [stem(term.word) for term in terms]
    query = (
        select(index.c.term, index.c.doc, index.c.col)
        .join(scope.table, scope.table.seq == index.c.doc)
        .where(one_of(session, index.c.term, stems), scope.check)
        .limit(limit + 1)
    )
    found = session.connection().execute(query).all()
    if len(found) > limit:
        return None
    places: dict[str, dict[int, list[float]]] = {one: defaultdict(list) for one in stems}
    for term, seq, where in found:
        places[term][seq].append(BESIDE if where == "ctx" else 1.0)
    return [{seq: _strength(weights) for seq, weights in places[one].items()} for one in stems]


def _terms_of(scope: Scope) -> Any:
    return table(f"{scope.table.__tablename__}_terms", column("term", String), column("doc"), column("col"))


def _strength(weights: list[float]) -> float:
    """How strongly a row holds a term: each further occurrence counts less (PostgreSQL's `ts_rank`)."""
    if len(weights) == 1:
        return weights[0] / _ZETA
    weights.sort(reverse=True)
    return sum(weight / (at * at) for at, weight in enumerate(weights, 1)) / _ZETA


def _postgres_rows(session: Session, scope: Scope, terms: Sequence[Term], limit: int) -> Posting:
    vector = _vector_of(scope)
    strength = func.ts_rank(_WEIGHTS, vector, _asked(_spelled(terms[:1])))
    query = (
        select(scope.table.seq, strength)
        .where(vector.op("@@")(_asked(_spelled(terms))), scope.condition)
        .limit(limit)
    )
    return {seq: float(rank) for seq, rank in session.connection().execute(query)}


def _postgres_rows_each(
    session: Session, scope: Scope, terms: Sequence[Term], limit: int
) -> list[Posting] | None:
    vector = _vector_of(scope)
    words = bindparam(None, [_spelled([term]) for term in terms], ARRAY(String))
    each = func.unnest(words).table_valued(column("word", String), with_ordinality="number").render_derived()
    asked = _asked(each.c.word)
    query = (
        select(each.c.number, scope.table.seq, func.ts_rank(_WEIGHTS, vector, asked))
        .join(scope.table, vector.op("@@")(asked))
        .where(scope.condition)
        .limit(limit + 1)
    )
    found = session.connection().execute(query).all()
    if len(found) > limit:
        return None
    postings: list[Posting] = [{} for _ in terms]
    for number, seq, rank in found:
        postings[number - 1][seq] = float(rank)
    return postings


def _vector_of(scope: Scope) -> ColumnElement[Any]:
    return literal_column(f"{scope.table.__tablename__}.ts")


def _spelled(terms: Iterable[Term]) -> str:
    return " & ".join(term.word + (":*" if term.prefix else "") for term in terms)


def _asked(words: Any) -> ColumnElement[Any]:
    return func.to_tsquery(_CONFIGURATION, words)
