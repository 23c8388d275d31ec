"""The index of meanings finds the nearest rows that are allowed, whatever was added, replaced or dropped."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from memory.vectors import Allowed, Labelled, VectorIndex, pack

ALL: Allowed = (frozenset({"team"}), frozenset({"bot"}), None)


def unit(number: int, dimension: int = 96) -> NDArray[np.float32]:
    """A vector that depends on a number only."""
    row = np.random.default_rng(number).standard_normal(dimension).astype(np.float32)
    return np.asarray(row / np.linalg.norm(row), dtype=np.float32)


def labelled(seq: int, number: int, audience: str = "team") -> Labelled:
    """A row whose vector depends on a number only."""
    return Labelled(seq, pack(unit(number)), (audience, "bot", "active"))


def test_the_nearest_row_comes_first_with_its_cosine() -> None:
    index = VectorIndex(96)
    index.put([labelled(seq, seq) for seq in range(1, 50)])
    found = index.nearest(unit(7), ALL, 3)
    assert next(iter(found)) == 7
    assert found[7] == pytest.approx(1.0, abs=0.01)


def test_rows_that_are_not_allowed_are_out_before_the_best_are_taken() -> None:
    index = VectorIndex(96)
    index.put([labelled(1, 7, "person:ben"), labelled(2, 7, "person:ben"), labelled(3, 8)])
    assert list(index.nearest(unit(7), ALL, 1)) == [3]
    assert index.nearest(unit(7), (frozenset({"elsewhere"}), frozenset({"bot"}), None), 1) == {}
    assert index.nearest(unit(7), (frozenset({"team"}), frozenset({"bot"}), frozenset({"archived"})), 1) == {}


def test_a_dropped_row_is_gone_and_its_numbers_are_overwritten() -> None:
    index = VectorIndex(96)
    index.put([labelled(1, 7), labelled(2, 8)])
    index.drop([1, 99])
    assert list(index.nearest(unit(7), ALL, 5)) == [2]
    assert index.similarities(unit(7), [1]) == {}
    assert not index._values[0].any()
    index.put([labelled(1, 9)])
    assert next(iter(index.nearest(unit(9), ALL, 5))) == 1


def test_many_rows_are_shortlisted_by_their_signs_and_the_nearest_is_still_found() -> None:
    index = VectorIndex(384)
    rows = np.random.default_rng(0).standard_normal((25_000, 384)).astype(np.float32)
    for start in range(0, len(rows), 5_000):
        index.put(
            [
                Labelled(seq, pack(rows[seq]), ("team" if seq % 10 else "person:ben", "bot", "active"))
                for seq in range(start, start + 5_000)
            ]
        )
    exact = rows @ rows[123] / np.linalg.norm(rows, axis=1)
    exact[::10] = -9
    wanted = set(np.argsort(-exact)[:10].tolist())
    found = index.nearest(rows[123] / np.linalg.norm(rows[123]), ALL, 10)
    assert next(iter(found)) == 123
    assert len(wanted & set(found)) >= 8


@given(
    st.lists(
        st.lists(st.tuples(st.integers(1, 60), st.integers(0, 500)), min_size=1, max_size=12), max_size=12
    ),
    st.lists(st.integers(1, 60), max_size=20),
)
def test_any_order_of_arrival_gives_the_same_rows(
    batches: list[list[tuple[int, int]]], dropped: list[int]
) -> None:
    index = VectorIndex(96)
    last: dict[int, int] = {}
    for batch in batches:
        rows = dict(batch)
        index.put([labelled(seq, number) for seq, number in rows.items()])
        last.update(rows)
    index.drop(dropped)
    for seq in dropped:
        last.pop(seq, None)
    found = index.similarities(unit(1), range(1, 61))
    assert set(found) == set(last)
    for seq, number in last.items():
        assert found[seq] == pytest.approx(float(unit(number) @ unit(1)), abs=0.02)
    assert set(index.nearest(unit(1), ALL, 100)) == set(last)


def test_late_rows_are_merged_into_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.vectors.MERGE", 3)
    index = VectorIndex(96)
    for seq in (10, 5, 7, 3, 9, 1, 2, 20, 4):
        index.put([labelled(seq, seq)])
    for seq in (10, 5, 7, 3, 9, 1, 2, 20, 4):
        assert next(iter(index.nearest(unit(seq), ALL, 1))) == seq
        assert index.similarities(unit(seq), [seq])[seq] == pytest.approx(1.0, abs=0.01)
