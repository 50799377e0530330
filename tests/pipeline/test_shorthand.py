"""The short ways to say state: what each does, what it can't do, and what is said where it does nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from shaderstat.pipeline.overrides import overlay
from shaderstat.pipeline.spec import PipelineSpec
from shaderstat.pipeline.stages import StageInput
from shaderstat.spirv.facts import Binding
from tests.pipeline.paper import ANY, LEAST, PaperDevice
from tests.pipeline.test_graphics import stage, variable
from tests.pipeline.test_overrides import compute, laid, pair, refused

SIZES = "VkPhysicalDeviceSubgroupSizeControlProperties"
RENDER_PASS = PaperDevice(features=frozenset())


def option(stages: list[StageInput], device: PaperDevice | None = None, **options: Any) -> PipelineSpec:
    return laid(stages, {"options": options}, device=device)


def refusal(stages: list[StageInput], device: PaperDevice | None = None, **options: Any) -> tuple[str, str]:
    return refused(stages, {"options": options}, device)


def remarks(spec: PipelineSpec) -> list[str]:
    return [each.message for each in spec.remarks]


def rendering(spec: PipelineSpec) -> Mapping[str, Any]:
    found: Mapping[str, Any] = dict(spec.create_info["pNext"])["VkPipelineRenderingCreateInfo"]
    return found


# ── Subgroup size ─────────────────────────────────────────────────────────────────────────────────────────────────


def waves(stages: int, low: int = 32, high: int = 64, subgroups: int = 32) -> PaperDevice:
    return PaperDevice(
        features=frozenset({(ANY, "subgroupSizeControl"), (ANY, "dynamicRendering")}),
        properties={
            (SIZES, "minSubgroupSize"): low,
            (SIZES, "maxSubgroupSize"): high,
            (SIZES, "requiredSubgroupSizeStages"): stages,
            (SIZES, "maxComputeWorkgroupSubgroups"): subgroups,
        },
    )


def test_a_subgroup_size_is_required_of_the_stage() -> None:
    info = option(compute(), waves(0x20), subgroup_size=32).create_info["stage"]
    assert info["pNext"] == [["VkPipelineShaderStageRequiredSubgroupSizeCreateInfo", {"requiredSubgroupSize": 32}]]


def test_every_given_stage_must_take_it_and_generated_ones_stay_as_they_are() -> None:
    code, message = refusal(pair(), waves(0x20), subgroup_size=32)
    assert code == "vulkan/limit"
    assert "takes one for compute, not for vertex shaders" in message
    vertex, fragment = option(pair(), waves(0x11), subgroup_size=32).create_info["pStages"]
    assert vertex["pNext"] == fragment["pNext"]


@pytest.mark.parametrize("size", [16, 128])
def test_a_size_out_of_range(size: int) -> None:
    code, message = refusal(compute(), waves(0x20), subgroup_size=size)
    assert (code, "has 32 to 64" in message) == ("vulkan/limit", True)


def test_a_device_without_the_feature() -> None:
    assert refusal(compute(), subgroup_size=32)[0] == "vulkan/feature-missing"


def test_a_workgroup_of_too_many_subgroups() -> None:
    """VUID-VkPipelineShaderStageCreateInfo-pNext-02756: 64 invocations are two subgroups of 32."""
    assert refusal(compute(), waves(0x20, subgroups=1), subgroup_size=32)[0] == "vulkan/limit"
    option(compute(), waves(0x20, subgroups=2), subgroup_size=32)


# ── Topology ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_topology_is_taken() -> None:
    found = option(pair(), topology="VK_PRIMITIVE_TOPOLOGY_LINE_STRIP")
    assert found.create_info["pInputAssemblyState"]["topology"] == "VK_PRIMITIVE_TOPOLOGY_LINE_STRIP"
    assert remarks(found) == []


def test_points_without_a_size_are_remarked_upon() -> None:
    """VUID-VkGraphicsPipelineCreateInfo-topology-08773."""
    points = "VK_PRIMITIVE_TOPOLOGY_POINT_LIST"
    assert "PointSize" in remarks(option(pair(), topology=points))[0]
    sized = [stage("vertex", builtins_out=frozenset({1})), stage("fragment", outputs=(variable(0),))]
    assert remarks(option(sized, topology=points)) == []


def test_patches_belong_to_tessellation() -> None:
    """VUID-VkGraphicsPipelineCreateInfo-topology-08889."""
    assert refusal(pair(), topology="VK_PRIMITIVE_TOPOLOGY_PATCH_LIST")[0] == "pipeline/state"


def test_a_geometry_shader_decides() -> None:
    """VUID-VkGraphicsPipelineCreateInfo-pStages-00738."""
    stages = [*pair(), stage("geometry", topology="lines")]
    code, message = refusal(stages, topology="VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST")
    assert (code, "takes lines" in message) == ("pipeline/state", True)
    option(stages, topology="VK_PRIMITIVE_TOPOLOGY_LINE_STRIP")


# ── Attachments ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("device", [PaperDevice(), RENDER_PASS])
def test_samples(device: PaperDevice) -> None:
    found = option(pair(), device, samples=4)
    assert found.create_info["pMultisampleState"]["rasterizationSamples"] == "VK_SAMPLE_COUNT_4_BIT"
    if found.render_pass is not None:
        assert {each["samples"] for each in found.render_pass["pAttachments"]} == {"VK_SAMPLE_COUNT_4_BIT"}


def test_a_count_of_samples_that_the_attachment_can_not_have() -> None:
    device = replace(PaperDevice(), limits={**LEAST, "framebufferColorSampleCounts": 0b101})
    code, message = refusal(pair(), device, samples=8)
    assert (code, "has 1, 4 (framebufferColorSampleCounts)" in message) == ("vulkan/limit", True)
    option(pair(), device, samples=4)


@pytest.mark.parametrize("device", [PaperDevice(), RENDER_PASS])
def test_a_colour_format_goes_where_numbers_of_its_kind_are_written(device: PaperDevice) -> None:
    half = "VK_FORMAT_R16G16B16A16_SFLOAT"
    mixed = pair(outputs=(variable(0), variable(1, "uint"), variable(3)))
    found = option(mixed, device, color_format=half)
    integers = "VK_FORMAT_R32G32B32A32_UINT"
    if found.render_pass is None:
        formats = rendering(found)["pColorAttachmentFormats"]
        assert formats == [half, integers, "VK_FORMAT_UNDEFINED", half]
    else:
        assert [each["format"] for each in found.render_pass["pAttachments"]] == [half, integers, half]
    assert remarks(found) == [
        "colour format R16G16B16A16_SFLOAT: not for location 1, whose numbers are of another kind"
    ]


def test_a_colour_format_that_fits_nothing() -> None:
    assert refusal(pair(), color_format="VK_FORMAT_R32_UINT")[0] == "pipeline/state"
    nothing = option(pair(outputs=()), color_format="VK_FORMAT_R8_UNORM")
    assert remarks(nothing) == ["colour format R8_UNORM: it writes no colour"]


def test_a_colour_format_that_the_device_lacks() -> None:
    device = PaperDevice(formats=lambda name: name != "VK_FORMAT_R64_SFLOAT")
    assert refusal(pair(), device, color_format="VK_FORMAT_R64_SFLOAT")[0] == "vulkan/format"


def test_a_depth_format_adds_an_attachment_with_a_test() -> None:
    found = option(pair(), depth_format="VK_FORMAT_D24_UNORM_S8_UINT")
    assert rendering(found)["depthAttachmentFormat"] == "VK_FORMAT_D24_UNORM_S8_UINT"
    assert rendering(found)["stencilAttachmentFormat"] == "VK_FORMAT_D24_UNORM_S8_UINT"
    assert found.create_info["pDepthStencilState"]["depthTestEnable"] == 1
    passed = option(pair(), RENDER_PASS, depth_format="VK_FORMAT_D32_SFLOAT").render_pass
    assert passed is not None
    (subpass,) = passed["pSubpasses"]
    assert passed["pAttachments"][subpass["pDepthStencilAttachment"]["attachment"]]["format"] == "VK_FORMAT_D32_SFLOAT"


def test_a_depth_format_must_take_what_is_written() -> None:
    assert refusal(pair(writes_depth=True), depth_format="VK_FORMAT_S8_UINT")[0] == "pipeline/state"


def test_samples_reach_the_depth_attachment_that_was_asked_for_beside_them() -> None:
    found = option(pair(), RENDER_PASS, samples=2, depth_format="VK_FORMAT_D32_SFLOAT").render_pass
    assert found is not None
    assert {each["samples"] for each in found["pAttachments"]} == {"VK_SAMPLE_COUNT_2_BIT"}


# ── Descriptors, optimisation ─────────────────────────────────────────────────────────────────────────────────────

BUFFERS = (Binding(0, 0, "UNIFORM_BUFFER", 1), Binding(0, 1, "STORAGE_BUFFER", 2), Binding(1, 0, "SAMPLER", 2))


def types(spec: PipelineSpec) -> list[str]:
    return [
        each["descriptorType"].removeprefix("VK_DESCRIPTOR_TYPE_")
        for layout in spec.set_layouts
        for each in layout["pBindings"]
    ]


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        ("uniform", ["UNIFORM_BUFFER_DYNAMIC", "STORAGE_BUFFER", "SAMPLER"]),
        ("storage", ["UNIFORM_BUFFER", "STORAGE_BUFFER_DYNAMIC", "SAMPLER"]),
        ("all", ["UNIFORM_BUFFER_DYNAMIC", "STORAGE_BUFFER_DYNAMIC", "SAMPLER"]),
    ],
)
def test_dynamic_buffers(which: str, expected: list[str]) -> None:
    assert types(option(compute(*BUFFERS), dynamic_buffers=which)) == expected


def test_more_dynamic_buffers_than_the_device_has() -> None:
    device = replace(PaperDevice(), limits={**LEAST, "maxDescriptorSetStorageBuffersDynamic": 1})
    assert refusal(compute(*BUFFERS), device, dynamic_buffers="all")[0] == "vulkan/limit"
    assert "no such buffer" in remarks(option(compute(), dynamic_buffers="all"))[0]


def test_push_descriptors() -> None:
    device = PaperDevice(extensions=frozenset({"VK_KHR_push_descriptor"}))
    found = option(compute(*BUFFERS), device, push_descriptors=1)
    assert [layout.get("flags") for layout in found.set_layouts] == [
        None,
        "VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT",
    ]
    assert refusal(compute(*BUFFERS), push_descriptors=1)[0] == "vulkan/extension-missing"
    assert remarks(option(compute(), device, push_descriptors=1)) == ["push descriptors 1: it has no such set"]
    code, _ = refusal(compute(*BUFFERS), device, dynamic_buffers="all", push_descriptors=0)
    assert code == "pipeline/state"  # VUID-VkDescriptorSetLayoutCreateInfo-flags-00280


def test_immutable_samplers_for_every_sampler() -> None:
    found = option(compute(*BUFFERS), immutable_samplers={"magFilter": "VK_FILTER_LINEAR"})
    assert found.samplers == ({"magFilter": "VK_FILTER_LINEAR"},)
    assert found.set_layouts[1]["pBindings"][0]["pImmutableSamplers"] == [0, 0]


def test_optimisation_is_a_flag_beside_others() -> None:
    name = "VK_PIPELINE_CREATE_DISABLE_OPTIMIZATION_BIT"
    off = {"options": {"optimize": False}}
    assert laid(compute(), off).create_info["flags"] == name
    assert laid(compute(), {"compute": {"flags": 4}}, off).create_info["flags"] == 5
    other = "VK_PIPELINE_CREATE_DISPATCH_BASE_BIT"
    device = PaperDevice(extensions=frozenset({"VK_KHR_device_group"}))
    assert laid(compute(), {"compute": {"flags": other}}, off, device=device).create_info["flags"] == f"{other}|{name}"
    assert laid(compute(), off, {"options": {"optimize": True}}).create_info["flags"] == 0


def test_graphics_state_says_nothing_of_a_compute_shader() -> None:
    assert option(
        compute(), samples=4, color_format="VK_FORMAT_R8_UNORM", depth_format="VK_FORMAT_D32_SFLOAT"
    ) == option(compute())


def test_what_a_generated_fragment_stage_writes_limits_nothing() -> None:
    device = PaperDevice(
        features=frozenset({(ANY, "dynamicRendering")}),
        properties={("VkPhysicalDeviceVulkan12Properties", "framebufferIntegerColorSampleCounts"): 1},
    )
    whole = laid(pair(outputs=(variable(0, "uint"),)), device=device)
    alone = replace(whole, synthetic_stages=0x10)
    layers = [{"options": {"samples": 4, "color_format": "VK_FORMAT_R8_UNORM"}}]
    found = overlay(alone, layers, pair(), device)
    assert found.create_info["pMultisampleState"]["rasterizationSamples"] == "VK_SAMPLE_COUNT_4_BIT"
    assert remarks(found) == ["colour format R8_UNORM: its fragment stage is generated"]
    assert refusal(pair(outputs=(variable(0, "uint"),)), device, samples=4)[0] == "vulkan/limit"
