"""What lies behind bindings that a layout has and no shader uses.

Vulkan allows them to be empty. lavapipe of Mesa 22.3.6 dies of an empty one before one that is used, and applications
hardly ever leave any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .descriptors import Written
from .images import GENERAL, READ_ONLY, UNDEFINED, Images
from .memory import Memory
from .objects import Objects

if TYPE_CHECKING:
    from .recording import Recorder

_FORMAT = "VK_FORMAT_R8G8B8A8_UNORM"
_BYTES = 16
_BUFFERS = ("UNIFORM_BUFFER", "STORAGE_BUFFER", "UNIFORM_TEXEL_BUFFER", "STORAGE_TEXEL_BUFFER")


class Fillers:
    """One small resource of each kind, made when it is first asked for."""

    def __init__(self, objects: Objects, memory: Memory, images: Images, setup: Recorder) -> None:
        self._objects = objects
        self._memory = memory
        self._images = images
        self._setup = setup
        self._made: dict[str, Written | None] = {}

    def get(self, type: str) -> Written | None:
        """A descriptor of VkDescriptorType `type`; None where the binding stays empty.

        Raises:
            DriverError: out of memory, and the like.
        """
        kind = type.removeprefix("VK_DESCRIPTOR_TYPE_").removesuffix("_DYNAMIC")
        if kind not in self._made:
            self._made[kind] = self._make(kind)
        return self._made[kind]

    def _make(self, kind: str) -> Written | None:
        if kind in _BUFFERS:
            buffer = self._memory.buffer(_BYTES, f"VK_BUFFER_USAGE_{kind}_BIT")
            buffer.window[:] = bytes(_BYTES)
            if "TEXEL" not in kind:
                return Written(buffer=buffer.handle)
            plain = {"buffer": buffer.handle, "format": "VK_FORMAT_R32G32B32A32_SFLOAT", "range": _BYTES}
            return Written(texels=self._objects.create("VkBufferView", plain))
        its: dict[str, Any] = {}
        if kind in ("SAMPLED_IMAGE", "COMBINED_IMAGE_SAMPLER", "STORAGE_IMAGE"):
            layout = GENERAL if kind == "STORAGE_IMAGE" else READ_ONLY
            usage = "VK_IMAGE_USAGE_STORAGE_BIT" if kind == "STORAGE_IMAGE" else "VK_IMAGE_USAGE_SAMPLED_BIT"
            image = self._images.small(_FORMAT, usage, layout)
            self._setup.image_barrier(image, UNDEFINED, layout)
            its |= {"imageView": image.view, "imageLayout": layout}
        if kind in ("SAMPLER", "COMBINED_IMAGE_SAMPLER"):
            its["sampler"] = self._objects.create("VkSampler", {})
        return Written(image=its) if its else None
