"""State that is said, on a real compiler: what changes code does, and what can't be had is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run
from tests.driver.conftest import Stats


def hashes(report: dict[str, Any]) -> list[str]:
    """RADV's checksum of the code of each executable."""
    return [
        statistic["text"]
        for result in report["results"]
        for executable in result["executables"]
        for statistic in executable["statistics"]
        if statistic["name"] == "Hash"
    ]


def test_a_compute_shader_can_have_the_other_wave(stats: Stats, samples: Path) -> None:
    usual, small = (stats(samples / "blur.comp.spv", *more) for more in ((), ("--subgroup-size", "32")))
    sizes = [report["results"][0]["executables"][0]["subgroup_size"] for report in (usual, small)]
    assert sizes == [64, 32]
    assert small["pipelines"][0]["state"]["given"] == {"subgroup_size": 32}
    assert usual["pipelines"][0]["content"] != small["pipelines"][0]["content"]


def test_a_vertex_shader_can_not_on_this_driver(stats: Stats, samples: Path) -> None:
    report = stats(samples / "water.vert.spv", samples / "water.frag.spv", "--subgroup-size", "32", status=2)
    (result,) = report["results"]
    assert result["status"] == "unsupported"
    assert "requiredSubgroupSizeStages" in result["diagnostics"][-1]["message"]


@pytest.mark.parametrize(
    "options",
    [
        ("--no-optimize",),
        ("--profile", "webgpu"),  # robustBufferAccess changes vertex shaders that fetch attributes
        ("--topology", "point_list"),
        ("--color-format", "R32G32B32A32_SFLOAT"),
    ],
    ids=lambda options: options[0],
)
def test_what_changes_code(stats: Stats, samples: Path, options: tuple[str, ...]) -> None:
    pair = samples / "water.vert.spv", samples / "water.frag.spv"
    assert hashes(stats(*pair)) != hashes(stats(*pair, *options))


@pytest.mark.parametrize(
    "options", [("--samples", "4"), ("--depth-format", "D32_SFLOAT"), ("--color-format", "R16G16B16A16_SFLOAT")]
)
def test_what_changes_no_code(stats: Stats, samples: Path, options: tuple[str, ...]) -> None:
    pair = samples / "water.vert.spv", samples / "water.frag.spv"
    assert hashes(stats(*pair)) == hashes(stats(*pair, *options))


def test_a_manifest_opens_a_device_for_each_setup(stats: Stats, samples: Path, tmp_path: Path) -> None:
    (tmp_path / "shaderstat.yaml").write_text(
        f"""
pipelines:
  plain: {{modules: ["{samples}/water.vert.spv", "{samples}/water.frag.spv"]}}
  webgpu: {{modules: ["{samples}/water.vert.spv", "{samples}/water.frag.spv"], profile: webgpu}}
  dynamic:
    modules: ["{samples}/water.vert.spv", "{samples}/water.frag.spv"]
    dynamic_buffers: all
    immutable_samplers: {{magFilter: VK_FILTER_LINEAR}}
    layout: {{pSetLayouts: {{1: {{flags: VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR}}}}}}
"""
    )
    report = stats(cwd=tmp_path)
    plain, webgpu, dynamic = (hashes({"results": [result]}) for result in report["results"])
    assert len(report["targets"]) == 1
    assert plain != webgpu and plain != dynamic
    alone = stats(samples / "water.vert.spv", samples / "water.frag.spv", "--profile", "webgpu")
    assert hashes(alone) == webgpu
    assert [one["state"]["source"] for one in report["pipelines"]] == ["inferred", "manifest", "manifest"]


def test_a_device_that_can_not_be_had_is_a_result(stats: Stats, samples: Path, tmp_path: Path) -> None:
    """RADV of this age lacks VK_EXT_pipeline_robustness."""
    (tmp_path / "shaderstat.yaml").write_text(
        f"""
pipelines:
  plain: {{modules: "{samples}/blur.comp.spv"}}
  other:
    modules: "{samples}/blur.comp.spv"
    features: {{VkPhysicalDeviceShaderInstrumentationFeaturesARM: {{shaderInstrumentation: true}}}}
"""
    )
    plain, other = stats(cwd=tmp_path, status=2)["results"]
    assert (plain["status"], other["status"]) == ("ok", "unsupported")
    assert "shaderInstrumentation" in other["diagnostics"][0]["message"]


def test_reflected_state_gives_the_same_numbers(shaderstat: Run, stats: Stats, samples: Path, tmp_path: Path) -> None:
    done = shaderstat("reflect", samples, "-t", "radv:navi21", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (tmp_path / "shaderstat.yaml").write_text(done.stdout)
    back, there = stats(cwd=tmp_path), stats(samples)
    assert [one["executables"] for one in back["results"]] == [one["executables"] for one in there["results"]]
