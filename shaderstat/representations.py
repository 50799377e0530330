"""The identity of code: one hash for texts that differ only in what is not code.

A text that a driver prints may hold a counter of its process or an address, so its plain SHA-256 depends on what was
compiled before it and on where the process was loaded. `code_sha256` leaves those out. It never leaves out a constant
that the code may hold: two hashes that are equal mean equal code, two that differ may still be equal code.
"""

from __future__ import annotations

import hashlib
import re

# Turnip heads its assembly with "; VERT prog 21/1: …": the program's number in this process, and the variant's.
_PROGRAM = re.compile(rb"\bprog \d+/\d+")

# NIR dumps name their source by its hash: what went in, not what came out.
_SOURCE = re.compile(rb"^(source_(?:sha1|blake3)): \{[^}\n]*\}", re.MULTILINE)

# User-space addresses of a 64-bit Linux process (heap, position-independent executable, mapped libraries and stack),
# in comments alone: in code the same digits may be a constant.
_COMMENT = re.compile(rb"(?:;|//|/\*)[^\n]*")
_ADDRESS = re.compile(rb"\b0x(?:5[56]|7[ef])[0-9a-f]{10}\b")


def normalise(text: bytes) -> bytes:
    """`text` without what is not code: program counters, source hashes, addresses in comments, trailing blanks."""
    text = b"\n".join(line.rstrip(b" \t\r") for line in text.rstrip(b"\0").split(b"\n"))
    text = _SOURCE.sub(rb"\1: {}", text)
    if _PROGRAM.search(text) or _ADDRESS.search(text):  # rare: most texts are spared a look at each comment
        text = _COMMENT.sub(_without_addresses, text)
    return text.rstrip(b"\n") + b"\n"


def _without_addresses(comment: re.Match[bytes]) -> bytes:
    return _ADDRESS.sub(b"0x", _PROGRAM.sub(b"prog", comment[0]))


def sha256(data: bytes) -> str:
    """SHA-256 as 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def code_sha256(data: bytes, is_text: bool) -> str:
    """The identity of the code in a representation: SHA-256 of the normalised text, or of a binary as it is."""
    return sha256(normalise(data) if is_text else data)


# What a listing says of where an instruction lies and how it is encoded: RADV's comment behind it ("; be84047e"),
# Turnip's columns before it (":2:0003:0007[20244000x_00000020x]"), an offset with a colon or in a comment ("/*0040*/").
_BEHIND = re.compile(rb"[ \t]*(?:;|//)[ \t]*(?:[0-9A-Fa-f]{8}[ \t]*)+$", re.MULTILINE)
_BEFORE = re.compile(
    rb"^([ \t]*)(?::\d+:\d+:\d+\[[0-9a-f]+x_[0-9a-f]+x\]|(?:0x)?[0-9A-Fa-f]{4,16}:|/\*[0-9A-Fa-f]{4,16}\*/)[ \t]+",
    re.MULTILINE,
)


def without_places(text: bytes) -> bytes:
    """`normalise`, and also without addresses and encodings: what is left differs where the instructions do."""
    return _BEHIND.sub(b"", _BEFORE.sub(rb"\1", normalise(text)))
