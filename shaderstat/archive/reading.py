"""What the ways of storing an archive share: bytes at a place of a file, and what can be wrong with them."""

from __future__ import annotations

import os
from typing import BinaryIO

from shaderstat.archive.format import MAX_PAYLOAD
from shaderstat.errors import InvalidSpirv


def read_at(file: BinaryIO, at: int, count: int) -> bytes:
    """So many bytes, or as many as there are: no room is made for what a header claims and the file hasn't got."""
    count = min(count, max(0, file.seek(0, os.SEEK_END) - at))
    file.seek(at)
    data = file.read(count)
    while data and len(data) < count:
        more = file.read(count - len(data))
        if not more:
            break
        data += more
    return data


def lies(how: str) -> InvalidSpirv:
    return InvalidSpirv("archive/size", how)


def too_large(size: int) -> InvalidSpirv:
    return InvalidSpirv("archive/too-large", f"{size} bytes: an entry has at most {MAX_PAYLOAD}")


def changed() -> InvalidSpirv:
    return InvalidSpirv("input/changed", "changed while shaderstat was running", hint="run it again")


def unreadable(error: OSError) -> InvalidSpirv:
    return InvalidSpirv("input/unreadable", f"can't be read: {error.strerror or error}")


def blamed(error: InvalidSpirv, path: str) -> InvalidSpirv:
    error.path = path
    return error
