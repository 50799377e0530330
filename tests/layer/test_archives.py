"""The pipelines that kill a driver, as an archive: one command, and they kill it again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.layer.conftest import Hostile

pytestmark = pytest.mark.layer


def test_the_pipelines_that_crash_are_one_command(
    shaderstat: Run, samples: Path, killer: Path, hostile: Hostile, tmp_path: Path
) -> None:
    env = hostile("compute:segv")
    target = ("-t", "radv:navi21")
    done = shaderstat(
        "stats", killer, samples / "blur.comp.spv", *target, "--status", "crashed", "-o", "crashes.foz", env=env
    )
    assert done.returncode == 2
    assert "1 pipeline in the archive" in done.stderr
    again = shaderstat("stats", "crashes.foz", *target, "--json", env=env)
    (result,) = json.loads(again.stdout)["results"]
    assert (result["status"], result["failure"]["signal"]) == ("crashed", "SIGSEGV")
    reproduce = result["failure"]["reproduce"]
    assert reproduce[:5] == ["shaderstat", "stats", "crashes.foz", "--pipeline", f"0x{result['pipeline']}"]
    assert shaderstat("stats", "crashes.foz", *target).returncode == 0  # without that driver's fault
