"""Citing: which shown memories an answer repeats, so that forgetting one finds the answers too."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from memory.memories import Memory
from memory.text import tokens

SHARE = 0.5
"""An answer that has half of a memory's longer words is taken to repeat it: better one too many."""
SHORT = 3


def cited(session: Session, text: str, ids: list[str]) -> set[str]:
    """Those of the given memories whose words the text shares."""
    words = set(tokens(text))
    if not words or not ids:
        return set()
    rows = session.execute(select(Memory.id, Memory.text).where(Memory.id.in_(ids)))
    return {memory_id for memory_id, memory in rows if _repeats(words, memory)}


def _repeats(words: set[str], memory: str) -> bool:
    found = set(tokens(memory))
    telling = {word for word in found if len(word) > SHORT} or found
    return bool(telling) and len(telling & words) >= SHARE * len(telling)
