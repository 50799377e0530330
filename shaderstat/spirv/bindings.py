"""Descriptor bindings and push constants of an entry point (Vulkan specification, "Shader Resource Interface")."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Literal, TypeAlias

from shaderstat.spirv.facts import Binding, PushConstants, Type, Variable
from shaderstat.spirv.layout import Sizes

Count: TypeAlias = 'int | Literal["runtime"]'

UNIFORM_CONSTANT, UNIFORM, PUSH_CONSTANT, STORAGE_BUFFER = 0, 2, 9, 12
RESOURCES = frozenset((UNIFORM_CONSTANT, UNIFORM, STORAGE_BUFFER))

_BUFFER_BLOCK, _NON_WRITABLE, _BINDING, _SET, _ATTACHMENT = 3, 24, 33, 34, 43
_WEIGHT_TEXTURE, _BLOCK_MATCH_TEXTURE = 4487, 4488
_DIM_BUFFER, _DIM_SUBPASS = 5, 6
_SAMPLED = 1
_TENSOR = 4163

# Types that share a binding and make one of both (Vulkan specification: a combined image sampler may be used by
# variables of either type alone; DXC writes such pairs).
_COMBINED = frozenset(("SAMPLER", "SAMPLED_IMAGE", "COMBINED_IMAGE_SAMPLER"))


def merge(found: Iterable[Binding]) -> tuple[Binding, ...]:
    """Bindings by set and number, those of one place made one."""
    places: dict[tuple[int, int], Binding] = {}
    for binding in found:
        place = binding.set, binding.binding
        places[place] = _merged(places[place], binding) if place in places else binding
    return tuple(places[place] for place in sorted(places))


def binding(variable: Variable, name_of: Callable[[int], str]) -> Binding | None:
    """The binding of a variable; None for one that is no descriptor.

    Args:
        name_of: the name of an id, for blocks whose variable has none.
    """
    if variable.storage not in RESOURCES or variable.builtin is not None:  # built-ins: descriptor heaps
        return None
    type, count = unarrayed(variable.type)
    decorations = variable.decorations
    kind = descriptor_type(type, variable)
    if kind is None:
        return None
    index = decorations.get(_ATTACHMENT)
    return Binding(
        set=decorations.get(_SET, (0,))[0],
        binding=decorations.get(_BINDING, (0,))[0],
        type=kind,
        count=count,
        name=variable.name or name_of(type.id),
        readonly=_NON_WRITABLE in decorations
        or (bool(type.members) and all(_NON_WRITABLE in member.decorations for member in type.members)),
        input_attachment_index=index[0] if index and kind == "INPUT_ATTACHMENT" else None,
        multisampled=bool(type.image and type.image[3]),
    )


def unarrayed(type: Type) -> tuple[Type, Count]:
    """What a variable is an array of, and how many: the product of all dimensions, ``"runtime"`` where one is open or
    can't be told."""
    count, runtime = 1, False
    while type.kind in ("array", "runtime_array") and type.element:
        runtime = runtime or type.length == 0
        count *= type.length
        type = type.element
    return type, "runtime" if runtime else count


def descriptor_type(type: Type, variable: Variable) -> str | None:
    """VkDescriptorType without its prefix, by storage class, type and decorations; None for what is no descriptor."""
    if variable.storage == STORAGE_BUFFER:
        return "STORAGE_BUFFER"
    if variable.storage == UNIFORM:
        return "STORAGE_BUFFER" if _BUFFER_BLOCK in type.decorations else "UNIFORM_BUFFER"
    if type.kind == "sampler":
        return "SAMPLER"
    if type.kind == "acceleration_structure":
        return "ACCELERATION_STRUCTURE_KHR"
    if type.opcode == _TENSOR:
        return "TENSOR_ARM"
    if type.image is None:
        return None
    dim, sampled = type.image[0], type.image[4]
    if dim == _DIM_BUFFER:
        return "UNIFORM_TEXEL_BUFFER" if sampled == _SAMPLED else "STORAGE_TEXEL_BUFFER"
    if dim == _DIM_SUBPASS:
        return "INPUT_ATTACHMENT"
    if _WEIGHT_TEXTURE in variable.decorations:
        return "SAMPLE_WEIGHT_IMAGE_QCOM"
    if _BLOCK_MATCH_TEXTURE in variable.decorations:
        return "BLOCK_MATCH_IMAGE_QCOM"
    if type.kind == "sampled_image":
        return "COMBINED_IMAGE_SAMPLER"
    return "SAMPLED_IMAGE" if sampled == _SAMPLED else "STORAGE_IMAGE"


def _merged(first: Binding, second: Binding) -> Binding:
    """Two variables at one binding: aliases of one descriptor."""
    if (first.type, first.count, first.readonly, first.multisampled) == (
        second.type,
        second.count,
        second.readonly,
        second.multisampled,
    ) and (first.name or not second.name):
        return first
    types = set(first.alternatives or (first.type,)) | set(second.alternatives or (second.type,))
    kind = first.type
    alternatives: tuple[str, ...] = ()
    if len(types) > 1:
        if types <= _COMBINED:
            kind = "COMBINED_IMAGE_SAMPLER"
        else:
            kind, alternatives = "MUTABLE_EXT", tuple(sorted(types))
    return replace(
        first,
        type=kind,
        alternatives=alternatives,
        count=_more(first.count, second.count),
        name=first.name or second.name,
        readonly=first.readonly and second.readonly,
        multisampled=first.multisampled or second.multisampled,
    )


def _more(first: Count, second: Count) -> Count:
    if first == "runtime" or second == "runtime":
        return "runtime"
    return max(first, second)


def push_constants(variables: Iterable[Variable], sizes: Sizes) -> PushConstants | None:
    """The smallest range of whole words that covers the members of the push constant blocks among `variables`."""
    extents = [
        extent
        for variable in variables
        if variable.storage == PUSH_CONSTANT and (extent := sizes.extent(variable.type))
    ]
    if not extents:
        return None
    first = min(extent[0] for extent in extents) & ~3
    end = max(extent[1] for extent in extents) + 3 & ~3
    return PushConstants(first, end - first)
