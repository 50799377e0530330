"""How far shaders reach, counted by hand: 10 workgroups of 64, so that invocations are 0 to 639."""

from __future__ import annotations

from pathlib import Path

import pytest

from shaderstat.spirv.parse import parse
from shaderstat.spirv.reach import Reach, reach
from shaderstat.spirv.reflect import reflect
from shaderstat.spirv.words import load
from tests.assembly import assemble, compute

BUILTINS = {28: [(0, 639), (0, 0), (0, 0)], 27: [(0, 63), (0, 0), (0, 0)], 26: [(0, 9), (0, 0), (0, 0)]}
_TYPES = """
    %uint = OpTypeInt 32 0
    %long = OpTypeInt 64 0
    %uint2 = OpTypeVector %uint 2
    %uint3 = OpTypeVector %uint 3
    %to_input = OpTypePointer Input %uint3
    %to_part = OpTypePointer Input %uint
    %id = OpVariable %to_input Input
    %u0 = OpConstant %uint 0
    %u1 = OpConstant %uint 1
    %u3 = OpConstant %uint 3
    %u15 = OpConstant %uint 15
    %u16 = OpConstant %uint 16
    %u100 = OpConstant %uint 100
    %size = OpSpecConstant %uint 8
    %words = OpTypeRuntimeArray %uint
    %block = OpTypeStruct %uint %words
    %to_block = OpTypePointer StorageBuffer %block
    %to_word = OpTypePointer StorageBuffer %uint
    %1900 = OpVariable %to_block StorageBuffer
    %to_local = OpTypePointer Function %uint
    %to_pair = OpTypePointer Function %uint2
    %to_static = OpTypePointer Private %uint
    %static = OpVariable %to_static Private %u100
    %l64 = OpConstant %long 64
    %l8 = OpConstant %long 8
    %l0 = OpConstant %long 0
    %u4 = OpConstant %uint 4
    %four = OpTypeArray %uint %u16
    %leaf = OpTypeStruct %four
    %1901 = OpTypePointer PhysicalStorageBuffer %leaf
    %1902 = OpTypePointer PhysicalStorageBuffer %uint
    %open = OpTypeStruct %words
    %1903 = OpTypePointer PhysicalStorageBuffer %open
    %pushed = OpTypeStruct %1901 %1903 %long
    %to_pushed = OpTypePointer PushConstant %pushed
    %to_first = OpTypePointer PushConstant %1901
    %to_second = OpTypePointer PushConstant %1903
    %to_third = OpTypePointer PushConstant %long
    %two = OpConstant %int 2
    %takes = OpTypeFunction %void %to_local
    %push = OpVariable %to_pushed PushConstant
"""
_MODES = """
    OpDecorate %id BuiltIn GlobalInvocationId
    OpDecorate %size SpecId 3
    OpDecorate %words ArrayStride 4
    OpDecorate %four ArrayStride 4
    OpDecorate %block Block
    OpMemberDecorate %block 0 Offset 0
    OpMemberDecorate %block 1 Offset 4
    OpDecorate %1900 DescriptorSet 0
    OpDecorate %1900 Binding 0
    OpDecorate %leaf Block
    OpMemberDecorate %leaf 0 Offset 0
    OpDecorate %open Block
    OpMemberDecorate %open 0 Offset 0
    OpDecorate %pushed Block
    OpMemberDecorate %pushed 0 Offset 0
    OpMemberDecorate %pushed 1 Offset 8
    OpMemberDecorate %pushed 2 Offset 16
"""
BUFFER, LEAF, OPEN = 1900, 1901, 1903


def reached(body: str, specialization: dict[int, int] | None = None, more: str = "") -> Reach:
    """Of a shader that has %i, the invocation, and variables %x and %y."""
    text = compute(
        f"""
        %entry = OpLabel
        %x = OpVariable %to_local Function
        %y = OpVariable %to_local Function
        %both = OpVariable %to_pair Function
        %at = OpAccessChain %to_part %id %u0
        %i = OpLoad %uint %at
        {body}
        OpReturn
        OpFunctionEnd
        {more}
        """.removesuffix("\n"),
        declarations=_TYPES,
        head="OpCapability PhysicalStorageBufferAddresses\nOpCapability Int64",
        modes=_MODES,
    )
    text = text.replace("Logical GLSL450", "PhysicalStorageBuffer64 GLSL450")
    words = load(assemble(text.rstrip().removesuffix("OpFunctionEnd")))
    return reach(words, parse(words).entries[0].function, BUILTINS, specialization or {})


def word(index: str) -> str:
    """The buffer's word at `index` is written."""
    return f"%word = OpAccessChain %to_word %1900 %one {index}\nOpStore %word %u1\n"


# ── Arrays without a length ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("body", "elements"),
    [
        (word("%i"), 640),
        (word("%u100"), 101),
        ("%a = OpIMul %uint %i %u16\n%b = OpIAdd %uint %a %u15\n" + word("%b"), 639 * 16 + 16),
        ("%a = OpShiftLeftLogical %uint %i %u3\n" + word("%a"), 639 * 8 + 1),
        ("%a = OpShiftRightLogical %uint %i %u3\n" + word("%a"), 80),
        ("%a = OpUMod %uint %i %u100\n" + word("%a"), 100),
        ("%a = OpBitwiseAnd %uint %i %u15\n" + word("%a"), 16),
        ("%v = OpLoad %uint3 %id\n%a = OpCompositeExtract %uint %v 0\n" + word("%a"), 640),
        ("%v = OpLoad %uint3 %id\n%w = OpVectorShuffle %uint2 %v %v 1 0\n%a = OpCompositeExtract %uint %w 1\n"
         + word("%a"), 640),
        ("%v = OpLoad %uint3 %id\n%a = OpCompositeExtract %uint %v 1\n" + word("%a"), 1),
        ("OpStore %x %u3\nOpStore %y %i\n%a = OpLoad %uint %x\n" + word("%a"), 4),
        ("%c = OpULessThan %bool %i %u16\n%a = OpSelect %uint %c %u3 %u100\n" + word("%a"), 101),
        ("%a = OpIMul %uint %i %size\n" + word("%a"), 639 * 8 + 1),
    ],
)  # fmt: skip
def test_simple_arithmetic(body: str, elements: int) -> None:
    assert reached(body) == Reach(elements={BUFFER: elements})


def test_specialized_constants() -> None:
    assert reached("%a = OpIMul %uint %i %size\n" + word("%a"), {3: 20}).elements == {BUFFER: 639 * 20 + 1}


LOOP = """
    OpStore %x %u0
    OpBranch %head
    %head = OpLabel
    OpLoopMerge %merge %next None
    OpBranch %test
    %test = OpLabel
    %now = OpLoad %uint %x
    %goes = OpULessThan %bool %now {end}
    OpBranchConditional %goes %body %merge
    %body = OpLabel
    %k = OpLoad %uint %x
    {body}
    OpBranch %next
    %next = OpLabel
    %old = OpLoad %uint %x
    %new = OpIAdd %uint %old %u1
    OpStore %x %new
    OpBranch %head
    %merge = OpLabel
"""


def test_a_loop_ends_where_its_condition_does() -> None:
    """100 elements for each of 640; as compilers write it before they optimise."""
    body = "%a = OpIMul %uint %i %u100\n%b = OpIAdd %uint %a %k\n" + word("%b")
    assert reached(LOOP.format(end="%u100", body=body)) == Reach(elements={BUFFER: 64000})
    after = LOOP.format(end="%u100", body="") + "%last = OpLoad %uint %x\n" + word("%last")
    assert reached(after) == Reach(elements={BUFFER: 101})


def test_a_loop_in_registers() -> None:
    loop = f"""
        OpBranch %head
        %head = OpLabel
        %k = OpPhi %uint %u0 %entry %new %next
        %goes = OpULessThan %bool %k %u100
        OpLoopMerge %merge %next None
        OpBranchConditional %goes %next %merge
        %next = OpLabel
        {word("%k")}
        %new = OpIAdd %uint %k %u1
        OpBranch %head
        %merge = OpLabel
    """
    assert reached(loop) == Reach(elements={BUFFER: 100})


def test_a_condition_keeps_from_what_lies_beyond() -> None:
    guarded = f"""
        %c = OpULessThan %bool %i %u16
        OpSelectionMerge %merge None
        OpBranchConditional %c %body %merge
        %body = OpLabel
        {word("%i")}
        OpBranch %merge
        %merge = OpLabel
    """
    assert reached(guarded) == Reach(elements={BUFFER: 16})


def test_a_condition_is_of_one_component_alone() -> None:
    """`if (v.x < 16) word[v.y]`."""
    text = f"""
        %whole = OpLoad %uint3 %id
        %turned = OpVectorShuffle %uint2 %whole %whole 1 0
        OpStore %both %turned
        %vx = OpAccessChain %to_local %both %u0
        %x0 = OpLoad %uint %vx
        %c = OpULessThan %bool %x0 %u16
        OpSelectionMerge %merge None
        OpBranchConditional %c %body %merge
        %body = OpLabel
        %vy = OpAccessChain %to_local %both %u1
        %y0 = OpLoad %uint %vy
        {word("%y0")}
        OpBranch %merge
        %merge = OpLabel
    """
    assert reached(text) == Reach(elements={BUFFER: 640})


def test_a_condition_is_over_where_a_loop_changes_what_it_was_about() -> None:
    """`if (x < 16) do { word[x]; x += i; } while (…)`: the load stands before the store, and comes after it as well."""
    text = f"""
        OpStore %x %u3
        %x0 = OpLoad %uint %x
        %c = OpULessThan %bool %x0 %u16
        OpSelectionMerge %merge None
        OpBranchConditional %c %body %merge
        %body = OpLabel
        OpBranch %head
        %head = OpLabel
        OpLoopMerge %out %next None
        OpBranch %inner
        %inner = OpLabel
        %x1 = OpLoad %uint %x
        {word("%x1")}
        %more = OpIAdd %uint %x1 %i
        OpStore %x %more
        OpBranch %next
        %next = OpLabel
        OpBranchConditional %true %head %out
        %out = OpLabel
        OpBranch %merge
        %merge = OpLabel
    """
    assert reached(text) == Reach(open={BUFFER})


def test_a_condition_is_over_where_a_function_changes_what_it_was_about() -> None:
    body = f"""
        OpStore %x %u3
        %x0 = OpLoad %uint %x
        %c = OpULessThan %bool %x0 %u16
        OpSelectionMerge %merge None
        OpBranchConditional %c %body %merge
        %body = OpLabel
        %called = OpFunctionCall %void %other %x
        %x1 = OpLoad %uint %x
        {word("%x1")}
        OpBranch %merge
        %merge = OpLabel
    """
    other = """
        %other = OpFunction %void None %takes
        %given = OpFunctionParameter %to_local
        %begin = OpLabel
        OpStore %given %u100
        OpReturn
        OpFunctionEnd
    """
    assert reached(body, more=other) == Reach(elements={BUFFER: 101})


def test_a_variable_of_the_module_with_a_value_from_the_start() -> None:
    assert reached("%a = OpLoad %uint %static\n" + word("%a")) == Reach(elements={BUFFER: 101})


def test_what_can_not_be_told() -> None:
    """A number out of memory; a loop that one ends."""
    loaded = "%from = OpAccessChain %to_word %1900 %zero\n%a = OpLoad %uint %from\n"
    assert reached(loaded + word("%a")) == Reach(open={BUFFER})
    assert reached(loaded + LOOP.format(end="%a", body=word("%k"))) == Reach(open={BUFFER})
    assert reached("%a = OpFNegate %float %half\n%b = OpConvertFToU %uint %a\n" + word("%b")) == Reach(open={BUFFER})


def test_what_is_done_in_another_function() -> None:
    """Which gets its argument as compilers hand it over: through a variable."""
    body = "OpStore %x %u100\n%called = OpFunctionCall %void %other %x"
    other = f"""
        %other = OpFunction %void None %takes
        %given = OpFunctionParameter %to_local
        %begin = OpLabel
        %a = OpLoad %uint %given
        {word("%a")}
        OpReturn
        OpFunctionEnd
    """
    assert reached(body, more=other) == Reach(elements={BUFFER: 101})


# ── Pointers ──────────────────────────────────────────────────────────────────────────────────────────────────────

FIRST = "%slot = OpAccessChain %to_first %push %zero\n%p = OpLoad %1901 %slot\n"


def moved(by: str, made: str = "OpConvertUToPtr") -> str:
    """A pointer %q, `by` bytes behind %p, whose third word is written."""
    return f"""
        {FIRST}
        %number = OpConvertPtrToU %long %p
        %sum = OpIAdd %long %number {by}
        %q = {made} %1901 %sum
        %third = OpAccessChain %1902 %q %zero %u3
        OpStore %third %u1 Aligned 4
    """


def test_each_invocation_has_a_pointee_of_its_own() -> None:
    """Of 64 bytes: `p + gl_GlobalInvocationID.x`."""
    wide = "%w = OpUConvert %long %i\n%by = OpIMul %long %w %l64\n"
    assert reached(wide + moved("%by")) == Reach(pointees={LEAF: 640 * 64}, steps={LEAF: 64})
    assert reached(wide + moved("%by", "OpBitcast")) == Reach(pointees={LEAF: 640 * 64}, steps={LEAF: 64})


def test_a_pointer_that_is_followed_where_it_points_to() -> None:
    """The word of index 3 ends at byte 16; no index leads beyond the 16 words of the array."""
    third = "%third = OpAccessChain %1902 %p %zero %u3\nOpStore %third %u1 Aligned 4"
    assert reached(FIRST + third) == Reach(pointees={LEAF: 16})
    assert reached(FIRST + third.replace("%u3", "%i")) == Reach(pointees={LEAF: 64})


def test_an_array_without_a_length_behind_a_pointer() -> None:
    second = "%slot = OpAccessChain %to_second %push %one\n%p = OpLoad %1903 %slot\n"
    text = "%a = OpIMul %uint %i %u16\n" + second + "%e = OpAccessChain %1902 %p %zero %a\nOpStore %e %u1 Aligned 4"
    assert reached(text) == Reach(pointees={OPEN: (639 * 16 + 1) * 4})
    loaded = "%from = OpAccessChain %to_word %1900 %zero\n%a = OpLoad %uint %from\n"
    text = loaded + second + "%e = OpAccessChain %1902 %p %zero %a\nOpStore %e %u1 Aligned 4"
    assert reached(text) == Reach(pointees={OPEN: 4}, open={OPEN})


def test_what_is_added_to_a_pointer_and_can_not_be_told() -> None:
    loaded = "%from = OpAccessChain %to_third %push %two\n%by = OpLoad %long %from\n"
    assert reached(loaded + moved("%by")).adrift
    wide = "%w = OpUConvert %long %i\n%back = OpISub %long %l0 %w\n"
    assert reached(wide + moved("%back")).adrift


def test_a_pointer_in_a_loop_of_unknown_length() -> None:
    """Each round adds to what the one before left."""
    text = f"""
        {FIRST}
        OpBranch %head
        %head = OpLabel
        %q = OpPhi %1901 %p %entry %r %next
        OpLoopMerge %merge %next None
        OpBranchConditional %true %next %merge
        %next = OpLabel
        %number = OpConvertPtrToU %long %q
        %sum = OpIAdd %long %number %l64
        %r = OpConvertUToPtr %1901 %sum
        OpBranch %head
        %merge = OpLabel
    """
    assert reached(text).adrift


def test_addresses_made_of_numbers() -> None:
    """Of one out of memory, which nobody can know; the null pointer is one that all know."""
    loaded = "%from = OpAccessChain %to_third %push %two\n%number = OpLoad %long %from\n"
    assert reached(loaded + "%q = OpConvertUToPtr %1901 %number").foreign
    assert not reached("%q = OpConvertUToPtr %1901 %l0").foreign


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


def test_samples(samples: Path) -> None:
    """sort: each invocation has 256 numbers of its own. tuned reads seven beyond its own, at most."""
    for name, elements in (("sort", {640 * 256}), ("reduce", {640, 10}), ("classify", {640})):
        words = load((samples / f"{name}.comp.spv").read_bytes())
        found = reach(words, parse(words).entries[0].function, BUILTINS, {})
        assert set(found.elements.values()) == elements and not found.open
