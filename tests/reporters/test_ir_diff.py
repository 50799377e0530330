"""Texts line by line: the same hunks as ``diff -u``, and both sides beside each other."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shaderstat.reporters._ir_diff import draw
from shaderstat.reporters.base import Options
from shaderstat.reporters.text import Pen

BEFORE = b"BB0:\n\ts_mov_b32 s0, 1\n\tv_add_f32 v0, v1\n\ts_endpgm\n"
AFTER = b"BB0:\n\ts_mov_b32 s0, 2\n\tv_add_f32 v0, v1\n\ts_nop\n\ts_endpgm\n"


def drawn(before: bytes, after: bytes, width: int | None = None, *, colour: bool = False) -> str:
    stream = io.BytesIO()
    options = Options(view="ir", width=width, colour=colour)
    draw("title", ("old", "new"), (before, after), Pen(stream, colour=colour), options)
    return stream.getvalue().decode()


def test_unified() -> None:
    assert drawn(BEFORE, AFTER).splitlines() == [
        "── title ──",
        "--- old",
        "+++ new",
        "@@ -1,4 +1,5 @@",
        " BB0:",
        "-\ts_mov_b32 s0, 1",
        "+\ts_mov_b32 s0, 2",
        " \tv_add_f32 v0, v1",
        "+\ts_nop",
        " \ts_endpgm",
    ]


def test_nothing_is_written_of_equal_texts() -> None:
    assert drawn(BEFORE, BEFORE) == "" == drawn(BEFORE, BEFORE, 200)


def test_beside_each_other_on_a_wide_terminal() -> None:
    lines = drawn(BEFORE, AFTER, 160).splitlines()
    assert all(len(line) <= 160 for line in lines)
    rows = [[cell.strip() for cell in line.split("│")] for line in lines if "│" in line]
    assert rows == [
        ["old", "new"],
        ["BB0:", "BB0:"],
        ["s_mov_b32 s0, 1", "s_mov_b32 s0, 2"],
        ["v_add_f32 v0, v1", "v_add_f32 v0, v1"],
        ["", "s_nop"],
        ["s_endpgm", "s_endpgm"],
    ]
    assert "@@" in drawn(BEFORE, AFTER, 100)


def test_colours_and_hostile_text() -> None:
    text = drawn(b"a\n", b"\x1b[31mb\n", colour=True)
    assert "\x1b[31m-a\x1b[0m" in text and "\x1b[32m+\\x1b[31mb\x1b[0m" in text


lines = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=20).map(lambda each: "".join(f"{x}\n" for x in each))


@pytest.mark.skipif(shutil.which("patch") is None, reason="no patch")
@settings(max_examples=20)
@given(lines, lines)
def test_patch_takes_it(tmp_path_factory: pytest.TempPathFactory, before: str, after: str) -> None:
    folder: Path = tmp_path_factory.mktemp("patch")
    path = folder / "file"
    path.write_text(before)
    hunks = re.sub(r"^── title ──\n", "", drawn(before.encode(), after.encode()))
    if not hunks:
        assert before == after
        return
    command = ["patch", "-s", "--posix", str(path)]
    done = subprocess.run(command, input=hunks, text=True, capture_output=True, cwd=folder)
    assert done.returncode == 0, done.stdout
    assert (path.read_text() if path.exists() else "") == after
