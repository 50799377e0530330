"""Intervals against the arithmetic of 32 bits itself: whatever operands can be, the result is in what was told."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaderstat.spirv.ranges import ANY, NEVER, UNKNOWN, Number, compared, computed, constant, extended, joined, widened

_ALL = 1 << 32


def signed(value: int) -> int:
    return value - _ALL if value & 1 << 31 else value


def same(value: int, low: int, high: int) -> bool:
    """Whether a number of `low` to `high` has the bits of `value`."""
    return low == -NEVER or high == NEVER or (value - low) % _ALL <= high - low


ends = st.tuples(st.integers(0, 5000), st.integers(0, 5000)).map(lambda pair: (min(pair), max(pair)))
wide = st.tuples(st.integers(0, _ALL - 1), st.integers(0, _ALL - 1)).map(lambda pair: (min(pair), max(pair)))
# Names as in the specification's table of arithmetic and bit instructions.
OPERATIONS: dict[str, tuple[int, Callable[[int, int], int]]] = {
    "IAdd": (128, lambda a, b: a + b),
    "ISub": (130, lambda a, b: a - b),
    "IMul": (132, lambda a, b: a * b),
    "UDiv": (134, lambda a, b: a // b),
    "UMod": (137, lambda a, b: a % b),
    "ShiftRightLogical": (194, lambda a, b: a >> b if b < 32 else 0),
    "ShiftLeftLogical": (196, lambda a, b: a << b if b < 32 else 0),
    "BitwiseOr": (197, lambda a, b: a | b),
    "BitwiseXor": (198, lambda a, b: a ^ b),
    "BitwiseAnd": (199, lambda a, b: a & b),
}


@pytest.mark.parametrize("name", OPERATIONS)
@given(a=ends | wide, b=ends | wide, data=st.data())
def test_unsigned_arithmetic(name: str, a: tuple[int, int], b: tuple[int, int], data: st.DataObject) -> None:
    opcode, compute = OPERATIONS[name]
    x, y = data.draw(st.integers(*a)), data.draw(st.integers(*b))
    if name in ("UDiv", "UMod") and y == 0:
        return  # undefined
    if "Shift" in name and y > 31:
        return
    low, high = computed(opcode, 32, [Number((a,)), Number((b,))]).range
    assert same(compute(x, y) % _ALL, low, high)


@pytest.mark.parametrize(
    ("opcode", "a", "b", "expected"),
    [
        (128, (0, 9), (5, 5), (5, 14)),
        (128, (1, 9), (0xFFFFFFFF, 0xFFFFFFFF), (0, 8)),  # x - 1, as compilers write it
        (130, (3, 9), (1, 2), (1, 8)),
        (132, (0, 63), (16, 16), (0, 1008)),
        (132, (0, _ALL - 1), (2, 2), (0, NEVER)),  # comes round
        (134, (7, 100), (2, 3), (2, 50)),
        (137, ANY, (64, 64), (0, 63)),
        (137, (0, 5), (64, 64), (0, 5)),
        (138, (0, 100), (7, 7), (0, 6)),
        (138, (-5, 100), (7, 7), (-6, 6)),  # OpSRem has the sign of the first
        (139, (-5, 100), (7, 7), (0, 6)),  # OpSMod that of the second
        (199, ANY, (255, 255), (0, 255)),
        (194, ANY, (24, 24), (0, 255)),
        (195, ANY, (24, 24), ANY),
        (196, (0, 3), (4, 4), (0, 48)),
        (197, (0, 5), (0, 8), (0, 15)),
    ],
)  # fmt: skip
def test_by_hand(opcode: int, a: tuple[int, int], b: tuple[int, int], expected: tuple[int, int]) -> None:
    assert computed(opcode, 32, [Number((a,)), Number((b,))]).range == expected


def test_components_keep_to_themselves() -> None:
    """A number of one component goes with each of the other's."""
    vector = Number(((0, 7), (0, 1)))
    assert computed(132, 32, [vector, Number(((3, 3),))]).parts == ((0, 21), (0, 3))
    assert vector.part(1).parts == ((0, 1),)
    assert vector.range == (0, 7)


def test_pointers_are_added_to_and_not_multiplied() -> None:
    pointer = Number(((0, 0),), frozenset((5,)))
    assert computed(128, 64, [pointer, Number(((0, 640),))]) == Number(((0, 640),), frozenset((5,)))
    assert computed(132, 64, [pointer, Number(((2, 2),))]) == Number((ANY,), frozenset((5,)))
    assert computed(130, 64, [pointer, pointer]).range == ANY


def test_what_numbers_are_multiples_of() -> None:
    any_number, sixteen, forty = Number(((0, 639),)), constant(16), constant(40)
    by_16, by_40 = (computed(132, 32, [any_number, each]) for each in (sixteen, forty))  # OpIMul
    assert (any_number.multiple, sixteen.multiple, constant(0).multiple) == (1, 16, 0)
    assert (by_16.multiple, by_40.multiple) == (16, 40)
    assert computed(128, 32, [by_16, by_40]).multiple == 8  # OpIAdd
    assert computed(196, 32, [by_40, constant(2)]).multiple == 160  # OpShiftLeftLogical
    both = joined(by_16, by_40)
    assert both is not None and both.multiple == 8
    assert Number(((4, 4), (6, 6))).multiple == 2


def test_minima_and_clamps() -> None:
    ten, any_number = Number(((10, 10),)), UNKNOWN
    assert extended(38, [any_number, ten]).range == (0, 10)  # UMin
    assert extended(39, [any_number, ten]).range == (-NEVER, 10)  # SMin
    assert extended(44, [any_number, Number(((2, 2),)), ten]).range == (2, 10)  # UClamp
    assert extended(8, [ten]) == UNKNOWN  # Floor


def test_comparisons() -> None:
    assert compared(177, (0, NEVER), (256, 256)) == ((0, 255), (256, 256))  # OpSLessThan
    assert compared(176, ANY, (256, 256)) == ((0, 255), (256, 256))  # OpULessThan
    assert compared(179, ANY, (256, 256)) == ((-NEVER, 256), (256, 256))  # OpSLessThanEqual
    assert compared(173, (-9, 9), (0, 0)) == ((1, 9), (0, 0))  # OpSGreaterThan
    assert compared(170, (0, 9), (3, 3)) == ((0, 9), (3, 3))  # OpIEqual: not looked at


def test_either_and_what_grows() -> None:
    small, large = Number(((0, 4),)), Number(((0, 5),))
    assert joined(None, small) == small and joined(small, large) == large
    assert widened(small, large) == Number(((0, NEVER),))
    assert widened(large, small) == large
    assert joined(Number(((0, 1), (5, 6))), small) == Number(((0, 6),))


def test_constants() -> None:
    assert constant(7).parts == ((7, 7),)
    assert constant((1, 2)).parts == ((1, 1), (2, 2))
    assert constant(0.5) == constant(True) == constant(None) == UNKNOWN
