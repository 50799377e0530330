"""Physical storage buffer pointers: where they stand in blocks, and what they point to in a run.

Everything that pointers lead to lies in one buffer, each type in a region of its own: what a shader writes through one
pointer never lands in what it takes for another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from shaderstat.errors import Unsupported
from shaderstat.instrumentation import Fill
from shaderstat.pipeline.resources import Buffer
from shaderstat.spirv.facts import Type
from shaderstat.spirv.layout import POINTER_BYTES, Sizes

# What a pointer leads to has at least so many bytes; so does a block whose size can't be told.
REGION_BYTES = 1 << 16
# One resource; a guess of ours that wants more is none.
MOST_BYTES = 1 << 30
# Pointers in one block that get an address; an array of more is seldom followed.
MOST_POINTERS = 1 << 16

PHYSICAL = 5349  # StorageClass PhysicalStorageBuffer
_OFFSET = 35
_ALIGNMENT = 256

Places = tuple[tuple[int, int], ...]


class Pointers:
    """The regions that the pointers of a pipeline lead to; they grow as blocks are looked at."""

    def __init__(
        self,
        forward: Mapping[int, Type],
        elements: int,
        beyond: Mapping[int, int] | None = None,
        steps: Mapping[int, int] | None = None,
    ) -> None:
        """Args:
        forward: the pointees of pointers that were declared before them, by Python's `id` of the pointer.
        elements: of an array without a length.
        beyond: by Python's `id` of a pointee, how many bytes from there on shaders reach.
        steps: likewise, how far apart such pointees lie where shaders go from one to the next.
        """
        self._forward = forward
        self._beyond = beyond or {}
        self._steps = steps or {}
        self._elements = elements
        self._regions: dict[int, int] = {}  # by id of the pointee; 0 for all that can't be told
        self._pointees: list[tuple[Type | None, int, int]] = []  # what each region holds, its offset and size
        self._end = 0

    def places(self, type: Type, size: int) -> Places:
        """(offset, offset in `buffer` that it points to) of every pointer in a block that has `size` bytes."""
        found: dict[int, int] = {}
        self._walk(type, 0, size, found)
        return _sorted(found)

    def buffer(self) -> Buffer | None:
        """The buffer with all regions, pointers in these included; None where no block holds any.

        Raises:
            Unsupported: ``run/too-large`` or ``run/address``.
        """
        found: dict[int, int] = {}
        at = 0
        while at < len(self._pointees):  # looking at one may add others
            pointee, offset, size = self._pointees[at]
            at += 1
            if pointee is not None:
                # Pointers are added to as well: an array of what fits in the region.
                inside: dict[int, int] = {}
                block = block_bytes(pointee, self._elements)
                step = self._steps.get(id(pointee)) or block + -block % POINTER_BYTES
                for start in range(0, size, max(step, POINTER_BYTES)):
                    self._walk(pointee, start, size, inside)
                    if not inside or len(inside) >= MOST_POINTERS:
                        break
                if inside and step < block:
                    message = (
                        "a pointer is moved by less than the size of what it points to, which holds pointers itself"
                    )
                    raise Unsupported("run/address", message)
                if len(inside) >= MOST_POINTERS and max(inside) + POINTER_BYTES < self._beyond.get(id(pointee), 0):
                    message = f"what pointers lead to would hold more than {MOST_POINTERS} pointers itself"
                    raise Unsupported("run/too-large", message, hint="run fewer invocations")
                found.update((offset + place, target) for place, target in inside.items())
        if not self._pointees:
            return None
        if self._end > MOST_BYTES:
            hint = "run fewer invocations"
            message = f"what pointers lead to would have {self._end} bytes: over {MOST_BYTES}"
            raise Unsupported("run/too-large", message, hint=hint)
        return Buffer((-2, 0), 0, "", self._end, Fill(), "", _sorted(found))

    def _target(self, pointer: Type) -> int:
        pointee = pointer.element or self._forward.get(id(pointer))
        key = 0 if pointee is None else id(pointee)
        if key not in self._regions:
            size = max(REGION_BYTES, self._beyond.get(id(pointee), 0))
            if pointee is not None:
                size = max(size, block_bytes(pointee, self._elements))
            self._regions[key] = self._end
            self._pointees.append((pointee, self._end, size))
            self._end += size + -size % _ALIGNMENT
        return self._regions[key]

    def _walk(self, type: Type, at: int, end: int, found: dict[int, int]) -> None:
        """Nesting is bounded: see `shaderstat.spirv.declare.Declarations`."""
        if not any(each.kind == "pointer" for each in inside([type], near=True)):
            return
        if type.kind == "pointer":
            if type.storage == PHYSICAL and at + POINTER_BYTES <= end and len(found) < MOST_POINTERS:
                found[at] = self._target(type)
        elif type.kind == "struct":
            for member in type.members:
                self._walk(member.type, at + member.decorations.get(_OFFSET, (0,))[0], end, found)
        elif type.element is not None:
            stride = stride_of(type)
            count = type.length if type.kind == "array" else (end - at) // stride
            for index in range(min(count, MOST_POINTERS)):
                if at + index * stride >= end or len(found) >= MOST_POINTERS:
                    return
                self._walk(type.element, at + index * stride, end, found)


def _sorted(found: Mapping[int, int]) -> Places:
    return tuple(sorted(found.items()))


def inside(types: Iterable[Type], *, near: bool = False) -> Iterator[Type]:
    """All types that `types` are made of, each once; with what their pointers lead to, unless `near`."""
    pending, seen = list(types), set[int]()
    while pending:
        one = pending.pop()
        if id(one) in seen:  # those of several modules share SPIR-V's ids
            continue
        seen.add(id(one))
        yield one
        pending += [member.type for member in one.members]
        if one.element is not None and not (near and one.kind == "pointer"):
            pending.append(one.element)


def block_bytes(type: Type, elements: int) -> int:
    """The size of a block, `elements` of the array without a length at its end included."""
    size = Sizes().size(type)
    if size is None:
        return REGION_BYTES
    array = open_array(type)
    return size if array is None else max(size, array[0] + elements * array[1])


def open_array(type: Type) -> tuple[int, int] | None:
    """(offset, stride) of the array without a length at a block's end; None where there is none."""
    last = type.members[-1].type if type.members else type
    if last.kind != "runtime_array" or last.element is None:
        return None
    first = type.members[-1].decorations.get(_OFFSET, (Sizes().size(type) or 0,))[0] if type.members else 0
    return first, stride_of(last)


def stride_of(array: Type) -> int:
    """Bytes from one element of an array to the next."""
    element = Sizes().size(array.element) if array.element is not None else None
    return max(array.array_stride or element or 4, 1)
