"""Set layouts, push constant ranges and specialization data: what a shader binds, exactly as it binds it.

Everything here is checked against the device's limits first, since drivers don't: a set number or a push constant
block beyond them writes past a table (see "Limits" of the Vulkan specification; drivers may assume valid usage).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from shaderstat.errors import Unsupported
from shaderstat.model import STAGE_BITS, Diagnostic, stage_names
from shaderstat.pipeline.stages import SpecValues, StageInput, blame, limit, stage_flags
from shaderstat.plain import dataclass
from shaderstat.spirv.facts import RUNTIME, Binding, SpecConstant

if TYPE_CHECKING:
    from shaderstat.backends.base import DeviceFacts
    from shaderstat.pipeline.spec import Plain

# No limit of Vulkan's, but drivers allocate a table up to the highest number (VkDescriptorSetLayoutBinding: "sparsely
# specified binding numbers … may waste memory"): 2³² of them end the process.
MAX_BINDING = 1 << 20

# A pair of these at one place is an image and its sampler (DXC's [[vk::combinedImageSampler]]).
_COMBINABLE = frozenset(("SAMPLER", "SAMPLED_IMAGE", "COMBINED_IMAGE_SAMPLER"))

# VkPhysicalDeviceLimits that each descriptor type counts against, without their "maxPerStage…" and "maxDescriptorSet…"
# (VUID-VkPipelineLayoutCreateInfo-descriptorType-03016 to -03033).
COUNTED_AS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "SAMPLER": (("maxPerStageDescriptorSamplers", "maxDescriptorSetSamplers"),),
    "COMBINED_IMAGE_SAMPLER": (
        ("maxPerStageDescriptorSamplers", "maxDescriptorSetSamplers"),
        ("maxPerStageDescriptorSampledImages", "maxDescriptorSetSampledImages"),
    ),
    "SAMPLED_IMAGE": (("maxPerStageDescriptorSampledImages", "maxDescriptorSetSampledImages"),),
    "UNIFORM_TEXEL_BUFFER": (("maxPerStageDescriptorSampledImages", "maxDescriptorSetSampledImages"),),
    "STORAGE_IMAGE": (("maxPerStageDescriptorStorageImages", "maxDescriptorSetStorageImages"),),
    "STORAGE_TEXEL_BUFFER": (("maxPerStageDescriptorStorageImages", "maxDescriptorSetStorageImages"),),
    "UNIFORM_BUFFER": (("maxPerStageDescriptorUniformBuffers", "maxDescriptorSetUniformBuffers"),),
    "STORAGE_BUFFER": (("maxPerStageDescriptorStorageBuffers", "maxDescriptorSetStorageBuffers"),),
    "INPUT_ATTACHMENT": (("maxPerStageDescriptorInputAttachments", "maxDescriptorSetInputAttachments"),),
}


@dataclass(slots=True)
class _Slot:
    """What all stages together want of one (set, binding). `count` 0: nothing but run-time arrays so far."""

    type: str
    count: int
    runtime: bool
    stages: int
    path: str
    alternatives: tuple[str, ...] = ()


Slots = dict[tuple[int, int], _Slot]


def set_layouts(
    stages: Sequence[StageInput], facts: DeviceFacts, runtime_descriptors: int
) -> tuple[tuple[Plain, ...], tuple[Diagnostic, ...]]:
    """The set layouts that `stages` need together.

    Args:
        runtime_descriptors: how many descriptors a run-time sized array gets, if the device allows as many.

    Returns:
        One VkDescriptorSetLayoutCreateInfo per set up to the highest, gaps empty; and remarks on the counts chosen.

    Raises:
        Unsupported: ``vulkan/limit``, or ``pipeline/binding-conflict`` where two stages disagree on a type.
    """
    slots: Slots = {}
    for stage in stages:
        bit = STAGE_BITS[stage.entry.stage]
        for binding in stage.entry.bindings:
            with blame(stage.path):
                _check_binding(binding, facts)
                _check_mutable(binding, facts)
            _merge(slots, binding, bit, stage.path)
    if not slots:
        return (), ()
    highest = max(number for number, _ in slots)
    used = _check_counts(slots, facts)
    slots |= _unused(slots, stages, facts)
    remarks = _size_runtime_arrays(slots, used, facts, runtime_descriptors)
    layouts: list[dict[str, Any]] = [{"pBindings": []} for _ in range(highest + 1)]
    for (number, binding_number), slot in sorted(slots.items()):
        layouts[number]["pBindings"].append(
            {
                "binding": binding_number,
                "descriptorType": f"VK_DESCRIPTOR_TYPE_{slot.type}",
                "descriptorCount": slot.count,
                "stageFlags": stage_flags(slot.stages),
            }
        )
    for number in {number for (number, _), slot in slots.items() if slot.alternatives}:
        layouts[number]["pNext"] = [_mutable_types(number, slots)]
    return tuple(layouts), remarks


def push_constant_ranges(stages: Iterable[StageInput], facts: DeviceFacts) -> list[dict[str, Any]]:
    """One VkPushConstantRange for each stage that has a block: exactly what its members cover.

    Two for one stage are forbidden (VUID-VkPipelineLayoutCreateInfo-pPushConstantRanges-00292).

    Raises:
        Unsupported: ``vulkan/limit``.
    """
    ranges: dict[int, tuple[int, int]] = {}
    for stage in stages:
        block = stage.entry.push_constants
        if block is None or block.size == 0:
            continue
        end = block.offset + block.size
        with blame(stage.path):
            limit(facts, "maxPushConstantsSize", end, f"its push constants end at byte {end}")
        # Several entry points of one stage (hit shaders, say) share that stage's range.
        bit = STAGE_BITS[stage.entry.stage]
        first, last = ranges.get(bit, (block.offset, end))
        ranges[bit] = min(first, block.offset), max(last, end)
    return [
        {"stageFlags": stage_flags(bit), "offset": first, "size": end - first} for bit, (first, end) in ranges.items()
    ]


def specialization(constants: Sequence[SpecConstant], values: SpecValues) -> dict[str, Any] | None:
    """A VkSpecializationInfo for those of `values` (by SpecId) that the module has; None where it has none, since the
    defaults are the module's own.

    Raises:
        Unsupported: ``spirv/spec-value`` where a value does not fit the constant's type.
    """
    entries = []
    data = bytearray()
    seen = set()
    for constant in constants:
        if constant.id not in values or constant.id in seen:
            continue
        seen.add(constant.id)  # one map entry per id: it reaches every constant of that id (…-constantID-04911)
        data.extend(bytes(-len(data) % constant.size))
        entries.append({"constantID": constant.id, "offset": len(data), "size": constant.size})
        data.extend(_encode(constant, values[constant.id]))
    return {"pMapEntries": entries, "pData": bytes(data)} if entries else None


_FORMATS = {"float16": "e", "float32": "f", "float64": "d"}


def _encode(constant: SpecConstant, value: int | float | bool) -> bytes:
    """The bytes of one specialization value in this machine's order; a bool is a VkBool32."""
    try:
        if constant.type == "bool":
            return struct.pack("=I", bool(value))
        if constant.type in _FORMATS:
            return struct.pack("=" + _FORMATS[constant.type], value)
        if isinstance(value, float):
            raise ValueError(value)
        letter = {1: "b", 2: "h", 4: "i", 8: "q"}[constant.size]
        return struct.pack("=" + (letter.upper() if constant.type.startswith("u") else letter), value)
    except (struct.error, OverflowError, ValueError):
        name = f" ({constant.name})" if constant.name else ""
        raise Unsupported(
            "spirv/spec-value",
            f"{value!r} is no value for specialization constant {constant.id}{name}: {constant.type}",
        ) from None


def _check_binding(binding: Binding, facts: DeviceFacts) -> None:
    sets = binding.set + 1
    limit(facts, "maxBoundDescriptorSets", sets, f"uses descriptor set {binding.set}: {sets} sets are needed")
    if binding.binding > MAX_BINDING:
        raise Unsupported(
            "vulkan/limit",
            f"uses binding {binding.binding} of set {binding.set}: numbers over {MAX_BINDING} are not tried",
        )


def _mutable_types(number: int, slots: Slots) -> list[Any]:
    """The list for each binding of a set, in their order, of what types a mutable one may take."""
    lists = [
        {"pDescriptorTypes": [f"VK_DESCRIPTOR_TYPE_{name}" for name in slot.alternatives]}
        for place, slot in sorted(slots.items())
        if place[0] == number
    ]
    return ["VkMutableDescriptorTypeCreateInfoEXT", {"pMutableDescriptorTypeLists": lists}]


def _check_mutable(binding: Binding, facts: DeviceFacts) -> None:
    """Several types at one binding are one descriptor of VK_EXT_mutable_descriptor_type."""
    if binding.alternatives and not facts.has_feature(
        "VkPhysicalDeviceMutableDescriptorTypeFeaturesEXT", "mutableDescriptorType"
    ):
        raise Unsupported(
            "vulkan/feature-missing",
            f"set {binding.set} binding {binding.binding} is {' and '.join(binding.alternatives)}: "
            f"{facts.device.name} lacks mutableDescriptorType (VK_EXT_mutable_descriptor_type)",
        )


def _unused(slots: Slots, stages: Sequence[StageInput], facts: DeviceFacts) -> Slots:
    """What modules declare and don't use, up to the last binding of each set that is used: the application's layout has
    it as a rule, and it decides where the others lie. Nothing where the device couldn't have it."""
    last: dict[int, int] = {}
    for number, place in slots:
        last[number] = max(place, last.get(number, 0))
    found: Slots = {}
    for stage in stages:
        for binding in stage.reflection.unused_bindings:
            key = binding.set, binding.binding
            if binding.binding < last.get(binding.set, 0) and key not in slots and key not in found:
                if isinstance(binding.count, int) and not binding.alternatives:
                    _merge(found, binding, STAGE_BITS[stage.entry.stage], stage.path)
    if found:
        try:
            _check_counts({**slots, **found}, facts)
        except Unsupported:
            return {}
    return found


def _merge(slots: Slots, binding: Binding, bit: int, path: str) -> None:
    """Add one stage's binding to what the others want."""
    runtime = binding.count == RUNTIME
    count = binding.count if isinstance(binding.count, int) else 0
    slot = slots.get((binding.set, binding.binding))
    if slot is None:
        slots[binding.set, binding.binding] = _Slot(binding.type, count, runtime, bit, path, binding.alternatives)
        return
    if slot.type != binding.type:
        if not {slot.type, binding.type} <= _COMBINABLE:
            raise Unsupported(
                "pipeline/binding-conflict",
                f"set {binding.set} binding {binding.binding} is {slot.type} in {slot.path} ({_stages(slot.stages)}) "
                f"and {binding.type} in {path} ({_stages(bit)})",
                hint="these stages do not belong together: compile each alone",
            )
        slot.type = "COMBINED_IMAGE_SAMPLER"
    slot.count = max(slot.count, count)
    slot.runtime |= runtime
    slot.stages |= bit


def _counters(slot: _Slot) -> Iterator[tuple[str, int]]:
    """The limits that a slot counts against: (member, stage), the stage being 0 for the whole layout's."""
    members = COUNTED_AS.get(slot.type, ())
    for _, per_layout in members:
        yield per_layout, 0
    for stage in _bits(slot.stages):
        yield "maxPerStageResources", stage
        for per_stage, _ in members:
            yield per_stage, stage


def _check_counts(slots: Slots, facts: DeviceFacts) -> dict[tuple[str, int], int]:
    """Hold the counts against the limits; how much of each is used."""
    used: dict[tuple[str, int], int] = {}
    for slot in slots.values():
        for counter in _counters(slot):
            used[counter] = used.get(counter, 0) + slot.count
    for (member, stage), count in used.items():
        where = f" in the {_stages(stage)} stage" if stage else ""
        limit(facts, member, count, f"binds {count} descriptors{where}")
    return used


def _size_runtime_arrays(
    slots: Slots, used: Mapping[tuple[str, int], int], facts: DeviceFacts, wanted: int
) -> tuple[Diagnostic, ...]:
    """Give run-time arrays `wanted` descriptors, or an equal share of what the others leave of the device's limits."""
    opened = [slot for _, slot in sorted(slots.items()) if slot.runtime]
    if not opened:
        return ()
    room = wanted
    for counter in {counter for slot in opened for counter in _counters(slot)}:
        most = facts.property("VkPhysicalDeviceLimits", counter[0])
        if most is not None:
            sharing = sum(counter in _counters(slot) for slot in opened)
            room = min(room, (most - used[counter]) // sharing)
    remarks = []
    for (number, binding), slot in sorted(slots.items()):
        if slot.runtime:
            slot.count = max(slot.count, room, 1)
            message = f"set {number} binding {binding} is a run-time array: compiled with {slot.count} descriptors"
            remarks.append(Diagnostic("info", "vulkan/runtime-array", message, path=slot.path))
    return tuple(remarks)


@cache
def _bits(stages: int) -> tuple[int, ...]:
    return tuple(bit for bit in STAGE_BITS.values() if stages & bit)


def _stages(bits: int) -> str:
    return ", ".join(stage_names(bits)).replace("_", " ")
