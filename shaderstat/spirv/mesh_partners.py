"""Mesh and task shaders as partner stages: of each other, which hand on a payload, and of fragment shaders that read
what only a mesh shader can write."""

from __future__ import annotations

from collections.abc import Iterable

from shaderstat.spirv import assemble as asm
from shaderstat.spirv.assemble import Assembler
from shaderstat.spirv.facts import EntryPoint, Variable
from shaderstat.spirv.mirror import (
    BUILT_IN,
    INT,
    LOCATION,
    PER_PRIMITIVE,
    PER_VERTEX,
    VEC4,
    Mirror,
    Place,
    is_built_in,
)
from shaderstat.spirv.partners import read_by_fragment
from shaderstat.spirv.weave import COMPOSITE_CONSTRUCT, COMPOSITE_EXTRACT, I_ADD, Fold, Hash, read, write

_TASK, _MESH = 5364, 5365  # execution models
_MESH_SHADING, _EXTENSION = 5283, "SPV_EXT_mesh_shader"
_TASK_PAYLOAD = 5402  # storage class TaskPayloadWorkgroupEXT
_POSITION, _WORKGROUP_ID, _TRIANGLE_INDICES = 0, 26, 5296  # built-ins
_PER_PRIMITIVE_BUILT_INS = (7, 9, 10)  # PrimitiveId, Layer, ViewportIndex
_EMIT_MESH_TASKS, _SET_MESH_OUTPUTS, _CONVERT_U_TO_F = 5294, 5295, 112  # opcodes
# Execution modes: LocalSize, OutputVertices, OutputPrimitivesEXT, OutputTrianglesEXT.
_ONE_INVOCATION, _ONE_TRIANGLE = (17, 1, 1, 1), ((26, 3), (5270, 1), (5298,))


def task_payload(entry: EntryPoint) -> Variable | None:
    """The payload that a task shader hands on and a mesh shader gets, if it has one."""
    return next((one for one in entry.payloads if one.storage == _TASK_PAYLOAD), None)


def mesh_after(producer: EntryPoint, capabilities: Iterable[int]) -> bytes:
    """A mesh shader that uses the payload of `producer`, a task shader, and makes one triangle of it."""
    module, mirror = _begin(capabilities)
    fold = Fold(mirror)
    payload = task_payload(producer)
    if payload is not None:
        read(mirror, _payload(mirror, payload), fold)
    word, uint, float_ = fold.result(), module.scalar("uint", 32), module.scalar("float", 32)
    module.do(_SET_MESH_OUTPUTS, module.uint(3), module.uint(1))
    float4 = module.vector(float_, 4)
    positions = module.variable(asm.OUTPUT, module.array(float4, 3))
    module.decorate(positions, BUILT_IN, _POSITION)
    varyings = module.variable(asm.OUTPUT, module.array(uint, 3))
    module.decorate(varyings, LOCATION, 0)
    number = module.op(_CONVERT_U_TO_F, float_, word)
    for vertex in range(3):
        parts = [number, module.float(vertex & 1), module.float(vertex >> 1), module.float(1.0)]
        _store(module, positions, vertex, float4, module.op(COMPOSITE_CONSTRUCT, float4, *parts))
        _store(module, varyings, vertex, uint, word)
    _index_triangle(module)
    return module.finish(_MESH, [_ONE_INVOCATION, *_ONE_TRIANGLE])


def is_for_mesh(consumer: EntryPoint) -> bool:
    """Whether a fragment shader reads what only a mesh shader writes: something of a whole primitive."""
    return any(one.per_primitive for one in consumer.inputs)


def mesh_before(consumer: EntryPoint) -> bytes:
    """A mesh shader that writes everything that `consumer`, a fragment shader, reads: one triangle, whose vertices have
    values of their own."""
    module = Assembler((1, 4))
    module.capability(_MESH_SHADING)
    module.extension(_EXTENSION)
    mirror = Mirror(module)
    uint = module.scalar("uint", 32)
    workgroup = _workgroup(module)
    module.do(_SET_MESH_OUTPUTS, module.uint(3), module.uint(1))
    of_primitive = Hash(mirror, workgroup)
    vertices = [
        (module.uint(vertex), Hash(mirror, module.op(I_ADD, uint, workgroup, module.uint(vertex + 1))))
        for vertex in range(3)
    ]
    first = module.uint(0)
    of_vertex = [mirror.built_in(_POSITION, VEC4, outer=3)]
    of_vertex += [mirror.built_in(number, type_, outer=3) for number, type_ in read_by_fragment(mirror, consumer, "")]
    for number in _PER_PRIMITIVE_BUILT_INS:
        if number in consumer.builtins_in:
            place = mirror.built_in(number, INT, outer=1)
            module.decorate(place.variable, PER_PRIMITIVE)
            write(mirror, place.of(first), of_primitive)
    for variable in consumer.input_variables:
        if is_built_in(variable):
            continue
        type_ = variable.type
        if PER_VERTEX in variable.decorations and type_.element is not None:
            type_ = type_.element
        members = (member.decorations for member in type_.members)
        if any(PER_PRIMITIVE in decorations for decorations in (variable.decorations, *members)):
            write(mirror, mirror.variable(variable, asm.OUTPUT, type_, outer=1).of(first), of_primitive)
        else:
            of_vertex.append(mirror.variable(variable, asm.OUTPUT, type_, outer=3))
    for place in of_vertex:
        for vertex, values in vertices:
            write(mirror, place.of(vertex), values)
    _index_triangle(module)
    return module.finish(_MESH, [_ONE_INVOCATION, *_ONE_TRIANGLE])


def task_before(consumer: EntryPoint, capabilities: Iterable[int]) -> bytes:
    """A task shader that writes the payload which `consumer`, a mesh shader, reads."""
    payload = task_payload(consumer)
    assert payload is not None
    module, mirror = _begin(capabilities)
    place = _payload(mirror, payload)
    write(mirror, place, Hash(mirror, _workgroup(module)))
    one = module.uint(1)
    return module.finish(_TASK, [_ONE_INVOCATION], _EMIT_MESH_TASKS, one, one, one, place.variable)


def _begin(capabilities: Iterable[int]) -> tuple[Assembler, Mirror]:
    module = Assembler((1, 4))  # SPV_EXT_mesh_shader builds on it
    module.capability(_MESH_SHADING)
    module.extension(_EXTENSION)
    return module, Mirror(module, capabilities)


def _workgroup(module: Assembler) -> int:
    """WorkgroupId.x: what values are made of that no compiler can know."""
    uint = module.scalar("uint", 32)
    uint3 = module.vector(uint, 3)
    workgroup = module.variable(asm.INPUT, uint3)
    module.decorate(workgroup, BUILT_IN, _WORKGROUP_ID)
    return module.op(COMPOSITE_EXTRACT, uint, module.op(asm.LOAD, uint3, workgroup), 0)


def _index_triangle(module: Assembler) -> None:
    """The one triangle, of the three vertices."""
    uint3 = module.vector(module.scalar("uint", 32), 3)
    indices = module.variable(asm.OUTPUT, module.array(uint3, 1))
    module.decorate(indices, BUILT_IN, _TRIANGLE_INDICES)
    _store(module, indices, 0, uint3, module.composite(uint3, [module.uint(vertex) for vertex in range(3)]))


def _payload(mirror: Mirror, payload: Variable) -> Place:
    variable = mirror.module.variable(_TASK_PAYLOAD, mirror.type(payload.type))
    return Place(variable, payload.type, _TASK_PAYLOAD)


def _store(module: Assembler, array: int, index: int, type_: int, value: int) -> None:
    pointer = module.op(asm.ACCESS_CHAIN, module.pointer(asm.OUTPUT, type_), array, module.uint(index))
    module.do(asm.STORE, pointer, value)
