"""Which extensions and features a device is made with. No Vulkan is needed here."""

from __future__ import annotations

import pytest

from shaderstat.backends.vulkan.enabling import (
    AGGREGATES,
    EXECUTABLES,
    choose_extensions,
    choose_features,
    choose_structs,
    with_aliases,
)
from shaderstat.registry import vulkan as registry

NONE: frozenset[str] = frozenset()


def names(version: tuple[int, int], *extensions: str) -> set[str]:
    return {struct.name for struct in choose_structs(version, frozenset(extensions))}


def test_what_is_not_about_pipelines_stays_off() -> None:
    listed = {EXECUTABLES, "VK_KHR_swapchain", "VK_KHR_video_queue", "VK_KHR_external_memory_fd", "VK_XYZ_unheard_of"}
    assert choose_extensions(listed, (1, 3)) == {EXECUTABLES}


def test_an_extension_needs_what_it_depends_on() -> None:
    """VUID-vkCreateDevice-ppEnabledExtensionNames-01387, along a chain of three."""
    ray_tracing = {"VK_KHR_ray_tracing_pipeline", "VK_KHR_acceleration_structure", "VK_KHR_deferred_host_operations"}
    assert choose_extensions(ray_tracing, (1, 3)) == ray_tracing
    assert choose_extensions(ray_tracing - {"VK_KHR_deferred_host_operations"}, (1, 3)) == NONE


def test_a_core_version_or_an_instance_extension_will_do() -> None:
    assert choose_extensions({EXECUTABLES}, (1, 1)) == {EXECUTABLES}
    assert choose_extensions({EXECUTABLES}, (1, 0)) == NONE
    properties2 = frozenset({"VK_KHR_get_physical_device_properties2"})
    assert choose_extensions({EXECUTABLES}, (1, 0), properties2) == {EXECUTABLES}


def test_the_older_buffer_device_address_stands_alone() -> None:
    """VUIDs 03328 and 04748 of VkDeviceCreateInfo."""
    old, new = "VK_EXT_buffer_device_address", "VK_KHR_buffer_device_address"
    assert choose_extensions({old, new}, (1, 1)) == {new}
    assert choose_extensions({old}, (1, 1)) == {old}
    assert choose_extensions({old}, (1, 2)) == NONE


@pytest.mark.parametrize("version", [(1, 0), (1, 1), (1, 2), (1, 3), (1, 4)])
def test_no_feature_is_chained_twice(version: tuple[int, int]) -> None:
    """VUIDs 02829, 02830, 06532 and 10360 of VkDeviceCreateInfo: no struct beside the one that gathers it."""
    found = names(version, *registry.device_extensions())
    for aggregate, since in AGGREGATES:
        gathered = {owner for owner, _ in registry.promoted(aggregate).values()}
        assert (aggregate in found) == (version >= since)
        assert not (version >= since and found & gathered)


def test_features_from_before_they_were_gathered() -> None:
    extension = "VK_KHR_shader_float16_int8"
    assert names((1, 1), extension) >= {
        "VkPhysicalDeviceShaderFloat16Int8Features",
        "VkPhysicalDeviceMultiviewFeatures",
    }
    assert "VkPhysicalDeviceShaderFloat16Int8Features" not in names((1, 1))


def test_features_of_extensions_that_are_off_are_not_asked_for() -> None:
    """RADV reports some of them as supported."""
    ray_tracing = "VkPhysicalDeviceRayTracingPipelineFeaturesKHR"
    assert ray_tracing not in names((1, 3), EXECUTABLES)
    assert ray_tracing in names((1, 3), "VK_KHR_ray_tracing_pipeline")


def test_what_changes_code_is_left_out() -> None:
    core = "VkPhysicalDeviceFeatures"
    left_out = {
        (core, "robustBufferAccess"),
        ("VkPhysicalDeviceVulkan13Features", "robustImageAccess"),
        ("VkPhysicalDeviceVulkan14Features", "pipelineRobustness"),
        ("VkPhysicalDevicePipelineRobustnessFeatures", "pipelineRobustness"),
        ("VkPhysicalDeviceRobustness2FeaturesKHR", "robustBufferAccess2"),
        ("VkPhysicalDeviceRobustness2FeaturesKHR", "robustImageAccess2"),
        ("VkPhysicalDeviceRobustness2FeaturesKHR", "nullDescriptor"),
        ("VkPhysicalDevicePrimitivesGeneratedQueryFeaturesEXT", "primitivesGeneratedQuery"),
        ("VkPhysicalDevicePrimitivesGeneratedQueryFeaturesEXT", "primitivesGeneratedQueryWithNonZeroStreams"),
        ("VkPhysicalDeviceCustomBorderColorFeaturesEXT", "customBorderColors"),
        ("VkPhysicalDeviceCustomBorderColorFeaturesEXT", "customBorderColorWithoutFormat"),
    }
    for struct, member in left_out:
        known = registry.struct(struct)
        assert known is not None and member in known.members
    kept = {(core, "geometryShader"), ("VkPhysicalDeviceVulkan12Features", "shaderFloat16")}
    assert choose_features(left_out | kept, NONE) == kept


def test_no_spirv_capability_needs_what_is_left_out() -> None:
    for name, _ in registry.tables.SPIRV:
        for each in registry.capability_requirements(name) or ():
            if each.feature and not each.value:
                assert choose_features({(each.struct, each.feature)}, NONE), (name, str(each))


def test_one_way_to_shading_rates() -> None:
    """VUIDs 04478 to 04483 of VkDeviceCreateInfo."""
    rate = ("VkPhysicalDeviceFragmentShadingRateFeaturesKHR", "pipelineFragmentShadingRate")
    image = ("VkPhysicalDeviceShadingRateImageFeaturesNV", "shadingRateImage")
    density = ("VkPhysicalDeviceFragmentDensityMapFeaturesEXT", "fragmentDensityMap")
    assert choose_features({rate, image, density}, NONE) == {rate}
    assert choose_features({image, density}, NONE) == {image, density}


def test_descriptor_buffers_and_fragment_masks_exclude_each_other() -> None:
    """VUID-VkDeviceCreateInfo-None-08095; only the mask unlocks SPIR-V."""
    buffer = ("VkPhysicalDeviceDescriptorBufferFeaturesEXT", "descriptorBuffer")
    assert choose_features({buffer}, NONE) == {buffer}
    assert choose_features({buffer}, frozenset({"VK_AMD_shader_fragment_mask"})) == set()


def test_a_feature_is_known_by_all_its_names() -> None:
    new = ("VkPhysicalDeviceVulkan12Features", "shaderFloat16")
    old = ("VkPhysicalDeviceShaderFloat16Int8Features", "shaderFloat16")
    assert with_aliases({new}, NONE) == {new, old}
    assert with_aliases({old}, NONE) == {new, old}
    mirror = ("VkPhysicalDeviceVulkan12Features", "samplerMirrorClampToEdge")
    assert mirror in with_aliases((), frozenset({"VK_KHR_sampler_mirror_clamp_to_edge"}))


def test_features_that_were_asked_for_come_on_and_others_go() -> None:
    core, wanted = ("VkPhysicalDeviceFeatures", "robustBufferAccess"), ("VkPhysicalDeviceFeatures", "geometryShader")
    assert choose_features({core, wanted}, NONE) == {wanted}
    assert choose_features({core, wanted}, NONE, {core: True, wanted: False}) == {core}
    assert choose_features({wanted}, NONE, {core: True}) == {wanted}  # what isn't there can't come on


def test_a_feature_is_asked_for_under_any_of_its_names() -> None:
    old = ("VkPhysicalDeviceImageRobustnessFeatures", "robustImageAccess")
    new = ("VkPhysicalDeviceVulkan13Features", "robustImageAccess")
    assert choose_features({new}, NONE, {old: True}) == {new}
