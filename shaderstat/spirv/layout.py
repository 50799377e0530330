"""Sizes of types in bytes: by their Offset and stride decorations where they have them, tightly packed where not.

The functions here recurse once a level of nesting, of which `shaderstat.spirv.declare` allows 255.
"""

from __future__ import annotations

from collections.abc import Mapping

from shaderstat.spirv.facts import Type

_ROW_MAJOR, _MATRIX_STRIDE, _OFFSET = 4, 7, 35
# A physical pointer (SPIR-V's PhysicalStorageBuffer64 addressing).
POINTER_BYTES = 8
# A Boolean has no size in SPIR-V; drivers keep it in a word.
BOOL_BYTES = 4

_NONE: Mapping[int, tuple[int, ...]] = {}


class Sizes:
    """Sizes of types, each struct measured once."""

    def __init__(self) -> None:
        self._structs: dict[int, int | None] = {}

    def size(self, type: Type, decorations: Mapping[int, tuple[int, ...]] = _NONE) -> int | None:
        """Bytes from the first of `type` to its last, without padding at its end.

        A run-time array has none. None where it can't be told: an opaque type, an array whose length is not known.

        Args:
            decorations: of the struct member that has this type: they hold a matrix's layout.
        """
        match type.kind:
            case "int" | "float" | "other":
                return type.width // 8 or None
            case "pointer":
                return POINTER_BYTES
            case "bool":
                return BOOL_BYTES
            case "vector":
                scalar = self.size(type.element) if type.element else None
                return scalar and scalar * type.length
            case "matrix":
                return self._matrix(type, decorations)
            case "array":
                element = self.size(type.element, decorations) if type.element else None
                if element is None or type.length == 0:
                    return None
                return (type.length - 1) * (type.array_stride or element) + element
            case "runtime_array":
                return 0
            case "struct":
                return self._struct(type)
        return None

    def extent(self, struct: Type) -> tuple[int, int] | None:
        """The bytes of a block that its members cover, (first, one past the last); None for an empty or unknown one."""
        first, end, packed = None, 0, 0
        for member in struct.members:
            size = self.size(member.type, member.decorations)
            if size is None:
                return None
            offset = member.decorations[_OFFSET][0] if _OFFSET in member.decorations else packed
            first = offset if first is None else min(first, offset)
            packed = offset + size
            end = max(end, packed)
        return None if first is None else (first, end)

    def _struct(self, type: Type) -> int | None:
        if type.id not in self._structs:
            extent = self.extent(type)
            self._structs[type.id] = extent[1] if extent else None if type.members else 0
        return self._structs[type.id]

    def _matrix(self, type: Type, decorations: Mapping[int, tuple[int, ...]]) -> int | None:
        column = type.element
        scalar = self.size(column.element) if column and column.element else None
        if column is None or scalar is None:
            return None
        columns, rows = type.length, column.length
        stride = decorations.get(_MATRIX_STRIDE, (0,))[0]
        if _ROW_MAJOR in decorations:
            return (rows - 1) * (stride or columns * scalar) + columns * scalar
        return (columns - 1) * (stride or rows * scalar) + rows * scalar
