"""pNext chains by hand: for each structure the words that Fossilize's ``hash_pnext_struct`` (``fossilize.cpp``) feeds,
in its order, written down here as numbers."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from shaderstat.archive import hashes
from shaderstat.archive.hash_chains import feed_chain
from shaderstat.archive.hash_graphics import graphics
from shaderstat.archive.hasher import Dynamic, Hasher
from tests.archive.test_hashes import fed, graphics_record

Chain = list[dict[str, Any]]

FRAGMENT_OUTPUT, ALL_PARTS = 8, 15


def hash_of(chain: Chain, dynamic: Dynamic | None = None, parts: int = 0) -> int:
    h = Hasher()
    feed_chain(h, {"pNext": chain}, dynamic or Dynamic({}), parts)
    return h.value


def bits(*numbers: float) -> tuple[int, ...]:
    return struct.unpack(f"={len(numbers)}I", struct.pack(f"={len(numbers)}f", *numbers))


def halves(number: int) -> tuple[int, int]:
    return number & 0xFFFFFFFF, number >> 32


@pytest.mark.parametrize(
    ("members", "words"),
    [
        # VkPhysicalDevicePipelineRobustnessFeatures, …Maintenance8FeaturesKHR, …DescriptorHeapFeaturesEXT, and
        # …OpacityMicromapFeaturesEXT (hash_pnext_chain_pdf2)
        ({"sType": 1000068001, "pipelineRobustness": 1}, [1]),
        ({"sType": 1000574000, "maintenance8": 1}, [1]),
        ({"sType": 1000135009, "descriptorHeapCaptureReplay": 2, "descriptorHeap": 1}, [1, 2]),
        ({"sType": 1000396005, "micromapHostCommands": 3, "micromapCaptureReplay": 2, "micromap": 1}, [1, 2, 3]),
        # VkPipelineFragmentDensityMapLayeredCreateInfoVALVE, VkRayTracingPipelineClusterAccelerationStructure…NV
        ({"sType": 1000611002, "maxFragmentDensityMapLayers": 5}, [5]),
        ({"sType": 1000569007, "allowClusterAccelerationStructure": 1}, [1]),
        # Members in an order that is not the records'
        ({"sType": 1000068000, "storageBuffers": 1, "vertexInputs": 2, "uniformBuffers": 3, "images": 4}, [4, 2, 3, 1]),
        ({"sType": 1000376002, "rasterizationSamples": 4, "multisampledRenderToSingleSampledEnable": 1}, [1, 4]),
        ({"sType": 1000283002, "depthBiasRepresentation": 2, "depthBiasExact": 1}, [1, 2]),
        ({"sType": 1000411001, "srgb": 1, "components": {"r": 2, "g": 3, "b": 4, "a": 5}}, [1, 2, 3, 4, 5]),
        ({"sType": 1000287000, "customBorderColor": [1, 2, 3, 4], "format": 37}, [1, 2, 3, 4, 37]),
        # Lengths before what they count
        ({"sType": 1000161000, "bindingFlags": [1, 4]}, [2, 1, 4]),
        ({"sType": 1000351002, "mutableDescriptorTypeLists": [[1, 2], [], [3]]}, [3, 2, 1, 2, 0, 1, 3]),
        (
            {"sType": 1000053000, "viewMasks": [3], "viewOffsets": [-1, 2], "correlationMasks": [3]},
            [1, 3, 2, 0xFFFFFFFF, 2, 1, 3],
        ),
        ({"sType": 1000190001, "vertexBindingDivisorCount": 1, "vertexBindingDivisors": [{"binding": 2, "divisor": 3}]},
         [1, 2, 3]),
        ({"sType": 1000117001, "aspectReferences": [{"subpass": 1, "inputAttachmentIndex": 2, "aspectMask": 4}]},
         [1, 1, 2, 4]),
        # 64 bits, the low half first; what doesn't matter is taken out
        ({"sType": 1000470005, "flags": 0x2_00000001 | 0x40 | 0x80 | 0x100 | 0x200}, [1, 2]),
        ({"sType": 1000314000, "srcStageMask": 1 << 40, "srcAccessMask": 2, "dstStageMask": 3, "dstAccessMask": 4},
         [0, 1 << 8, 2, 0, 3, 0, 4, 0]),
        # What isn't there
        ({"sType": 1000226000, "shadingRateAttachmentTexelSize": {"width": 8, "height": 8}}, [0]),
        ({"sType": 1000199001, "depthResolveMode": 1, "stencilResolveMode": 1}, [0]),
        ({"sType": 1000232001, "colorAttachmentCount": 2}, [2, 0]),
        ({"sType": 1000232001, "colorAttachmentCount": 2, "colorAttachmentLocations": [1, 0]}, [2, 1, 0]),
        ({"sType": 1000232002, "colorAttachmentCount": 1, "stencilInputAttachmentIndex": 3}, [1, 0, 0xFFFF, 3]),
        ({"sType": 1000582001, "depthClampMode": 0}, [0, 0]),
        ({"sType": 1000582001, "depthClampMode": 1, "depthClampRange": {"minDepthClamp": 0.25, "maxDepthClamp": 0.5}},
         [1, *bits(0.25, 0.5)]),
    ],
)  # fmt: skip
def test_structures_that_depend_on_nothing(members: dict[str, Any], words: list[int]) -> None:
    assert hash_of([members]) == fed(members["sType"], *words)


def test_a_chain_is_fed_one_after_the_other() -> None:
    first, second = {"sType": 1000225001, "requiredSubgroupSize": 32}, {"sType": 1000130001, "reductionMode": 1}
    assert hash_of([first, second]) == fed(1000225001, 32, 1000130001, 1)


# ── Descriptor heaps ──────────────────────────────────────────────────────────────────────────────────────────────

SAMPLER = {
    "flags": 0, "minFilter": 1, "magFilter": 1, "maxAnisotropy": 0.0, "compareOp": 0, "anisotropyEnable": 0,
    "mipmapMode": 1, "addressModeU": 2, "addressModeV": 2, "addressModeW": 2, "borderColor": 0,
    "unnormalizedCoordinates": 0, "compareEnable": 0, "mipLodBias": 0.0, "minLod": 0.0, "maxLod": 1.0,
}  # fmt: skip
OF_SAMPLER = fed(0, *bits(0.0, 0.0, 0.0, 1.0), 1, 1, 1, 0, 0, 0, 2, 2, 2, 0, 0)
HEAP = {"heapOffset": 1, "samplerHeapOffset": 2}
STRIDES = {"heapArrayStride": 3, "samplerHeapArrayStride": 4}
INDEX = {"heapIndexStride": 5, "samplerHeapIndexStride": 6, "useCombinedImageSamplerIndex": 7}
PUSH = {"pushOffset": 8, "samplerPushOffset": 9}
ADDRESS = {"addressOffset": 10, "samplerAddressOffset": 11}
RECORD = {"shaderRecordOffset": 12, "samplerShaderRecordOffset": 13}


@pytest.mark.parametrize(
    ("source", "data", "words"),
    [
        # hash_base_heap, hash_base_heap_stride
        (0, {"constantOffset": HEAP | STRIDES}, [1, 2, 0, 0, 3, 4]),
        (0, {"constantOffset": HEAP | STRIDES | {"embeddedSampler": SAMPLER}}, [1, 2, *halves(OF_SAMPLER), 3, 4]),
        # and hash_index_heap, then the offsets
        (1, {"pushIndex": HEAP | STRIDES | INDEX | PUSH}, [1, 2, 0, 0, 3, 4, 5, 6, 7, 8, 9]),
        # and hash_indirection_heap
        (2, {"indirectIndex": HEAP | STRIDES | INDEX | PUSH | ADDRESS}, [1, 2, 0, 0, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
        # no array strides, and useCombinedImageSamplerIndex twice
        (3, {"indirectIndexArray": HEAP | INDEX | PUSH | ADDRESS}, [1, 2, 0, 0, 5, 6, 7, 8, 9, 7, 10, 11]),
        (4, {"heapData": {"heapOffset": 1, "pushOffset": 2}}, [1, 2]),
        (5, {"pushDataOffset": 3}, [3]),
        (6, {"pushAddressOffset": 4}, [4]),
        (7, {"indirectAddress": {"pushOffset": 5, "addressOffset": 6}}, [5, 6]),
        (8, {"shaderRecordIndex": HEAP | STRIDES | INDEX | RECORD}, [1, 2, 0, 0, 3, 4, 5, 6, 7, 12, 13]),
        (9, {"shaderRecordDataOffset": 7}, [7]),
        (10, {"shaderRecordAddressOffset": 8}, [8]),
    ],
)  # fmt: skip
def test_a_descriptor_mapping(source: int, data: dict[str, Any], words: list[int]) -> None:
    """hash_pnext_struct of VkShaderDescriptorSetAndBindingMappingInfoEXT: all sources first, then each mapping."""
    place = {"descriptorSet": 20, "firstBinding": 21, "bindingCount": 22, "resourceMask": 23}
    mapping = {**place, "source": source, "sourceData": data}
    other = {"descriptorSet": 30, "firstBinding": 31, "bindingCount": 32, "resourceMask": 33, "source": 5,
             "sourceData": {"pushDataOffset": 34}}  # fmt: skip
    chain = [{"sType": 1000135006, "mappings": [mapping, other]}]
    assert hash_of(chain) == fed(1000135006, 2, source, 5, 23, 20, 21, 22, *words, 33, 30, 31, 32, 34)


def test_the_hash_of_an_embedded_sampler_is_that_of_a_recorded_one() -> None:
    assert hashes.sampler(SAMPLER) == OF_SAMPLER


# ── What depends on the rest of a graphics pipeline ───────────────────────────────────────────────────────────────

RESOLVE = {"sType": 1000628002, "customResolve": 1, "depthAttachmentFormat": 126, "stencilAttachmentFormat": 127,
           "colorAttachmentFormats": [37, 44]}  # fmt: skip


@pytest.mark.parametrize(
    ("pipeline", "parts", "words"),
    [
        ({}, ALL_PARTS, [1, 2, 126, 127, 37, 44]),
        ({}, FRAGMENT_OUTPUT, [1, 2, 126, 127, 37, 44]),
        ({}, ALL_PARTS & ~FRAGMENT_OUTPUT, [1, 0]),
        ({"renderPass": f"{9:016x}"}, ALL_PARTS, [1, 0]),
    ],
)
def test_a_custom_resolve(pipeline: dict[str, Any], parts: int, words: list[int]) -> None:
    """The formats are a render pass's where there is one."""
    assert hash_of([RESOLVE], Dynamic(pipeline), parts) == fed(1000628002, *words)


@pytest.mark.parametrize(
    ("parts", "words"),
    [(ALL_PARTS, [1, 7, 37, 126, 127]), (FRAGMENT_OUTPUT, [1, 7, 37, 126, 127]), (2, [7]), (4, [7]), (1, [])],
)
def test_dynamic_rendering(parts: int, words: list[int]) -> None:
    """Formats matter to the fragment output's part, the view mask to all but the vertex input's."""
    rendering = {"sType": 1000044002, "depthAttachmentFormat": 126, "stencilAttachmentFormat": 127, "viewMask": 7,
                 "colorAttachmentFormats": [37]}  # fmt: skip
    assert hash_of([rendering], Dynamic({}), parts) == fed(1000044002, *words)


# VkDynamicState's numbers.
CULL_MODE, DISCARD_RECTANGLE, LINE_STIPPLE, SAMPLE_LOCATIONS = 1000267000, 1000099000, 1000259000, 1000143000
COLOR_WRITE_ENABLE, FRAGMENT_SHADING_RATE, DEPTH_BIAS, PROVOKING_VERTEX = 1000381000, 1000226000, 3, 1000455019
DEPTH_CLAMP_RANGE, LINE_STIPPLE_ENABLE, CONSERVATIVE_MODE = 1000582000, 1000455021, 1000455014


@pytest.mark.parametrize(
    ("members", "state", "fixed", "dynamic"),
    [
        ({"sType": 1000381001, "attachmentCount": 2, "colorWriteEnables": [1, 0]}, COLOR_WRITE_ENABLE, [2, 1, 0], [2]),
        ({"sType": 1000226001, "fragmentSize": {"width": 2, "height": 1}, "combinerOps": [3, 4]},
         FRAGMENT_SHADING_RATE, [2, 1, 3, 4], []),
        ({"sType": 1000283002, "depthBiasRepresentation": 2, "depthBiasExact": 1}, DEPTH_BIAS, [1, 2], [0]),
        ({"sType": 1000254001, "provokingVertexMode": 1}, PROVOKING_VERTEX, [1], [0]),
        ({"sType": 1000582001, "depthClampMode": 0}, DEPTH_CLAMP_RANGE, [0, 0], []),
        ({"sType": 1000101001, "flags": 0, "conservativeRasterizationMode": 1, "extraPrimitiveOverestimationSize": 0.5},
         CONSERVATIVE_MODE, [0, 1, *bits(0.5)], [0, 0, *bits(0.5)]),
        ({"sType": 1000259001, "lineRasterizationMode": 1, "stippledLineEnable": 1, "lineStippleFactor": 2,
          "lineStipplePattern": 3}, LINE_STIPPLE, [1, 1, 2, 3], [1, 1, 0, 0]),
        ({"sType": 1000259001, "lineRasterizationMode": 1, "stippledLineEnable": 0, "lineStippleFactor": 2,
          "lineStipplePattern": 3}, LINE_STIPPLE_ENABLE, [1, 0, 0, 0], [1, 0, 2, 3]),
        ({"sType": 1000099001, "flags": 0, "discardRectangleMode": 1, "discardRectangleCount": 1,
          "discardRectangles": [{"x": -1, "y": 2, "width": 3, "height": 4}]},
         DISCARD_RECTANGLE, [0, 1, 1, 0xFFFFFFFF, 2, 3, 4], [0, 1, 1]),
        ({"sType": 1000143002, "sampleLocationsEnable": 1, "sampleLocationsInfo": {
            "sType": 1000143000, "sampleLocationsPerPixel": 4, "sampleLocationGridSize": {"width": 1, "height": 2},
            "sampleLocations": [{"x": 0.25, "y": 0.5}]}},
         SAMPLE_LOCATIONS, [1, 1, 2, 4, 1, *bits(0.25, 0.5)], [1, 0]),
    ],
)  # fmt: skip
def test_structures_that_dynamic_state_overrides(
    members: dict[str, Any], state: int, fixed: list[int], dynamic: list[int]
) -> None:
    assert hash_of([members], Dynamic({}), ALL_PARTS) == fed(members["sType"], *fixed)
    with_state = Dynamic({"dynamicState": {"dynamicState": [state]}})
    assert hash_of([members], with_state, ALL_PARTS) == fed(members["sType"], *dynamic)


# ── Whole pipelines ───────────────────────────────────────────────────────────────────────────────────────────────


def test_a_graphics_pipeline_with_every_state_by_hand() -> None:
    """compute_hash_graphics_pipeline."""
    stage = {"flags": 1, "name": "vs", "stage": 1, "module": f"{0x7_00000008:016x}"}
    evaluation = {"flags": 0, "name": "te", "stage": 4, "module": f"{9:016x}",
                  "pNext": [{"sType": 1000225001, "requiredSubgroupSize": 32}]}  # fmt: skip
    face = {"compareOp": 1, "writeMask": 2, "reference": 3, "compareMask": 4, "passOp": 5, "failOp": 6,
            "depthFailOp": 7}  # fmt: skip
    blend = {"dstAlphaBlendFactor": 12, "srcAlphaBlendFactor": 1, "dstColorBlendFactor": 2, "srcColorBlendFactor": 3,
             "colorWriteMask": 15, "alphaBlendOp": 4, "colorBlendOp": 1, "blendEnable": 1}  # fmt: skip
    record = graphics_record(
        flags=0x2 | 0x40 | 0x80,
        renderPass=f"{0x1_00000002:016x}",
        subpass=0,
        stages=[stage, evaluation],
        dynamicState={"flags": 0, "dynamicState": [CULL_MODE, 2]},  # and the line width
        depthStencilState={
            "flags": 0, "stencilTestEnable": 1, "maxDepthBounds": 0.75, "minDepthBounds": 0.25,
            "depthBoundsTestEnable": 1, "depthWriteEnable": 1, "depthTestEnable": 1, "depthCompareOp": 3,
            "front": face, "back": {**face, "compareMask": 14, "reference": 13, "writeMask": 12},
        },
        inputAssemblyState={"flags": 0, "topology": 10, "primitiveRestartEnable": 1},
        rasterizationState={
            "flags": 0, "depthBiasConstantFactor": 0.5, "depthBiasSlopeFactor": 1.5, "depthBiasClamp": 2.5,
            "depthBiasEnable": 1, "depthClampEnable": 0, "polygonMode": 1, "rasterizerDiscardEnable": 0, "frontFace": 1,
            "lineWidth": 1.0, "cullMode": 2,
        },
        multisampleState={
            "flags": 0, "rasterizationSamples": 4, "sampleShadingEnable": 1, "minSampleShading": 0.5,
            "alphaToOneEnable": 0, "alphaToCoverageEnable": 1, "sampleMask": [0xF],
        },
        viewportState={
            "flags": 0, "viewportCount": 1, "scissorCount": 1,
            "viewports": [{"x": 1.0, "y": 2.0, "width": 3.0, "height": 4.0, "minDepth": 0.0, "maxDepth": 1.0}],
            "scissors": [{"x": -5, "y": 6, "width": 7, "height": 8}],
        },
        vertexInputState={
            "flags": 0,
            "attributes": [{"location": 1, "binding": 2, "offset": 3, "format": 4}],
            "bindings": [{"binding": 5, "stride": 6, "inputRate": 1}],
        },
        colorBlendState={
            "flags": 0, "logicOp": 5, "logicOpEnable": 0, "blendConstants": [0.1, 0.2, 0.3, 0.4],
            "attachments": [blend],
        },
        tessellationState={"flags": 0, "patchControlPoints": 3,
                           "pNext": [{"sType": 1000117003, "domainOrigin": 1}]},
        pNext=[RESOLVE],
    )  # fmt: skip
    render_pass = {
        "subpasses": [{"colorAttachments": [{"attachment": 0}], "depthStencilAttachment": {"attachment": 1}}]
    }
    words = [
        0x2,  # flags
        5, 0,  # layout
        2, 1,  # render pass
        0, 2,  # subpass, stages
        2, 0, CULL_MODE, 2,  # dynamic states
        0, 1, 3, 1, 1,  # depth
        *(1, 7, 6, 5), *(1, 7, 6, 5), 1, *bits(0.25, 0.75), 4, 14, 3, 13, 2, 12,  # stencil
        0, 1, 10,  # input assembly
        0, 0, 0, 1, 0, 1, 1, *bits(2.5, 1.5, 0.5),  # rasterization, less the cull mode and the line's width
        0, 1, 0, *bits(0.5), 4, 1, 0xF,  # multisampling
        0, 1, 1, 0xFFFFFFFB, 6, 7, 8, *bits(1.0, 2.0, 3.0, 4.0, 0.0, 1.0),  # viewport
        0, 1, 1, 3, 2, 4, 1, 5, 1, 6,  # vertex input
        0, 1, 0, 0, 1, 15, 4, 1, 12, 1, 2, 3, *bits(0.1, 0.2, 0.3, 0.4),  # blending, with a constant's factor
        0, 3, 1000117003, 1,  # tessellation
        1, 0xFF, ord("v"), ord("s"), 1, 8, 7, 0,  # compute_hash_stage
        0, 0xFF, ord("t"), ord("e"), 4, 9, 0, 0, 1000225001, 32,
        1000628002, 1, 0,
    ]  # fmt: skip
    assert graphics(record, render_pass) == fed(*words)


def test_a_ray_tracing_pipeline_by_hand() -> None:
    """compute_hash_raytracing_pipeline."""
    group = {"anyHitShader": 0xFFFFFFFF, "intersectionShader": 1, "generalShader": 2, "closestHitShader": 3, "type": 4}
    record = {
        "flags": 0x4 | 0x80, "layout": f"{5:016x}", "basePipelineHandle": f"{0x1_00000006:016x}",
        "basePipelineIndex": -1, "maxPipelineRayRecursionDepth": 9,
        "dynamicState": {"flags": 0, "dynamicState": [1000347000]},
        "stages": [{"flags": 0, "name": "g", "stage": 0x100, "module": f"{7:016x}",
                    "specializationInfo": {"dataSize": 4, "data": "CAAAAA==",
                                           "mapEntries": [{"offset": 0, "size": 4, "constantID": 3}]}}],
        "libraryInterface": {"maxPipelineRayPayloadSize": 16, "maxPipelineRayHitAttributeSize": 8},
        "groups": [group],
        "libraryInfo": {"libraries": [f"{0x2_00000003:016x}"]},
        "pNext": [{"sType": 1000569007, "allowClusterAccelerationStructure": 1}],
    }  # fmt: skip
    words = [
        0x4, 9, 5, 0, 6, 1, 0xFFFFFFFF,  # flags, depth, layout, base
        1, 0, 0xFF, ord("g"), 0x100, 7, 0, 8, 0, 0, 0, 4, 0, 1, 0, 4, 0, 3,  # a stage with specialization
        8, 16,  # interface: the attributes first
        1, 0, 1000347000,
        1, 4, 0xFFFFFFFF, 3, 2, 1,  # a group
        1, 3, 2,  # libraries
        1000569007, 1,
    ]  # fmt: skip
    assert hashes.ray_tracing(record) == fed(*words)
    plain = {"flags": 0, "layout": "0" * 16, "maxPipelineRayRecursionDepth": 1, "stages": [], "groups": []}
    # no base, no stages, no interface, no dynamic state, no groups, no libraries
    assert hashes.ray_tracing(plain) == fed(0, 1, 0, 0, 0, 0, 0, 0, 0, 0)


def test_a_render_pass_of_the_older_kind_by_hand() -> None:
    """compute_hash_render_pass: flags only where there are some, nothing of the second kind's."""
    attachment = {"flags": 1, "format": 2, "finalLayout": 3, "initialLayout": 4, "loadOp": 5, "storeOp": 6,
                  "samples": 8, "stencilLoadOp": 9, "stencilStoreOp": 10}  # fmt: skip
    dependency = {"dependencyFlags": 1, "dstAccessMask": 2, "srcAccessMask": 3, "dstStageMask": 4, "srcStageMask": 5,
                  "dstSubpass": 6, "srcSubpass": 0xFFFFFFFF}  # fmt: skip
    subpass = {"flags": 0, "pipelineBindPoint": 0, "preserveAttachments": [7], "inputAttachments":
               [{"attachment": 1, "layout": 5}], "colorAttachments": [{"attachment": 0, "layout": 2}],
               "resolveAttachments": [{"attachment": 2, "layout": 3}]}  # fmt: skip
    record = {"flags": 0, "attachments": [attachment], "dependencies": [dependency], "subpasses": [subpass]}
    words = [1, 1, 1, 1, 4, 3, 2, 5, 6, 9, 10, 8, 1, 2, 3, 0xFFFFFFFF, 6, 5, 4, 0, 1, 1, 1, 0, 7, 0, 2, 1, 5, 2, 3, 0]
    assert hashes.render_pass(record) == fed(*words)
    assert hashes.render_pass({**record, "flags": 2}) == fed(2, *words)
