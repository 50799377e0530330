"""The identity of code: one hash for texts that differ only in what is not code.

A text that a driver prints may hold a counter of its process or an address, so its plain SHA-256 depends on what was
compiled before it and on where the process was loaded. `code_sha256` leaves those out. It never leaves out a constant
that the code may hold: two hashes that are equal mean equal code, two that differ may still be equal code.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

# Turnip heads its assembly with "; VERT prog 21/1: …": the program's number in this process, and the variant's.
_PROGRAM = re.compile(rb"\bprog \d+/\d+")

# NIR dumps name their source by its hash: what went in, not what came out.
_SOURCE = re.compile(rb"^(source_(?:sha1|blake3)): \{[^}\n]*\}", re.MULTILINE)

# User-space addresses of a 64-bit Linux process (heap, position-independent executable, mapped libraries and stack),
# in comments alone: in code the same digits may be a constant.
_COMMENT = re.compile(rb"(?:;|//|/\*)[^\n]*")
_ADDRESS = re.compile(rb"\b0x(?:5[56]|7[ef])[0-9a-f]{10}\b")


# A text may have hundreds of megabytes, and must not be held twice, let alone line by line.
_BLOCK = 1 << 17


def blocks(text: bytes, end: int | None = None) -> Iterator[bytes]:
    """`text`, up to `end`, in pieces of whole lines, 128 KiB or little more each."""
    end = len(text) if end is None else end
    start = 0
    while start < end:
        line_end = text.find(b"\n", start + _BLOCK - 1, end)
        after = end if line_end < 0 else line_end + 1
        yield text[start:after]
        start = after


def normalise(text: bytes) -> bytes:
    """`text` without what is not code: program counters, source hashes, addresses in comments, trailing blanks."""
    return b"".join(_normalised(text))


def _normalised(text: bytes) -> Iterator[bytes]:
    """`normalise` in pieces. No empty lines end it, so that they wait for what follows."""
    waiting = 0
    for block in blocks(text.rstrip(b"\0")):
        piece = b"\n".join(line.rstrip(b" \t\r") for line in block.split(b"\n"))
        piece = _SOURCE.sub(rb"\1: {}", piece)
        if _PROGRAM.search(piece) or _ADDRESS.search(piece):  # rare: most texts are spared a look at each comment
            piece = _COMMENT.sub(_without_addresses, piece)
        code = piece.rstrip(b"\n")
        if code:
            yield b"\n" * waiting + code
            waiting = 0
        waiting += len(piece) - len(code)
    yield b"\n"


def _without_addresses(comment: re.Match[bytes]) -> bytes:
    return _ADDRESS.sub(b"0x", _PROGRAM.sub(b"prog", comment[0]))


def sha256(data: bytes) -> str:
    """SHA-256 as 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def code_sha256(data: bytes, is_text: bool) -> str:
    """The identity of the code in a representation: SHA-256 of the normalised text, or of a binary as it is."""
    if not is_text:
        return sha256(data)
    digest = hashlib.sha256()
    for piece in _normalised(data):
        digest.update(piece)
    return digest.hexdigest()


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
