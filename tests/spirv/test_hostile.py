"""Whatever the words say: an answer or one of our own errors, in bounded time and memory."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaderstat.errors import InvalidSpirv, Unsupported
from shaderstat.spirv.reflect import reflect
from shaderstat.spirv.scan import scan
from shaderstat.spirv.words import load
from tests.spirv.asm import assemble, module

HEADER = struct.pack("<5I", 0x07230203, 0x10600, 0, 100, 0)

GOOD = module(
    """
    %n = OpSpecConstant %uint 4
    %twice = OpSpecConstantOp %uint IAdd %n %n
    %v4 = OpTypeVector %float 4
    %array = OpTypeArray %v4 %twice
    %block = OpTypeStruct %array %uint
    %uniform = OpTypePointer Uniform %block
    %u = OpVariable %uniform Uniform
    %image = OpTypeImage %float 2D 0 0 0 1 Unknown
    %both = OpTypeSampledImage %image
    %open = OpTypeRuntimeArray %both
    %textures = OpTypePointer UniformConstant %open
    %t = OpVariable %textures UniformConstant
    %out = OpTypePointer Output %v4
    %in = OpTypePointer Input %array
    %colour = OpVariable %out Output
    %inputs = OpVariable %in Input
    """,
    stage="Fragment",
    interface="%colour %inputs",
    annotations="""
    OpName %u "uniforms"
    OpMemberName %block 0 "values"
    OpDecorate %n SpecId 3
    OpDecorate %block Block
    OpMemberDecorate %block 0 Offset 0
    OpMemberDecorate %block 1 Offset 128
    OpDecorate %array ArrayStride 16
    OpDecorate %u DescriptorSet 0
    OpDecorate %u Binding 1
    OpDecorate %t DescriptorSet 1
    OpDecorate %t Binding 0
    OpDecorate %colour Location 0
    OpDecorate %inputs Location 2
    """,
    body="%1 = OpLoad %block %u\n%2 = OpCopyObject %textures %t\n%3 = OpFunctionCall %void %helper",
    functions="""
    %helper = OpFunction %void None %void_function
    %helper_label = OpLabel
    OpReturn
    OpFunctionEnd
    """,
)


def look(data: bytes) -> None:
    """Scan and reflect `data`: only our own errors may come out, with a code and a place inside the file."""
    for attempt in (scan, lambda each: reflect(load(each)), lambda each: reflect(load(each), {3: 2})):
        try_one(attempt, data)


def try_one(attempt: Callable[[bytes], object], data: bytes) -> None:
    try:
        attempt(data)
    except InvalidSpirv as error:
        assert error.code.startswith(("spirv/", "limit/"))
        assert error.offset is None or 0 <= error.offset <= len(data)
    except Unsupported as error:
        assert error.code.startswith("spirv/")


def instructions() -> st.SearchStrategy[list[int]]:
    """An instruction whose word count is right, of an opcode that matters here, or of any."""
    opcodes = st.sampled_from(
        [5, 6, 15, 16, 17, 19, 21, 22, 23, 28, 29, 30, 32, 43, 44, 51, 52, 54, 56, 59, 71, 72, 74]
    )
    words = st.one_of(st.integers(0, 12), st.integers(0, 99), st.integers(0, 2**32 - 1))
    return st.builds(
        lambda opcode, operands: [len(operands) + 1 << 16 | opcode, *operands],
        st.one_of(opcodes, st.integers(0, 0xFFFF)),
        st.lists(words, max_size=6),
    )


@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    look(data)


@given(st.binary(max_size=400))
def test_any_words_after_a_header(data: bytes) -> None:
    look(HEADER + data[: len(data) // 4 * 4])


@given(st.lists(instructions(), max_size=40))
def test_any_instructions_after_a_header(code: list[list[int]]) -> None:
    words = [word for each in code for word in each]
    look(HEADER + struct.pack(f"<{len(words)}I", *words))


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A good module with words changed, swapped, left out or cut off."""
    words = list(struct.unpack(f"<{len(GOOD) // 4}I", GOOD))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(words) - 1))
        action = draw(st.sampled_from(["set", "flip", "copy", "drop", "cut"]))
        if action == "set":
            words[at] = draw(st.one_of(st.integers(0, 60), st.sampled_from([2**31, 2**32 - 1])))
        elif action == "flip":
            words[at] ^= 1 << draw(st.integers(0, 31))
        elif action == "copy":
            words[at] = words[draw(st.integers(0, len(words) - 1))]
        elif action == "drop" and len(words) > 6:
            del words[at]
        elif action == "cut":
            del words[max(at, 5) :]
    return struct.pack(f"<{len(words)}I", *words)


@given(mutated())
def test_a_good_module_gone_bad(data: bytes) -> None:
    look(data)


def test_the_good_module_is_good() -> None:
    (entry,) = reflect(load(GOOD)).entries
    assert [(each.set, each.binding, each.count) for each in entry.bindings] == [(0, 1, 1), (1, 0, "runtime")]
    assert len(entry.inputs) == 8


def test_every_cut_of_it_is_refused() -> None:
    for end in range(len(GOOD)):
        with pytest.raises(InvalidSpirv):
            reflect(load(GOOD[:end]))


def library(count: int, *, own: bool) -> bytes:
    """`count` entry points that all use `count` variables, and each one more of its `own`."""
    each_one = range(count)
    lines = ["OpCapability Shader", "OpMemoryModel Logical GLSL450"]
    lines += [f'OpEntryPoint Vertex %f{each} "{each}"' for each in each_one]
    lines += ["%void = OpTypeVoid", "%type = OpTypeFunction %void", "%float = OpTypeFloat 32"]
    lines += ["%block = OpTypeStruct %float", "%p = OpTypePointer Uniform %block"]
    lines += [f"%v{each} = OpVariable %p Uniform\n%own{each} = OpVariable %p Uniform" for each in each_one]
    for each in each_one:
        lines += [f"%f{each} = OpFunction %void None %type", f"%label{each} = OpLabel"]
        lines += [f"%x{each} = OpCopyObject %p %own{each}"] if own else []
        lines += [f"%call{each} = OpFunctionCall %void %all", "OpReturn", "OpFunctionEnd"]
    lines += ["%all = OpFunction %void None %type", "%label = OpLabel"]
    lines += [f"%use{each} = OpCopyObject %p %v{each}" for each in each_one]
    lines += ["OpReturn", "OpFunctionEnd"]
    return assemble("\n".join(lines))


def test_entry_points_that_use_the_same_share_it() -> None:
    entries = reflect(load(library(500, own=False))).entries
    assert len(entries) == 500 and entries[0].bindings is entries[-1].bindings


def test_many_entry_points_that_use_many_variables_each_are_refused() -> None:
    with pytest.raises(InvalidSpirv) as caught:
        reflect(load(library(500, own=True)))
    assert caught.value.code == "limit/entry-points"


def test_an_interface_that_lists_one_id_many_times() -> None:
    data = assemble(
        f"""
        OpCapability Shader
        OpMemoryModel Logical GLSL450
        OpEntryPoint Vertex %main "main" {"%v " * 20000}
        OpDecorate %v Location 1
        %void = OpTypeVoid
        %type = OpTypeFunction %void
        %float = OpTypeFloat 32
        %p = OpTypePointer Input %float
        %v = OpVariable %p Input
        %main = OpFunction %void None %type
        %label = OpLabel
        OpReturn
        OpFunctionEnd
        """
    )
    assert [each.location for each in reflect(load(data)).entries[0].inputs] == [1]
