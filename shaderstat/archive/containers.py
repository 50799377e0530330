"""Archives as files: an index of what is in them first, payloads one by one when they are asked for.

A stream archive is read, not mapped: a file that another process cuts while it is mapped ends this one with SIGBUS, and
the capture layer does write to archives that are in use.
"""

from __future__ import annotations

import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import BinaryIO, Protocol

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
from shaderstat.errors import InvalidSpirv
from shaderstat.model import Diagnostic

_WINDOW = 1 << 16
_STREAM_KEY = re.compile(rb"[0-9a-fA-F]{40}")
_FOLDER_NAME = re.compile(r"([0-9a-f]{2})\.([0-9a-f]{16})\.json")
_ZIP_NAME = re.compile(r"[0-9a-fA-F]{40}")
_KNOWN = frozenset(Tag)
_ZIP_HEADER = struct.Struct("<26sHH")  # of a member; the sizes of its name and of what follows it last

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
        if os.path.isdir(location):
            return Folder(location, path)
        with opened() as file:
            is_zip = file.read(4) == b"PK\x03\x04"
        return ZipFile(opened, path) if is_zip else Stream(opened, path)
    except OSError as error:
        raise _blamed(_unreadable(error), path) from None


class Stream:
    """A ``.foz`` file: entries back to back, until the end."""

    def __init__(self, opened: Opener, path: str) -> None:
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
            problem = _bad_head(_read(file, 0, FILE_HEADER))
            if problem is not None:
                raise _blamed(problem, path)
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
                head = _read(file, at, HEADER.size)
                header = Header(*HEADER.unpack(head)) if len(head) == HEADER.size else None
                if header is None or int(header.key[24:], 16) != hash:
                    raise _changed()
                if header.size > MAX_PAYLOAD:
                    raise _too_large(header.size)
                return _unpacked(header, _read(file, at + HEADER.size, header.size))
        except InvalidSpirv as error:
            error.offset = at
            error.message = f"{NAMES[tag]} {name(hash)} at byte {at}: {error.message}"
            raise _blamed(error, self.path) from None
        except OSError as error:
            raise _blamed(_unreadable(error), self.path) from None
        except ValueError:  # what stands there now is no hash
            raise _blamed(_changed(), self.path) from None

    def _scan(self, file: BinaryIO, size: int) -> Iterator[Diagnostic]:
        """Fill the index; what keeps it from the end of the file is said."""
        unpack, match, known = HEADER.unpack_from, _STREAM_KEY.fullmatch, _KNOWN
        at = FILE_HEADER
        window, start = b"", 0
        while at < size:
            place = at - start
            if place + HEADER.size > len(window):
                window, start, place = _read(file, at, _WINDOW), at, 0
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


class Folder:
    """The unpacked form: ``TT.HHHHHHHHHHHHHHHH.json`` files."""

    remarks: tuple[Diagnostic, ...] = ()

    def __init__(self, location: str, path: str) -> None:
        """List the folder.

        Raises:
            OSError: it can't be listed.
        """
        self.path = path
        self._location = location
        self._index: dict[Tag, set[int]] = {tag: set() for tag in Tag}
        for entry in os.scandir(location):
            found = _FOLDER_NAME.fullmatch(entry.name)
            if found is not None and int(found[1], 16) in _KNOWN:
                self._index[Tag(int(found[1], 16))].add(int(found[2], 16))

    def hashes(self, tag: Tag) -> Iterable[int]:
        return self._index[tag]

    def has(self, tag: Tag, hash: int) -> bool:
        return hash in self._index[tag]

    def payload(self, tag: Tag, hash: int) -> bytes:
        if hash not in self._index[tag]:
            raise KeyError(hash)
        path = os.path.join(self.path, _file_name(tag, hash))
        try:
            # Without waiting: what lies there may be a pipe that nobody writes to.
            descriptor = os.open(os.path.join(self._location, _file_name(tag, hash)), os.O_RDONLY | os.O_NONBLOCK)
            with open(descriptor, "rb") as file:
                found = os.fstat(descriptor)
                if not stat.S_ISREG(found.st_mode):
                    raise _blamed(InvalidSpirv("input/not-a-file", "is something else than a file"), path)
                data = file.read(MAX_PAYLOAD + 1) if found.st_size <= MAX_PAYLOAD else None
        except OSError as error:
            raise _blamed(_unreadable(error), path) from None
        if data is None or len(data) > MAX_PAYLOAD:
            raise _blamed(_too_large(found.st_size), path)
        return data

    def files(self) -> Iterable[str]:
        for tag, hashes in self._index.items():
            for hash in hashes:
                yield os.path.join(self._location, _file_name(tag, hash))


def _file_name(tag: Tag, hash: int) -> str:
    return f"{tag:02x}.{name(hash)}.json"


class ZipFile:
    """The same entries as members of a ``.zip``, named by tag and hash."""

    remarks: tuple[Diagnostic, ...] = ()

    def __init__(self, opened: Opener, path: str) -> None:
        """Read the directory.

        Raises:
            InvalidSpirv: ``archive/zip``.
            OSError: it can't be read.
        """
        self.path = path
        self._opened = opened
        try:
            with opened() as file, zipfile.ZipFile(file) as archive:
                infos = archive.infolist()
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise _blamed(InvalidSpirv("archive/zip", f"a broken .zip: {error}"), path) from None
        self._index: dict[Tag, dict[int, zipfile.ZipInfo]] = {tag: {} for tag in Tag}
        for info in infos:
            if _ZIP_NAME.fullmatch(info.filename) and int(info.filename[8:24], 16) in _KNOWN:
                self._index[Tag(int(info.filename[8:24], 16))].setdefault(int(info.filename[24:], 16), info)
        if not any(self._index.values()):
            raise _blamed(InvalidSpirv("archive/zip", "a .zip without any entry of an archive"), path)

    def hashes(self, tag: Tag) -> Iterable[int]:
        return self._index[tag]

    def has(self, tag: Tag, hash: int) -> bool:
        return hash in self._index[tag]

    def files(self) -> Iterable[str]:
        return (self.path,)

    def payload(self, tag: Tag, hash: int) -> bytes:
        info = self._index[tag][hash]
        try:
            with self._opened() as file:
                return _unzipped(file, info)
        except InvalidSpirv as error:
            error.offset = info.header_offset
            error.message = f"{NAMES[tag]} {name(hash)} at byte {error.offset}: {error.message}"
            raise _blamed(error, self.path) from None
        except OSError as error:
            raise _blamed(_unreadable(error), self.path) from None


def _unzipped(file: BinaryIO, info: zipfile.ZipInfo) -> bytes:
    """A member's bytes. `zipfile` can't do this without reading the directory again, or keeping the file open.

    Raises:
        InvalidSpirv: ``archive/zip``, ``archive/too-large``, ``input/changed``.
    """
    if max(info.file_size, info.compress_size) > MAX_PAYLOAD:
        raise _too_large(max(info.file_size, info.compress_size))
    head = _read(file, info.header_offset, _ZIP_HEADER.size)
    if len(head) < _ZIP_HEADER.size or not head.startswith(b"PK\x03\x04"):
        raise InvalidSpirv("archive/zip", "not where the .zip's directory says that it is")
    _, name_size, extra_size = _ZIP_HEADER.unpack(head)
    stored = _read(file, info.header_offset + _ZIP_HEADER.size + name_size + extra_size, info.compress_size)
    if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InvalidSpirv("archive/zip", "encrypted, or compressed in a way that is not known here")
    data = stored
    if info.compress_type == zipfile.ZIP_DEFLATED:
        try:
            data = zlib.decompressobj(-zlib.MAX_WBITS).decompress(stored, info.file_size + 1)
        except zlib.error as error:
            raise InvalidSpirv("archive/zip", f"can't be unpacked: {error}") from None
    if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
        raise InvalidSpirv("archive/zip", "its checksum or its size does not match its bytes")
    return data


def _read(file: BinaryIO, at: int, count: int) -> bytes:
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


# ── One entry ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _unpacked(header: Header, stored: bytes) -> bytes:
    """The payload behind a header.

    Raises:
        InvalidSpirv: ``archive/crc``, ``archive/size``, ``archive/flags``, ``archive/deflate``, ``archive/too-large``.
    """
    if len(stored) != header.size:
        raise _changed()
    if header.plain_size > MAX_PAYLOAD:
        raise _too_large(header.plain_size)
    if header.crc and zlib.crc32(stored) != header.crc:
        raise InvalidSpirv("archive/crc", "its checksum does not match its bytes", hint="capture it again")
    if header.flags == STORED:
        if header.plain_size != header.size:
            raise _lies(f"{header.size} bytes are stored as they are and said to be {header.plain_size}")
        return stored
    if header.flags != DEFLATED:
        raise InvalidSpirv("archive/flags", f"stored in a way that is not known ({header.flags})")
    if header.plain_size > header.size * MAX_RATIO + 64:
        raise _lies(f"{header.size} packed bytes can't become {header.plain_size}")
    unpacking = zlib.decompressobj()
    try:
        data = unpacking.decompress(stored, header.plain_size + 1)
    except zlib.error as error:
        raise InvalidSpirv("archive/deflate", f"can't be unpacked: {error}") from None
    if len(data) != header.plain_size or not unpacking.eof:
        raise _lies(f"said to unpack to {header.plain_size} bytes, and does not")
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


def _lies(how: str) -> InvalidSpirv:
    return InvalidSpirv("archive/size", how)


def _too_large(size: int) -> InvalidSpirv:
    return InvalidSpirv("archive/too-large", f"{size} bytes: an entry has at most {MAX_PAYLOAD}")


def _changed() -> InvalidSpirv:
    return InvalidSpirv("input/changed", "changed while shaderstat was running", hint="run it again")


def _unreadable(error: OSError) -> InvalidSpirv:
    return InvalidSpirv("input/unreadable", f"can't be read: {error.strerror or error}")


def _blamed(error: InvalidSpirv, path: str) -> InvalidSpirv:
    error.path = path
    return error
