"""pNext chains as Fossilize's hashes are fed with them, and samplers, which may stand in one.

State that a dynamic state overrides is fed as 0 or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from shaderstat.archive.hasher import (
    FRAGMENT_OUTPUT,
    FRAGMENT_SHADER,
    NO_DYNAMIC,
    NO_MATTER,
    PRE_RASTERIZATION,
    Dynamic,
    Hasher,
    Record,
)
from shaderstat.archive.layouts import chained
from shaderstat.registry import vulkan

_CAPTURE_REPLAY = 0x8  # of a sampler

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
    "VkPhysicalDevicePipelineRobustnessFeatures": "pipelineRobustness",
    "VkPhysicalDeviceMaintenance8FeaturesKHR": "maintenance8",
    "VkPhysicalDeviceDescriptorHeapFeaturesEXT": "descriptorHeap descriptorHeapCaptureReplay",
    "VkPhysicalDeviceOpacityMicromapFeaturesEXT": "micromap micromapCaptureReplay micromapHostCommands",
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
    "VkPipelineFragmentDensityMapLayeredCreateInfoVALVE": "maxFragmentDensityMapLayers",
    "VkRayTracingPipelineClusterAccelerationStructureCreateInfoNV": "allowClusterAccelerationStructure",
}


def sampler(record: Record) -> int:
    """Of a ``samplers`` record."""
    h = Hasher()
    h.u32(record.get("flags", 0) & ~_CAPTURE_REPLAY)
    h.f32(*(record.get(name, 0.0) for name in ("maxAnisotropy", "mipLodBias", "minLod", "maxLod")))
    h.of(record, "minFilter magFilter mipmapMode compareEnable compareOp anisotropyEnable")
    h.of(record, "addressModeU addressModeV addressModeW borderColor unnormalizedCoordinates")
    feed_chain(h, record)
    return h.value


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


def _custom_resolve(h: Hasher, record: Record, dynamic: Dynamic, parts: int) -> None:
    h.of(record, "customResolve")
    if dynamic.has_render_pass or not parts & FRAGMENT_OUTPUT:
        h.u32(0)
        return
    formats = record.get("colorAttachmentFormats", ())
    h.u32(len(formats))
    h.of(record, "depthAttachmentFormat stencilAttachmentFormat")
    h.u32(*formats)


def _mappings(h: Hasher, record: Record, dynamic: Dynamic, parts: int) -> None:
    mappings = record.get("mappings", ())
    h.u32(len(mappings), *(each.get("source", 0) for each in mappings))
    for each in mappings:
        h.of(each, "resourceMask descriptorSet firstBinding bindingCount")
        feed_chain(h, each)
        name = vulkan.name("VkDescriptorMappingSourceEXT", each.get("source", 0)) or ""
        member, recipe = _SOURCES.get(name, ("", ""))
        data = each.get("sourceData", {}).get(member, 0)
        if not recipe:
            h.u32(*([data] if member else []))
            continue
        for word in recipe.split():
            if word == "sampler":
                embedded = data.get("embeddedSampler")
                h.u64(0 if embedded is None else sampler(embedded))
            else:
                h.of(data, word)


_HEAP = "heapOffset samplerHeapOffset sampler"
_STRIDES = "heapArrayStride samplerHeapArrayStride"
_INDEX = "heapIndexStride samplerHeapIndexStride useCombinedImageSamplerIndex"
_PUSH = "pushOffset samplerPushOffset"
_ADDRESS = "addressOffset samplerAddressOffset"
# Where a descriptor comes from → which member of the union says it, and of that what is fed; a number as it is.
_SOURCES: Mapping[str, tuple[str, str]] = {
    f"VK_DESCRIPTOR_MAPPING_SOURCE_{name}_EXT": row
    for name, row in {
        "HEAP_WITH_CONSTANT_OFFSET": ("constantOffset", f"{_HEAP} {_STRIDES}"),
        "HEAP_WITH_PUSH_INDEX": ("pushIndex", f"{_HEAP} {_STRIDES} {_INDEX} {_PUSH}"),
        "HEAP_WITH_INDIRECT_INDEX": ("indirectIndex", f"{_HEAP} {_STRIDES} {_INDEX} {_PUSH} {_ADDRESS}"),
        "HEAP_WITH_INDIRECT_INDEX_ARRAY": (
            "indirectIndexArray",
            f"{_HEAP} {_INDEX} {_PUSH} useCombinedImageSamplerIndex {_ADDRESS}",  # one of them twice
        ),
        "RESOURCE_HEAP_DATA": ("heapData", "heapOffset pushOffset"),
        "PUSH_DATA": ("pushDataOffset", ""),
        "PUSH_ADDRESS": ("pushAddressOffset", ""),
        "INDIRECT_ADDRESS": ("indirectAddress", "pushOffset addressOffset"),
        "HEAP_WITH_SHADER_RECORD_INDEX": (
            "shaderRecordIndex",
            f"{_HEAP} {_STRIDES} {_INDEX} shaderRecordOffset samplerShaderRecordOffset",
        ),
        "SHADER_RECORD_DATA": ("shaderRecordDataOffset", ""),
        "SHADER_RECORD_ADDRESS": ("shaderRecordAddressOffset", ""),
    }.items()
}


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
    "VkShaderDescriptorSetAndBindingMappingInfoEXT": _mappings,
    "VkCustomResolveCreateInfoEXT": _custom_resolve,
}
