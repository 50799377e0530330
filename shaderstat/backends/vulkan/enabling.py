"""Which extensions and features one device is created with: everything that unlocks SPIR-V or pipeline state, less
what changes the code that comes out, less what may not stand together. Pure: no Vulkan call is made here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from functools import cache

from shaderstat.registry import vulkan as registry
from shaderstat.registry.vulkan import Struct

Feature = tuple[str, str]

CORE = "VkPhysicalDeviceFeatures"
EXECUTABLES = "VK_KHR_pipeline_executable_properties"
EXECUTABLE_INFO: Feature = ("VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR", "pipelineExecutableInfo")

# The structs that gather earlier ones; a chain must not hold both (VUIDs 02829, 02830, 06532 and 10360 of
# VkDeviceCreateInfo).
AGGREGATES = (
    ("VkPhysicalDeviceVulkan11Features", (1, 2)),
    ("VkPhysicalDeviceVulkan12Features", (1, 2)),
    ("VkPhysicalDeviceVulkan13Features", (1, 3)),
    ("VkPhysicalDeviceVulkan14Features", (1, 4)),
)

# Features that change code although no shader asks for them: measured one by one on RADV, Turnip, NVK and honeykrisp,
# and on NVIDIA's driver (580.159), where pipelineRobustness is the one: with it buffers are not checked unless a
# pipeline says so. Robustness belongs to a profile that is asked for. No SPIR-V capability needs any of them.
CHANGE_CODE = frozenset(
    {
        "robustBufferAccess",
        "robustBufferAccess2",
        "robustImageAccess",
        "robustImageAccess2",
        "vertexAttributeRobustness",
        "pipelineRobustness",
        "nullDescriptor",
        "primitivesGeneratedQuery",
        "primitivesGeneratedQueryWithRasterizerDiscard",
        "primitivesGeneratedQueryWithNonZeroStreams",
        "customBorderColors",
        "customBorderColorWithoutFormat",
        # Not measured: Fossilize records them with an application, since RADV looks at them.
        "shaderObject",
        "image2DViewOf3D",
        "sampler2DViewOf3D",
    }
)

# What runs there shall not harm the machine: reads and writes of a resource's end are held to it.
ROBUST: Mapping[Feature, bool] = {
    (CORE, "robustBufferAccess"): True,
    ("VkPhysicalDeviceImageRobustnessFeatures", "robustImageAccess"): True,
}
INSTRUMENTATION_FEATURE: Feature = ("VkPhysicalDeviceShaderInstrumentationFeaturesARM", "shaderInstrumentation")

_SHADING_RATE = "VkPhysicalDeviceFragmentShadingRateFeaturesKHR"


def choose_extensions(
    listed: Set[str], version: tuple[int, int], instance_extensions: Set[str] = frozenset()
) -> frozenset[str]:
    """The device extensions to enable: the known ones of `listed` whose dependencies can be met.

    A dependency may be a core version, an instance extension, or another extension that is enabled as well
    (VUID-vkCreateDevice-ppEnabledExtensionNames-01387).
    """
    known = registry.device_extensions()
    chosen = {name for name in listed if name in known}
    if "VK_KHR_buffer_device_address" in chosen or version >= (1, 2):
        # VUIDs 03328 and 04748 of VkDeviceCreateInfo: not beside its successor
        chosen.discard("VK_EXT_buffer_device_address")
    versions = {f"VK_VERSION_1_{minor}" for minor in range(version[1] + 1)}
    while True:
        have = chosen | versions | instance_extensions
        unmet = {name for name in chosen if known[name] and not any(each <= have for each in known[name])}
        if not unmet:
            return frozenset(chosen)
        chosen -= unmet


def choose_structs(version: tuple[int, int], extensions: frozenset[str]) -> list[Struct]:
    """The feature structs that a device of this version with these extensions knows, none of them twice over."""
    aggregates = {name for name, since in AGGREGATES if version >= since}
    gathered = {owner for name in aggregates for owner, _ in registry.promoted(name).values()}
    return [
        struct
        for struct in registry.feature_structs()
        if struct.name not in gathered
        and (struct.name in aggregates if struct.name in _AGGREGATE_NAMES else struct.is_provided(version, extensions))
    ]


def choose_features(
    supported: Iterable[Feature], extensions: frozenset[str], switched: Mapping[Feature, bool] | None = None
) -> set[Feature]:
    """The features to enable, of those `supported`.

    Args:
        switched: features that were asked for, or asked to be left out, under any of their names.
    """
    supported = set(supported)
    on, off = (
        with_aliases((feature for feature, its in (switched or {}).items() if its is wanted), frozenset())
        for wanted in (True, False)
    )
    chosen = {
        (struct, member)
        for struct, member in supported
        # Capture and replay is for tools that record memory: it can only cost.
        if member not in CHANGE_CODE and "CaptureReplay" not in member
    }
    chosen = (chosen | (supported & on)) - off
    if any(struct == _SHADING_RATE for struct, _ in chosen):
        # VUIDs 04478 to 04483 of VkDeviceCreateInfo: the older ways to the same end are not beside it
        chosen.discard(("VkPhysicalDeviceShadingRateImageFeaturesNV", "shadingRateImage"))
        chosen.discard(("VkPhysicalDeviceShadingRateImageFeaturesNV", "shadingRateCoarseSampleOrder"))
        chosen = {(struct, member) for struct, member in chosen if "FragmentDensityMap" not in struct}
    if "VK_AMD_shader_fragment_mask" in extensions:
        # VUID-VkDeviceCreateInfo-None-08095
        chosen = {(struct, member) for struct, member in chosen if "DescriptorBuffer" not in struct}
    return chosen


def without_update_after_bind(features: Set[Feature]) -> set[Feature]:
    """`features` without those that may not stand beside robustBufferAccess on a device that lacks
    robustBufferAccessUpdateAfterBind (VUID-VkDeviceCreateInfo-robustBufferAccess-10247)."""
    if (CORE, "robustBufferAccess") not in features:
        return set(features)
    words = ("UniformBuffer", "StorageBuffer", "UniformTexelBuffer", "StorageTexelBuffer")
    taken = {f"descriptorBinding{word}UpdateAfterBind" for word in words}
    return {(struct, member) for struct, member in features if member not in taken}


def with_aliases(features: Iterable[Feature], extensions: frozenset[str]) -> frozenset[Feature]:
    """`features` under every name that they have: those of Vulkan 1.x's structs and those from before."""
    found = set(features)
    for (aggregate, member), before in _promoted_features().items():
        owner, old = before
        if old == "":
            if owner in extensions:
                found.add((aggregate, member))
        elif before in found:
            found.add((aggregate, member))
        elif (aggregate, member) in found:
            found.add(before)
    return frozenset(found)


_AGGREGATE_NAMES = frozenset(name for name, _ in AGGREGATES)


@cache
def _promoted_features() -> Mapping[Feature, Feature]:
    return {
        (aggregate, member): before
        for aggregate, _ in AGGREGATES
        for member, before in registry.promoted(aggregate).items()
    }
