"""``check`` on the command line: the exit status of every path, and the baseline's life."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from shaderstat.model import Event
from shaderstat.reporters.base import create
from tests.cli.conftest import Call
from tests.cli.events import Engine
from tests.compare.reports import SHARE, SPILLED_VGPRS, VGPRS, executable, pipeline, run
from tests.conftest import Run

Save = Callable[..., Path]


@pytest.fixture
def save(tmp_path: Path) -> Save:
    """Write a run as a report."""

    def save(*parts: list[Event], complete: bool = True) -> Path:
        stream = io.BytesIO()
        output = create("jsonl", stream)
        for event in run(*parts, complete=complete):
            output.feed(event)
        output.close()
        path = tmp_path / "report.jsonl"
        path.write_bytes(stream.getvalue())
        return path

    return save


GOOD = pipeline("a", executable((VGPRS, 24), (SPILLED_VGPRS, 0)))
SPILLS = pipeline("a", executable((VGPRS, 64), (SPILLED_VGPRS, 4)))
CRASH = pipeline("b", status="crashed")

# Row of the README's table → the file, options, results, exit status.
PATHS: dict[str, tuple[str, list[str], list[list[Event]], int]] = {
    "all hold": ("budgets: [{max: {registers: 64}}]", [], [GOOD], 0),
    "an error's rule is broken": ("budgets: [{max: {registers: 16}}]", [], [GOOD], 1),
    "a warning's rule is broken": ("budgets: [{max: {registers: 16}, severity: warning}]", [], [GOOD], 0),
    "a rule of the command line holds": ("", ["--max", "registers=24"], [GOOD], 0),
    "a rule of the command line is broken": ("", ["--max", "spills=0"], [SPILLS], 1),
    "both": ("budgets: [{max: {registers: 99}}]", ["--max", "spills=0"], [SPILLS], 1),
    "a rule matches nothing": ("budgets: [{pipeline: zzz, max: {registers: 1}}]", [], [GOOD], 2),
    "a statistic that nothing has": ("budgets: [{max: {bogus: 1}}]", [], [GOOD], 2),
    "no number": ("budgets: [{max: {share: 1}}]", [], [pipeline("a", executable((SHARE, "NaN")))], 2),
    "a crash": ("budgets: [{max: {registers: 64}}]", [], [GOOD, CRASH], 2),
    "a crash and a broken rule": ("budgets: [{max: {registers: 1}}]", [], [GOOD, CRASH], 2),
    "a crash that is allowed": ("budgets: [{max: {registers: 64}, allow: crashed}]", [], [GOOD, CRASH], 0),
    "no baseline": ("budgets: [{max: {registers: +5%}}]", [], [GOOD], 2),
    "no budgets": ("", [], [GOOD], 2),
    "a slip in the file": ("budgets: [{maximum: 1}]", [], [GOOD], 2),
    "a slip in an option": ("", ["--max", "registers"], [GOOD], 2),
}


@pytest.mark.parametrize("path", PATHS)
def test_exit_status(call: Call, save: Save, tmp_path: Path, path: str) -> None:
    text, options, parts, status = PATHS[path]
    (tmp_path / "shaderstat.yaml").write_text(text)
    done = call("check", save(*parts), *options)
    assert done.status == status, done.err
    assert "Traceback" not in done.err


def test_a_run_that_broke_off(call: Call, save: Save, tmp_path: Path) -> None:
    assert call("check", save(GOOD, complete=False), "--max", "registers=64").status == 2


def test_a_failure_tells_all_that_is_needed(call: Call, save: Save, tmp_path: Path) -> None:
    (tmp_path / "shaderstat.yaml").write_text("budgets:\n- name: desktop\n  max:\n    registers: 16\n")
    done = call("check", save(GOOD))
    fail, again, accept = done.out.splitlines()
    assert fail.split() == [
        "FAIL", "a", "compute", "registers", "24", ">", "16", "shaderstat.yaml:4",
        '"desktop"', "radv:navi21",
    ]  # fmt: skip
    assert again.split(maxsplit=1) == ["again", "shaderstat stats shaders/a.spv -t radv:navi21"]
    assert accept.split(maxsplit=1)[1].startswith("raise max in ") and accept.endswith("shaderstat.yaml:4")
    assert "1 rule, 1 check: 1 failed, 0 passed" in done.err


def test_the_baseline_s_life(call: Call, save: Save, tmp_path: Path) -> None:
    (tmp_path / "shaderstat.yaml").write_text("budgets: [{max: {registers: +5%, spills: +0}}]")
    baseline = tmp_path / "shaderstat-baseline.json"
    assert call("check", save(GOOD), "--update-baseline").status == 0
    first = baseline.read_bytes()
    assert json.loads(first)["numbers"]["radv:navi21"]["a"]["compute"] == {"Spilled VGPRs": 0, "VGPRs": 24}
    assert call("check", save(GOOD)).status == 0
    broken = call("check", save(SPILLS))
    assert broken.status == 1
    assert "64 > 25.2 (24 +5%)" in broken.out and "4 > 0 (0 +0)" in broken.out
    assert "accept  shaderstat check" in broken.out and "--update-baseline" in broken.out
    assert call("check", save(SPILLS), "--update-baseline").status == 0
    assert call("check", save(SPILLS)).status == 0
    assert baseline.read_bytes() != first
    assert call("check", save(GOOD), "--update-baseline").status == 0
    assert baseline.read_bytes() == first


def test_a_baseline_is_not_written_of_a_run_with_a_crash(call: Call, save: Save, tmp_path: Path) -> None:
    done = call("check", save(GOOD, CRASH), "--update-baseline")
    assert done.status == 2 and "not written" in done.err
    assert not (tmp_path / "shaderstat-baseline.json").exists()


def test_a_new_shader_is_told(call: Call, save: Save, tmp_path: Path) -> None:
    call("check", save(GOOD), "--update-baseline")
    new = pipeline("new", executable((VGPRS, 99)))
    done = call("check", save(GOOD, new), "--max", "registers=+0")
    assert done.status == 0 and "the baseline doesn't have, new compute" in done.err


def test_interrupted(call: Call, engine: Engine, tmp_path: Path) -> None:
    """While it compiles: no verdict, whatever was found so far."""
    (tmp_path / "x.spv").write_bytes(b"\x03\x02\x23\x07")
    engine.answers(*run(GOOD)[:-1], KeyboardInterrupt())
    done = call("check", "x.spv", "--max", "registers=64", "-o", "json:check.json")
    assert (done.status, done.out) == (130, "")
    assert not (tmp_path / "check.json").exists()


def test_a_compile_time_is_measured_every_time(shaderstat: Run, samples: Path, tmp_path: Path) -> None:
    """Remembered answers have none: a second run is no less an answer than the first."""
    (tmp_path / "shaderstat.yaml").write_text("budgets:\n- {pipeline: scale, compile_time: 60 s}\n")
    for _ in range(2):
        done = shaderstat("check", samples / "scale.comp.spv", "-t", "mock")
        assert done.returncode == 0, done.stderr


def test_live(shaderstat: Run, samples: Path, tmp_path: Path) -> None:
    (tmp_path / "shaderstat.yaml").write_text(
        "budgets:\n"
        "- {pipeline: scale, max: {instructions: 10000}}\n"
        '- {pipeline: "s*", target: mock, max: {registers: 1}}\n'
    )
    done = shaderstat(
        "check", samples / "scale.comp.spv", "-t", "mock", "-o", "markdown:b.md", "-o", "junit:b.xml", "-o", "-"
    )
    assert done.returncode == 1
    assert "shaderstat.yaml:3" in done.stdout
    again = next(line for line in done.stdout.splitlines() if "again" in line).split()[1:]
    assert shaderstat(*again[1:]).returncode == 0
    assert (tmp_path / "b.md").read_text().startswith("### shaderstat check: failed")
    assert "<failure" in (tmp_path / "b.xml").read_text()
