"""Partner stages of ray tracing shaders, which talk by payloads, callable data and hit attributes.

A ray generation shader is what everything starts from; the others are written where something is called that the
pipeline hasn't got, so that what comes back is not known to the compiler.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shaderstat.spirv import assemble as asm
from shaderstat.spirv.assemble import Assembler
from shaderstat.spirv.facts import EntryPoint, Type, Variable
from shaderstat.spirv.mirror import BUILT_IN, UINT, Mirror, Place
from shaderstat.spirv.weave import COMPOSITE_EXTRACT, I_ADD, I_MUL, XOR, Fold, Hash, read, write

# Execution models by stage.
_MODELS = {"raygen": 5313, "closest_hit": 5316, "miss": 5317, "callable": 5318}

# Storage classes.
_STORAGE_BUFFER, CALLABLE_DATA, INCOMING_CALLABLE_DATA = 12, 5328, 5329
RAY_PAYLOAD, HIT_ATTRIBUTE, INCOMING_RAY_PAYLOAD = 5338, 5339, 5342

_RAY_TRACING, _EXTENSION = 4479, "SPV_KHR_ray_tracing"
_TYPE_ACCELERATION_STRUCTURE, _TRACE_RAY, _EXECUTE_CALLABLE = 5341, 4445, 4446  # opcodes
_LAUNCH_ID = 5319  # built-in
_BLOCK, _BINDING, _DESCRIPTOR_SET, _OFFSET = 2, 33, 34, 35  # decorations


def of_storage(entries: Iterable[EntryPoint], storage: int) -> list[Variable]:
    """The variables of a storage class among payloads, one of each type."""
    found: dict[int, Variable] = {}
    for entry in entries:
        known: dict[int, int] = {}
        for variable in entry.payloads:
            if variable.storage == storage:
                found.setdefault(_shape(variable.type, known), variable)
    return list(found.values())


def raygen_for(entries: Sequence[EntryPoint], capabilities: Iterable[int], place: tuple[int, int]) -> bytes:
    """A ray generation shader that traces a ray for every payload that `entries` take, calls what they are called with,
    and stores what comes back.

    Args:
        place: set and first of two binding numbers that are free: an acceleration structure and a storage buffer.
    """
    module, mirror, seed = _begin(capabilities)
    source, fold = Hash(mirror, seed), Fold(mirror)
    payloads = [variable.type for variable in of_storage(entries, INCOMING_RAY_PAYLOAD)]
    if not payloads and any(entry.stage != "callable" for entry in entries):
        payloads = [UINT]
    if payloads:
        structure_type = module.type(_TYPE_ACCELERATION_STRUCTURE)
        structure = module.variable(asm.UNIFORM_CONSTANT, structure_type)
        _bind(module, structure, *place)
        scene = module.op(asm.LOAD, structure_type, structure)
    for type_ in payloads:
        payload = _variable(mirror, type_, RAY_PAYLOAD)
        write(mirror, payload, source)
        vector = module.vector(module.scalar("float", 32), 3)
        origin, direction = (
            module.composite(vector, [module.float(float(axis == zero)) for axis in range(3)]) for zero in (0, 2)
        )
        none, all_ = module.uint(0), module.uint(0xFF)
        near, far = module.float(0.001), module.float(1000.0)
        module.do(_TRACE_RAY, scene, none, all_, none, none, none, origin, near, direction, far, payload.variable)
        read(mirror, payload, fold)
    for variable in of_storage(entries, INCOMING_CALLABLE_DATA):
        data = _variable(mirror, variable.type, CALLABLE_DATA)
        write(mirror, data, source)
        module.do(_EXECUTE_CALLABLE, module.uint(0), data.variable)
        read(mirror, data, fold)
    uint = module.scalar("uint", 32)
    block = module.distinct_type(asm.TYPE_STRUCT, uint)
    module.decorate(block, _BLOCK)
    module.decorate_member(block, 0, _OFFSET, 0)
    buffer = module.variable(_STORAGE_BUFFER, block)
    _bind(module, buffer, place[0], place[1] + 1)
    pointer = module.op(asm.ACCESS_CHAIN, module.pointer(_STORAGE_BUFFER, uint), buffer, module.uint(0))
    module.do(asm.STORE, pointer, fold.result())
    return module.finish(_MODELS["raygen"])


def answer_to(
    stage: str, call: Variable | None, capabilities: Iterable[int], attribute: Variable | None = None
) -> bytes:
    """A closest hit, miss or callable shader that changes all of what it is called with in a way of its own.

    Args:
        stage: which of the three.
        call: the caller's payload or callable data; None for a ray whose payload nobody knows.
        attribute: of a closest hit shader: the hit attribute that it uses.
    """
    module, mirror, seed = _begin(capabilities)
    incoming = INCOMING_CALLABLE_DATA if stage == "callable" else INCOMING_RAY_PAYLOAD
    data = _variable(mirror, UINT if call is None else call.type, incoming)
    fold = Fold(mirror)
    read(mirror, data, fold)
    if attribute is not None:
        read(mirror, _variable(mirror, attribute.type, HIT_ATTRIBUTE), fold)
    mixed = module.op(XOR, module.scalar("uint", 32), seed, fold.result())
    write(mirror, data, Hash(mirror, mixed))
    return module.finish(_MODELS[stage])


def _begin(capabilities: Iterable[int]) -> tuple[Assembler, Mirror, int]:
    """A module, its mirror, and a number that differs between invocations."""
    module = Assembler((1, 4))  # SPV_KHR_ray_tracing builds on it
    module.capability(_RAY_TRACING)
    module.extension(_EXTENSION)
    uint = module.scalar("uint", 32)
    uint3 = module.vector(uint, 3)
    launch = module.variable(asm.INPUT, uint3)
    module.decorate(launch, BUILT_IN, _LAUNCH_ID)
    value = module.op(asm.LOAD, uint3, launch)
    x, y = (module.op(COMPOSITE_EXTRACT, uint, value, axis) for axis in range(2))
    return module, Mirror(module, capabilities), module.op(I_ADD, uint, module.op(I_MUL, uint, y, module.uint(8192)), x)


def _variable(mirror: Mirror, type_: Type, storage: int) -> Place:
    return Place(mirror.module.variable(storage, mirror.type(type_)), type_, storage)


def _bind(module: Assembler, variable: int, number: int, binding: int) -> None:
    module.decorate(variable, _DESCRIPTOR_SET, number)
    module.decorate(variable, _BINDING, binding)


def _shape(type_: Type, known: dict[int, int]) -> int:
    """Equal for types that are alike, whichever module they are from. `known` holds those of one module by id: a type
    may be met many times."""
    found = known.get(type_.id)
    if found is None:
        parts = [_shape(member.type, known) for member in type_.members]
        if type_.element is not None:
            parts.append(_shape(type_.element, known))
        found = known[type_.id] = hash((type_.kind, type_.width, type_.signed, type_.length, *parts))
    return found
