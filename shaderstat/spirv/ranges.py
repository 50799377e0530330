"""What a number of a shader can be at most and at least: intervals, and what SPIR-V's arithmetic makes of them.

A `Number` also knows which pointers it was made of (`Number.bases`): then its range is a distance in bytes from where
these point to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import gcd

from shaderstat.plain import dataclass

# An end that can't be told.
NEVER = 1 << 200
Range = tuple[int, int]
ANY: Range = (-NEVER, NEVER)


@dataclass(frozen=True, slots=True)
class Number:
    """What an id can be.

    Attributes:
        parts: of each component, both ends included; where there is one, it stands for all of them.
        bases: the pointers that it was made of, by the ids of their types; empty for a plain number.
        step: what it is a multiple of; see `multiple`.
    """

    parts: tuple[Range, ...]
    bases: frozenset[int] = frozenset()
    step: int = 1

    def part(self, place: int) -> Number:
        """A component."""
        return Number((self.parts[place] if 0 < place < len(self.parts) else self.parts[0],), self.bases, self.step)

    @property
    def multiple(self) -> int:
        """The largest number known that it is a multiple of; 0 where it is 0."""
        exact = all(low == high for low, high in self.parts)
        return gcd(*(low for low, _ in self.parts)) if exact else self.step

    @property
    def range(self) -> Range:
        """Of all components."""
        return min(low for low, _ in self.parts), max(high for _, high in self.parts)


UNKNOWN = Number((ANY,))


def constant(value: object) -> Number:
    """Of a constant: an integer, or some in tuples; anything else can't be told."""
    if isinstance(value, tuple) and value:
        parts = [constant(each) for each in value]
        return Number(tuple(part.range for part in parts))
    return Number(((value, value),)) if isinstance(value, int) and not isinstance(value, bool) else UNKNOWN


def joined(a: Number | None, b: Number | None) -> Number | None:
    """Either of both; None is what nothing was said of yet."""
    if a is None or b is None or a == b:
        return b if a is None else a
    if len(a.parts) != len(b.parts):
        a, b = Number((a.range,), a.bases, a.multiple), Number((b.range,), b.bases, b.multiple)
    parts = zip(a.parts, b.parts, strict=True)
    both = tuple((min(x[0], y[0]), max(x[1], y[1])) for x, y in parts)
    return Number(both, a.bases | b.bases, gcd(a.multiple, b.multiple))


def widened(before: Number | None, after: Number | None) -> Number | None:
    """`after`, with what grew since `before` grown for good: so that a loop comes to an end."""
    both = joined(before, after)
    if before is None or both is None or both == before:
        return both
    if len(before.parts) != len(both.parts):
        return Number((ANY,), both.bases)
    parts = zip(before.parts, both.parts, strict=True)
    return Number(
        tuple((-NEVER if new[0] < old[0] else new[0], NEVER if new[1] > old[1] else new[1]) for old, new in parts),
        both.bases,
        both.step,
    )


def computed(opcode: int, width: int, operands: list[Number]) -> Number:
    """What the instruction `opcode` makes of its operands.

    Args:
        width: bits of the result's components.
    """
    bases = frozenset[int]().union(*(each.bases for each in operands))
    if opcode in _COPIES:
        return operands[0]
    rule = _RULES.get(opcode)
    if rule is None or len(operands) > 2:
        return Number((ANY,), bases)
    if bases and (opcode not in _SUMS or (opcode == _SUBTRACT and operands[1].bases)):
        return Number((ANY,), bases)  # a pointer times something is no distance from anything
    count = max(len(each.parts) for each in operands)
    columns = [each.parts if len(each.parts) == count else each.parts[:1] * count for each in operands]
    parts = (rule(width, *row) for row in zip(*columns, strict=True))
    return Number(tuple(_wrapped(part, width) for part in parts), bases, _step(opcode, operands))


def _step(opcode: int, operands: list[Number]) -> int:
    multiples = [each.multiple for each in operands]
    if opcode in _SUMS:
        return gcd(*multiples)
    if opcode == _MULTIPLY:
        return multiples[0] * multiples[1]
    if opcode == _SHIFT_LEFT and operands[1].range[0] == operands[1].range[1]:
        return multiples[0] << operands[1].range[0] if 0 <= operands[1].range[0] < 64 else 1
    return multiples[0] if opcode == _EXTEND else 1


def extended(number: int, operands: list[Number]) -> Number:
    """What GLSL.std.450's instruction `number` gives: minima, maxima and clamps; of others nothing is known."""
    rule = _EXTENDED.get(number)
    if rule is None or any(each.bases for each in operands):
        return UNKNOWN
    return Number((rule(*(each.range for each in operands)),))


def compared(opcode: int, a: Range, b: Range) -> tuple[Range, Range]:
    """What both sides of a comparison can still be where it holds."""
    if opcode in _GREATER:
        narrow_b, narrow_a = compared(_GREATER[opcode], b, a)
        return narrow_a, narrow_b
    less = _LESS.get(opcode)
    if less is None:
        return a, b
    strict, is_unsigned = less
    high = min(a[1], b[1] - strict) if b[1] < NEVER else a[1]
    low = max(b[0], a[0] + strict) if a[0] > -NEVER else b[0]
    if is_unsigned and a[0] == -NEVER and high < NEVER:
        a = (0, high)
    return (a[0], max(high, a[0])), (low, max(low, b[1]))


# ── Rules: (width of the result, ranges of the operands) ──────────────────────────────────────────────────────────


def _wrapped(range: Range, width: int) -> Range:
    """Numbers that don't fit have come round to others."""
    if range[1] >= 1 << width or range[0] < -(1 << width):
        return (0 if range[0] >= 0 else -NEVER), NEVER
    return range


def _clamped(value: int) -> int:
    """What was made of an end that can't be told is another."""
    return value if abs(value) < _FAR else NEVER if value > 0 else -NEVER


_FAR = 1 << 150


def _add(width: int, a: Range, b: Range) -> Range:
    # A compiler writes x - 1 as x + 0xFFFFFFFF.
    a, b = (_signed(width, each) if each[0] == each[1] else each for each in (a, b))
    return _clamped(a[0] + b[0]), _clamped(a[1] + b[1])


def _signed(width: int, it: Range) -> Range:
    over = 1 << width if it[0] >= 1 << (width - 1) else 0
    return it[0] - over, it[1] - over


def _subtract(width: int, a: Range, b: Range) -> Range:
    return _clamped(a[0] - b[1]), _clamped(a[1] - b[0])


def _multiply(width: int, a: Range, b: Range) -> Range:
    products = [_clamped(x * y) for x in a for y in b]
    return min(products), max(products)


def _divide(width: int, a: Range, b: Range) -> Range:
    a = _unsigned(width, a)
    return (0 if b[1] == NEVER else a[0] // max(b[1], 1), a[1] // max(b[0], 1)) if b[0] >= 0 else ANY


def _modulo(width: int, a: Range, b: Range) -> Range:
    if b[0] < 0:
        return ANY
    return (0, min(a[1], b[1] - 1) if a[0] >= 0 else b[1] - 1) if b[1] > 0 else (0, 0)


def _remainder(width: int, a: Range, b: Range) -> Range:
    return _modulo(width, a, b) if a[0] >= 0 or b[0] < 0 else (1 - b[1], b[1] - 1)


def _and(width: int, a: Range, b: Range) -> Range:
    ends = [each[1] for each in (a, b) if each[0] >= 0]
    return (0, min(ends)) if ends else ANY


def _or(width: int, a: Range, b: Range) -> Range:
    if min(a[0], b[0]) < 0 or max(a[1], b[1]) >= NEVER:
        return ANY
    return 0, (1 << max(a[1].bit_length(), b[1].bit_length())) - 1


def _shift_left(width: int, a: Range, b: Range) -> Range:
    if not 0 <= b[0] <= b[1] < width:
        return ANY
    return _multiply(width, a, (1 << b[0], 1 << b[1]))


def _shift_right(width: int, a: Range, b: Range) -> Range:
    if not 0 <= b[0] <= b[1] < width:
        return ANY
    a = _unsigned(width, a)
    return a[0] >> b[1], a[1] >> b[0]


def _shift_arithmetically(width: int, a: Range, b: Range) -> Range:
    return _shift_right(width, a, b) if a[0] >= 0 else ANY


def _negate(width: int, a: Range) -> Range:
    return -a[1], -a[0]


def _extend(width: int, a: Range) -> Range:
    return a if a[0] >= 0 else ANY


def _unsigned(width: int, a: Range) -> Range:
    """Taken without a sign; what is not known is any number of so many bits."""
    most = (1 << width) - 1
    return (a[0], min(a[1], most)) if a[0] >= 0 else (0, most)


_EXTEND, _SUBTRACT, _MULTIPLY, _SHIFT_LEFT = 113, 130, 132, 196
_SUMS = frozenset((128, _SUBTRACT))
# OpCopyObject, OpCopyLogical; OpConvertPtrToU and back, OpBitcast; OpSConvert; OpConvertFToU and FToS, which cut off.
_COPIES = frozenset((83, 400, 117, 120, 124, 114, 109, 110))
_Rule = Callable[..., Range]
_RULES: Mapping[int, _Rule] = {
    113: _extend, 126: _negate, 128: _add, 130: _subtract, 132: _multiply, 134: _divide, 137: _modulo,
    135: lambda width, a, b: _divide(width, a, b) if a[0] >= 0 else ANY,
    138: _remainder, 139: _modulo,
    194: _shift_right, 195: _shift_arithmetically, 196: _shift_left, 197: _or, 198: _or, 199: _and,
}  # fmt: skip


def _ends(choose: Callable[[Iterable[int]], int]) -> _Rule:
    return lambda a, b: (choose((a[0], b[0])), choose((a[1], b[1])))


def _clamp(x: Range, low: Range, high: Range) -> Range:
    return min(max(x[0], low[0]), high[0]), min(max(x[1], low[1]), high[1])


# UMin, SMin, UMax, SMax, UClamp, SClamp. An unsigned one of what is not known is one of numbers from 0 on.
_EXTENDED: Mapping[int, _Rule] = {
    38: lambda a, b: _ends(min)(*((0, NEVER) if each[0] < 0 else each for each in (a, b))),
    39: _ends(min),
    41: _ends(max),
    42: _ends(max),
    44: lambda x, low, high: _clamp((0, NEVER) if x[0] < 0 else x, low, high),
    45: _clamp,
}
# OpSLessThan and its like: (by how much, whether without a sign); and those that are these the other way round.
_LESS: Mapping[int, tuple[int, bool]] = {176: (1, True), 177: (1, False), 178: (0, True), 179: (0, False)}
_GREATER: Mapping[int, int] = {172: 176, 173: 177, 174: 178, 175: 179}
