"""What the best answers are, once words, meaning, names and neighbours have been looked at."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

BY_WORDS = 0.4
"""What the best match by words is worth beside a cosine of 1."""
BY_NAME = 0.15
"""What it is worth that a row is by or about somebody whom the question names."""
AROUND = 0.3
"""How much of its best neighbour's score a message gains: people stay with a subject for a while."""
NEAR = 4
"""Positions apart in a conversation that make neighbours."""


class Candidate(NamedTuple):
    """A row that may be an answer; whether the question names whom it is by or about; where it was said."""

    seq: int
    named: bool = False
    conversation: str | None = None
    position: int | None = None


def weigh(
    candidates: Sequence[Candidate],
    words: Mapping[int, float],
    near: Mapping[int, float],
) -> dict[int, float]:
    """The score of each candidate: cosine, match by words beside the best, names, and its neighbours.

    A row without a vector counts as the least near one, so that it is found while it waits for its vector.
    """
    best = max(words.values(), default=1.0)
    least = min(near.values(), default=0.0)
    scores = {}
    for one in candidates:
        score = near.get(one.seq, least) + BY_WORDS * words.get(one.seq, 0.0) / best
        scores[one.seq] = score + (BY_NAME if one.named else 0.0)
    around = _neighbours(candidates, scores)
    return {seq: round(score + AROUND * around.get(seq, 0.0), 6) for seq, score in scores.items()}


def _neighbours(candidates: Sequence[Candidate], scores: Mapping[int, float]) -> dict[int, float]:
    """The best score among each candidate's neighbours in its conversation."""
    talks: dict[str, list[Candidate]] = defaultdict(list)
    for one in candidates:
        if one.conversation is not None and one.position is not None:
            talks[one.conversation].append(one)
    best: dict[int, float] = {}
    for talk in talks.values():
        talk.sort(key=lambda one: one.position or 0)
        for at, one in enumerate(talk):
            for other in talk[at + 1 : at + 1 + NEAR]:
                if (other.position or 0) - (one.position or 0) > NEAR:
                    break
                best[one.seq] = max(best.get(one.seq, 0.0), scores[other.seq])
                best[other.seq] = max(best.get(other.seq, 0.0), scores[one.seq])
    return best
