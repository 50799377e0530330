"""What a pipeline is run with: every resource that its shaders bind, with a size and a content, as plain data.

`plan_resources` decides; `shaderstat.backends.vulkan` makes what it says. Nothing that was not given makes a shader
read outside of what there is: arrays without a length get one that covers every invocation.
"""

from __future__ import annotations

from dataclasses import dataclass

from shaderstat.instrumentation import Fill, Slot


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
        addresses: byte offsets at which the address of the buffer (-2, 0) stands: physical storage buffer pointers.
    """

    slot: Slot
    element: int
    type: str
    size: int
    fill: Fill
    format: str = ""
    addresses: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Image:
    """An image and its view behind one descriptor, in VK_IMAGE_LAYOUT_GENERAL where it is storage.

    Attributes:
        type: VkDescriptorType's name; of a COMBINED_IMAGE_SAMPLER the image's part.
        dimensions: VkImageType's name; `view` VkImageViewType's.
        extent: (width, height, depth) in texels; `layers`, `samples`.
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
class Resources:
    """All of them. `push` are the push constants' bytes, as many as the layout's ranges reach; `push_addresses` as
    `Buffer.addresses`; `indirect` the buffer that addresses point to; `vertices` by the order of their bindings."""

    buffers: tuple[Buffer, ...] = ()
    images: tuple[Image, ...] = ()
    samplers: tuple[Sampler, ...] = ()
    structures: tuple[AccelerationStructure, ...] = ()
    vertices: tuple[Buffer, ...] = ()
    push: bytes = b""
    push_addresses: tuple[int, ...] = ()
    indirect: Buffer | None = None
