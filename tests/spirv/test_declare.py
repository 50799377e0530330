"""Types, constants and variables outside functions."""

from __future__ import annotations

import sys

import pytest

from shaderstat.errors import InvalidSpirv
from shaderstat.spirv.declare import MAX_DEPTH, Declarations
from shaderstat.spirv.facts import Type
from shaderstat.spirv.parse import parse
from shaderstat.spirv.words import load
from tests.spirv.asm import module


def read(declarations: str, annotations: str = "", **specialization: int) -> Declarations:
    data = module(declarations, annotations=annotations)
    return Declarations(parse(load(data)), {int(key[1:]): value for key, value in specialization.items()})


def named(found: Declarations, name: str) -> Type:
    ids = {found.module.name(id): id for id in found.module.names}
    return found.types[ids[name]]


def code_of(declarations: str, annotations: str = "") -> str:
    with pytest.raises(InvalidSpirv) as caught:
        read(declarations, annotations)
    assert caught.value.offset
    return caught.value.code


def test_scalars_vectors_and_matrices() -> None:
    found = read(
        """
        %v3 = OpTypeVector %float 3
        %m2 = OpTypeMatrix %v3 2
        %s16 = OpTypeInt 16 1
        """,
        'OpName %m2 "m2"\nOpName %s16 "s16"',
    )
    matrix = named(found, "m2")
    assert (matrix.kind, matrix.length) == ("matrix", 2)
    column = matrix.element
    assert column is not None and (column.kind, column.length) == ("vector", 3)
    assert column.element is not None and (column.element.kind, column.element.width) == ("float", 32)
    assert (named(found, "s16").width, named(found, "s16").signed) == (16, True)


def test_images_and_what_samples_them() -> None:
    found = read(
        "%image = OpTypeImage %float 2D 0 1 1 1 Unknown\n%both = OpTypeSampledImage %image", 'OpName %both "both"'
    )
    both = named(found, "both")
    assert both.kind == "sampled_image" and both.image == (1, 0, 1, 1, 1, 0)
    assert both.element is not None and both.element.kind == "image"


def test_struct_members_have_names_and_decorations() -> None:
    found = read(
        "%s = OpTypeStruct %float %int",
        """
        OpName %s "s"
        OpMemberName %s 1 "count"
        OpMemberDecorate %s 1 Offset 4
        OpDecorate %s Block
        """,
    )
    struct = named(found, "s")
    assert [member.name for member in struct.members] == ["", "count"]
    assert struct.members[1].decorations == {35: (4,)} and struct.decorations == {2: ()}


def test_array_lengths_follow_specialization() -> None:
    text = """
        %n = OpSpecConstant %uint 3
        %two = OpConstant %uint 2
        %twice = OpSpecConstantOp %uint IMul %n %two
        %array = OpTypeArray %float %twice
    """
    annotations = 'OpName %array "array"\nOpDecorate %n SpecId 7\nOpDecorate %array ArrayStride 16'
    assert named(read(text, annotations), "array").length == 6
    assert named(read(text, annotations, _7=50), "array").length == 100
    assert named(read(text, annotations), "array").array_stride == 16


def test_an_array_of_unknown_length_is_not_refused() -> None:
    """A length made by an operation that shaders of today don't have."""
    found = read(
        "%n = OpConstant %uint 3\n%x = OpSpecConstantOp %uint BitCount %n\n%array = OpTypeArray %float %x",
        'OpName %array "array"',
    )
    assert named(found, "array").length == 0


def test_pointers_declared_ahead_let_a_struct_point_at_itself() -> None:
    found = read(
        """
        OpTypeForwardPointer %next PhysicalStorageBuffer
        %node = OpTypeStruct %float %next
        %next = OpTypePointer PhysicalStorageBuffer %node
        """,
        'OpName %node "node"\nOpName %next "next"',
    )
    assert named(found, "node").members[1].type.kind == "pointer"
    assert named(found, "node").members[1].type.element is None
    assert named(found, "next").element == named(found, "node")


@pytest.mark.parametrize(
    ("declarations", "code"),
    [
        ("%s = OpTypeStruct %s", "spirv/recursive-type"),
        ("%one = OpConstant %uint 1\n%a = OpTypeArray %a %one", "spirv/recursive-type"),
        ("%p = OpTypePointer Private %q\n%q = OpTypePointer Private %p", "spirv/recursive-type"),
        ("%s = OpTypeStruct %t\n%t = OpTypeStruct %float", "spirv/undefined-id"),
        ("%s = OpTypeStruct %nothing", "spirv/undefined-id"),
        ("%a = OpTypeArray %float %nothing", "spirv/undefined-id"),
        ("%null = OpConstantNull %nothing", "spirv/undefined-id"),
        ("%one = OpConstant %uint 1\n%s = OpTypeStruct %one", "spirv/not-a-type"),
        ("%i = OpTypeInt 7 0", "spirv/bad-width"),
        ("%f = OpTypeFloat 24", "spirv/bad-width"),
        ("%n = OpConstant %uint 0\n%a = OpTypeArray %float %n", "spirv/array-length"),
        ("%n = OpConstant %int -1\n%a = OpTypeArray %float %n", "spirv/array-length"),
        ("%n = OpConstantTrue %bool\n%a = OpTypeArray %float %n", "spirv/array-length"),
        ("%v = OpVariable %float Private", "spirv/not-a-pointer"),
        ("%p = OpTypePointer Private %float\n%v = OpVariable %p 99999", "spirv/storage-class"),
        ("%x = OpSpecConstantOp %uint IAdd %x %x", "spirv/recursive-constant"),
        ("%x = OpSpecConstantOp %uint Not %y\n%y = OpConstant %uint 1", "spirv/undefined-id"),
    ],
)
def test_bad_declarations_are_told_apart(declarations: str, code: str) -> None:
    assert code_of(declarations) == code


def test_only_members_that_are_there_can_be_decorated() -> None:
    assert code_of("%s = OpTypeStruct %float %float", "OpMemberDecorate %s 2 Offset 0") == "spirv/member-index"


def test_what_unknown_instructions_may_define_is_not_missing() -> None:
    data = module("%p = OpTypePointer UniformConstant %new\n%v = OpVariable %p UniformConstant")
    at = data.index((4 << 16 | 32).to_bytes(4, "little"))
    newer = data[:at] + (2 << 16 | 60000).to_bytes(4, "little") + (50).to_bytes(4, "little") + data[at:]
    found = Declarations(parse(load(newer)), {})
    assert found.variable(next(iter(found.module.variables))).type.kind == "other"


def chain(count: int, line: str) -> str:
    return "%s0 = OpTypeStruct %float\n" + "\n".join(
        f"%s{each} = {line.replace('@', f'%s{each - 1}')}" for each in range(1, count)
    )


def test_deep_types_are_refused_without_recursion() -> None:
    limit = sys.getrecursionlimit()
    assert code_of(chain(5000, "OpTypeStruct @")) == "limit/type-depth"
    assert sys.getrecursionlimit() == limit
    assert len(read(chain(MAX_DEPTH, "OpTypeStruct @")).types) > MAX_DEPTH


def test_types_that_explode_are_refused() -> None:
    """Forty structs that each hold the former twice: 2**40 values."""
    assert code_of(chain(40, "OpTypeStruct @ @")) == "limit/type-size"


def test_huge_arrays_are_only_numbers() -> None:
    found = read("%n = OpConstant %uint 4294967295\n%a = OpTypeArray %float %n", 'OpName %a "a"')
    assert named(found, "a").length == 4294967295


def test_shared_types_stand_once() -> None:
    found = read("%s = OpTypeStruct %float %float", 'OpName %s "s"')
    first, second = named(found, "s").members
    assert first.type is second.type
