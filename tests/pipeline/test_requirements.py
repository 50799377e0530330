"""What a module asks of a device. Numbers are those of the SPIR-V grammar, needs those of vk.xml."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaderstat.errors import Unsupported
from shaderstat.model import Driver
from shaderstat.pipeline.requirements import _STAGE_FEATURES, check, needs, takes
from shaderstat.registry import spirv, vulkan
from shaderstat.spirv.facts import EntryPoint, Reflection
from tests.pipeline.paper import PaperDevice

SHADER, GEOMETRY, LINKAGE, GROUP_NON_UNIFORM_BALLOT, MULTIVIEW, RAY_TRACING = 1, 2, 5, 64, 4439, 4479


def module(
    *capabilities: int,
    version: tuple[int, int] = (1, 0),
    extensions: tuple[str, ...] = (),
    stage: str = "compute",
    **more: Any,
) -> tuple[Reflection, EntryPoint]:
    entry = EntryPoint("main", stage, **more)
    return Reflection(version, 0, (entry,), (SHADER, *capabilities), extensions), entry


def refusal(asked: tuple[Reflection, EntryPoint], device: PaperDevice) -> tuple[str, str, str | None]:
    with pytest.raises(Unsupported) as caught:
        check(*asked, device)
    return caught.value.code, caught.value.message, caught.value.hint


def test_shaders_need_nothing() -> None:
    check(*module(), PaperDevice(api_version=(1, 0, 0)))


def test_a_feature() -> None:
    device = PaperDevice(features=frozenset({("VkPhysicalDeviceFeatures", "geometryShader")}))
    check(*module(GEOMETRY), device)
    assert refusal(module(GEOMETRY), PaperDevice()) == (
        "vulkan/feature-missing",
        "asks for capability Geometry: Paper lacks VkPhysicalDeviceFeatures.geometryShader",
        None,
    )


def test_one_of_several_ways_is_enough() -> None:
    """multiview: a feature of Vulkan 1.2's struct, or of the extension's own."""
    old = PaperDevice(
        api_version=(1, 0, 0),
        extensions=frozenset({"VK_KHR_multiview"}),
        features=frozenset({("VkPhysicalDeviceMultiviewFeatures", "multiview")}),
    )
    check(*module(MULTIVIEW), old)
    new = PaperDevice(features=frozenset({("VkPhysicalDeviceVulkan11Features", "multiview")}))
    check(*module(MULTIVIEW), new)


def test_a_feature_of_an_extension_that_is_not_listed_does_not_count() -> None:
    feature = ("VkPhysicalDeviceRayTracingPipelineFeaturesKHR", "rayTracingPipeline")
    bit_alone = PaperDevice(features=frozenset({feature}))
    assert refusal(module(RAY_TRACING), bit_alone)[1] == (
        "asks for capability RayTracingKHR: Paper lacks VkPhysicalDeviceRayTracingPipelineFeaturesKHR."
        "rayTracingPipeline (VK_KHR_ray_tracing_pipeline)"
    )
    check(
        *module(RAY_TRACING),
        PaperDevice(features=frozenset({feature}), extensions=frozenset({"VK_KHR_ray_tracing_pipeline"})),
    )


def test_radv_hides_ray_tracing_behind_a_switch() -> None:
    hint = refusal(module(RAY_TRACING), PaperDevice(driver=Driver(3, "radv", "", "")))[2]
    assert hint is not None
    assert "RADV_PERFTEST=rt" in hint


def test_a_bit_of_a_property() -> None:
    """VK_SUBGROUP_FEATURE_BALLOT_BIT is 8."""
    member = ("VkPhysicalDeviceVulkan11Properties", "subgroupSupportedOperations")
    check(*module(GROUP_NON_UNIFORM_BALLOT), PaperDevice(properties={member: 0b1001}))
    code, message, _ = refusal(module(GROUP_NON_UNIFORM_BALLOT), PaperDevice(properties={member: 0b0111}))
    assert code == "vulkan/feature-missing"
    assert "subgroupSupportedOperations & VK_SUBGROUP_FEATURE_BALLOT_BIT" in message


def test_an_unknown_capability_is_named_by_number() -> None:
    assert refusal(module(4294967040), PaperDevice())[:2] == (
        "spirv/unknown-capability",
        "asks for capability 4294967040, which this version of shaderstat does not know",
    )


def test_a_capability_that_vulkan_has_no_use_for() -> None:
    assert refusal(module(LINKAGE), PaperDevice())[1] == "asks for capability Linkage, which Vulkan does not have"


@pytest.mark.parametrize(
    ("version", "api", "extensions", "fits"),
    [
        ((1, 0), (1, 0), (), True),
        ((1, 3), (1, 0), (), False),
        ((1, 3), (1, 1), (), True),
        ((1, 4), (1, 1), (), False),
        ((1, 4), (1, 1), ("VK_KHR_spirv_1_4",), True),
        ((1, 5), (1, 1), ("VK_KHR_spirv_1_4",), False),
        ((1, 5), (1, 2), (), True),
        ((1, 6), (1, 2), (), False),
        ((1, 6), (1, 3), (), True),
        ((1, 7), (1, 4), (), False),
    ],
)
def test_versions(version: tuple[int, int], api: tuple[int, int], extensions: tuple[str, ...], fits: bool) -> None:
    device = PaperDevice(api_version=(*api, 0), extensions=frozenset(extensions))
    if fits:
        check(*module(version=version), device)
    else:
        assert refusal(module(version=version), device)[0] == "vulkan/version"


def test_spirv_extensions_need_the_vulkan_ones() -> None:
    asked = module(extensions=("SPV_GOOGLE_user_type",))
    check(*asked, PaperDevice(extensions=frozenset({"VK_GOOGLE_user_type"})))
    assert refusal(asked, PaperDevice())[:2] == (
        "vulkan/extension-missing",
        "uses SPV_GOOGLE_user_type: Paper lacks VK_GOOGLE_user_type",
    )
    assert refusal(module(extensions=("SPV_INTEL_subgroups",)), PaperDevice())[:2] == (
        "vulkan/extension-missing",
        "uses SPV_INTEL_subgroups, which Vulkan does not have",
    )


def test_task_and_mesh_stages_have_features_of_their_own() -> None:
    mesh = ("VkPhysicalDeviceMeshShaderFeaturesEXT", "meshShader")
    check(*module(stage="mesh"), PaperDevice(features=frozenset({mesh})))
    assert refusal(module(stage="task"), PaperDevice(features=frozenset({mesh})))[1] == (
        "Paper lacks VkPhysicalDeviceMeshShaderFeaturesEXT.taskShader"
    )


# ── Which other devices would do ──────────────────────────────────────────────────────────────────────────────────

RAYS = (
    ("VkPhysicalDeviceRayTracingPipelineFeaturesKHR", "rayTracingPipeline"),
    "VK_KHR_ray_tracing_pipeline",
)


def test_what_every_device_has_is_no_need() -> None:
    assert needs([module()]) == ()


def test_the_needs_of_a_pipeline_are_those_of_all_its_stages() -> None:
    stages = [module(GEOMETRY, stage="mesh"), module(RAY_TRACING, version=(1, 4), extensions=("SPV_GOOGLE_user_type",))]
    assert needs(stages) == ("Geometry", "RayTracingKHR", "SPIR-V-1.4", "SPV_GOOGLE_user_type", "mesh")


@pytest.mark.parametrize(
    "asked",
    [module(LINKAGE), module(4294967040), module(version=(1, 7)), module(extensions=("SPV_INTEL_subgroups",))],
)
def test_what_vulkan_does_not_have_no_device_has(asked: tuple[Reflection, EntryPoint]) -> None:
    assert needs([module(GEOMETRY), asked]) == ()


def test_a_device_takes_what_check_lets_pass() -> None:
    rays = PaperDevice(api_version=(1, 1, 0), features=frozenset({RAYS[0]}), extensions=frozenset({RAYS[1]}))
    assert {"RayTracingKHR", "SPIR-V-1.3"} <= set(takes(rays))
    assert not {"Geometry", "SPIR-V-1.4", "mesh"} & set(takes(rays))
    bit_alone = PaperDevice(features=frozenset({RAYS[0]}))
    assert "RayTracingKHR" not in takes(bit_alone)


NUMBERS = [
    number
    for number, each in spirv.enumerants("Capability").items()
    if vulkan.capability_requirements(each.name) is not None
]
FEATURES = sorted(
    {
        (one.struct, one.feature)
        for name in vulkan.required_names()
        for one in vulkan.capability_requirements(name) or ()
        if one.feature and not one.value
    }
)
EXTENSIONS = sorted(vulkan.device_extensions())


@given(
    st.lists(st.sampled_from(NUMBERS), max_size=4),
    st.sampled_from([(1, 0), (1, 3), (1, 4), (1, 5), (1, 6)]),
    st.sampled_from(["compute", "task", "mesh"]),
    st.sets(st.sampled_from(FEATURES)),
    st.sets(st.sampled_from(EXTENSIONS)),
    st.integers(0, 4),
)
def test_the_needs_are_taken_where_check_finds_nothing_missing(
    capabilities: list[int],
    version: tuple[int, int],
    stage: str,
    features: set[tuple[str, str]],
    extensions: set[str],
    minor: int,
) -> None:
    device = PaperDevice(
        api_version=(1, minor, 0),
        features=frozenset(features) | set(_STAGE_FEATURES.values()),
        extensions=frozenset(extensions),
    )
    asked = module(*capabilities, version=version, stage=stage)
    try:
        check(*asked, device)
        passes = True
    except Unsupported:
        passes = False
    assert passes == set(takes(device)).issuperset(needs([asked]))
