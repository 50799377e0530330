"""Which files a driver is made of: what this process has mapped once its device is open.

The loader's manifests name a driver, not the compiler library that it pulls in, nor what LD_PRELOAD put before it. The
kernel knows all of them.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterable, Sequence
from contextlib import suppress

from shaderstat.wire import Library

# The interpreter and its modules shape no driver's answer; SPIRV-Tools, which lies among them, tells its version.
_PYTHON = re.compile(r"/(lib)?python3[0-9.]*([/.]|$)")
# What the kernel puts behind the path of a file that no folder holds any more (proc(5)).
_DELETED = " (deleted)"

_ELF = struct.Struct("<4sBB10xHHIQQQIHHHHHH")  # e_ident to e_shstrndx of a 64-bit little-endian file
_PROGRAM_HEADER = struct.Struct("<IIQQQQQQ")
_NOTE = struct.Struct("<III")
_ELF_MAGIC = b"\x7fELF"
_PT_NOTE, _NT_GNU_BUILD_ID = 4, 3


def mapped() -> tuple[Library, ...]:
    """Every library that is mapped now, Python's own left out, by path; empty where the system doesn't tell, or where
    one of them has been replaced since it was mapped."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            lines = [line.rstrip("\n").split(None, 5) for line in maps]
        files = [line for line in lines if len(line) == 6 and line[5].startswith("/")]
        generated = _generated(files)
        paths = {line[5] for line in files if "x" in line[1]} - generated
        return tuple(library(path) for path in sorted(paths) if not _PYTHON.search(path))
    except OSError:  # "/usr/lib/… (deleted)": what runs here is no longer what lies there
        return ()


def _generated(files: Iterable[Sequence[str]]) -> set[str]:
    """The files without a name that hold code which the driver writes as it goes (NVIDIA's: ``/memfd:/.glXXXXXX
    (deleted)``), told from deleted libraries by the ELF header that these begin with.

    Args:
        files: the columns of /proc/self/maps.
    """
    beginnings = {
        line[5]: int(line[0].partition("-")[0], 16)
        for line in files
        if line[5].endswith(_DELETED) and line[1].startswith("r") and int(line[2], 16) == 0
    }
    if not beginnings:
        return set()
    with open("/proc/self/mem", "rb", buffering=0) as memory:
        return {path for path, start in beginnings.items() if os.pread(memory.fileno(), 4, start) != _ELF_MAGIC}


def library(path: str) -> Library:
    """What tells a library from others of its name.

    Raises:
        OSError: it isn't there.
    """
    with open(path, "rb") as file:
        found = os.fstat(file.fileno())
        identity = ""
        with suppress(struct.error, OverflowError, OSError):
            identity = _build_id(file.fileno())
    return Library(path, found.st_size, found.st_mtime_ns, identity)


def _build_id(file: int) -> str:
    """The NT_GNU_BUILD_ID of an ELF file, in hexadecimal; empty where it has none.

    Raises:
        struct.error, OverflowError, OSError: it is cut, or points behind its end.
    """
    head = os.pread(file, _ELF.size, 0)
    magic, bits, order, _, _, _, _, headers, _, _, _, size, count, *_ = _ELF.unpack(head)
    if magic != _ELF_MAGIC or bits != 2 or order != 1:
        return ""
    table = os.pread(file, size * count, headers)
    for place in range(count):
        kind, _, offset, _, _, length, _, _ = _PROGRAM_HEADER.unpack_from(table, place * size)
        if kind != _PT_NOTE:
            continue
        notes, at = os.pread(file, min(length, 4096), offset), 0
        while at + _NOTE.size <= len(notes):
            name_size, data_size, note = _NOTE.unpack_from(notes, at)
            at += _NOTE.size
            data = at + (name_size + 3 & ~3)
            if note == _NT_GNU_BUILD_ID and notes[at : at + name_size] == b"GNU\0":
                return notes[data : data + data_size].hex()
            at = data + (data_size + 3 & ~3)
    return ""
