"""The plain form of what modules ask for: values that a person reads off the module's text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shaderstat import reflection
from shaderstat.errors import ShaderstatError
from shaderstat.pipeline.spec_values import Choice
from tests.spirv.asm import assemble, module


def plain(tmp_path: Path, data: bytes, *, entries: tuple[str, ...] = (), spec: tuple[Choice, ...] = ()) -> Any:
    """One module's part of the whole, through JSON as a strict reader takes it."""
    path = tmp_path / "x.spv"
    path.write_bytes(data)
    whole = reflection.to_plain(reflection.read([path], entries=entries, spec=spec))

    def refuse(word: str) -> None:
        raise AssertionError(word)

    assert whole["schema"] == {"name": "shaderstat-reflection", "version": 1}
    return json.loads(json.dumps(whole), parse_constant=refuse)["modules"][str(path)]


def entry(tmp_path: Path, data: bytes, *spec: Choice) -> Any:
    (found,) = plain(tmp_path, data, spec=spec)["entries"]
    return found


RESOURCES = """
    %v4 = OpTypeVector %float 4
    %count = OpSpecConstant %uint 3
    %block = OpTypeStruct %v4 %float
    %blocks = OpTypeArray %block %count
    %image = OpTypeImage %float 2D 0 0 0 1 Unknown
    %images = OpTypeRuntimeArray %image
    %p_blocks = OpTypePointer Uniform %blocks
    %p_images = OpTypePointer UniformConstant %images
    %p_block = OpTypePointer PushConstant %block
    %a = OpVariable %p_blocks Uniform
    %b = OpVariable %p_images UniformConstant
    %c = OpVariable %p_block PushConstant
"""
DECORATED = """
    OpName %a "lights"
    OpDecorate %count SpecId 7
    OpName %count "COUNT"
    OpDecorate %block Block
    OpMemberDecorate %block 0 Offset 16
    OpMemberDecorate %block 1 Offset 32
    OpDecorate %a DescriptorSet 2
    OpDecorate %a Binding 1
    OpDecorate %b DescriptorSet 0
    OpDecorate %b Binding 4
"""
USES = "%l1 = OpLoad %blocks %a\n%l2 = OpLoad %images %b\n%l3 = OpLoad %block %c"


def test_bindings_constants_and_push_constants(tmp_path: Path) -> None:
    data = module(RESOURCES, annotations=DECORATED, body=USES)
    found = entry(tmp_path, data)
    assert found["bindings"] == [
        {"set": 0, "binding": 4, "type": "SAMPLED_IMAGE", "count": "runtime", "name": ""},
        {"set": 2, "binding": 1, "type": "UNIFORM_BUFFER", "count": 3, "name": "lights"},
    ]
    assert found["set_layout_count"] == 3
    assert found["push_constants"] == {"offset": 16, "size": 20}
    assert found["spec_constants"] == [{"id": 7, "name": "COUNT", "type": "uint32", "default": 3}]
    assert (found["stage"], found["name"], found["local_size"]) == ("compute", "main", [1, 1, 1])


@pytest.mark.parametrize("choice", [(None, "7", "5"), (None, "COUNT", "0x5"), ("compute", "7", "5")])
def test_sizes_follow_a_constant(tmp_path: Path, choice: Choice) -> None:
    found = entry(tmp_path, module(RESOURCES, annotations=DECORATED, body=USES), choice)
    assert [each["count"] for each in found["bindings"]] == ["runtime", 5]
    assert found["spec_constants"][0]["default"] == 3  # what the module says


def test_a_constant_that_is_nowhere_is_an_error(tmp_path: Path) -> None:
    for choice in ((None, "8", "1"), ("fragment", "7", "1")):
        with pytest.raises(ShaderstatError, match="no module has this constant"):
            entry(tmp_path, module(RESOURCES, annotations=DECORATED), choice)


def test_a_value_that_is_none_of_the_constants_type(tmp_path: Path) -> None:
    found = plain(tmp_path, module(RESOURCES, annotations=DECORATED), spec=((None, "7", "-1"),))
    assert (found["status"], found["entries"]) == ("unsupported", [])
    assert [each["code"] for each in found["diagnostics"]] == ["spirv/spec-value"]


def test_constants_of_every_sort(tmp_path: Path) -> None:
    declared = """
        %long = OpTypeInt 64 0
        %a = OpSpecConstantTrue %bool
        %b = OpSpecConstant %long 18446744073709551615
        %c = OpSpecConstant %float nan
        %d = OpSpecConstant %float -inf
        %e = OpSpecConstant %int -5
        %f = OpSpecConstant %float 0.5
        %g = OpSpecConstant %uint 1
    """
    ids = "\n".join(f"OpDecorate %{name} SpecId {min(place, 5)}" for place, name in enumerate("abcdefg"))
    data = module(declared, annotations=ids, capabilities="OpCapability Shader\nOpCapability Int64")
    constants = entry(tmp_path, data)["spec_constants"]
    assert [(each["id"], each["type"], each["default"]) for each in constants] == [
        (0, "bool", True),
        (1, "uint64", 2**64 - 1),
        (2, "float32", "NaN"),
        (3, "float32", "-Infinity"),
        (4, "int32", -5),
        (5, "float32", 0.5),
    ]
    assert constants[5]["other_types"] == ["uint32"]


def interface(stage: str, storage: str, **variables: str) -> bytes:
    """``name="type location[.component]"``; a type's name is what SPIR-V text calls it."""
    types = "%v2 = OpTypeVector %float 2\n%v3 = OpTypeVector %float 3\n%double = OpTypeFloat 64\n"
    types += "%d3 = OpTypeVector %double 3\n%half = OpTypeFloat 16\n%m = OpTypeMatrix %v3 2\n"
    annotations = ""
    for name, text in variables.items():
        type, place = text.split()
        location, _, component = place.partition(".")
        types += f"%p_{name} = OpTypePointer {storage} {type}\n%{name} = OpVariable %p_{name} {storage}\n"
        annotations += f"OpDecorate %{name} Location {location}\n"
        annotations += f"OpDecorate %{name} Component {component}\n" if component else ""
    names = " ".join(f"%{name}" for name in variables)
    return module(types, stage=stage, interface=names, annotations=annotations)


def test_vertex_inputs_are_one_attribute_for_each_location(tmp_path: Path) -> None:
    """Case by case of "Vertex Input Description": what shares a location is fed by one format."""
    data = interface(
        "Vertex", "Input", a="%float 0", b="%v2 0.2", c="%v3 1.1", d="%d3 2", e="%m 4", f="%int 7", g="%half 8"
    )
    found = entry(tmp_path, data)
    members = ("location", "component", "type", "components")
    assert [tuple(each[name] for name in members) for each in found["vertex_inputs"]] == [
        (0, 0, "float", 4),
        (1, 0, "float", 4),
        (2, 0, "double", 3),
        (4, 0, "float", 3),
        (5, 0, "float", 3),
        (7, 0, "int", 1),
        (8, 0, "float16", 1),
    ]  # fmt: skip
    assert [(each["location"], each["component"]) for each in found["inputs"][:3]] == [(0, 0), (0, 2), (1, 1)]
    assert found["color_outputs"] == []


def test_colour_outputs_and_the_second_source(tmp_path: Path) -> None:
    data = module(
        "%v4 = OpTypeVector %float 4\n%p = OpTypePointer Output %v4\n"
        "%a = OpVariable %p Output\n%b = OpVariable %p Output",
        stage="Fragment", interface="%a %b",
        annotations="OpDecorate %a Location 0\nOpDecorate %b Location 0\nOpDecorate %b Index 1",
    )  # fmt: skip
    found = entry(tmp_path, data)
    members = ("location", "index", "type", "components")
    assert [tuple(each[name] for name in members) for each in found["color_outputs"]] == [
        (0, 0, "float", 4),
        (0, 1, "float", 4),
    ]
    assert found["dual_source"] is True
    assert found["vertex_inputs"] == []


@pytest.mark.parametrize(
    ("stage", "modes", "capability", "expected"),
    [
        ("Geometry", "InputLinesAdjacency", "Geometry", {"topology": "LINE_LIST_WITH_ADJACENCY"}),
        ("Geometry", "InputPoints", "Geometry", {"topology": "POINT_LIST"}),
        ("TessellationControl", "OutputVertices 4", "Tessellation", {"patch_control_points": 4}),
        ("TessellationEvaluation", "Quads", "Tessellation", {"topology": "PATCH_LIST", "domain": "quads"}),
        ("Vertex", "", "Shader", {"topology": None, "domain": None, "patch_control_points": None}),
    ],
)
def test_what_a_stage_leaves_no_choice_of(
    tmp_path: Path, stage: str, modes: str, capability: str, expected: dict[str, Any]
) -> None:
    data = module(
        stage=stage, modes=f"OpExecutionMode %main {modes}" if modes else "", capabilities=f"OpCapability {capability}"
    )
    found = entry(tmp_path, data)
    assert {key: found[key] for key in expected} == expected


def test_every_entry_point_is_told_or_those_that_are_wanted(tmp_path: Path) -> None:
    text = "OpCapability Shader\nOpMemoryModel Logical GLSL450\n"
    text += "".join(f'OpEntryPoint GLCompute %m{n} "e{n}"\n' for n in range(40))
    text += "".join(f"OpExecutionMode %m{n} LocalSize {n + 1} 1 1\n" for n in range(40))
    text += "%void = OpTypeVoid\n%f = OpTypeFunction %void\n"
    text += "".join(f"%m{n} = OpFunction %void None %f\n%l{n} = OpLabel\nOpReturn\nOpFunctionEnd\n" for n in range(40))
    data = assemble(text)
    found = plain(tmp_path, data)["entries"]
    assert [(each["name"], each["local_size"][0]) for each in found] == [(f"e{n}", n + 1) for n in range(40)]
    assert [each["name"] for each in plain(tmp_path, data, entries=("e3?",))["entries"]] == [
        f"e3{n}" for n in range(10)
    ]
    with pytest.raises(ShaderstatError, match="no entry point matches e40"):
        plain(tmp_path, data, entries=("e40",))


@pytest.mark.parametrize(
    ("data", "status", "code"),
    [
        (b"", "invalid", "spirv/empty"),
        (b"#version 450\nvoid main() {}\n", "invalid", "spirv/text"),
        (module()[:-8], "invalid", "spirv/truncated"),
        (assemble("OpCapability Linkage\nOpMemoryModel Logical GLSL450\n"), "skipped", "spirv/library"),
        (assemble("OpCapability Kernel\nOpMemoryModel Physical64 OpenCL\n"), "unsupported", "spirv/opencl-kernel"),
        (module(stage="Fragment", modes="OpExecutionMode %main OriginLowerLeft"), "unsupported", "spirv/opengl"),
    ],
)
def test_what_can_not_be_reflected_says_why(tmp_path: Path, data: bytes, status: str, code: str) -> None:
    found = plain(tmp_path, data)
    assert (found["status"], found["entries"], [each["code"] for each in found["diagnostics"]]) == (status, [], [code])
