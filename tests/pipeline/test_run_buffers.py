"""Sizes of a run's buffers. Offsets and strides are those of std140 and std430, counted by hand."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaderstat.errors import Unsupported
from shaderstat.instrumentation import Command, Execution, Fill
from shaderstat.pipeline.resources import Buffer
from shaderstat.pipeline.run_buffers import buffers, vertex_buffers
from shaderstat.pipeline.run_interface import Bound
from shaderstat.pipeline.run_pointers import Pointers
from shaderstat.pipeline.spec import PipelineSpec
from shaderstat.spirv.facts import Member, Type
from tests.pipeline.paper import PaperDevice

_ROW_MAJOR, _COLUMN_MAJOR, _MATRIX_STRIDE, _OFFSET = 4, 5, 7, 35
_ids = count(1)


def type_(kind: str, **more: Any) -> Type:
    return Type(next(_ids), kind, **more)


FLOAT, UINT, DOUBLE = type_("float", width=32), type_("int", width=32), type_("float", width=64)
VEC2, VEC3, VEC4 = (type_("vector", element=FLOAT, length=length) for length in (2, 3, 4))
MAT3 = type_("matrix", element=VEC3, length=3)
MAT2X4 = type_("matrix", element=VEC4, length=2)


def array(element: Type, length: int, stride: int) -> Type:
    kind = "array" if length else "runtime_array"
    return type_(kind, element=element, length=length, array_stride=stride)


def block(*members: tuple[int, Type], **more: Mapping[int, tuple[int, ...]]) -> Type:
    """Members at their offsets; ``m1={…}`` are more decorations of the second."""
    return type_(
        "struct",
        members=tuple(
            Member(type, "", {_OFFSET: (offset,), **more.get(f"m{place}", {})})
            for place, (offset, type) in enumerate(members)
        ),
    )


def bound(kind: str, *types: Type, layout: int = 1, declared: int = 1) -> Bound:
    return Bound((1, 2), kind, layout, False, declared, list(types))


def planned(one: Bound, fill: Fill | None = None, elements: int = 1024, **limits: int) -> list[Buffer]:
    return list(buffers(one, fill, elements, Pointers({}, elements), PaperDevice(limits=limits)))


def size(kind: str, *types: Type, elements: int = 1024) -> int:
    (found,) = planned(bound(kind, *types), elements=elements)
    return found.size


def refused(code: str, call: Any, *arguments: Any, **more: Any) -> str:
    with pytest.raises(Unsupported) as raised:
        call(*arguments, **more)
    assert raised.value.code == code
    return raised.value.message


# ── Blocks ────────────────────────────────────────────────────────────────────────────────────────────────────────

COLUMNS = {_COLUMN_MAJOR: (), _MATRIX_STRIDE: (16,)}
ROWS = {_ROW_MAJOR: (), _MATRIX_STRIDE: (16,)}


@pytest.mark.parametrize(
    ("type", "expected"),
    [
        (block((0, FLOAT)), 16),
        # float, vec3, float: the last stands in the vec3's fourth component
        (block((0, FLOAT), (16, VEC3), (28, FLOAT)), 32),
        (block((0, VEC4), (16, FLOAT)), 32),
        # float[5]: each in a vec4; the last ends in its fourth byte
        (block((0, array(FLOAT, 5, 16))), 80),
        (block((0, array(FLOAT, 5, 16)), (80, VEC2)), 96),
        # mat3 in columns of 16 bytes each, 44 bytes; a float after it
        (block((0, MAT3), m0=COLUMNS), 48),
        (block((0, MAT3), (48, FLOAT), m0=COLUMNS), 64),
        # row_major mat2x4: four rows of two floats, 16 bytes apart: 56; the columns would have 32
        (block((0, MAT2X4), m0=ROWS), 64),
        (block((0, MAT2X4), m0=COLUMNS), 32),
        # struct {vec3; float[2]} s[3]: 48 bytes each
        (block((0, array(block((0, VEC3), (16, array(FLOAT, 2, 16))), 3, 48))), 144),
        # members in any order
        (block((32, VEC4), (0, FLOAT)), 48),
    ],
)
def test_uniform_blocks_are_whole_vec4s(type: Type, expected: int) -> None:
    """std140."""
    assert size("UNIFORM_BUFFER", type) == size("UNIFORM_BUFFER_DYNAMIC", type) == expected


@pytest.mark.parametrize(
    ("type", "expected"),
    [
        (block((0, FLOAT)), 4),
        (block((0, VEC3)), 12),
        (block((0, FLOAT), (16, VEC3), (28, FLOAT)), 32),
        # float[5] is packed
        (block((0, array(FLOAT, 5, 4))), 20),
        (block((0, MAT3), m0=COLUMNS), 44),
        (block((0, DOUBLE), (8, UINT)), 12),
        (block((0, array(block((0, VEC3), (12, array(FLOAT, 2, 4))), 3, 32))), 84),
        # sixteen bits: in whole words all the same
        (block((0, array(type_("int", width=16), 3, 2))), 8),
    ],
)
def test_storage_blocks_end_with_their_last_member(type: Type, expected: int) -> None:
    """std430."""
    assert size("STORAGE_BUFFER", type) == size("STORAGE_BUFFER_DYNAMIC", type) == expected


@pytest.mark.parametrize("elements", [1024, 5000])
def test_an_array_without_a_length_comes_after_what_stands_before_it(elements: int) -> None:
    assert size("STORAGE_BUFFER", block((0, array(UINT, 0, 4))), elements=elements) == 4 * elements
    after = block((0, UINT), (8, VEC2), (16, array(VEC4, 0, 16)))
    assert size("STORAGE_BUFFER", after, elements=elements) == 16 + 16 * elements
    # vec3 in a struct: 16 bytes apart
    apart = block((0, VEC2), (16, array(block((0, VEC3)), 0, 16)))
    assert size("STORAGE_BUFFER", apart, elements=elements) == 16 + 16 * elements


def test_the_largest_of_what_shaders_see_in_a_binding() -> None:
    small, large = block((0, VEC4)), block((0, array(UINT, 100, 4)))
    assert size("STORAGE_BUFFER", small, large) == size("STORAGE_BUFFER", large, small) == 400


@pytest.mark.parametrize(
    ("layout", "declared", "made"), [(4, 4, 4), (8, 3, 3), (3, 8, 3), (1000, 0, 16), (5, 0, 5), (5000, 5000, 1024)]
)
def test_every_descriptor_of_an_array_has_a_buffer(layout: int, declared: int, made: int) -> None:
    """As many as layout and shaders agree upon, sixteen where these don't say how many."""
    found = planned(bound("STORAGE_BUFFER", block((0, VEC4)), layout=layout, declared=declared))
    assert [(one.slot, one.element, one.size) for one in found] == [((1, 2), place, 16) for place in range(made)]


def test_an_inline_block_has_the_bytes_of_its_layout() -> None:
    (found,) = planned(bound("INLINE_UNIFORM_BLOCK", block((0, VEC4)), layout=64))
    assert (found.size, found.type) == (64, "VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK")
    inline = bound("INLINE_UNIFORM_BLOCK", block((0, VEC4)), layout=64)
    said = refused("run/too-small", planned, inline, Fill("data", data=bytes(63)))
    assert "set 1 binding 2" in said and "63 bytes" in said and "64" in said
    refused("run/too-large", planned, inline, Fill("data", data=bytes(65)))
    refused("run/layout", planned, bound("INLINE_UNIFORM_BLOCK", block((0, VEC4)), layout=12))


# ── Sizes that were given ─────────────────────────────────────────────────────────────────────────────────────────


@given(st.integers(0, 100))
def test_a_given_size_is_kept_or_refused(given_size: int) -> None:
    """Two floats and an array without a length: eight bytes at the least."""
    one = bound("STORAGE_BUFFER", block((0, FLOAT), (4, FLOAT), (8, array(FLOAT, 0, 4))))
    for fill in (Fill(size=given_size), Fill("data", data=bytes(given_size))):
        if given_size < 8:
            said = refused("run/too-small", planned, one, fill)
            assert said == f"set 1 binding 2 is given {given_size} byte{'s' * (given_size != 1)}: its shaders need 8"
        else:
            assert [(one.size, one.fill) for one in planned(one, fill)] == [(given_size, fill)]


def test_a_limit_of_the_device_is_named() -> None:
    uniform, storage = bound("UNIFORM_BUFFER", block((0, array(VEC4, 1025, 16)))), bound("STORAGE_BUFFER", block())
    said = refused("run/limit", planned, uniform, maxUniformBufferRange=16384)
    assert "16400" in said and "16384 (maxUniformBufferRange)" in said
    assert "maxStorageBufferRange" in refused("run/limit", planned, storage, Fill(size=65), maxStorageBufferRange=64)
    assert planned(storage, Fill(size=64), maxStorageBufferRange=64)[0].size == 64


def test_more_than_a_gibibyte_is_wanted_by_nobody() -> None:
    one = bound("STORAGE_BUFFER", block((0, array(VEC4, 0, 16))))
    assert planned(one, elements=1 << 26)[0].size == 1 << 30
    refused("run/too-large", planned, one, elements=(1 << 26) + 1)
    refused("run/too-large", planned, one, elements=(1 << 96))
    assert planned(one, Fill(size=64), elements=1 << 96)[0].size == 64


# ── Texel buffers ─────────────────────────────────────────────────────────────────────────────────────────────────


def texels(kind: str, element: Type, format: int) -> Bound:
    return bound(kind, type_("image", element=element, image=(5, 0, 0, 0, 1, format)))


@pytest.mark.parametrize(
    ("element", "declared", "format", "texel"),
    [
        (FLOAT, 0, "R32G32B32A32_SFLOAT", 16),
        (UINT, 0, "R32G32B32A32_UINT", 16),
        (type_("int", width=32, signed=True), 0, "R32G32B32A32_SINT", 16),
        (FLOAT, 3, "R32_SFLOAT", 4),  # R32f
        (FLOAT, 8, "B10G11R11_UFLOAT_PACK32", 4),  # R11fG11fB10f
        (UINT, 39, "R8_UINT", 1),  # R8ui
        (type_("int", width=64), 40, "R64_UINT", 8),  # R64ui
    ],
)
def test_texel_buffers(element: Type, declared: int, format: str, texel: int) -> None:
    """`declared` is SPIR-V's number in section "Image Format"."""
    for kind in ("UNIFORM_TEXEL_BUFFER", "STORAGE_TEXEL_BUFFER"):
        (found,) = planned(texels(kind, element, declared), elements=1500)
        assert (found.format, found.size) == (f"VK_FORMAT_{format}", max(1500 * texel, 4))
        (found,) = planned(texels(kind, element, declared), elements=1500, maxTexelBufferElements=1000)
        assert found.size == 1000 * texel


def test_texel_buffers_of_a_given_size() -> None:
    one = texels("STORAGE_TEXEL_BUFFER", FLOAT, 0)
    assert planned(one, Fill("iota", size=32), maxTexelBufferElements=2)[0].size == 32
    assert "maxTexelBufferElements" in refused("run/limit", planned, one, Fill(size=48), maxTexelBufferElements=2)
    assert "16" in refused("run/too-small", planned, one, Fill(size=15))


# ── Vertices ──────────────────────────────────────────────────────────────────────────────────────────────────────


def vertices(
    commands: list[tuple[int, int]], given: Mapping[int, Fill] | None = None, divisor: int | None = None
) -> list[tuple[int, int]]:
    """(binding, size). Binding 3 has 20 bytes a vertex, of which the last attribute ends at 18; binding 1 has a vec4 an
    instance."""
    state: dict[str, Any] = {
        "pVertexBindingDescriptions": [
            {"binding": 3, "stride": 20, "inputRate": "VK_VERTEX_INPUT_RATE_VERTEX"},
            {"binding": 1, "stride": 16, "inputRate": "VK_VERTEX_INPUT_RATE_INSTANCE"},
        ],
        "pVertexAttributeDescriptions": [
            {"location": 0, "binding": 3, "format": "VK_FORMAT_R32G32B32_SFLOAT", "offset": 0},
            {"location": 1, "binding": 3, "format": "VK_FORMAT_R16G16B16_SFLOAT", "offset": 12},
            {"location": 2, "binding": 1, "format": "VK_FORMAT_R32G32B32A32_SFLOAT", "offset": 0},
        ],
    }
    if divisor is not None:
        divisors = {"pVertexBindingDivisors": [{"binding": 1, "divisor": divisor}]}
        state["pNext"] = [("VkPipelineVertexInputDivisorStateCreateInfo", divisors)]
    spec = PipelineSpec("graphics", (), create_info={"pVertexInputState": state})
    execution = Execution(
        tuple(Command("draw", (count, instances, 1)) for count, instances in commands), vertices=given or {}
    )
    return [(one.slot[1], one.size) for one in vertex_buffers(spec, execution)]


def test_vertex_buffers_are_stride_times_vertices() -> None:
    assert vertices([(36, 5)]) == [(1, 5 * 16), (3, 36 * 20)]
    assert vertices([(1, 1)]) == [(1, 16), (3, 20)]


def test_the_largest_draw_counts() -> None:
    assert vertices([(3, 9), (36, 2)]) == [(1, 9 * 16), (3, 36 * 20)]


@pytest.mark.parametrize(("divisor", "fetched"), [(1, 9), (2, 5), (4, 3), (9, 1), (10, 1), (0, 1)])
def test_a_divisor_spares_elements(divisor: int, fetched: int) -> None:
    """VkVertexInputBindingDivisorDescription: so many instances share an element; with 0 all do."""
    assert vertices([(1, 9)], divisor=divisor) == [(1, fetched * 16), (3, 20)]


def test_a_vertex_buffer_may_end_with_its_last_attribute() -> None:
    """35 whole vertices, and 18 bytes of the last."""
    assert vertices([(36, 1)], {3: Fill(size=718)}) == [(1, 16), (3, 718)]
    said = refused("run/too-small", vertices, [(36, 1)], {3: Fill("data", data=bytes(717))})
    assert said == "vertex buffer 3 is given 717 bytes: its shaders need 718"


def test_vertex_buffers_that_there_are() -> None:
    said = refused("run/slot", vertices, [(3, 1)], {0: Fill()})
    assert "vertex buffer 0" in said and said.endswith("there are: 1, 3")


def test_a_draw_of_more_vertices_than_fit() -> None:
    refused("run/too-large", vertices, [(0xFFFFFFFF, 1)])
