"""What a run is made with: sizes are counted by hand from the samples' GLSL, by the rules of std140 and std430."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from shaderstat.errors import Unsupported
from shaderstat.instrumentation import Command, Execution, Fill, ImageFill
from shaderstat.pipeline.resources import Buffer, Resources
from shaderstat.pipeline.run_plan import plan_resources
from shaderstat.pipeline.run_record import record
from shaderstat.pipeline.stages import StageInput
from shaderstat.pipeline.synthesis import synthesise
from shaderstat.spirv.reflect import reflect
from shaderstat.spirv.words import load
from tests.assembly import assemble, compute
from tests.pipeline.paper import ANY, LEAST, PaperDevice

# "Required Limits" of the specification.
LIMITS: Mapping[str, int] = {
    **LEAST,
    **{f"maxComputeWorkGroupCount[{axis}]": 65535 for axis in range(3)},
    "maxComputeWorkGroupInvocations": 1024,
    "maxComputeWorkGroupSize[0]": 1024,
    "maxComputeWorkGroupSize[1]": 1024,
    "maxUniformBufferRange": 16384,
    "maxStorageBufferRange": 1 << 27,
    "maxTexelBufferElements": 65536,
    "maxImageDimension1D": 4096,
    "maxImageDimension2D": 4096,
    "maxImageDimension3D": 256,
    "maxImageDimensionCube": 4096,
    "maxImageArrayLayers": 256,
    "maxFramebufferWidth": 4096,
    "maxFramebufferHeight": 4096,
    "sampledImageColorSampleCounts": 5,
    "sampledImageIntegerSampleCounts": 5,
    "sampledImageDepthSampleCounts": 5,
    "storageImageSampleCounts": 5,
}
DEVICE = PaperDevice(
    features=frozenset(
        (ANY, name)
        for name in (
            "dynamicRendering", "runtimeDescriptorArray", "shaderSampledImageArrayNonUniformIndexing",
            "geometryShader", "tessellationShader",
        )
    ),
    limits={**LIMITS, "maxPerStageDescriptorSampledImages": 2000, "maxPerStageResources": 4000,
            "maxDescriptorSetSampledImages": 2000},
)  # fmt: skip
DRAW = Execution((Command("draw", (36, 1, 1)),))


def dispatch(x: int, y: int = 1, z: int = 1, **more: Any) -> Execution:
    return Execution((Command("dispatch", (x, y, z)),), **more)


def stage(data: bytes, name: str = "x") -> StageInput:
    words = load(data)
    reflection = reflect(words)
    return StageInput(words.tobytes(), name, reflection, reflection.entries[0])


def plan(execution: Execution, *data: bytes) -> Resources:
    stages = [stage(each) for each in data]
    return plan_resources(synthesise(stages, DEVICE), stages, execution, DEVICE)


@pytest.fixture
def of(samples: Path) -> Any:
    """``of(execution, "water.vert", …)``: what the samples are run with."""
    return lambda execution, *names: plan(execution, *((samples / f"{one}.spv").read_bytes() for one in names))


def buffers(found: Resources) -> dict[tuple[int, int], Buffer]:
    return {one.slot: one for one in found.buffers}


def refused(code: str, call: Any, *arguments: Any) -> str:
    with pytest.raises(Unsupported) as raised:
        call(*arguments)
    assert raised.value.code == code
    return raised.value.message


# ── Buffers ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("groups", "floats"), [(4, 1024), (16, 1024), (17, 17 * 64), (100, 6400)])
def test_an_array_without_a_length_has_an_element_for_each_invocation(of: Any, groups: int, floats: int) -> None:
    """scale: 64 invocations a workgroup; never under 1,024 elements."""
    found = buffers(of(dispatch(groups), "scale.comp"))
    assert {slot: one.size for slot, one in found.items()} == {(0, 0): 4 * floats, (0, 1): 4 * floats}
    assert {one.fill for one in found.values()} == {Fill()}


def test_the_largest_of_several_commands_counts(of: Any) -> None:
    both = Execution((Command("dispatch", (1, 1, 1)), Command("dispatch", (50, 2, 1))))
    assert buffers(of(both, "scale.comp"))[(0, 0)].size == 4 * 50 * 2 * 64


def test_blocks_have_the_size_of_their_members(of: Any) -> None:
    """histogram: uint[256]. water: mat4, vec4, vec4[4] and a float are 64 + 16 + 64 + 4 bytes, in whole vec4s. pick:
    1,024 elements of {uint, uint, vec2}."""
    assert buffers(of(dispatch(1), "histogram.comp"))[(0, 1)].size == 1024
    assert buffers(of(DRAW, "water.vert", "water.frag"))[(0, 0)].size == 160
    assert buffers(of(dispatch(1), "pick.comp"))[(0, 0)].size == 1024 * 16


def test_texel_buffers_have_the_texels_of_their_format(of: Any) -> None:
    """unpack: usamplerBuffer, of which no format is said, and an rgba16f imageBuffer."""
    found = buffers(of(dispatch(1), "unpack.comp"))
    assert {slot: (one.format, one.size) for slot, one in found.items()} == {
        (0, 0): ("VK_FORMAT_R32G32B32A32_UINT", 1024 * 16),
        (0, 1): ("VK_FORMAT_R16G16B16A16_SFLOAT", 1024 * 8),
    }


def test_a_given_size_is_kept_and_given_bytes_count(of: Any) -> None:
    given = {(0, 0): Fill("iota", size=8192), (0, 1): Fill("data", data=b"x" * 100)}
    found = buffers(of(dispatch(1, buffers=given), "scale.comp"))
    assert [(one.size, one.fill.kind) for one in found.values()] == [(8192, "iota"), (100, "data")]


def test_what_is_too_small_is_refused_with_both_sizes(of: Any) -> None:
    said = refused("run/too-small", of, dispatch(1, buffers={(0, 1): Fill(size=1000)}), "histogram.comp")
    assert "set 0 binding 1" in said and "1000 bytes" in said and "1024" in said


def test_a_slot_that_nobody_binds_is_refused_with_those_there_are(of: Any) -> None:
    said = refused("run/slot", of, dispatch(1, buffers={(3, 4): Fill()}), "scale.comp")
    assert "3.4" in said and "0.0, 0.1" in said
    assert "0.0" in refused("run/slot", of, dispatch(1, read=((0, 9),)), "scale.comp")
    assert "none" in refused("run/slot", of, dispatch(1, images={(0, 0): ImageFill()}), "scale.comp")


def test_a_guess_that_wants_too_much_is_none(of: Any) -> None:
    """65,535² workgroups of 64 invocations, four bytes each, would be a terabyte."""
    refused("run/too-large", of, dispatch(65535, 65535), "scale.comp")


def test_a_limit_of_the_device_is_no_size(of: Any) -> None:
    """65,535 · 64 texels, where a view may have 65,536."""
    assert buffers(of(dispatch(65535), "unpack.comp"))[(0, 1)].size == 65536 * 8


# ── Push constants and vertices ───────────────────────────────────────────────────────────────────────────────────


def test_push_constants_end_in_zeros(of: Any) -> None:
    """scale: two floats and a uint."""
    assert of(dispatch(1), "scale.comp").push == bytes(12)
    assert of(dispatch(1, push=b"abcd"), "scale.comp").push == b"abcd" + bytes(8)
    refused("run/push", of, dispatch(1, push=bytes(13)), "scale.comp")
    refused("run/push", of, dispatch(1, push=b"x"), "histogram.comp")


def test_vertex_buffers_hold_every_vertex_of_the_draw(of: Any) -> None:
    """water: vec3 and vec2 for each of 36 vertices, wherever they lie."""
    found = of(DRAW, "water.vert", "water.frag").vertices
    assert sum(one.size for one in found) >= 36 * 20
    few = {one.slot[1]: Fill(size=8) for one in found}
    refused("run/too-small", of, Execution(DRAW.commands, vertices=few), "water.vert", "water.frag")
    refused("run/slot", of, Execution(DRAW.commands, vertices={9: Fill()}), "water.vert", "water.frag")


def test_a_generated_vertex_stage_covers_the_target(of: Any) -> None:
    """Its first attribute is the position: three corners, of which the triangle covers the whole of clip space."""
    (buffer,) = of(DRAW, "leaf.frag").vertices
    stride = len(buffer.fill.data) // 36
    corners = [struct.unpack_from("=4f", buffer.fill.data, stride * vertex)[:2] for vertex in range(3)]
    assert set(corners) == {(-1.0, -1.0), (3.0, -1.0), (-1.0, 3.0)}


# ── Images ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_images_and_samplers_of_the_samples(of: Any) -> None:
    """blur: a combined image and an rgba8 one; 16 × 16 invocations times 8 × 2 workgroups."""
    found = of(dispatch(8, 2), "blur.comp")
    by_slot = {one.slot: one for one in found.images}
    assert [by_slot[slot].format for slot in ((0, 0), (0, 1))] == ["VK_FORMAT_R8G8B8A8_UNORM"] * 2
    assert by_slot[(0, 1)].extent == (128, 64, 1)
    assert [one.slot for one in found.samplers] == [(0, 0)]


def test_an_array_of_descriptors_without_a_length_has_sixteen(of: Any) -> None:
    found = of(dispatch(1), "pick.comp")
    textures = [one for one in found.images if one.slot == (1, 1)]
    assert [one.element for one in textures] == list(range(16))
    formats = {one.slot: one.format for one in found.images}
    assert (formats[(0, 1)], formats[(0, 2)]) == ("VK_FORMAT_R32_UINT", "VK_FORMAT_R16G16B16A16_SFLOAT")
    assert [one.slot for one in found.samplers] == [(1, 0)]


def test_a_given_extent_is_kept(of: Any) -> None:
    given = {(0, 1): ImageFill((300, 20), Fill("random", seed=7))}
    (image,) = [one for one in of(dispatch(1, images=given), "blur.comp").images if one.slot == (0, 1)]
    assert (image.extent, image.fill.seed) == ((300, 20, 1), 7)
    refused("run/limit", of, dispatch(1, images={(0, 1): ImageFill((5000, 1))}), "blur.comp")


def test_the_faces_of_a_cube_are_square() -> None:
    """With CUBE_COMPATIBLE_BIT width and height must be equal, says VkImageCreateInfo's valid usage."""
    module = image("Cube", 0, 0, 0, 1, "Unknown")
    (found,) = plan(dispatch(1, images={(0, 0): ImageFill((8, 8))}), module).images
    assert found.extent == (8, 8, 1)
    said = refused("run/limit", plan, dispatch(1, images={(0, 0): ImageFill((4, 8))}), module)
    assert "square faces: it is given 4x8 texels" in said


@pytest.mark.parametrize(
    ("size", "code"), [(63, "run/too-small"), (64, ""), (65, "run/too-large"), (4096, "run/too-large")]
)
def test_a_given_content_is_all_of_an_image(of: Any, size: int, code: str) -> None:
    """4x4 texels of four bytes."""
    execution = dispatch(1, images={(0, 0): ImageFill((4, 4), Fill("data", data=bytes(size)))})
    if not code:
        assert of(execution, "blur.comp").images
        return
    said = refused(code, of, execution, "blur.comp")
    assert f"is given {size} bytes" in said and said.endswith("have 64")


def image(dim: str, depth: int, arrayed: int, samples: int, sampled: int, format: str, more: str = "") -> bytes:
    """A compute shader that loads one image."""
    capabilities = {"1D": "Sampled1D", "Cube": "SampledCubeArray" if arrayed else "", "2D": ""}.get(dim, "")
    heads = [f"OpCapability {one}" for one in (capabilities, "StorageImageMultisample" if samples else "") if one]
    declarations = f"""
        %type = OpTypeImage %float {dim} {depth} {arrayed} {samples} {sampled} {format}
        %pointer = OpTypePointer UniformConstant %type
        %variable = OpVariable %pointer UniformConstant
    """
    modes = "OpDecorate %variable DescriptorSet 0\nOpDecorate %variable Binding 0"
    body = "%entry = OpLabel\n%loaded = OpLoad %type %variable\nOpReturn"
    return assemble(compute(body, declarations=declarations, modes=modes, head="\n".join(heads)), "vulkan1.0")


@pytest.mark.parametrize(
    ("module", "dimensions", "view", "extent", "layers", "samples"),
    [
        (image("1D", 0, 0, 0, 1, "Unknown"), "1D", "1D", (64, 1, 1), 1, 1),
        (image("1D", 0, 1, 0, 1, "Unknown"), "1D", "1D_ARRAY", (64, 1, 1), 4, 1),
        (image("2D", 0, 0, 0, 1, "Unknown"), "2D", "2D", (64, 64, 1), 1, 1),
        (image("2D", 0, 1, 0, 1, "Unknown"), "2D", "2D_ARRAY", (64, 64, 1), 4, 1),
        (image("3D", 0, 0, 0, 1, "Unknown"), "3D", "3D", (64, 64, 4), 1, 1),
        (image("Cube", 0, 0, 0, 1, "Unknown"), "2D", "CUBE", (64, 64, 1), 6, 1),
        (image("2D", 0, 0, 1, 1, "Unknown"), "2D", "2D", (64, 64, 1), 1, 4),
        (image("2D", 0, 0, 0, 2, "R32f"), "2D", "2D", (64, 64, 1), 1, 1),
    ],
)
def test_images_have_the_dimensions_that_shaders_declare(
    module: bytes, dimensions: str, view: str, extent: tuple[int, int, int], layers: int, samples: int
) -> None:
    (found,) = plan(dispatch(1), module).images
    assert found.dimensions == f"VK_IMAGE_TYPE_{dimensions}"
    assert found.view == f"VK_IMAGE_VIEW_TYPE_{view}"
    assert (found.extent, found.layers, found.samples) == (extent, layers, samples)


@pytest.mark.parametrize(
    ("depth", "sampled", "declared", "format"),
    [
        (0, 1, "Unknown", "R8G8B8A8_UNORM"),
        (1, 1, "Unknown", "D16_UNORM"),
        (0, 2, "Rgba32f", "R32G32B32A32_SFLOAT"),
        (0, 2, "R11fG11fB10f", "B10G11R11_UFLOAT_PACK32"),
        (0, 2, "Rgb10A2", "A2B10G10R10_UNORM_PACK32"),
        (0, 2, "R8Snorm", "R8_SNORM"),
    ],
)
def test_formats_are_those_that_shaders_ask_for(depth: int, sampled: int, declared: str, format: str) -> None:
    """The right column is the table "SPIR-V and Vulkan Image Format Compatibility" of the specification."""
    (found,) = plan(dispatch(1), image("2D", depth, 0, 0, sampled, declared)).images
    assert found.format == f"VK_FORMAT_{format}"


def test_a_format_that_the_device_lacks_is_refused() -> None:
    one = stage(image("2D", 0, 0, 0, 2, "R32f"))
    lacking = PaperDevice(limits=LIMITS, formats=lambda name: name != "VK_FORMAT_R32_SFLOAT")
    message = refused("run/format", plan_resources, synthesise([one], DEVICE), [one], dispatch(1), lacking)
    assert "VK_FORMAT_R32_SFLOAT" in message


# ── Commands and the target ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("code", "execution"),
    [
        ("run/command", Execution(())),
        ("run/command", DRAW),
        ("run/limit", dispatch(0)),
        ("run/limit", dispatch(1, 65536)),
        ("run/limit", dispatch(1, repeat=0)),
    ],
)
def test_commands_that_can_not_be(of: Any, code: str, execution: Execution) -> None:
    refused(code, of, execution, "scale.comp")


def test_the_target_is_as_large_as_was_said(of: Any) -> None:
    """gbuffer: a vec4, a vec2 and a uvec2."""
    execution = Execution(DRAW.commands, extent=(32, 16))
    target = of(execution, "gbuffer.frag").target
    assert target.extent == (32, 16)
    assert len(target.colors) == 3
    refused("run/limit", of, Execution(DRAW.commands, extent=(0, 16)), "gbuffer.frag")
    refused("run/limit", of, Execution(DRAW.commands, extent=(4097, 16)), "gbuffer.frag")


def test_all_of_it_is_told_in_words(of: Any) -> None:
    """pick: whatever is bound is on record, elements of an array that are alike once."""
    said = [(one.where, one.what) for one in record(of(dispatch(1), "pick.comp"))]
    assert said == [
        ("set 0 binding 0", "16384 bytes"),
        ("set 0 binding 1", "64x64 VK_FORMAT_R32_UINT"),
        ("set 0 binding 2", "64x64 VK_FORMAT_R16G16B16A16_SFLOAT"),
        ("set 1 binding 0", "nearest"),
        ("set 1 binding 1[0-15]", "64x64 VK_FORMAT_R8G8B8A8_UNORM"),
    ]
