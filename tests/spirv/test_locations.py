"""Interfaces by location (Vulkan specification, "Location and Component Assignment" and "Interface Matching")."""

from __future__ import annotations

import pytest

from shaderstat.errors import InvalidSpirv, Unsupported
from shaderstat.spirv.facts import EntryPoint
from shaderstat.spirv.reflect import reflect
from shaderstat.spirv.words import load
from tests.spirv.asm import module

TYPES = """
    %v2 = OpTypeVector %float 2
    %v3 = OpTypeVector %float 3
    %v4 = OpTypeVector %float 4
    %m2x4 = OpTypeMatrix %v4 2
    %double = OpTypeFloat 64
    %d2 = OpTypeVector %double 2
    %d3 = OpTypeVector %double 3
    %d4 = OpTypeVector %double 4
    %half = OpTypeFloat 16
    %two = OpConstant %uint 2
    %three = OpConstant %uint 3
    %floats = OpTypeArray %float %two
"""


def entry(
    variables: str, annotations: str, *, stage: str = "Vertex", storage: str = "Input", types: str = "", modes: str = ""
) -> EntryPoint:
    """An entry point whose interface is `variables`: "name type, name type"."""
    pairs = [pair.split() for pair in variables.split(",")]
    lines = [
        f"%p_{name} = OpTypePointer {storage} {type}\n%{name} = OpVariable %p_{name} {storage}" for name, type in pairs
    ]
    data = module(
        TYPES + types + "\n".join(lines),
        stage=stage,
        interface=" ".join(f"%{name}" for name, _ in pairs),
        annotations="\n".join(f'OpName %{name} "{name}"' for name, _ in pairs) + "\n" + annotations,
        modes=modes or "OpExecutionMode %main LocalSize 1 1 1",
    )
    return reflect(load(data)).entries[0]


def inputs(variables: str, annotations: str, **more: str) -> list[tuple[int, int, str, int, int]]:
    found = entry(variables, annotations, **more)
    return [
        (each.location, each.component, each.scalar, each.width, each.components)
        for each in found.inputs or found.outputs
    ]


def test_scalars_and_vectors() -> None:
    assert inputs(
        "a %v3, b %int, c %uint, d %half",
        "OpDecorate %a Location 4\nOpDecorate %b Location 0\nOpDecorate %c Location 1\nOpDecorate %d Location 2",
    ) == [(0, 0, "int", 32, 1), (1, 0, "uint", 32, 1), (2, 0, "float", 16, 1), (4, 0, "float", 32, 3)]


def test_matrices_take_a_location_a_column_and_arrays_one_an_element() -> None:
    assert inputs("m %m2x4, a %floats", "OpDecorate %m Location 1\nOpDecorate %a Location 5") == [
        (1, 0, "float", 32, 4),
        (2, 0, "float", 32, 4),
        (5, 0, "float", 32, 1),
        (6, 0, "float", 32, 1),
    ]


def test_64_bit_vectors_of_three_and_four_take_two_locations() -> None:
    types = "%d3s = OpTypeArray %d3 %two\n"
    assert inputs(
        "a %d3s, b %d2, c %d4",
        "OpDecorate %a Location 0\nOpDecorate %b Location 4\nOpDecorate %c Location 5",
        types=types,
    ) == [(0, 0, "float", 64, 3), (2, 0, "float", 64, 3), (4, 0, "float", 64, 2), (5, 0, "float", 64, 4)]


def test_two_variables_in_one_location_by_component() -> None:
    assert inputs("a %v2, b %v2", "OpDecorate %b Location 0\nOpDecorate %b Component 2\nOpDecorate %a Location 0") == [
        (0, 0, "float", 32, 2),
        (0, 2, "float", 32, 2),
    ]


def test_block_members_follow_each_other_unless_they_say_where() -> None:
    types = "%block = OpTypeStruct %float %m2x4 %v2 %int\n"
    found = entry("b %block", 'OpDecorate %b Location 3\nOpMemberName %block 0 "first"', types=types)
    assert [each.location for each in found.inputs] == [3, 4, 5, 6, 7]
    assert found.inputs[0].name == "b.first" and found.inputs[1].name == "b.[0]"
    placed = entry(
        "b %block",
        "\n".join(f"OpMemberDecorate %block {at} Location {place}" for at, place in enumerate((2, 4, 8, 9))),
        types=types,
    )
    assert [each.location for each in placed.inputs] == [2, 4, 5, 8, 9]


def test_arrays_of_blocks_repeat_their_members() -> None:
    types = "%block = OpTypeStruct %float %v2\n%blocks = OpTypeArray %block %two\n"
    assert inputs("b %blocks", "OpDecorate %b Location 1", types=types) == [
        (1, 0, "float", 32, 1),
        (2, 0, "float", 32, 2),
        (3, 0, "float", 32, 1),
        (4, 0, "float", 32, 2),
    ]


@pytest.mark.parametrize(
    ("stage", "storage", "modes", "stripped"),
    [
        ("TessellationControl", "Input", "OpExecutionMode %main OutputVertices 3", True),
        ("TessellationControl", "Output", "OpExecutionMode %main OutputVertices 3", True),
        ("TessellationEvaluation", "Input", "OpExecutionMode %main Triangles", True),
        ("TessellationEvaluation", "Output", "OpExecutionMode %main Triangles", False),
        ("Geometry", "Input", "OpExecutionMode %main Triangles", True),
        ("Geometry", "Output", "OpExecutionMode %main Triangles", False),
        ("MeshEXT", "Output", "OpExecutionMode %main LocalSize 1 1 1", True),
        ("Vertex", "Output", "", False),
        ("Fragment", "Input", "OpExecutionMode %main OriginUpperLeft", False),
    ],
)
def test_the_outer_array_is_vertices_where_the_stage_says_so(
    stage: str, storage: str, modes: str, stripped: bool
) -> None:
    found = inputs("a %floats", "OpDecorate %a Location 0", stage=stage, storage=storage, modes=modes)
    assert len(found) == (1 if stripped else 2)


def test_patches_have_no_outer_array() -> None:
    found = entry(
        "a %floats",
        "OpDecorate %a Location 0\nOpDecorate %a Patch",
        stage="TessellationEvaluation",
        modes="OpExecutionMode %main Triangles",
    )
    assert [each.location for each in found.inputs] == [0, 1] and all(each.patch for each in found.inputs)


def test_per_vertex_inputs_of_fragments_are_arrays_of_vertices() -> None:
    found = entry(
        "a %triple",
        "OpDecorate %a Location 2\nOpDecorate %a PerVertexKHR",
        stage="Fragment",
        types="%triple = OpTypeArray %v2 %three\n",
    )
    assert [(each.location, each.per_vertex) for each in found.inputs] == [(2, True)]


def test_decorations_of_variable_and_member_add_up() -> None:
    found = entry(
        "b %block",
        """
        OpDecorate %b Location 0
        OpDecorate %b Flat
        OpMemberDecorate %block 1 Centroid
        OpMemberDecorate %block 1 NoPerspective
        """,
        stage="Fragment",
        types="%block = OpTypeStruct %float %v2\n",
    )
    first, second = found.inputs
    assert (first.flat, first.centroid, second.flat, second.centroid, second.noperspective) == (
        True,
        False,
        True,
        True,
        True,
    )


def test_built_ins_are_listed_apart() -> None:
    types = "%per_vertex = OpTypeStruct %v4 %float\n"
    found = entry(
        "block %per_vertex, colour %v4",
        """
        OpMemberDecorate %per_vertex 0 BuiltIn Position
        OpMemberDecorate %per_vertex 1 BuiltIn PointSize
        OpDecorate %colour Location 0
        """,
        storage="Output",
        types=types,
    )
    assert found.builtins_out == {0, 1} and found.builtins_in == frozenset()
    assert [each.name for each in found.outputs] == ["colour"]
    assert [each.name for each in found.output_variables] == ["block", "colour"]
    index = entry("i %int", "OpDecorate %i BuiltIn InstanceIndex")
    assert index.builtins_in == {43} and index.inputs == ()
    assert index.input_variables[0].builtin == 43


def test_the_second_source_of_blending() -> None:
    found = entry(
        "a %v4, b %v4",
        "OpDecorate %a Location 0\nOpDecorate %b Location 0\nOpDecorate %b Index 1",
        stage="Fragment",
        storage="Output",
    )
    assert found.dual_source and [each.index for each in found.outputs] == [0, 1]


def test_an_interface_without_end_is_refused() -> None:
    huge = "%n = OpConstant %uint 4000000000\n%huge = OpTypeArray %v4 %n\n"
    with pytest.raises(InvalidSpirv) as caught:
        entry("a %huge", "OpDecorate %a Location 0", types=huge)
    assert caught.value.code == "limit/interface"
    # As many built-ins take no location, and no time.
    blocks = huge + "%block = OpTypeStruct %float\n%blocks = OpTypeArray %block %n\n"
    assert entry("b %blocks", "OpMemberDecorate %block 0 BuiltIn PointSize", types=blocks).inputs == ()


def test_what_is_no_number_cannot_be_an_interface() -> None:
    with pytest.raises(Unsupported) as caught:
        entry("a %bool", "OpDecorate %a Location 0")
    assert caught.value.code == "spirv/interface-type"
