"""Constants with specialization applied: their values, and what OpSpecConstantOp makes of them.

Values are Python's: an int of a signed type may be negative, an unsigned one never is; floats are rounded to their
width. What SPIR-V leaves undefined (a division by zero, too wide a shift) comes out as Mesa folds it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import TypeAlias

from shaderstat.errors import ShaderstatError
from shaderstat.spirv.facts import Type


class Null:
    """OpConstantNull of an array, a struct or a matrix: nothing is written out for it."""


# None: not known, for instance an operation that is newer than this table.
Value: TypeAlias = "int | float | bool | tuple[Value, ...] | Null | None"
Scalar: TypeAlias = "int | float | bool"

NULL = Null()
# Longer vectors and composites are not worked on, so that a chain of operations costs no more than its words.
MAX_LENGTH = 64
_FLOAT_FORMATS = {16: "<e", 32: "<f", 64: "<d"}


def from_words(type: Type, bits: int) -> Value:
    """The value of an OpConstant whose words are `bits`, lowest first."""
    if type.kind == "int":
        return wrap(bits, type)
    if type.kind == "float" and type.width in _FLOAT_FORMATS:
        raw = (bits & (1 << type.width) - 1).to_bytes(type.width // 8, "little")
        value: float = struct.unpack(_FLOAT_FORMATS[type.width], raw)[0]
        return value
    return None


def convert(type: Type, value: Scalar) -> Value:
    """A given value as one of `type`: wrapped, rounded, or made a truth value.

    Raises:
        ShaderstatError: infinity or NaN for an integer.
    """
    if type.kind == "bool":
        return bool(value)
    if type.kind == "int":
        if isinstance(value, float) and value - value != 0:
            raise ShaderstatError(f"{value} is no value for an integer constant")
        return wrap(int(value), type)
    return rounded(float(value), type.width) if type.kind == "float" else None


def zero(type: Type) -> Value:
    """OpConstantNull."""
    if type.kind == "vector" and type.element and 0 < type.length <= 16:
        return (zero(type.element),) * type.length
    return {"bool": False, "int": 0, "float": 0.0}.get(type.kind, NULL)


def wrap(value: int, type: Type) -> int:
    """`value` modulo the width of an int type, in the range of its signedness."""
    return _signed(value, type.width) if type.signed else value & (1 << type.width) - 1


def rounded(value: float, width: int) -> float:
    """`value` as a float of 16, 32 or 64 bits has it; beyond its range an infinity."""
    form = _FLOAT_FORMATS.get(width, "<d")
    try:
        result: float = struct.unpack(form, struct.pack(form, value))[0]
    except OverflowError:
        result = float("inf") if value > 0 else float("-inf")
    return result


def _signed(value: int, width: int) -> int:
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def _unsigned(value: int, width: int) -> int:
    return value & (1 << width) - 1


def _quotient(a: int, b: int) -> int:
    """Division towards zero, exact for any width."""
    if b == 0:
        return 0
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(a: int, b: int) -> int:
    """What is left of that, with the sign of `a`."""
    return a - _quotient(a, b) * b if b else 0


# (a, b, width) → integer, before wrapping. Signedness is the instruction's, not the type's.
_INTEGER: dict[int, Callable[[int, int, int], int]] = {
    128: lambda a, b, w: a + b,  # OpIAdd
    130: lambda a, b, w: a - b,
    132: lambda a, b, w: a * b,
    134: lambda a, b, w: _quotient(_unsigned(a, w), _unsigned(b, w)),  # OpUDiv
    135: lambda a, b, w: _quotient(_signed(a, w), _signed(b, w)),  # OpSDiv
    137: lambda a, b, w: _unsigned(a, w) % (_unsigned(b, w) or 1),  # OpUMod
    138: lambda a, b, w: _remainder(_signed(a, w), _signed(b, w)),  # OpSRem
    139: lambda a, b, w: _signed(a, w) % (_signed(b, w) or 1),  # OpSMod: the sign of b, as Python's
    194: lambda a, b, w: _unsigned(a, w) >> (b & w - 1),  # OpShiftRightLogical
    195: lambda a, b, w: _signed(a, w) >> (b & w - 1),  # OpShiftRightArithmetic
    196: lambda a, b, w: a << (b & w - 1),  # OpShiftLeftLogical
    197: lambda a, b, w: a | b,
    198: lambda a, b, w: a ^ b,
    199: lambda a, b, w: a & b,
}
# (a, b, width) → truth value.
_COMPARE: dict[int, Callable[[int, int, int], bool]] = {
    170: lambda a, b, w: _unsigned(a, w) == _unsigned(b, w),  # OpIEqual
    171: lambda a, b, w: _unsigned(a, w) != _unsigned(b, w),
    172: lambda a, b, w: _unsigned(a, w) > _unsigned(b, w),  # OpUGreaterThan
    173: lambda a, b, w: _signed(a, w) > _signed(b, w),
    174: lambda a, b, w: _unsigned(a, w) >= _unsigned(b, w),
    175: lambda a, b, w: _signed(a, w) >= _signed(b, w),
    176: lambda a, b, w: _unsigned(a, w) < _unsigned(b, w),
    177: lambda a, b, w: _signed(a, w) < _signed(b, w),
    178: lambda a, b, w: _unsigned(a, w) <= _unsigned(b, w),
    179: lambda a, b, w: _signed(a, w) <= _signed(b, w),
}
_LOGICAL: dict[int, Callable[[bool, bool], bool]] = {
    164: lambda a, b: a == b,  # OpLogicalEqual
    165: lambda a, b: a != b,
    166: lambda a, b: a or b,
    167: lambda a, b: a and b,
}
_U_CONVERT, _S_CONVERT, _F_CONVERT, _QUANTIZE = 113, 114, 115, 116
_S_NEGATE, _NOT, _LOGICAL_NOT, _SELECT = 126, 200, 168, 169
_SHUFFLE, _EXTRACT, _INSERT = 79, 81, 82


def operate(opcode: int, type: Type, values: Sequence[Value], types: Sequence[Type], literals: Sequence[int]) -> Value:
    """OpSpecConstantOp: the result of `opcode` in `type`.

    Args:
        values, types: of the operands that are ids, in order.
        literals: the others, in order.

    Returns:
        None where an operand is not known or the operation is not one that shaders may use here.
    """
    if not values or any(value is None for value in values):
        return None
    if opcode == _EXTRACT:
        return extract(values[0], types[0], literals)
    if opcode == _INSERT:
        return _insert(values[1], values[0], literals) if len(values) == 2 else None
    if opcode == _SHUFFLE:
        return _shuffle(values, literals)
    if opcode == _SELECT and len(values) == 3 and isinstance(values[0], bool):
        return values[1] if values[0] else values[2]
    if type.kind != "vector":
        return _scalar(opcode, type, values, types)
    element = type.element
    if element is None or type.length > MAX_LENGTH:
        return None
    if not all(isinstance(value, tuple) and len(value) == type.length for value in values):
        return None
    parts = [each.element or each for each in types]
    return tuple(_scalar(opcode, element, lane, parts) for lane in zip(*values, strict=True))


def _scalar(opcode: int, type: Type, values: Sequence[Value], types: Sequence[Type]) -> Value:
    """One lane of `operate`."""
    a, b = values[0], values[1] if len(values) > 1 else None
    if opcode == _SELECT and len(values) == 3:
        return values[1] if a else values[2]
    if isinstance(a, bool):
        if opcode == _LOGICAL_NOT:
            return not a
        return _LOGICAL[opcode](a, b) if opcode in _LOGICAL and isinstance(b, bool) else None
    if isinstance(a, int):
        width = types[0].width
        if opcode in _COMPARE and isinstance(b, int):
            return _COMPARE[opcode](a, b, width)
        if type.kind != "int":
            return None
        if opcode in _INTEGER and isinstance(b, int):
            return wrap(_INTEGER[opcode](a, b, width), type)
        if opcode == _S_CONVERT:
            return wrap(_signed(a, width), type)
        if opcode == _U_CONVERT:
            return wrap(_unsigned(a, width), type)
        if opcode in (_S_NEGATE, _NOT):
            return wrap(-a if opcode == _S_NEGATE else ~a, type)
        return None
    if isinstance(a, float):
        if opcode == _F_CONVERT:
            return rounded(a, type.width)
        if opcode == _QUANTIZE:
            # Values too small for a normal half become zero (SPIR-V specification, OpQuantizeToF16).
            return rounded(a, 16) if abs(a) >= 2.0**-14 or a != a else 0.0 * a
    return None


def extract(value: Value, type: Type, path: Sequence[int]) -> Value:
    """OpCompositeExtract; None where the path leaves the composite."""
    for position in path:
        if type.kind == "struct":
            if position >= len(type.members):
                return None
            inner: Type | None = type.members[position].type
        else:
            inner = type.element
        if inner is None or value is None:
            return None
        if isinstance(value, Null):
            value = zero(inner)
        elif isinstance(value, tuple) and position < len(value):
            value = value[position]
        else:
            return None
        type = inner
    return value


def _insert(composite: Value, part: Value, path: Sequence[int]) -> Value:
    """OpCompositeInsert."""
    outer: list[tuple[tuple[Value, ...], int]] = []
    for position in path:
        if not isinstance(composite, tuple) or len(composite) > MAX_LENGTH or position >= len(composite):
            return None
        outer.append((composite, position))
        composite = composite[position]
    for whole, position in reversed(outer):
        part = (*whole[:position], part, *whole[position + 1 :])
    return part


def _shuffle(values: Sequence[Value], literals: Sequence[int]) -> Value:
    """OpVectorShuffle: 0xFFFFFFFF selects nothing in particular."""
    first, second = values if len(values) == 2 else (None, None)
    if not isinstance(first, tuple) or not isinstance(second, tuple):
        return None
    split, end = len(first), len(first) + len(second)
    return tuple(first[each] if each < split else second[each - split] if each < end else None for each in literals)
