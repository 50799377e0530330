"""What partner stages are woven of: values that no compiler can know, and a fold that uses all.

- `Hash` and `Attributes` make values. Each component gets one of its own: equal or constant ones would be folded into
  the stage that reads them when the driver links the two.
- `Fold` uses values up by xor of their bits. A sum wouldn't do: drivers move linear arithmetic to the stage before.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Protocol

from shaderstat.spirv import assemble as asm
from shaderstat.spirv.assemble import Assembler
from shaderstat.spirv.facts import Type
from shaderstat.spirv.mirror import BUILT_IN, LOCATION, Mirror, Place, kind_of, leaves, scalar_of

# Opcodes, by their names in the specification less "Op".
COMPOSITE_CONSTRUCT, COMPOSITE_EXTRACT, _U_CONVERT, _S_CONVERT, _F_CONVERT, _BITCAST = 80, 81, 113, 114, 115, 124
I_ADD, I_MUL, _SELECT, _LESS, _SHIFT_RIGHT, XOR = 128, 132, 169, 176, 194, 198

_VERTEX_INDEX = 42  # the built-in


# ── Values that no compiler can know ──────────────────────────────────────────────────────────────────────────────


class Source(Protocol):
    """Makes vectors of values, each component another."""

    def vector(self, leaf: Type) -> int:
        """A value of `leaf`, a scalar or vector type."""


class Hash:
    """Values by hashing a 32-bit unsigned `seed` that differs between invocations, each with a constant of its own."""

    def __init__(self, mirror: Mirror, seed: int) -> None:
        self._mirror = mirror
        self._seed = seed
        self._count = 0

    def vector(self, leaf: Type) -> int:
        """A value of `leaf`."""
        words = _words(leaf)
        return _of_words(self._mirror, [self.word() for _ in range(words)], leaf)

    def word(self) -> int:
        """32 bits unlike all others: two rounds of multiplying and shifting, over a constant of this value's own."""
        module = self._mirror.module
        uint = module.scalar("uint", 32)
        self._count += 1
        value = module.op(I_ADD, uint, self._seed, module.uint(self._count * 0x9E3779B9))
        for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
            shifted = module.op(_SHIFT_RIGHT, uint, value, module.uint(shift))
            value = module.op(I_MUL, uint, module.op(XOR, uint, value, shifted), module.uint(factor))
        return value


class Attributes:
    """Values from vertex attributes, one for each vector, as long as the device has some; a `Hash` of VertexIndex for
    the rest."""

    def __init__(self, mirror: Mirror, attributes: int) -> None:
        self._mirror = mirror
        self._left = attributes
        self._next = 0
        self._hash: Hash | None = None

    def vector(self, leaf: Type) -> int:
        """A value of `leaf`."""
        scalar = scalar_of(leaf)
        length = leaf.length if leaf.kind == "vector" else 1
        words = _words(leaf)
        needed = (words + 3) // 4
        if needed > self._left:
            if self._hash is None:
                self._hash = Hash(self._mirror, load_built_in(self._mirror.module, _VERTEX_INDEX))
            return self._hash.vector(leaf)
        self._left -= needed
        # Not every device fetches attributes of 16 or 64 bits, but all convert.
        if scalar.width <= 32:
            return _narrowed(self._mirror, self._attribute(kind_of(scalar), length), leaf)
        module = self._mirror.module
        uint = module.scalar("uint", 32)
        found: list[int] = []
        for first in range(0, words, 4):
            size = min(words - first, 4)
            vector = self._attribute("uint", size)
            found += [module.op(COMPOSITE_EXTRACT, uint, vector, index) for index in range(size)]
        return _of_words(self._mirror, found, leaf)

    def _attribute(self, kind: str, length: int) -> int:
        module = self._mirror.module
        type_ = module.vector(module.scalar(kind, 32), length)
        variable = module.variable(asm.INPUT, type_)
        module.decorate(variable, LOCATION, self._next)
        self._next += 1
        return module.op(asm.LOAD, type_, variable)


_CONVERT = {"float": _F_CONVERT, "int": _S_CONVERT, "uint": _U_CONVERT}


def load_built_in(module: Assembler, built_in: int) -> int:
    """The value of a 32-bit Input built-in such as VertexIndex, taken as unsigned."""
    uint = module.scalar("uint", 32)
    variable = module.variable(asm.INPUT, uint)
    module.decorate(variable, BUILT_IN, built_in)
    return module.op(asm.LOAD, uint, variable)


def _words(leaf: Type) -> int:
    """How many words of 32 bits a value is made of; a component narrower than that takes one."""
    return (leaf.length if leaf.kind == "vector" else 1) * max(scalar_of(leaf).width // 32, 1)


def _of_words(mirror: Mirror, words: list[int], leaf: Type) -> int:
    """The value of type `leaf` that has the bits of `words`, 32 each, lowest first; narrower parts are converted."""
    module, scalar = mirror.module, scalar_of(leaf)
    kind = kind_of(scalar)
    uint = module.scalar("uint", 32)
    if scalar.kind == "bool":
        bools = [module.op(_LESS, mirror.type(scalar), word, module.uint(1 << 31)) for word in words]
        return bools[0] if len(bools) == 1 else module.op(COMPOSITE_CONSTRUCT, mirror.type(leaf), *bools)
    if scalar.width == 64:
        pairs = [words[index : index + 2] for index in range(0, len(words), 2)]
        wide, to = (
            [module.op(COMPOSITE_CONSTRUCT, module.vector(uint, 2), *pair) for pair in pairs],
            mirror.type(scalar),
        )
    else:
        wide, to = words, module.scalar(kind, 32)
    parts = wide if to == uint else [module.op(_BITCAST, to, word) for word in wide]
    value = parts[0] if len(parts) == 1 else module.op(COMPOSITE_CONSTRUCT, module.vector(to, len(parts)), *parts)
    return value if scalar.width == 64 else _narrowed(mirror, value, leaf)


def _narrowed(mirror: Mirror, value: int, leaf: Type) -> int:
    """`value`, of 32-bit components, as `leaf`. Vectors are converted as a whole: with the storage capabilities alone,
    values of 16 bits may be neither taken apart nor put together."""
    scalar = scalar_of(leaf)
    return value if scalar.width == 32 else mirror.module.op(_CONVERT[kind_of(scalar)], mirror.type(leaf), value)


# ── A use for every value ─────────────────────────────────────────────────────────────────────────────────────────


class Fold:
    """Gathers values into one 32-bit unsigned number, by xor of their bits."""

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror
        self._sum: int | None = None

    def add(self, value: int, leaf: Type) -> None:
        """Use up every component of `value`, of the scalar or vector type `leaf`."""
        module, scalar = self._mirror.module, scalar_of(leaf)
        kind, length = kind_of(scalar), leaf.length if leaf.kind == "vector" else 1
        type_ = self._mirror.type(scalar)
        if scalar.kind != "bool" and scalar.width < 32:
            type_ = module.scalar(kind, 32)
            value = module.op(_CONVERT[kind], module.vector(type_, length), value)
        for index in range(length):
            part = value if leaf.kind != "vector" else module.op(COMPOSITE_EXTRACT, type_, value, index)
            self._add(part, scalar)

    def result(self) -> int:
        """All of it; 0 where there was nothing."""
        return self._mirror.module.uint(0) if self._sum is None else self._sum

    def _add(self, value: int, scalar: Type) -> None:
        module, uint = self._mirror.module, self._mirror.module.scalar("uint", 32)
        if scalar.kind == "bool":
            self._xor(module.op(_SELECT, uint, value, module.uint(1), module.uint(0)))
        elif scalar.width == 64:
            pair = module.op(_BITCAST, module.vector(uint, 2), value)
            for index in range(2):
                self._xor(module.op(COMPOSITE_EXTRACT, uint, pair, index))
        else:
            self._xor(value if kind_of(scalar) == "uint" else module.op(_BITCAST, uint, value))

    def _xor(self, word: int) -> None:
        module = self._mirror.module
        self._sum = word if self._sum is None else module.op(XOR, module.scalar("uint", 32), self._sum, word)


# ── Where values go and come from ─────────────────────────────────────────────────────────────────────────────────

# Values that one variable is unrolled into. Interfaces have fewer; of a payload the first stand for all.
_MOST_LEAVES = 256


def write(mirror: Mirror, place: Place, source: Source) -> None:
    """Store a value of its own in every component."""
    for pointer, leaf in _pointers(mirror, place):
        mirror.module.do(asm.STORE, pointer, source.vector(leaf))


def read(mirror: Mirror, place: Place, fold: Fold) -> None:
    """Use up every component."""
    for pointer, leaf in _pointers(mirror, place):
        fold.add(mirror.module.op(asm.LOAD, mirror.type(leaf), pointer), leaf)


def _pointers(mirror: Mirror, place: Place) -> Iterator[tuple[int, Type]]:
    module = mirror.module
    for path, leaf in islice(leaves(place.type), _MOST_LEAVES):
        indices = (*place.path, *map(module.uint, path))
        if indices:
            pointer_type = module.pointer(place.storage, mirror.type(leaf))
            yield module.op(asm.ACCESS_CHAIN, pointer_type, place.variable, *indices), leaf
        else:
            yield place.variable, leaf
