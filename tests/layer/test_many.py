"""Many pipelines, and drivers that die, hang and leave among them: nothing is lost, whatever the order."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, Run
from tests.layer.conftest import MARKER, Hostile

pytestmark = pytest.mark.layer

# Bytes that stand in a module's names, and what a driver does that is to compile it.
BAD = {"KillerHere": "segv", "HangerHere": "hang", "LeaverHere": "exit"}
ALSO = ",".join(f"{name}={act}" for name, act in BAD.items())


@pytest.fixture(scope="module")
def bad(killer: Path) -> dict[str, bytes]:
    """A module for each of `BAD`."""
    data = killer.read_bytes()
    assert data.count(MARKER.encode()) == 1
    return {name: data.replace(MARKER.encode(), name.encode()) for name in BAD}


def results(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["pipeline"]: one for one in report["results"]}


@pytest.mark.parametrize(("jobs", "seed"), [(1, 0), (2, 1), (4, 2)])
def test_thirty_good_modules_a_killer_one_that_hangs_and_one_that_leaves(
    shaderstat: Run, hostile: Hostile, samples: Path, bad: dict[str, bytes], tmp_path: Path, jobs: int, seed: int
) -> None:
    folder = tmp_path / "shaders"
    folder.mkdir()
    good = sorted(samples.glob("*.comp.spv"))
    contents = [good[number % len(good)].read_bytes() for number in range(30)] + list(bad.values())
    random.Random(seed).shuffle(contents)
    for number, data in enumerate(contents):
        (folder / f"{number:02}.comp.spv").write_bytes(data)
    environment = {**hostile("", marker=None), "HOSTILE_ALSO": ALSO}
    done = shaderstat(
        "stats", "--json", "--timeout", "4", "-j", str(jobs), "-t", "radv:navi21", folder, env=environment
    )
    report = json.loads(done.stdout)
    found = results(report)
    assert list(found) == [f"{number:02}" for number in range(33)]
    told = {
        name: (found[f"{contents.index(data):02}"]["status"], found[f"{contents.index(data):02}"]["failure"]["code"])
        for name, data in bad.items()
    }
    assert told == {
        "KillerHere": ("crashed", "driver/crashed"),
        "HangerHere": ("timeout", "driver/timeout"),
        "LeaverHere": ("crashed", "driver/exited"),
    }
    fine = [one for one in found.values() if one["status"] == "ok"]
    assert len(fine) == 30 and all(one["executables"][0]["statistics"] for one in fine)
    assert report["run"]["complete"]
    assert done.returncode == 2


def children_of(process: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


# How many kills must hit a compile; a long run of it: SHADERSTAT_KILLS=20.
KILLS = int(os.environ.get("SHADERSTAT_KILLS", "1"))


def test_children_that_are_killed_at_random_cost_nothing(
    hostile: Hostile, samples: Path, shaderstat: Run, tmp_path: Path
) -> None:
    """An impatient out-of-memory killer: the report is that of a quiet run, but for durations and attempts."""
    folder = tmp_path / "shaders"
    folder.mkdir()
    good = sorted(samples.glob("*.comp.spv"))
    for number in range(80 * KILLS):
        shutil.copy(good[number % len(good)], folder / f"{number:04}.comp.spv")
    environment = hostile("compute:slowly", marker=None)
    command = ["stats", "--no-cache", "-j", "2", "-t", "radv:navi21", "-o", str(tmp_path / "report.json")]
    began = time.monotonic()
    shaderstat(*command, good[0], env=environment)
    pause = 0.7 * (time.monotonic() - began)  # a child must have a chance to start at all
    shaderstat(*command, folder, env=environment)
    quiet = json.loads((tmp_path / "report.json").read_text())
    dice = random.Random(7)
    with subprocess.Popen(
        [sys.executable, "-m", "shaderstat", *command, "-o", "jsonl:-", str(folder)],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), False)
        while process.poll() is None:
            time.sleep(pause)
            # On a busy machine a child may take longer to start than was measured: let others get done in between.
            some_are_done = b'{"type":"result"' in (process.stdout.read() or b"")
            children = children_of(process.pid)
            if children and some_are_done:
                os.kill(dice.choice(children), signal.SIGKILL)
        assert process.stderr is not None
        said = process.stderr.read().decode()
    assert process.returncode == 0, said
    report = json.loads((tmp_path / "report.json").read_text())
    assert sum(one["attempts"] - 1 for one in report["results"]) >= KILLS
    for one in (*quiet["results"], *report["results"]):
        del one["durations_ns"], one["attempts"]
    assert report["results"] == quiet["results"]
    assert report["pipelines"] == quiet["pipelines"]


def test_a_killed_run_leaves_no_children(hostile: Hostile, killer: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "shaderstat", "stats", "-t", "radv:navi21", str(killer)],
        env={**os.environ, "PYTHONPATH": str(ROOT), **hostile("compute:hang")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 20
    while not (children := children_of(process.pid)) and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.5)
    process.kill()
    process.wait()
    while any(Path(f"/proc/{child}").exists() for child in children) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert children and not any(_runs(child) for child in children)


def _runs(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_what_is_finished_is_kept_when_the_run_is_stopped(
    hostile: Hostile, samples: Path, killer: Path, tmp_path: Path, number: signal.Signals, status: int
) -> None:
    for name in "abc":
        shutil.copy(samples / "julia.comp.spv", tmp_path / f"{name}.comp.spv")
    shutil.copy(killer, tmp_path / "killer.comp.spv")
    output = tmp_path / "report.json"
    command = ["stats", "-t", "radv:navi21", str(tmp_path), "-o", "jsonl:-", "-o", f"json:{output}"]
    process = subprocess.Popen(
        [sys.executable, "-m", "shaderstat", *command],
        env={**os.environ, "PYTHONPATH": str(ROOT), **hostile("compute:hang")},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    seen = 0
    while seen < 3:
        seen += process.stdout.readline().startswith(b'{"type":"result"')
    began = time.monotonic()
    process.send_signal(number)
    assert b'"type":"end"' in process.communicate(timeout=20)[0]
    assert process.returncode == status
    assert time.monotonic() - began < 10
    report = json.loads(output.read_text())
    assert not report["run"]["complete"]
    assert [(one["pipeline"], one["status"]) for one in report["results"]] == [(name, "ok") for name in "abc"]


def test_two_runs_at_once_share_what_they_learn(shaderstat: Run, samples: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "shaderstat", "stats", "--json", "-t", "radv:navi21", str(samples)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    runs = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)
    ]
    reports = []
    for one in runs:
        out, err = one.communicate(timeout=120)
        assert b"warning" not in err
        reports.append(json.loads(out))
    third = json.loads(shaderstat("stats", "--json", "-t", "radv:navi21", samples).stdout)
    assert third["run"]["counts"]["cached"] == len(third["results"])
    for report in (*reports, third):
        for one in report["results"]:
            del one["durations_ns"], one["cached"]
    assert reports[0]["results"] == reports[1]["results"] == third["results"]
