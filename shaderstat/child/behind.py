"""Loading a driver behind its stand-in for the GPU, in a process that is running already.

Mesa's drm-shims are made for LD_PRELOAD: they come before the C library, so that a driver's `open` and `ioctl` are
theirs. They read which GPU to play at the first such call, which then is one of Python's own start: every GPU would
want a process of its own, with a Python that starts and a driver that is relocated. What is loaded later comes behind
the C library, unless it has a scope of its own that is looked into first: dlopen(3) calls that RTLD_DEEPBIND, and the
order in it is that of what is needed, breadth first. So what is loaded here is an empty library that needs two others:
the shim, then the driver.

The process itself keeps the C library's functions. A fork of it sets the variable that chooses the GPU, and the
driver's first call in there is the shim's first.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct

# Of elf(5), for 64 bits.
_SHARED_OBJECT = 3
_LOAD, _DYNAMIC, _STACK = 1, 2, 0x6474E551
_READ_WRITE = 6
_NEEDED, _STRTAB, _SYMTAB, _STRSZ, _SYMENT = 1, 5, 6, 10, 11
_HEADER, _SEGMENT, _SYMBOL = 64, 56, 24

# Of the kernel's Documentation/admin-guide/devices.txt.
_DRM_MAJOR = 226


def load(driver: str, shim: str) -> None:
    """Load `driver` (a path, or a name for the dynamic loader) with `shim` (a path) before the C library.

    Raises:
        OSError: it can't be done here.
    """
    if not hasattr(os, "RTLD_DEEPBIND") or not hasattr(os, "memfd_create"):
        raise OSError("this C library has no RTLD_DEEPBIND")
    with open(shim, "rb") as file:
        header = file.read(_HEADER)
    descriptor = os.memfd_create("behind")
    try:
        os.write(descriptor, needing((shim, driver), header))
        ctypes.CDLL(f"/proc/self/fd/{descriptor}", mode=os.RTLD_LAZY | os.RTLD_DEEPBIND)
    finally:
        os.close(descriptor)


def needing(libraries: tuple[str, ...], like: bytes) -> bytes:
    """A shared library with nothing in it, which needs `libraries`, for the machine that the ELF header `like` is of.

    Raises:
        OSError: `like` is no header of 64 bits, little-endian.
    """
    if len(like) < _HEADER or like[:6] != b"\x7fELF\2\1":
        raise OSError("the stand-in for the GPU is no ELF library of 64 bits, little-endian")
    machine, version = struct.unpack_from("<HI", like, 18)
    (flags,) = struct.unpack_from("<I", like, 48)

    strings = b"\0"
    dynamic = []
    for one in libraries:
        dynamic.append((_NEEDED, len(strings)))
        strings += os.fsencode(one) + b"\0"
    strings += b"\0" * (-len(strings) % 16)
    symbols_at = _HEADER + 3 * _SEGMENT
    strings_at = symbols_at + _SYMBOL  # the symbol that every table begins with
    dynamic_at = strings_at + len(strings)
    dynamic += [(_STRTAB, strings_at), (_SYMTAB, symbols_at), (_STRSZ, len(strings)), (_SYMENT, _SYMBOL), (0, 0)]
    table = b"".join(struct.pack("<QQ", *entry) for entry in dynamic)
    size = dynamic_at + len(table)

    def segment(kind: int, at: int, length: int, alignment: int) -> bytes:
        return struct.pack("<IIQQQQQQ", kind, _READ_WRITE, at, at, at, length, length, alignment)

    header = like[:16] + struct.pack(
        "<HHIQQQIHHHHHH", _SHARED_OBJECT, machine, version, 0, _HEADER, 0, flags, _HEADER, _SEGMENT, 3, 0, 0, 0
    )
    # The last segment says that no stack need be executable, which is what is taken to be meant where it is missing.
    segments = (
        segment(_LOAD, 0, size, 1 << 16) + segment(_DYNAMIC, dynamic_at, len(table), 8) + segment(_STACK, 0, 0, 16)
    )
    return header + segments + bytes(_SYMBOL) + strings + table


def has_opened_a_gpu() -> bool:
    """Whether this process holds a DRM device of the machine's: behind a shim, which opens others in their place, it
    must not. Python's `fstat` is the C library's here, and tells the truth."""
    for name in os.listdir("/proc/self/fd"):
        try:
            found = os.fstat(int(name))
        except OSError:  # the folder's own
            continue
        if stat.S_ISCHR(found.st_mode) and os.major(found.st_rdev) == _DRM_MAJOR:
            return True
    return False
