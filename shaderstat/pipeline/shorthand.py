"""The short ways to say state: what ``--samples``, ``--color-format`` and their like do to a pipeline.

Each changes what the pipeline has and adds nothing that it hasn't: a compute shader stays what it is whatever the
topology. What can't be done is refused, what does nothing is remarked upon; silence means that it was done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shaderstat.errors import Unsupported
from shaderstat.model import STAGE_BITS, Diagnostic, stage_names
from shaderstat.pipeline.merge import lay
from shaderstat.pipeline.shorthand_graphics import color_format, depth_format, samples, topology
from shaderstat.pipeline.spec import PipelineSpec, Plain
from shaderstat.pipeline.stages import FLAG_NAMES, StageInput, limit
from shaderstat.registry import vulkan

if TYPE_CHECKING:
    from shaderstat.backends.base import DeviceFacts

# What each is called for people. `optimize` False is DISABLE_OPTIMIZATION; `dynamic_buffers` is uniform, storage or
# all; `push_descriptors` a set's number; `immutable_samplers` a VkSamplerCreateInfo for all samplers.
NAMES: Mapping[str, str] = {
    "subgroup_size": "subgroup size",
    "samples": "samples",
    "color_format": "colour format",
    "depth_format": "depth format",
    "topology": "topology",
    "optimize": "optimisation",
    "dynamic_buffers": "dynamic buffers",
    "push_descriptors": "push descriptors",
    "immutable_samplers": "immutable samplers",
}

_SIZE_CONTROL = ("VkPhysicalDeviceSubgroupSizeControlFeatures", "subgroupSizeControl")
_SIZES = "VkPhysicalDeviceSubgroupSizeControlProperties"
_REQUIRED_SIZE = "VkPipelineShaderStageRequiredSubgroupSizeCreateInfo"


def apply(
    spec: PipelineSpec,
    options: Plain,
    stages: Sequence[StageInput],
    facts: DeviceFacts,
    remarks: list[Diagnostic],
) -> PipelineSpec:
    """`spec` with `options` done to it; what there is to say goes into `remarks`.

    Raises:
        Unsupported: as `shaderstat.pipeline.overrides.overlay`.
    """
    for name, work in _WORK.items():
        value = options.get(name)
        if value is not None:
            spec, undone = work(spec, value, stages, facts)
            if undone:
                said = f"{NAMES[name]} {_word(value)}".rstrip()
                remarks.append(Diagnostic("info", "state/remark", f"{said}: {undone}"))
    return spec


def index(samplers: list[Plain], sampler: Plain) -> int:
    """The place of `sampler` in `samplers`, put there if it is new."""
    if sampler not in samplers:
        samplers.append(sampler)
    return samplers.index(sampler)


# ── Stages ────────────────────────────────────────────────────────────────────────────────────────────────────────


def check_subgroup_size(size: int, stages: Sequence[StageInput], facts: DeviceFacts) -> None:
    """Hold a required subgroup size against the device and each of `stages`.

    Raises:
        Unsupported: ``vulkan/feature-missing`` or ``vulkan/limit``; ``pipeline/state`` of what is no size at all.
    """
    lacking = f"subgroup size {size}: {facts.device.name}"
    if not facts.has_feature(*_SIZE_CONTROL):
        raise Unsupported("vulkan/feature-missing", f"{lacking} lacks {'.'.join(_SIZE_CONTROL)}")
    if size.bit_count() != 1:  # VUID-VkPipelineShaderStageRequiredSubgroupSizeCreateInfo-requiredSubgroupSize-02760
        raise Unsupported("pipeline/state", f"subgroup size {size}: it must be a power of two")
    low, high = facts.property(_SIZES, "minSubgroupSize"), facts.property(_SIZES, "maxSubgroupSize")
    if (low is not None and size < low) or (high is not None and size > high):
        raise Unsupported("vulkan/limit", f"{lacking} has {low} to {high} (minSubgroupSize, maxSubgroupSize)")
    takers = facts.property(_SIZES, "requiredSubgroupSizeStages")
    for stage in stages:
        bit = STAGE_BITS[stage.entry.stage]
        if takers is not None and not takers & bit:
            others = ", ".join(stage_names(takers)).replace("_", " ") or "no stage"
            raise Unsupported(
                "vulkan/limit",
                f"{lacking} takes one for {others}, not for {stage.entry.stage.replace('_', ' ')} shaders"
                " (requiredSubgroupSizeStages)",
            )
        most = facts.property(_SIZES, "maxComputeWorkgroupSubgroups")
        x, y, z = stage.entry.local_size or (1, 1, 1)
        if most is not None and x * y * z > size * most:  # VUID-VkPipelineShaderStageCreateInfo-pNext-02756
            raise Unsupported(
                "vulkan/limit",
                f"subgroup size {size}: {x * y * z} invocations are more than {most} subgroups of it"
                f" ({facts.device.name}'s maxComputeWorkgroupSubgroups)",
            )


def _subgroup_size(
    spec: PipelineSpec, size: int, stages: Sequence[StageInput], facts: DeviceFacts
) -> tuple[PipelineSpec, str]:
    """VkPipelineShaderStageRequiredSubgroupSizeCreateInfo on every stage that isn't generated."""
    check_subgroup_size(size, stages, facts)
    given = {(FLAG_NAMES[stage.entry.stage], stage.entry.name) for stage in stages}

    def sized(info: Plain) -> Plain:
        if (info["stage"], info["pName"]) not in given or spec.modules[info["module"]].synthetic:
            return info
        return lay({"pNext": {_REQUIRED_SIZE: {"requiredSubgroupSize": size}}}, info)

    create_info = dict(spec.create_info)
    if "stage" in create_info:
        create_info["stage"] = sized(create_info["stage"])
    else:
        create_info["pStages"] = [sized(info) for info in create_info["pStages"]]
    return replace(spec, create_info=create_info), ""


def _optimize(
    spec: PipelineSpec, wanted: bool, stages: Sequence[StageInput], facts: DeviceFacts
) -> tuple[PipelineSpec, str]:
    create_info = dict(spec.create_info)
    chain = [[name, dict(members)] for name, members in create_info.get("pNext", ())]
    second = next((members for name, members in chain if name == _FLAGS2), None)
    # Flags of the second kind take the place of the others.
    host, type, name = (
        (create_info, "VkPipelineCreateFlags", "VK_PIPELINE_CREATE_DISABLE_OPTIMIZATION_BIT")
        if second is None
        else (second, "VkPipelineCreateFlags2", "VK_PIPELINE_CREATE_2_DISABLE_OPTIMIZATION_BIT")
    )
    flags = host.get("flags", 0)
    number = flags if isinstance(flags, int) else vulkan.value(type, flags)
    bit = vulkan.value(type, name)
    if bool(number & bit) is not wanted:
        return spec, ""
    if wanted:
        host["flags"] = number & ~bit
    else:
        host["flags"] = f"{flags}|{name}" if isinstance(flags, str) else number | bit if number else name
    if second is not None:
        create_info["pNext"] = chain
    return replace(spec, create_info=create_info), ""


_FLAGS2 = "VkPipelineCreateFlags2CreateInfo"


# ── Descriptors ───────────────────────────────────────────────────────────────────────────────────────────────────

_DYNAMIC = {
    "uniform": ("VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER", "maxDescriptorSetUniformBuffersDynamic"),
    "storage": ("VK_DESCRIPTOR_TYPE_STORAGE_BUFFER", "maxDescriptorSetStorageBuffersDynamic"),
}


def _dynamic_buffers(
    spec: PipelineSpec, which: str, stages: Sequence[StageInput], facts: DeviceFacts
) -> tuple[PipelineSpec, str]:
    """All uniform or storage buffers take an offset when they are bound: UNIFORM_BUFFER_DYNAMIC and its like."""
    layouts = spec.set_layouts
    for word in _DYNAMIC if which == "all" else (which,):
        type_, member = _DYNAMIC[word]
        changed, count = [], 0
        for layout in layouts:
            bindings = []
            for each in layout["pBindings"]:
                if each["descriptorType"] == type_:
                    each = {**each, "descriptorType": f"{type_}_DYNAMIC"}
                    count += each["descriptorCount"]
                bindings.append(each)
            changed.append({**layout, "pBindings": bindings})
        limit(facts, member, count, f"binds {count} dynamic {word} buffers")
        layouts = tuple(changed)
    return replace(spec, set_layouts=layouts), "" if layouts != spec.set_layouts else "it binds no such buffer"


def _push_descriptors(
    spec: PipelineSpec, number: int, stages: Sequence[StageInput], facts: DeviceFacts
) -> tuple[PipelineSpec, str]:
    if number >= len(spec.set_layouts):
        return spec, "it has no such set"
    if facts.api_version < (1, 4, 0) and not facts.has_extension("VK_KHR_push_descriptor"):
        raise Unsupported(
            "vulkan/extension-missing", f"push descriptors: {facts.device.name} lacks VK_KHR_push_descriptor"
        )
    layout = spec.set_layouts[number]
    if any(each["descriptorType"].endswith("_DYNAMIC") for each in layout["pBindings"]):
        # VUID-VkDescriptorSetLayoutCreateInfo-flags-00280
        raise Unsupported("pipeline/state", f"push descriptors: set {number} has dynamic buffers")
    count = sum(each["descriptorCount"] for each in layout["pBindings"])
    what = f"set {number} has {count} descriptors to push"
    limit(facts, "maxPushDescriptors", count, what, "VkPhysicalDevicePushDescriptorProperties")
    layouts = list(spec.set_layouts)
    layouts[number] = {**layout, "flags": "VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT"}
    return replace(spec, set_layouts=tuple(layouts)), ""


def _immutable_samplers(
    spec: PipelineSpec, sampler: Plain, stages: Sequence[StageInput], facts: DeviceFacts
) -> tuple[PipelineSpec, str]:
    known = list(spec.samplers)
    layouts = []
    for layout in spec.set_layouts:
        bindings = []
        for each in layout["pBindings"]:
            if each["descriptorType"].endswith(("_COMBINED_IMAGE_SAMPLER", "_TYPE_SAMPLER")):
                place = index(known, lay(sampler, {}))
                each = {**each, "pImmutableSamplers": [place] * each["descriptorCount"]}
            bindings.append(each)
        layouts.append({**layout, "pBindings": bindings})
    undone = "" if known else "it binds no sampler"
    return replace(spec, set_layouts=tuple(layouts), samplers=tuple(known)), undone


# In the order in which they are done: samples go with the attachments that there are then.
_WORK: Mapping[str, Callable[[PipelineSpec, Any, Sequence[StageInput], DeviceFacts], tuple[PipelineSpec, str]]] = {
    "subgroup_size": _subgroup_size,
    "topology": topology,
    "color_format": color_format,
    "depth_format": depth_format,
    "samples": samples,
    "optimize": _optimize,
    "dynamic_buffers": _dynamic_buffers,
    "push_descriptors": _push_descriptors,
    "immutable_samplers": _immutable_samplers,
}


def _word(value: Any) -> str:
    if isinstance(value, str):
        return value.removeprefix("VK_FORMAT_").removeprefix("VK_PRIMITIVE_TOPOLOGY_")
    return "" if isinstance(value, Mapping) else str(value)
