"""What shall be compiled: paths and a manifest, and who has the last word on state."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shaderstat.errors import ShaderstatError
from shaderstat.model import Request, Setup
from shaderstat.plan import Outline, Plan, Planned
from shaderstat.variants import parse
from tests.inputs.modules import COMPUTE_MODULE, FRAGMENT, FRAGMENT_MODULE, VERTEX, VERTEX_MODULE, entry, module, write


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, water_vert=VERTEX_MODULE, water_frag=FRAGMENT_MODULE, blur_comp=COMPUTE_MODULE)
    return tmp_path


def plan(text: str | None = None, **request: Any) -> Plan:
    if text is not None:
        Path("shaderstat.yaml").write_text(text)
    return Outline(Request(request.pop("paths", ()), **request)).plan()


def one(text: str | None = None, **request: Any) -> Planned:
    (found,) = plan(text, **request).items
    return found


def names(found: Plan) -> list[str]:
    return [item.candidate.name for item in found.items]


def test_without_a_word_nothing_is_said() -> None:
    found = one(paths=("blur.comp.spv",))
    assert (found.layers, found.setup, found.source, found.given, found.entry) == ((), Setup(), "inferred", {}, None)


def test_options_are_said_of_the_kinds_that_have_them() -> None:
    found = plan(paths=(".",), samples=4, optimize=False, profile="webgpu")
    blur, water = found.items
    assert blur.layers == ({"options": {"optimize": False}},)
    assert water.layers == ({"options": {"samples": 4, "optimize": False}},)
    assert water.given == {"profile": "webgpu", "samples": 4, "optimize": False}
    assert blur.setup == Setup("webgpu")
    assert found.notes == ()


def test_an_option_that_nothing_takes_is_told() -> None:
    (note,) = plan(paths=("blur.comp.spv",), topology="point-list").notes
    assert (note.severity, note.code) == ("error", "state/unmatched")
    assert "--topology" in note.message


@pytest.mark.parametrize(
    ("request_", "says", "hint"),
    [
        ({"samples": 5}, "--samples 5: there are no so many samples", "32 or 64"),
        ({"profile": "dvxk"}, "--profile dvxk: no profile is called so", "dxvk"),
        ({"topology": "POINTS"}, "--topology POINTS: no topology is called so", None),
        ({"depth_format": "R8_UNORM"}, "--depth-format R8_UNORM: is no depth format", "D32_SFLOAT"),
    ],
)
def test_a_value_that_can_not_be(request_: dict[str, Any], says: str, hint: str | None) -> None:
    with pytest.raises(ShaderstatError) as caught:
        Outline(Request(("blur.comp.spv",), **request_))
    assert caught.value.message == says
    assert hint is None or hint in (caught.value.hint or "")


def test_the_nearest_manifest_is_taken_without_paths() -> None:
    found = plan("pipelines: {first: {modules: blur.comp.spv}, second: {modules: [water.vert.spv, water.frag.spv]}}\n")
    assert names(found) == ["first", "second"]
    assert [len(item.candidate.modules) for item in found.items] == [1, 2]
    assert found.config == "shaderstat.yaml"
    assert {item.source for item in found.items} == {"inferred"}


def test_no_paths_and_no_manifest() -> None:
    with pytest.raises(ShaderstatError, match=r"no input, and no shaderstat\.yaml"):
        plan()
    with pytest.raises(ShaderstatError, match=r"shaderstat\.yaml: no pipelines"):
        plan("defaults: {samples: 4}\n")


def test_files_are_paired_and_those_of_named_pipelines_left_out() -> None:
    text = """
files: "*.spv"
pipelines:
  wave: {modules: [water.vert.spv, water.frag.spv]}
"""
    assert names(plan(text)) == ["blur", "wave"]


def test_pipelines_over_defaults_and_the_command_line_over_both() -> None:
    text = """
defaults: {samples: 2, profile: dxvk, optimize: false}
pipelines:
  a: {modules: water.vert.spv, samples: 4, profile: webgpu}
"""
    found = one(text)
    assert found.layers == ({"options": {"samples": 2, "optimize": False}}, {"options": {"samples": 4}})
    assert (found.setup, found.source) == (Setup("webgpu"), "manifest")
    assert found.given == {"profile": "webgpu", "samples": 4, "optimize": False}
    typed = one(samples=8, profile="vulkan")
    assert typed.layers[-1] == {"options": {"samples": 8}}
    assert typed.setup == Setup()


def test_defaults_hold_for_paths_when_the_manifest_is_named() -> None:
    Path("state.yaml").write_text("defaults: {samples: 2}\npipelines: {a: {modules: blur.comp.spv}}\n")
    found = one(paths=("water.vert.spv",), config="state.yaml")
    assert found.layers == ({"options": {"samples": 2}},)
    assert one("defaults: {samples: 2}\n", paths=("water.vert.spv",)).layers == ()


def test_state_of_another_kind_is_told() -> None:
    found = one("pipelines: {a: {modules: blur.comp.spv, graphics: {flags: 1}}}\n")
    assert found.layers == ()
    (remark,) = found.candidate.diagnostics
    assert remark.code == "state/other-kind"


def test_robustness_of_a_pipeline_needs_its_feature() -> None:
    text = "pipelines: {a: {modules: blur.comp.spv, compute: {pNext: {VkPipelineRobustnessCreateInfo: {}}}}}\n"
    assert one(text).setup.features == (("VkPhysicalDevicePipelineRobustnessFeatures", "pipelineRobustness", True),)


def test_entry_points_of_a_module() -> None:
    library = module(entry(VERTEX, "a_vs"), entry(FRAGMENT, "a_ps"), entry(VERTEX, "b_vs"), entry(FRAGMENT, "b_ps"))
    Path("library.spv").write_bytes(library)
    text = """
pipelines:
  a: {modules: [{path: library.spv, entry: a_vs}, {path: library.spv, entry: a_ps, flags: 1}]}
  b: {modules: [{path: library.spv, stage: vert, entry: b_vs}]}
  all: {modules: library.spv}
  none: {modules: {path: library.spv, entry: c_vs}}
"""
    a, b, everything, none = plan(text).items
    assert [each.entry_point for each in a.candidate.modules] == ["a_vs", "a_ps"]
    assert a.layers == ({"stages": [{"stage": "fragment", "entry_point": "a_ps", "flags": 1}]},)
    assert [each.entry_point for each in b.candidate.modules] == ["b_vs"]
    assert everything.candidate.verdict == "invalid"
    assert "2 vertex stages" in everything.candidate.diagnostics[0].message
    assert none.candidate.verdict == "invalid"
    assert none.candidate.diagnostics[0].code == "spirv/no-entry-point"


def test_pairing_by_an_engines_own_suffixes() -> None:
    Path("sky_vs.spv").write_bytes(VERTEX_MODULE)
    Path("sky_ps.spv").write_bytes(FRAGMENT_MODULE)
    pair = (entry(VERTEX, "a_vs", outputs=[0]), entry(FRAGMENT, "a_ps", inputs=[0]))
    other = (entry(VERTEX, "b_vs", outputs=[0]), entry(FRAGMENT, "b_ps", inputs=[0]))
    Path("library.spv").write_bytes(module(*pair, *other))
    found = plan("files: ['sky*.spv', library.spv]\npairing: {suffixes: [_vs, _ps]}\n")
    assert [(item.candidate.name, len(item.candidate.modules)) for item in found.items] == [
        ("sky", 2),
        ("library:a", 2),
        ("library:b", 2),
    ]


def test_sets_of_specialization_and_the_command_lines_own() -> None:
    text = "pipelines: {a: {modules: blur.comp.spv, spec: [{A: [1, 2]}, {B: 3}]}}\n"
    found = plan(text)
    (item,) = found.items
    assert [each.values for each in item.variants] == [{"A": "1"}, {"A": "2"}, {"B": "3"}]
    assert dict(found.constants) == {
        (None, "A"): "shaderstat.yaml: a: spec",
        (None, "B"): "shaderstat.yaml: a: spec",
    }
    (item,) = plan(spec=(parse("A=7"),)).items
    assert [each.values for each in item.variants] == [{"A": "7"}, {"B": "3", "A": "7"}]


def test_names_stay_unique() -> None:
    text = "files: [blur.comp.spv]\npipelines: {blur: {files: 'blur*'}}\n"
    assert names(plan(text)) == ["blur", "blur#2"]


def test_entry_is_for_paths() -> None:
    with pytest.raises(ShaderstatError, match="--entry is for paths"):
        plan("files: '*.spv'\n", entries=("main",))


def test_an_outline_knows_the_first_device() -> None:
    Path("shaderstat.yaml").write_text("pipelines: {a: {modules: blur.comp.spv, profile: dxvk}}\n")
    request = Request(())
    assert Outline(request).setup == Setup("dxvk")
    assert Outline(replace(request, profile="vkd3d")).setup == Setup("vkd3d")


def test_no_module_of_a_manifest_is_written_over(folder: Path) -> None:
    text = "pipelines:\n  water: {modules: [water.vert.spv, water.frag.spv]}\n"
    assert names(plan(text, outputs=("report.json",))) == ["water"]
    with pytest.raises(ShaderstatError, match=r"water\.frag\.spv: is an input of this run"):
        plan(text, outputs=("water.frag.spv",))
