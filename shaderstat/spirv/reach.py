"""How far a shader reaches: into arrays without a length, and from where its pointers point to.

A run has to make buffers that are large enough, and nobody says how large that is; indices do, where they are simple
arithmetic of what is known: constants, invocation ids, counters of loops (`shaderstat.spirv.flow`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from math import gcd

from shaderstat.plain import dataclass
from shaderstat.spirv.declare import Declarations
from shaderstat.spirv.facts import Type
from shaderstat.spirv.flow import Chain, Flow, inside_of, is_physical
from shaderstat.spirv.layout import Sizes
from shaderstat.spirv.module import Module
from shaderstat.spirv.parse import parse
from shaderstat.spirv.ranges import NEVER, UNKNOWN, Number, Range
from shaderstat.spirv.specialize import Scalar
from shaderstat.spirv.words import Words

# Larger modules aren't looked at: nothing can be told of them.
MOST_WORDS = 1 << 18
_OFFSET = 35
_UNTYPED_POINTER = 4417  # OpTypeUntypedPointerKHR


@dataclass(slots=True)
class Reach:
    """What was found.

    Attributes:
        elements: of the array without a length at the end of a variable's block, by the variable's id, how many are
            reached; of a variable that isn't here none of it is.
        pointees: by the id of a pointer's type, how many bytes from where it points to on are reached, by arithmetic
            and in arrays without a length.
        steps: by the same, which distances in bytes a pointer is moved by: multiples of this.
        open: variables and types of pointers of which that isn't all: some index can't be told.
        adrift: a pointer has a number added that can't be told, or that leads before it.
        foreign: a pointer is made of numbers that no pointer gave.
    """

    elements: dict[int, int] = field(default_factory=dict)
    pointees: dict[int, int] = field(default_factory=dict)
    steps: dict[int, int] = field(default_factory=dict)
    open: set[int] = field(default_factory=set)
    adrift: bool = False
    foreign: bool = False


def reach(
    words: Words, function: int, builtins: Mapping[int, Sequence[Range]], specialization: Mapping[int, Scalar]
) -> Reach:
    """How far the entry point whose function is `function` reaches.

    Args:
        builtins: what BuiltIn variables can be, by number, of each component.

    Raises:
        InvalidSpirv: as `shaderstat.spirv.declare.Declarations`.
    """
    module = parse(words)
    return _Walk(module, Declarations(module, specialization), builtins).all(function)


class _Walk(Flow):
    def __init__(self, module: Module, declarations: Declarations, builtins: Mapping[int, Sequence[Range]]) -> None:
        super().__init__(module, declarations, builtins)
        self.sizes = Sizes()
        self.found = Reach()

    def all(self, entry: int) -> Reach:
        untyped = any(type.opcode == _UNTYPED_POINTER for type in self.declarations.types.values())
        if len(self.code) > MOST_WORDS or untyped or not self.settle(entry):
            return Reach(open={*self.module.variables, *self.physical}, adrift=bool(self.physical))
        return self.found

    def pass_over(self, functions: Sequence[int]) -> None:
        """Only what the last pass finds counts."""
        self.found = Reach()
        super().pass_over(functions)

    def chained(self, index: int, after: int, *, elements: bool) -> None:
        """Follow it through arrays without a length, or from a pointer."""
        code = self.code
        base = code[index + 3]
        its = self.get(base) if base in self.values else None
        type = self.declarations.types.get(code[self.module.definitions.get(base, 0) + 1])
        places = code[index + 4 : after]
        if its is not None and its.bases and type is not None:
            self._pointed(index, its, type, places, elements)
            return
        chain = self.root(base)
        root, at, part = chain.root, chain.type, chain.part
        for place in places[1:] if elements else places:
            number = self.get(place) or UNKNOWN
            low, high = number.range
            if at.kind == "vector" and part < 0:
                part = low if low == high and at is self.root(root).type else -1
            if at.kind == "runtime_array" and not self._is_array_of_descriptors(root, at):
                self._reached_element(root, high)
            at = inside_of(at, low) or at
        self.chains[code[index + 2]] = Chain(root, at, part)

    def _is_array_of_descriptors(self, root: int, at: Type) -> bool:
        return self.root(root).type is at

    def _reached_element(self, root: int, high: int) -> None:
        found = self.found
        if root not in self.module.variables:
            found.open.update(self.module.variables)
        elif high >= NEVER:
            found.open.add(root)
        else:
            found.elements[root] = max(found.elements.get(root, 0), high + 1)

    # ── Pointers ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _pointed(self, index: int, its: Number, pointer: Type, places: Sequence[int], elements: bool) -> None:
        """An access chain from a physical pointer."""
        at = pointer.element or self.declarations.forward_pointees().get(pointer.id)
        low, high = its.range
        is_open = False
        for position, place in enumerate(places):
            if at is None:
                break
            first, last = (self.get(place) or UNKNOWN).range
            if elements and position == 0:
                stride = pointer.array_stride or self.sizes.size(at) or 1
                low, high = low + first * stride, high + last * stride
                if first < 0 or last >= NEVER:
                    self.found.adrift = True
                self._move(its.bases, gcd(its.multiple, stride))
                continue
            if at.kind == "struct" and 0 <= first < len(at.members):
                offset = at.members[first].decorations.get(_OFFSET, (0,))[0]
                low, high = low + offset, high + offset
            elif at.kind in ("array", "runtime_array", "vector", "matrix"):
                if at.kind != "runtime_array":  # beyond its length nobody may go
                    last = min(last, max(at.length - 1, 0))
                elif last >= NEVER:
                    is_open, last = True, 0
                stride = at.array_stride or (self.sizes.size(at.element) if at.element else None) or 1
                low, high = low + max(first, 0) * stride, high + max(last, 0) * stride
            at = inside_of(at, first)
        size = (self.sizes.size(at) if at is not None else None) or 0
        self._touch(its.bases, high + size, is_open)
        self.values[self.code[index + 2]] = Number(((low, high),), its.bases)

    def aimed(self, index: int, opcode: int, number: Number) -> None:
        """A pointer that is made of a number, or of another pointer."""
        if not number.bases:
            if number.range == (0, 0):  # the null pointer
                return
            source = self.declarations.types.get(self.code[self.module.definitions.get(self.code[index + 3], 0) + 1])
            self.found.foreign |= opcode in (120, 124) and not (source is not None and is_physical(source))
            return
        low, high = number.range
        type = self.type_at(index)
        pointee = None if type is None else type.element or self.declarations.forward_pointees().get(type.id)
        if low < 0 or high >= NEVER:
            self.found.adrift = True
        elif high:
            self._touch(number.bases, high + ((self.sizes.size(pointee) if pointee is not None else None) or 0), False)
            self._move(number.bases, number.multiple)

    def _move(self, bases: frozenset[int], step: int) -> None:
        for base in bases:
            self.found.steps[base] = gcd(self.found.steps.get(base, 0), step)

    def _touch(self, bases: frozenset[int], end: int, is_open: bool) -> None:
        for base in bases:
            self.found.pointees[base] = max(self.found.pointees.get(base, 0), end)
            if is_open:
                self.found.open.add(base)
