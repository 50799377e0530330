"""``shaderstat.yaml``: from YAML to what is said of state, and what is wrong with a file, by line."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from shaderstat.config import manifest as module
from shaderstat.config.manifest import read_manifest
from shaderstat.config.said import Manifest, Piece, find
from shaderstat.errors import ShaderstatError
from shaderstat.model import Setup, SpecOption
from tests.conftest import ROOT

SCHEMA = json.loads((ROOT / "shaderstat" / "schemas" / "config-1.json").read_bytes())

WATER = """
pipelines:
  water:
    modules: water.spv
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with a few modules in it."""
    monkeypatch.chdir(tmp_path)
    for name in ("water.spv", "water.vert.spv", "library.spv"):
        (tmp_path / name).write_bytes(b"")
    return tmp_path


def read(text: str) -> Manifest:
    Path("shaderstat.yaml").write_text(textwrap.dedent(text), encoding="utf-8")
    return read_manifest("shaderstat.yaml")


def refused(text: str) -> tuple[str, str | None]:
    with pytest.raises(ShaderstatError) as caught:
        read(text)
    return caught.value.message, caught.value.hint


def said(text: str) -> dict[str, Any]:
    """What is said of ``water``, as a layer."""
    (entry,) = read(WATER + textwrap.indent(textwrap.dedent(text), "    ")).entries
    return dict(entry.said.layer)


def strings(value: Any) -> Any:
    """YAML's mappings may have numbers for keys; JSON's don't."""
    if isinstance(value, dict):
        return {str(key): strings(each) for key, each in value.items()}
    return [strings(each) for each in value] if isinstance(value, list) else value


def documented() -> str:
    match = re.search(r"::\n\n(.*)\Z", module.__doc__ or "", re.DOTALL)
    assert match is not None
    return textwrap.dedent(match[1])


# ── What may be said ──────────────────────────────────────────────────────────────────────────────────────────────


def test_the_documented_example() -> None:
    found = read(documented())
    assert found.suffixes == ("_vs", "_ps", ".vs")
    assert (found.defaults.profile, found.defaults.layer) == ("dxvk", {"options": {"samples": 4}})
    files, water, post = found.entries
    assert (files.name, files.files) == ("", ("shaders/**/*.spv",))
    assert water.pieces == (
        Piece("water.vert.spv"),
        Piece(
            "library.spv",
            "fragment",
            "water_ps",
            {
                "pNext": {"VkPipelineShaderStageRequiredSubgroupSizeCreateInfo": {"requiredSubgroupSize": 32}},
            },
        ),
    )
    assert water.said.spec == ((SpecOption(None, "LIGHTS", ("1", "2", "4")), SpecOption("fragment", "0", ("true",))),)
    assert water.said.layer["options"] == {
        "samples": 4,
        "dynamic_buffers": "uniform",
        "immutable_samplers": {"magFilter": "VK_FILTER_LINEAR"},
    }
    assert water.said.layer["layout"]["pSetLayouts"]["0"]["pBindings"] == [
        {"binding": 1, "descriptorType": "VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC"}
    ]
    assert water.said.setup(Setup()) == Setup(
        features=(("VkPhysicalDeviceFeatures", "robustBufferAccess", True),),
        application=(("pEngineName", "Quake"), ("apiVersion", 1 << 22 | 2 << 12)),
    )
    assert (post.pieces, post.files) == ((), ("post/**/*.spv",))


def test_the_documented_example_follows_the_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator(SCHEMA).validate(strings(yaml.safe_load(documented())))


def test_the_schema_is_what_the_reader_reads() -> None:
    script = ROOT / "tools" / "generate_config_schema.py"
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_an_empty_file_says_nothing() -> None:
    assert read("") == Manifest("shaderstat.yaml")


def test_truth_values_and_numbers_are_vulkans() -> None:
    layer = said(
        """
        graphics:
          pDepthStencilState: {depthTestEnable: true, depthWriteEnable: 0, minDepthBounds: 1}
          pColorBlendState: {blendConstants: [0, 0.5, 1, 1e3]}
          pRasterizationState: null
        """
    )
    assert layer["graphics"] == {
        "pDepthStencilState": {"depthTestEnable": 1, "depthWriteEnable": 0, "minDepthBounds": 1.0},
        "pColorBlendState": {"blendConstants": [0.0, 0.5, 1.0, 1000.0]},
        "pRasterizationState": None,
    }


def test_flags_are_names_a_list_or_a_number() -> None:
    both = "VK_CULL_MODE_FRONT_BIT|VK_CULL_MODE_BACK_BIT"
    for text in (both, "VK_CULL_MODE_FRONT_BIT | VK_CULL_MODE_BACK_BIT", f"[{both.replace('|', ', ')}]"):
        layer = said(f"graphics: {{pRasterizationState: {{cullMode: {text}}}}}\n")
        assert layer["graphics"]["pRasterizationState"]["cullMode"] == both
    assert said("graphics: {pRasterizationState: {cullMode: 3}}")["graphics"] == {
        "pRasterizationState": {"cullMode": 3}
    }


def test_constants_stand_for_numbers() -> None:
    """VK_SHADER_UNUSED_KHR is (~0U)."""
    groups = said("ray_tracing: {pGroups: [{closestHitShader: VK_SHADER_UNUSED_KHR}]}\n")["ray_tracing"]["pGroups"]
    assert groups == [{"closestHitShader": 0xFFFFFFFF}]


def test_specialization_sets() -> None:
    (entry,) = read(WATER + "    spec: [{0: [1, 0x10], KIND: true}, {0: 1.5e3}]\n").entries
    assert entry.said.spec == (
        (SpecOption(None, "0", ("1", "0x10")), SpecOption(None, "KIND", ("true",))),
        (SpecOption(None, "0", ("1.5e3",)),),
    )


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.spv").write_bytes(b"")
    (tmp_path / "sub" / "shaderstat.yaml").write_text("files: x/*.spv\npipelines: {a: {modules: a.spv}}\n")
    files, one = read_manifest("sub/shaderstat.yaml").entries
    assert files.files == ("sub/x/*.spv",)
    assert one.pieces == (Piece("sub/a.spv"),)


def test_the_nearest_file_is_found_upwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "b")
    assert find() is None or not (tmp_path / "shaderstat.yaml").exists()
    (tmp_path / "shaderstat.yaml").write_text("")
    assert find() == "../../shaderstat.yaml"
    (tmp_path / "a" / "shaderstat.yaml").write_text("")
    assert find() == "../shaderstat.yaml"


# ── What is wrong ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "line", "says", "hint"),
    [
        ("pipelins: {}\n", 1, "'pipelins'", "pipelines"),
        ("pipelines:\n  a:\n    modules: watr.spv\n", 3, "watr.spv: no such file", "water.spv"),
        ("pipelines:\n  a: {samples: 4}\n", 2, "modules or files", None),
        ("defaults: {profile: dvxk}\n", 1, "dvxk: no profile is called so", "dxvk"),
        ("defaults: {samples: 3}\n", 1, "3: there are no so many samples", "32 or 64"),
        ("defaults: {subgroup_size: 48}\n", 1, "48: no subgroup has that size", "64 or 128"),
        ("defaults: {topology: TRIANGEL_LIST}\n", 1, "TRIANGEL_LIST: no topology", "TRIANGLE_LIST"),
        ("defaults: {color_format: R8G8B8A8_UNROM}\n", 1, "no format is called so", "R8G8B8A8_UNORM"),
        ("defaults: {color_format: D32_SFLOAT}\n", 1, "is no colour format", "--depth-format"),
        ("defaults:\n  graphics:\n    pRasterizationState:\n      culMode: 1\n", 4, "'culMode'", "cullMode"),
        (
            "defaults: {graphics: {pRasterizationState: {cullMode: VK_CULL_MODE_BACK}}}\n",
            1,
            "VkCullModeFlags has no VK_CULL_MODE_BACK",
            "VK_CULL_MODE_BACK_BIT",
        ),
        (
            "defaults: {graphics: {pInputAssemblyState: {topology: PATCH_LIST}}}\n",
            1,
            "VkPrimitiveTopology has no PATCH_LIST",
            "VK_PRIMITIVE_TOPOLOGY_PATCH_LIST",
        ),
        ("defaults: {graphics: {pStages: []}}\n", 1, "'pStages'", None),
        (
            "defaults: {graphics: {pNext: {VkPipelineRenderngCreateInfo: {}}}}\n",
            1,
            "does not extend",
            "RenderingCreateInfo",
        ),
        (
            "defaults: {graphics: {pNext: {VkDeviceCreateInfo: {}}}}\n",
            1,
            "VkDeviceCreateInfo does not extend VkGraphicsPipelineCreateInfo",
            None,
        ),
        (
            "defaults: {layout: {pSetLayouts: {0: {pBindings: [{descriptorCount: 1}]}}}}\n",
            1,
            "binding is missing",
            None,
        ),
        ("defaults: {immutable_samplers: nearest}\nsamplers: {nearst: {}}\n", 1, "'nearest'", "nearst"),
        (
            "defaults: {features: {VkPhysicalDeviceFeature: {}}}\n",
            1,
            "no struct of features",
            "VkPhysicalDeviceFeatures",
        ),
        (
            "defaults: {features: {VkPhysicalDeviceFeatures: {robustBuffers: true}}}\n",
            1,
            "'robustBuffers'",
            "robustBuf",
        ),
        ("defaults: {application: {apiVersion: one}}\n", 1, "a version is wanted", "1.2"),
        ("pairing: {suffixes: [a/b]}\n", 1, "the ending of a name", "_vs"),
        ("version: 2\n", 1, "2 is out of range", None),
    ],
)
def test_a_mistake_is_told_with_its_line_and_the_nearest_name(
    text: str, line: int, says: str, hint: str | None
) -> None:
    message, found = refused(text)
    assert message.startswith(f"shaderstat.yaml:{line}: ")
    assert says in message
    assert hint is None or hint in (found or "")
