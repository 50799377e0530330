"""Memory, and the buffers in it: every buffer of a run is written and read by the processor.

The specification guarantees every buffer a memory type that is both HOST_VISIBLE and HOST_COHERENT
("Resource Memory Association"), so nothing has to be flushed; images have what the device likes best, and go through
a buffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shaderstat.backends.base import DriverError
from shaderstat.errors import Unsupported
from shaderstat.plain import dataclass
from shaderstat.registry import vulkan as registry

from .binding import NULL, check, ffi
from .builder import Arena
from .objects import Objects

# What is allocated at once, at least: devices allow some thousand allocations in all (maxMemoryAllocationCount).
CHUNK_BYTES = 4 << 20

_FLAG = {
    word: registry.value("VkMemoryPropertyFlags", f"VK_MEMORY_PROPERTY_{word}_BIT")
    for word in ("DEVICE_LOCAL", "HOST_VISIBLE", "HOST_COHERENT", "HOST_CACHED", "PROTECTED", "LAZILY_ALLOCATED")
}
_HOST = _FLAG["HOST_VISIBLE"] | _FLAG["HOST_COHERENT"]
# In order of preference. Reading back what isn't cached is slow.
_FOR_BUFFERS = (_HOST | _FLAG["HOST_CACHED"], _HOST)
_FOR_IMAGES = (_FLAG["DEVICE_LOCAL"], 0)
_UNWANTED = _FLAG["PROTECTED"] | _FLAG["LAZILY_ALLOCATED"]
_ADDRESS = "VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT"


@dataclass(slots=True)
class _Chunk:
    memory: Any
    size: int
    window: Any  # what the processor sees of it; None where it sees nothing
    used: int = 0


@dataclass(frozen=True, slots=True)
class MadeBuffer:
    """A buffer: `window` are its bytes, to be written and read; `address` the device's, 0 where it wasn't asked for."""

    handle: Any
    size: int
    window: Any
    address: int


class Memory:
    """What a run allocates; all of it goes with `objects`."""

    def __init__(self, objects: Objects, types: Sequence[int]) -> None:
        """Args:
        types: VkMemoryPropertyFlags of each of the device's memory types.
        """
        self._objects = objects
        self._types = types
        self._chunks: dict[tuple[int, bool, bool], _Chunk] = {}

    def buffer(self, size: int, usage: str, alignment: int = 1) -> MadeBuffer:
        """A buffer of `size` bytes, with nothing in it yet.

        Args:
            usage: VkBufferUsageFlags by name; with SHADER_DEVICE_ADDRESS it has an address.
            alignment: of that address, where more is asked for than the buffer needs by itself.

        Raises:
            DriverError: out of memory, and the like.
        """
        functions = self._objects.functions
        addressable = _ADDRESS in usage
        handle = self._objects.create("VkBuffer", {"size": size, "usage": usage})
        requirements = ffi.new("VkMemoryRequirements *")
        functions["vkGetBufferMemoryRequirements"](functions.handle, handle, requirements)
        requirements.alignment = max(requirements.alignment, alignment)
        chunk, offset = self._place(requirements, _FOR_BUFFERS, is_image=False, addressable=addressable)
        result = functions["vkBindBufferMemory"](functions.handle, handle, chunk.memory, offset)
        check("vkBindBufferMemory", result)
        window = ffi.buffer(chunk.window + offset, size)
        return MadeBuffer(handle, size, window, self._address(handle) if addressable else 0)

    def bind_image(self, image: Any) -> None:
        """Give an image its memory.

        Raises:
            DriverError: out of memory, and the like.
        """
        functions = self._objects.functions
        requirements = ffi.new("VkMemoryRequirements *")
        functions["vkGetImageMemoryRequirements"](functions.handle, image, requirements)
        chunk, offset = self._place(requirements, _FOR_IMAGES, is_image=True, addressable=False)
        check("vkBindImageMemory", functions["vkBindImageMemory"](functions.handle, image, chunk.memory, offset))

    def _place(
        self, requirements: Any, preferences: Sequence[int], *, is_image: bool, addressable: bool
    ) -> tuple[_Chunk, int]:
        """Room in a chunk, and where. Buffers and images never share one, so that bufferImageGranularity is kept."""
        type = self._type(requirements.memoryTypeBits, preferences)
        key = type, is_image, addressable
        chunk = self._chunks.get(key)
        offset = 0 if chunk is None else chunk.used + -chunk.used % requirements.alignment
        if chunk is None or offset + requirements.size > chunk.size:
            chunk = self._allocate(type, max(requirements.size, CHUNK_BYTES), not is_image, addressable)
            self._chunks[key], offset = chunk, 0
        chunk.used = offset + requirements.size
        return chunk, offset

    def _type(self, allowed: int, preferences: Sequence[int]) -> int:
        for wanted in preferences:
            for index, flags in enumerate(self._types):
                if allowed >> index & 1 and flags & wanted == wanted and not flags & _UNWANTED:
                    return index
        raise DriverError("vkGetBufferMemoryRequirements", None, "allows no memory type that a run could use")

    def _allocate(self, type: int, size: int, mapped: bool, addressable: bool) -> _Chunk:
        functions, arena = self._objects.functions, Arena()
        plain: dict[str, Any] = {"allocationSize": size, "memoryTypeIndex": type}
        if addressable:
            flags = {"flags": "VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT"}
            plain["pNext"] = [["VkMemoryAllocateFlagsInfo", flags]]
        memory = arena.new("VkDeviceMemory *")
        info = arena.build("VkMemoryAllocateInfo", plain)
        check("vkAllocateMemory", functions["vkAllocateMemory"](functions.handle, info, NULL, memory))
        self._objects.stack.callback(functions["vkFreeMemory"], functions.handle, memory[0], NULL)  # and unmaps it
        if not mapped:
            return _Chunk(memory[0], size, None)
        pointer = arena.new("void **")
        check("vkMapMemory", functions["vkMapMemory"](functions.handle, memory[0], 0, size, 0, pointer))
        return _Chunk(memory[0], size, ffi.cast("char *", pointer[0]))

    def _address(self, buffer: Any) -> int:
        functions = self._objects.functions
        get = functions.find("vkGetBufferDeviceAddress") or functions.find("vkGetBufferDeviceAddressKHR")
        if get is None:
            raise Unsupported("run/resource", "the device has no bufferDeviceAddress, which pointers need")
        arena = Arena()
        return int(get(functions.handle, arena.build("VkBufferDeviceAddressInfo", {"buffer": buffer})))
