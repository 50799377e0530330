"""What a resource holds before a run, as bytes: the same on every machine."""

from __future__ import annotations

import hashlib
import sys
from array import array

from shaderstat.instrumentation import Fill


def fill_bytes(fill: Fill, size: int) -> bytes:
    """The first `size` bytes of a resource.

    ``random`` is SHAKE-128 (FIPS 202) of the seed's low 64 bits, lowest byte first: an output of any length, whose
    beginning does not depend on it, and which every language has. ``iota`` are 32-bit words, lowest byte first. Given
    data ends in zeros where it is shorter; so does what was given a size that is less.
    """
    covered = size if fill.size is None else min(size, fill.size)
    if fill.kind == "random":
        seed = (fill.seed & (1 << 64) - 1).to_bytes(8, "little")
        data = hashlib.shake_128(seed).digest(covered)
    elif fill.kind == "iota":
        words = array("I", range((covered + 3) // 4))
        if sys.byteorder == "big":
            words.byteswap()
        data = words.tobytes()[:covered]
    else:
        data = fill.data[:covered] if fill.kind == "data" else b""
    return data.ljust(size, b"\0")


def fill_words(fill: Fill) -> str:
    """``zeros``, ``random:7``, ``iota``, ``16 bytes given``: what a report says of it."""
    if fill.kind == "random":
        return f"random:{fill.seed}"
    return f"{in_bytes(len(fill.data))} given" if fill.kind == "data" else fill.kind


def in_bytes(size: int) -> str:
    """``1 byte``, ``2 bytes``."""
    return f"{size} byte{'s' * (size != 1)}"
