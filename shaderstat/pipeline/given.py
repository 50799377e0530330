"""State that was given (by an archive, or in a manifest's long form), held against the device's limits and itself.

What is inferred keeps to them by itself. Drivers may assume valid usage: of a number over their limits they index past
their tables, and what they say then is no answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from shaderstat.errors import Unsupported
from shaderstat.model import STAGE_BITS, stage_names
from shaderstat.pipeline.layout import COUNTED_AS, MAX_BINDING
from shaderstat.pipeline.shorthand import check_subgroup_size
from shaderstat.pipeline.stages import FLAG_NAMES, limit
from shaderstat.registry import vulkan

if TYPE_CHECKING:
    from shaderstat.backends.base import DeviceFacts
    from shaderstat.pipeline.spec import PipelineSpec, Plain
    from shaderstat.pipeline.stages import StageInput

_UNUSED = 0xFFFFFFFF  # VK_ATTACHMENT_UNUSED, VK_SHADER_UNUSED_KHR, VK_SUBPASS_EXTERNAL
_INDEXING = "VkPhysicalDeviceDescriptorIndexingProperties"


def check_given(spec: PipelineSpec, stages: Iterable[StageInput], facts: DeviceFacts) -> None:
    """Hold all numbers of `spec` against what they count.

    Raises:
        Unsupported: ``vulkan/limit``, or ``pipeline/state`` where a number names something that isn't there.
    """
    _check_layout(spec, facts)
    if spec.render_pass is not None:
        _check_render_pass(spec.render_pass)
    _check_subgroup_sizes(spec, stages, facts)
    if spec.kind == "graphics":
        _check_graphics(spec, facts)
    elif spec.kind == "ray_tracing":
        _check_ray_tracing(spec.create_info, facts)


def _contradiction(what: str) -> Unsupported:
    return Unsupported("pipeline/state", what)


# ── Layouts ───────────────────────────────────────────────────────────────────────────────────────────────────────

# As COUNTED_AS, for what only a person or an application asks for: VUID-VkPipelineLayoutCreateInfo-descriptorType-03029
# and -03030 (no limit for each stage beside that of the buffers that they are).
_DYNAMIC = {
    "UNIFORM_BUFFER_DYNAMIC": ("maxPerStageDescriptorUniformBuffers", "maxDescriptorSetUniformBuffersDynamic"),
    "STORAGE_BUFFER_DYNAMIC": ("maxPerStageDescriptorStorageBuffers", "maxDescriptorSetStorageBuffersDynamic"),
}
_AFTER_BIND = vulkan.value(
    "VkDescriptorSetLayoutCreateFlagBits", "VK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT"
)


def _check_layout(spec: PipelineSpec, facts: DeviceFacts) -> None:
    sets = len(spec.layout.get("pSetLayouts", ()))
    limit(facts, "maxBoundDescriptorSets", sets, f"its layout has {sets} descriptor sets")
    for one in spec.layout.get("pPushConstantRanges", ()):
        end = one.get("offset", 0) + one.get("size", 0)
        limit(facts, "maxPushConstantsSize", end, f"its push constants end at byte {end}")
    early: Counter[tuple[str, int]] = Counter()
    both: Counter[tuple[str, int]] = Counter()
    for layout in spec.set_layouts:
        flags = _number("VkDescriptorSetLayoutCreateFlagBits", layout.get("flags", 0))
        for binding in layout.get("pBindings", ()):
            number = binding.get("binding", 0)
            if number > MAX_BINDING:
                raise Unsupported("vulkan/limit", f"binding {number}: numbers over {MAX_BINDING} are not tried")
            for counter, count in _counted(binding, facts):
                both[counter] += count
                early[counter] += 0 if flags & _AFTER_BIND else count
    # Of sets that may be filled after they are bound, the limits count the others' descriptors too
    # (VUID-VkPipelineLayoutCreateInfo-descriptorType-03016 and -03022, and the like).
    for (member, stage), count in both.items():
        where = f" in the {', '.join(stage_names(stage))} stage" if stage else ""
        limit(facts, member, early[member, stage], f"binds {early[member, stage]} descriptors{where}")
        if count > early[member, stage]:
            limit(facts, _after_bind(member), count, f"binds {count} descriptors{where}", _INDEXING)


def _after_bind(member: str) -> str:
    """``maxPerStageDescriptorSamplers`` → ``maxPerStageDescriptorUpdateAfterBindSamplers``, and the like."""
    for stem in ("maxPerStageDescriptor", "maxDescriptorSet", "maxPerStage"):
        if member.startswith(stem):
            return f"{stem}UpdateAfterBind{member.removeprefix(stem)}"
    return member


def _counted(binding: Plain, facts: DeviceFacts) -> Iterator[tuple[tuple[str, int], int]]:
    """((limit, stage), descriptors), the stage being 0 for the whole layout's."""
    type, count = binding.get("descriptorType", 0), binding.get("descriptorCount", 0)
    type = vulkan.name("VkDescriptorType", type) or "" if isinstance(type, int) else type
    type = type.removeprefix("VK_DESCRIPTOR_TYPE_")
    if type == "INLINE_UNIFORM_BLOCK":  # whose count is in bytes
        struct = "VkPhysicalDeviceInlineUniformBlockProperties"
        limit(facts, "maxInlineUniformBlockSize", count, f"an inline uniform block has {count} bytes", struct)
        return
    members = (_DYNAMIC[type],) if type in _DYNAMIC else COUNTED_AS.get(type, ())
    for _, per_layout in members:
        yield (per_layout, 0), count
    flags = _number("VkShaderStageFlagBits", binding.get("stageFlags", 0))
    for bit in STAGE_BITS.values():
        if flags & bit:
            yield ("maxPerStageResources", bit), count
            for per_stage, _ in members:
                yield (per_stage, bit), count


# ── Stages ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _check_subgroup_sizes(spec: PipelineSpec, stages: Iterable[StageInput], facts: DeviceFacts) -> None:
    infos = [spec.create_info["stage"]] if spec.kind == "compute" else spec.create_info.get("pStages") or ()
    by_name = {(FLAG_NAMES[stage.entry.stage], stage.entry.name): stage for stage in stages}
    for info in infos:
        for name, members in info.get("pNext") or ():
            stage = by_name.get((info.get("stage"), info["pName"]))
            if name == "VkPipelineShaderStageRequiredSubgroupSizeCreateInfo" and stage is not None:
                check_subgroup_size(members.get("requiredSubgroupSize", 0), (stage,), facts)


def _check_ray_tracing(create_info: Plain, facts: DeviceFacts) -> None:
    depth = create_info.get("maxPipelineRayRecursionDepth", 0)
    struct = "VkPhysicalDeviceRayTracingPipelinePropertiesKHR"
    limit(facts, "maxRayRecursionDepth", depth, f"rays {depth} deep", struct)
    stages = len(create_info.get("pStages") or ())
    for place, group in enumerate(create_info.get("pGroups") or ()):
        for member in ("generalShader", "closestHitShader", "anyHitShader", "intersectionShader"):
            shader = _number("uint32_t", group.get(member, _UNUSED))
            if shader != _UNUSED and shader >= stages:
                raise _contradiction(f"{member} {shader} of group {place}: there are {stages} stages")


# ── Graphics ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _check_graphics(spec: PipelineSpec, facts: DeviceFacts) -> None:
    create_info = spec.create_info

    def state(name: str) -> Plain:
        found: Plain = create_info.get(name) or {}
        return found

    dynamic = {str(each) for each in state("pDynamicState").get("pDynamicStates", ())}
    points = state("pTessellationState").get("patchControlPoints", 0)
    if "VK_DYNAMIC_STATE_PATCH_CONTROL_POINTS_EXT" not in dynamic:
        limit(facts, "maxTessellationPatchSize", points, f"its patches have {points} control points")
    for member, what in (("viewportCount", "viewports"), ("scissorCount", "scissors")):
        count = state("pViewportState").get(member, 0)
        limit(facts, "maxViewports", count, f"it has {count} {what}")
    if "VK_DYNAMIC_STATE_VERTEX_INPUT_EXT" not in dynamic:
        _check_vertex_input(state("pVertexInputState"), facts)
    _check_samples(state("pMultisampleState").get("rasterizationSamples", 1), facts)
    blended = state("pColorBlendState").get("attachmentCount", 0)
    blended = max(blended, len(state("pColorBlendState").get("pAttachments", ())))
    colours = [blended]
    for name, members in create_info.get("pNext") or ():
        if name == "VkPipelineRenderingCreateInfo":
            formats = members.get("pColorAttachmentFormats", ())
            colours.append(max(members.get("colorAttachmentCount", 0), len(formats)))
            _check_views(_number("uint32_t", members.get("viewMask", 0)), facts)
    if spec.render_pass is not None:
        passes = spec.render_pass.get("pSubpasses", ())
        number = create_info.get("subpass", 0)
        if number >= len(passes):
            raise _contradiction(f"subpass {number}: its render pass has {len(passes)}")
        colours.append(len(passes[number].get("pColorAttachments", ())))
        _check_views(_number("uint32_t", passes[number].get("viewMask", 0)), facts)
    limit(facts, "maxColorAttachments", max(colours), f"it has {max(colours)} colour attachments")


def _check_vertex_input(state: Plain, facts: DeviceFacts) -> None:
    bindings = state.get("pVertexBindingDescriptions", ())
    for each in bindings:
        number, stride = each.get("binding", 0), each.get("stride", 0)
        limit(facts, "maxVertexInputBindings", number + 1, f"uses vertex binding {number}")
        limit(facts, "maxVertexInputBindingStride", stride, f"a vertex of it has {stride} bytes")
    numbers = {each.get("binding", 0) for each in bindings}
    for each in state.get("pVertexAttributeDescriptions", ()):
        location, offset, number = (each.get(member, 0) for member in ("location", "offset", "binding"))
        limit(facts, "maxVertexInputAttributes", location + 1, f"uses vertex location {location}")
        limit(facts, "maxVertexInputAttributeOffset", offset, f"its vertex attributes reach offset {offset}")
        if number not in numbers:  # VUID-VkPipelineVertexInputStateCreateInfo-binding-00615
            raise _contradiction(f"vertex location {location} is of vertex binding {number}, which it doesn't have")


def _check_samples(given: Any, facts: DeviceFacts) -> None:
    samples = _number("VkSampleCountFlagBits", given)
    kinds = ("Color", "Depth", "Stencil", "NoAttachments")
    known = [facts.property("VkPhysicalDeviceLimits", f"framebuffer{kind}SampleCounts") for kind in kinds]
    if samples.bit_count() > 1:
        raise _contradiction(f"rasterizationSamples is {samples:#x}: one count is wanted")
    if samples and None not in known and not any(samples & (each or 0) for each in known):
        raise Unsupported("vulkan/limit", f"{samples} samples: {facts.device.name} has them of no attachment")


def _check_views(mask: int, facts: DeviceFacts) -> None:
    count = mask.bit_length()
    struct = "VkPhysicalDeviceMultiviewProperties"
    limit(facts, "maxMultiviewViewCount", count, f"it draws view {count - 1}: {count} views are needed", struct)


def _check_render_pass(render_pass: Plain) -> None:
    attachments, passes = len(render_pass.get("pAttachments", ())), render_pass.get("pSubpasses", ())
    for place, one in enumerate(passes):
        references = [
            each
            for member in ("pInputAttachments", "pColorAttachments", "pResolveAttachments")
            for each in one.get(member) or ()
        ]
        references += [one["pDepthStencilAttachment"]] if one.get("pDepthStencilAttachment") else []
        references += [
            each
            for _, members in one.get("pNext") or ()
            for each in members.values()
            if isinstance(each, Mapping) and "attachment" in each
        ]
        numbers = [_number("uint32_t", each.get("attachment", 0)) for each in references if each is not None]
        numbers += [_number("uint32_t", each) for each in one.get("pPreserveAttachments") or ()]
        for number in numbers:
            if number != _UNUSED and number >= attachments:
                raise _contradiction(f"attachment {number} of subpass {place}: its render pass has {attachments}")
    for one in render_pass.get("pDependencies", ()):
        for member in ("srcSubpass", "dstSubpass"):
            number = _number("uint32_t", one.get(member, 0))
            if number != _UNUSED and number >= len(passes):
                raise _contradiction(f"a dependency's {member} is {number}: its render pass has {len(passes)}")


def _number(type: str, value: Any) -> int:
    return value if isinstance(value, int) else vulkan.value(type, value)
