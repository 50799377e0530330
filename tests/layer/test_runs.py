"""What shaders read in a run and what they write, on lavapipe, which executes what it is given. The validation layer
looks at every run. Each shader takes a number for each invocation out of one kind of resource; what it must be follows
from the fill and from the rules of the specification."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.assembly import assemble, compute
from tests.conftest import Run, watch
from tests.layer.conftest import VALIDATION, rules

pytestmark = pytest.mark.layer

INVOCATIONS = 8

_DECLARATIONS = """
    %uint = OpTypeInt 32 0
    %uint4 = OpTypeVector %uint 4
    %three = OpTypeVector %uint 3
    %int2 = OpTypeVector %int 2
    %int3 = OpTypeVector %int 3
    %float2 = OpTypeVector %float 2
    %float3 = OpTypeVector %float 3
    %n0 = OpConstant %uint 0
    %n1 = OpConstant %uint 1
    %n2 = OpConstant %uint 2
    %n3 = OpConstant %uint 3
    %two = OpConstant %int 2
    %i3 = OpConstant %int 3
    %nil = OpConstant %float 0
    %minus = OpConstant %float -1
    %eighth = OpConstant %float 0.125
    %colours = OpConstant %float 255
    %words = OpTypeRuntimeArray %uint
    %block = OpTypeStruct %words
    %to_block = OpTypePointer StorageBuffer %block
    %to_word = OpTypePointer StorageBuffer %uint
    %to_three = OpTypePointer Input %three
    %to_uint = OpTypePointer Input %uint
    %result = OpVariable %to_block StorageBuffer
    %id = OpVariable %to_three Input
"""
_MODES = """
    OpDecorate %words ArrayStride 4
    OpDecorate %block Block
    OpMemberDecorate %block 0 Offset 0
    OpDecorate %result DescriptorSet 0
    OpDecorate %result Binding 0
    OpDecorate %id BuiltIn GlobalInvocationId
"""


def kernel(body: str, declarations: str = "", modes: str = "", head: str = "", interface: str = "") -> str:
    """result[i] = %value, which `body` makes of %i, or of %k (the same, signed)."""
    text = compute(
        f"""
        %entry = OpLabel
        %place = OpAccessChain %to_uint %id %n0
        %i = OpLoad %uint %place
        %k = OpBitcast %int %i
        {body}
        %word = OpAccessChain %to_word %result %n0 %i
        OpStore %word %value
        OpReturn
        """,
        declarations=_DECLARATIONS + declarations,
        modes=_MODES + modes,
        head=head,
        size=f"{INVOCATIONS} 1 1",
    )
    return text.replace('%main "main"', f'%main "main" %id %result {interface}')


def bound(type: str, storage: str = "UniformConstant", binding: int = 1) -> tuple[str, str]:
    """(declarations, decorations) of a variable %it of that type at (0, `binding`)."""
    return (
        f"%to_it = OpTypePointer {storage} {type}\n%it = OpVariable %to_it {storage}\n",
        f"OpDecorate %it DescriptorSet 0\nOpDecorate %it Binding {binding}\n",
    )


def of_image(image: str, body: str, head: str = "", more: str = "") -> str:
    """A kernel over ``OpTypeImage`` `image`, loaded as %image."""
    declarations, modes = bound("%image_type")
    return kernel(
        f"%image = OpLoad %image_type %it\n{body}",
        f"%image_type = OpTypeImage {image}\n{more}{declarations}",
        modes,
        head,
        "%it",
    )


def fetched(coordinate: str, operands: str = "Lod %zero", component: int = 0) -> str:
    return f"""
        {coordinate}
        %texel = OpImageFetch %uint4 %image %at {operands}
        %value = OpCompositeExtract %uint %texel {component}
    """


def sampled(coordinate: str, dimension: str) -> str:
    """A kernel over a combined image sampler; the red component as a byte."""
    declarations, modes = bound("%pair_type")
    types = (
        f"%image_type = OpTypeImage %float {dimension} 0 0 0 1 Unknown\n%pair_type = OpTypeSampledImage %image_type\n"
    )
    return kernel(
        f"""
        %pair = OpLoad %pair_type %it
        {coordinate}
        %colour = OpImageSampleExplicitLod %vec4 %pair %at Lod %nil
        %red = OpCompositeExtract %float %colour 0
        %scaled = OpFMul %float %red %colours
        %rounded = OpFAdd %float %scaled %half
        %value = OpConvertFToU %uint %rounded
        """,
        types + declarations,
        modes,
        interface="%it",
    )


# Along a row of eight texels, through the middle of each.
_ACROSS = """
    %f = OpConvertUToF %float %i
    %middle = OpFAdd %float %f %half
    %u = OpFMul %float %middle %eighth
    %at = OpCompositeConstruct %float2 %u %half
"""


def uniform_block() -> str:
    declarations, modes = bound("%uniform", "Uniform")
    types = """
        %n8 = OpConstant %uint 8
        %padded = OpTypeArray %uint %n8
        %uniform = OpTypeStruct %padded
        %to_uniform = OpTypePointer Uniform %uint
    """
    layout = "OpDecorate %padded ArrayStride 16\nOpDecorate %uniform Block\nOpMemberDecorate %uniform 0 Offset 0\n"
    body = "%from = OpAccessChain %to_uniform %it %n0 %i\n%value = OpLoad %uint %from"
    return kernel(body, types + declarations, layout + modes, interface="%it")


def array_of_buffers() -> str:
    declarations, modes = bound("%several", "StorageBuffer")
    body = "%from = OpAccessChain %to_word %it %n1 %n0 %i\n%value = OpLoad %uint %from"
    return kernel(body, f"%several = OpTypeArray %block %n2\n{declarations}", modes, interface="%it")


def push_constants() -> str:
    """The second of two words, plus i."""
    declarations = """
        %pushed = OpTypeStruct %uint %uint
        %to_pushed = OpTypePointer PushConstant %pushed
        %to_push = OpTypePointer PushConstant %uint
        %it = OpVariable %to_pushed PushConstant
    """
    modes = "OpDecorate %pushed Block\nOpMemberDecorate %pushed 0 Offset 0\nOpMemberDecorate %pushed 1 Offset 4\n"
    body = """
        %from = OpAccessChain %to_push %it %n1
        %push = OpLoad %uint %from
        %value = OpIAdd %uint %push %i
    """
    return kernel(body, declarations, modes, interface="%it")


def specialization() -> str:
    body = "%twice = OpIMul %uint %i %n2\n%value = OpIAdd %uint %twice %seed"
    return kernel(body, "%seed = OpSpecConstant %uint 1\n", "OpDecorate %seed SpecId 0\n")


def comparison() -> str:
    """1 where a half is not beyond the texel; image and sampler are two bindings."""
    declarations = """
        %image_type = OpTypeImage %float 2D 2 0 0 1 Unknown
        %sampler_type = OpTypeSampler
        %pair_type = OpTypeSampledImage %image_type
        %to_image = OpTypePointer UniformConstant %image_type
        %to_sampler = OpTypePointer UniformConstant %sampler_type
        %it = OpVariable %to_image UniformConstant
        %how = OpVariable %to_sampler UniformConstant
    """
    modes = """
        OpDecorate %it DescriptorSet 0
        OpDecorate %it Binding 1
        OpDecorate %how DescriptorSet 0
        OpDecorate %how Binding 2
    """
    body = f"""
        %image = OpLoad %image_type %it
        %sampler = OpLoad %sampler_type %how
        %pair = OpSampledImage %pair_type %image %sampler
        {_ACROSS}
        %passed = OpImageSampleDrefExplicitLod %float %pair %at %half Lod %nil
        %value = OpConvertFToU %uint %passed
    """
    return kernel(body, declarations, modes, interface="%it %how")


def moved_pointers() -> str:
    """Each invocation writes the words of a pointee that lies 64 KiB behind that of the one before, and reads what
    another pointer leads to, to which nobody writes."""
    declarations, modes = bound("%nodes", "PushConstant")
    declarations = f"""
        %long = OpTypeInt 64 0
        %apart = OpConstant %long 65536
        %leaf = OpTypeStruct %uint
        %other = OpTypeStruct %uint
        %to_leaf = OpTypePointer PhysicalStorageBuffer %leaf
        %to_other = OpTypePointer PhysicalStorageBuffer %other
        %nodes = OpTypeStruct %to_leaf %to_other
        %leaf_slot = OpTypePointer PushConstant %to_leaf
        %other_slot = OpTypePointer PushConstant %to_other
        %to_far = OpTypePointer PhysicalStorageBuffer %uint
        {declarations}
    """
    modes = "".join(
        f"OpDecorate %{name} Block\nOpMemberDecorate %{name} 0 Offset 0\n" for name in ("leaf", "other", "nodes")
    )
    body = """
        %first = OpAccessChain %leaf_slot %it %zero
        %second = OpAccessChain %other_slot %it %one
        %leaf_at = OpLoad %to_leaf %first
        %other_at = OpLoad %to_other %second
        %number = OpConvertPtrToU %long %leaf_at
        %wide = OpUConvert %long %i
        %by = OpIMul %long %wide %apart
        %sum = OpIAdd %long %number %by
        %moved = OpConvertUToPtr %to_leaf %sum
        %written = OpAccessChain %to_far %moved %zero
        OpStore %written %n3 Aligned 4
        %read = OpAccessChain %to_far %other_at %zero
        %value = OpLoad %uint %read Aligned 4
    """
    text = kernel(
        body,
        declarations,
        modes + "OpMemberDecorate %nodes 1 Offset 8",
        "OpCapability PhysicalStorageBufferAddresses\nOpCapability Int64",
        "%it",
    )
    return text.replace("Logical GLSL450", "PhysicalStorageBuffer64 GLSL450")


def pointers() -> str:
    """A pointer in the push constants leads to one that leads to words: each invocation writes its own and reads it."""
    declarations = """
        %node = OpTypeStruct %to_leaf %uint
        %leaf = OpTypeStruct %words
        %to_leaf = OpTypePointer PhysicalStorageBuffer %leaf
        %to_node = OpTypePointer PhysicalStorageBuffer %node
        %pushed = OpTypeStruct %to_node
        %to_pushed = OpTypePointer PushConstant %pushed
        %to_push = OpTypePointer PushConstant %to_node
        %to_next = OpTypePointer PhysicalStorageBuffer %to_leaf
        %to_far = OpTypePointer PhysicalStorageBuffer %uint
        %it = OpVariable %to_pushed PushConstant
    """
    modes = """
        OpDecorate %node Block
        OpMemberDecorate %node 0 Offset 0
        OpMemberDecorate %node 1 Offset 8
        OpDecorate %leaf Block
        OpMemberDecorate %leaf 0 Offset 0
        OpDecorate %pushed Block
        OpMemberDecorate %pushed 0 Offset 0
    """
    body = """
        %from = OpAccessChain %to_push %it %n0
        %first = OpLoad %to_node %from
        %next = OpAccessChain %to_next %first %n0
        %second = OpLoad %to_leaf %next Aligned 8
        %far = OpAccessChain %to_far %second %n0 %i
        %thrice = OpIMul %uint %i %n3
        OpStore %far %thrice Aligned 4
        %value = OpLoad %uint %far Aligned 4
    """
    text = kernel(body, declarations, modes, "OpCapability PhysicalStorageBufferAddresses", "%it")
    forward = "%node = OpTypeStruct %to_leaf %uint"
    return text.replace("Logical GLSL450", "PhysicalStorageBuffer64 GLSL450").replace(
        forward, f"OpTypeForwardPointer %to_leaf PhysicalStorageBuffer\n{forward}"
    )


_ROW = "%at = OpCompositeConstruct %int2 %k %one"
_PLANE = "%at = OpCompositeConstruct %int3 %k %one %two"


class Case(NamedTuple):
    """`options` go to shaderstat; ``data`` in them is a file of the bytes `data`."""

    shader: str
    options: str
    expected: list[int]
    data: bytes = b""


CASES = {
    # R32G32B32A32_UINT: the second word of texel i
    "uniform texel buffer": Case(
        of_image(
            "%uint Buffer 0 0 0 1 Unknown",
            fetched("%at = OpCopyObject %int %k", "", 1),
            "OpCapability SampledBuffer",
        ),
        "--buffer 0.1=iota:128",
        [4 * i + 1 for i in range(8)],
    ),
    "storage texel buffer": Case(
        of_image(
            "%uint Buffer 0 0 0 2 R32ui",
            "%texel = OpImageRead %uint4 %image %k\n%value = OpCompositeExtract %uint %texel 0",
            "OpCapability ImageBuffer",
        ),
        "--buffer 0.1=iota:32",
        list(range(8)),
    ),
    "1D": Case(
        of_image("%uint 1D 0 0 0 1 Unknown", fetched("%at = OpCopyObject %int %k"), "OpCapability Sampled1D"),
        "--image 0.1=8x1:iota",
        [4 * i for i in range(8)],
    ),
    # eight texels a row: (i, 1)
    "2D": Case(
        of_image("%uint 2D 0 0 0 1 Unknown", fetched(_ROW)),
        "--image 0.1=8x2:iota",
        [4 * (8 + i) for i in range(8)],
    ),
    # rows of eight, two of them a layer or a slice: (i, 1) in the third
    "2D array": Case(
        of_image("%uint 2D 0 1 0 1 Unknown", fetched(_PLANE)),
        "--image 0.1=8x2:iota",
        [4 * (8 * (2 * 2 + 1) + i) for i in range(8)],
    ),
    "3D": Case(
        of_image("%uint 3D 0 0 0 1 Unknown", fetched(_PLANE)),
        "--image 0.1=8x2:iota",
        [4 * (8 * (2 * 2 + 1) + i) for i in range(8)],
    ),
    "multisampled": Case(
        of_image("%uint 2D 0 0 1 1 Unknown", fetched(_ROW, "Sample %one")),
        "",
        [0] * 8,
    ),
    "storage image": Case(
        of_image(
            "%uint 2D 0 0 0 2 R32ui",
            f"{_ROW}\n%texel = OpImageRead %uint4 %image %at\n%value = OpCompositeExtract %uint %texel 0",
        ),
        "--image 0.1=8x2:iota",
        [8 + i for i in range(8)],
    ),
    # R8G8B8A8_UNORM
    "sampled": Case(sampled(_ACROSS, "2D"), "--image 0.1=8x1:data", [4 * i for i in range(8)], bytes(range(32))),
    # one texel a face; -z is the sixth
    "cube": Case(
        sampled("%at = OpCompositeConstruct %float3 %nil %nil %minus", "Cube"),
        "--image 0.1=1x1:data",
        [20] * 8,
        bytes(range(24)),
    ),
    # D16_UNORM: a half is 32767.5
    "comparison": Case(
        comparison(),
        "--image 0.1=8x1:data",
        [0, 0, 0, 0, 1, 1, 1, 1],
        struct.pack("<8H", *(8192 * i + 100 for i in range(8))),
    ),
    "uniform buffer": Case(uniform_block(), "--buffer 0.1=iota:128", [4 * i for i in range(8)]),
    "array of buffers": Case(array_of_buffers(), "--buffer 0.1=iota:32", list(range(8))),
    "push constants": Case(push_constants(), "--push 0000000010000000", [16 + i for i in range(8)]),
    "specialization": Case(specialization(), "--spec 0=7", [2 * i + 7 for i in range(8)]),
    "pointers": Case(pointers(), "", [3 * i for i in range(8)]),
    "moved pointers": Case(moved_pointers(), "", [0] * 8),
}

Words = Callable[..., list[int]]


@pytest.fixture
def run(shaderstat: Run, lavapipe: Path, tmp_path: Path) -> Words:
    """``run("--dispatch 1", (name, words), …)``: what the result's buffer holds, as 32-bit words."""

    def words(options: str, *modules: tuple[str, bytes]) -> list[int]:
        for name, data in modules:
            (tmp_path / name).write_bytes(data)
        log = watch(tmp_path)
        env = {
            "VK_DRIVER_FILES": str(lavapipe),
            "VK_INSTANCE_LAYERS": VALIDATION,
            "VK_LAYER_SETTINGS_PATH": str(tmp_path / "vk_layer_settings.txt"),
        }
        names = [name for name, _ in modules]
        done = shaderstat(
            "instrument", *names, *options.split(), "--no-metrics", "--read", "0.0=result.bin", cwd=tmp_path, env=env
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert log.exists() and rules(log) == []
        found = (tmp_path / "result.bin").read_bytes()
        return list(struct.unpack(f"<{len(found) // 4}I", found))

    return words


@pytest.mark.parametrize("name", CASES)
def test_a_shader_reads_what_was_given(run: Words, tmp_path: Path, name: str) -> None:
    case = CASES[name]
    if case.data:
        (tmp_path / "data").write_bytes(case.data)
    found = run(f"--dispatch 1 {case.options}", ("it.comp.spv", assemble(case.shader)))
    assert found[:INVOCATIONS] == case.expected
    assert set(found[INVOCATIONS:]) <= {0}


def test_images_are_filled_anew_for_every_submission(run: Words) -> None:
    """Each doubles what it read: the second row of iota."""
    body = f"""
        {_ROW}
        %texel = OpImageRead %uint4 %image %at
        %value = OpCompositeExtract %uint %texel 0
        %twice = OpIAdd %uint4 %texel %texel
        OpImageWrite %image %at %twice
    """
    module = ("it.comp.spv", assemble(of_image("%uint 2D 0 0 0 2 R32ui", body)))
    assert run("--dispatch 1 --image 0.1=8x2:iota --repeat 3", module)[:8] == [8 + i for i in range(8)]
    assert run("--dispatch 1 --dispatch 1 --image 0.1=8x2:iota", module)[:8] == [2 * (8 + i) for i in range(8)]


def test_every_invocation_has_its_place(run: Words) -> None:
    """In a buffer of which nothing was said: 25 workgroups are 200 invocations, and 1,024 words the least."""
    found = run("--dispatch 5 --dispatch 25 --push 0000000001000000", ("it.comp.spv", assemble(push_constants())))
    assert found == [1 + i for i in range(200)] + [0] * 824


def test_an_attachment_is_read_where_it_is_drawn(run: Words) -> None:
    """Each fragment of an 8×2 target, which the generated vertex stage covers, writes what the attachment at its place
    holds (nothing) and 5."""
    found = run("--draw 3 --extent 8,2", ("it.frag.spv", assemble(_READS_BACK)))
    assert found[:16] == [5] * 16


_READS_BACK = """
    OpCapability Shader
    OpCapability InputAttachment
    OpMemoryModel Logical GLSL450
    OpEntryPoint Fragment %main "main" %where %colour %it %result
    OpExecutionMode %main OriginUpperLeft
    OpDecorate %where BuiltIn FragCoord
    OpDecorate %colour Location 0
    OpDecorate %it DescriptorSet 0
    OpDecorate %it Binding 1
    OpDecorate %it InputAttachmentIndex 0
    OpDecorate %words ArrayStride 4
    OpDecorate %block Block
    OpMemberDecorate %block 0 Offset 0
    OpDecorate %result DescriptorSet 0
    OpDecorate %result Binding 0
    %void = OpTypeVoid
    %function = OpTypeFunction %void
    %float = OpTypeFloat 32
    %float4 = OpTypeVector %float 4
    %int = OpTypeInt 32 1
    %int2 = OpTypeVector %int 2
    %uint = OpTypeInt 32 0
    %zero = OpConstant %int 0
    %origin = OpConstantComposite %int2 %zero %zero
    %n0 = OpConstant %uint 0
    %n8 = OpConstant %uint 8
    %five = OpConstant %float 5
    %image_type = OpTypeImage %float SubpassData 0 0 0 2 Unknown
    %to_image = OpTypePointer UniformConstant %image_type
    %words = OpTypeRuntimeArray %uint
    %block = OpTypeStruct %words
    %to_block = OpTypePointer StorageBuffer %block
    %to_word = OpTypePointer StorageBuffer %uint
    %to_in = OpTypePointer Input %float4
    %to_out = OpTypePointer Output %float4
    %it = OpVariable %to_image UniformConstant
    %result = OpVariable %to_block StorageBuffer
    %where = OpVariable %to_in Input
    %colour = OpVariable %to_out Output
    %main = OpFunction %void None %function
    %entry = OpLabel
    %image = OpLoad %image_type %it
    %before = OpImageRead %float4 %image %origin
    %red = OpCompositeExtract %float %before 0
    %sum = OpFAdd %float %red %five
    %value = OpConvertFToU %uint %sum
    %at = OpLoad %float4 %where
    %x = OpCompositeExtract %float %at 0
    %y = OpCompositeExtract %float %at 1
    %column = OpConvertFToU %uint %x
    %row = OpConvertFToU %uint %y
    %start = OpIMul %uint %row %n8
    %place = OpIAdd %uint %start %column
    %word = OpAccessChain %to_word %result %n0 %place
    OpStore %word %value
    OpStore %colour %before
    OpReturn
    OpFunctionEnd
"""


def test_numbers_taken_for_addresses_are_refused(shaderstat: Run, lavapipe: Path, tmp_path: Path) -> None:
    """Robust access knows nothing of pointers: a shader that follows a zero would end the driver."""
    declarations = """
        %pushed = OpTypeStruct %uint2
        %to_pushed = OpTypePointer PushConstant %pushed
        %to_push = OpTypePointer PushConstant %uint2
        %to_far = OpTypePointer PhysicalStorageBuffer %uint
        %it = OpVariable %to_pushed PushConstant
    """
    modes = "OpDecorate %pushed Block\nOpMemberDecorate %pushed 0 Offset 0\n"
    body = """
        %from = OpAccessChain %to_push %it %n0
        %number = OpLoad %uint2 %from
        %far = OpBitcast %to_far %number
        %value = OpLoad %uint %far Aligned 4
    """
    text = kernel(body, f"%uint2 = OpTypeVector %uint 2\n{declarations}", modes, interface="%it")
    text = text.replace("OpCapability Shader", "OpCapability Shader\nOpCapability PhysicalStorageBufferAddresses")
    text = text.replace("Logical GLSL450", "PhysicalStorageBuffer64 GLSL450")
    (tmp_path / "it.comp.spv").write_bytes(assemble(text))
    env = {"VK_DRIVER_FILES": str(lavapipe)}
    done = shaderstat("instrument", "it.comp.spv", "--dispatch", "1", "--no-metrics", cwd=tmp_path, env=env)
    assert done.returncode == 2
    assert "it.comp.spv: takes numbers in its buffers for addresses" in done.stderr
