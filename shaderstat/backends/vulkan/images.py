"""The images of a run, with their views: created, filled or cleared, and brought into the layout they are used in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shaderstat.errors import Unsupported
from shaderstat.pipeline.fills import fill_bytes
from shaderstat.pipeline.run_images import image_bytes
from shaderstat.plain import dataclass
from shaderstat.registry import vulkan as registry

from .binding import ffi
from .builder import Arena
from .memory import Memory
from .objects import Objects

if TYPE_CHECKING:
    from shaderstat.pipeline.resources import Attachment, Image

    from .recording import Recorder

GENERAL, READ_ONLY = "VK_IMAGE_LAYOUT_GENERAL", "VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL"
UNDEFINED, TRANSFER = "VK_IMAGE_LAYOUT_UNDEFINED", "VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL"
_CUBE = "VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT"
_USAGE = {"STORAGE_IMAGE": "VK_IMAGE_USAGE_STORAGE_BIT"}
_SAMPLED = "VK_IMAGE_USAGE_SAMPLED_BIT"
_TRANSFER_USAGE = "VK_IMAGE_USAGE_TRANSFER_DST_BIT"


@dataclass(frozen=True, slots=True)
class MadeImage:
    """An image: `view` is bound where it is used in `layout`; `aspects` are VkImageAspectFlags by name."""

    handle: Any
    view: Any
    layout: str
    aspects: str
    layers: int


class Images:
    """What makes images, of one device."""

    def __init__(self, objects: Objects, memory: Memory, physical_device: Any, instance_functions: Any) -> None:
        self._objects = objects
        self._memory = memory
        self._physical_device = physical_device
        self._format_properties = instance_functions["vkGetPhysicalDeviceImageFormatProperties"]

    def make(self, image: Image, setup: Recorder) -> MadeImage:
        """The image of a descriptor; `setup` records what fills it.

        Raises:
            DriverError: out of memory, and the like.
            Unsupported: ``run/format``: the device has no such image.
        """
        storage = image.type.endswith("STORAGE_IMAGE")
        aspects = "VK_IMAGE_ASPECT_DEPTH_BIT" if "_D16_" in image.format else "VK_IMAGE_ASPECT_COLOR_BIT"
        handle = self._image(
            {
                "flags": _CUBE if "_CUBE" in image.view else 0,
                "imageType": image.dimensions,
                "format": image.format,
                "extent": dict(zip(("width", "height", "depth"), image.extent, strict=True)),
                "mipLevels": 1,
                "arrayLayers": image.layers,
                "samples": image.samples,
                "tiling": "VK_IMAGE_TILING_OPTIMAL",
                "usage": f"{'VK_IMAGE_USAGE_STORAGE_BIT' if storage else _SAMPLED}|{_TRANSFER_USAGE}",
            },
            f"set {image.slot[0]} binding {image.slot[1]}",
        )
        view = self._view(handle, image.view, image.format, aspects, image.layers)
        made = MadeImage(handle, view, GENERAL if storage else READ_ONLY, aspects, image.layers)
        setup.image_barrier(made, UNDEFINED, TRANSFER)
        if image.fill.kind == "zeros":
            setup.clear(made, (0.0, 0.0, 0.0, 0.0))
        else:
            self._copy(image, made, setup)
        setup.image_barrier(made, TRANSFER, made.layout)
        return made

    def attachment(self, its: Attachment, extent: tuple[int, int], where: str) -> MadeImage:
        """An image to draw into. Its layout is that in which rendering begins: whoever records brings it there.

        Raises:
            DriverError: out of memory, and the like.
            Unsupported: ``run/format``: the device has no such image.
        """
        handle = self._image(
            {
                "imageType": "VK_IMAGE_TYPE_2D",
                "format": _format(its.format),
                "extent": {"width": extent[0], "height": extent[1], "depth": 1},
                "mipLevels": 1,
                "arrayLayers": its.layers,
                "samples": its.samples,
                "tiling": "VK_IMAGE_TILING_OPTIMAL",
                "usage": its.usage,
            },
            where,
        )
        view = self._view(handle, _attachment_view(its), _format(its.format), its.aspects, its.layers)
        return MadeImage(handle, view, its.layout, its.aspects, its.layers)

    def small(self, format: str, usage: str, layout: str) -> MadeImage:
        """An image of one texel, whose content nobody reads; used in `layout`, into which nothing has brought it yet.

        Raises:
            DriverError: out of memory, and the like.
            Unsupported: ``run/format``: the device has no such image.
        """
        one = {"width": 1, "height": 1, "depth": 1}
        plain = {"imageType": "VK_IMAGE_TYPE_2D", "format": format, "extent": one, "mipLevels": 1, "arrayLayers": 1}
        more = {"samples": 1, "tiling": "VK_IMAGE_TILING_OPTIMAL", "usage": usage}
        handle = self._image({**plain, **more}, "an unused binding")
        aspects = "VK_IMAGE_ASPECT_COLOR_BIT"
        view = self._view(handle, "VK_IMAGE_VIEW_TYPE_2D", format, aspects, 1)
        return MadeImage(handle, view, layout, aspects, 1)

    def input_view(self, made: MadeImage, its: Attachment, type: str) -> Any:
        """How a shader reads an attachment: of depth and stencil one alone
        (VUID-VkDescriptorImageInfo-imageView-01976)."""
        if "|" not in made.aspects:
            return made.view
        return self._view(made.handle, type, _format(its.format), "VK_IMAGE_ASPECT_DEPTH_BIT", its.layers)

    def _image(self, plain: dict[str, Any], where: str) -> Any:
        self._check(plain, where)
        handle = self._objects.create("VkImage", plain)
        self._memory.bind_image(handle)
        return handle

    def _check(self, plain: dict[str, Any], where: str) -> None:
        """Ask the device whether it has such an image: creating it without would be invalid."""
        found = ffi.new("VkImageFormatProperties *")
        extent, arena = plain["extent"], Arena()
        info = arena.build("VkImageCreateInfo", plain)
        result = self._format_properties(
            self._physical_device, info.format, info.imageType, info.tiling, info.usage, info.flags, found
        )
        most = found.maxExtent
        fits = (
            result == 0
            and extent["width"] <= most.width
            and extent["height"] <= most.height
            and extent["depth"] <= most.depth
            and plain["arrayLayers"] <= found.maxArrayLayers
            and found.sampleCounts & plain["samples"]
        )
        if not fits:
            shape = "x".join(str(extent[side]) for side in ("width", "height", "depth"))
            layers, samples = plain["arrayLayers"], plain["samples"]
            what = f"{shape} texels, {layers} layers, {samples} samples of {plain['format']}, {plain['usage']}"
            raise Unsupported("run/format", f"{where}: the device has no such image: {what}")

    def _view(self, image: Any, type: str, format: Any, aspects: str, layers: int) -> Any:
        return self._objects.create(
            "VkImageView",
            {
                "image": image,
                "viewType": type,
                "format": format,
                "subresourceRange": {"aspectMask": aspects, "levelCount": 1, "layerCount": layers},
            },
        )

    def _copy(self, image: Image, made: MadeImage, setup: Recorder) -> None:
        """Bring what was given there through a buffer, rows and slices packed tightly."""
        size = image_bytes(image)
        staging = self._memory.buffer(size, "VK_BUFFER_USAGE_TRANSFER_SRC_BIT")
        staging.window[:] = fill_bytes(image.fill, size)
        setup.copy_to_image(staging.handle, made, image.extent)


def _attachment_view(its: Attachment) -> str:
    return "VK_IMAGE_VIEW_TYPE_2D_ARRAY" if its.layers > 1 else "VK_IMAGE_VIEW_TYPE_2D"


def _format(name: str) -> Any:
    """A format that the tables have no name for stands as its number."""
    return int(name) if name.isdigit() else registry.value("VkFormat", name)
