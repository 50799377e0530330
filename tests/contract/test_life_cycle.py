"""What every backend keeps to (`shaderstat.backends.base`): the mock and a real driver through the same tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from shaderstat.backends.base import open_backend
from shaderstat.errors import NoTarget
from shaderstat.model import STATISTIC_FORMATS, Launch
from tests.backends.mock.measure import NoTools
from tests.conftest import ROOT, find_radv_manifest

BACKENDS = ["mock", pytest.param("vulkan", marks=pytest.mark.driver)]


@cache
def run(backend: str, device: int = 0, scenario: str = "null") -> dict[str, Any]:
    """A life in another process: a driver never runs in the tests' own."""
    null_device = {"RADV_FORCE_FAMILY": "navi21", "VK_DRIVER_FILES": str(find_radv_manifest())}
    done = subprocess.run(
        [sys.executable, "-m", "tests.contract.life_cycle", backend, str(device), scenario],
        cwd=ROOT,
        env={**os.environ, **null_device, "MESA_SHADER_CACHE_DISABLE": "true"},
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode()
    steps = json.loads(done.stdout)
    assert isinstance(steps, dict)
    return steps


@pytest.fixture(params=BACKENDS)
def steps(request: pytest.FixtureRequest, clean_environment: Path) -> dict[str, Any]:
    """What one life gave."""
    return run(request.param)


def test_facts_identify_driver_and_device(steps: dict[str, Any]) -> None:
    facts = steps["facts"]
    assert facts["driver"]["name"] and facts["driver"]["version"]
    assert facts["device"]["name"] and facts["device"]["type"]
    assert facts["device"]["api_version"] == ".".join(map(str, facts["api_version"]))
    assert len(facts["device"]["pipeline_cache_uuid"]) == 32
    int(facts["device"]["pipeline_cache_uuid"], 16)


def test_facts_answer_every_question(steps: dict[str, Any]) -> None:
    facts = steps["facts"]
    assert (facts["extension"], facts["feature"], facts["format"]) == (True, True, True)
    assert facts["property"] is None or facts["property"] >= 128, "the least that Vulkan allows"
    assert facts["unknown_property"] is None


def test_every_stage_has_an_executable(steps: dict[str, Any]) -> None:
    (compute,) = steps["compute"]
    assert compute["stages"] == 0x20
    assert [each["stages"] for each in steps["graphics"]] == [0x1, 0x10]
    assert all(each["name"] for each in (compute, *steps["graphics"]))


def test_a_backend_leaves_marking_to_its_caller(steps: dict[str, Any]) -> None:
    assert {(each["synthetic"], each["bound"]) for each in steps["graphics"]} == {(False, "exact")}


def test_statistics_have_names_formats_and_bits(steps: dict[str, Any]) -> None:
    for executable in (*steps["compute"], *steps["graphics"]):
        assert executable["statistics"]
        for each in executable["statistics"]:
            assert each["name"]
            assert 0 <= each["format"] < len(STATISTIC_FORMATS)
            limit = 2**32 if STATISTIC_FORMATS[each["format"]] == "bool32" else 2**64
            assert 0 <= each["bits"] < limit


def test_representations_have_names_and_texts_no_closing_nul(steps: dict[str, Any]) -> None:
    for executable in (*steps["compute"], *steps["graphics"]):
        assert executable["representations"]
        for each in executable["representations"]:
            assert each["name"] and each["data"]
            if each["is_text"]:
                text = bytes.fromhex(each["data"])
                assert b"\0" not in text
                text.decode()


def test_asking_twice_is_answered_alike(steps: dict[str, Any]) -> None:
    assert steps["compute"] == steps["compute_again"]
    assert steps["graphics"] == steps["graphics_again"]


def test_compiling_again_is_answered_alike(steps: dict[str, Any]) -> None:
    assert steps["compute"] == steps["captured_True_True"] == steps["after_exception"]


def test_only_what_was_captured_is_told(steps: dict[str, Any]) -> None:
    for statistics in (False, True):
        for representations in (False, True):
            (executable,) = steps[f"captured_{statistics}_{representations}"]
            assert bool(executable["statistics"]) is statistics
            assert bool(executable["representations"]) is representations


def test_pipelines_live_side_by_side(steps: dict[str, Any]) -> None:
    def names(executables: list[dict[str, Any]]) -> list[str]:
        return [each["name"] for each in executables]

    assert names(steps["inner"]) == names(steps["graphics"])
    assert names(steps["outer"]) == names(steps["compute"])
    assert all(each["statistics"] for each in steps["outer"])


def test_an_exception_inside_passes_through(steps: dict[str, Any]) -> None:
    assert "of the caller" in steps["exception"]


def test_durations_and_the_time_inside_the_driver(steps: dict[str, Any]) -> None:
    for name in ("compute", "graphics"):
        durations = steps[f"{name}_durations"]
        assert durations["wall"] > 0
        assert durations["pipeline"] is None or 0 < durations["pipeline"] <= durations["wall"]
        assert set(durations["stages"]) <= {"compute", "vertex", "fragment"}
        created, asked = steps[f"{name}_driver_ns"]
        assert 0 < created <= asked


def test_nothing_odd_is_said_of_a_good_answer(steps: dict[str, Any]) -> None:
    assert steps["compute_diagnostics"] == steps["graphics_diagnostics"] == []


@pytest.mark.parametrize(
    ("backend", "device", "scenario"),
    [
        ("mock", 0, '{"missing": "no such GPU here"}'),
        pytest.param("vulkan", 99, "null", marks=pytest.mark.driver),
    ],
)
def test_no_such_device_is_one_clear_line(backend: str, device: int, scenario: str, clean_environment: Path) -> None:
    refused = run(backend, device, scenario)["refused"]
    assert refused and "\n" not in refused


@pytest.mark.parametrize("name", ["metal", "../evil", "", "mock.scenario"])
def test_no_such_backend(name: str) -> None:
    with pytest.raises(NoTarget, match="no backend is called"):
        open_backend(Launch("x", name, "host"), NoTools())
