"""What was made for a run, in words: counts without their inputs mean little."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from shaderstat.instrumentation import Resource
from shaderstat.pipeline.fills import fill_words, in_bytes
from shaderstat.spirv.layout import POINTER_BYTES

if TYPE_CHECKING:
    from shaderstat.pipeline.resources import Attachment, Buffer, Image, Resources, Target
    from shaderstat.pipeline.run_pointers import Places


def record(resources: Resources) -> tuple[Resource, ...]:
    """One line for each resource, in the order of sets and bindings; of an array of descriptors one for all elements
    that are alike."""
    found = [(buffer.slot, buffer.element, _buffer("", buffer)) for buffer in resources.buffers]
    for image in resources.images:
        fill = "the attachment" if image.type.endswith("INPUT_ATTACHMENT") else fill_words(image.fill)
        found.append((image.slot, image.element, Resource("", image.type, _image(image), fill)))
    with_images = {(image.slot, image.element) for image in resources.images}
    for sampler in resources.samplers:
        if (sampler.slot, sampler.element) not in with_images:
            what = "nearest, compares (less or equal)" if sampler.compare else "nearest"
            found.append((sampler.slot, sampler.element, Resource("", "VK_DESCRIPTOR_TYPE_SAMPLER", what, "")))
    for structure in resources.structures:
        type = "VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR"
        found.append((structure.slot, structure.element, Resource("", type, "one triangle", "")))
    return (*_bound(found), *_others(resources))


def _bound(found: list[tuple[tuple[int, int], int, Resource]]) -> Iterator[Resource]:
    """Elements that are alike stand once: ``set 0 binding 2[0-15]``."""
    found.sort(key=lambda each: each[:2])
    arrays = {slot for slot, element, _ in found if element}
    for (slot, its), group in groupby(found, key=lambda each: (each[0], each[2])):
        elements = [element for _, element, _ in group]
        where = f"set {slot[0]} binding {slot[1]}"
        if slot in arrays:
            first, last = elements[0], elements[-1]
            where += f"[{first}]" if first == last else f"[{first}-{last}]"
        yield Resource(where, its.type, its.what, its.fill)


def _others(resources: Resources) -> Iterator[Resource]:
    if resources.push:
        fill = f"{in_bytes(resources.push_given)} given" if resources.push_given else "zeros"
        fill += _addresses(resources.push_addresses)
        yield Resource("push constants", "", in_bytes(len(resources.push)), fill)
    for buffer in resources.vertices:
        yield _buffer(f"vertex buffer {buffer.slot[1]}", buffer)
    if resources.indirect is not None:
        yield _buffer("what addresses point to", resources.indirect)
    target = resources.target
    for number, attachment in enumerate(target.attachments if target is not None else ()):
        assert target is not None
        yield _attachment(number, attachment, target)


def _buffer(where: str, buffer: Buffer) -> Resource:
    format = f", {buffer.format}" if buffer.format else ""
    fill = (buffer.called or fill_words(buffer.fill)) + _addresses(buffer.addresses)
    return Resource(where, buffer.type, f"{in_bytes(buffer.size)}{format}", fill)


def _addresses(places: Places) -> str:
    """``; bytes 0-15 are addresses``: whatever else was said of these bytes. Runs of pointers stand together."""
    runs: list[list[int]] = []
    for place, _ in places:
        if runs and place <= runs[-1][1]:
            runs[-1][1] = max(runs[-1][1], place + POINTER_BYTES)
        else:
            runs.append([place, place + POINTER_BYTES])
    if not runs:
        return ""
    more = len(runs) - _RUNS
    named = ", ".join(f"{first}-{end - 1}" for first, end in runs[:_RUNS])
    return f"; bytes {named}{f' and {more} more places' if more > 0 else ''} are addresses"


_RUNS = 4


def _image(image: Image) -> str:
    depth = f"x{image.extent[2]}" if image.dimensions == "VK_IMAGE_TYPE_3D" else ""
    return f"{image.extent[0]}x{image.extent[1]}{depth} {image.format}{_more(image.layers, image.samples)}"


def _attachment(number: int, its: Attachment, target: Target) -> Resource:
    what = f"{target.extent[0]}x{target.extent[1]} {its.format}{_more(its.layers, its.samples)}"
    fill = "zeros" if not any(its.clear) else f"cleared to {its.clear[0]:g}"
    return Resource(f"attachment {number}", "", what, fill)


def _more(layers: int, samples: int) -> str:
    return (f", {layers} layers" if layers > 1 else "") + (f", {samples} samples" if samples > 1 else "")
