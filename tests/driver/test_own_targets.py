"""Targets that ``shaderstat.yaml`` describes, on a driver that stands for one just built."""

from __future__ import annotations

import hashlib
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
    assert done.stderr.startswith("error: target built: build/radeon_icd.x86_64.json: no such driver manifest")


def test_a_name_misspelt_is_told_by_the_nearest(shaderstat: Run, project: Path, samples: Path) -> None:
    done = shaderstat("stats", samples / "blur.comp.spv", "-t", "bulit", cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    error, hint = done.stderr.splitlines()
    assert error == "error: no target is called 'bulit'"
    assert hint.startswith("hint: did you mean built?")


WRAPPED = """
targets:
  wrapped: {gpu: radv:navi21, prefix: WRAPPER, python: PYTHON}
  empty: {gpu: radv:navi21, prefix: env -i PATH=/usr/bin:/bin, python: PYTHON}
"""


def test_what_a_prefix_adds_or_drops_is_seen_where_the_driver_is(
    shaderstat: Run, tmp_path: Path, samples: Path, radv_manifest: Path
) -> None:
    """Neither is it taken for what it was before, nor for what is set here."""
    import sys

    wrapper = tmp_path / "wrapper"
    (tmp_path / "shaderstat.yaml").write_text(
        WRAPPED.replace("WRAPPER", str(wrapper)).replace("PYTHON", sys.executable)
    )

    def ask(script: str, target: str = "wrapped", **env: str) -> tuple[dict[str, str], Any]:
        wrapper.write_text(f'#!/bin/sh\n{script} exec "$@"\n')
        wrapper.chmod(0o755)
        done = shaderstat("stats", samples / "blur.comp.spv", "-t", target, "--json", cwd=tmp_path, env=env)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        (executable,) = found["results"][0]["executables"]
        return found["targets"][0]["environment"], executable["subgroup_size"]

    plain, waves = ask("")
    assert ("RADV_PERFTEST" in plain, waves) == (False, 64)
    narrow, waves = ask("RADV_PERFTEST=cswave32")
    assert (narrow["RADV_PERFTEST"], waves) == ("cswave32", 32)
    emptied, waves = ask("", "empty", RADV_PERFTEST="cswave32")
    assert ("RADV_PERFTEST" in emptied, waves) == (False, 64)
    set_here, waves = ask("", RADV_PERFTEST="cswave32")
    assert (set_here["RADV_PERFTEST"], waves) == ("cswave32", 32)


def test_settings_of_the_users_are_in_the_report(shaderstat: Run, tmp_path: Path, samples: Path) -> None:
    text = b"<driconf/>"
    (tmp_path / ".drirc").write_bytes(text)
    done = shaderstat("stats", samples / "blur.comp.spv", "-t", NAVI21, "--json", env={"HOME": str(tmp_path)})
    (target,) = json.loads(done.stdout)["targets"]
    assert target["settings"] == {"~/.drirc": hashlib.sha256(text).hexdigest()}
    done = shaderstat(
        "stats", samples / "blur.comp.spv", "-t", NAVI21, env={"HOME": str(tmp_path), "RADV_DEBUG": "nocache"}
    )
    assert f"{NAVI21} runs with RADV_DEBUG=nocache, ~/.drirc" in done.stderr.splitlines()


def test_variables_that_would_make_another_gpu_of_it_are_refused(
    shaderstat: Run, tmp_path: Path, samples: Path
) -> None:
    (tmp_path / "shaderstat.yaml").write_text(
        "targets: {fake: {gpu: 'radv:navi21', environment: {RADV_FORCE_FAMILY: navi10}}}"
    )
    done = shaderstat("stats", samples / "blur.comp.spv", "-t", "fake", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    told = "RADV_FORCE_FAMILY=navi10: radv:navi21 is what it is by RADV_FORCE_FAMILY=navi21"
    assert done.stderr.startswith(f"error: target fake: {told}")


def test_a_prefix_that_talks_is_quoted_and_what_it_starts_ends_with_it(
    shaderstat: Run, tmp_path: Path, samples: Path
) -> None:
    import sys

    talks, sleeps = tmp_path / "talks", tmp_path / "sleeps"
    talks.write_text('#!/bin/sh\necho Welcome to box\nexec "$@"\n')
    sleeps.write_text("#!/bin/sh\nsleep 987\n")
    for script in (talks, sleeps):
        script.chmod(0o755)
    (tmp_path / "shaderstat.yaml").write_text(
        f"targets: {{talks: {{prefix: ./talks, python: '{sys.executable}'}}, sleeps: {{prefix: [./sleeps]}}}}"
    )
    (tmp_path / "below").mkdir()
    ask = ("stats", samples / "blur.comp.spv", "--timeout", "1", "-t")
    done = shaderstat(*ask, "talks", cwd=tmp_path / "below")
    assert (done.returncode, done.stdout) == (2, "")
    error, hint = done.stderr.splitlines()
    assert error == "error: talks: something else writes to its standard output: 'Welcome to box'"
    assert hint == "hint: what the prefix starts must write nothing there"
    done = shaderstat(*ask, "sleeps", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        2, "error: sleeps: the driver has not opened its device within 1 s\n"
    )  # fmt: skip
    running = [one.read_bytes() for one in Path("/proc").glob("[0-9]*/cmdline") if one.exists()]
    assert b"sleep\x00987\x00" not in running
