"""State that was given, against what a device has and against itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from shaderstat.errors import Unsupported
from shaderstat.pipeline.given import check_given
from shaderstat.pipeline.spec import PipelineSpec
from tests.pipeline.paper import ANY, LEAST, PaperDevice
from tests.pipeline.test_graphics import stage

UNUSED = 0xFFFFFFFF
INDEXING = "VkPhysicalDeviceDescriptorIndexingProperties"


def spec(kind: str = "graphics", **members: Any) -> PipelineSpec:
    own = {"stage": {"pName": "main", "module": 0}} if kind == "compute" else {}
    return PipelineSpec(kind=kind, modules=(), create_info={**own, **members})


def refusal(one: PipelineSpec, device: PaperDevice | None = None, *stages: Any) -> tuple[str, str]:
    with pytest.raises(Unsupported) as caught:
        check_given(one, stages, device or PaperDevice())
    return caught.value.code, caught.value.message


def bound(type: str, count: int, flags: Any = 0) -> dict[str, Any]:
    binding = {
        "binding": 0,
        "descriptorType": f"VK_DESCRIPTOR_TYPE_{type}",
        "descriptorCount": count,
        "stageFlags": "VK_SHADER_STAGE_FRAGMENT_BIT",
    }
    return {"flags": flags, "pBindings": [binding]}


# ── Graphics ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("members", "told"),
    [
        (
            {"pTessellationState": {"patchControlPoints": 33}},
            "its patches have 33 control points, Paper has 32 (maxTessellationPatchSize)",
        ),
        ({"pViewportState": {"viewportCount": 17}}, "it has 17 viewports, Paper has 16 (maxViewports)"),
        ({"pViewportState": {"scissorCount": UNUSED}}, f"it has {UNUSED} scissors, Paper has 16 (maxViewports)"),
        (
            {"pColorBlendState": {"attachmentCount": 5}},
            "it has 5 colour attachments, Paper has 4 (maxColorAttachments)",
        ),
        (
            {"pNext": [["VkPipelineRenderingCreateInfo", {"pColorAttachmentFormats": [37] * 5}]]},
            "it has 5 colour attachments, Paper has 4 (maxColorAttachments)",
        ),
        (
            {"pNext": [["VkPipelineRenderingCreateInfo", {"viewMask": 0x40}]]},
            "it draws view 6: 7 views are needed, Paper has 6 (maxMultiviewViewCount)",
        ),
        (
            {"pVertexInputState": {"pVertexBindingDescriptions": [{"binding": 16}]}},
            "uses vertex binding 16, Paper has 16 (maxVertexInputBindings)",
        ),
        (
            {
                "pVertexInputState": {
                    "pVertexBindingDescriptions": [{}],
                    "pVertexAttributeDescriptions": [{"location": 16}],
                }
            },
            "uses vertex location 16, Paper has 16 (maxVertexInputAttributes)",
        ),
        (
            {"pMultisampleState": {"rasterizationSamples": "VK_SAMPLE_COUNT_64_BIT"}},
            "64 samples: Paper has them of no attachment",
        ),
    ],
)
def test_a_number_over_its_limit_is_told_with_the_limit(members: dict[str, Any], told: str) -> None:
    samples = {f"framebuffer{kind}SampleCounts": 0xF for kind in ("Color", "Depth", "Stencil", "NoAttachments")}
    device = PaperDevice(
        limits={**LEAST, "maxViewports": 16, "maxVertexInputBindings": 16, **samples},
        properties={("VkPhysicalDeviceMultiviewProperties", "maxMultiviewViewCount"): 6},
    )
    assert refusal(spec(**members), device) == ("vulkan/limit", told)


def test_what_is_dynamic_is_not_looked_at() -> None:
    dynamic = ["VK_DYNAMIC_STATE_PATCH_CONTROL_POINTS_EXT", "VK_DYNAMIC_STATE_VERTEX_INPUT_EXT"]
    one = spec(
        pTessellationState={"patchControlPoints": 33},
        pVertexInputState={"pVertexAttributeDescriptions": [{"location": 99}]},
        pDynamicState={"pDynamicStates": dynamic},
    )
    check_given(one, (), PaperDevice())


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ({"pMultisampleState": {"rasterizationSamples": 5}}, "rasterizationSamples is 0x5: one count is wanted"),
        (
            {"pVertexInputState": {"pVertexAttributeDescriptions": [{"location": 1, "binding": 3}]}},
            "vertex location 1 is of vertex binding 3, which it doesn't have",
        ),
        ({"subpass": 2}, "subpass 2: its render pass has 1"),
    ],
)
def test_a_number_that_names_nothing_is_told(members: dict[str, Any], told: str) -> None:
    one = replace(spec(**members), render_pass={"pSubpasses": [{}]})
    assert refusal(one) == ("pipeline/state", told)


@pytest.mark.parametrize(
    ("render_pass", "told"),
    [
        (
            {"pSubpasses": [{"pColorAttachments": [{"attachment": UNUSED}, {"attachment": 1}]}]},
            "attachment 1 of subpass 0: its render pass has 1",
        ),
        (
            {"pSubpasses": [{}, {"pDepthStencilAttachment": {"attachment": 4}}]},
            "attachment 4 of subpass 1: its render pass has 1",
        ),
        ({"pSubpasses": [{"pPreserveAttachments": [9]}]}, "attachment 9 of subpass 0: its render pass has 1"),
        (
            {"pSubpasses": [{"pNext": [["VkAny", {"pReference": {"attachment": 7}}]]}]},
            "attachment 7 of subpass 0: its render pass has 1",
        ),
        (
            {"pSubpasses": [{}], "pDependencies": [{"srcSubpass": UNUSED, "dstSubpass": 3}]},
            "a dependency's dstSubpass is 3: its render pass has 1",
        ),
    ],
)
def test_a_render_pass_refers_to_what_it_has(render_pass: dict[str, Any], told: str) -> None:
    one = replace(spec(), render_pass={"pAttachments": [{}], **render_pass})
    assert refusal(one) == ("pipeline/state", told)


# ── Layouts ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_descriptors_are_counted_over_all_sets() -> None:
    one = replace(spec(), set_layouts=(bound("UNIFORM_BUFFER", 8), bound("UNIFORM_BUFFER", 8)))
    told = "binds 16 descriptors in the fragment stage, Paper has 12 (maxPerStageDescriptorUniformBuffers)"
    assert refusal(one) == ("vulkan/limit", told)


def test_sets_that_are_filled_late_have_limits_of_their_own() -> None:
    late = bound("SAMPLED_IMAGE", 1000, "VK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT")
    one = replace(spec(), set_layouts=(bound("SAMPLED_IMAGE", 16), late))
    most = {(INDEXING, "maxPerStageDescriptorUpdateAfterBindSampledImages"): 1015}
    check_given(one, (), PaperDevice(properties={next(iter(most)): 1016}))
    told = (
        "binds 1016 descriptors in the fragment stage, Paper has 1015"
        " (maxPerStageDescriptorUpdateAfterBindSampledImages)"
    )
    assert refusal(one, PaperDevice(properties=most)) == ("vulkan/limit", told)


def test_dynamic_buffers_have_a_limit_of_their_own() -> None:
    one = replace(spec(), set_layouts=(bound("UNIFORM_BUFFER_DYNAMIC", 9),))
    device = PaperDevice(limits={**LEAST, "maxDescriptorSetUniformBuffersDynamic": 8})
    assert refusal(one, device)[1] == "binds 9 descriptors, Paper has 8 (maxDescriptorSetUniformBuffersDynamic)"


def test_an_inline_uniform_block_has_bytes() -> None:
    one = replace(spec(), set_layouts=(bound("INLINE_UNIFORM_BLOCK", 4096),))
    most = {("VkPhysicalDeviceInlineUniformBlockProperties", "maxInlineUniformBlockSize"): 256}
    told = "an inline uniform block has 4096 bytes, Paper has 256 (maxInlineUniformBlockSize)"
    assert refusal(one, PaperDevice(properties=most)) == ("vulkan/limit", told)


@pytest.mark.parametrize(
    ("layout", "told"),
    [
        ({"pSetLayouts": [None] * 5}, "its layout has 5 descriptor sets, Paper has 4 (maxBoundDescriptorSets)"),
        (
            {"pPushConstantRanges": [{"offset": 64, "size": 128}]},
            "its push constants end at byte 192, Paper has 128 (maxPushConstantsSize)",
        ),
    ],
)
def test_a_layout_keeps_to_the_device(layout: dict[str, Any], told: str) -> None:
    assert refusal(replace(spec(), layout=layout)) == ("vulkan/limit", told)


def test_binding_numbers_end() -> None:
    bindings = [{"binding": UNUSED, "descriptorType": "VK_DESCRIPTOR_TYPE_SAMPLER", "descriptorCount": 1}]
    code, told = refusal(replace(spec(), set_layouts=({"pBindings": bindings},)))
    assert (code, told) == ("vulkan/limit", f"binding {UNUSED}: numbers over 1048576 are not tried")


# ── Stages ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("size", "told"),
    [
        (48, "subgroup size 48: it must be a power of two"),
        (128, "subgroup size 128: Paper has 8 to 64 (minSubgroupSize, maxSubgroupSize)"),
    ],
)
def test_a_required_subgroup_size_is_one_that_the_device_has(size: int, told: str) -> None:
    name = "VkPipelineShaderStageRequiredSubgroupSizeCreateInfo"
    info = {
        "stage": "VK_SHADER_STAGE_COMPUTE_BIT", "pName": "main", "module": 0,
        "pNext": [[name, {"requiredSubgroupSize": size}]],
    }  # fmt: skip
    sizes = "VkPhysicalDeviceSubgroupSizeControlProperties"
    device = PaperDevice(
        features=frozenset({(ANY, "subgroupSizeControl")}),
        properties={(sizes, "minSubgroupSize"): 8, (sizes, "maxSubgroupSize"): 64},
    )
    one = spec("compute", stage=info)
    assert refusal(one, device, stage("compute", local_size=(8, 8, 1)))[1] == told


def test_ray_tracing_groups_name_stages_that_are_there() -> None:
    groups = [{"generalShader": 0, "closestHitShader": UNUSED}, {"generalShader": UNUSED, "anyHitShader": 2}]
    one = spec("ray_tracing", pStages=[{"pName": "a", "module": 0}, {"pName": "b", "module": 0}], pGroups=groups)
    assert refusal(one) == ("pipeline/state", "anyHitShader 2 of group 1: there are 2 stages")


def test_rays_go_as_deep_as_the_device_lets_them() -> None:
    struct = "VkPhysicalDeviceRayTracingPipelinePropertiesKHR"
    device = PaperDevice(properties={(struct, "maxRayRecursionDepth"): 31})
    told = "rays 32 deep, Paper has 31 (maxRayRecursionDepth)"
    assert refusal(spec("ray_tracing", maxPipelineRayRecursionDepth=32), device) == ("vulkan/limit", told)
