"""Erasing: everything of a person is gone for good."""

from memory.erasures import erased_since

__all__ = ["erased_since"]
