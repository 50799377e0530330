"""A library that comes before the C library's functions, without having been preloaded."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from shaderstat.child import behind
from tests.conftest import ROOT

# A shim as Mesa's are: `access` knows one file more, and which one it has read from a variable at its first call.
SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
static const char *played;
int access(const char *path, int mode) {
    if (!played) { played = getenv("PLAYED"); if (!played) played = "nothing"; }
    if (strcmp(path, played) == 0) return 0;
    int (*real)(const char *, int) = dlsym(RTLD_NEXT, "access");
    return real ? real(path, mode) : 99;
}
"""
DRIVER = "#include <unistd.h>\nint finds(const char *path) { return access(path, F_OK); }\n"

PROGRAM = """
import ctypes, os, sys
from shaderstat.child import behind
driver, shim = sys.argv[1:]
behind.load(driver, shim)
finds = ctypes.CDLL(driver).finds
for played in (b"/no/a", b"/no/b"):
    if os.fork() == 0:
        os.environb[b"PLAYED"] = played
        found = [finds(path) for path in (b"/no/a", b"/no/b", b"/")]
        print(played.decode(), *found, os.access(played, os.F_OK), flush=True)
        os._exit(0)
    os.wait()
"""


def compiled(folder: Path, name: str, text: str) -> Path:
    compiler = shutil.which("cc") or pytest.skip("no C compiler")
    (folder / f"{name}.c").write_text(text)
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-o", folder / f"{name}.so", folder / f"{name}.c", "-ldl"], check=True
    )
    return folder / f"{name}.so"


@pytest.mark.skipif(not hasattr(os, "RTLD_DEEPBIND"), reason="the C library has no RTLD_DEEPBIND")
def test_each_fork_has_the_shim_play_another_and_the_process_itself_has_none(tmp_path: Path) -> None:
    shim, driver = compiled(tmp_path, "shim", SHIM), compiled(tmp_path, "driver", DRIVER)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, driver, shim], capture_output=True, text=True, cwd=ROOT, timeout=60
    )
    assert done.stdout.splitlines() == ["/no/a 0 -1 0 False", "/no/b -1 0 0 False"], done.stderr


def test_what_is_loaded_needs_the_shim_first() -> None:
    """The tags and their order, as elf(5) has them."""
    like = Path(sys.executable).resolve().read_bytes()[:64]
    made = behind.needing(("/one", "two"), like)
    assert made[:20] == like[:16] + struct.pack("<H", 3) + like[18:20]  # ET_DYN, for the same machine
    at, count = struct.unpack_from("<Q", made, 32)[0], struct.unpack_from("<H", made, 56)[0]
    segments = [struct.unpack_from("<IIQQQQQQ", made, at + 56 * each) for each in range(count)]
    assert [(kind, flags) for kind, flags, *_ in segments] == [(1, 6), (2, 6), (0x6474E551, 6)]
    _, _, start, _, _, length, _, _ = segments[1]
    entries = [struct.unpack_from("<QQ", made, start + each) for each in range(0, length, 16)]
    strings = dict(entries)[5]
    needed = [made[strings + value :].partition(b"\0")[0] for tag, value in entries if tag == 1]
    assert needed == [b"/one", b"two"]
    assert entries[-1] == (0, 0) and start + length == len(made)


@pytest.mark.parametrize("head", [b"", b"#!/bin/sh", b"\x7fELF\1\1" + bytes(58), b"\x7fELF\2\2" + bytes(58)])
def test_what_is_no_library_of_such_a_machine_is_refused(tmp_path: Path, head: bytes) -> None:
    (tmp_path / "shim.so").write_bytes(head)
    with pytest.raises(OSError, match="no ELF library of 64 bits"):
        behind.load("libm.so.6", str(tmp_path / "shim.so"))


def test_a_gpu_of_the_machine_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not behind.has_opened_a_gpu()
    real = os.stat("/dev/null")
    seen = SimpleNamespace(st_mode=real.st_mode, st_rdev=os.makedev(226, 128))  # /dev/dri/renderD128
    with monkeypatch.context() as patch:
        patch.setattr(os, "fstat", lambda _: seen)
        found = behind.has_opened_a_gpu()
    assert found
