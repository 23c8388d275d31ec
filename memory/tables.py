"""Every table, imported once, so that the metadata is whole."""

from memory import (
    bots,
    cards,
    conversations,
    erasures,
    files,
    indexed,
    journal,
    memories,
    people,
    places,
    turns,
)
from memory.database import Base

__all__ = [
    "METADATA",
    "bots",
    "cards",
    "conversations",
    "erasures",
    "files",
    "indexed",
    "journal",
    "memories",
    "people",
    "places",
    "turns",
]

METADATA = Base.metadata
