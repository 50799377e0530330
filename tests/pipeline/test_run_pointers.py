"""Where pointers stand in blocks, and the regions that they lead to. Offsets are counted by hand."""

from __future__ import annotations

from typing import Any

import pytest

from shaderstat.errors import Unsupported
from shaderstat.pipeline.run_pointers import PHYSICAL, REGION_BYTES, Pointers, block_bytes
from shaderstat.spirv.facts import Member, Type

_ids = iter(range(1, 1000))


def type_(kind: str, **more: Any) -> Type:
    return Type(next(_ids), kind, **more)


def struct(*members: tuple[int, Type]) -> Type:
    return type_("struct", members=tuple(Member(type, "", {35: (offset,)}) for offset, type in members))


def pointer(to: Type | None) -> Type:
    return type_("pointer", element=to, storage=PHYSICAL)


UINT = type_("int", width=32)
WORDS = type_("runtime_array", element=UINT, array_stride=4)


def test_a_block_without_pointers_needs_no_buffer() -> None:
    pointers = Pointers({}, 10)
    assert pointers.places(struct((0, UINT), (16, WORDS)), 1024) == ()
    assert pointers.buffer() is None


def test_each_type_has_a_region_and_equal_pointers_share_it() -> None:
    leaf, node = struct((0, WORDS)), struct((0, UINT))
    to_leaf, to_node = pointer(leaf), pointer(node)
    pointers = Pointers({}, 10)
    assert pointers.places(struct((0, to_leaf), (8, UINT), (16, to_node), (24, to_leaf)), 32) == (
        (0, 0), (16, REGION_BYTES), (24, 0),
    )  # fmt: skip
    found = pointers.buffer()
    assert found is not None and found.size == 2 * REGION_BYTES and found.addresses == ()


def test_pointers_in_what_pointers_lead_to() -> None:
    """A node of 16 bytes whose pointer leads to words; nodes lie behind each other, as many as the region holds."""
    to_leaf = pointer(struct((0, WORDS)))
    node = struct((0, UINT), (8, to_leaf))
    pointers = Pointers({}, 10)
    assert pointers.places(struct((0, pointer(node))), 8) == ((0, 0),)
    found = pointers.buffer()
    assert found is not None and found.size == 2 * REGION_BYTES
    assert found.addresses == tuple((16 * index + 8, REGION_BYTES) for index in range(REGION_BYTES // 16))


def test_a_list_leads_back_to_its_own_region() -> None:
    forward = pointer(None)
    node = struct((0, forward), (8, UINT))
    pointers = Pointers({id(forward): node}, 10)
    assert pointers.places(struct((4, UINT), (8, forward)), 16) == ((8, 0),)
    found = pointers.buffer()
    assert found is not None and found.size == REGION_BYTES
    assert found.addresses[:2] == ((0, 0), (16, 0))


def test_arrays_of_pointers_as_far_as_the_block_reaches() -> None:
    to_leaf = pointer(UINT)
    array = type_("array", element=to_leaf, length=3, array_stride=8)
    open_ = type_("runtime_array", element=struct((0, UINT), (8, to_leaf)), array_stride=16)
    assert Pointers({}, 10).places(struct((8, array)), 32) == ((8, 0), (16, 0), (24, 0))
    assert Pointers({}, 10).places(struct((8, array)), 24) == ((8, 0), (16, 0))
    assert Pointers({}, 10).places(struct((16, open_)), 16 + 3 * 16) == ((24, 0), (40, 0), (56, 0))


def test_what_is_not_known_has_room_all_the_same() -> None:
    pointers = Pointers({}, 10)
    pointers.places(struct((0, pointer(None))), 8)
    found = pointers.buffer()
    assert found is not None and found.size == REGION_BYTES


def test_a_large_block_has_a_large_region_and_a_larger_one_none() -> None:
    """An element for each invocation."""
    leaf = struct((0, UINT), (4, WORDS))
    assert block_bytes(leaf, 100_000) == 400_004
    pointers = Pointers({}, 100_000)
    pointers.places(struct((0, pointer(leaf))), 8)
    found = pointers.buffer()
    assert found is not None and found.size == 400_128  # the next multiple of 256
    pointers = Pointers({}, 1 << 30)
    pointers.places(struct((0, pointer(leaf))), 8)
    with pytest.raises(Unsupported) as raised:
        pointers.buffer()
    assert raised.value.code == "run/too-large"
