"""What a user sees of a driver that dies, hangs, shouts or errs: a result, and the run goes on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run
from tests.layer.conftest import Hostile

pytestmark = pytest.mark.layer


def results(stdout: str) -> dict[str, dict[str, Any]]:
    """A JSON report's results by pipeline."""
    return {result["pipeline"]: result for result in json.loads(stdout)["results"]}


@pytest.fixture
def folder(tmp_path: Path, samples: Path, killer: Path) -> Path:
    """A good module before and one behind the killer."""
    folder = tmp_path / "shaders"
    folder.mkdir()
    shutil.copy(samples / "julia.comp.spv", folder / "a.comp.spv")
    shutil.copy(killer, folder / "killer.comp.spv")
    shutil.copy(samples / "julia.comp.spv", folder / "z.comp.spv")
    return folder


@pytest.mark.parametrize(
    ("fault", "status", "expected"),
    [
        ("compute:segv", "crashed", {"phase": "compile", "signal": "SIGSEGV", "code": "driver/crashed"}),
        ("compute:abort", "crashed", {"phase": "compile", "signal": "SIGABRT", "code": "driver/crashed"}),
        ("compute:exit", "crashed", {"phase": "compile", "exit_code": 0, "code": "driver/exited"}),
        ("module:segv", "crashed", {"phase": "compile", "signal": "SIGSEGV"}),
        ("executables:segv", "crashed", {"phase": "query", "signal": "SIGSEGV"}),
        ("statistics:abort", "crashed", {"phase": "query", "signal": "SIGABRT"}),
        ("compute:error", "failed", {"phase": "compile", "vk_result": "VK_ERROR_OUT_OF_DEVICE_MEMORY"}),
        ("module:error", "failed", {"phase": "compile", "vk_result": "VK_ERROR_OUT_OF_DEVICE_MEMORY"}),
        ("executables:error", "failed", {"phase": "query", "vk_result": "VK_ERROR_OUT_OF_DEVICE_MEMORY"}),
        ("required", "failed", {"phase": "compile", "vk_result": "VK_PIPELINE_COMPILE_REQUIRED"}),
        ("null-pipeline", "failed", {"phase": "compile", "vk_result": None}),
    ],
)
def test_a_fault_costs_the_one_pipeline_in_hand(
    shaderstat: Run, hostile: Hostile, folder: Path, fault: str, status: str, expected: dict[str, Any]
) -> None:
    done = shaderstat("stats", "--json", "-t", "radv:navi21", folder, env=hostile(fault))
    found = results(done.stdout)
    assert [found[name]["status"] for name in ("a", "killer", "z")] == ["ok", status, "ok"]
    assert found["a"]["executables"] == found["z"]["executables"]
    failure = found["killer"]["failure"]
    assert {name: failure[name] for name in expected} == expected
    assert failure["reproduce"][:2] == ["shaderstat", "stats"]
    assert str(folder / "killer.comp.spv") in failure["reproduce"]
    assert done.returncode == 2


def test_the_command_that_reproduces_a_crash_does(shaderstat: Run, hostile: Hostile, folder: Path) -> None:
    environment = hostile("compute:segv")
    done = shaderstat("stats", "--json", "-t", "radv:navi21", folder, env=environment)
    command = results(done.stdout)["killer"]["failure"]["reproduce"]
    again = shaderstat(*command[1:], "--json", env=environment)
    assert {name: one["status"] for name, one in results(again.stdout).items()} == {"killer": "crashed"}


def test_the_last_words_of_a_driver_are_kept(shaderstat: Run, hostile: Hostile, killer: Path) -> None:
    done = shaderstat("stats", "--json", "-t", "radv:navi21", killer, env=hostile("compute:abort"))
    assert "Assertion `false' failed." in results(done.stdout)["killer"]["failure"]["stderr_tail"]


def test_a_hang_ends_at_the_limit(shaderstat: Run, hostile: Hostile, folder: Path) -> None:
    done = shaderstat("stats", "--json", "--timeout", "1", "-t", "radv:navi21", folder, env=hostile("compute:hang"))
    found = results(done.stdout)
    assert [found[name]["status"] for name in ("a", "killer", "z")] == ["ok", "timeout", "ok"]
    failure = found["killer"]["failure"]
    assert (failure["phase"], failure["code"], failure["limit_s"]) == ("compile", "driver/timeout", 1.0)
    assert done.returncode == 2


@pytest.mark.parametrize("fault", ["compute:slow", "compute:noise", "compute:flood", "statistics:noise"])
def test_a_slow_or_noisy_driver_is_a_good_one(shaderstat: Run, hostile: Hostile, folder: Path, fault: str) -> None:
    done = shaderstat("stats", "--json", "-t", "radv:navi21", folder, env=hostile(fault))
    found = results(done.stdout)  # the noise was valid JSON, and is not in here
    assert {one["status"] for one in found.values()} == {"ok"}
    assert "####" not in done.stdout + done.stderr
    assert done.returncode == 0


def test_a_driver_that_closes_every_descriptor(shaderstat: Run, hostile: Hostile, folder: Path) -> None:
    done = shaderstat("stats", "--json", "-t", "radv:navi21", folder, env=hostile("compute:close"))
    found = results(done.stdout)
    assert [found[name]["status"] for name in ("a", "killer", "z")] == ["ok", "crashed", "ok"]
    assert done.returncode == 2


@pytest.mark.parametrize("place", ["instance", "device"])
@pytest.mark.parametrize("act", ["segv", "abort", "exit", "error"])
def test_a_driver_that_never_opens_is_one_line(
    shaderstat: Run, hostile: Hostile, samples: Path, place: str, act: str
) -> None:
    environment = hostile(f"{place}:{act}", marker=None)
    done = shaderstat("stats", "-t", "radv:navi21", samples / "scale.comp.spv", env=environment)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "radv:navi21" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 3


def test_a_driver_that_hangs_while_it_opens(shaderstat: Run, hostile: Hostile, samples: Path) -> None:
    environment = hostile("device:hang", marker=None)
    done = shaderstat("stats", "--timeout", "1", "-t", "radv:navi21", samples / "scale.comp.spv", env=environment)
    assert done.returncode == 2
    assert "1 s" in done.stderr


def test_a_pair_dies_as_one(shaderstat: Run, hostile: Hostile, samples: Path, tmp_path: Path) -> None:
    data = (samples / "water.frag.spv").read_bytes()
    assert data.count(b"reflected\0") == 1
    (tmp_path / "water.frag.spv").write_bytes(data.replace(b"reflected\0", b"KillHere!\0"))
    shutil.copy(samples / "water.vert.spv", tmp_path)
    shutil.copy(samples / "leaf.vert.spv", tmp_path)
    shutil.copy(samples / "leaf.frag.spv", tmp_path)
    environment = hostile("graphics:segv", marker="KillHere!")
    done = shaderstat("stats", "--json", "-t", "radv:navi21", tmp_path, env=environment)
    assert {name: one["status"] for name, one in results(done.stdout).items()} == {"leaf": "ok", "water": "crashed"}


def test_thirty_good_modules_and_one_that_kills_the_driver(
    shaderstat: Run, hostile: Hostile, samples: Path, killer: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "shaders"
    folder.mkdir()
    good = sorted(samples.glob("*.comp.spv"))
    for number in range(30):
        shutil.copy(good[number % len(good)], folder / f"{number:02}.comp.spv")
    shutil.copy(killer, folder / "15x-killer.comp.spv")
    done = shaderstat("stats", "--json", "-t", "radv:navi21", folder, env=hostile("compute:segv"))
    found = results(done.stdout)
    assert list(found) == sorted(found)
    crashed = found.pop("15x-killer")
    assert (crashed["status"], crashed["failure"]["phase"], crashed["failure"]["signal"]) == (
        "crashed",
        "compile",
        "SIGSEGV",
    )
    assert len(found) == 30
    for result in found.values():
        assert result["status"] == "ok"
        assert all(one["value"] is not None for one in result["executables"][0]["statistics"])
    assert done.returncode == 2

    table = shaderstat("stats", "-t", "radv:navi21", folder, env=hostile("compute:segv"))
    assert table.returncode == 2
    line = next(line for line in table.stdout.splitlines() if "15x-killer" in line)
    assert "crashed" in line and "SIGSEGV" in line
    assert "30 ok" in table.stderr and "1 crashed" in table.stderr
