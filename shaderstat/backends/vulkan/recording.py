"""Command buffers: recorded, submitted to the one queue, waited for.

Barriers are those of Vulkan 1.0, and as broad as they can be: what is counted are executed instructions, no cycles.
"""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from .binding import NULL, check
from .builder import Arena
from .objects import Objects

if TYPE_CHECKING:
    from .images import MadeImage

_ALL, _HOST = 0x10000, 0x4000  # VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_HOST_BIT
_WRITES, _ANY = "VK_ACCESS_MEMORY_WRITE_BIT", "VK_ACCESS_MEMORY_READ_BIT|VK_ACCESS_MEMORY_WRITE_BIT"
_FAMILY_IGNORED = 0xFFFFFFFF
_FOREVER = (1 << 64) - 1


class Recorder:
    """One command buffer of a run: record, `submit`, and submit again.

    Attributes:
        handle: the VkCommandBuffer.
    """

    def __init__(self, objects: Objects, queue: Any, family: int) -> None:
        """Allocate it and begin.

        Raises:
            DriverError: out of memory, and the like.
        """
        self.functions = objects.functions
        self._queue = queue
        self._arena = Arena()
        pool = objects.create("VkCommandPool", {"queueFamilyIndex": family})
        self._fence = objects.create("VkFence", {})
        handle = self._arena.new("VkCommandBuffer *")
        allocation = {
            "commandPool": pool,
            "level": "VK_COMMAND_BUFFER_LEVEL_PRIMARY",
            "commandBufferCount": 1,
        }
        info = self._arena.build("VkCommandBufferAllocateInfo", allocation)
        allocate = self.functions["vkAllocateCommandBuffers"]
        check("vkAllocateCommandBuffers", allocate(self.functions.handle, info, handle))
        self.handle = handle[0]
        begin = self._arena.build("VkCommandBufferBeginInfo", {})
        check("vkBeginCommandBuffer", self.functions["vkBeginCommandBuffer"](self.handle, begin))
        # Whatever goes wrong behind a submission: nothing may be destroyed before it is over.
        objects.stack.callback(self.functions["vkDeviceWaitIdle"], self.functions.handle)

    def build(self, name: str, plain: dict[str, Any]) -> Any:
        """A struct that lives as long as the recorder."""
        return self._arena.build(name, plain)

    def barrier(self) -> None:
        """Whatever was written before is there for what is done after."""
        its = self.build("VkMemoryBarrier", {"srcAccessMask": _WRITES, "dstAccessMask": _ANY})
        self.functions["vkCmdPipelineBarrier"](self.handle, _ALL, _ALL, 0, 1, its, 0, NULL, 0, NULL)

    def host_barrier(self) -> None:
        """Whatever was written before is there for the processor, once the fence is signalled."""
        its = self.build("VkMemoryBarrier", {"srcAccessMask": _WRITES, "dstAccessMask": "VK_ACCESS_HOST_READ_BIT"})
        self.functions["vkCmdPipelineBarrier"](self.handle, _ALL, _HOST, 0, 1, its, 0, NULL, 0, NULL)

    def image_barrier(self, image: MadeImage, before: str, after: str) -> None:
        """Bring an image from one layout to another."""
        plain = {
            "srcAccessMask": _WRITES,
            "dstAccessMask": _ANY,
            "oldLayout": before,
            "newLayout": after,
            "srcQueueFamilyIndex": _FAMILY_IGNORED,
            "dstQueueFamilyIndex": _FAMILY_IGNORED,
            "image": image.handle,
            "subresourceRange": _all_of(image),
        }
        its = self.build("VkImageMemoryBarrier", plain)
        self.functions["vkCmdPipelineBarrier"](self.handle, _ALL, _ALL, 0, 0, NULL, 0, NULL, 1, its)

    def clear(self, image: MadeImage, value: tuple[float, ...]) -> None:
        """Clear an image in TRANSFER_DST_OPTIMAL: to a colour, or to (depth, stencil)."""
        layout = self.build("VkImageMemoryBarrier", {"newLayout": "VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL"}).newLayout
        its_range = self.build("VkImageSubresourceRange", _all_of(image))
        if "COLOR" in image.aspects:
            its = self.build("VkClearColorValue", {"float32": list(value)})
            self.functions["vkCmdClearColorImage"](self.handle, image.handle, layout, its, 1, its_range)
        else:
            its = self.build("VkClearDepthStencilValue", {"depth": value[0], "stencil": int(value[1])})
            self.functions["vkCmdClearDepthStencilImage"](self.handle, image.handle, layout, its, 1, its_range)

    def copy_to_image(self, buffer: Any, image: MadeImage, extent: tuple[int, int, int]) -> None:
        """Fill an image in TRANSFER_DST_OPTIMAL, all layers, from a buffer."""
        plain = {
            "imageSubresource": {"aspectMask": image.aspects, "layerCount": image.layers},
            "imageExtent": dict(zip(("width", "height", "depth"), extent, strict=True)),
        }
        layout = self.build("VkImageMemoryBarrier", {"newLayout": "VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL"}).newLayout
        region = self.build("VkBufferImageCopy", plain)
        self.functions["vkCmdCopyBufferToImage"](self.handle, buffer, image.handle, layout, 1, region)

    def end(self) -> None:
        """Nothing more is recorded.

        Raises:
            DriverError: out of memory, and the like.
        """
        check("vkEndCommandBuffer", self.functions["vkEndCommandBuffer"](self.handle))

    def submit(self) -> int:
        """Submit it and wait until it is done, however long that takes: the child's watchdog has the time limit, and a
        process that ends takes with it what still runs.

        Returns:
            Nanoseconds from the submission to the fence.

        Raises:
            DriverError: VK_ERROR_DEVICE_LOST, and the like.
        """
        functions, device, arena = self.functions, self.functions.handle, Arena()
        fence = arena.new("VkFence[]", [self._fence])
        info = arena.build("VkSubmitInfo", {"pCommandBuffers": [self.handle]})
        check("vkResetFences", functions["vkResetFences"](device, 1, fence))
        started = perf_counter_ns()
        check("vkQueueSubmit", functions["vkQueueSubmit"](self._queue, 1, info, self._fence))
        check("vkWaitForFences", functions["vkWaitForFences"](device, 1, fence, 1, _FOREVER))
        return perf_counter_ns() - started


def _all_of(image: MadeImage) -> dict[str, Any]:
    return {"aspectMask": image.aspects, "levelCount": 1, "layerCount": image.layers}
