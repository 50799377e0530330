"""Partner stages: what a graphics stage needs before and after it to be compiled whole.

Each function writes one module (entry point ``main``) for the other side of a stage's interface. What the stage reads
is given values that no compiler can know, each component its own; what it writes is all used
(`shaderstat.spirv.weave`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from shaderstat.spirv import assemble as asm
from shaderstat.spirv.assemble import Assembler
from shaderstat.spirv.facts import EntryPoint, Type, Variable
from shaderstat.spirv.mirror import (
    BUILT_IN,
    FLOAT,
    INT,
    LOCATION,
    PATCH,
    PER_VERTEX,
    STREAM,
    VEC4,
    Mirror,
    Place,
    floats,
    is_built_in,
)
from shaderstat.spirv.weave import (
    COMPOSITE_CONSTRUCT,
    I_ADD,
    I_MUL,
    Attributes,
    Fold,
    Hash,
    load_built_in,
    read,
    write,
)

# Execution models.
_VERTEX, _CONTROL, _EVALUATION, _FRAGMENT = 0, 1, 2, 4

# Capabilities, by their names in the specification.
_SHADER, _TESSELLATION, _TESSELLATION_POINT_SIZE, _GEOMETRY_POINT_SIZE = 1, 3, 23, 24
_CLIP_DISTANCE, _CULL_DISTANCE, _SHADER_LAYER, _SHADER_VIEWPORT_INDEX, _VIEWPORT_INDEX_LAYER = 32, 33, 69, 70, 5254

_MESH_EXT, _MESH_NV = (5283, "SPV_EXT_mesh_shader"), (5266, "SPV_NV_mesh_shader")

# Built-ins.
_BUILT_IN_CLIP_DISTANCE, _BUILT_IN_CULL_DISTANCE = 3, 4
_POSITION, _POINT_SIZE, _PRIMITIVE_ID, _INVOCATION_ID, _LAYER, _VIEWPORT_INDEX = 0, 1, 7, 8, 9, 10
_TESS_LEVEL_OUTER, _TESS_LEVEL_INNER, _TESS_COORD, _POINT_COORD = 11, 12, 13, 16

# Execution modes.
_ORIGIN_UPPER_LEFT, _TRIANGLES, _QUADS, _ISOLINES, _OUTPUT_VERTICES = 7, 22, 24, 25, 26
_DOMAINS, _SPACINGS, _ORDERS = (_TRIANGLES, _QUADS, _ISOLINES), (1, 2, 3), (4, 5)
_SPACING_EQUAL, _VERTEX_ORDER_CCW = 1, 5

# gl_MaxPatchVertices: compilers declare the arrays over a patch's vertices with it, and every device has it.
_PATCH_ARRAY = 32
# Vertices of a patch that are read back: any read keeps an output alive, and a loop over 32 would only be slow.
_PATCH_READ = 4


def vertex_before(consumer: EntryPoint, capabilities: Iterable[int], attributes: int, layer: str = "") -> bytes:
    """A vertex shader that writes everything that `consumer` reads: a fragment, tessellation control or geometry
    shader.

    Args:
        capabilities: of the consumer's module.
        attributes: how many vertex attributes the device has.
        layer: how a vertex shader may write Layer and ViewportIndex: ``core`` (the features of Vulkan 1.2),
            ``extension`` (VK_EXT_shader_viewport_index_layer), or not at all.
    """
    arrayed = consumer.stage != "fragment"
    module = Assembler((1, 5) if layer == "core" and consumer.builtins_in & {_LAYER, _VIEWPORT_INDEX} else (1, 0))
    module.capability(_SHADER)
    mirror = Mirror(module)
    source = Attributes(mirror, attributes)
    if arrayed:
        for target in _built_ins(mirror, consumer.input_variables, capabilities, asm.OUTPUT):
            write(mirror, target, source)
    else:
        write(mirror, mirror.built_in(_POSITION, VEC4), source)
        for built_in, type_ in read_by_fragment(mirror, consumer, layer):
            write(mirror, mirror.built_in(built_in, type_), source)
    for variable in _user(consumer.input_variables):
        type_ = _element(variable.type) if arrayed or PER_VERTEX in variable.decorations else variable.type
        write(mirror, mirror.variable(variable, asm.OUTPUT, type_), source)
    return module.finish(_VERTEX)


def fragment_after(producer: EntryPoint, capabilities: Iterable[int]) -> bytes:
    """A fragment shader that uses everything that `producer` writes: a vertex, tessellation evaluation, geometry or
    mesh shader. Built-ins are used by what stands between the two stages."""
    per_primitive = any(one.per_primitive for one in producer.outputs)
    module = Assembler((1, 4) if per_primitive else (1, 0))
    module.capability(_SHADER)
    if per_primitive:
        capability, extension = _MESH_NV if _MESH_NV[0] in capabilities else _MESH_EXT
        module.capability(capability)
        module.extension(extension)
    mirror = Mirror(module)
    fold = Fold(mirror)
    for variable in _user(producer.output_variables):
        if variable.decorations.get(STREAM, (0,)) != (0,):
            continue  # goes to transform feedback alone
        type_ = _element(variable.type) if producer.stage == "mesh" else variable.type
        read(mirror, mirror.variable(variable, asm.INPUT, type_, flat=True), fold)
    _write_result(module, fold)
    return module.finish(_FRAGMENT, [(_ORIGIN_UPPER_LEFT,)])


def control_before(consumer: EntryPoint, capabilities: Iterable[int], points: int) -> bytes:
    """A tessellation control shader that writes everything that `consumer`, an evaluation shader, reads.

    Args:
        points: vertices of its output patch.
    """
    module = Assembler()
    module.capability(_SHADER, _TESSELLATION)
    mirror = Mirror(module)
    primitive, invocation = load_built_in(module, _PRIMITIVE_ID), load_built_in(module, _INVOCATION_ID)
    uint = module.scalar("uint", 32)
    of_patch = Hash(mirror, primitive)
    seed = module.op(I_ADD, uint, module.op(I_MUL, uint, primitive, module.uint(_PATCH_ARRAY)), invocation)
    of_vertex = Hash(mirror, seed)
    for variable in _user(consumer.input_variables):
        if PATCH in variable.decorations:
            write(mirror, mirror.variable(variable, asm.OUTPUT, variable.type), of_patch)
            continue
        type_ = _element(variable.type)
        write(mirror, mirror.variable(variable, asm.OUTPUT, type_, outer=points).of(invocation), of_vertex)
    for target in _built_ins(mirror, consumer.input_variables, capabilities, asm.OUTPUT, points):
        write(mirror, target.of(invocation), of_vertex)
    for built_in, length in ((_TESS_LEVEL_OUTER, 4), (_TESS_LEVEL_INNER, 2)):
        levels = mirror.built_in(built_in, floats(length))
        module.decorate(levels.variable, PATCH)
        write(mirror, levels, of_patch)
    modes = _missing_modes(consumer, _TRIANGLES)
    return module.finish(_CONTROL, [(_OUTPUT_VERTICES, points), *modes])


def evaluation_after(producer: EntryPoint, capabilities: Iterable[int]) -> bytes:
    """A tessellation evaluation shader that uses everything that `producer`, a control shader, writes, and passes it on
    in one varying. Its domain is the producer's if that says one, else quads, which use all levels."""
    module = Assembler()
    module.capability(_SHADER, _TESSELLATION)
    mirror = Mirror(module)
    fold = Fold(mirror)
    vertices = [module.uint(vertex) for vertex in range(min(producer.patch_control_points or 1, _PATCH_READ))]
    for variable in _user(producer.output_variables):
        if PATCH in variable.decorations:
            read(mirror, mirror.variable(variable, asm.INPUT, variable.type), fold)
            continue
        type_ = _element(variable.type)
        mirrored = mirror.variable(variable, asm.INPUT, type_, outer=_PATCH_ARRAY)
        for vertex in vertices:
            read(mirror, mirrored.of(vertex), fold)
    for target in _built_ins(mirror, producer.output_variables, capabilities, asm.INPUT, _PATCH_ARRAY):
        for vertex in vertices:
            read(mirror, target.of(vertex), fold)
    _write_result(module, fold)
    # Where the vertex lies is of no interest, but it must depend on the coordinate.
    float3 = module.vector(module.scalar("float", 32), 3)
    coordinate = module.variable(asm.INPUT, float3)
    module.decorate(coordinate, BUILT_IN, _TESS_COORD)
    value = module.op(asm.LOAD, float3, coordinate)
    position = mirror.built_in(_POSITION, VEC4)
    vector = module.op(COMPOSITE_CONSTRUCT, mirror.type(VEC4), value, module.float(1.0))
    module.do(asm.STORE, position.variable, vector)
    return module.finish(_EVALUATION, _missing_modes(producer, _QUADS))


# ── Variables and what is in them ─────────────────────────────────────────────────────────────────────────────────


def _write_result(module: Assembler, fold: Fold) -> None:
    """What was used up goes to location 0."""
    result = module.variable(asm.OUTPUT, module.scalar("uint", 32))
    module.decorate(result, LOCATION, 0)
    module.do(asm.STORE, result, fold.result())


def _user(variables: Sequence[Variable]) -> Iterator[Variable]:
    return (variable for variable in variables if not is_built_in(variable))


def _element(type_: Type) -> Type:
    """What there is of each vertex."""
    assert type_.kind == "array", type_.kind
    assert type_.element is not None
    return type_.element


def _built_ins(
    mirror: Mirror, variables: Sequence[Variable], capabilities: Iterable[int], storage: int, outer: int | None = None
) -> list[Place]:
    """The other side of what `variables` have of gl_PerVertex, as a block or one by one; of it those places that the
    other stage can use. In `variables` they are arrays over vertices; here they are if `outer` is a length."""
    module = mirror.module
    usable = {_POSITION}
    for built_in, needed in _NEEDED.items():
        if not needed.isdisjoint(capabilities):
            usable.add(built_in)
    places = []
    for variable in variables:
        if variable.type.kind != "array" or not is_built_in(variable) or PATCH in variable.decorations:
            continue
        type_ = _element(variable.type)
        if variable.builtin is not None and variable.builtin not in _PER_VERTEX:
            continue
        inner = mirror.type(type_)
        mirrored = module.variable(storage, inner if outer is None else module.array(inner, outer))
        if variable.builtin is not None:
            module.decorate(mirrored, BUILT_IN, variable.builtin)
            found = [(variable.builtin, Place(mirrored, type_, storage))]
        else:
            found = [
                (member.decorations[BUILT_IN][0], Place(mirrored, member.type, storage, (module.uint(index),)))
                for index, member in enumerate(type_.members)
            ]
        for built_in, place in found:
            if built_in in usable:
                places.append(place)
                module.capability(*_OWN.get((built_in, outer is not None), ()))
    return places


_PER_VERTEX = (_POSITION, _POINT_SIZE, _BUILT_IN_CLIP_DISTANCE, _BUILT_IN_CULL_DISTANCE)
# A member of gl_PerVertex is used only if the module has one of these; a block may declare it without.
_NEEDED = {
    _POINT_SIZE: frozenset((_TESSELLATION_POINT_SIZE, _GEOMETRY_POINT_SIZE)),
    _BUILT_IN_CLIP_DISTANCE: frozenset((_CLIP_DISTANCE,)),
    _BUILT_IN_CULL_DISTANCE: frozenset((_CULL_DISTANCE,)),
}
# What using it needs here; a vertex shader may write PointSize as it likes.
_OWN = {
    (_POINT_SIZE, True): (_TESSELLATION_POINT_SIZE,),
    (_BUILT_IN_CLIP_DISTANCE, True): (_CLIP_DISTANCE,),
    (_BUILT_IN_CLIP_DISTANCE, False): (_CLIP_DISTANCE,),
    (_BUILT_IN_CULL_DISTANCE, True): (_CULL_DISTANCE,),
    (_BUILT_IN_CULL_DISTANCE, False): (_CULL_DISTANCE,),
}


def read_by_fragment(mirror: Mirror, consumer: EntryPoint, layer: str) -> Iterator[tuple[int, Type]]:
    """Built-ins that a fragment shader reads and a vertex shader must write for it, with their types; `layer` as in
    `vertex_before`."""
    module = mirror.module
    if _POINT_COORD in consumer.builtins_in:
        yield _POINT_SIZE, FLOAT
    for variable in consumer.input_variables:
        # GLSL has them alone or in a block.
        members = (
            [(variable.builtin, variable.type)]
            if variable.builtin is not None
            else [(member.decorations.get(BUILT_IN, (None,))[0], member.type) for member in variable.type.members]
        )
        for built_in, type_ in members:
            if built_in == _BUILT_IN_CLIP_DISTANCE or built_in == _BUILT_IN_CULL_DISTANCE:
                module.capability(_CLIP_DISTANCE if built_in == _BUILT_IN_CLIP_DISTANCE else _CULL_DISTANCE)
                yield built_in, floats(type_.length)
    for built_in, capability in ((_LAYER, _SHADER_LAYER), (_VIEWPORT_INDEX, _SHADER_VIEWPORT_INDEX)):
        if layer and built_in in consumer.builtins_in:
            if layer == "core":
                module.capability(capability)
            else:
                module.capability(_VIEWPORT_INDEX_LAYER)
                module.extension("SPV_EXT_shader_viewport_index_layer")
            yield built_in, INT


def _missing_modes(other: EntryPoint, domain: int) -> list[tuple[int, ...]]:
    """Tessellation modes may stand on either stage, but must on one; what `other` has is repeated, since then both must
    agree (VUID-VkGraphicsPipelineCreateInfo-pStages-00732 and on)."""
    modes: list[tuple[int, ...]] = []
    for group, default in ((_DOMAINS, domain), (_SPACINGS, _SPACING_EQUAL), (_ORDERS, _VERTEX_ORDER_CCW)):
        said = [mode for mode in group if mode in other.modes]
        modes.append((said[0] if said else default,))
    return modes
