"""Ctrl-C and its like: an orderly end at any moment, the right exit status, and nothing half-written."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]

# Runs the command line; `moment` has been called before and may have arranged for a signal. What the tests were begun
# behind, `nohup` or a shell's "&", has signals ignored, which processes inherit.
START = """
import os, sys, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
{moment}
from shaderstat.__main__ import main
main()
"""

# The signal comes while a module is imported.
WHILE_IMPORTING = """
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), {number})
sys.meta_path.insert(0, Finder())
"""

# An engine of as many answers as are wanted; the signal comes where the test says so.
ENGINE = """
sys.path.insert(0, {root!r})
from shaderstat import engine
from shaderstat.cli import _files
from shaderstat.reporters import csv
from tests.cli.events import answered, run
from dataclasses import replace

def interrupt(*_):
    os.kill(os.getpid(), {number})
    {twice}

def answers(request, watch=None):
    *events, end = run(*(answered(f"p{{n}}") for n in range(5)))
    try:
        for place, event in enumerate(events):
            if place == 6 and {place!r} == "engine":
                interrupt()
            yield event
    except KeyboardInterrupt:
        yield replace(end, run=replace(end.run, complete=False))
        raise
    yield end

engine.run = answers

def before(owner, name):
    own, calls = getattr(owner, name), []
    def patched(*arguments):
        calls.append(1)
        if len(calls) == 4:
            interrupt()
        return own(*arguments)
    setattr(owner, name, patched)

if {place!r} == "file":
    before(_files.Folder, "_write")
if {place!r} == "table":
    before(csv.Csv, "feed")
"""


def start(moment: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", START.format(moment=moment), *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )


def engine(place: str, number: int, twice: str = "") -> str:
    return ENGINE.format(root=str(ROOT), place=place, number=int(number), twice=twice)


@pytest.mark.parametrize(
    ("module", "number"),
    [
        *((module, signal.SIGINT) for module in ("time", "click", "shaderstat.cli", "shaderstat.engine")),
        ("click", signal.SIGTERM),
        ("shaderstat.engine", signal.SIGHUP),
    ],
)
def test_an_interruption_while_importing_ends_it_quietly(module: str, number: signal.Signals, tmp_path: Path) -> None:
    moment = f"sys.modules.pop({module!r}, None)" + WHILE_IMPORTING.format(module=module, number=int(number))
    (tmp_path / "x.spv").write_bytes(b"")
    done = start(moment, "stats", "x.spv", "-t", "mock", "--json", cwd=tmp_path)
    assert done.returncode == 128 + number
    assert "Traceback" not in done.stderr and len(done.stderr.splitlines()) <= 1


def test_one_in_code_that_is_made_from_text_has_the_same_status(tmp_path: Path) -> None:
    """Python notes a KeyboardInterrupt that leaves an exec() of text as unhandled, and then dies of a SIGINT."""
    text = "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"
    moment = (
        engine("nowhere", signal.SIGTERM) + f"engine.run = lambda request, watch: (exec({text!r}) for _ in range(2))"
    )
    assert start(moment, "x.spv", cwd=tmp_path).returncode == 128 + signal.SIGTERM


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("place", ["engine", "table"])
def test_what_was_answered_is_kept_whole(place: str, number: signal.Signals, tmp_path: Path) -> None:
    done = start(engine(place, number), "x.spv", "-o", "a.json", "-o", "a.csv", cwd=tmp_path)
    assert done.returncode == 128 + number
    report = json.loads((tmp_path / "a.json").read_text())
    assert not report["run"]["complete"]
    assert 1 <= len(report["results"]) < 5
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 1 + len(report["results"])
    assert sorted(os.listdir(tmp_path)) == ["a.csv", "a.json"]
    *_, told, last = done.stderr.splitlines()
    assert told == "incomplete: a.json, a.csv hold what was answered until then"
    assert last == ("interrupted" if number == signal.SIGINT else f"interrupted by {number.name}")


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("place", ["engine", "file"])
def test_a_folder_of_files_has_an_index_that_says_so(place: str, number: signal.Signals, tmp_path: Path) -> None:
    done = start(engine(place, number), "ir", "x.spv", "--out", "out", cwd=tmp_path)
    assert done.returncode == 128 + number
    index = json.loads((tmp_path / "out/index.json").read_text())
    there = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert there == {file["path"] for file in index["files"]} | {"index.json"}
    assert not index["complete"]
    assert done.stdout.splitlines()[-1] == "out/index.json"


def test_two_at_once_are_one(tmp_path: Path) -> None:
    """A closing terminal and systemd send several; they must not cut the tidying up."""
    again = "os.kill(os.getpid(), signal.SIGHUP)"
    done = start(engine("file", signal.SIGTERM, again), "ir", "x.spv", "--out", "out", cwd=tmp_path)
    assert done.returncode == 128 + signal.SIGTERM
    assert not json.loads((tmp_path / "out/index.json").read_text())["complete"]


def test_one_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    moment = "signal.signal(signal.SIGHUP, signal.SIG_IGN)" + engine("file", signal.SIGHUP)
    done = start(moment, "ir", "x.spv", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0
    assert json.loads((tmp_path / "out/index.json").read_text())["complete"]


def test_an_impatient_second_one_is_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    from shaderstat import interruptions

    def press(at: float, act: Callable[[], None]) -> None:
        monkeypatch.setattr(time, "monotonic", lambda: at)
        act()

    state = interruptions._State()
    state.starting = False
    monkeypatch.setattr(interruptions, "_state", state)
    with pytest.raises(KeyboardInterrupt) as caught, interruptions.held():
        press(100.0, lambda: interruptions._take(signal.SIGINT, None))
        press(100.5, lambda: interruptions._take(signal.SIGINT, None))
        press(101.5, lambda: interruptions._take(signal.SIGTERM, None))
        raise AssertionError("it was held back")
    assert interruptions.exit_status(caught.value) == 128 + signal.SIGTERM
