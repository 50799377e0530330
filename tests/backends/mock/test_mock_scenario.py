"""What a scenario makes the mock do. What ends the process is tried in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from shaderstat.backends.base import DriverError
from shaderstat.backends.mock import scenario
from shaderstat.errors import NoTarget
from shaderstat.model import ExecutableAnswer
from tests.assembly import assemble, compute
from tests.backends.mock.measure import answer, backend, spec

ROOT = Path(__file__).parents[3]
MODULE = assemble(compute("%1 = OpLabel\nOpReturn"))

EXECUTABLE = {
    "name": "Vertex Shader",
    "description": "merged",
    "stages": 9,
    "subgroup_size": 48,
    "statistics": [{"name": "VGPRs", "description": "", "format": 2, "bits": 2**64 - 1}] * 2,
    "representations": [
        {"name": "Assembly", "description": "", "is_text": True, "hex": b"s_endpgm\n\0rest".hex(), "repeat": 1},
        {"name": "ELF", "description": "", "is_text": False, "hex": "7f00", "repeat": 1000},
    ],
}


def rule(**members: Any) -> dict[str, Any]:
    return {"rules": [members]}


def test_no_scenario_is_no_change() -> None:
    assert scenario.read(None) == scenario.read({}) == scenario.Scenario()


def test_given_executables_are_answered_as_they_are() -> None:
    (executable,) = answer(spec(MODULE), rule(executables=[EXECUTABLE]))
    assert isinstance(executable, ExecutableAnswer)
    assert (executable.name, executable.stages, executable.subgroup_size) == ("Vertex Shader", 9, 48)
    assert [each.bits for each in executable.statistics] == [2**64 - 1] * 2
    text, binary = executable.representations
    assert text.data == b"s_endpgm\n", "a text ends at its first NUL"
    assert binary.data == b"\x7f\0" * 1000
    assert answer(spec(MODULE), rule(executables=[])) == ()


def test_the_first_rule_that_matches_counts() -> None:
    rules = {
        "rules": [
            {"path": "*/b*.spv", "executables": []},
            {"path": "b.spv", "stage": "fragment", "executables": []},
            {"path": "b.spv", "stage": "compute", "executables": [EXECUTABLE]},
            {"path": "*", "executables": [EXECUTABLE, EXECUTABLE]},
        ]
    }
    assert len(answer(spec(MODULE, path="x/b.spv"), rules)) == 0
    assert len(answer(spec(MODULE, path="b.spv"), rules)) == 1
    assert len(answer(spec(MODULE, path="a.spv"), rules)) == 2


@pytest.mark.parametrize(("moment", "call"), [("create", "vkCreateComputePipelines"), ("query", "vkGetPipeline")])
def test_an_error_result(moment: str, call: str) -> None:
    with pytest.raises(DriverError) as caught:
        answer(spec(MODULE), rule(**{moment: {"result": "VK_ERROR_OUT_OF_HOST_MEMORY"}}))
    assert caught.value.vk_result == "VK_ERROR_OUT_OF_HOST_MEMORY"
    assert caught.value.call.startswith(call)


def test_one_failing_query_leaves_the_others_alone() -> None:
    mock = backend(rule(failing={"representations": "VK_ERROR_UNKNOWN"}))
    with mock.compile(spec(MODULE), statistics=True, representations=True) as compiled:
        (executable,) = compiled.query()
        codes = [code for code, _ in compiled.diagnostics()]
    assert executable.statistics and not executable.representations
    assert "vulkan/representations" in codes


def test_lists_may_end_early() -> None:
    whole = answer(spec(MODULE), rule(executables=[EXECUTABLE] * 3))
    short = answer(spec(MODULE), rule(executables=[EXECUTABLE] * 3, lost=1))
    assert len(short) == len(whole) - 1
    assert short[0].statistics == whole[0].statistics[:-1]
    assert short[0].representations == whole[0].representations[:-1]
    assert answer(spec(MODULE), rule(executables=[EXECUTABLE], lost=5)) == ()


@pytest.mark.parametrize(
    ("lost", "codes"),
    [(1, {"vulkan/lost"}), (2, {"vulkan/nothing-told"})],
)
def test_what_is_lost_is_said(lost: int, codes: set[str]) -> None:
    with backend(rule(executables=[EXECUTABLE] * 2, lost=lost)).compile(
        spec(MODULE), statistics=True, representations=True
    ) as compiled:
        assert {code for code, _ in compiled.diagnostics()} == codes


def test_incomplete_is_a_remark() -> None:
    with backend(rule(incomplete=True)).compile(spec(MODULE), statistics=True, representations=False) as compiled:
        assert compiled.query()[0].statistics
        assert [code for code, _ in compiled.diagnostics()] == ["vulkan/incomplete"]


def test_no_statistics() -> None:
    (executable,) = answer(spec(MODULE), rule(without=["statistics"]))
    assert not executable.statistics and executable.representations


def test_a_device_that_lacks_things() -> None:
    facts = backend(
        {
            "device": {"name": "Small", "api_version": "1.1.0"},
            "driver": {"name": "tiny", "id": 77},
            "lacks": {"extensions": ["VK_EXT_*"], "features": ["*.shaderFloat64"], "formats": ["VK_FORMAT_R64*"]},
            "limits": {"maxPushConstantsSize": 128},
        }
    ).facts
    assert (facts.device.name, facts.driver.name, facts.driver.id) == ("Small", "tiny", 77)
    assert facts.api_version == (1, 1, 0)
    assert not facts.has_extension("VK_EXT_mesh_shader") and facts.has_extension("VK_KHR_spirv_1_4")
    assert not facts.has_feature("VkPhysicalDeviceFeatures", "shaderFloat64")
    assert not facts.supports_format("VK_FORMAT_R64_SFLOAT", "")
    assert facts.property("VkPhysicalDeviceLimits", "maxPushConstantsSize") == 128


def test_no_device() -> None:
    with pytest.raises(NoTarget, match="no such GPU here"):
        backend({"missing": "no such GPU here"})
    with pytest.raises(NoTarget, match="VK_ERROR_INITIALIZATION_FAILED"):
        backend({"open": {"result": "VK_ERROR_INITIALIZATION_FAILED"}})


@pytest.mark.parametrize(
    "plain",
    [
        {"unknown": 1},
        {"rules": [{"create": {"explode": True}}]},
        {"rules": [{"executables": [{"name": "x"}]}]},
        {"device": {"colour": "red"}},
        {"device": {"api_version": "new"}},
        {"rules": 5},
    ],
)
def test_a_scenario_of_another_shape_is_one_clear_line(plain: Mapping[str, Any]) -> None:
    with pytest.raises(NoTarget, match="scenario is not as it should be"):
        backend(plain)


def test_a_representation_is_bounded() -> None:
    huge = {**EXECUTABLE, "representations": [{**EXECUTABLE["representations"][0], "repeat": 2**30}]}  # type: ignore[index]
    with pytest.raises(NoTarget, match="at most"):
        backend(rule(executables=[huge]))


# ── What ends the process, or writes past Python ──────────────────────────────────────────────────────────────────

PROGRAM = """
import json, sys
from tests.backends.mock.measure import backend, spec
plain, words = json.loads(sys.argv[1]), bytes.fromhex(sys.argv[2])
with backend(plain).compile(spec(words), statistics=True, representations=False) as compiled:
    print("created", flush=True)
    compiled.query()
    print("queried", flush=True)
print("destroyed", flush=True)
"""


def run(plain: Mapping[str, Any], timeout: float = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(plain), MODULE.hex()],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=timeout,
    )


@pytest.mark.parametrize(
    ("moment", "before"), [("create", ""), ("query", "created\n"), ("destroy", "created\nqueried\n")]
)
@pytest.mark.parametrize(
    ("event", "status"),
    [({"crash": "SIGSEGV"}, -11), ({"crash": "SIGABRT"}, -6), ({"crash": "SIGKILL"}, -9), ({"exit": 0}, 0)],
)
def test_a_death(moment: str, before: str, event: Mapping[str, Any], status: int) -> None:
    done = run(rule(**{moment: event}))
    assert (done.returncode, done.stdout) == (status, before)


def test_a_death_while_opening() -> None:
    assert run({"open": {"crash": "SIGSEGV", "stderr": "bye\n"}}).returncode == -11


def test_a_hang() -> None:
    with pytest.raises(subprocess.TimeoutExpired) as caught:
        run(rule(query={"hang": True, "stderr": "waiting\n"}), timeout=2)
    assert caught.value.stderr == b"waiting\n"


def test_noise_and_a_wait() -> None:
    done = run(rule(create={"stdout": "hello from C\n", "stderr": "a warning\n", "sleep_s": 0.01}))
    assert done.returncode == 0
    assert done.stdout == "hello from C\ncreated\nqueried\ndestroyed\n"
    assert done.stderr == "a warning\n"
