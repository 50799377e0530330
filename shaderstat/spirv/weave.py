"""What partner stages are woven of: mirrored interfaces, values that no compiler can know, and a fold that uses all.

- `Mirror` declares the other side of a stage's variables: the same types and locations, in the other direction.
- `leaves` walks a type down to the scalars and vectors that are stored and loaded.
- `Hash` and `Attributes` make values. Each component gets one of its own: equal or constant ones would be folded into
  the stage that reads them when the driver links the two.
- `Fold` uses values up by xor of their bits. A sum wouldn't do: drivers move linear arithmetic to the stage before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from shaderstat.spirv import assemble as asm
from shaderstat.spirv.assemble import Assembler
from shaderstat.spirv.facts import Type, Variable

# Opcodes, by their names in the specification less "Op".
COMPOSITE_CONSTRUCT, _COMPOSITE_EXTRACT, _U_CONVERT, _S_CONVERT, _F_CONVERT, _BITCAST = 80, 81, 113, 114, 115, 124
I_ADD, I_MUL, _SHIFT_RIGHT, _XOR = 128, 132, 194, 198

# Decorations.
BLOCK, BUILT_IN, NO_PERSPECTIVE, FLAT, PATCH, CENTROID, SAMPLE, STREAM = 2, 11, 13, 14, 15, 16, 17, 29
LOCATION, COMPONENT, PER_PRIMITIVE, PER_VERTEX = 30, 31, 5271, 5285
_INTERPOLATION = (NO_PERSPECTIVE, FLAT, CENTROID, SAMPLE)
_MIRRORED = (LOCATION, COMPONENT, PATCH, PER_PRIMITIVE, *_INTERPOLATION)

# Capabilities, by their names in the specification.
_FLOAT64, _INT64, _SAMPLE_RATE_SHADING, _STORAGE_INPUT_OUTPUT_16 = 10, 11, 35, 4436

_VERTEX_INDEX = 42  # the built-in


def kind_of(scalar: Type) -> str:
    """``float``, ``int`` or ``uint``."""
    return "float" if scalar.kind == "float" else "int" if scalar.signed else "uint"


def leaves(type_: Type, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Type]]:
    """The scalars and vectors in `type_`, with the indices that lead to each; built-in members are left out."""
    if type_.kind in ("array", "matrix"):
        assert type_.element is not None
        for index in range(type_.length):
            yield from leaves(type_.element, (*path, index))
    elif type_.kind == "struct":
        for index, member in enumerate(type_.members):
            if BUILT_IN not in member.decorations:
                yield from leaves(member.type, (*path, index))
    elif type_.kind in ("vector", "int", "float"):
        yield path, type_


def is_built_in(variable: Variable) -> bool:
    """Whether it is a built-in, or a block of them (alone or as an array's element)."""
    type_: Type | None = variable.type
    while type_ is not None and type_.kind == "array":
        type_ = type_.element
    members = type_.members if type_ is not None else ()
    return variable.builtin is not None or any(BUILT_IN in member.decorations for member in members)


def needs_flat(type_: Type) -> bool:
    """Whether a fragment stage may read it only without interpolation (VUID-StandaloneSpirv-Flat-04744)."""
    return any(_scalar(leaf).kind == "int" or _scalar(leaf).width == 64 for _, leaf in leaves(type_))


def _scalar(leaf: Type) -> Type:
    return leaf.element if leaf.kind == "vector" and leaf.element is not None else leaf


class Mirror:
    """Declares types and variables of another module in `module`."""

    def __init__(self, module: Assembler) -> None:
        self.module = module
        self._types: dict[tuple[int, bool], int] = {}

    def type(self, type_: Type, flat: bool = False) -> int:
        """The same type here; structs keep their members' decorations.

        Args:
            flat: members that a fragment stage may not interpolate are decorated so.
        """
        found = self._types.get((type_.id, flat))
        if found is None:
            found = self._types[type_.id, flat] = self._type(type_, flat)
        return found

    def variable(
        self, variable: Variable, storage: int, type_: Type, *, outer: int | None = None, flat: bool = False
    ) -> int:
        """The other side of `variable`.

        Args:
            storage: `asm.INPUT` or `asm.OUTPUT`.
            type_: its type here, less an array over vertices.
            outer: the length of the array over vertices here, None without one.
            flat: it is read by a fragment stage: what may not be interpolated is decorated so.
        """
        module = self.module
        inner = self.type(type_, flat)
        result = module.variable(storage, inner if outer is None else module.array(inner, outer))
        mirrored = _mirrored(variable.decorations)
        if flat and BLOCK not in type_.decorations and needs_flat(type_):
            mirrored[FLAT] = ()
        for decoration, operands in mirrored.items():
            module.decorate(result, decoration, *operands)
            self._allow(decoration)
        return result

    def _type(self, type_: Type, flat: bool) -> int:
        module = self.module
        if type_.kind in ("int", "float"):
            return self._scalar(kind_of(type_), type_.width)
        if type_.kind == "struct":
            return self._struct(type_, flat)
        assert type_.element is not None, type_.kind
        element = self.type(type_.element, flat)
        if type_.kind == "array":
            return module.array(element, type_.length)
        return module.type(asm.TYPE_VECTOR if type_.kind == "vector" else asm.TYPE_MATRIX, element, type_.length)

    def _scalar(self, kind: str, width: int) -> int:
        """A scalar type, with the capability that it needs to stand in an interface and be converted."""
        module = self.module
        if width == 64:
            module.capability(_FLOAT64 if kind == "float" else _INT64)
        elif width == 16:
            module.capability(_STORAGE_INPUT_OUTPUT_16)
            if module.version < (1, 3):
                module.extension("SPV_KHR_16bit_storage")
        return module.scalar(kind, width)

    def _struct(self, type_: Type, flat: bool) -> int:
        module = self.module
        result = module.distinct_type(asm.TYPE_STRUCT, *(self.type(member.type, flat) for member in type_.members))
        if BLOCK in type_.decorations:
            module.decorate(result, BLOCK)
        for index, member in enumerate(type_.members):
            if BUILT_IN in member.decorations:
                module.decorate_member(result, index, BUILT_IN, *member.decorations[BUILT_IN])
                continue
            mirrored = _mirrored(member.decorations)
            if flat and BLOCK in type_.decorations and needs_flat(member.type):
                mirrored[FLAT] = ()
            for decoration, operands in mirrored.items():
                module.decorate_member(result, index, decoration, *operands)
                self._allow(decoration)
        return result

    def _allow(self, decoration: int) -> None:
        if decoration == SAMPLE:
            self.module.capability(_SAMPLE_RATE_SHADING)


def _mirrored(decorations: Mapping[int, tuple[int, ...]]) -> dict[int, tuple[int, ...]]:
    return {number: decorations[number] for number in _MIRRORED if number in decorations}


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
        scalar = _scalar(leaf)
        parts = [
            _of_words(self._mirror, [self._word() for _ in range(max(scalar.width // 32, 1))], scalar)
            for _ in range(leaf.length if leaf.kind == "vector" else 1)
        ]
        return parts[0] if len(parts) == 1 else _composite(self._mirror, leaf, parts)

    def _word(self) -> int:
        """32 bits unlike all others: two rounds of multiplying and shifting, over a constant of this value's own."""
        module = self._mirror.module
        uint = module.scalar("uint", 32)
        self._count += 1
        value = module.op(I_ADD, uint, self._seed, module.uint(self._count * 0x9E3779B9))
        for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
            shifted = module.op(_SHIFT_RIGHT, uint, value, module.uint(shift))
            value = module.op(I_MUL, uint, module.op(_XOR, uint, value, shifted), module.uint(factor))
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
        scalar = _scalar(leaf)
        length = leaf.length if leaf.kind == "vector" else 1
        words = length * max(scalar.width // 32, 1)
        needed = (words + 3) // 4
        if needed > self._left:
            if self._hash is None:
                self._hash = Hash(self._mirror, load_built_in(self._mirror.module, _VERTEX_INDEX))
            return self._hash.vector(leaf)
        self._left -= needed
        module, kind = self._mirror.module, kind_of(scalar)
        # Not every device fetches attributes of 16 or 64 bits, but all convert.
        if scalar.width == 32:
            return self._attribute(kind, length)
        if scalar.width < 32:
            return module.op(_CONVERT[kind], self._mirror.type(leaf), self._attribute(kind, length))
        uint = module.scalar("uint", 32)
        found: list[int] = []
        for first in range(0, words, 4):
            size = min(words - first, 4)
            vector = self._attribute("uint", size)
            found += [module.op(_COMPOSITE_EXTRACT, uint, vector, index) for index in range(size)]
        parts = [_of_words(self._mirror, found[index : index + 2], scalar) for index in range(0, words, 2)]
        return parts[0] if length == 1 else _composite(self._mirror, leaf, parts)

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


def _of_words(mirror: Mirror, words: list[int], scalar: Type) -> int:
    """The value of type `scalar` that has the bits of `words`, 32 each, lowest first; narrower ones are converted."""
    module, kind = mirror.module, kind_of(scalar)
    if len(words) == 2:
        pair = module.op(COMPOSITE_CONSTRUCT, module.vector(module.scalar("uint", 32), 2), *words)
        return module.op(_BITCAST, mirror.type(scalar), pair)
    (word,) = words
    value = word if kind == "uint" else module.op(_BITCAST, module.scalar(kind, 32), word)
    return value if scalar.width == 32 else module.op(_CONVERT[kind], mirror.type(scalar), value)


def _composite(mirror: Mirror, leaf: Type, parts: list[int]) -> int:
    return mirror.module.op(COMPOSITE_CONSTRUCT, mirror.type(leaf), *parts)


# ── A use for every value ─────────────────────────────────────────────────────────────────────────────────────────


class Fold:
    """Gathers values into one 32-bit unsigned number, by xor of their bits."""

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror
        self._sum: int | None = None

    def add(self, value: int, leaf: Type) -> None:
        """Use up every component of `value`, of the scalar or vector type `leaf`."""
        module, scalar = self._mirror.module, _scalar(leaf)
        if leaf.kind != "vector":
            self._add(value, scalar)
            return
        type_ = self._mirror.type(scalar)
        for index in range(leaf.length):
            self._add(module.op(_COMPOSITE_EXTRACT, type_, value, index), scalar)

    def result(self) -> int:
        """All of it; 0 where there was nothing."""
        return self._mirror.module.uint(0) if self._sum is None else self._sum

    def _add(self, value: int, scalar: Type) -> None:
        module, kind = self._mirror.module, kind_of(scalar)
        uint = module.scalar("uint", 32)
        if scalar.width == 64:
            pair = module.op(_BITCAST, module.vector(uint, 2), value)
            for index in range(2):
                self._xor(module.op(_COMPOSITE_EXTRACT, uint, pair, index))
            return
        if scalar.width < 32:
            value = module.op(_CONVERT[kind], module.scalar(kind, 32), value)
        self._xor(value if kind == "uint" else module.op(_BITCAST, uint, value))

    def _xor(self, word: int) -> None:
        module = self._mirror.module
        self._sum = word if self._sum is None else module.op(_XOR, module.scalar("uint", 32), self._sum, word)
