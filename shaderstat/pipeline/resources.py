"""What a pipeline is run with: every resource that its shaders bind, with a size and a content, as plain data.

`shaderstat.pipeline.run_plan` decides; `shaderstat.backends.vulkan` makes what it says.
"""

from __future__ import annotations

from shaderstat.instrumentation import Fill, Slot
from shaderstat.plain import dataclass


@dataclass(frozen=True, slots=True)
class Note:
    """What a user should know of the resources: a diagnostic's severity, code and message."""

    severity: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Buffer:
    """A buffer behind one descriptor, or behind one vertex buffer's binding.

    Attributes:
        slot: (set, binding); of a vertex buffer (-1, its binding); of what addresses point to (-2, 0).
        element: of an array of descriptors.
        type: VkDescriptorType's name; empty for what is no descriptor.
        size: in bytes.
        fill: its content: what `fill` doesn't cover is zero.
        format: of a texel buffer's view, empty otherwise.
        addresses: where physical storage buffer pointers stand: (offset in bytes, offset in the buffer (-2, 0) that it
            points to). They stand in given data as well, which can't know an address.
        called: what its content is called where shaderstat made it up.
    """

    slot: Slot
    element: int
    type: str
    size: int
    fill: Fill
    format: str = ""
    addresses: tuple[tuple[int, int], ...] = ()
    called: str = ""


@dataclass(frozen=True, slots=True)
class Image:
    """An image and its view behind one descriptor, in VK_IMAGE_LAYOUT_GENERAL where it is storage.

    Attributes:
        type: VkDescriptorType's name; of a COMBINED_IMAGE_SAMPLER the image's part.
        dimensions: VkImageType's name; `view` VkImageViewType's.
        extent: (width, height, depth) in texels; `layers`, `samples`.
        attachment: of an INPUT_ATTACHMENT, which of `Resources.target` it is.
    """

    slot: Slot
    element: int
    type: str
    format: str
    dimensions: str
    view: str
    extent: tuple[int, int, int]
    layers: int
    samples: int
    fill: Fill
    attachment: int = 0


@dataclass(frozen=True, slots=True)
class Sampler:
    """A sampler that is not immutable; `compare` where shaders compare with it."""

    slot: Slot
    element: int
    compare: bool


@dataclass(frozen=True, slots=True)
class AccelerationStructure:
    """One triangle in one instance."""

    slot: Slot
    element: int


@dataclass(frozen=True, slots=True)
class Attachment:
    """An image that is drawn into.

    Attributes:
        format: VkFormat's name.
        samples, layers: how many.
        usage: VkImageUsageFlags, as names joined by ``|``.
        aspects: VkImageAspectFlags, likewise.
        layout: VkImageLayout's name: that in which rendering begins.
        clear: what it is cleared to: of a colour (0, 0, 0, 0), else (depth, stencil).
    """

    format: str
    samples: int
    layers: int
    usage: str
    aspects: str
    layout: str
    clear: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Target:
    """Where a graphics pipeline draws to.

    Attributes:
        extent: (width, height) in pixels.
        attachments: of a render pass in its order; without one the colour attachments, then depth and stencil.
        colors: without a render pass: places in `attachments`, None in a gap.
        depth, stencil: likewise.
        view_mask: of the subpass.
        subpass: which one of the render pass's `subpasses`.
    """

    extent: tuple[int, int]
    attachments: tuple[Attachment, ...] = ()
    colors: tuple[int | None, ...] = ()
    depth: int | None = None
    stencil: int | None = None
    view_mask: int = 0
    subpass: int = 0
    subpasses: int = 1


@dataclass(frozen=True, slots=True)
class Resources:
    """All of them. `push` are the push constants' bytes, as many as the layout's ranges reach, the first `push_given`
    of them given; `push_addresses` as `Buffer.addresses`; `indirect` the buffer that addresses point to; `vertices` by
    the order of their bindings; `target` of a graphics pipeline; `notes` on all of it."""

    buffers: tuple[Buffer, ...] = ()
    images: tuple[Image, ...] = ()
    samplers: tuple[Sampler, ...] = ()
    structures: tuple[AccelerationStructure, ...] = ()
    vertices: tuple[Buffer, ...] = ()
    push: bytes = b""
    push_given: int = 0
    push_addresses: tuple[tuple[int, int], ...] = ()
    indirect: Buffer | None = None
    target: Target | None = None
    notes: tuple[Note, ...] = ()
