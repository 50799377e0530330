"""Targets that ``shaderstat.yaml`` describes, on a driver that stands for one just built."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run
from tests.driver.conftest import NAVI21, numbers

CONFIG = """
targets:
  built:
    driver: build/radeon_icd.x86_64.json
    gpu: radv:navi21
    environment: {RADV_DEBUG: nocache}
  old:
    driver: build/radeon_icd.x86_64.json
    gpu: radv:polaris10
  behind:
    driver: DRIVER
    gpu: radv:navi21
    prefix: [env, RADV_DEBUG=nocache]
    python: PYTHON
"""


@pytest.fixture
def project(tmp_path: Path, radv_manifest: Path) -> Path:
    """A project with a driver in its ``build``, and its configuration."""
    import sys

    (tmp_path / "project" / "build").mkdir(parents=True)
    (tmp_path / "project" / "shaders").mkdir()
    shutil.copy(radv_manifest, tmp_path / "project" / "build" / "radeon_icd.x86_64.json")
    text = CONFIG.replace("DRIVER", str(radv_manifest)).replace("PYTHON", sys.executable)
    (tmp_path / "project" / "shaderstat.yaml").write_text(text)
    return tmp_path / "project"


def test_a_driver_just_built_answers_under_its_own_name(shaderstat: Run, project: Path, samples: Path) -> None:
    """From a folder below, too: the driver's path is relative to the file that names it."""

    def ask(*targets: str) -> dict[str, Any]:
        options = [word for target in targets for word in ("-t", target)]
        done = shaderstat("stats", samples / "blur.comp.spv", *options, "--json", cwd=project / "shaders")
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    found = ask("built", "old", "behind", NAVI21)
    built, old, behind, usual = found["targets"]
    assert [one["id"] for one in found["targets"]] == ["built", "old", "behind", NAVI21]
    assert {one["source"] for one in (built, old, behind)} == {"config"}
    assert built["driver"] == usual["driver"]
    assert built["environment"]["RADV_DEBUG"] == "nocache"
    assert built["environment"]["VK_DRIVER_FILES"] == str(project / "build" / "radeon_icd.x86_64.json")
    said = {target: numbers(ask(target)) for target in ("built", "old", "behind", NAVI21)}
    assert said["built"] == said["behind"] == said[NAVI21] != said["old"]


def test_a_driver_that_is_not_there_is_named(shaderstat: Run, project: Path, samples: Path) -> None:
    (project / "build" / "radeon_icd.x86_64.json").unlink()
    done = shaderstat("stats", samples / "blur.comp.spv", "-t", "built", cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: build/radeon_icd.x86_64.json: no such driver manifest")


def test_a_name_misspelt_is_told_by_the_nearest(shaderstat: Run, project: Path, samples: Path) -> None:
    done = shaderstat("stats", samples / "blur.comp.spv", "-t", "bulit", cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    error, hint = done.stderr.splitlines()
    assert error == "error: no target is called 'bulit'"
    assert hint.startswith("hint: did you mean built?")
