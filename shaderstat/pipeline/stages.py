"""The stages of one pipeline: which belong together, and what each alone must keep to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from functools import cache
from typing import TYPE_CHECKING

from shaderstat.errors import InvalidSpirv, Unsupported
from shaderstat.model import STAGE_BITS
from shaderstat.plain import dataclass
from shaderstat.spirv.facts import EntryPoint, InterfaceVariable, Reflection

if TYPE_CHECKING:
    from shaderstat.backends.base import DeviceFacts

# VkShaderStageFlagBits' names.
FLAG_NAMES: Mapping[str, str] = {
    stage: f"VK_SHADER_STAGE_{stage.upper()}_BIT{suffix}"
    for stages, suffix in (
        (("vertex", "tessellation_control", "tessellation_evaluation", "geometry", "fragment", "compute"), ""),
        (("task", "mesh"), "_EXT"),
        (("raygen", "any_hit", "closest_hit", "miss", "intersection", "callable"), "_KHR"),
    )
    for stage in stages
}

_KINDS: Mapping[str, str] = {
    stage: "compute" if stage == "compute" else "ray_tracing" if bit >= STAGE_BITS["raygen"] else "graphics"
    for stage, bit in STAGE_BITS.items()
}

SpecValues = Mapping[int, int | float | bool]


@dataclass(frozen=True, slots=True)
class StageInput:
    """One stage of a pipeline.

    Attributes:
        words: the module in this machine's byte order.
        path: for messages.
        reflection, entry: what was found in it, with `specialization` applied, and the entry point chosen.
        specialization: values by SpecId; ids that the module doesn't have are passed over.
        synthetic: shaderstat wrote it.
    """

    words: bytes
    path: str
    reflection: Reflection
    entry: EntryPoint
    specialization: SpecValues = field(default_factory=dict)
    synthetic: bool = False


@cache
def stage_flags(bits: int) -> str:
    """VkShaderStageFlags as names joined by ``|``."""
    return "|".join(name for stage, name in FLAG_NAMES.items() if bits & STAGE_BITS[stage])


@contextmanager
def blame(path: str) -> Iterator[None]:
    """Put `path` into what is raised, unless a path is there already."""
    try:
        yield
    except (Unsupported, InvalidSpirv) as error:
        error.path = error.path or path
        raise


def limit(facts: DeviceFacts, member: str, value: int, what: str, struct: str = "VkPhysicalDeviceLimits") -> None:
    """Refuse `value` where it is over the device's `member`.

    Raises:
        Unsupported: ``vulkan/limit``.
    """
    most = facts.property(struct, member)
    if most is not None and value > most:
        raise Unsupported("vulkan/limit", f"{what}, {facts.device.name} has {most} ({member})")


def pipeline_kind(stages: Sequence[StageInput]) -> str:
    """``compute``, ``graphics`` or ``ray_tracing``.

    Raises:
        Unsupported: ``pipeline/stages`` where the stages can't be in one pipeline.
    """
    words = [stage.entry.stage for stage in stages]
    kinds = {_KINDS[word] for word in words}
    if len(kinds) != 1:
        raise Unsupported(
            "pipeline/stages", f"{_list(words)} can't be in one pipeline", hint="name the files in separate runs"
        )
    (kind,) = kinds
    if kind != "ray_tracing":
        for word in words:
            if words.count(word) > 1:
                paths = ", ".join(stage.path for stage in stages if stage.entry.stage == word)
                raise Unsupported("pipeline/stages", f"{words.count(word)} {_list([word])} stages: {paths}")
    if {"task", "mesh"} & set(words) and set(words) - {"task", "mesh", "fragment"}:
        raise Unsupported(
            "pipeline/stages", f"{_list(words)} can't be in one pipeline: mesh shaders replace the others"
        )
    return kind


def check_stage(entry: EntryPoint, facts: DeviceFacts) -> None:
    """Hold one stage against the limits of its kind, before a driver writes past a table.

    Raises:
        Unsupported: ``vulkan/limit``.
        InvalidSpirv: ``spirv/local-size``.
    """
    if entry.stage in _WORKGROUPS:
        _check_workgroup(entry, facts)
    for direction, variables in (("in", entry.inputs), ("out", entry.outputs)):
        if variables:
            _check_interface(entry.stage, direction, variables, facts)


# Struct and the stem of its members: max{stem}WorkGroupSize, max{stem}WorkGroupInvocations, max{stem}SharedMemorySize.
_WORKGROUPS = {
    "compute": ("VkPhysicalDeviceLimits", "Compute"),
    "task": ("VkPhysicalDeviceMeshShaderPropertiesEXT", "Task"),
    "mesh": ("VkPhysicalDeviceMeshShaderPropertiesEXT", "Mesh"),
}

# "Shader Input and Output Locations" of the Vulkan specification: components that a stage's locations may span
# (VUID-RuntimeSpirv-Location-06272). Vertex inputs and fragment outputs have limits of their own.
_LOCATIONS = {
    ("vertex", "out"): ("VkPhysicalDeviceLimits", "maxVertexOutputComponents"),
    ("tessellation_control", "in"): ("VkPhysicalDeviceLimits", "maxTessellationControlPerVertexInputComponents"),
    ("tessellation_control", "out"): ("VkPhysicalDeviceLimits", "maxTessellationControlPerVertexOutputComponents"),
    ("tessellation_evaluation", "in"): ("VkPhysicalDeviceLimits", "maxTessellationEvaluationInputComponents"),
    ("tessellation_evaluation", "out"): ("VkPhysicalDeviceLimits", "maxTessellationEvaluationOutputComponents"),
    ("geometry", "in"): ("VkPhysicalDeviceLimits", "maxGeometryInputComponents"),
    ("geometry", "out"): ("VkPhysicalDeviceLimits", "maxGeometryOutputComponents"),
    ("fragment", "in"): ("VkPhysicalDeviceLimits", "maxFragmentInputComponents"),
    ("mesh", "out"): ("VkPhysicalDeviceMeshShaderPropertiesEXT", "maxMeshOutputComponents"),
}


def _check_workgroup(entry: EntryPoint, facts: DeviceFacts) -> None:
    struct, stem = _WORKGROUPS[entry.stage]
    x, y, z = entry.local_size or (1, 1, 1)
    size = f"its workgroup is {x}×{y}×{z}"
    if not x * y * z:
        raise InvalidSpirv("spirv/local-size", f"{size}: no side may be 0")
    for axis, (side, name) in enumerate(zip((x, y, z), "xyz", strict=True)):
        limit(facts, f"max{stem}WorkGroupSize[{axis}]", side, f"{size}: {side} in {name}", struct)
    limit(facts, f"max{stem}WorkGroupInvocations", x * y * z, f"{size}: {x * y * z} invocations", struct)
    shared = f"its shared memory is {entry.shared_bytes} bytes"
    limit(facts, f"max{stem}SharedMemorySize", entry.shared_bytes, shared, struct)


def _check_interface(stage: str, direction: str, variables: Sequence[InterfaceVariable], facts: DeviceFacts) -> None:
    span = patch_span = 0
    for one in variables:
        wide = 2 if one.width == 64 else 1
        end = one.location * 4 + (8 if one.component + one.components * wide > 4 else 4)
        if one.patch:
            patch_span = max(patch_span, end)
        else:
            span = max(span, end)
    for components, (struct, member) in (
        (span, _LOCATIONS.get((stage, direction), ("", ""))),
        (patch_span, ("VkPhysicalDeviceLimits", "maxTessellationControlPerPatchOutputComponents")),
    ):
        if components and member:
            what = f"its {direction}puts reach location {components // 4 - 1}, that is {components} components"
            limit(facts, member, components, what, struct)


def _list(stages: Sequence[str]) -> str:
    return " and ".join(stage.replace("_", " ") for stage in dict.fromkeys(stages))
