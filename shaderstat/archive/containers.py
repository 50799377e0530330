"""Archives as files: an index of what is in them first, payloads one by one when they are asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import BinaryIO, Protocol

from shaderstat.archive.format import ZIP_MAGIC, Tag
from shaderstat.archive.reading import blamed, unreadable
from shaderstat.archive.stream import Stream
from shaderstat.archive.unpacked import Folder, ZipFile
from shaderstat.model import Diagnostic

Opener = Callable[[], BinaryIO]


class Container(Protocol):
    """An archive.

    Attributes:
        path: for messages.
        remarks: what is wrong with it as a whole.
    """

    path: str
    remarks: tuple[Diagnostic, ...]

    def hashes(self, tag: Tag) -> Iterable[int]:
        """The objects of a kind, in any order."""

    def has(self, tag: Tag, hash: int) -> bool:
        """Whether there is such an entry."""

    def payload(self, tag: Tag, hash: int) -> bytes:
        """An entry's payload, unpacked.

        Raises:
            KeyError: there is no such entry.
            InvalidSpirv: ``archive/…``: it can't be read, or isn't what its header says.
        """

    def files(self) -> Iterable[str]:
        """The files that it is read from."""


def open_container(location: str, path: str) -> Container:
    """Index the archive at `location`: a stream, a ``.zip``, or the folder that a stream was unpacked to.

    No file stays open: collections have more archives than a process may have files.

    Raises:
        InvalidSpirv: ``archive/…``, ``input/unreadable``.
    """

    def opened() -> BinaryIO:
        return open(location, "rb", buffering=0)

    try:
        return Folder(location, path) if os.path.isdir(location) else open_file(opened, path)
    except OSError as error:
        raise blamed(unreadable(error), path) from None


def open_file(opened: Opener, path: str) -> Container:
    """Index what is a stream or a ``.zip`` by its beginning.

    Args:
        opened: gives the file, unbuffered, whenever something is to be read from it.

    Raises:
        InvalidSpirv: ``archive/…``.
        OSError: it can't be read.
    """
    with opened() as file:
        is_zip = file.read(4) == ZIP_MAGIC
    return ZipFile(opened, path) if is_zip else Stream(opened, path)
