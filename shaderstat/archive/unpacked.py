"""The two forms of an archive whose entries are files: a folder, and a ``.zip``."""

from __future__ import annotations

import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable
from typing import BinaryIO

from shaderstat.archive.format import MAX_PAYLOAD, NAMES, ZIP_MAGIC, Tag, name
from shaderstat.archive.reading import blamed, read_at, too_large, unreadable
from shaderstat.errors import InvalidSpirv
from shaderstat.model import Diagnostic

_FOLDER_NAME = re.compile(r"([0-9a-f]{2})\.([0-9a-f]{16})\.json")
_ZIP_NAME = re.compile(r"[0-9a-fA-F]{40}")
_ZIP_HEADER = struct.Struct("<26sHH")  # of a member; the sizes of its name and of what follows it last
_KNOWN = frozenset(Tag)


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
                    raise blamed(InvalidSpirv("input/not-a-file", "is something else than a file"), path)
                data = file.read(MAX_PAYLOAD + 1) if found.st_size <= MAX_PAYLOAD else None
        except OSError as error:
            raise blamed(unreadable(error), path) from None
        if data is None or len(data) > MAX_PAYLOAD:
            raise blamed(too_large(found.st_size), path)
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

    def __init__(self, opened: Callable[[], BinaryIO], path: str) -> None:
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
            raise blamed(InvalidSpirv("archive/zip", f"a broken .zip: {error}"), path) from None
        self._index: dict[Tag, dict[int, zipfile.ZipInfo]] = {tag: {} for tag in Tag}
        for info in infos:
            if _ZIP_NAME.fullmatch(info.filename) and int(info.filename[8:24], 16) in _KNOWN:
                self._index[Tag(int(info.filename[8:24], 16))].setdefault(int(info.filename[24:], 16), info)
        if not any(self._index.values()):
            raise blamed(InvalidSpirv("archive/zip", "a .zip without any entry of an archive"), path)

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
            raise blamed(error, self.path) from None
        except OSError as error:
            raise blamed(unreadable(error), self.path) from None


def _unzipped(file: BinaryIO, info: zipfile.ZipInfo) -> bytes:
    """A member's bytes. `zipfile` can't do this without reading the directory again, or keeping the file open.

    Raises:
        InvalidSpirv: ``archive/zip``, ``archive/too-large``, ``input/changed``.
    """
    if max(info.file_size, info.compress_size) > MAX_PAYLOAD:
        raise too_large(max(info.file_size, info.compress_size))
    head = read_at(file, info.header_offset, _ZIP_HEADER.size)
    if len(head) < _ZIP_HEADER.size or not head.startswith(ZIP_MAGIC):
        raise InvalidSpirv("archive/zip", "not where the .zip's directory says that it is")
    _, name_size, extra_size = _ZIP_HEADER.unpack(head)
    stored = read_at(file, info.header_offset + _ZIP_HEADER.size + name_size + extra_size, info.compress_size)
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
