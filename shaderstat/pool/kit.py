"""The kit, sent to wherever a compiler is: another Python, another C library, another machine.

Behind a prefix the child starts as ``PREFIX … python3 -I -S -c BOOT``. BOOT is one line; everything else comes over
standard input: the text of `shaderstat.pool.far_side`, a few settings, the kit. What isn't sent can't be imported
there, which is why the kit uses nothing but the standard library, `vulkan` and cffi's compiled backend.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shlex
import sys
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from shaderstat.environment import DEFAULTS
from shaderstat.errors import NoTarget
from shaderstat.model import Launch

# The part of shaderstat that runs where a driver is (design.md, "The house").
ROOMS = (
    "__init__.py",
    "_version.py",
    "plain.py",
    "model",
    "instrumentation.py",
    "errors.py",
    "environment.py",
    "wire.py",
    "wire_runs.py",
    "registry",
    "spirv",
    "pipeline",
    "backends",
    "child",
)

# The protocol's descriptor is put aside first, so that no driver's chatter can enter it (see `shaderstat.pool.child`).
BOOT = (
    "import os,sys;out=os.dup(1);os.dup2(2,1);"
    "read=lambda n:b''.join(os.read(0,1)for _ in range(n));exec(read(int(read(8),16)))"
)

_THEN = "\narrive(read)\nfrom {entry} import serve\nserve(0, out)\n"


def is_needed(launch: Launch) -> bool:
    """Whether a launch starts a Python that isn't this one, and so has to be given the kit."""
    return launch.python is not None


def command(launch: Launch) -> list[str]:
    """The argument vector of a child that is given the kit."""
    python = [launch.python or sys.executable, "-I", "-S", "-c", BOOT]
    if any(os.path.basename(word) == "ssh" for word in launch.prefix):
        # ssh joins its arguments with blanks and gives them to a shell over there
        python = [shlex.quote(word) for word in python]
    return [*launch.prefix, *python]


def opening(launch: Launch, entry: str = "shaderstat.child") -> bytes:
    """What is written to such a child before the first frame.

    Args:
        entry: the module of the kit whose ``serve`` takes over.

    Raises:
        NoTarget: the package `vulkan` is not installed here.
    """
    name, packed = pack(launch.backend)
    settings = {"kit": name, "environment": dict(launch.environment), "defaults": dict(DEFAULTS)}
    program = Path(__file__).with_name("far_side.py").read_bytes() + _THEN.format(entry=entry).encode()
    return b"".join(_sized(part) for part in (program, json.dumps(settings).encode(), packed))


@cache
def pack(backend: str) -> tuple[str, bytes]:
    """The kit: its content's hash, and its files as one compressed block (an index in JSON, a newline, the files)."""
    files: dict[str, bytes] = {}
    _collect(Path(__file__).parent.parent, ROOMS, files)
    if backend == "vulkan":
        spec = importlib.util.find_spec("vulkan")
        if spec is None or spec.origin is None:
            raise NoTarget("the Python package vulkan is not installed", hint="pip install vulkan")
        _collect(Path(spec.origin).parent, ("__init__.py", "_vulkan.py", "_vulkancache.py"), files)
    index = json.dumps([[path, len(data)] for path, data in files.items()])
    whole = index.encode() + b"\n" + b"".join(files.values())
    return hashlib.sha256(whole).hexdigest(), zlib.compress(whole, 1)


def _collect(package: Path, names: Sequence[str], files: dict[str, bytes]) -> None:
    for name in names:
        path = package / name
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            files[file.relative_to(package.parent).as_posix()] = file.read_bytes()


def _sized(data: bytes) -> bytes:
    return b"%08x" % len(data) + data
