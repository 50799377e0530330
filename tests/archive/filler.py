"""Structures of Vulkan made up from the registry: no zero, no first word of an enumeration, no two numbers alike, so
that a member that goes astray is seen. What hangs on what follows the specification; whether a device would take it
does not matter here."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any

from shaderstat.archive.layouts import FIELDS, fields
from shaderstat.registry import vulkan

# Which member of the union VkDescriptorMappingSourceDataEXT counts.
SOURCES = {
    "constantOffset": "VK_DESCRIPTOR_MAPPING_SOURCE_HEAP_WITH_CONSTANT_OFFSET_EXT",
    "pushIndex": "VK_DESCRIPTOR_MAPPING_SOURCE_HEAP_WITH_PUSH_INDEX_EXT",
    "indirectIndex": "VK_DESCRIPTOR_MAPPING_SOURCE_HEAP_WITH_INDIRECT_INDEX_EXT",
    "indirectIndexArray": "VK_DESCRIPTOR_MAPPING_SOURCE_HEAP_WITH_INDIRECT_INDEX_ARRAY_EXT",
    "heapData": "VK_DESCRIPTOR_MAPPING_SOURCE_RESOURCE_HEAP_DATA_EXT",
    "pushDataOffset": "VK_DESCRIPTOR_MAPPING_SOURCE_PUSH_DATA_EXT",
    "pushAddressOffset": "VK_DESCRIPTOR_MAPPING_SOURCE_PUSH_ADDRESS_EXT",
    "indirectAddress": "VK_DESCRIPTOR_MAPPING_SOURCE_INDIRECT_ADDRESS_EXT",
    "shaderRecordIndex": "VK_DESCRIPTOR_MAPPING_SOURCE_HEAP_WITH_SHADER_RECORD_INDEX_EXT",
    "shaderRecordDataOffset": "VK_DESCRIPTOR_MAPPING_SOURCE_SHADER_RECORD_DATA_EXT",
    "shaderRecordAddressOffset": "VK_DESCRIPTOR_MAPPING_SOURCE_SHADER_RECORD_ADDRESS_EXT",
}


class Filler:
    """Makes up structs; what they refer to by hash is `handles`."""

    def __init__(self, handles: Mapping[str, int] | None = None) -> None:
        self._numbers = count(2)
        self._handles = handles or {}

    def struct(self, name: str, **given: Any) -> dict[str, Any]:
        """Every member that records have, `given` ones as they are; None leaves one out."""
        plain: dict[str, Any] = {}
        if name == "VkDescriptorSetAndBindingMappingEXT":
            given = {"source": SOURCES["heapData"], **given}
        if name == "VkPipelineShaderStageRequiredSubgroupSizeCreateInfo":
            given = {"requiredSubgroupSize": 1 << 7, **given}  # no other number is one
        for field in fields(name):
            if field.member in given:
                continue
            if field.kind in ("handle", "handles"):
                if field.type in self._handles:
                    index = self._handles[field.type]
                    plain[field.member] = index if field.kind == "handle" else [index]
                continue
            plain[field.member] = self.value(field.type, field.kind, field.member)
        plain |= {member: value for member, value in given.items() if value is not None}
        if name == "VkPipelineVertexInputStateCreateInfo":
            bindings = [each["binding"] for each in plain["pVertexBindingDescriptions"]]
            for each, number in zip(plain["pVertexAttributeDescriptions"], reversed(bindings), strict=True):
                each["binding"] = number
        for member in vulkan.struct(name).members:  # type: ignore[union-attr]
            # a count is as long as its arrays
            arrays = [
                each
                for each, other in vulkan.struct(name).members.items()  # type: ignore[union-attr]
                if other.length == member and each in plain
            ]
            if arrays and member in plain:
                plain[member] = len(plain[arrays[0]])
        return plain

    def value(self, type: str, kind: str, member: str = "") -> Any:
        if type == "VkRect2D":
            offset = {"x": -next(self._numbers), "y": next(self._numbers)}
            extent = {"width": next(self._numbers), "height": next(self._numbers)}
            return [{"offset": offset, "extent": extent}]
        if type == "VkMutableDescriptorTypeListEXT":
            return [{"pDescriptorTypes": ["VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE", "VK_DESCRIPTOR_TYPE_STORAGE_IMAGE"]}]
        if type == "VkClearColorValue":
            return {"uint32": [next(self._numbers) for _ in range(4)]}
        if type == "VkSpecializationInfo":
            entries = [
                {"constantID": next(self._numbers), "offset": 0, "size": 4},
                {"constantID": next(self._numbers), "offset": 4, "size": 8},
            ]
            return {"pMapEntries": entries, "pData": bytes(range(1, 13))}
        if type == "VkDescriptorMappingSourceDataEXT":
            return {"heapData": self.struct("VkDescriptorMappingSourceHeapDataEXT")}
        if kind == "struct":
            return self.struct(type)
        if kind == "structs":
            return [self.struct(type) for _ in range(2)]
        if kind == "numbers":
            return [self.number(type) for _ in range(4 if member == "blendConstants" else 2)]
        if kind == "pointer":
            return [self.number(type)]
        if kind == "text":
            return f"entry{next(self._numbers)}"
        return self.number(type)

    def number(self, type: str) -> Any:
        if type in ("float", "double"):
            return next(self._numbers) + 0.25
        if type == "VkBool32":
            return 1
        known = {name: bit for name, bit in vulkan.values(type).items() if vulkan.name(type, bit) == name}
        if vulkan.is_flags(type):
            bits = [name for name, bit in known.items() if bit and bit & (bit - 1) == 0 and bit < 1 << 31]
            if not bits:
                return 0  # reserved for future use
            if type.endswith(("FlagBits", "FlagBits2", "FlagBitsKHR")) or len(bits) == 1:
                return bits[-1]
            return f"{bits[0]} | {bits[-1]}"
        names = [name for name, number in known.items() if number > 0 and not name.endswith("MAX_ENUM")]
        if names:
            return names[next(self._numbers) % len(names)]
        return next(self._numbers)


# Struct → where it may be chained.
CHAINS: Mapping[str, tuple[str, ...]] = {
    name: found.extends
    for name in FIELDS
    if (found := vulkan.struct(name)) is not None and found.s_type is not None and found.extends
}


def chain(filler: Filler, host: str, *but: str) -> list[list[Any]]:
    """Every structure of the table that may be chained to `host`, less some."""
    names = [name for name, hosts in CHAINS.items() if host in hosts and name not in but]
    return [[name, filler.struct(name)] for name in names]
