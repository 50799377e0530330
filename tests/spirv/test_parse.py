"""The word stream: shapes, functions, decorations, and what is said of broken ones."""

from __future__ import annotations

import pytest

from shaderstat.errors import InvalidSpirv
from shaderstat.spirv.module import Module
from shaderstat.spirv.parse import parse
from shaderstat.spirv.words import load
from tests.spirv.asm import assemble, module


def read(data: bytes) -> Module:
    return parse(load(data))


def code_of(data: bytes) -> str:
    with pytest.raises(InvalidSpirv) as caught:
        read(data)
    assert caught.value.offset is not None and 0 < caught.value.offset <= len(data)
    return caught.value.code


BUFFERS = """
    %block = OpTypeStruct %uint
    %pointer = OpTypePointer Uniform %block
    %uint_pointer = OpTypePointer Uniform %uint
    %zero = OpConstant %uint 0
    %a = OpVariable %pointer Uniform
    %b = OpVariable %pointer Uniform
    %c = OpVariable %pointer Uniform
"""


def used(body: str, declarations: str = BUFFERS, functions: str = "", names: str = "a b c") -> set[str]:
    data = module(
        declarations,
        body=body,
        functions=functions,
        annotations="\n".join(f'OpName %{name} "{name}"' for name in names.split()),
    )
    found = read(data)
    main = found.functions[found.entries[0].function]
    return {found.name(id) for id in main.uses}


@pytest.mark.parametrize(
    "body",
    [
        "%1 = OpAccessChain %uint_pointer %a %zero",
        "%1 = OpInBoundsAccessChain %uint_pointer %a %zero",
        "%1 = OpAccessChain %pointer %a",  # no index
        "%1 = OpLoad %block %a",
        "%1 = OpCopyObject %pointer %a",
        "OpCopyMemory %a %other",
        "%1 = OpArrayLength %uint %a 0",
        "%1 = OpAtomicIAdd %uint %a %zero %zero %zero",
        "%1 = OpImageTexelPointer %uint_pointer %a %zero %zero",
        "%1 = OpExtInst %uint %set 35 %other %a",  # modf
        "%1 = OpSelect %pointer %other %a %other",
        "%1 = OpPtrAccessChain %uint_pointer %a %zero %zero",
        "%1 = OpFunctionCall %void %main %a",
        "OpReturnValue %a",
    ],
)
def test_every_reference_to_a_variable_counts(body: str) -> None:
    assert used(body) == {"a"}


def test_literals_are_no_references() -> None:
    # The ids of a, b and c are small numbers; none of these words is an id.
    literals = "\n".join(f"%x{each} = OpCompositeExtract %uint %other {each}" for each in range(40))
    assert used(literals + "\nOpLine %main 7 8") == set()


def test_both_operands_of_a_store() -> None:
    assert used("OpStore %a %b") == {"a", "b"}


def test_calls_are_kept_for_the_call_graph() -> None:
    data = module(
        body="%1 = OpFunctionCall %void %helper",
        functions="""
        %helper = OpFunction %void None %void_function
        %helper_label = OpLabel
        OpReturn
        OpFunctionEnd
        """,
    )
    found = read(data)
    main = found.functions[found.entries[0].function]
    assert list(main.calls) == [id for id in found.functions if id != main.id]
    assert main.has_body


def test_decorations_of_groups_reach_ids_and_members() -> None:
    data = module(
        """
        %block = OpTypeStruct %uint %uint
        %pointer = OpTypePointer Uniform %block
        %a = OpVariable %pointer Uniform
        """,
        annotations="""
        OpName %a "a"
        OpName %block "block"
        OpDecorate %group DescriptorSet 3
        OpDecorate %group NonWritable
        %group = OpDecorationGroup
        OpDecorate %a Binding 4
        OpGroupDecorate %group %a
        OpGroupMemberDecorate %group %block 1
        """,
    )
    found = read(data)
    ids = {found.name(id): id for id in found.names}
    assert found.decorations[ids["a"]] == {33: (4,), 34: (3,), 24: ()}
    assert found.member_decorations[ids["block"]] == {1: {34: (3,), 24: ()}}


def test_unknown_instructions_are_skipped_and_recorded() -> None:
    data = assemble("OpCapability Shader", extra=[3 << 16 | 60000, 1, 2, 1 << 16 | 60001])
    assert list(read(data).unknown_opcodes) == [60000, 60001]


def test_a_module_says_when_it_is_newer_than_the_tables() -> None:
    assert not read(assemble("OpCapability Shader")).newer
    assert read(assemble("OpCapability 60000")).newer
    assert read(assemble('OpCapability Shader\nOpExtension "SPV_KHR_tomorrow"')).newer


def test_names_that_are_no_utf8() -> None:
    data = bytearray(module(annotations='OpName %main "ab"'))
    at = bytes(data).index(b"ab\0\0")
    data[at : at + 2] = b"\xff\xfe"
    found = read(bytes(data))
    assert found.name(found.entries[0].function) == "��"


def test_the_same_words_in_the_other_byte_order() -> None:
    data = module()
    swapped = b"".join(data[at : at + 4][::-1] for at in range(0, len(data), 4))
    assert read(swapped).entries == read(data).entries


@pytest.mark.parametrize(
    ("extra", "code"),
    [
        ([0], "spirv/zero-word-count"),
        ([64 << 16 | 56], "spirv/truncated"),
        ([0x07230203] + [0] * 4, "spirv/two-modules"),
        ([2 << 16 | 5, 1], "spirv/short-instruction"),
        ([3 << 16 | 71, 1, 33], "spirv/short-instruction"),  # OpDecorate Binding without a number
        ([4 << 16 | 72, 1, 0, 35], "spirv/short-instruction"),  # OpMemberDecorate Offset likewise
        ([5 << 16 | 0, 1, 2, 3, 4], "spirv/long-instruction"),  # OpNop has no operand
        ([3 << 16 | 19, 60, 61], "spirv/long-instruction"),
        ([4 << 16 | 14, 0, 1, 2], "spirv/long-instruction"),
        ([3 << 16 | 5, 1, 0x61616161], "spirv/string"),
        ([3 << 16 | 7, 60, 0x61616161], "spirv/string"),
        ([2 << 16 | 19, 0], "spirv/id-out-of-bounds"),
        ([2 << 16 | 19, 64], "spirv/id-out-of-bounds"),
        ([2 << 16 | 19, 60, 2 << 16 | 20, 60], "spirv/duplicate-id"),
        ([5 << 16 | 54, 1, 60, 0, 2], "spirv/truncated"),  # a function without its end
        ([5 << 16 | 54, 1, 60, 0, 2, 5 << 16 | 54, 1, 61, 0, 2], "spirv/nested-function"),
        ([5 << 16 | 54, 1, 60, 0, 2, 4 << 16 | 57, 1, 61, 62, 1 << 16 | 56], "spirv/undefined-id"),
    ],
)
def test_broken_streams_are_told_apart(extra: list[int], code: str) -> None:
    assert code_of(assemble("OpCapability Shader", extra=extra)) == code


def test_more_words_than_are_known_are_let_be_in_a_newer_module() -> None:
    longer = [5 << 16 | 54, 1, 60, 0, 2, 2 << 16 | 248, 61, 2 << 16 | 253, 0, 1 << 16 | 56]
    assert code_of(assemble("OpCapability Shader", extra=longer)) == "spirv/long-instruction"
    read(assemble("OpCapability Shader", extra=longer, version=(1, 7)))
    read(assemble("OpCapability 65000", extra=longer))
    read(assemble('OpCapability Shader\nOpExtension "SPV_OF_TOMORROW"', extra=longer))


def test_the_declarations_can_be_had_alone() -> None:
    data = assemble("OpCapability Shader\n%a = OpTypeVoid", extra=[5 << 16 | 54, 1, 60, 0, 2, 0])
    found = parse(load(data), functions=False)
    assert (len(found.declarations), found.functions) == (1, {})
    assert code_of(data) == "spirv/zero-word-count"


def test_an_entry_point_has_a_function_with_a_body() -> None:
    head = 'OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main "main"\n'
    assert code_of(assemble(head)) == "spirv/undefined-id"
    declared = head + "%void = OpTypeVoid\n%type = OpTypeFunction %void\n%main = OpFunction %void None %type\n"
    assert code_of(assemble(declared + "OpFunctionEnd")) == "spirv/no-body"


def test_a_group_does_not_decorate_a_group() -> None:
    data = assemble(
        """
        OpCapability Shader
        %a = OpDecorationGroup
        %b = OpDecorationGroup
        OpGroupDecorate %a %b
        OpGroupDecorate %b %a
        """
    )
    assert code_of(data) == "spirv/decoration-group"


def test_decoration_groups_do_not_explode() -> None:
    decorations = [word for each in range(3000) for word in (3 << 16 | 71, 1, 1000 + each)]
    group = [2 << 16 | 73, 1]
    apply = [2002 << 16 | 74, 1, *[5 for _ in range(2000)]]
    assert code_of(assemble("OpCapability Shader", extra=decorations + group + apply)) == "limit/decorations"


def test_an_entry_point_is_called_by_its_own_name_or_not_at_all() -> None:
    """What a driver is given must be what the module says, so that no byte of it may be replaced."""
    renamed = module("", annotations='OpName %void "main"').replace(b"main\0\0\0\0", b"m\xe9in\0\0\0\0", 1)
    assert code_of(renamed) == "spirv/string-encoding"


def test_names_for_people_may_be_in_any_encoding() -> None:
    found = read(module("", annotations='OpName %void "caf!"').replace(b"caf!", b"caf\xe9", 1))
    assert found.name(next(iter(found.names))) == "caf\ufffd"


def test_a_module_that_was_read_last_is_not_read_again() -> None:
    """By its words, wherever they came from; and not for ever."""
    data = module(BUFFERS)
    first = read(data)
    assert read(bytes(bytearray(data))) is first
    other = read(module(BUFFERS, annotations='OpName %a "another"'))
    assert other is not first and len(other.names) == 1
    assert parse(load(data), functions=False).functions == {}
    for number in range(50):
        read(module(annotations=f'OpName %uint "{number}"'))
    assert read(data) is not first
