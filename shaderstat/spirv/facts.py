"""What reflection finds in a module: plain data that synthesis, the mock and the commands work on.

Offsets, strides and sizes are in bytes. Locations are those of the SPIR-V decorations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from shaderstat.plain import dataclass

# The stages' words (shaderstat.model.STAGE_BITS) by SPIR-V execution model; NV's task and mesh models included.
EXECUTION_MODELS: Mapping[int, str] = {
    0: "vertex",
    1: "tessellation_control",
    2: "tessellation_evaluation",
    3: "geometry",
    4: "fragment",
    5: "compute",
    5267: "task",
    5268: "mesh",
    5313: "raygen",
    5314: "intersection",
    5315: "any_hit",
    5316: "closest_hit",
    5317: "miss",
    5318: "callable",
    5364: "task",
    5365: "mesh",
}

# A binding whose count is the device's choice (OpTypeRuntimeArray).
RUNTIME = "runtime"


@dataclass(frozen=True, slots=True)
class ScannedEntry:
    """An entry point found by the scan. `stage` is a word of `EXECUTION_MODELS`, or ``kernel`` or ``model N``."""

    name: str
    stage: str
    inputs: frozenset[int] = frozenset()
    outputs: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Scan:
    """What can be told of a module without reading its types: a few microseconds.

    `inputs` and `outputs` of an entry are the locations decorated on its interface variables or on the members of
    their block types.
    """

    version: tuple[int, int]
    generator: int
    entries: tuple[ScannedEntry, ...]
    capabilities: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Binding:
    """A descriptor binding of one entry point.

    Attributes:
        type: VkDescriptorType's name without its prefix: ``COMBINED_IMAGE_SAMPLER``.
        count: descriptors, the product of all array dimensions; ``"runtime"`` where one of them is unsized.
        name: from OpName, for people.
        readonly: NonWritable on the variable or on every member.
        input_attachment_index: of an INPUT_ATTACHMENT, the first; None elsewhere and where there is none.
        multisampled: of an image.
        alternatives: of a ``MUTABLE_EXT`` binding (VK_EXT_mutable_descriptor_type): the types of the variables that
            share it; empty elsewhere.
    """

    set: int
    binding: int
    type: str
    count: int | Literal["runtime"]
    name: str = ""
    readonly: bool = False
    input_attachment_index: int | None = None
    multisampled: bool = False
    alternatives: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PushConstants:
    """The smallest range of whole words that covers the block's members."""

    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class SpecConstant:
    """One SpecId. `type` is ``bool``, ``int32``, ``uint64``, ``float16``, …; `default` is the value; `size` in bytes of
    the data handed to the driver (4 for a bool: VkBool32). `shared` counts the constants of that id: the first tells
    type and default, `other_types` are those of the others where they differ."""

    id: int
    name: str
    type: str
    default: int | float | bool
    size: int
    shared: int = 1
    other_types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InterfaceVariable:
    """One location's worth of an Input or Output variable, flattened: a matrix has one for each column, an array one
    for each element, a block one for each member; 64-bit vectors of three and four components take two locations but
    stand once, at the first. The outer per-vertex array of tessellation, geometry and mesh interfaces is left out.

    Attributes:
        scalar: ``float``, ``int`` or ``uint``; `width` in bits: 8, 16, 32, 64.
        components: 1 to 4.
        index: the Index decoration (1 is the second source of dual-source blending).
    """

    location: int
    component: int
    scalar: Literal["float", "int", "uint"]
    width: int
    components: int
    name: str = ""
    index: int = 0
    flat: bool = False
    noperspective: bool = False
    centroid: bool = False
    sample: bool = False
    patch: bool = False
    per_vertex: bool = False
    per_primitive: bool = False


@dataclass(frozen=True, slots=True)
class Type:
    """A node of the type graph (memoised by id: a type stands once, however often it is used).

    Attributes:
        kind: ``void bool int float vector matrix array runtime_array struct pointer image sampler sampled_image
            acceleration_structure ray_query function``, or ``other`` with the opcode in `opcode` (0 where it is not
            known; 22 for floats that are none of IEEE's).
        width: bits of an int or float; `signed` of an int.
        element: component, column, array element, pointee (None where it is declared only later), sampled type of an
            image, or the image of a sampled image.
        length: components, columns, or the array length with specialization applied (0 for a run-time array, and
            where the length is made by an operation that is not known).
        members: of a struct.
        storage: storage class of a pointer.
        image: (dim, depth, arrayed, multisampled, sampled, format) of an image.
        array_stride: of an array, 0 where undecorated.
    """

    id: int
    kind: str
    opcode: int = 0
    width: int = 0
    signed: bool = False
    element: Type | None = None
    length: int = 0
    members: tuple[Member, ...] = ()
    storage: int = 0
    image: tuple[int, int, int, int, int, int] | None = None
    array_stride: int = 0
    decorations: Mapping[int, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Member:
    """A struct's member; `decorations` maps a decoration's number to its operands."""

    type: Type
    name: str = ""
    decorations: Mapping[int, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Variable:
    """A module-scope variable of an entry point: `type` is the pointee. `builtin` is its BuiltIn number, or None (then
    a struct's members may carry them)."""

    id: int
    name: str
    storage: int
    type: Type
    decorations: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    builtin: int | None = None


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """All that reflection finds for one entry point, with the given specialization applied.

    Attributes:
        inputs, outputs: user-defined interface by location, sorted by (location, component, index).
        builtins_in, builtins_out: BuiltIn numbers that its interface holds.
        input_variables, output_variables: the same interface as variables with whole types, for partner stages.
        local_size: of compute, task and mesh; None elsewhere.
        modes: execution modes: number → operands (ids evaluated).
        shared_bytes: Workgroup variables, tightly packed; 0 where a size can't be told.
        patch_control_points: OutputVertices of a tessellation control stage.
        topology: what the stage wants or makes: ``points lines lines_adjacency triangles triangles_adjacency`` for
            geometry's input, ``triangles quads isolines`` for tessellation, output primitives for mesh; None elsewhere.
        writes_depth: FragDepth is in the interface; `dual_source`: an output has Index 1.
        payloads: ray payload, callable data, hit attribute and task payload variables.
        resources: the variables behind `bindings` and `push_constants`, with whole types.
    """

    name: str
    stage: str
    bindings: tuple[Binding, ...] = ()
    push_constants: PushConstants | None = None
    spec_constants: tuple[SpecConstant, ...] = ()
    inputs: tuple[InterfaceVariable, ...] = ()
    outputs: tuple[InterfaceVariable, ...] = ()
    builtins_in: frozenset[int] = frozenset()
    builtins_out: frozenset[int] = frozenset()
    input_variables: tuple[Variable, ...] = ()
    output_variables: tuple[Variable, ...] = ()
    local_size: tuple[int, int, int] | None = None
    modes: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    shared_bytes: int = 0
    patch_control_points: int | None = None
    topology: str | None = None
    writes_depth: bool = False
    dual_source: bool = False
    input_attachment_indices: tuple[int, ...] = ()
    payloads: tuple[Variable, ...] = ()
    resources: tuple[Variable, ...] = ()


@dataclass(frozen=True, slots=True)
class Reflection:
    """A module's facts.

    Attributes:
        capabilities: numbers, in the module's order; `extensions`: OpExtension strings.
        addressing, memory: of OpMemoryModel.
        unknown_opcodes: opcodes that the tables don't know, skipped by their word count.
        unused_bindings: of a module with one entry point: what it declares beside the bindings that are used. The
            application's own layout has them as a rule, and where a descriptor lies decides about code.
        pointees: what pointers lead to that are declared before it (OpTypeForwardPointer), by the pointer's id.
    """

    version: tuple[int, int]
    generator: int
    entries: tuple[EntryPoint, ...]
    capabilities: tuple[int, ...]
    extensions: tuple[str, ...]
    addressing: int = 0
    memory: int = 1
    unknown_opcodes: tuple[int, ...] = ()
    unused_bindings: tuple[Binding, ...] = ()
    pointees: Mapping[int, Type] = field(default_factory=dict)
