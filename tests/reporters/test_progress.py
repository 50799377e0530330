"""The line that shows how far a run is."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from shaderstat.reporters.progress import State, clock, line


def drawn(state: State, width: int = 100) -> str:
    console = Console(file=io.StringIO(), width=width, legacy_windows=False)
    console.print(line(state))
    assert isinstance(console.file, io.StringIO)
    return " ".join(console.file.getvalue().split("━")[-1].split())


def test_before_anything_is_known() -> None:
    assert drawn(State(0, 0, 0, 1.0, None)) == "opening devices"


def test_rate_time_left_and_failures() -> None:
    assert drawn(State(300, 100, 2, 20.0, None)).endswith("100/300 5/s 40 s left 2 failed")
    assert drawn(State(300, 1, 0, 30.0, None)).endswith("1/300 2/min 2:29:30 left")
    assert drawn(State(300, 300, 0, 30.0, None)).endswith("300/300 10/s")


def test_a_pipeline_that_takes_long_is_named() -> None:
    assert drawn(State(9, 3, 0, 3.0, ("bloom/blur", 1.9))).endswith("3/9 1/s 6 s left")
    assert drawn(State(9, 3, 0, 3.0, ("bloom/\x1b[31mblur", 61.0))).endswith("bloom/\\x1b[31mblur 1:01")


def test_it_stays_on_its_line() -> None:
    console = Console(file=io.StringIO(), width=40)
    console.print(line(State(9, 3, 0, 3.0, ("x" * 300, 61.0))))
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().count("\n") == 1


@pytest.mark.parametrize(("seconds", "told"), [(0.4, "0 s"), (59, "59 s"), (185, "3:05"), (7200, "2:00:00")])
def test_a_time(seconds: float, told: str) -> None:
    assert clock(seconds) == told
