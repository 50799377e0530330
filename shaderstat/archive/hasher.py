"""What Fossilize's hashes are made with, and pNext chains as they feed it.

State that a dynamic state overrides is fed as 0 or not at all. For the structures of `_GUESSED` no recipe is known:
their members are fed in the order in which records have them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any

from shaderstat.archive.layouts import Field, chained, fields
from shaderstat.archive.members import hash_of
from shaderstat.registry import vulkan

Record = Mapping[str, Any]

# Capturing doesn't change what is compiled: statistics, representations, early return, fail on compile, binaries' data.
NO_MATTER = vulkan.value(
    "VkPipelineCreateFlags2",
    "VK_PIPELINE_CREATE_2_CAPTURE_STATISTICS_BIT_KHR | VK_PIPELINE_CREATE_2_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR"
    " | VK_PIPELINE_CREATE_2_EARLY_RETURN_ON_FAILURE_BIT"
    " | VK_PIPELINE_CREATE_2_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT | VK_PIPELINE_CREATE_2_CAPTURE_DATA_BIT_KHR",
)
# The parts of a graphics pipeline: VkGraphicsPipelineLibraryFlagBitsEXT.
VERTEX_INPUT, PRE_RASTERIZATION, FRAGMENT_SHADER, FRAGMENT_OUTPUT = 1, 2, 4, 8

_START, _PRIME, _MASK = 0xCBF29CE484222325, 0x100000001B3, 0xFFFFFFFFFFFFFFFF


class Hasher:
    """FNV over 32-bit words."""

    def __init__(self) -> None:
        self.value = _START

    def u32(self, *words: int) -> None:
        """Words; negative ones in two's complement."""
        value = self.value
        for word in words:
            value = value * _PRIME & _MASK ^ word & 0xFFFFFFFF
        self.value = value

    def u64(self, value: int) -> None:
        """The low word, then the high one."""
        self.u32(value & 0xFFFFFFFF, value >> 32)

    def f32(self, *numbers: float) -> None:
        """Floats as their bits."""
        self.u32(*struct.unpack(f"={len(numbers)}I", struct.pack(f"={len(numbers)}f", *numbers)))

    def string(self, text: str) -> None:
        """0xff, then each byte."""
        self.u32(0xFF, *text.encode())

    def reference(self, text: Any) -> None:
        """Another object's hash."""
        self.u64(hash_of(text, "a reference"))

    def of(self, record: Record, names: str) -> None:
        """Members, in that order."""
        self.u32(*(record.get(name, 0) for name in names.split()))


class Dynamic:
    """A pipeline's dynamic states, by VkDynamicState's names less ``VK_DYNAMIC_STATE_`` and vendors."""

    def __init__(self, record: Record) -> None:
        numbers = (record.get("dynamicState") or {}).get("dynamicState", ())
        names = [vulkan.name("VkDynamicState", number) or "" for number in numbers]
        self._names = {name.removeprefix("VK_DYNAMIC_STATE_").removesuffix("_EXT") for name in names}
        for each in ("SCISSOR", "VIEWPORT"):
            if f"{each}_WITH_COUNT" in self._names:
                self._names.add(each)

    def __contains__(self, name: str) -> bool:
        return name.removesuffix("_EXT") in self._names

    def fixed(self, record: Record, **states: str) -> tuple[int, ...]:
        """Members, with 0 for those whose dynamic state is there."""
        return tuple(0 if state in self else record.get(member, 0) for member, state in states.items())


# ── pNext ─────────────────────────────────────────────────────────────────────────────────────────────────────────

# What a structure feeds after its sType: members in order, "x:f" for a float, "x~STATE" where that dynamic state makes
# it 0, "x.y" for a member's member.
_SIMPLE: Mapping[str, str] = {
    "VkPhysicalDeviceRobustness2FeaturesKHR": "robustBufferAccess2 robustImageAccess2 nullDescriptor",
    "VkPhysicalDeviceImageRobustnessFeatures": "robustImageAccess",
    "VkPhysicalDeviceFragmentShadingRateEnumsFeaturesNV": "noInvocationFragmentShadingRates fragmentShadingRateEnums"
    " supersampleFragmentShadingRates",
    "VkPhysicalDeviceFragmentShadingRateFeaturesKHR": "pipelineFragmentShadingRate primitiveFragmentShadingRate"
    " attachmentFragmentShadingRate",
    "VkPhysicalDeviceMeshShaderFeaturesNV": "taskShader meshShader",
    "VkPhysicalDeviceMeshShaderFeaturesEXT": "taskShader meshShader multiviewMeshShader"
    " primitiveFragmentShadingRateMeshShader meshShaderQueries",
    "VkPhysicalDeviceDescriptorBufferFeaturesEXT": "descriptorBuffer descriptorBufferCaptureReplay"
    " descriptorBufferImageLayoutIgnored descriptorBufferPushDescriptors",
    "VkPhysicalDeviceShaderObjectFeaturesEXT": "shaderObject",
    "VkPhysicalDevicePrimitivesGeneratedQueryFeaturesEXT": "primitivesGeneratedQuery"
    " primitivesGeneratedQueryWithNonZeroStreams primitivesGeneratedQueryWithRasterizerDiscard",
    "VkPhysicalDeviceImage2DViewOf3DFeaturesEXT": "image2DViewOf3D sampler2DViewOf3D",
    "VkRenderPassCreationControlEXT": "disallowMerging",
    "VkSamplerBorderColorComponentMappingCreateInfoEXT": "srgb components.r components.g components.b components.a",
    "VkMultisampledRenderToSingleSampledInfoEXT": "multisampledRenderToSingleSampledEnable rasterizationSamples",
    "VkRenderPassFragmentDensityMapCreateInfoEXT": "fragmentDensityMapAttachment.attachment"
    " fragmentDensityMapAttachment.layout",
    "VkPipelineRobustnessCreateInfo": "images vertexInputs uniformBuffers storageBuffers",
    "VkPipelineTessellationDomainOriginStateCreateInfo": "domainOrigin~TESSELLATION_DOMAIN_ORIGIN",
    "VkPipelineRasterizationDepthClipStateCreateInfoEXT": "flags depthClipEnable~DEPTH_CLIP_ENABLE",
    "VkPipelineRasterizationStateStreamCreateInfoEXT": "flags rasterizationStream~RASTERIZATION_STREAM",
    "VkPipelineRasterizationConservativeStateCreateInfoEXT": "flags"
    " conservativeRasterizationMode~CONSERVATIVE_RASTERIZATION_MODE"
    " extraPrimitiveOverestimationSize:f~EXTRA_PRIMITIVE_OVERESTIMATION_SIZE",
    "VkPipelineShaderStageRequiredSubgroupSizeCreateInfo": "requiredSubgroupSize",
    "VkAttachmentDescriptionStencilLayout": "stencilInitialLayout stencilFinalLayout",
    "VkAttachmentReferenceStencilLayout": "stencilLayout",
    "VkPipelineRasterizationProvokingVertexStateCreateInfoEXT": "provokingVertexMode~PROVOKING_VERTEX_MODE",
    "VkSamplerReductionModeCreateInfo": "reductionMode",
    "VkSamplerYcbcrConversionCreateInfo": "format ycbcrModel ycbcrRange components.0 components.1 components.2"
    " components.3 xChromaOffset yChromaOffset chromaFilter forceExplicitReconstruction",
    "VkSamplerCustomBorderColorCreateInfoEXT": "customBorderColor.0 customBorderColor.1 customBorderColor.2"
    " customBorderColor.3 format",
    "VkGraphicsPipelineLibraryCreateInfoEXT": "flags",
    "VkPipelineViewportDepthClipControlCreateInfoEXT": "negativeOneToOne~DEPTH_CLIP_NEGATIVE_ONE_TO_ONE",
}
_GUESSED = frozenset(
    (
        "VkPhysicalDevicePipelineRobustnessFeatures",
        "VkPhysicalDeviceMaintenance8FeaturesKHR",
        "VkPipelineFragmentDensityMapLayeredCreateInfoVALVE",
        "VkRayTracingPipelineClusterAccelerationStructureCreateInfoNV",
        "VkShaderDescriptorSetAndBindingMappingInfoEXT",
        "VkCustomResolveCreateInfoEXT",
    )
)
NO_DYNAMIC = Dynamic({})


def feed_chain(h: Hasher, record: Record, dynamic: Dynamic = NO_DYNAMIC, parts: int = 0) -> None:
    """Feed the pNext of a record.

    Args:
        dynamic: the dynamic states of the pipeline that it is in.
        parts: of a graphics pipeline, those it has (VkGraphicsPipelineLibraryFlagsEXT).
    """
    for each in record.get("pNext", ()):
        name = chained(each["sType"]) or ""
        h.u32(each["sType"])
        if name in _SIMPLE:
            _feed_simple(h, each, _SIMPLE[name], dynamic)
        elif name in _GUESSED:
            _feed_guessed(h, name, each)
        else:
            _FEEDS[name](h, each, dynamic, parts)


def _feed_simple(h: Hasher, record: Record, recipe: str, dynamic: Dynamic) -> None:
    for word in recipe.split():
        path, _, state = word.partition("~")
        path, _, kind = path.partition(":")
        value: Any = record
        for step in path.split("."):
            value = value[int(step)] if step.isdecimal() else value.get(step, 0)
        if state and state in dynamic:
            value = 0
        if kind == "f":
            h.f32(value)
        else:
            h.u32(value)


def _feed_guessed(h: Hasher, name: str, record: Record) -> None:
    for field in fields(name):
        _feed_field(h, field, record.get(field.json))


def _feed_field(h: Hasher, field: Field, value: Any) -> None:
    if value is None:
        h.u32(0)
    elif isinstance(value, list):
        h.u32(len(value))
        for each in value:
            _feed_field(h, field, each)
    elif isinstance(value, dict):
        if "sampler" in value:
            h.reference(value["sampler"])
        else:
            _feed_guessed(h, field.type, value)
    elif isinstance(value, float):
        h.f32(value)
    else:
        h.u32(value)


def feed_libraries(h: Hasher, record: Record, dynamic: Dynamic = NO_DYNAMIC, parts: int = 0) -> None:
    """Feed VkPipelineLibraryCreateInfoKHR, less its pNext."""
    h.u32(len(record.get("libraries", ())))
    for each in record.get("libraries", ()):
        h.reference(each)


def _flags2(h: Hasher, record: Record, dynamic: Dynamic, parts: int) -> None:
    h.u64(record.get("flags", 0) & ~NO_MATTER)


def _divisors(h: Hasher, record: Record, dynamic: Dynamic, parts: int) -> None:
    h.of(record, "vertexBindingDivisorCount")
    for each in record.get("vertexBindingDivisors", ()):
        h.of(each, "binding divisor")


def _multiview(h: Hasher, record: Record, dynamic: Dynamic, parts: int) -> None:
    for name in ("viewMasks", "viewOffsets", "correlationMasks"):
        h.u32(len(record.get(name, ())), *record.get(name, ()))


def _binding_flags(h: Hasher, record: Record, dynamic: Dynamic, parts: int) -> None:
    h.u32(len(record.get("bindingFlags", ())), *record.get("bindingFlags", ()))


def _mutable(h: Hasher, record: Record, dynamic: Dynamic, parts: int) -> None:
    lists = record.get("mutableDescriptorTypeLists", ())
    h.u32(len(lists))
    for each in lists:
        h.u32(len(each), *each)


def _blend_advanced(h: Hasher, record: Record, dynamic: Dynamic, parts: int) -> None:
    if "COLOR_BLEND_ADVANCED" in dynamic:
        h.u32(0)
    else:
        h.of(record, "srcPremultiplied dstPremultiplied blendOverlap")


def _line(h: Hasher, record: Record, dynamic: Dynamic, parts: int) -> None:
    h.u32(
        *dynamic.fixed(
            record, lineRasterizationMode="LINE_RASTERIZATION_MODE", stippledLineEnable="LINE_STIPPLE_ENABLE"
        )
    )
    stippled = "LINE_STIPPLE_ENABLE" in dynamic or record.get("stippledLineEnable")
    if stippled and "LINE_STIPPLE" not in dynamic:
        h.of(record, "lineStippleFactor lineStipplePattern")
    else:
        h.u32(0, 0)


def _shading_rate_attachment(h: Hasher, record: Record, dynamic: Dynamic, parts: int) -> None:
    attachment = record.get("fragmentShadingRateAttachment")
    if attachment is None:
        h.u32(0)
        return
    h.of(attachment, "attachment layout aspectMask")
    h.of(record.get("shadingRateAttachmentTexelSize", {}), "width height")


def _depth_resolve(h: Hasher, record: Record, dynamic: Dynamic, parts: int) -> None:
    attachment = record.get("depthStencilResolveAttachment")
    if attachment is None:
        h.u32(0)
        return
    h.of(record, "depthResolveMode stencilResolveMode")
    h.of(attachment, "attachment layout aspectMask")
    feed_chain(h, attachment)


def _rendering(h: Hasher, record: Record, dynamic: Dynamic, parts: int) -> None:
    formats = record.get("colorAttachmentFormats", ())
    if parts & FRAGMENT_OUTPUT:
        h.u32(len(formats))
    if parts & (FRAGMENT_OUTPUT | FRAGMENT_SHADER | PRE_RASTERIZATION):
        h.of(record, "viewMask")
    if parts & FRAGMENT_OUTPUT:
        h.u32(*formats)
        h.of(record, "depthAttachmentFormat stencilAttachmentFormat")


def _color_write(h: Hasher, record: Record, dynamic: Dynamic, parts: int) -> None:
    h.of(record, "attachmentCount")
    if "COLOR_WRITE_ENABLE" not in dynamic:
        h.u32(*record.get("colorWriteEnables", ()))


def _sample_locations(h: Hasher, record: Record, dynamic: Dynamic, parts: int) -> None:
    h.u32(*dynamic.fixed(record, sampleLocationsEnable="SAMPLE_LOCATIONS_ENABLE"))
    enabled = "SAMPLE_LOCATIONS_ENABLE" in dynamic or record.get("sampleLocationsEnable")
    if not enabled or "SAMPLE_LOCATIONS" in dynamic:
        h.u32(0)
        return
    info = record.get("sampleLocationsInfo", {})
    h.of(info.get("sampleLocationGridSize", {}), "width height")
    h.of(info, "sampleLocationsPerPixel")
    _locations(h, info)


def _sample_locations_info(h: Hasher, record: Record, dynamic: Dynamic, parts: int) -> None:
    h.u32(len(record.get("sampleLocations", ())))
    h.of(record.get("sampleLocationGridSize", {}), "width height")
    h.of(record, "sampleLocationsPerPixel")
    for each in record.get("sampleLocations", ()):
        h.f32(each.get("x", 0.0), each.get("y", 0.0))


def _locations(h: Hasher, info: Record) -> None:
    h.u32(len(info.get("sampleLocations", ())))
    for each in info.get("sampleLocations", ()):
        h.f32(each.get("x", 0.0), each.get("y", 0.0))


def _aspects(h: Hasher, record: Record, dynamic: Dynamic, parts: int) -> None:
    aspects = record.get("aspectReferences", ())
    h.u32(len(aspects))
    for each in aspects:
        h.of(each, "subpass inputAttachmentIndex aspectMask")


def _discard_rectangles(h: Hasher, record: Record, dynamic: Dynamic, parts: int) -> None:
    h.of(record, "flags")
    h.u32(*dynamic.fixed(record, discardRectangleMode="DISCARD_RECTANGLE_MODE"))
    h.of(record, "discardRectangleCount")
    if "DISCARD_RECTANGLE" not in dynamic:
        for each in record.get("discardRectangles", ()):
            h.of(each, "x y width height")


def _memory_barrier(h: Hasher, record: Record, dynamic: Dynamic, parts: int) -> None:
    for name in ("srcStageMask", "srcAccessMask", "dstStageMask", "dstAccessMask"):
        h.u64(record.get(name, 0))


def _shading_rate(h: Hasher, record: Record, dynamic: Dynamic, parts: int) -> None:
    if "FRAGMENT_SHADING_RATE_KHR" not in dynamic:
        h.of(record.get("fragmentSize", {}), "width height")
        h.u32(*record.get("combinerOps", (0, 0)))


def _depth_bias(h: Hasher, record: Record, dynamic: Dynamic, parts: int) -> None:
    if "DEPTH_BIAS" in dynamic:
        h.u32(0)
    else:
        h.of(record, "depthBiasExact depthBiasRepresentation")


def _depth_clamp(h: Hasher, record: Record, dynamic: Dynamic, parts: int) -> None:
    if "DEPTH_CLAMP_RANGE" in dynamic:
        return
    h.of(record, "depthClampMode")
    given = record.get("depthClampRange")
    if record.get("depthClampMode") == 1 and given is not None:  # user defined
        h.f32(given.get("minDepthClamp", 0.0), given.get("maxDepthClamp", 0.0))
    else:
        h.u32(0)


def _attachment_locations(h: Hasher, record: Record, dynamic: Dynamic, parts: int) -> None:
    h.of(record, "colorAttachmentCount")
    h.u32(*record.get("colorAttachmentLocations", (0,)))


def _input_indices(h: Hasher, record: Record, dynamic: Dynamic, parts: int) -> None:
    h.of(record, "colorAttachmentCount")
    h.u32(*record.get("colorAttachmentInputIndices", (0,)))
    for name in ("depthInputAttachmentIndex", "stencilInputAttachmentIndex"):
        h.u32(record.get(name, 0xFFFF))


_FEEDS: Mapping[str, Callable[[Hasher, Record, Dynamic, int], None]] = {
    "VkPipelineCreateFlags2CreateInfo": _flags2,
    "VkPipelineVertexInputDivisorStateCreateInfo": _divisors,
    "VkRenderPassMultiviewCreateInfo": _multiview,
    "VkDescriptorSetLayoutBindingFlagsCreateInfo": _binding_flags,
    "VkMutableDescriptorTypeCreateInfoEXT": _mutable,
    "VkPipelineColorBlendAdvancedStateCreateInfoEXT": _blend_advanced,
    "VkPipelineRasterizationLineStateCreateInfo": _line,
    "VkFragmentShadingRateAttachmentInfoKHR": _shading_rate_attachment,
    "VkSubpassDescriptionDepthStencilResolve": _depth_resolve,
    "VkPipelineRenderingCreateInfo": _rendering,
    "VkPipelineColorWriteCreateInfoEXT": _color_write,
    "VkPipelineSampleLocationsStateCreateInfoEXT": _sample_locations,
    "VkSampleLocationsInfoEXT": _sample_locations_info,
    "VkRenderPassInputAttachmentAspectCreateInfo": _aspects,
    "VkPipelineDiscardRectangleStateCreateInfoEXT": _discard_rectangles,
    "VkMemoryBarrier2": _memory_barrier,
    "VkPipelineFragmentShadingRateStateCreateInfoKHR": _shading_rate,
    "VkPipelineLibraryCreateInfoKHR": feed_libraries,
    "VkDepthBiasRepresentationInfoEXT": _depth_bias,
    "VkPipelineViewportDepthClampControlCreateInfoEXT": _depth_clamp,
    "VkRenderingAttachmentLocationInfo": _attachment_locations,
    "VkRenderingInputAttachmentIndexInfo": _input_indices,
}
