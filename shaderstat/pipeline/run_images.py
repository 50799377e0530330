"""The images of a run: dimensions, size and format from what shaders declare, content from what was given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

from shaderstat.errors import Unsupported
from shaderstat.instrumentation import Fill
from shaderstat.pipeline.fills import in_bytes
from shaderstat.pipeline.resources import Image
from shaderstat.pipeline.run_buffers import limit, made
from shaderstat.pipeline.run_formats import sampled_format, storage_format, texel_bytes
from shaderstat.pipeline.run_interface import Bound, state
from shaderstat.pipeline.run_pointers import MOST_BYTES
from shaderstat.plain import dataclass

if TYPE_CHECKING:
    from shaderstat.backends.base import DeviceFacts
    from shaderstat.instrumentation import Execution, ImageFill
    from shaderstat.pipeline.resources import Target
    from shaderstat.pipeline.spec import PipelineSpec
    from shaderstat.pipeline.stages import StageInput
    from shaderstat.spirv.facts import Type

IMAGES = ("SAMPLED_IMAGE", "COMBINED_IMAGE_SAMPLER", "STORAGE_IMAGE", "INPUT_ATTACHMENT")

# A side of an image, and slices or layers, where fewer invocations run.
SIDE, SLICES = 64, 4
_CUBE_FACES = 6
# Storage images with samples and the like have limits of their own; of these counts the first that the device has.
_SAMPLES = (4, 2, 8, 16)
# SPIR-V's Dim: 1D, 2D, 3D, Cube → VkImageType, VkImageViewType, VkPhysicalDeviceLimits' member.
_DIMENSIONS = {
    0: ("1D", "1D", "maxImageDimension1D"),
    1: ("2D", "2D", "maxImageDimension2D"),
    2: ("3D", "3D", "maxImageDimension3D"),
    3: ("2D", "CUBE", "maxImageDimensionCube"),
}


@dataclass(frozen=True, slots=True)
class Shape:
    """Texels for every invocation of the largest command: (x, y, z), no side under `SIDE` and `SLICES`."""

    size: tuple[int, int, int]


def image_shape(execution: Execution, stages: Sequence[StageInput], facts: DeviceFacts) -> Shape:
    """The size of images of which nothing was said."""
    local = next((stage.entry.local_size for stage in stages if stage.entry.local_size is not None), (1, 1, 1))
    sides = [SIDE, SIDE, SLICES]
    for command in execution.commands:
        size = (*execution.extent, 1) if command.kind == "draw" else command.size
        if command.kind in ("dispatch", "draw_mesh_tasks"):
            size = (size[0] * local[0], size[1] * local[1], size[2] * local[2])
        sides = [max(pair) for pair in zip(sides, size, strict=True)]
    return Shape((sides[0], sides[1], sides[2]))


def images(
    bound: Bound, given: ImageFill | None, shape: Shape, spec: PipelineSpec, target: Target | None, facts: DeviceFacts
) -> Iterator[Image]:
    """The images behind a binding.

    Raises:
        Unsupported: ``run/too-small``, ``run/too-large``, ``run/limit``, ``run/format``, ``run/resource`` or
            ``run/attachment``.
    """
    if bound.type == "INPUT_ATTACHMENT":
        yield from _input_attachments(bound, spec, target)
        return
    type = bound.image
    if type is None:  # a combined image sampler of which the sampler alone is used
        return
    image = _image(bound, type, given, shape, facts)
    if image_bytes(image) > MOST_BYTES:
        raise Unsupported("run/too-large", f"{bound.where} would have {image_bytes(image)} bytes: over {MOST_BYTES}")
    _check_data(image, bound.where)
    yield from (replace(image, element=element) for element in range(made(bound)))


def image_bytes(image: Image) -> int:
    """What an image's texels take, packed tightly."""
    return prod(image.extent) * image.layers * image.samples * max(texel_bytes(image.format), 1)


def _image(bound: Bound, type: Type, given: ImageFill | None, shape: Shape, facts: DeviceFacts) -> Image:
    assert type.image is not None
    dim, _, arrayed, multisampled, _, _ = type.image
    if dim not in _DIMENSIONS:
        raise Unsupported("run/resource", f"{bound.where} is an image of dimensionality {dim}: nothing is made for it")
    dimensions, view, member = _DIMENSIONS[dim]
    storage = bound.type == "STORAGE_IMAGE"
    if storage:
        format = storage_format(type, bound.where, facts)
    else:
        format = sampled_format(type, bound.compares, bound.where, facts)
    x, y, z = shape.size
    if given is not None and given.extent is not None:
        x, y = given.extent
        z = SLICES
        if not x * y:
            raise Unsupported("run/limit", f"{bound.where} is given {x}x{y} texels: no side may be 0")
        limit(facts, member, max(x, y) if dim else x, f"{bound.where} is given {x}x{y} texels")
        if dim == 0 and y != 1:
            raise Unsupported("run/limit", f"{bound.where} is a 1D image: it is given {x}x{y} texels")
        if view == "CUBE" and x != y:
            raise Unsupported("run/limit", f"{bound.where} is a cube, of square faces: it is given {x}x{y} texels")
    else:
        most = facts.property("VkPhysicalDeviceLimits", member) or max(x, y)
        x, y = min(x, most), min(y, most)
    if view == "CUBE":
        x = y = max(x, y)
    depth = min(z, facts.property("VkPhysicalDeviceLimits", member) or z) if dim == 2 else 1
    most_layers = facts.property("VkPhysicalDeviceLimits", "maxImageArrayLayers") or z * _CUBE_FACES
    layers = min(z, most_layers) if arrayed else 1
    if view == "CUBE":
        layers = min(layers * _CUBE_FACES, most_layers - most_layers % _CUBE_FACES)
    return Image(
        slot=bound.slot,
        element=0,
        type=f"VK_DESCRIPTOR_TYPE_{bound.type}",
        format=format,
        dimensions=f"VK_IMAGE_TYPE_{dimensions}",
        view=f"VK_IMAGE_VIEW_TYPE_{view}{'_ARRAY' if arrayed else ''}",
        extent=(x, 1 if dim == 0 else y, depth),
        layers=layers,
        samples=_sample_count(format, storage, bound.where, facts) if multisampled else 1,
        fill=given.fill if given is not None else Fill(),
    )


def _sample_count(format: str, storage: bool, where: str, facts: DeviceFacts) -> int:
    """A count over 1 that such an image may have: one of 1 is no multisampled image to a shader."""
    if storage:
        member = "storageImageSampleCounts"
    elif "_D16_" in format:
        member = "sampledImageDepthSampleCounts"
    else:
        member = f"sampledImage{'Integer' if format.endswith('INT') else 'Color'}SampleCounts"
    counts = facts.property("VkPhysicalDeviceLimits", member)
    for samples in _SAMPLES:
        if counts is None or counts & samples:
            return samples
    raise Unsupported("run/limit", f"{where} is multisampled: {facts.device.name} has no such {format} ({member})")


def _check_data(image: Image, where: str) -> None:
    """What was given as an image's content must be all of it: its texels, row by row, slice by slice."""
    fill, size = image.fill, image_bytes(image)
    if image.samples > 1 and fill.kind != "zeros":
        raise Unsupported("run/resource", f"{where} is multisampled: it can't be filled, but with zeros")
    if fill.kind == "data" and len(fill.data) != size:
        shape = "x".join(map(str, (*image.extent, image.layers)))
        raise Unsupported(
            "run/too-small" if len(fill.data) < size else "run/too-large",
            f"{where} is given {in_bytes(len(fill.data))}: {shape} texels of {image.format} have {size}",
        )


def _input_attachments(bound: Bound, spec: PipelineSpec, target: Target | None) -> Iterator[Image]:
    """The attachments of the render pass: they are read where they are drawn."""
    if spec.render_pass is None or target is None:
        raise Unsupported("run/attachment", f"{bound.where} reads an attachment: that needs a render pass")
    subpass = (spec.render_pass.get("pSubpasses") or ())[state(spec, "subpass") or 0]
    references = subpass.get("pInputAttachments") or ()
    for element in range(made(bound)):
        index = bound.attachment + element
        place = references[index].get("attachment", 0) if index < len(references) else 0xFFFFFFFF
        if not isinstance(place, int) or place >= len(target.attachments):
            raise Unsupported("run/attachment", f"{bound.where} reads input attachment {index}, which isn't there")
        its = target.attachments[place]
        views = bool(target.view_mask) or its.layers > 1
        yield Image(
            slot=bound.slot,
            element=element,
            type="VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT",
            format=its.format,
            dimensions="VK_IMAGE_TYPE_2D",
            view="VK_IMAGE_VIEW_TYPE_2D_ARRAY" if views else "VK_IMAGE_VIEW_TYPE_2D",
            extent=(*target.extent, 1),
            layers=its.layers,
            samples=its.samples,
            fill=Fill(),
            attachment=place,
        )
