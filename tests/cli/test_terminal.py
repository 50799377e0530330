"""The command line on a terminal: no line is left to it to break, and a shell takes the commands that are shown."""

from __future__ import annotations

import fcntl
import os
import pty
import shlex
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path

import pytest

from shaderstat.reporters.text import width
from tests.conftest import ROOT

Terminal = Callable[..., str]


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """What ``shaderstat ARGUMENTS`` writes to a terminal of so many columns, both streams together."""

    def run(columns: int, *arguments: str | Path) -> str:
        ours, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
        command = [sys.executable, "-m", "shaderstat", *map(str, arguments)]
        with subprocess.Popen(command, cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL, stdout=its, stderr=its):
            os.close(its)
            said = bytearray()
            while data := _read(ours):
                said += data
        os.close(ours)
        return said.decode().replace("\r\n", "\n")

    return run


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # Linux says so when the other side is closed
        return b""


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("blur.comp.spv",),
        ("blur.comp.spv", "--sort", "blocks"),
        (".",),
        ("list", "."),
        ("diff", "."),
        ("nothing here.spv",),
        (".", "-t", "mokc", "--stat", "nothing of that name at all", "--pipeline", "neither one of that name"),
    ],
    ids=" ".join,
)
def test_no_line_is_longer_than_the_terminal(
    terminal: Terminal, tmp_path: Path, samples: Path, columns: int, arguments: tuple[str, ...]
) -> None:
    for name in ("blur.comp.spv", "scale.comp.spv", "water.vert.spv", "water.frag.spv", "pick.comp.spv"):
        (tmp_path / name).symlink_to(samples / name)
    (tmp_path / "broken.comp.spv").write_bytes((samples / "blur.comp.spv").read_bytes()[:-6])
    said = terminal(columns, *arguments)
    assert said
    assert [line for line in said.splitlines() if width(line) > columns] == []


def test_a_command_that_takes_two_lines_can_be_pasted(terminal: Terminal, tmp_path: Path, samples: Path) -> None:
    (tmp_path / "the folder of samples").symlink_to(samples)
    path = "the folder of samples/blur.comp.spv"
    said = terminal(60, path, "-t", "mock", "--timeout", "30", "--spec", "5=1", "--no-validate")
    shown = said.partition("Its code: ")[2]
    assert len(shown.splitlines()) > 1
    assert shlex.split(shown.replace("\\\n", ""))[:5] == ["shaderstat", "ir", path, "-t", "mock"]
