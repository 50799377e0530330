"""OpSpecConstantOp against results worked out by hand from the specification's sections 3.42.12 to 3.42.15."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaderstat.errors import ShaderstatError
from shaderstat.spirv.declare import Declarations
from shaderstat.spirv.facts import Type
from shaderstat.spirv.parse import parse
from shaderstat.spirv.specialize import Value, convert, from_words, rounded, wrap
from shaderstat.spirv.words import load
from tests.spirv.asm import module

CONSTANTS = """
    %u8 = OpTypeInt 8 0
    %s64 = OpTypeInt 64 1
    %half = OpTypeFloat 16
    %double = OpTypeFloat 64
    %v2 = OpTypeVector %int 2
    %b2 = OpTypeVector %bool 2
    %pair = OpTypeStruct %int %v2
    %false = OpConstantFalse %bool
    %true = OpSpecConstantTrue %bool
    %i0 = OpConstant %int 0
    %i2 = OpConstant %int 2
    %i7 = OpConstant %int 7
    %m7 = OpConstant %int -7
    %m2 = OpConstant %int -2
    %u3 = OpConstant %uint 3
    %u255 = OpConstant %u8 255
    %big = OpConstant %uint 0xFFFFFFF9
    %wide = OpConstant %s64 -5000000000
    %x = OpConstant %float 0.1
    %y = OpConstant %double 65520
    %small = OpConstant %float 0.00003
    %iv = OpSpecConstantComposite %v2 %i7 %m7
    %jv = OpConstantComposite %v2 %i2 %m2
    %null = OpConstantNull %v2
    %pair_value = OpConstantComposite %pair %i7 %iv
    %pair_null = OpConstantNull %pair
"""


def evaluate(type: str, operation: str) -> Value:
    data = module(f"{CONSTANTS}\n%result = OpSpecConstantOp %{type} {operation}", annotations='OpName %result "result"')
    found = Declarations(parse(load(data)), {})
    (id,) = (id for id in found.module.names if found.module.name(id) == "result")
    return found.value(id, 0)


@pytest.mark.parametrize(
    ("type", "operation", "expected"),
    [
        ("int", "IAdd %i7 %m2", 5),
        ("uint", "IAdd %big %u3", 0xFFFFFFFC),
        ("uint", "ISub %u3 %big", 10),  # 3 - (2**32 - 7), modulo 2**32
        ("int", "IMul %m7 %i7", -49),
        ("uint", "UDiv %big %u3", 1431655763),  # 4294967289 / 3
        ("int", "SDiv %m7 %i2", -3),  # towards zero
        ("int", "SRem %m7 %i2", -1),  # the sign of the first
        ("int", "SRem %i7 %m2", 1),
        ("int", "SMod %m7 %i2", 1),  # the sign of the second
        ("int", "SMod %i7 %m2", -1),
        ("uint", "UMod %big %u3", 0),
        ("int", "SDiv %i7 %i0", 0),
        ("int", "SRem %i7 %i0", 0),
        ("int", "SMod %i7 %i0", 0),
        ("uint", "UMod %u3 %i0", 0),
        ("int", "SNegate %i7", -7),
        ("int", "Not %i7", -8),
        ("uint", "Not %u3", 0xFFFFFFFC),
        ("uint", "ShiftLeftLogical %big %u3", 0xFFFFFFC8),
        ("uint", "ShiftRightLogical %m7 %u3", 0x1FFFFFFF),  # signedness is the instruction's
        ("int", "ShiftRightArithmetic %big %u3", -1),
        ("int", "BitwiseAnd %m7 %u3", 1),
        ("int", "BitwiseOr %i7 %i2", 7),
        ("int", "BitwiseXor %i7 %i2", 5),
        ("bool", "ULessThan %m7 %u3", False),
        ("bool", "SLessThan %m7 %i2", True),
        ("bool", "SGreaterThan %m7 %i2", False),
        ("bool", "UGreaterThan %m7 %i2", True),
        ("bool", "IEqual %m7 %big", True),  # the same bits
        ("bool", "INotEqual %i7 %i2", True),
        ("bool", "UGreaterThanEqual %i7 %i7", True),
        ("bool", "SLessThanEqual %i7 %i2", False),
        ("bool", "LogicalAnd %true %false", False),
        ("bool", "LogicalOr %true %false", True),
        ("bool", "LogicalEqual %true %false", False),
        ("bool", "LogicalNotEqual %true %false", True),
        ("bool", "LogicalNot %false", True),
        ("int", "Select %true %i7 %i2", 7),
        ("int", "Select %false %i7 %i2", 2),
        ("v2", "Select %false %iv %jv", (2, -2)),
        ("s64", "SConvert %m7", -7),
        ("uint", "UConvert %u255", 255),
        ("int", "SConvert %u255", -1),
        ("int", "SConvert %wide", -705032704),  # -5000000000 modulo 2**32
        ("u8", "UConvert %big", 0xF9),
        ("half", "FConvert %x", 0.0999755859375),
        ("half", "FConvert %y", float("inf")),  # 65520 is the first that rounds beyond 65504
        ("float", "QuantizeToF16 %x", 0.0999755859375),
        ("float", "QuantizeToF16 %small", 0.0),  # below 2**-14: no normal half
        ("v2", "IAdd %iv %jv", (9, -9)),
        ("b2", "SLessThan %iv %jv", (False, True)),
        ("int", "CompositeExtract %iv 1", -7),
        ("int", "CompositeExtract %pair_value 1 1", -7),
        ("int", "CompositeExtract %pair_null 1 0", 0),
        ("v2", "CompositeExtract %pair_null 1", (0, 0)),
        ("v2", "CompositeInsert %i2 %iv 0", (2, -7)),
        ("pair", "CompositeInsert %i2 %pair_value 1 0", (7, (2, -7))),
        ("v2", "VectorShuffle %iv %jv 3 0", (-2, 7)),
        ("v2", "VectorShuffle %iv %null 2 1", (0, -7)),
        ("int", "CompositeExtract %iv 2", None),  # not there
        ("int", "CompositeExtract %pair_value 5", None),
        ("int", "BitCount %i7", None),  # not one that shaders may use here
        ("v2", "IAdd %iv %i2", None),  # a vector and a scalar
    ],
)
def test_operations(type: str, operation: str, expected: Value) -> None:
    result = evaluate(type, operation)
    assert result == expected and isinstance(result, bool) == isinstance(expected, bool)


INT = Type(1, "int", width=32, signed=True)
UINT8 = Type(2, "int", width=8)


@given(st.integers())
def test_wrapping_keeps_the_low_bits(value: int) -> None:
    assert -(2**31) <= wrap(value, INT) < 2**31 and (wrap(value, INT) - value) % 2**32 == 0
    assert wrap(value, UINT8) == value % 256


@given(st.floats(width=16, allow_nan=False))
def test_what_fits_is_not_rounded(value: float) -> None:
    assert rounded(value, 16) == rounded(value, 32) == rounded(value, 64) == value


def test_values_from_words() -> None:
    assert from_words(INT, 0xFFFFFFFF) == -1
    assert from_words(UINT8, 0xFFFFFFFF) == 255  # narrow numbers are extended to a word
    assert from_words(Type(3, "float", width=16), 0x3C00) == 1.0
    assert from_words(Type(3, "float", width=64), 0x3FF8_0000_0000_0000) == 1.5
    assert from_words(Type(4, "struct"), 0) is None


def test_given_values_take_the_constants_type() -> None:
    assert convert(UINT8, 300) == 44
    assert convert(INT, True) == 1
    assert convert(Type(5, "bool"), 3) is True
    assert convert(Type(3, "float", width=32), 1e300) == float("inf")
    with pytest.raises(ShaderstatError):
        convert(INT, float("nan"))


def test_long_chains_cost_no_stack() -> None:
    steps = "\n".join(f"%n{each + 1} = OpSpecConstantOp %int IAdd %n{each} %i2" for each in range(3000))
    data = module(
        f"{CONSTANTS}\n%n0 = OpSpecConstant %int 0\n{steps}\n%array = OpTypeArray %float %n3000",
    )
    found = Declarations(parse(load(data)), {})
    assert [type.length for type in found.types.values() if type.kind == "array"] == [6000]
