"""Which of the inputs are archives of captured pipelines. Little is loaded for that: mostly, none is."""

from __future__ import annotations

import os
import re

from shaderstat.archive.format import MAGIC, ZIP_MAGIC

ENDINGS = (".foz", ".zip")
# The file of a module or pipeline in an archive that was unpacked to a folder.
_UNPACKED = re.compile(r"[0-9a-f]{2}\.[0-9a-f]{16}\.json")


def is_archive(location: str) -> bool:
    """Whether a file or folder is an archive, or says that it is: by its beginning, or by its name."""
    lower = location.lower()
    if lower.endswith(".spv"):
        return False
    if lower.endswith(ENDINGS) or os.path.isdir(location):
        return True
    try:
        with open(location, "rb") as stream:
            return is_archived(stream.read(len(MAGIC)))
    except OSError:
        return False


def is_archived(data: bytes) -> bool:
    """Whether a file that begins so is an archive."""
    return data.startswith((MAGIC, ZIP_MAGIC))


def is_unpacked(folder: str) -> bool:
    """Whether a folder is an archive, unpacked.

    Raises:
        OSError: it can't be listed.
    """
    with os.scandir(folder) as listing:
        return any(_UNPACKED.fullmatch(entry.name) for entry in listing)


def names_hash(text: str, hash: int) -> bool:
    """Whether ``0x0123…`` is that hash."""
    return re.fullmatch(r"0[xX][0-9a-fA-F]{1,16}", text) is not None and int(text, 16) == hash


def split_module(path: str) -> tuple[str, int] | None:
    """An archive that is there, and the hash of a module or pipeline in it, where a path says both."""
    found = re.fullmatch(r"(.+):([0-9a-f]{16})", path, re.DOTALL)
    return (found[1], int(found[2], 16)) if found and os.path.exists(found[1]) else None
