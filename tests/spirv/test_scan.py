"""The first look at a module."""

from __future__ import annotations

import pytest

from shaderstat.errors import InvalidSpirv
from shaderstat.spirv.facts import ScannedEntry
from shaderstat.spirv.scan import scan
from tests.spirv.asm import assemble, module

VERTEX = """
    %v4 = OpTypeVector %float 4
    %in_pointer = OpTypePointer Input %v4
    %out_pointer = OpTypePointer Output %v4
    %position = OpVariable %in_pointer Input
    %colour = OpVariable %out_pointer Output
"""


def test_entry_points_capabilities_and_version() -> None:
    found = scan(
        module(
            VERTEX,
            stage="Vertex",
            interface="%position %colour",
            annotations="OpDecorate %position Location 2\nOpDecorate %colour Location 5",
            capabilities="OpCapability Shader\nOpCapability Float64",
            version=(1, 3),
        )
    )
    assert found.version == (1, 3)
    assert found.capabilities == (1, 10)
    assert found.entries == (ScannedEntry("main", "vertex", frozenset({2}), frozenset({5})),)


def test_locations_of_a_block_are_those_of_its_members_per_vertex_or_not() -> None:
    found = scan(
        module(
            """
            %block = OpTypeStruct %float %float
            %three = OpConstant %uint 3
            %blocks = OpTypeArray %block %three
            %in_pointer = OpTypePointer Input %blocks
            %out_pointer = OpTypePointer Output %block
            %inputs = OpVariable %in_pointer Input
            %outputs = OpVariable %out_pointer Output
            """,
            stage="Geometry",
            interface="%inputs %outputs",
            annotations="OpMemberDecorate %block 0 Location 3\nOpMemberDecorate %block 1 Location 7",
        )
    )
    assert found.entries[0].inputs == found.entries[0].outputs == frozenset({3, 7})


def test_variables_of_other_storage_classes_are_no_interface() -> None:
    """From SPIR-V 1.4 on an interface lists every variable that is used."""
    found = scan(
        module(
            """
            %block = OpTypeStruct %float
            %pointer = OpTypePointer Uniform %block
            %uniform = OpVariable %pointer Uniform
            """,
            stage="Vertex",
            interface="%uniform",
            annotations="OpDecorate %uniform Location 1",
            version=(1, 4),
        )
    )
    assert found.entries[0].inputs == found.entries[0].outputs == frozenset()


def test_it_stops_before_the_functions() -> None:
    good = module()
    assert scan(good + b"\0\0\0\0").entries == scan(good).entries  # the end is the parser's to judge


@pytest.mark.parametrize("name", ["", "four", "main", "a name::of more than_one word", "héllo"])
def test_names_end_at_their_nul(name: str) -> None:
    data = assemble(
        f"""
        OpCapability Shader
        OpMemoryModel Logical GLSL450
        OpEntryPoint Fragment %main "{name}" %colour
        OpDecorate %colour Location 3
        %float = OpTypeFloat 32
        %pointer = OpTypePointer Output %float
        %colour = OpVariable %pointer Output
        """
    )
    assert scan(data).entries == (ScannedEntry(name, "fragment", frozenset(), frozenset({3})),)


def test_models_that_are_no_stage_keep_a_name() -> None:
    data = assemble(
        """
        OpCapability Kernel
        OpMemoryModel Logical OpenCL
        OpEntryPoint Kernel %a "a"
        OpEntryPoint 9999 %b "b"
        """
    )
    assert [entry.stage for entry in scan(data).entries] == ["kernel", "model 9999"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([0], "spirv/zero-word-count"),
        ([4 << 16 | 71, 1], "spirv/truncated"),
        ([2 << 16 | 15, 5], "spirv/short-instruction"),
        ([4 << 16 | 15, 5, 1, 0x61616161], "spirv/string"),
        ([4 << 16 | 15, 5, 1, 0x006161FF], "spirv/string-encoding"),
        ([0x07230203, 0x10000], "spirv/two-modules"),
    ],
)
def test_broken_streams_are_told_apart(words: list[int], code: str) -> None:
    with pytest.raises(InvalidSpirv) as caught:
        scan(assemble("OpCapability Shader", extra=words))
    assert caught.value.code == code
    assert caught.value.offset is not None and caught.value.offset >= 28  # header and OpCapability are good
