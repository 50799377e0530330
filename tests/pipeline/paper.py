"""A device of paper, for tests of synthesis: everything that it has is said by the test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from shaderstat.model import Device, Driver

ANY = "*"

# The least that Vulkan 1.3 lets a device have ("Required Limits").
LEAST: Mapping[str, int] = {
    "maxBoundDescriptorSets": 4,
    "maxPushConstantsSize": 128,
    "maxPerStageDescriptorSamplers": 16,
    "maxPerStageDescriptorUniformBuffers": 12,
    "maxPerStageDescriptorStorageBuffers": 4,
    "maxPerStageDescriptorSampledImages": 16,
    "maxPerStageDescriptorStorageImages": 4,
    "maxPerStageDescriptorInputAttachments": 4,
    "maxPerStageResources": 128,
    "maxDescriptorSetSamplers": 96,
    "maxDescriptorSetUniformBuffers": 72,
    "maxDescriptorSetStorageBuffers": 24,
    "maxDescriptorSetSampledImages": 96,
    "maxDescriptorSetStorageImages": 24,
    "maxDescriptorSetInputAttachments": 4,
    "maxVertexInputAttributes": 16,
    "maxVertexInputAttributeOffset": 2047,
    "maxVertexInputBindingStride": 2048,
    "maxVertexOutputComponents": 64,
    "maxTessellationPatchSize": 32,
    "maxFragmentInputComponents": 64,
    "maxFragmentOutputAttachments": 4,
    "maxFragmentDualSrcAttachments": 1,
    "maxColorAttachments": 4,
    "maxComputeSharedMemorySize": 16384,
    "maxComputeWorkGroupInvocations": 128,
    "maxComputeWorkGroupSize[0]": 128,
    "maxComputeWorkGroupSize[1]": 128,
    "maxComputeWorkGroupSize[2]": 64,
}

DRIVER = Driver(0, "paper", "1", "")
DEVICE = Device("Paper", 0, 0, "cpu", "1.3.0", "00" * 16)


@dataclass
class PaperDevice:
    """`features` are (struct, member), or members of any struct where the first is ``*``; `properties` are those
    beyond the limits."""

    api_version: tuple[int, int, int] = (1, 3, 0)
    extensions: frozenset[str] = frozenset()
    features: frozenset[tuple[str, str]] = frozenset({(ANY, "dynamicRendering")})
    limits: Mapping[str, int] = field(default_factory=lambda: LEAST)
    properties: Mapping[tuple[str, str], int] = field(default_factory=dict)
    formats: Callable[[str], bool] = field(default=lambda name: True)
    driver: Driver = DRIVER
    device: Device = DEVICE

    def has_extension(self, name: str) -> bool:
        return name in self.extensions

    def has_feature(self, struct: str, member: str) -> bool:
        return (struct, member) in self.features or (ANY, member) in self.features

    def property(self, struct: str, member: str) -> int | None:
        if struct == "VkPhysicalDeviceLimits":
            return self.limits.get(member)
        return self.properties.get((struct, member))

    def supports_format(self, format: str, feature: str) -> bool:
        return self.formats(format)
