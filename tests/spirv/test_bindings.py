"""Descriptors and push constants (Vulkan specification, "Shader Resource and Descriptor Type Correspondence")."""

from __future__ import annotations

import pytest

from shaderstat.spirv.facts import Binding, EntryPoint, PushConstants
from shaderstat.spirv.reflect import reflect
from shaderstat.spirv.words import load
from tests.spirv.asm import module

TYPES = """
    %two = OpConstant %uint 2
    %three = OpConstant %uint 3
    %block = OpTypeStruct %uint
    %sampler = OpTypeSampler
    %texture = OpTypeImage %float 2D 0 0 0 1 Unknown
    %storage = OpTypeImage %float 2D 0 0 0 2 Rgba8
    %texels = OpTypeImage %float Buffer 0 0 0 1 Unknown
    %storage_texels = OpTypeImage %float Buffer 0 0 0 2 R32f
    %subpass = OpTypeImage %float SubpassData 0 0 1 2 Unknown
    %combined = OpTypeSampledImage %texture
    %combined_texels = OpTypeSampledImage %texels
    %scene = OpTypeAccelerationStructureKHR
"""


def entry(variables: str, annotations: str = "", types: str = "", used: str | None = None) -> EntryPoint:
    """A compute shader that refers to `variables`: "name storage type set binding; …"."""
    rows = [row.split() for row in variables.split(";")]
    declared, decorated, body = "", annotations, ""
    for number, (name, storage, type, set, binding) in enumerate(rows):
        declared += f"%p{number} = OpTypePointer {storage} {type}\n%{name} = OpVariable %p{number} {storage}\n"
        decorated += f'\nOpName %{name} "{name}"'
        if set != "-":
            decorated += f"\nOpDecorate %{name} DescriptorSet {set}\nOpDecorate %{name} Binding {binding}"
        if used is None or name in used.split():
            body += f"%use{number} = OpCopyObject %p{number} %{name}\n"
    return reflect(load(module(TYPES + types + declared, annotations=decorated, body=body))).entries[0]


@pytest.mark.parametrize(
    ("storage", "type", "expected"),
    [
        ("UniformConstant", "%sampler", "SAMPLER"),
        ("UniformConstant", "%texture", "SAMPLED_IMAGE"),
        ("UniformConstant", "%storage", "STORAGE_IMAGE"),
        ("UniformConstant", "%texels", "UNIFORM_TEXEL_BUFFER"),
        ("UniformConstant", "%storage_texels", "STORAGE_TEXEL_BUFFER"),
        ("UniformConstant", "%combined", "COMBINED_IMAGE_SAMPLER"),
        ("UniformConstant", "%combined_texels", "UNIFORM_TEXEL_BUFFER"),
        ("UniformConstant", "%subpass", "INPUT_ATTACHMENT"),
        ("UniformConstant", "%scene", "ACCELERATION_STRUCTURE_KHR"),
        ("Uniform", "%block", "UNIFORM_BUFFER"),
        ("StorageBuffer", "%block", "STORAGE_BUFFER"),
    ],
)
def test_descriptor_types(storage: str, type: str, expected: str) -> None:
    (found,) = entry(f"v {storage} {type} 2 5").bindings
    assert (found.set, found.binding, found.type, found.count, found.name) == (2, 5, expected, 1, "v")


def test_a_buffer_block_is_a_storage_buffer() -> None:
    """SPIR-V before 1.3, and DXC's RWStructuredBuffer."""
    (found,) = entry("v Uniform %block 0 0", "OpDecorate %block BufferBlock").bindings
    assert found.type == "STORAGE_BUFFER"


@pytest.mark.parametrize(
    "variable",
    [
        "v Private %block - -",
        "v Workgroup %block - -",
        "v ShaderRecordBufferKHR %block - -",
        "v PushConstant %block - -",
    ],
)
def test_other_storage_classes_are_no_descriptors(variable: str) -> None:
    assert entry(variable).bindings == ()


def test_images_that_qualcomms_extension_decorates() -> None:
    """VK_QCOM_image_processing: such images have descriptor types of their own."""
    found = entry(
        "a UniformConstant %texture 0 0; b UniformConstant %texture 0 1",
        "OpDecorate %a WeightTextureQCOM\nOpDecorate %b BlockMatchTextureQCOM",
    ).bindings
    assert [each.type for each in found] == ["SAMPLE_WEIGHT_IMAGE_QCOM", "BLOCK_MATCH_IMAGE_QCOM"]


def test_tensors() -> None:
    types = "%tensor = OpTypeTensorARM %float %two\n"
    assert entry("v UniformConstant %tensor 0 0", types=types).bindings[0].type == "TENSOR_ARM"


def test_an_open_alias_is_open() -> None:
    types = "%open = OpTypeRuntimeArray %block\n%three_of_them = OpTypeArray %block %three\n"
    found = entry("a StorageBuffer %three_of_them 0 0; b StorageBuffer %open 0 0", types=types).bindings
    assert [each.count for each in found] == ["runtime"]


def test_untyped_variables_have_the_type_that_they_name() -> None:
    data = module(
        TYPES + "%p = OpTypeUntypedPointerKHR StorageBuffer\n%v = OpUntypedVariableKHR %p StorageBuffer %block",
        annotations="OpDecorate %v DescriptorSet 0\nOpDecorate %v Binding 3",
        body="%1 = OpUntypedAccessChainKHR %p %block %v %two",
    )
    assert [(each.binding, each.type) for each in reflect(load(data)).entries[0].bindings] == [(3, "STORAGE_BUFFER")]


def test_counts_are_the_product_of_all_dimensions() -> None:
    types = """
    %array = OpTypeArray %texture %three
    %arrays = OpTypeArray %array %two
    %open = OpTypeRuntimeArray %texture
    %open_arrays = OpTypeRuntimeArray %array
    """
    found = entry(
        "a UniformConstant %array 0 0; b UniformConstant %arrays 0 1; "
        "c UniformConstant %open 0 2; d UniformConstant %open_arrays 0 3",
        types=types,
    )
    assert [each.count for each in found.bindings] == [3, 6, "runtime", "runtime"]


def test_arrays_inside_a_block_are_data() -> None:
    types = "%data = OpTypeRuntimeArray %uint\n%buffer = OpTypeStruct %data\n"
    assert entry("v StorageBuffer %buffer 0 0", types=types).bindings[0].count == 1


def test_bindings_come_in_order_and_only_those_in_use() -> None:
    found = entry("a Uniform %block 7 63; b Uniform %block 0 5; c Uniform %block 0 1", used="a b")
    assert [(each.set, each.binding) for each in found.bindings] == [(0, 5), (7, 63)]


def test_an_image_and_a_sampler_at_one_place_are_a_combined_one() -> None:
    found = entry("a UniformConstant %texture 2 3; b UniformConstant %sampler 2 3").bindings
    assert found == (Binding(2, 3, "COMBINED_IMAGE_SAMPLER", 1, "a"),)


def test_aliases_take_the_greatest_count() -> None:
    types = "%array = OpTypeArray %block %three\n"
    found = entry("a Uniform %block 0 0; b Uniform %array 0 0", types=types).bindings
    assert [(each.type, each.count) for each in found] == [("UNIFORM_BUFFER", 3)]


def test_other_types_at_one_place_need_mutable_descriptors() -> None:
    (found,) = entry(
        "a UniformConstant %texture 0 0; b UniformConstant %texels 0 0; c StorageBuffer %block 0 0"
    ).bindings
    assert found.type == "MUTABLE_EXT"
    assert found.alternatives == ("SAMPLED_IMAGE", "STORAGE_BUFFER", "UNIFORM_TEXEL_BUFFER")


def test_read_only_by_variable_or_by_every_member() -> None:
    types = "%pair = OpTypeStruct %uint %uint\n"
    half = "OpMemberDecorate %pair 0 NonWritable"
    assert not entry("v StorageBuffer %pair 0 0", half, types).bindings[0].readonly
    both = half + "\nOpMemberDecorate %pair 1 NonWritable"
    assert entry("v StorageBuffer %pair 0 0", both, types).bindings[0].readonly
    assert entry("v StorageBuffer %pair 0 0", "OpDecorate %v NonWritable", types).bindings[0].readonly


def test_input_attachments_take_consecutive_indices() -> None:
    types = "%three_of_them = OpTypeArray %subpass %three\n"
    found = entry(
        "a UniformConstant %subpass 0 0; b UniformConstant %three_of_them 0 1; c UniformConstant %subpass 0 2",
        "OpDecorate %a InputAttachmentIndex 0\nOpDecorate %b InputAttachmentIndex 4",
        types,
    )
    assert found.input_attachment_indices == (0, 4, 5, 6)
    assert [each.input_attachment_index for each in found.bindings] == [0, 4, None]
    assert found.bindings[0].multisampled


def test_a_block_without_a_name_has_its_types() -> None:
    data = module(
        TYPES + "%p = OpTypePointer Uniform %block\n%v = OpVariable %p Uniform",
        annotations='OpName %block "Scene"\nOpName %v ""',
        body="%x = OpCopyObject %p %v",
    )
    assert reflect(load(data)).entries[0].bindings[0].name == "Scene"


def test_push_constants_are_the_smallest_range_of_words() -> None:
    types = "%v3 = OpTypeVector %float 3\n%half = OpTypeFloat 16\n%push = OpTypeStruct %v3 %half\n"
    offsets = "OpMemberDecorate %push 0 Offset 16\nOpMemberDecorate %push 1 Offset 28"
    assert entry("v PushConstant %push - -", offsets, types).push_constants == PushConstants(16, 16)


def test_pointers_in_push_constants_are_eight_bytes() -> None:
    types = """
    OpTypeForwardPointer %pointer PhysicalStorageBuffer
    %pointers = OpTypeArray %pointer %three
    %push = OpTypeStruct %uint %pointers
    %pointer = OpTypePointer PhysicalStorageBuffer %push
    """
    offsets = """
    OpMemberDecorate %push 0 Offset 0
    OpMemberDecorate %push 1 Offset 8
    OpDecorate %pointers ArrayStride 16
    """
    assert entry("v PushConstant %push - -", offsets, types).push_constants == PushConstants(0, 48)


def test_an_offset_at_the_end_of_32_bits_does_not_wrap() -> None:
    offsets = "OpMemberDecorate %block 0 Offset 0xFFFFFFF0"
    assert entry("v PushConstant %block - -", offsets).push_constants == PushConstants(0xFFFFFFF0, 4)


def test_of_two_push_constant_blocks_the_used_one_counts() -> None:
    types = "%large = OpTypeStruct %uint %uint\n"
    offsets = "\n".join(
        f"OpMemberDecorate %{of} Offset {at}" for of, at in (("block 0", 0), ("large 0", 0), ("large 1", 60))
    )
    found = entry("a PushConstant %block - -; b PushConstant %large - -", offsets, types, used="a")
    assert found.push_constants == PushConstants(0, 4)
    assert entry("a PushConstant %block - -", used="").push_constants is None
