"""Forgetting: a memory and everything that shows it are gone for good."""

from memory.tombstones import source_key

__all__ = ["source_key"]
