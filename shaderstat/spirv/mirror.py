"""The other side of an interface: the same types and locations, in the other direction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from shaderstat.errors import Unsupported
from shaderstat.plain import dataclass
from shaderstat.spirv import assemble as asm
from shaderstat.spirv.assemble import Assembler
from shaderstat.spirv.facts import Type, Variable

# Decorations.
BLOCK, BUILT_IN, NO_PERSPECTIVE, FLAT, PATCH, CENTROID, SAMPLE, STREAM = 2, 11, 13, 14, 15, 16, 17, 29
LOCATION, COMPONENT, PER_PRIMITIVE, PER_VERTEX = 30, 31, 5271, 5285
_MIRRORED = (LOCATION, COMPONENT, PATCH, PER_PRIMITIVE, NO_PERSPECTIVE, FLAT, CENTROID, SAMPLE)

# Capabilities, by their names in the specification.
_FLOAT16, _FLOAT64, _INT64, _INT16, _INT8 = 9, 10, 11, 22, 39
_SCALARS = frozenset((_FLOAT16, _FLOAT64, _INT64, _INT16, _INT8))
_SAMPLE_RATE_SHADING, _STORAGE_INPUT_OUTPUT_16 = 35, 4436

# Types of our own, which no module's ids can equal.
FLOAT, INT, UINT = (Type(-1, "float", width=32), Type(-2, "int", width=32, signed=True), Type(-3, "int", width=32))
VEC4 = Type(-4, "vector", element=FLOAT, length=4)


def floats(length: int) -> Type:
    """An array of floats."""
    return Type(-16 - length, "array", element=FLOAT, length=length)


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
    elif type_.kind in ("vector", "int", "float", "bool"):
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
    return any(scalar_of(leaf).kind == "int" or scalar_of(leaf).width == 64 for _, leaf in leaves(type_))


def scalar_of(leaf: Type) -> Type:
    """What a scalar or vector is made of."""
    return leaf.element if leaf.kind == "vector" and leaf.element is not None else leaf


@dataclass(frozen=True, slots=True)
class Place:
    """What is written or read: the part of `variable` that the indices `path` (ids) lead to, of type `type`."""

    variable: int
    type: Type
    storage: int
    path: tuple[int, ...] = ()

    def of(self, vertex: int) -> Place:
        """The same of one vertex."""
        return Place(self.variable, self.type, self.storage, (vertex, *self.path))


class Mirror:
    """Declares types and variables of another module in `module`.

    Args:
        capabilities: that module's, where types are mirrored that don't stand in an interface between stages
            (payloads); what of them scalars need is asked for.
    """

    def __init__(self, module: Assembler, capabilities: Iterable[int] | None = None) -> None:
        self.module = module
        self._in_interface = capabilities is None
        module.capability(*(each for each in capabilities or () if each in _SCALARS))
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
    ) -> Place:
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
        return Place(result, type_, storage)

    def built_in(self, number: int, type_: Type, *, outer: int | None = None) -> Place:
        """An output built-in; `outer` as in `variable`."""
        inner = self.type(type_)
        result = self.module.variable(asm.OUTPUT, inner if outer is None else self.module.array(inner, outer))
        self.module.decorate(result, BUILT_IN, number)
        return Place(result, type_, asm.OUTPUT)

    def _type(self, type_: Type, flat: bool) -> int:
        module = self.module
        if type_.kind in ("int", "float"):
            return self._scalar(kind_of(type_), type_.width)
        if type_.kind == "bool":
            return module.type(asm.TYPE_BOOL)
        if type_.kind == "struct":
            return self._struct(type_, flat)
        if type_.kind not in ("vector", "matrix", "array") or type_.element is None or not type_.length:
            what = type_.kind.replace("_", " ")
            raise Unsupported(
                "pipeline/partner", f"no partner stage can be written for an interface with a type {what}"
            )
        element = self.type(type_.element, flat)
        if type_.kind == "array":
            return module.array(element, type_.length)
        return module.type(asm.TYPE_VECTOR if type_.kind == "vector" else asm.TYPE_MATRIX, element, type_.length)

    def _scalar(self, kind: str, width: int) -> int:
        """A scalar type, with the capability that it needs to stand in an interface and be converted."""
        module = self.module
        if not self._in_interface:
            pass
        elif width == 64:
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
