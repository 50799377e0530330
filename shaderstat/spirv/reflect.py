"""A module's facts, entry point by entry point: what a pipeline layout and fixed-function state are made from.

What an entry point uses is what the functions that it can reach refer to, live code or not: a layout that declares
too much is good, one that declares too little crashes drivers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from shaderstat.errors import InvalidSpirv, Unsupported
from shaderstat.plain import dataclass
from shaderstat.spirv.bindings import PUSH_CONSTANT, RESOURCES, UNIFORM_CONSTANT, binding, merge, push_constants
from shaderstat.spirv.declare import Declarations
from shaderstat.spirv.facts import (
    EXECUTION_MODELS,
    Binding,
    EntryPoint,
    PushConstants,
    Reflection,
    SpecConstant,
    Type,
    Variable,
)
from shaderstat.spirv.layout import Sizes
from shaderstat.spirv.locations import INPUT, OUTPUT, interface
from shaderstat.spirv.module import Entry, Module, invalid
from shaderstat.spirv.parse import parse
from shaderstat.spirv.specialize import Scalar
from shaderstat.spirv.words import HEADER_WORDS, Words, text_round_trip_hint

# What entry points use, list and say, in all; beyond it a module was made to keep us busy.
MAX_FACTS = 200_000

_CAPABILITY_LINKAGE, _CAPABILITY_KERNEL, _MODEL_VERTEX, _MODEL_KERNEL = 5, 6, 0, 6
_CAPABILITY_TILE_SHADING = 4495
_WORKGROUP, _ATOMIC_COUNTER = 4, 10
# CallableData, IncomingCallableData, RayPayload, HitAttribute, IncomingRayPayload, HitObjectAttributeNV,
# TaskPayloadWorkgroupEXT.
_PAYLOADS = frozenset((5328, 5329, 5338, 5339, 5342, 5385, 5402))
_BOUND = RESOURCES | {PUSH_CONSTANT}

_SPEC_ID, _BLOCK, _BUILT_IN, _LOCATION, _BINDING, _SET = 1, 2, 11, 30, 33, 34
_FRAG_DEPTH, _WORKGROUP_SIZE, _VERTEX_ID, _INSTANCE_ID = 22, 25, 5, 6
_LOCAL_SIZE, _OUTPUT_VERTICES, _LOCAL_SIZE_ID, _ORIGIN_LOWER_LEFT = 17, 26, 38, 8

_TOPOLOGIES: Mapping[str, Mapping[int, str]] = {
    "geometry": {19: "points", 20: "lines", 21: "lines_adjacency", 22: "triangles", 23: "triangles_adjacency"},
    "tessellation_control": {22: "triangles", 24: "quads", 25: "isolines"},
    "tessellation_evaluation": {22: "triangles", 24: "quads", 25: "isolines"},
    "mesh": {27: "points", 5269: "lines", 5298: "triangles"},
}
_HAS_WORKGROUPS = frozenset(("compute", "task", "mesh"))

# An attachment array longer than this is told by its first ones.
_MAX_ATTACHMENTS = 1024


def reflect(
    words: Words, specialization: Mapping[int, Scalar] | None = None, *, only: tuple[str, str] | None = None
) -> Reflection:
    """The facts of a module, array lengths and sizes with the given values of specialization constants applied.

    Args:
        specialization: values by SpecId; ids that the module hasn't got are ignored.
        only: (stage, name) of the one entry point that is wanted; all of them otherwise.

    Raises:
        InvalidSpirv: with the codes of `shaderstat.spirv.parse.parse` and `shaderstat.spirv.declare.Declarations`,
            ``spirv/no-entry-point`` (libraries, which declare Linkage, have an empty list instead),
            ``spirv/no-capability``, ``spirv/recursive-function``, ``spirv/local-size``, ``limit/interface`` or
            ``limit/entry-points``.
        Unsupported: ``spirv/opencl-kernel``, ``spirv/opengl``, ``spirv/execution-model``, ``spirv/interface-type``.
    """
    try:
        return _reflect(words, specialization or {}, only)
    except InvalidSpirv as error:
        error.hint = error.hint or text_round_trip_hint(words.data)
        raise


def _reflect(words: Words, specialization: Mapping[int, Scalar], only: tuple[str, str] | None) -> Reflection:
    module = parse(words)
    if _CAPABILITY_KERNEL in module.capabilities or any(entry.model == _MODEL_KERNEL for entry in module.entries):
        raise Unsupported("spirv/opencl-kernel", "is an OpenCL kernel module: not for Vulkan")
    if not module.entries and _CAPABILITY_LINKAGE not in module.capabilities:
        raise InvalidSpirv("spirv/no-entry-point", "has no entry point", offset=HEADER_WORDS * 4)
    if not module.capabilities:
        raise InvalidSpirv("spirv/no-capability", "declares no capability", offset=HEADER_WORDS * 4)
    reflector = _Reflector(Declarations(module, specialization))
    entries = tuple(
        reflector.entry(entry)
        for entry in module.entries
        if only is None or (EXECUTION_MODELS.get(entry.model), entry.name) == only
    )
    return Reflection(
        version=words.version,
        generator=words.generator,
        entries=entries,
        capabilities=tuple(dict.fromkeys(module.capabilities)),
        extensions=tuple(module.extensions),
        addressing=module.addressing,
        memory=module.memory,
        unknown_opcodes=tuple(sorted(module.unknown_opcodes)),
        unused_bindings=reflector.unused(module.entries[0]) if len(module.entries) == 1 else (),
        pointees=reflector.declarations.forward_pointees(),
    )


@dataclass(slots=True)
class _Resources:
    """What follows from a set of variables in use; `opengl` says by which of them the module is OpenGL's."""

    bindings: tuple[Binding, ...]
    push_constants: PushConstants | None
    shared_bytes: int
    attachments: tuple[int, ...]
    payloads: tuple[Variable, ...]
    variables: tuple[Variable, ...]
    opengl: str | None


class _Reflector:
    """What the entry points of one module share."""

    def __init__(self, declarations: Declarations) -> None:
        self.declarations = declarations
        self.module: Module = declarations.module
        self.sizes = Sizes()
        self.spec_constants = _spec_constants(declarations)
        self.workgroup_size = _workgroup_size(declarations)
        # Variables by position, so that what a function reaches is a bit mask and costs little to add up.
        self.order = list(self.module.variables)
        self.position = {id: position for position, id in enumerate(self.order)}
        self.reached: dict[int, int] = {}
        self.resources: dict[int, _Resources] = {}
        self.binding_of: dict[int, Binding | None] = {}
        self.facts = 0

    def entry(self, entry: Entry) -> EntryPoint:
        module, declarations = self.module, self.declarations
        stage = EXECUTION_MODELS.get(entry.model)
        if stage is None:
            raise Unsupported(
                "spirv/execution-model", f"entry point {entry.name!r} has execution model {entry.model}, not known here"
            )
        resources = self._resources(entry)
        listed = [declarations.variable(id) for id in entry.interface if id in module.variables]
        modes = self._modes(entry)
        self._count(sum(map(_weight, listed)) + len(modes), entry)
        _refuse_opengl(resources.opengl or _opengl_interface(entry.model, listed, modes))
        inputs = interface(stage, INPUT, (each for each in listed if each.storage == INPUT))
        outputs = interface(stage, OUTPUT, (each for each in listed if each.storage == OUTPUT))
        self._count(len(inputs.located) + len(outputs.located), entry)
        payloads = {each.id: each for each in (*listed, *resources.payloads) if each.storage in _PAYLOADS}
        vertices = modes.get(_OUTPUT_VERTICES)
        return EntryPoint(
            name=entry.name,
            stage=stage,
            bindings=resources.bindings,
            push_constants=resources.push_constants,
            spec_constants=self.spec_constants,
            inputs=inputs.located,
            outputs=outputs.located,
            builtins_in=inputs.builtins,
            builtins_out=outputs.builtins,
            input_variables=inputs.variables,
            output_variables=outputs.variables,
            local_size=self._local_size(entry, modes) if stage in _HAS_WORKGROUPS else None,
            modes=modes,
            shared_bytes=resources.shared_bytes,
            patch_control_points=vertices[0] if vertices and stage == "tessellation_control" else None,
            topology=next((word for mode, word in _TOPOLOGIES.get(stage, {}).items() if mode in modes), None),
            writes_depth=_FRAG_DEPTH in outputs.builtins,
            dual_source=stage == "fragment" and any(each.index == 1 for each in outputs.located),
            input_attachment_indices=resources.attachments,
            payloads=tuple(payloads[id] for id in sorted(payloads)),
            resources=resources.variables,
        )

    def _resources(self, entry: Entry) -> _Resources:
        """What the functions that `entry` reaches refer to; entry points that use the same variables share it."""
        mask = self._reach(entry)
        found = self.resources.get(mask)
        if found is None:
            bits = reversed(f"{mask:b}")
            used = [self.declarations.variable(id) for id, bit in zip(self.order, bits, strict=False) if bit == "1"]
            self._count(sum(map(_weight, used)), entry)
            merged = self._bindings(used)
            found = self.resources[mask] = _Resources(
                bindings=merged,
                push_constants=push_constants(used, self.sizes),
                shared_bytes=self._shared_bytes(used),
                attachments=_attachments(merged),
                payloads=tuple(each for each in used if each.storage in _PAYLOADS),
                variables=tuple(each for each in used if each.storage in _BOUND and each.builtin is None),
                opengl=_opengl_uniform(used),
            )
        return found

    def _bindings(self, variables: Iterable[Variable]) -> tuple[Binding, ...]:
        known, found = self.binding_of, []
        for variable in variables:
            if variable.id not in known:
                known[variable.id] = binding(variable, self.module.name)
            found.append(known[variable.id])
        return merge(each for each in found if each is not None)

    def _count(self, facts: int, entry: Entry) -> None:
        self.facts += facts
        if self.facts > MAX_FACTS:
            raise invalid("limit/entry-points", f"entry points with more than {MAX_FACTS} facts to tell", entry.index)

    def unused(self, entry: Entry) -> tuple[Binding, ...]:
        """Bindings that are declared, and decorated in full, but not used by `entry`, the module's only one."""
        mask = self._reach(entry)
        bits = reversed(f"{mask:0{len(self.order)}b}")
        declared = (self.declarations.variable(id) for id, bit in zip(self.order, bits, strict=False) if bit == "0")
        bound = (each for each in declared if _SET in each.decorations and _BINDING in each.decorations)
        return self._bindings(bound)

    def _reach(self, entry: Entry) -> int:
        """Bits of the variables that `entry`'s function and those that it calls, near or far, refer to."""
        functions, reached = self.module.functions, self.reached
        open_calls: set[int] = set()  # functions that are being gone through: a call of one is a cycle
        pending = [entry.function]
        while pending:
            current = pending[-1]
            function = functions.get(current)
            if current in reached or function is None:
                pending.pop()
                continue
            if current in open_calls:  # all that it calls is known now
                mask = sum(1 << self.position[id] for id in function.uses)
                for callee in function.calls:
                    mask |= reached.get(callee, 0)
                reached[current] = mask
                open_calls.discard(current)
                pending.pop()
                continue
            open_calls.add(current)
            for callee, index in function.calls.items():
                if callee in open_calls:
                    # SPIR-V specification 2.16.1: an entry point's call graph has no cycles.
                    raise invalid("spirv/recursive-function", f"function %{callee} calls itself in the end", index)
                pending.append(callee)
        return reached.get(entry.function, 0)

    def _modes(self, entry: Entry) -> dict[int, tuple[int, ...]]:
        """Execution modes with ids evaluated; an id whose value can't be told is left as 0."""
        modes = dict(self.module.modes.get(entry.function, {}))
        for mode, ids in self.module.mode_ids.get(entry.function, {}).items():
            values = [self.declarations.value(id, entry.index) for id in ids]
            modes[mode] = tuple(value if isinstance(value, int) else 0 for value in values)
        return modes

    def _local_size(self, entry: Entry, modes: Mapping[int, tuple[int, ...]]) -> tuple[int, int, int] | None:
        """The WorkgroupSize object over LocalSizeId over LocalSize (Vulkan specification, "WorkgroupSize")."""
        size = self.workgroup_size or modes.get(_LOCAL_SIZE_ID) or modes.get(_LOCAL_SIZE)
        if size is None or len(size) < 3:
            if _CAPABILITY_TILE_SHADING in self.module.capabilities or self.module.newer:
                return None
            raise invalid("spirv/local-size", f"entry point {entry.name!r} says no workgroup size", entry.index)
        if not all(0 < each < 1 << 32 for each in size[:3]):
            raise invalid(
                "spirv/local-size",
                f"entry point {entry.name!r} has a workgroup of {size[0]}×{size[1]}×{size[2]}",
                entry.index,
            )
        return size[0], size[1], size[2]

    def _shared_bytes(self, used: Iterable[Variable]) -> int:
        """Workgroup memory: blocks with an explicit layout lie upon each other, the others side by side."""
        packed = overlaid = 0
        for variable in used:
            if variable.storage != _WORKGROUP:
                continue
            size = self.sizes.size(variable.type)
            if size is None:
                return 0
            if _BLOCK in variable.type.decorations:
                overlaid = max(overlaid, size)
            else:
                packed += size
        return packed + overlaid


# What only OpenGL has (GL_ARB_gl_spirv), and Vulkan's drivers crash on.


def _opengl_uniform(used: Iterable[Variable]) -> str | None:
    for variable in used:
        if variable.storage == _ATOMIC_COUNTER:
            return f"{variable.name or 'a variable'} is an atomic counter"
        if variable.storage in RESOURCES and _SET not in variable.decorations:
            plain = variable.storage == UNIFORM_CONSTANT and _is_data(variable.type)
            if plain or (_LOCATION in variable.decorations and _BINDING not in variable.decorations):
                return f"{variable.name or 'a uniform'} is a uniform outside a block, without a descriptor set"
    return None


def _opengl_interface(model: int, listed: Iterable[Variable], modes: Mapping[int, tuple[int, ...]]) -> str | None:
    if _ORIGIN_LOWER_LEFT in modes:
        return "its origin is the lower left"
    built_ins = {variable.builtin for variable in listed}
    if _VERTEX_ID in built_ins:
        return "it reads VertexId (Vulkan has VertexIndex)"
    if model == _MODEL_VERTEX and _INSTANCE_ID in built_ins:  # ray tracing stages have one
        return "it reads InstanceId (Vulkan has InstanceIndex)"
    return None


def _refuse_opengl(sign: str | None) -> None:
    if sign:
        raise Unsupported(
            "spirv/opengl",
            f"is OpenGL SPIR-V, not for Vulkan: {sign}",
            hint="compile it for Vulkan: glslangValidator -V, not -G",
        )


def _weight(variable: Variable) -> int:
    """About what a look at a variable costs: a block's members are looked at as well."""
    type = variable.type.element or variable.type
    return 1 + max(len(type.members), len(type.element.members if type.element else ())) // 16


def _is_data(type: Type) -> bool:
    while type.kind in ("array", "runtime_array") and type.element:
        type = type.element
    return type.kind in ("bool", "int", "float", "vector", "matrix", "struct")


def _attachments(found: Iterable[Binding]) -> tuple[int, ...]:
    """The input attachments that are read: an array of them takes consecutive indices."""
    indices: set[int] = set()
    for each in found:
        first = each.input_attachment_index
        if first is not None:
            count = 1 if each.count == "runtime" else each.count
            indices.update(range(first, first + min(count, _MAX_ATTACHMENTS)))
    return tuple(sorted(indices))


def _spec_constants(declarations: Declarations) -> tuple[SpecConstant, ...]:
    """One for each SpecId, in the module's order: an id may stand on several constants, and reaches them all."""
    module = declarations.module
    found: dict[int, SpecConstant] = {}
    for constant in declarations.spec_constants:
        id = module.decorations[constant][_SPEC_ID][0]
        type = declarations.types.get(module.code[module.definitions[constant] + 1]) or Type(0, "other")
        word, size = _spec_type(type)
        first = found.get(id)
        if first is None:
            default = declarations.default(constant)
            found[id] = SpecConstant(
                id, module.name(constant), word, default if isinstance(default, (int, float)) else 0, size
            )
        else:
            others = first.other_types
            if word != first.type and word not in others:
                others = (*others, word)
            name = first.name or module.name(constant)
            found[id] = SpecConstant(id, name, first.type, first.default, first.size, first.shared + 1, others)
    return tuple(found.values())


def _spec_type(type: Type) -> tuple[str, int]:
    if type.kind == "bool":
        return "bool", 4
    if type.kind == "int":
        return f"{'int' if type.signed else 'uint'}{type.width}", type.width // 8
    return f"float{type.width}" if type.kind == "float" else "other", type.width // 8


def _workgroup_size(declarations: Declarations) -> tuple[int, ...] | None:
    """The value of the constant that is decorated with the built-in WorkgroupSize."""
    module = declarations.module
    for id, decorations in module.decorations.items():
        if decorations.get(_BUILT_IN) == (_WORKGROUP_SIZE,) and id in module.definitions:
            value = declarations.value(id, module.definitions[id])
            if isinstance(value, tuple) and all(isinstance(each, int) for each in value):
                return tuple(each for each in value if isinstance(each, int))
    return None
