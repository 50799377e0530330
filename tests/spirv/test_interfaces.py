"""Which stages fit: "Interface Matching" of the Vulkan specification, word by word."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaderstat.errors import InvalidSpirv
from shaderstat.spirv.facts import InterfaceVariable
from shaderstat.spirv.interfaces import Misfit, interfaces, misfit
from shaderstat.spirv.reflect import reflect
from shaderstat.spirv.words import load
from tests.spirv.asm import module

TYPES = """
    %v2 = OpTypeVector %float 2
    %v3 = OpTypeVector %float 3
    %v4 = OpTypeVector %float 4
    %i4 = OpTypeVector %int 4
    %u4 = OpTypeVector %uint 4
    %m4 = OpTypeMatrix %v4 4
    %half = OpTypeFloat 16
    %double = OpTypeFloat 64
    %d3 = OpTypeVector %double 3
    %three = OpConstant %uint 3
    %spec = OpSpecConstant %uint 2
    %v4s = OpTypeArray %v4 %three
    %some = OpTypeArray %v4 %spec
    %block = OpTypeStruct %v4 %m4
    %vertices = OpTypeArray %m4 %three
"""


def stage(stage: str, storage: str, variables: str, more: str = "") -> tuple[InterfaceVariable, ...]:
    """One side of an interface: "location type", or "location.component type", separated by commas."""
    declared, annotations = "", more
    names = []
    for place, type in (each.split() for each in variables.split(",")):
        location, _, component = place.partition(".")
        name = f"x{len(names)}"
        names.append(f"%{name}")
        declared += f"\n%p{name} = OpTypePointer {storage} {type}\n%{name} = OpVariable %p{name} {storage}"
        annotations += f"\nOpDecorate %{name} Location {location}"
        annotations += f"\nOpDecorate %{name} Component {component}" if component else ""
    modes = "OpExecutionMode %main OutputVertices 3" if stage.startswith("Tess") else ""
    data = module(
        TYPES + declared, stage=stage, interface=" ".join(names), annotations=annotations,
        modes=modes or "OpExecutionMode %main LocalSize 1 1 1",
    )  # fmt: skip
    (found,) = interfaces(data).values()
    (known,) = reflect(load(data)).entries
    assert (found.inputs, found.outputs) == (known.inputs, known.outputs)
    return found.inputs or found.outputs


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("0 %v4", "0 %v4"),
        ("0 %v4, 1 %v4", "1 %v4"),
        ("0 %v4", "0 %v3"),  # the rest is not read
        ("0 %m4", "0 %v4, 3 %v4"),
        ("0 %v4, 1 %v4, 2 %v4, 3 %v4", "0 %m4"),
        ("0 %v4s", "0 %v4, 1 %v4, 2 %v2"),
        ("0 %some", "1 %v4"),  # two, by default
        ("0 %v2, 0.2 %v2", "0 %v4"),
        ("0 %v4", "0.1 %v2, 0.3 %float"),
        ("0 %d3", "0 %d3"),
        ("0 %half", "0 %half"),
        ("2 %block", "2 %v4, 3 %m4"),
    ],
)
def test_what_fits(written: str, read: str) -> None:
    assert misfit(stage("Vertex", "Output", written), stage("Fragment", "Input", read)) is None


@pytest.mark.parametrize(
    ("written", "read", "expected"),
    [
        ("0 %v4", "1 %v4", Misfit("location 1")),
        ("0 %v4", "0 %m4", Misfit("location 1, 2, 3")),
        ("0 %v4", "0 %v4s", Misfit("location 1, 2")),
        ("0 %some", "2 %v4", Misfit("location 2")),
        ("0 %v2", "0 %v4", Misfit("component 2, 3 of location 0")),
        ("0.1 %v3", "0 %v4", Misfit("component 0 of location 0")),
        ("0 %v4, 2 %v4", "0 %v2, 1 %v4", Misfit("location 1")),
        ("0 %v4", "0 %i4", Misfit("location 0 as int32", "float32")),
        ("0 %u4", "0 %i4", Misfit("location 0 as int32", "uint32")),
        ("0 %half", "0 %float", Misfit("location 0 as float32", "float16")),
        ("0 %v4, 1 %v2", "0 %d3", Misfit("location 0 as float64", "float32")),
    ],
)
def test_what_does_not_fit(written: str, read: str, expected: Misfit) -> None:
    assert misfit(stage("Vertex", "Output", written), stage("Fragment", "Input", read)) == expected


def test_the_array_over_vertices_is_no_location() -> None:
    written = stage("Vertex", "Output", "0 %m4")
    assert misfit(written, stage("Geometry", "Input", "0 %vertices")) is None
    assert misfit(written, stage("Geometry", "Input", "1 %vertices")) == Misfit("location 4")


def test_what_is_written_for_a_patch_is_not_read_for_a_vertex() -> None:
    for_patch = stage("TessellationControl", "Output", "0 %v4", "OpDecorate %x0 Patch")
    for_vertices = stage("TessellationControl", "Output", "0 %v4s")
    of_patch = stage("TessellationEvaluation", "Input", "0 %v4", "OpDecorate %x0 Patch")
    of_vertices = stage("TessellationEvaluation", "Input", "0 %v4s")
    assert misfit(for_patch, of_patch) is misfit(for_vertices, of_vertices) is None
    assert misfit(for_patch, of_vertices) == Misfit("location 0")
    assert misfit(for_vertices, of_patch) == Misfit("location 0 of a patch")


def test_interpolation_is_no_matter() -> None:
    flat = stage("Fragment", "Input", "0 %v4", "OpDecorate %x0 Flat")
    assert misfit(stage("Vertex", "Output", "0 %v4"), flat) is None


PLACES = st.sets(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=12)


def scalars(places: set[tuple[int, int]]) -> list[InterfaceVariable]:
    return [InterfaceVariable(location, component, "float", 32, 1) for location, component in places]


@given(PLACES, PLACES)
def test_every_word_that_is_read_must_be_written(written: set[tuple[int, int]], read: set[tuple[int, int]]) -> None:
    assert (misfit(scalars(written), scalars(read)) is None) == (read <= written)


def test_functions_are_not_read() -> None:
    data = module("", stage="Vertex", body="%x = OpFAdd %float %nowhere %nothing")
    assert interfaces(data)["vertex", "main"].inputs == ()
    with pytest.raises(InvalidSpirv):
        interfaces(data[:30])


def test_the_samples_tell_what_reflection_tells(samples: Path) -> None:
    for path in samples.glob("*.spv"):
        data = path.read_bytes()
        (entry,) = reflect(load(data)).entries
        found = interfaces(data)[entry.stage, entry.name]
        assert (found.inputs, found.outputs) == (entry.inputs, entry.outputs), path.name
