"""The command line on a terminal: no line is left to it to break, and a shell takes the commands that are shown."""

from __future__ import annotations

import fcntl
import os
import pty
import re
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
    """What ``shaderstat ARGUMENTS`` writes to a terminal of so many columns, both streams together.

    `before` is done first in its process; once it has written `until`, it gets a byte on standard input.
    """

    def run(columns: int, *arguments: str | Path, before: str = "", until: bytes = b"") -> str:
        ours, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
        code = f"{before}\nimport sys\nfrom shaderstat.cli import run\nsys.exit(run(sys.argv[1:]))"
        command = [sys.executable, "-c", code, *map(str, arguments)]
        with subprocess.Popen(
            command, cwd=tmp_path, env=environment, stdin=subprocess.PIPE, stdout=its, stderr=its
        ) as child:
            assert child.stdin is not None
            os.close(its)
            said = bytearray()
            while data := _read(ours):
                said += data
                if until and until in said and not child.stdin.closed:
                    child.stdin.write(b".")
                    child.stdin.close()
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
        ("check", ".", "-t", "mock", "--max", "instructions=1"),
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


SLOW_ENGINE = """
import sys
from shaderstat import engine
from shaderstat.cli import _progress
from shaderstat.errors import NoTarget
from tests.cli import events

def run(request, watch=None):
    *most, end = events.run(events.answered("blur"))
    yield from most
    watch.total, watch.done = 14, 6
    sys.stdin.read(1)
    {then}

engine.run = run
_progress._PATIENCE = 0
"""


def screen(said: str) -> list[str]:
    """The lines that are left on a terminal: what the cursor came back to is overwritten, what was erased is gone."""
    lines, row = [""], 0
    for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\n|\r|[^\x1b\n\r]+", said):
        if part == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif part.endswith("A") and part.startswith("\x1b"):
            row -= int(part[2:-1] or 1)
        elif part in ("\x1b[2K", "\x1b[K"):
            lines[row] = ""
        elif part[0] not in "\r\x1b":
            lines[row] += part
    return lines


@pytest.mark.parametrize("format", ["table", "json"])
def test_no_progress_is_left_beside_the_answer(terminal: Terminal, format: str) -> None:
    said = terminal(80, "x.spv", "-f", format, before=SLOW_ENGINE.format(then="yield end"), until=b"6/14")
    assert "6/14" in said
    left = screen(said)
    assert not any("6/14" in line for line in left)
    assert any(line.startswith("blur · compute" if format == "table" else '{"schema"') for line in left)


def test_no_progress_is_left_beside_an_error(terminal: Terminal) -> None:
    then = "raise NoTarget('the device is gone')"
    left = screen(terminal(80, "x.spv", before=SLOW_ENGINE.format(then=then), until=b"6/14"))
    assert [line for line in left if line] == ["error: the device is gone"]
