"""The first thing that runs behind a foreign prefix: it takes the kit from standard input.

This file's text travels over the pipe and is executed by a Python that has nothing of ours (`shaderstat.pool.kit`), so
it uses the standard library alone, of Python 3.10 or newer. The kit stays there in a cache folder named by its content:
sending it again and again is cheap, compiling `vulkan` is not (265 ms without byte code, 14 ms with it).
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping

# Kits that nobody has used for so long belong to versions of shaderstat that are gone.
KEPT_S = 30 * 24 * 3600

# Read when a process starts, by the dynamic loader and by Mesa's drm-shims.
EARLY = ("LD_PRELOAD", "AMDGPU_GPU_ID", "FD_GPU_ID", "FD_CHIP_ID", "NOUVEAU_CHIPSET")


def arrive(first: Callable[[int], bytes]) -> None:
    """Take what was sent, and make it importable. `first` reads so many bytes of standard input."""
    settings = json.loads(take(int(first(8), 16)))
    check_early(settings["environment"])
    # ssh and podman do not carry them
    for name, value in settings["defaults"].items():
        os.environ.setdefault(name, value)
    os.environ.update(settings["environment"])
    sys.path.insert(0, place(settings["kit"], take(int(take(8), 16))))
    add_cffi_backend()


def check_early(wanted: Mapping[str, str]) -> None:
    """A preloaded library has read its variables by now. Where the prefix has dropped one (``env -i``, ssh), the shim
    stands in for its default GPU, and every number would be another GPU's."""
    for name in EARLY:
        if name in wanted and wanted[name] != os.environ.get(name, ""):
            sys.exit(
                f"shaderstat: {name} must be set when the process starts, and the prefix has not passed it on: "
                f"put 'env {name}={wanted[name]}' at its end"
            )


def take(count: int) -> bytes:
    """So many bytes of standard input; nothing behind them is touched."""
    pieces = []
    while count:
        piece = os.read(0, min(count, 1 << 20))
        if not piece:
            sys.exit("shaderstat: the input ended before the kit was complete")
        pieces.append(piece)
        count -= len(piece)
    return b"".join(pieces)


def place(name: str, packed: bytes) -> str:
    """The folder with the kit called `name`, which is its content's hash: the one that is there, or a new one."""
    for parent in parents():
        folder = os.path.join(parent, name)
        try:
            os.utime(folder)  # so that it counts as used
            return folder
        except OSError:
            pass
        import shutil  # late, as whatever is seldom needed: the kit is there, but for the first time
        import tempfile

        try:
            beside = tempfile.mkdtemp(prefix=".", dir=parent)
        except OSError:
            continue
        try:
            unpack(packed, beside)
            os.rename(beside, folder)
        except OSError:  # another child was faster, or the disk is full
            shutil.rmtree(beside, ignore_errors=True)
        if os.path.isdir(folder):
            prune(parent)
            return folder
    sys.exit("shaderstat: no folder for the kit can be written here: set XDG_CACHE_HOME or TMPDIR to one")


def parents() -> Iterator[str]:
    """Folders that are this user's alone, and exist, best first."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    # The temporary folder is asked for only when it is needed: a sandbox may have none.
    places: list[tuple[Callable[[], str], str]] = [
        (lambda: cache, "shaderstat/kit"),
        (temporary, f"shaderstat-kit-{os.getuid()}"),
    ]
    for place, name in places:
        try:
            folder = os.path.join(place(), name)
            os.makedirs(folder, mode=0o700, exist_ok=True)
            found = os.lstat(folder)
        except OSError:
            continue
        # In a folder that others can write, they could have put a kit of their own.
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022:
            yield folder


def temporary() -> str:
    """The system's temporary folder."""
    import tempfile

    return tempfile.gettempdir()


def unpack(packed: bytes, folder: str) -> None:
    """Write the kit's files."""
    index, _, data = zlib.decompress(packed).partition(b"\n")
    at = 0
    for path, size in json.loads(index):
        file = os.path.join(folder, path)
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "wb") as stream:
            stream.write(data[at : at + size])
        at += size


def prune(parent: str) -> None:
    """Remove kits that were not used for long."""
    import shutil

    for entry in os.scandir(parent):
        with contextlib.suppress(OSError):
            if time.time() - entry.stat(follow_symlinks=False).st_mtime > KEPT_S:
                shutil.rmtree(entry.path, ignore_errors=True)


def add_cffi_backend() -> None:
    """The one compiled module that is needed must be this Python's own: look where its packages are."""
    import importlib.util

    if importlib.util.find_spec("_cffi_backend") is None:
        import site

        site.main()
