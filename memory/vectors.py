"""Meaning in memory: one index of sentence vectors, searched exactly enough and fast, gated before ranking.

A vector is 384 small integers and a scale. Their signs alone pick a few thousand rows out of many; those are
compared in full. numpy is imported when the first vector is.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

EXACT = 2_000
"""Up to so many visible rows are all compared in full."""
SHORTLIST, LONG_SHORTLIST, MANY = 1_000, 5_000, 250_000
"""So many rows are compared in full otherwise; more, if many are visible."""
CHUNK = 65_536
LABELS = 3
MERGE = 20_000


class NoEmbedder(Exception):
    """The sentence model is not installed or not the one that is expected: search goes by words alone."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or self.__doc__)


class Embedder(Protocol):
    """Turns texts into vectors of unit length; vectors of different models are never compared.

    Raises `NoEmbedder` where it cannot.
    """

    @property
    def model(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def documents(self, texts: Sequence[str]) -> "Floats": ...

    def question(self, text: str) -> "Floats": ...


@dataclass(frozen=True)
class Packed:
    """One vector as it is kept: int8 components and what one step of them is worth."""

    scale: float
    components: bytes


@dataclass(frozen=True)
class Labelled:
    """A row's vector with the labels that decide who finds it."""

    seq: int
    vector: Packed
    labels: tuple[str, str, str]


Allowed = tuple[frozenset[str], frozenset[str], frozenset[str] | None]
"""For each of the three labels the values that are allowed; none: any."""


def pack(row: "Floats") -> Packed:
    """A vector as int8 components and a scale."""
    import numpy as np

    scale = float(np.abs(row).max()) / 127 or 1.0
    return Packed(scale, np.rint(row / scale).astype(np.int8).tobytes())


class VectorIndex:
    """Vectors of one kind of row and one model, in order of `seq`; late ones in a short tail."""

    def __init__(self, dimension: int) -> None:
        import numpy as np

        self.dimension = dimension
        self.size = 0
        self._sorted = 0
        self._tail: dict[int, int] = {}
        self._codes: dict[str, int] = {}
        self._seqs = np.zeros(0, dtype=np.int64)
        self._values = np.zeros((0, dimension), dtype=np.int8)
        self._signs = np.zeros((0, -(-dimension // 64)), dtype=np.uint64)
        self._scales = np.zeros(0, dtype=np.float32)
        self._labels = np.zeros((LABELS, 0), dtype=np.int32)

    def put(self, rows: Sequence[Labelled]) -> None:
        """Adds rows or replaces those that are there."""
        import numpy as np

        if not rows:
            return
        ordered = sorted(rows, key=lambda row: row.seq)
        values = np.frombuffer(b"".join(row.vector.components for row in ordered), dtype=np.int8)
        values = values.reshape(len(ordered), self.dimension)
        known = self.positions([row.seq for row in ordered])
        fresh = [at for at, place in enumerate(known) if place < 0]
        places = np.array(known, dtype=np.int64)
        if fresh:
            places[fresh] = self._grow([ordered[at].seq for at in fresh])
        self._values[places] = values
        self._signs[places] = _signs(values)
        self._scales[places] = [row.vector.scale for row in ordered]
        for label in range(LABELS):
            self._labels[label][places] = [self._code(row.labels[label]) for row in ordered]

    def drop(self, seqs: Iterable[int]) -> None:
        """Removes rows: their numbers are overwritten."""
        places = [place for place in self.positions(list(seqs)) if place >= 0]
        self._values[places] = 0
        self._labels[0][places] = -1

    def positions(self, seqs: Sequence[int]) -> list[int]:
        """Where rows are kept; -1 for those that are not."""
        import numpy as np

        main = self._seqs[: self._sorted]
        wanted = np.array(seqs, dtype=np.int64)
        at = np.searchsorted(main, wanted)
        hit = (
            (main[np.minimum(at, len(main) - 1)] == wanted) if len(main) else np.zeros(len(seqs), dtype=bool)
        )
        return [
            int(place) if found else self._tail.get(seq, -1)
            for seq, place, found in zip(seqs, at.tolist(), hit.tolist(), strict=True)
        ]

    def similarities(self, question: "Floats", seqs: Sequence[int]) -> dict[int, float]:
        """The cosine of each of these rows with a question, for the rows that are there."""
        import numpy as np

        kept = [
            (seq, place)
            for seq, place in zip(seqs, self.positions(seqs), strict=True)
            if place >= 0 and self._labels[0][place] >= 0
        ]
        if not kept:
            return {}
        cosines = self._compare(question, np.array([place for _, place in kept]))
        return {seq: float(value) for (seq, _), value in zip(kept, cosines.tolist(), strict=True)}

    def nearest(self, question: "Floats", allowed: Allowed, count: int) -> dict[int, float]:
        """The rows nearest to a question among those that are allowed, with their cosine."""
        import numpy as np

        visible = self._visible(allowed)
        if visible is None:
            return {}
        seen = int(np.count_nonzero(visible))
        if seen == 0:
            return {}
        places = np.flatnonzero(visible) if seen <= EXACT else self._shortlist(question, visible, seen)
        cosines = self._compare(question, places)
        seqs = self._seqs[places]
        best = np.lexsort((-seqs, -cosines))[:count]
        return {int(seqs[at]): float(cosines[at]) for at in best}

    def _compare(self, question: "Floats", places: "NDArray[np.int64]") -> "Floats":
        """Exact in whole numbers, so that the order of rows never depends on which others are there."""
        import numpy as np

        packed = pack(question)
        whole = np.frombuffer(packed.components, dtype=np.int8).astype(np.float32)
        # Not the matrix product: its threads would wait for each other on a busy machine.
        dots: Floats = np.einsum("ij,j->i", self._values[places].astype(np.float32), whole)
        cosines: Floats = dots * self._scales[places] * np.float32(packed.scale)
        return cosines

    def _visible(self, allowed: Allowed) -> "NDArray[np.bool_] | None":
        visible: NDArray[np.bool_] | None = None
        for label, values in enumerate(allowed):
            if values is None:
                continue
            codes = sorted(self._codes[value] for value in values if value in self._codes)
            if not codes:
                return None
            column = self._labels[label][: self.size]
            among = column == codes[0]
            for code in codes[1:]:
                among |= column == code
            visible = among if visible is None else visible & among
        return visible

    def _shortlist(self, question: "Floats", visible: "NDArray[np.bool_]", seen: int) -> "NDArray[np.int64]":
        """The visible rows whose signs differ least from the question's, all that differ equally included."""
        import numpy as np

        signs = _signs(question.reshape(1, -1))[0]
        distances = np.empty(self.size, dtype=np.uint16)
        for start in range(0, self.size, CHUNK):
            stop = min(start + CHUNK, self.size)
            differ = np.bitwise_count(self._signs[start:stop] ^ signs)
            np.sum(differ, axis=1, dtype=np.uint16, out=distances[start:stop])
        counts = np.cumsum(np.bincount(distances[visible], minlength=self.dimension + 1))
        far = int(np.searchsorted(counts, SHORTLIST if seen <= MANY else LONG_SHORTLIST))
        return np.flatnonzero(visible & (distances <= far))

    def _grow(self, seqs: list[int]) -> "NDArray[np.int64]":
        """Room for new rows, in ascending order of `seq`."""
        import numpy as np

        start, stop = self.size, self.size + len(seqs)
        if stop > len(self._seqs):
            self._resize(max(stop, len(self._seqs) * 3 // 2, 1_024))
        self._seqs[start:stop] = seqs
        self._labels[0][start:stop] = -1
        in_order = self._sorted == start and (start == 0 or seqs[0] > self._seqs[start - 1])
        self.size = stop
        if in_order:
            self._sorted = stop
        else:
            self._tail.update(zip(seqs, range(start, stop), strict=True))
        places = np.arange(start, stop)
        if len(self._tail) > MERGE:
            places = self._merge()[places]
        return places

    def _merge(self) -> "NDArray[np.int64]":
        """Puts all rows in order; answers where each old place went."""
        import numpy as np

        order = np.argsort(self._seqs[: self.size], kind="stable")
        for name in ("_seqs", "_values", "_signs", "_scales"):
            kept = getattr(self, name)
            kept[: self.size] = kept[: self.size][order]
        self._labels[:, : self.size] = self._labels[:, : self.size][:, order]
        self._sorted, self._tail = self.size, {}
        moved = np.empty(self.size, dtype=np.int64)
        moved[order] = np.arange(self.size)
        return moved

    def _resize(self, room: int) -> None:
        import numpy as np

        for name in ("_seqs", "_values", "_signs", "_scales"):
            kept = getattr(self, name)
            wider = np.zeros((room, *kept.shape[1:]), dtype=kept.dtype)
            wider[: self.size] = kept[: self.size]
            setattr(self, name, wider)
        labels = np.full((LABELS, room), -1, dtype=np.int32)
        labels[:, : self.size] = self._labels[:, : self.size]
        self._labels = labels

    def _code(self, label: str) -> int:
        return self._codes.setdefault(label, len(self._codes))


def _signs(values: "NDArray[Any]") -> "NDArray[np.uint64]":
    """The signs of each row's components as bits, 64 in a word."""
    import numpy as np

    octets = np.packbits(values > 0, axis=1)
    octets = np.pad(octets, ((0, 0), (0, -octets.shape[1] % 8)))
    return np.ascontiguousarray(octets).view(np.uint64)
