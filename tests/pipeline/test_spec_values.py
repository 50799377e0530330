"""Specialization values are typed by the module (Vulkan specification, VkSpecializationMapEntry)."""

from __future__ import annotations

import math

import pytest

from shaderstat.errors import Unsupported
from shaderstat.pipeline.spec_values import resolve, value
from shaderstat.spirv.facts import SpecConstant


def constant(kind: str, number: int = 0, name: str = "") -> SpecConstant:
    return SpecConstant(number, name, kind, 0, 4)


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("bool", "true", True),
        ("bool", "0", False),
        ("int32", "-5", -5),
        ("int32", "0xffffffff", -1),
        ("uint32", "0xFFFFFFFF", 2**32 - 1),
        ("uint64", "18446744073709551615", 2**64 - 1),
        ("int64", "-9223372036854775808", -(2**63)),
        ("int8", "127", 127),
        ("float32", "1.5", 1.5),
        ("float32", "0x10", 16.0),
        ("float64", "0x1.8p3", 12.0),
        ("float16", "65504", 65504.0),  # the largest finite half (IEEE 754 binary16)
        ("float32", "-inf", -math.inf),
    ],
)
def test_a_value_is_read_in_the_constants_type(kind: str, text: str, expected: object) -> None:
    found = value(text, constant(kind))
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("bool", "2"),
        ("int8", "128"),
        ("uint16", "-1"),
        ("uint32", "4294967296"),
        ("int32", "1.5"),
        ("float16", "1e6"),
        ("float32", "fast"),
        ("int32", ""),
    ],
)
def test_what_the_type_cannot_hold_is_refused_and_never_wrapped(kind: str, text: str) -> None:
    with pytest.raises(Unsupported) as caught:
        value(text, constant(kind, 3, "SIZE"))
    assert caught.value.code == "spirv/spec-value"
    assert "3 (SIZE)" in caught.value.message


def test_a_choice_reaches_its_stage_by_id_or_name() -> None:
    constants = [constant("int32", 0, "A"), constant("int32", 1, "B"), constant("int32", 2, "A")]
    choices = [("fragment", "1", "5"), (None, "A", "7"), ("vertex", "0", "9"), (None, "C", "1")]
    # by name both constants called A; what is said of the vertex stage does not count here; C is nowhere
    assert resolve(choices, "fragment", constants) == ({1: 5, 0: 7, 2: 7}, {0, 1})
