"""Partner stages: valid modules whose interface is the other side of what they are written for.

The stage that wants a partner is built by hand from types; what its partner says of itself is found by reflection, and
SPIRV-Tools judges the module where it is installed.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shaderstat.child.spirv_tools import SpirvTools
from shaderstat.errors import Unsupported
from shaderstat.spirv.facts import EntryPoint, InterfaceVariable, Member, Reflection, Type, Variable
from shaderstat.spirv.locations import interface
from shaderstat.spirv.mesh_partners import is_for_mesh, mesh_after, mesh_before, task_before
from shaderstat.spirv.partners import control_before, evaluation_after, fragment_after, vertex_before
from shaderstat.spirv.ray_partners import answer_to, raygen_for
from shaderstat.spirv.reflect import reflect
from shaderstat.spirv.words import load

# By the names of the specification: decorations, storage classes, built-ins, capabilities.
BLOCK, BUILT_IN, PATCH, FLAT, LOCATION, COMPONENT, PER_PRIMITIVE = 2, 11, 15, 14, 30, 31, 5271
INPUT, OUTPUT, CALLABLE_DATA, INCOMING_CALLABLE_DATA = 1, 3, 5328, 5329
RAY_PAYLOAD, HIT_ATTRIBUTE, INCOMING_RAY_PAYLOAD, TASK_PAYLOAD = 5338, 5339, 5342, 5402
POSITION, POINT_SIZE, CLIP_DISTANCE, CULL_DISTANCE, LAYER, POINT_COORD = 0, 1, 3, 4, 9, 16
PRIMITIVE_ID, TRIANGLE_INDICES = 7, 5296
SHADER, TESSELLATION, CLIP, CULL, MESH_SHADING, RAY_TRACING = 1, 3, 32, 33, 5283, 4479
VERTEX_INDEX, CONSTANT, STORE = 42, 43, 62

TOOLS = SpirvTools.find(None)
_ids = itertools.count(1)


def scalar(kind: str, width: int = 32) -> Type:
    return Type(next(_ids), "float" if kind == "float" else "int", width=width, signed=kind == "int")


def vector(kind: str, length: int, width: int = 32) -> Type:
    component = scalar(kind, width)
    return component if length == 1 else Type(next(_ids), "vector", element=component, length=length)


def array(element: Type, length: int) -> Type:
    return Type(next(_ids), "array", element=element, length=length)


def matrix(columns: int, rows: int) -> Type:
    return Type(next(_ids), "matrix", element=vector("float", rows), length=columns)


def struct(*members: Type, block: bool = False, **decorations: Sequence[dict[int, tuple[int, ...]]]) -> Type:
    given_ = decorations.get("members", [{}] * len(members))
    return Type(
        next(_ids),
        "struct",
        members=tuple(Member(one, decorations=each) for one, each in zip(members, given_, strict=True)),
        decorations={BLOCK: ()} if block else {},
    )


def variable(type_: Type, storage: int, **decorations: int | None) -> Variable:
    numbers = {"location": LOCATION, "component": COMPONENT, "patch": PATCH, "flat": FLAT, "primitive": PER_PRIMITIVE}
    given_ = {
        numbers[name]: () if value is None else (value,) for name, value in decorations.items() if name in numbers
    }
    built_in = decorations.get("builtin")
    return Variable(next(_ids), "", storage, type_, given_, built_in)


def consumer(stage: str, *variables: Variable, **more: Any) -> EntryPoint:
    found = interface(stage, INPUT, variables)
    return EntryPoint(
        "main", stage, inputs=found.located, input_variables=variables, builtins_in=found.builtins, **more
    )


def producer(stage: str, *variables: Variable, **more: Any) -> EntryPoint:
    found = interface(stage, OUTPUT, variables)
    return EntryPoint(
        "main", stage, outputs=found.located, output_variables=variables, builtins_out=found.builtins, **more
    )


def checked(words: bytes) -> tuple[Reflection, EntryPoint]:
    """What a module says of itself, after SPIRV-Tools has found nothing to say against it."""
    verdict = TOOLS.validate(words, "vulkan1.3")
    assert verdict.status in ("ok", "unavailable"), verdict.message
    reflection = reflect(load(words))
    (entry,) = reflection.entries
    return reflection, entry


def shape(variables: Sequence[InterfaceVariable]) -> list[tuple[Any, ...]]:
    return sorted((one.location, one.component, one.scalar, one.width, one.components, one.patch) for one in variables)


def opcodes(words: bytes, wanted: int) -> list[tuple[int, ...]]:
    module = load(words)
    return [
        tuple(module.data[index + 1 : index + count])
        for opcode, index, count in module.instructions()
        if opcode == wanted
    ]


def stored(words: bytes) -> list[int]:
    return [operands[1] for operands in opcodes(words, STORE)]


# ── Before ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_vertex_stage_writes_what_a_fragment_stage_reads() -> None:
    words = vertex_before(
        consumer(
            "fragment",
            variable(vector("float", 3), INPUT, location=0),
            variable(vector("uint", 2), INPUT, location=1, flat=None),
            variable(vector("float", 2), INPUT, location=4),
            variable(vector("float", 1), INPUT, location=4, component=3),
        ),
        [SHADER],
        attributes=16,
    )
    _, entry = checked(words)
    assert entry.stage == "vertex"
    assert shape(entry.outputs) == [
        (0, 0, "float", 32, 3, False),
        (1, 0, "uint", 32, 2, False),
        (4, 0, "float", 32, 2, False),
        (4, 3, "float", 32, 1, False),
    ]
    # Position first, then each with an attribute of its own.
    assert [(one.location, one.scalar, one.components) for one in entry.inputs] == [
        (0, "float", 4),
        (1, "float", 3),
        (2, "uint", 2),
        (3, "float", 2),
        (4, "float", 1),
    ]
    assert POSITION in entry.builtins_out


def test_no_value_is_a_constant_and_none_is_written_twice() -> None:
    """Constants and duplicates would be folded into the stage that reads them."""
    for attributes in (16, 1, 0):
        words = vertex_before(
            consumer("fragment", *(variable(vector("float", 4), INPUT, location=each) for each in range(8))),
            [SHADER],
            attributes,
        )
        _, entry = checked(words)
        values = stored(words)
        constants = {operands[1] for operands in opcodes(words, CONSTANT)}
        assert len(values) == len(set(values)) == 9
        assert not constants & set(values)
        assert len(entry.inputs) == min(attributes, 9)
        assert (VERTEX_INDEX in entry.builtins_in) == (attributes < 9)


def test_arrays_matrices_and_blocks_keep_their_shape() -> None:
    block = struct(
        matrix(3, 2),
        array(vector("int", 2), 2),
        block=True,
        members=[{LOCATION: (2,)}, {LOCATION: (5,), FLAT: ()}],
    )
    _, entry = checked(
        vertex_before(
            consumer("fragment", variable(array(vector("float", 1), 2), INPUT, location=0), variable(block, INPUT)),
            [SHADER],
            16,
        )
    )
    assert shape(entry.outputs) == [
        (0, 0, "float", 32, 1, False),
        (1, 0, "float", 32, 1, False),
        (2, 0, "float", 32, 2, False),
        (3, 0, "float", 32, 2, False),
        (4, 0, "float", 32, 2, False),
        (5, 0, "int", 32, 2, False),
        (6, 0, "int", 32, 2, False),
    ]


def test_built_ins_that_a_fragment_stage_reads_are_written() -> None:
    entry = consumer(
        "fragment",
        variable(vector("float", 2), INPUT, builtin=POINT_COORD),
        variable(array(scalar("float"), 3), INPUT, builtin=CLIP_DISTANCE),
        variable(scalar("int"), INPUT, builtin=LAYER),
    )
    _, written = checked(vertex_before(entry, [SHADER, CLIP], 16))
    assert written.builtins_out == {POSITION, POINT_SIZE, CLIP_DISTANCE}
    for way in ("core", "extension"):
        reflection, written = checked(vertex_before(entry, [SHADER, CLIP], 16, way))
        assert LAYER in written.builtins_out
        assert (reflection.version == (1, 5)) == (way == "core")


def per_vertex(length: int, storage: int) -> Variable:
    members = [
        {BUILT_IN: (POSITION,)},
        {BUILT_IN: (POINT_SIZE,)},
        {BUILT_IN: (CLIP_DISTANCE,)},
        {BUILT_IN: (CULL_DISTANCE,)},
    ]
    one = struct(
        vector("float", 4),
        scalar("float"),
        array(scalar("float"), 1),
        array(scalar("float"), 1),
        block=True,
        members=members,
    )
    return variable(array(one, length), storage)


@pytest.mark.parametrize("stage", ["geometry", "tessellation_control"])
def test_a_vertex_stage_before_vertices_in_arrays(stage: str) -> None:
    entry = consumer(stage, per_vertex(3, INPUT), variable(array(array(vector("float", 4), 2), 3), INPUT, location=1))
    _, written = checked(vertex_before(entry, [SHADER, CLIP], 16))
    assert shape(written.outputs) == [(1, 0, "float", 32, 4, False), (2, 0, "float", 32, 4, False)]
    assert written.builtins_out == {POSITION, POINT_SIZE, CLIP_DISTANCE, CULL_DISTANCE}


def test_a_control_stage_before_an_evaluation_stage() -> None:
    entry = consumer(
        "tessellation_evaluation",
        per_vertex(32, INPUT),
        variable(array(vector("float", 3), 32), INPUT, location=0),
        variable(vector("float", 2), INPUT, location=3, patch=None),
        modes={24: (), 2: ()},
    )
    words = control_before(entry, [TESSELLATION], 4)
    _, written = checked(words)
    assert shape(written.outputs) == [(0, 0, "float", 32, 3, False), (3, 0, "float", 32, 2, True)]
    assert written.patch_control_points == 4
    # Quads and SpacingFractionalEven are the other stage's; what it does not say is said here.
    assert {24, 2, 5} <= set(written.modes)
    assert len(stored(words)) == len(set(stored(words)))


def test_an_evaluation_stage_after_a_control_stage() -> None:
    entry = producer(
        "tessellation_control",
        per_vertex(3, OUTPUT),
        variable(array(vector("float", 3), 3), OUTPUT, location=0),
        variable(array(scalar("float"), 4), OUTPUT, builtin=11, patch=None),
        variable(vector("float", 2), OUTPUT, location=3, patch=None),
        patch_control_points=3,
        modes={26: (3,)},
    )
    _, written = checked(evaluation_after(entry, [TESSELLATION]))
    assert shape(written.inputs) == [(0, 0, "float", 32, 3, False), (3, 0, "float", 32, 2, True)]
    assert written.topology == "quads"
    assert shape(written.outputs) == [(0, 0, "uint", 32, 1, False)]


# ── After ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_fragment_stage_reads_all_that_is_written() -> None:
    entry = producer(
        "vertex",
        variable(vector("float", 4), OUTPUT, builtin=POSITION),
        variable(vector("float", 3), OUTPUT, location=0),
        variable(vector("int", 1), OUTPUT, location=1),
        variable(vector("float", 3, 64), OUTPUT, location=2),
    )
    _, written = checked(fragment_after(entry, [SHADER]))
    assert shape(written.inputs) == shape(entry.outputs)
    # VUID-StandaloneSpirv-Flat-04744
    assert [one.flat for one in written.inputs] == [False, True, True]
    assert shape(written.outputs) == [(0, 0, "uint", 32, 1, False)]


def test_a_stage_that_writes_nothing_gets_a_fragment_stage_too() -> None:
    _, written = checked(fragment_after(producer("vertex"), [SHADER]))
    assert written.inputs == ()
    assert len(written.outputs) == 1


def test_a_fragment_stage_after_a_mesh_stage() -> None:
    entry = producer(
        "mesh",
        variable(array(vector("float", 2), 64), OUTPUT, location=0),
        variable(array(vector("uint", 1), 124), OUTPUT, location=1, primitive=None),
    )
    reflection, written = checked(fragment_after(entry, [MESH_SHADING]))
    assert [(one.location, one.components, one.per_primitive) for one in written.inputs] == [
        (0, 2, False),
        (1, 1, True),
    ]
    assert MESH_SHADING in reflection.capabilities


def test_outputs_of_other_streams_are_not_read() -> None:
    """Streams but the first go to transform feedback; their locations may be those of the first."""
    other = Variable(next(_ids), "", OUTPUT, vector("float", 4), {LOCATION: (0,), 29: (1,)})
    entry = producer("geometry", variable(vector("float", 2), OUTPUT, location=0), other)
    _, written = checked(fragment_after(entry, [SHADER]))
    assert shape(written.inputs) == [(0, 0, "float", 32, 2, False)]


def test_a_mesh_stage_before_a_fragment_stage_that_reads_of_primitives() -> None:
    blocks = [{LOCATION: (2,), PER_PRIMITIVE: ()}, {LOCATION: (3,), PER_PRIMITIVE: (), FLAT: ()}]
    reader = consumer(
        "fragment",
        variable(vector("float", 2), INPUT, location=0),
        variable(vector("float", 3), INPUT, location=1, primitive=None),
        variable(struct(vector("float", 4), vector("uint", 1), block=True, members=blocks), INPUT),
        variable(array(scalar("float"), 2), INPUT, builtin=CLIP_DISTANCE),
        variable(scalar("int"), INPUT, builtin=LAYER),
        variable(scalar("int"), INPUT, builtin=PRIMITIVE_ID),
    )
    assert is_for_mesh(reader)
    words = mesh_before(reader)
    reflection, written = checked(words)
    assert written.stage == "mesh" and {MESH_SHADING, CLIP} <= set(reflection.capabilities)
    assert shape(written.outputs) == shape(reader.inputs)
    assert {one.location: one.per_primitive for one in written.outputs} == {0: False, 1: True, 2: True, 3: True}
    # Arrays over three vertices, or one primitive.
    built_ins = {one.builtin: one.type.length for one in written.output_variables if one.builtin is not None}
    assert built_ins == {POSITION: 3, CLIP_DISTANCE: 3, LAYER: 1, PRIMITIVE_ID: 1, TRIANGLE_INDICES: 1}
    others = [one for one in written.output_variables if one.builtin is None]
    assert {one.decorations.get(LOCATION, (2,))[0]: one.type.length for one in others} == {0: 3, 1: 1, 2: 1}
    assert len(set(stored(words))) == len(stored(words))


def test_a_fragment_stage_of_vertices_is_for_any() -> None:
    assert not is_for_mesh(consumer("fragment", variable(vector("float", 2), INPUT, location=0)))


# ── Payloads ──────────────────────────────────────────────────────────────────────────────────────────────────────


def payload(storage: int) -> Variable:
    flag = Type(next(_ids), "bool")
    return variable(struct(vector("float", 3), flag, array(vector("uint", 1), 5), vector("float", 2, 64)), storage)


def test_task_and_mesh_stages_hand_on_the_same_payload() -> None:
    for words in (
        mesh_after(EntryPoint("main", "task", payloads=(payload(TASK_PAYLOAD),)), [MESH_SHADING, 10]),
        task_before(EntryPoint("main", "mesh", payloads=(payload(TASK_PAYLOAD),)), [MESH_SHADING, 10]),
    ):
        _, written = checked(words)
        (found,) = written.payloads
        assert [member.type.kind for member in found.type.members] == ["vector", "bool", "array", "vector"]


def test_a_ray_is_traced_for_each_payload() -> None:
    capabilities = [RAY_TRACING, 10]
    entries = [
        EntryPoint("main", "miss", payloads=(payload(INCOMING_RAY_PAYLOAD),)),
        EntryPoint("main", "closest_hit", payloads=(payload(INCOMING_RAY_PAYLOAD),)),
        EntryPoint("main", "miss", payloads=(variable(scalar("float"), INCOMING_RAY_PAYLOAD),)),
        EntryPoint("main", "callable", payloads=(variable(scalar("float"), INCOMING_CALLABLE_DATA),)),
    ]
    words = raygen_for(entries, capabilities, (1, 7))
    _, written = checked(words)
    # Two payloads are alike.
    assert sorted(one.storage for one in written.payloads) == [CALLABLE_DATA, RAY_PAYLOAD, RAY_PAYLOAD]
    assert [(one.set, one.binding, one.type) for one in written.bindings] == [
        (1, 7, "ACCELERATION_STRUCTURE_KHR"),
        (1, 8, "STORAGE_BUFFER"),
    ]


def test_what_is_called_answers() -> None:
    for stage, call in (("miss", RAY_PAYLOAD), ("closest_hit", RAY_PAYLOAD), ("callable", CALLABLE_DATA)):
        _, written = checked(answer_to(stage, payload(call), [RAY_TRACING, 10]))
        assert written.stage == stage
        assert [one.storage for one in written.payloads] == [
            INCOMING_CALLABLE_DATA if stage == "callable" else INCOMING_RAY_PAYLOAD
        ]
    attribute = variable(vector("float", 2), HIT_ATTRIBUTE)
    _, written = checked(answer_to("closest_hit", None, [RAY_TRACING], attribute))
    assert sorted(one.storage for one in written.payloads) == [HIT_ATTRIBUTE, INCOMING_RAY_PAYLOAD]


def test_what_can_not_be_mirrored_is_said() -> None:
    odd = variable(struct(Type(next(_ids), "acceleration_structure")), INPUT, location=0)
    with pytest.raises(Unsupported) as caught:
        vertex_before(EntryPoint("main", "fragment", input_variables=(odd,)), [SHADER], 16)
    assert caught.value.code == "pipeline/partner"
    assert "acceleration structure" in caught.value.message


# ── Any interface ─────────────────────────────────────────────────────────────────────────────────────────────────


@st.composite
def interfaces(draw: st.DrawFn) -> list[tuple[Type, int]]:
    """Up to sixteen locations of variables without holes in their types, each with its location."""
    found, location = [], draw(st.integers(0, 3))
    while location < 16 and draw(st.booleans()):
        kind, width = draw(st.sampled_from([("float", 32), ("int", 32), ("uint", 32), ("float", 64), ("float", 16)]))
        type_ = vector(kind, draw(st.integers(1, 4)), width)
        taken = 2 if width == 64 and type_.kind == "vector" and type_.length > 2 else 1
        for _ in range(draw(st.integers(0, 2))):
            length = draw(st.integers(1, 3))
            type_, taken = array(type_, length), taken * length
        if draw(st.booleans()):
            type_, taken = struct(type_, vector(kind, 1, width)), taken + 1
        if location + taken > 16:
            break
        found.append((type_, location))
        location += taken + draw(st.integers(0, 2))
    return found


@given(interfaces(), st.integers(0, 32))
@settings(max_examples=60)
def test_any_interface_is_written_before_and_read_after(found: list[tuple[Type, int]], attributes: int) -> None:
    reader = consumer("fragment", *(variable(type_, INPUT, location=location) for type_, location in found))
    words = vertex_before(reader, [SHADER], attributes)
    _, before = checked(words)
    assert shape(before.outputs) == shape(reader.inputs)
    assert len(before.inputs) <= attributes
    assert len(set(stored(words))) == len(stored(words))
    of_primitives = [variable(type_, INPUT, location=at, primitive=None) for type_, at in found[::2]]
    of_vertices = [variable(type_, INPUT, location=at) for type_, at in found[1::2]]
    mixed = consumer("fragment", *of_primitives, *of_vertices)
    _, mesh = checked(mesh_before(mixed))
    assert shape(mesh.outputs) == shape(mixed.inputs)
    writer = producer("vertex", *(variable(type_, OUTPUT, location=location) for type_, location in found))
    _, after = checked(fragment_after(writer, [SHADER]))
    assert shape(after.inputs) == shape(writer.outputs)
    assert all(one.flat for one in after.inputs if one.scalar != "float" or one.width == 64)
