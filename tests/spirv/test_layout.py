"""Sizes in bytes, worked out by hand (Vulkan specification, "Offset and Stride Assignment")."""

from __future__ import annotations

import pytest

from shaderstat.spirv.facts import Member, Type
from shaderstat.spirv.layout import Sizes

FLOAT = Type(1, "float", width=32)
DOUBLE = Type(2, "float", width=64)
VEC3 = Type(3, "vector", element=FLOAT, length=3)
VEC2 = Type(4, "vector", element=FLOAT, length=2)
MAT3X2 = Type(5, "matrix", element=VEC2, length=3)  # three columns of two rows
POINTER = Type(6, "pointer", storage=5349)
BOOL = Type(7, "bool")


def array(element: Type, length: int, stride: int = 0) -> Type:
    return Type(20, "array", element=element, length=length, array_stride=stride)


def member(type: Type, offset: int, **decorations: int) -> Member:
    row_major = {4: ()} if decorations.get("row_major") else {5: ()}
    stride = {7: (decorations["stride"],)} if "stride" in decorations else {}
    return Member(type, "", {35: (offset,), **row_major, **stride})


@pytest.mark.parametrize(
    ("type", "size"),
    [
        (FLOAT, 4),
        (DOUBLE, 8),
        (VEC3, 12),
        (BOOL, 4),
        (POINTER, 8),
        (MAT3X2, 24),  # no stride: tightly packed
        (array(VEC3, 3, 16), 44),  # nothing after the last one
        (array(VEC3, 3), 36),
        (array(array(FLOAT, 4, 4), 2, 64), 80),
        (Type(21, "runtime_array", element=FLOAT), 0),
        (array(FLOAT, 0), None),  # a length that can't be told
        (Type(22, "sampler"), None),
        (Type(23, "struct"), 0),
        (Type(24, "struct", members=(Member(FLOAT), Member(VEC3))), 16),  # no offsets: tightly packed
        (Type(25, "struct", members=(Member(FLOAT), Member(Type(22, "sampler")))), None),
        (array(Type(26, "vector", element=DOUBLE, length=4), 65536**3, 32), 65536**3 * 32),  # no wrap-around
    ],
)
def test_sizes(type: Type, size: int | None) -> None:
    assert Sizes().size(type) == size


def test_matrices_follow_their_members_layout() -> None:
    columns = Type(30, "struct", members=(member(MAT3X2, 0, stride=16),))
    assert Sizes().extent(columns) == (0, 40)  # 2 × 16 + 8
    rows = Type(31, "struct", members=(member(MAT3X2, 0, stride=16, row_major=1),))
    assert Sizes().extent(rows) == (0, 28)  # 16 + 12
    arrays = Type(32, "struct", members=(member(array(MAT3X2, 2, 64), 0, stride=16),))
    assert Sizes().extent(arrays) == (0, 104)  # 64 + 40


def test_a_block_begins_where_its_first_member_does() -> None:
    """Offsets count, not the order of members (uint at 0, uvec3 at 16: 28 bytes)."""
    assert Sizes().extent(Type(33, "struct", members=(member(FLOAT, 0), member(VEC3, 16)))) == (0, 28)
    assert Sizes().extent(Type(34, "struct", members=(member(VEC2, 8), member(FLOAT, 16), member(FLOAT, 4)))) == (4, 20)
    assert Sizes().extent(Type(35, "struct")) is None


def test_structs_are_measured_once() -> None:
    """Each holds the former twice: without a memory of sizes this would not end."""
    type = Type(100, "struct", members=(Member(FLOAT),))
    for id in range(101, 200):
        type = Type(id, "struct", members=(Member(type), Member(type)))
    assert Sizes().size(type) == 4 * 2**99
