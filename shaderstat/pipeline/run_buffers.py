"""The buffers of a run: their sizes from what shaders declare, their content from what was given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shaderstat.errors import Unsupported
from shaderstat.instrumentation import Fill
from shaderstat.pipeline.fills import in_bytes
from shaderstat.pipeline.resources import Buffer
from shaderstat.pipeline.run_formats import texel_buffer_format, texel_bytes
from shaderstat.pipeline.run_interface import Bound, name, number, state
from shaderstat.pipeline.run_partners import CORNERS, COVERING, covers, vertex_data
from shaderstat.pipeline.run_pointers import MOST_BYTES, Pointers, block_bytes, open_array
from shaderstat.spirv.layout import Sizes

if TYPE_CHECKING:
    from shaderstat.backends.base import DeviceFacts
    from shaderstat.instrumentation import Execution
    from shaderstat.pipeline.spec import PipelineSpec, Plain

# Elements of an array without a length, where fewer invocations run; texels of a texel buffer.
RUNTIME_ELEMENTS = 1024
# Of an array of descriptors without a length, so many are made: a layout has a thousand or more of them, and those
# beyond are these again.
RUNTIME_DESCRIPTORS = 16
MOST_DESCRIPTORS = 1024

BUFFERS = (
    "UNIFORM_BUFFER",
    "STORAGE_BUFFER",
    "UNIFORM_BUFFER_DYNAMIC",
    "STORAGE_BUFFER_DYNAMIC",
    "INLINE_UNIFORM_BLOCK",
)
TEXEL_BUFFERS = ("UNIFORM_TEXEL_BUFFER", "STORAGE_TEXEL_BUFFER")
_RANGES = {"UNIFORM_BUFFER": "maxUniformBufferRange", "STORAGE_BUFFER": "maxStorageBufferRange"}
# Drivers read uniform blocks by 16 bytes, as std140 lays them out.
_UNITS = {"UNIFORM_BUFFER": 16, "STORAGE_BUFFER": 4}


def made(bound: Bound) -> int:
    """How many descriptors of a binding get a resource of their own."""
    return max(1, min(bound.count, bound.declared or RUNTIME_DESCRIPTORS, MOST_DESCRIPTORS))


def buffers(
    bound: Bound, given: Fill | None, elements: int, pointers: Pointers, facts: DeviceFacts
) -> Iterator[Buffer]:
    """The buffers behind a binding.

    Args:
        given: what was said of its content.
        elements: of an array without a length.
        pointers: are told what the buffers point to.

    Raises:
        Unsupported: ``run/too-small``, ``run/too-large``, ``run/limit`` or ``run/format``.
    """
    if bound.type in TEXEL_BUFFERS:
        yield from _texel_buffers(bound, given, elements, facts)
        return
    kind = "STORAGE_BUFFER" if bound.type.startswith("STORAGE") else "UNIFORM_BUFFER"
    needed = max((Sizes().size(type) or 0 for type in bound.types), default=0)
    wanted = max((block_bytes(type, elements) for type in bound.types), default=0)
    if bound.reached > elements:
        reached = max(block_bytes(type, bound.reached) for type in bound.types)
        # What is more than can be had is hardly reached: a condition that can't be told keeps shaders from it.
        if reached <= min(MOST_BYTES, facts.property("VkPhysicalDeviceLimits", _RANGES[kind]) or MOST_BYTES):
            wanted = max(wanted, reached)
    what = bound.where
    if bound.type == "INLINE_UNIFORM_BLOCK":
        _check_size(what, given, bound.count)
        if needed > bound.count:
            raise Unsupported("run/layout", f"{what}: shaders read {needed} bytes of an inline block of {bound.count}")
        size, count = bound.count, 1
    else:
        size, count = _size(what, given, needed, wanted + -wanted % _UNITS[kind]), made(bound)
        limit(facts, _RANGES[kind], size, f"{what} has {size} bytes")
    places = dict(place for type in bound.types for place in pointers.places(type, size))
    type_name = f"VK_DESCRIPTOR_TYPE_{bound.type}"
    buffer = Buffer(bound.slot, 0, type_name, size, given or Fill(), "", tuple(sorted(places.items())))
    yield from (replace(buffer, element=element) for element in range(count))


def elements_in(bound: Bound, size: int) -> int:
    """How many elements of the array without a length a buffer of `size` bytes holds; the fewest that shaders see."""
    arrays = filter(None, map(open_array, bound.types))
    return min((max(size - offset, 0) // stride for offset, stride in arrays), default=0)


def _texel_buffers(bound: Bound, given: Fill | None, elements: int, facts: DeviceFacts) -> Iterator[Buffer]:
    assert bound.image is not None
    format = texel_buffer_format(bound.image, bound.type, bound.where, facts)
    texel = texel_bytes(format)
    most = facts.property("VkPhysicalDeviceLimits", "maxTexelBufferElements") or elements
    size = _size(bound.where, given, texel, texel * min(elements, most))
    limit(facts, "maxTexelBufferElements", size // texel, f"{bound.where} has {size // texel} texels")
    buffer = Buffer(bound.slot, 0, f"VK_DESCRIPTOR_TYPE_{bound.type}", size, given or Fill(), format)
    yield from (replace(buffer, element=element) for element in range(made(bound)))


def vertex_buffers(spec: PipelineSpec, execution: Execution) -> Iterator[Buffer]:
    """One for each binding of the vertex input: as many elements as the largest draw fetches.

    Raises:
        Unsupported: ``run/too-small``, ``run/too-large`` or ``run/slot``.
    """
    its = state(spec, "pVertexInputState") or {}
    vertices = max((command.size[0] for command in execution.commands if command.kind == "draw"), default=0)
    instances = max((command.size[1] for command in execution.commands if command.kind == "draw"), default=0)
    divisors = _divisors(its)
    covering = vertex_data(spec, vertices)
    bindings = sorted(its.get("pVertexBindingDescriptions") or (), key=lambda each: int(each.get("binding", 0)))
    for each in bindings:
        place = each.get("binding", 0)
        ends = [
            attribute.get("offset", 0) + texel_bytes(name("VkFormat", attribute.get("format", 0)))
            for attribute in its.get("pVertexAttributeDescriptions") or ()
            if attribute.get("binding", 0) == place
        ]
        fetched = vertices
        if number("VkVertexInputRate", each.get("inputRate", 0)) == 1:
            divisor = divisors.get(place, 1)
            fetched = 1 if divisor == 0 else (instances + divisor - 1) // divisor
        stride = each.get("stride", 0)
        needed = stride * (max(fetched, 1) - 1) + max(ends, default=0)
        wanted = max(stride * fetched, needed, 4)
        given = execution.vertices.get(place)
        size = _size(f"vertex buffer {place}", given, needed, wanted)
        if given is None and place in covering:
            called = COVERING if covers(spec) else CORNERS
            yield Buffer((-1, place), 0, "", size, Fill("data", data=covering[place]), called=called)
        else:
            yield Buffer((-1, place), 0, "", size, given or Fill())
    check_given(execution.vertices, [each.get("binding", 0) for each in bindings], "vertex buffer")


def _divisors(vertex_input: Plain) -> Mapping[int, int]:
    for struct, members in vertex_input.get("pNext") or ():
        if "VertexInputDivisorState" in struct:
            return {each.get("binding", 0): each.get("divisor", 0) for each in members["pVertexBindingDivisors"]}
    return {}


# ── What was given, and what there may be ─────────────────────────────────────────────────────────────────────────


def _size(what: str, given: Fill | None, needed: int, wanted: int) -> int:
    """The size of a buffer: as it was given, or as `wanted`."""
    size = given_size(given)
    if size is None:
        if wanted > MOST_BYTES:
            hint = "give it a size, or run fewer invocations"
            raise Unsupported("run/too-large", f"{what} would have {wanted} bytes: over {MOST_BYTES}", hint=hint)
        return max(wanted, 4)
    if size < max(needed, 1):
        raise Unsupported("run/too-small", f"{what} is given {in_bytes(size)}: its shaders need {max(needed, 1)}")
    return size


def _check_size(what: str, given: Fill | None, size: int) -> None:
    its = given_size(given)
    if its is not None and its != size:
        code = "run/too-small" if its < size else "run/too-large"
        raise Unsupported(code, f"{what} is given {in_bytes(its)}: it has {size}")


def given_size(given: Fill | None) -> int | None:
    """How many bytes were said to be in a buffer; None where nothing was said."""
    if given is None:
        return None
    if given.size is not None:
        return max(given.size, len(given.data))
    return len(given.data) if given.kind == "data" else None


def check_given(given: Iterable[Any], there: Iterable[Any], what: str, word: Callable[[Any], str] = str) -> None:
    """Refuse what was given to nobody.

    Raises:
        Unsupported: ``run/slot``, with those that there are.
    """
    known = list(there)
    for each in given:
        if each not in known:
            names = ", ".join(map(word, known)) or "none"
            raise Unsupported("run/slot", f"no shader binds {what} {word(each)}; there are: {names}")


def limit(facts: DeviceFacts, member: str, value: int, what: str, struct: str = "VkPhysicalDeviceLimits") -> None:
    """Refuse `value` where it is over the device's `member`.

    Raises:
        Unsupported: ``run/limit``.
    """
    most = facts.property(struct, member)
    if most is not None and value > most:
        raise Unsupported("run/limit", f"{what}, {facts.device.name} has {most} ({member})")
