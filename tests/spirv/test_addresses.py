"""Whether a module makes pointers of numbers, and what its pointers lead to."""

from __future__ import annotations

import pytest

from shaderstat.spirv.addresses import makes_addresses
from shaderstat.spirv.reflect import reflect
from shaderstat.spirv.words import load
from tests.assembly import assemble, compute


def physical(body: str) -> bytes:
    text = compute(
        f"%entry = OpLabel\n{body}\nOpReturn",
        declarations="""
            %uint = OpTypeInt 32 0
            %long = OpTypeInt 64 0
            %uint2 = OpTypeVector %uint 2
            %pair = OpConstantNull %uint2
            %number = OpConstantNull %long
            %far = OpTypePointer PhysicalStorageBuffer %uint
            %other = OpTypePointer PhysicalStorageBuffer %int
        """,
        head="OpCapability PhysicalStorageBufferAddresses\nOpCapability Int64",
    )
    return assemble(text.replace("Logical GLSL450", "PhysicalStorageBuffer64 GLSL450"))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("%x = OpBitcast %uint2 %number", False),
        ("%x = OpBitcast %far %pair", True),
        ("%x = OpConvertUToPtr %far %number", True),
        ("%x = OpUndef %far\n%y = OpBitcast %other %x", False),
    ],
)
def test_addresses_made_of_numbers(body: str, expected: bool) -> None:
    assert makes_addresses(load(physical(body))) is expected


def test_what_a_pointer_leads_to_that_is_declared_before_it() -> None:
    """A list's node holds a pointer to its like."""
    text = compute(
        "%entry = OpLabel\nOpReturn",
        declarations="""
            OpTypeForwardPointer %next PhysicalStorageBuffer
            %1005 = OpTypeStruct %next %int
            %next = OpTypePointer PhysicalStorageBuffer %1005
        """,
        head="OpCapability PhysicalStorageBufferAddresses",
        modes="OpDecorate %1005 Block\nOpMemberDecorate %1005 0 Offset 0\nOpMemberDecorate %1005 1 Offset 8",
    ).replace("Logical GLSL450", "PhysicalStorageBuffer64 GLSL450")
    ((pointer, node),) = reflect(load(assemble(text))).pointees.items()
    assert node.id == 1005
    assert [(member.type.kind, member.type.id) for member in node.members] == [
        ("pointer", pointer),
        ("int", node.members[1].type.id),
    ]
    assert node.members[0].type.element is None  # else the type would hold itself
