"""Which members a record of Fossilize's has, as one table: the rest follows from Vulkan's own.

Fossilize's names are nearly Vulkan's: ``viewports`` for ``pViewports``. What a member is (a number, structs, a handle)
the registry knows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from shaderstat.registry import vulkan

# Members as Fossilize has them, in its order. "name=member" where the rule does not find it; "?" where it may be left
# out; a number or struct that is left out without it is 0, a list empty.
FIELDS: Mapping[str, str] = {
    "VkSamplerCreateInfo": "flags minFilter magFilter maxAnisotropy compareOp anisotropyEnable mipmapMode addressModeU"
    " addressModeV addressModeW borderColor unnormalizedCoordinates compareEnable mipLodBias minLod maxLod",
    "VkDescriptorSetLayoutCreateInfo": "flags bindings",
    "VkDescriptorSetLayoutBinding": "descriptorType descriptorCount stageFlags binding immutableSamplers?",
    "VkPipelineLayoutCreateInfo": "flags pushConstantRanges setLayouts",
    "VkPushConstantRange": "stageFlags size offset",
    # ── Render passes
    "VkRenderPassCreateInfo": "flags dependencies? attachments? subpasses",
    "VkSubpassDependency": "dependencyFlags dstAccessMask srcAccessMask dstStageMask srcStageMask dstSubpass"
    " srcSubpass",
    "VkAttachmentDescription": "flags format finalLayout initialLayout loadOp storeOp samples stencilLoadOp"
    " stencilStoreOp",
    "VkSubpassDescription": "flags pipelineBindPoint preserveAttachments? inputAttachments? colorAttachments?"
    " resolveAttachments? depthStencilAttachment?",
    "VkAttachmentReference": "attachment layout",
    "VkRenderPassCreateInfo2": "flags correlatedViewMasks? dependencies? attachments? subpasses",
    "VkSubpassDependency2": "dependencyFlags dstAccessMask srcAccessMask dstStageMask srcStageMask dstSubpass"
    " srcSubpass viewOffset",
    "VkAttachmentDescription2": "flags format finalLayout initialLayout loadOp storeOp samples stencilLoadOp"
    " stencilStoreOp",
    "VkSubpassDescription2": "flags pipelineBindPoint viewMask preserveAttachments? inputAttachments?"
    " colorAttachments? resolveAttachments? depthStencilAttachment?",
    "VkAttachmentReference2": "attachment layout aspectMask",
    # ── Pipelines
    "VkPipelineShaderStageCreateInfo": "flags name module stage specializationInfo?",
    "VkSpecializationInfo": "dataSize? data mapEntries",
    "VkSpecializationMapEntry": "offset size constantID",
    "VkComputePipelineCreateInfo": "flags layout? basePipelineHandle basePipelineIndex stage",
    "VkGraphicsPipelineCreateInfo": "flags basePipelineHandle basePipelineIndex layout? renderPass? subpass"
    " tessellationState? dynamicState? multisampleState? vertexInputState? rasterizationState? inputAssemblyState?"
    " colorBlendState? viewportState? depthStencilState? stages?",
    "VkPipelineTessellationStateCreateInfo": "flags patchControlPoints",
    "VkPipelineDynamicStateCreateInfo": "flags dynamicState=pDynamicStates",
    "VkPipelineMultisampleStateCreateInfo": "flags rasterizationSamples sampleShadingEnable minSampleShading"
    " alphaToOneEnable alphaToCoverageEnable sampleMask?",
    "VkPipelineVertexInputStateCreateInfo": "flags attributes=pVertexAttributeDescriptions"
    " bindings=pVertexBindingDescriptions",
    "VkVertexInputAttributeDescription": "location binding offset format",
    "VkVertexInputBindingDescription": "binding stride inputRate",
    "VkPipelineRasterizationStateCreateInfo": "flags depthBiasConstantFactor depthBiasSlopeFactor depthBiasClamp"
    " depthBiasEnable depthClampEnable polygonMode rasterizerDiscardEnable frontFace lineWidth cullMode",
    "VkPipelineInputAssemblyStateCreateInfo": "flags topology primitiveRestartEnable",
    "VkPipelineColorBlendStateCreateInfo": "flags logicOp logicOpEnable blendConstants attachments",
    "VkPipelineColorBlendAttachmentState": "dstAlphaBlendFactor srcAlphaBlendFactor dstColorBlendFactor"
    " srcColorBlendFactor colorWriteMask alphaBlendOp colorBlendOp blendEnable",
    "VkPipelineViewportStateCreateInfo": "flags viewportCount scissorCount viewports? scissors?",
    "VkViewport": "x y width height minDepth maxDepth",
    "VkPipelineDepthStencilStateCreateInfo": "flags stencilTestEnable maxDepthBounds minDepthBounds"
    " depthBoundsTestEnable depthWriteEnable depthTestEnable depthCompareOp front back",
    "VkStencilOpState": "compareOp writeMask reference compareMask passOp failOp depthFailOp",
    "VkRayTracingPipelineCreateInfoKHR": "flags layout? basePipelineHandle basePipelineIndex"
    " maxPipelineRayRecursionDepth dynamicState? stages libraryInterface? libraryInfo? groups",
    "VkRayTracingPipelineInterfaceCreateInfoKHR": "maxPipelineRayPayloadSize maxPipelineRayHitAttributeSize",
    "VkRayTracingShaderGroupCreateInfoKHR": "anyHitShader intersectionShader generalShader closestHitShader type",
    # ── pNext
    "VkPipelineTessellationDomainOriginStateCreateInfo": "domainOrigin",
    "VkPipelineVertexInputDivisorStateCreateInfo": "vertexBindingDivisorCount vertexBindingDivisors?",
    "VkVertexInputBindingDivisorDescription": "binding divisor",
    "VkPipelineRasterizationDepthClipStateCreateInfoEXT": "flags depthClipEnable",
    "VkPipelineRasterizationStateStreamCreateInfoEXT": "flags rasterizationStream",
    "VkRenderPassMultiviewCreateInfo": "viewMasks? viewOffsets? correlationMasks?",
    "VkDescriptorSetLayoutBindingFlagsCreateInfo": "bindingFlags?",
    "VkPipelineColorBlendAdvancedStateCreateInfoEXT": "srcPremultiplied dstPremultiplied blendOverlap",
    "VkPipelineRasterizationConservativeStateCreateInfoEXT": "flags conservativeRasterizationMode"
    " extraPrimitiveOverestimationSize",
    "VkPipelineRasterizationLineStateCreateInfo": "lineRasterizationMode stippledLineEnable lineStippleFactor"
    " lineStipplePattern",
    "VkPipelineShaderStageRequiredSubgroupSizeCreateInfo": "requiredSubgroupSize",
    "VkMutableDescriptorTypeCreateInfoEXT": "mutableDescriptorTypeLists",
    "VkAttachmentDescriptionStencilLayout": "stencilInitialLayout stencilFinalLayout",
    "VkAttachmentReferenceStencilLayout": "stencilLayout",
    "VkSubpassDescriptionDepthStencilResolve": "depthResolveMode stencilResolveMode depthStencilResolveAttachment?",
    "VkFragmentShadingRateAttachmentInfoKHR": "shadingRateAttachmentTexelSize fragmentShadingRateAttachment?",
    "VkExtent2D": "width height",
    "VkPipelineRenderingCreateInfo": "depthAttachmentFormat stencilAttachmentFormat viewMask colorAttachmentFormats?",
    "VkPipelineColorWriteCreateInfoEXT": "attachmentCount colorWriteEnables?",
    "VkPipelineSampleLocationsStateCreateInfoEXT": "sampleLocationsEnable sampleLocationsInfo?",
    "VkSampleLocationsInfoEXT": "sampleLocationsPerPixel sampleLocationGridSize sampleLocations?",
    "VkSampleLocationEXT": "x y",
    "VkPipelineRasterizationProvokingVertexStateCreateInfoEXT": "provokingVertexMode",
    "VkSamplerCustomBorderColorCreateInfoEXT": "customBorderColor format",
    "VkSamplerReductionModeCreateInfo": "reductionMode",
    "VkRenderPassInputAttachmentAspectCreateInfo": "aspectReferences",
    "VkInputAttachmentAspectReference": "subpass inputAttachmentIndex aspectMask",
    "VkPipelineDiscardRectangleStateCreateInfoEXT": "flags discardRectangleMode discardRectangleCount"
    " discardRectangles?",
    "VkMemoryBarrier2": "srcStageMask srcAccessMask dstStageMask dstAccessMask",
    "VkPipelineFragmentShadingRateStateCreateInfoKHR": "fragmentSize? combinerOps?",
    "VkSamplerYcbcrConversionCreateInfo": "format ycbcrModel ycbcrRange components xChromaOffset yChromaOffset"
    " chromaFilter forceExplicitReconstruction",
    "VkComponentMapping": "r g b a",
    "VkGraphicsPipelineLibraryCreateInfoEXT": "flags",
    "VkPipelineLibraryCreateInfoKHR": "libraries",
    "VkPipelineViewportDepthClipControlCreateInfoEXT": "negativeOneToOne",
    "VkPipelineCreateFlags2CreateInfo": "flags",
    "VkRenderPassCreationControlEXT": "disallowMerging",
    "VkSamplerBorderColorComponentMappingCreateInfoEXT": "srgb components",
    "VkMultisampledRenderToSingleSampledInfoEXT": "rasterizationSamples multisampledRenderToSingleSampledEnable",
    "VkDepthBiasRepresentationInfoEXT": "depthBiasRepresentation depthBiasExact",
    "VkRenderPassFragmentDensityMapCreateInfoEXT": "fragmentDensityMapAttachment",
    "VkPipelineRobustnessCreateInfo": "storageBuffers vertexInputs uniformBuffers images",
    "VkPipelineViewportDepthClampControlCreateInfoEXT": "depthClampMode depthClampRange?",
    "VkDepthClampRangeEXT": "minDepthClamp maxDepthClamp",
    "VkRenderingAttachmentLocationInfo": "colorAttachmentCount colorAttachmentLocations?",
    "VkRenderingInputAttachmentIndexInfo": "colorAttachmentCount colorAttachmentInputIndices?"
    " depthInputAttachmentIndex? stencilInputAttachmentIndex?",
    "VkPipelineFragmentDensityMapLayeredCreateInfoVALVE": "maxFragmentDensityMapLayers",
    "VkRayTracingPipelineClusterAccelerationStructureCreateInfoNV": "allowClusterAccelerationStructure",
    "VkShaderDescriptorSetAndBindingMappingInfoEXT": "mappings",
    "VkDescriptorSetAndBindingMappingEXT": "descriptorSet firstBinding bindingCount resourceMask source sourceData",
    # A union: whichever is there. The members of the rest are there where they apply.
    "VkDescriptorMappingSourceDataEXT": "constantOffset? pushIndex? indirectIndex? indirectIndexArray?"
    " shaderRecordIndex? heapData? indirectAddress? pushDataOffset? pushAddressOffset? shaderRecordDataOffset?"
    " shaderRecordAddressOffset?",
    "VkDescriptorMappingSourceConstantOffsetEXT": "heapOffset samplerHeapOffset heapArrayStride"
    " samplerHeapArrayStride embeddedSampler?",
    "VkDescriptorMappingSourcePushIndexEXT": "heapOffset samplerHeapOffset heapArrayStride samplerHeapArrayStride"
    " heapIndexStride samplerHeapIndexStride useCombinedImageSamplerIndex pushOffset samplerPushOffset"
    " embeddedSampler?",
    "VkDescriptorMappingSourceIndirectIndexEXT": "heapOffset samplerHeapOffset heapArrayStride samplerHeapArrayStride"
    " heapIndexStride samplerHeapIndexStride useCombinedImageSamplerIndex pushOffset samplerPushOffset addressOffset"
    " samplerAddressOffset embeddedSampler?",
    "VkDescriptorMappingSourceIndirectIndexArrayEXT": "heapOffset samplerHeapOffset heapIndexStride"
    " samplerHeapIndexStride useCombinedImageSamplerIndex pushOffset samplerPushOffset addressOffset"
    " samplerAddressOffset embeddedSampler?",
    "VkDescriptorMappingSourceShaderRecordIndexEXT": "heapOffset samplerHeapOffset heapArrayStride"
    " samplerHeapArrayStride heapIndexStride samplerHeapIndexStride useCombinedImageSamplerIndex shaderRecordOffset"
    " samplerShaderRecordOffset embeddedSampler?",
    "VkDescriptorMappingSourceHeapDataEXT": "heapOffset pushOffset",
    "VkDescriptorMappingSourceIndirectAddressEXT": "pushOffset addressOffset",
    "VkCustomResolveCreateInfoEXT": "customResolve depthAttachmentFormat stencilAttachmentFormat"
    " colorAttachmentFormats?",
    # ── Features of an application's device
    "VkPhysicalDeviceRobustness2FeaturesKHR": "robustBufferAccess2 robustImageAccess2 nullDescriptor",
    "VkPhysicalDeviceImageRobustnessFeatures": "robustImageAccess",
    "VkPhysicalDeviceFragmentShadingRateEnumsFeaturesNV": "fragmentShadingRateEnums supersampleFragmentShadingRates"
    " noInvocationFragmentShadingRates",
    "VkPhysicalDeviceFragmentShadingRateFeaturesKHR": "pipelineFragmentShadingRate primitiveFragmentShadingRate"
    " attachmentFragmentShadingRate",
    "VkPhysicalDeviceMeshShaderFeaturesEXT": "taskShader meshShader multiviewMeshShader"
    " primitiveFragmentShadingRateMeshShader meshShaderQueries",
    "VkPhysicalDeviceMeshShaderFeaturesNV": "taskShader meshShader",
    "VkPhysicalDeviceDescriptorBufferFeaturesEXT": "descriptorBuffer descriptorBufferCaptureReplay"
    " descriptorBufferImageLayoutIgnored descriptorBufferPushDescriptors",
    "VkPhysicalDeviceShaderObjectFeaturesEXT": "shaderObject",
    "VkPhysicalDevicePrimitivesGeneratedQueryFeaturesEXT": "primitivesGeneratedQuery"
    " primitivesGeneratedQueryWithRasterizerDiscard primitivesGeneratedQueryWithNonZeroStreams",
    "VkPhysicalDeviceImage2DViewOf3DFeaturesEXT": "image2DViewOf3D sampler2DViewOf3D",
    "VkPhysicalDevicePipelineRobustnessFeatures": "pipelineRobustness",
    "VkPhysicalDeviceMaintenance8FeaturesKHR": "maintenance8",
    "VkPhysicalDeviceDescriptorHeapFeaturesEXT": "descriptorHeap descriptorHeapCaptureReplay",
    "VkPhysicalDeviceOpacityMicromapFeaturesEXT": "micromap micromapCaptureReplay micromapHostCommands",
}

HANDLES = frozenset(
    ("VkShaderModule", "VkSampler", "VkDescriptorSetLayout", "VkPipelineLayout", "VkRenderPass", "VkPipeline")
)


class Field(NamedTuple):
    """A member of a record: `json` its name there, `member` Vulkan's, `optional` where it may be left out.

    `kind` is ``number``, ``numbers``, ``pointer`` (to one number), ``struct``, ``structs``, ``handle``, ``handles``,
    ``text``, ``data``; `type` is Vulkan's.
    """

    json: str
    member: str
    kind: str
    type: str
    optional: bool


@cache
def fields(struct: str) -> tuple[Field, ...]:
    """The members of a struct of `FIELDS`."""
    found = vulkan.struct(struct)
    assert found is not None, struct
    result = []
    for word in FIELDS[struct].split():
        json, _, member = word.rstrip("?").partition("=")
        member = member or next(each for each in (json, f"p{json[0].upper()}{json[1:]}") if each in found.members)
        type, length = found.members[member]
        result.append(Field(json, member, _kind(member, type, length), type, word.endswith("?")))
    return tuple(result)


def _kind(member: str, type: str, length: str) -> str:
    many = "s" if length else ""
    if type in HANDLES:
        return "handle" + many
    if vulkan.struct(type) is not None:
        return "struct" + many
    if type == "char":
        return "text"
    if type == "void":
        return "data"
    if length:
        return "numbers"
    return "pointer" if re.match("p[A-Z]", member) else "number"


@cache
def fields_by_json(struct: str) -> Mapping[str, Field]:
    """`fields` by their names in JSON."""
    return {field.json: field for field in fields(struct)}


@cache
def chained(s_type: int) -> str | None:
    """The struct of `FIELDS` that has this ``sType``, by today's name."""
    return _s_types().get(s_type)


@cache
def _s_types() -> Mapping[int, str]:
    found = ((vulkan.struct(name), name) for name in FIELDS)
    return {struct.s_type: name for struct, name in found if struct is not None and struct.s_type is not None}


@cache
def arrays(struct: str) -> Mapping[str, tuple[str, ...]]:
    """Counts, with the arrays that say them."""
    found = vulkan.struct(struct)
    assert found is not None
    lengths = {member.length for member in found.members.values()}
    return {
        count: tuple(name for name, member in found.members.items() if member.length == count)
        for count in found.members
        if count in lengths
    }


def counter(struct: str, member: str) -> str:
    """The member that holds an array's length."""
    found = vulkan.struct(struct)
    assert found is not None
    return found.members[member].length
