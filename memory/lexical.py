"""Search by words: what a question's terms are, how rare each is, and which rows hold the rare ones.

Every number that ranks comes from rows that the viewer may read, so nobody's ranking tells of rows that are
hidden from them.
"""

import math
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from memory.postings import Posting, Term, rows_with, rows_with_each, stem
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
SMALL = 1_000
CACHED = 20_000
COUNT_FOR = 60.0
COMMON_FOR = 600.0
"""Seconds that a large count, or that a term is common, is taken to be so."""


@dataclass
class _Known:
    """What one engine's scopes are known to hold, for a while."""

    counts: dict[object, tuple[float, int]] = field(default_factory=dict)
    common: dict[object, float] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


_known: WeakKeyDictionary[Engine, _Known] = WeakKeyDictionary()
_known_lock = threading.Lock()


def terms_of(query: str) -> list[Term]:
    """The distinct terms of a question, without words that every text holds (unless there are no others)."""
    words = list(dict.fromkeys(tokens(query[:MAX_QUERY])))
    telling = [word for word in words if word not in STOP_WORDS] or words
    terms: dict[str, Term] = {}
    for word in telling[:MAX_TERMS]:
        term = Term(coded(word), is_one_unspaced(word))
        terms.setdefault(stem(term.word), term)
    return list(terms.values())


def word_scores(session: Session, scope: Scope, terms: Sequence[Term]) -> dict[int, float]:
    """Rows (by `seq`) that hold any of the terms: rarer terms and more of them score higher."""
    rows = _row_count(session, scope)
    postings = rows_with_each(session, scope, terms, BUDGET) if rows < SAMPLE else None
    postings = _telling(session, scope, terms) if postings is None else postings
    rows = max([rows, 1, *(len(found) for found in postings)])
    scores: dict[int, float] = {}
    for found in postings:
        rarity = math.log(1 + (rows - len(found) + 0.5) / (len(found) + 0.5))
        for seq, strength in found.items():
            scores[seq] = scores.get(seq, 0.0) + rarity * strength
    return scores


def _telling(session: Session, scope: Scope, terms: Sequence[Term]) -> list[Posting]:
    """The postings of terms that are not common; of all common ones together if there are no others."""
    known = _of_engine(session)
    found: list[Posting] = []
    common: list[Term] = []
    left = BUDGET
    for term in terms:
        if left <= 0:
            break
        if _is_common(known, scope, term):
            common.append(term)
            continue
        rows = rows_with(session, scope, [term], COMMON + 1)
        left -= len(rows)
        if len(rows) > COMMON:
            _note_common(known, scope, term)
            common.append(term)
        elif rows:
            found.append(rows)
    if not found and common:
        together = rows_with(session, scope, common, COMMON)
        found.append(together or rows_with(session, scope, common[:1], COMMON))
    return found


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
