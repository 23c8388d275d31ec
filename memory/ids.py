"""Ids that people see and that repeat when a step runs again."""

import base64
import hashlib

LENGTH = 12


def derive(*parts: str | int) -> str:
    """A 12-character id made of its parts: the same parts give the same id.

    Ids never count rows, so nobody learns from an id how much others have stored, and a step that runs
    again after a crash writes the same row.
    """
    data = "\x1f".join(str(part) for part in parts).encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(data, digest_size=10).digest()
    return base64.b32encode(digest).decode("ascii").lower()[:LENGTH]
