"""The one scene that rays are traced through: a triangle in one instance."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from shaderstat.errors import Unsupported

from .binding import ffi
from .builder import Arena
from .memory import MadeBuffer, Memory
from .objects import Objects

if TYPE_CHECKING:
    from .recording import Recorder

_ADDRESS = "VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT"
_INPUT = f"VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_BIT_KHR|{_ADDRESS}"
_STORAGE = f"VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_STORAGE_BIT_KHR|{_ADDRESS}"
_SCRATCH = f"VK_BUFFER_USAGE_STORAGE_BUFFER_BIT|{_ADDRESS}"
_TYPE = "VK_ACCELERATION_STRUCTURE_TYPE_{}_LEVEL_KHR"
# Before the origin, across the whole of x and y from -1 to 1: what looks along z sees it.
_TRIANGLE = struct.pack("=9f", -3.0, -1.0, 1.0, 3.0, -1.0, 1.0, 0.0, 5.0, 1.0)
# A row-major 3×4 matrix, the identity; then VkAccelerationStructureInstanceKHR's bit fields: custom index 0, mask 0xFF,
# no offset into the hit groups, no flags.
_INSTANCE = struct.pack("=12fII", 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0xFF << 24, 0)
_INSTANCE_ALIGNMENT = 16  # VUID-vkCmdBuildAccelerationStructuresKHR-pInfos-03715
_SCRATCH_ALIGNMENT = 256  # minAccelerationStructureScratchOffsetAlignment is at most that


class Scene:
    """A top-level acceleration structure, built by `setup`.

    Attributes:
        handle: the VkAccelerationStructureKHR.
    """

    def __init__(self, objects: Objects, memory: Memory, setup: Recorder) -> None:
        """Record what builds it.

        Raises:
            DriverError: out of memory, and the like.
            Unsupported: ``run/resource``: the device has no acceleration structures, or can't make addresses.
        """
        if objects.functions.find("vkCreateAccelerationStructureKHR") is None:
            raise Unsupported("run/resource", "an acceleration structure is bound, and the device has none")
        self._objects = objects
        self._memory = memory
        self._setup = setup
        triangle = self._given(_TRIANGLE)
        triangles = {
            "vertexFormat": "VK_FORMAT_R32G32B32_SFLOAT",
            "vertexData": {"deviceAddress": triangle.address},
            "vertexStride": 12,
            "maxVertex": 2,
            "indexType": "VK_INDEX_TYPE_NONE_KHR",
        }
        geometry = {"geometryType": "VK_GEOMETRY_TYPE_TRIANGLES_KHR", "geometry": {"triangles": triangles}}
        bottom = self._build("BOTTOM", {**geometry, "flags": "VK_GEOMETRY_OPAQUE_BIT_KHR"})
        setup.barrier()
        instance = self._given(_INSTANCE + struct.pack("=Q", self._address(bottom)))
        instances = {"data": {"deviceAddress": instance.address}}
        geometry = {"geometryType": "VK_GEOMETRY_TYPE_INSTANCES_KHR", "geometry": {"instances": instances}}
        self.handle = self._build("TOP", geometry)
        setup.barrier()

    def _build(self, level: str, geometry: dict[str, Any]) -> Any:
        """A structure of one primitive."""
        functions, arena = self._objects.functions, Arena()
        plain: dict[str, Any] = {"type": _TYPE.format(level), "pGeometries": [geometry]}
        sizes = arena.build("VkAccelerationStructureBuildSizesInfoKHR", {})
        functions["vkGetAccelerationStructureBuildSizesKHR"](
            functions.handle,
            1,  # VK_ACCELERATION_STRUCTURE_BUILD_TYPE_DEVICE_KHR
            arena.build("VkAccelerationStructureBuildGeometryInfoKHR", plain),
            ffi.new("uint32_t *", 1),
            sizes,
        )
        size = max(sizes.accelerationStructureSize, 1)
        storage = self._memory.buffer(size, _STORAGE)
        structure = self._objects.create(
            "VkAccelerationStructureKHR",
            {"buffer": storage.handle, "size": size, "type": plain["type"]},
            struct="VkAccelerationStructureCreateInfoKHR",
        )
        scratch = self._memory.buffer(max(sizes.buildScratchSize, 4), _SCRATCH, _SCRATCH_ALIGNMENT)
        plain |= {"dstAccelerationStructure": structure, "scratchData": {"deviceAddress": scratch.address}}
        info = self._setup.build("VkAccelerationStructureBuildGeometryInfoKHR", plain)
        one = self._setup.build("VkAccelerationStructureBuildRangeInfoKHR", {"primitiveCount": 1})
        ranges = ffi.new("VkAccelerationStructureBuildRangeInfoKHR *[]", [one])
        functions["vkCmdBuildAccelerationStructuresKHR"](self._setup.handle, 1, info, ranges)
        return structure

    def _given(self, data: bytes) -> MadeBuffer:
        made = self._memory.buffer(len(data), _INPUT, _INSTANCE_ALIGNMENT)
        made.window[:] = data
        return made

    def _address(self, structure: Any) -> int:
        functions, arena = self._objects.functions, Arena()
        info = arena.build("VkAccelerationStructureDeviceAddressInfoKHR", {"accelerationStructure": structure})
        return int(functions["vkGetAccelerationStructureDeviceAddressKHR"](functions.handle, info))
