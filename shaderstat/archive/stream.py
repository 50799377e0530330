"""A stream archive, as Fossilize's layer writes it.

It is read, not mapped: a file that another process cuts while it is mapped ends this one with SIGBUS, and the capture
layer does write to archives that are in use.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import BinaryIO

from shaderstat.archive.format import (
    DEFLATED,
    FILE_HEADER,
    HEADER,
    MAGIC,
    MAX_PAYLOAD,
    MAX_RATIO,
    NAMES,
    READABLE,
    STORED,
    Header,
    Tag,
    name,
)
from shaderstat.archive.reading import blamed, changed, lies, read_at, too_large, unreadable
from shaderstat.errors import InvalidSpirv
from shaderstat.model import Diagnostic

_WINDOW = 1 << 16
_KEY = re.compile(rb"[0-9a-fA-F]{40}")
_KNOWN = frozenset(Tag)


class Stream:
    """A ``.foz`` file: entries back to back, until the end."""

    def __init__(self, opened: Callable[[], BinaryIO], path: str) -> None:
        """Read the headers of all entries.

        Args:
            opened: gives the file, unbuffered, whenever something is to be read from it.

        Raises:
            InvalidSpirv: ``archive/empty``, ``archive/not-an-archive``, ``archive/version``.
            OSError: it can't be read.
        """
        self.path = path
        self._opened = opened
        self._index: dict[Tag, dict[int, int]] = {tag: {} for tag in Tag}
        self._copies: dict[tuple[Tag, int], list[int]] = {}
        with opened() as file:
            size = file.seek(0, os.SEEK_END)
            problem = _bad_head(read_at(file, 0, FILE_HEADER))
            if problem is not None:
                raise blamed(problem, path)
            self.remarks = tuple(self._scan(file, size))

    def hashes(self, tag: Tag) -> Iterable[int]:
        return self._index[tag]

    def has(self, tag: Tag, hash: int) -> bool:
        return hash in self._index[tag]

    def files(self) -> Iterable[str]:
        return (self.path,)

    def payload(self, tag: Tag, hash: int) -> bytes:
        try:
            return self._entry(tag, hash, self._index[tag][hash])
        except InvalidSpirv as error:
            for at in self._copies.get((tag, hash), ()):  # one that is damaged may be there once more
                with suppress(InvalidSpirv):
                    return self._entry(tag, hash, at)
            raise error

    def _entry(self, tag: Tag, hash: int, at: int) -> bytes:
        try:
            with self._opened() as file:
                head = read_at(file, at, HEADER.size)
                header = Header(*HEADER.unpack(head)) if len(head) == HEADER.size else None
                if header is None or int(header.key[24:], 16) != hash:
                    raise changed()
                if header.size > MAX_PAYLOAD:
                    raise too_large(header.size)
                return _unpacked(header, read_at(file, at + HEADER.size, header.size))
        except InvalidSpirv as error:
            error.offset = at
            error.message = f"{NAMES[tag]} {name(hash)} at byte {at}: {error.message}"
            raise blamed(error, self.path) from None
        except OSError as error:
            raise blamed(unreadable(error), self.path) from None
        except ValueError:  # what stands there now is no hash
            raise blamed(changed(), self.path) from None

    def _scan(self, file: BinaryIO, size: int) -> Iterator[Diagnostic]:
        """Fill the index; what keeps it from the end of the file is said."""
        unpack, match, known = HEADER.unpack_from, _KEY.fullmatch, _KNOWN
        at = FILE_HEADER
        window, start = b"", 0
        while at < size:
            place = at - start
            if place + HEADER.size > len(window):
                window, start, place = read_at(file, at, _WINDOW), at, 0
            if len(window) - place < HEADER.size:
                yield _cut(at, "header")
                return
            key, stored, _, _, _ = unpack(window, place)
            if match(key) is None:
                message = f"no entry begins at offset {at}: what comes after it is lost"
                yield Diagnostic("warning", "archive/bad-entry", message, offset=at)
                return
            end = at + HEADER.size + stored
            if end > size:
                yield _cut(at, "payload")
                return
            tag = int(key[8:24], 16)
            if tag in known:  # later versions have more
                hash = int(key[24:], 16)
                if self._index[Tag(tag)].setdefault(hash, at) != at:
                    self._copies.setdefault((Tag(tag), hash), []).append(at)
            at = end


# ── One entry ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _unpacked(header: Header, stored: bytes) -> bytes:
    """The payload behind a header.

    Raises:
        InvalidSpirv: ``archive/crc``, ``archive/size``, ``archive/flags``, ``archive/deflate``, ``archive/too-large``.
    """
    if len(stored) != header.size:
        raise changed()
    if header.plain_size > MAX_PAYLOAD:
        raise too_large(header.plain_size)
    if header.crc and zlib.crc32(stored) != header.crc:
        raise InvalidSpirv("archive/crc", "its checksum does not match its bytes", hint="capture it again")
    if header.flags == STORED:
        if header.plain_size != header.size:
            raise lies(f"{header.size} bytes are stored as they are and said to be {header.plain_size}")
        return stored
    if header.flags != DEFLATED:
        raise InvalidSpirv("archive/flags", f"stored in a way that is not known ({header.flags})")
    if header.plain_size > header.size * MAX_RATIO + 64:
        raise lies(f"{header.size} packed bytes can't become {header.plain_size}")
    unpacking = zlib.decompressobj()
    try:
        data = unpacking.decompress(stored, header.plain_size + 1)
    except zlib.error as error:
        raise InvalidSpirv("archive/deflate", f"can't be unpacked: {error}") from None
    if len(data) != header.plain_size or not unpacking.eof:
        raise lies(f"said to unpack to {header.plain_size} bytes, and does not")
    return data


def _bad_head(head: bytes) -> InvalidSpirv | None:
    if not head:
        return InvalidSpirv("archive/empty", "an empty file, not an archive", offset=0)
    if not head.startswith(MAGIC):
        return InvalidSpirv("archive/not-an-archive", "does not begin as a Fossilize archive does", offset=0)
    if len(head) < FILE_HEADER:
        return InvalidSpirv("archive/truncated", "cut off within the file's header", offset=len(head))
    if any(head[12:15]) or head[15] not in READABLE:
        found = int.from_bytes(head[12:16], "big")
        return InvalidSpirv("archive/version", f"an archive of version {found}; 5 and 6 are known", offset=12)
    return None


def _cut(at: int, part: str) -> Diagnostic:
    message = f"cut off: the {part} of the entry at offset {at} runs past the end of the file; that entry is lost"
    return Diagnostic("warning", "archive/truncated", message, offset=at)
