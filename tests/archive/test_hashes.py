"""Names by Fossilize's recipes: what its own tools gave to small objects, and hand-fed words."""

from __future__ import annotations

import struct

from hypothesis import given
from hypothesis import strategies as st

from shaderstat.archive import hashes
from shaderstat.archive.format import Tag
from shaderstat.archive.hash_graphics import graphics

ALL = 0x7FFFFFFF  # VK_SHADER_STAGE_ALL, which fossilize-synth gives to everything


def fed(*words: int) -> int:
    """The recipe by hand: multiply, then xor, a word at a time."""
    value = 0xCBF29CE484222325
    for word in words:
        value = (value * 0x100000001B3) % 2**64 ^ word
    return value


def set_layout(*types: int) -> dict[str, object]:
    bindings = [
        {"descriptorType": type, "descriptorCount": 1, "stageFlags": ALL, "binding": number}
        for number, type in enumerate(types)
    ]
    return {"flags": 0, "bindings": bindings}


def test_names_that_fossilize_gave() -> None:
    two_buffers, uniform_and_image = set_layout(7, 7), set_layout(6, 1)
    assert hashes.set_layout(two_buffers) == 0xF5D3B8CCD30E25E4
    assert hashes.set_layout(uniform_and_image) == 0x85BD53F75F88EBB9
    layout = {"flags": 0, "pushConstantRanges": [], "setLayouts": ["f5d3b8ccd30e25e4"]}
    assert hashes.pipeline_layout(layout) == 0xADF8516AB6B56B66
    ranges = [{"stageFlags": ALL, "size": 16, "offset": 0}]
    with_range = {"flags": 0, "pushConstantRanges": ranges, "setLayouts": ["85bd53f75f88ebb9"]}
    assert hashes.pipeline_layout(with_range) == 0xBEAD002B26BBD6CA


def test_a_render_pass_that_fossilize_named() -> None:
    attachment = {
        "flags": 0, "format": 37, "finalLayout": 2, "initialLayout": 2, "loadOp": 1, "storeOp": 0, "samples": 1,
        "stencilLoadOp": 0, "stencilStoreOp": 0,
    }  # fmt: skip
    colour = {"attachment": 0, "layout": 2, "aspectMask": 0}
    subpass = {"flags": 0, "pipelineBindPoint": 0, "viewMask": 0, "colorAttachments": [colour]}
    record = {"flags": 0, "attachments": [attachment], "subpasses": [subpass]}
    assert hashes.render_pass2(record) == 0xFAEF54CA270CC735


def test_a_compute_pipeline_that_fossilize_named() -> None:
    specialization = {
        "dataSize": 4,
        "data": "CAAAAA==",
        "mapEntries": [{"offset": 0, "size": 4, "constantID": 0}],
    }
    stage = {
        "flags": 0,
        "stage": 32,
        "module": "078dec95bfd2d94c",
        "name": "main",
        "specializationInfo": specialization,
    }
    record = {
        "flags": 0,
        "layout": "adf8516ab6b56b66",
        "basePipelineHandle": "0000000000000000",
        "basePipelineIndex": -1,
        "stage": stage,
    }
    assert hashes.compute(record) == 0xF295DD65D09B9D99
    assert hashes.compute({**record, "flags": 0xC0}) == 0xF295DD65D09B9D99  # captured or not


@given(st.lists(st.integers(0, 2**32 - 1), max_size=20))
def test_a_module_is_fed_word_by_word_and_its_flags(words: list[int]) -> None:
    assert hashes.module(struct.pack(f"={len(words)}I", *words)) == fed(*words, 0)


def test_a_sampler_by_hand() -> None:
    record = {
        "flags": 0x8 | 0x4, "minFilter": 1, "magFilter": 2, "maxAnisotropy": 1.5, "compareOp": 3, "anisotropyEnable": 1,
        "mipmapMode": 4, "addressModeU": 5, "addressModeV": 6, "addressModeW": 7, "borderColor": 8,
        "unnormalizedCoordinates": 0, "compareEnable": 1, "mipLodBias": 0.5, "minLod": 0.0, "maxLod": 2.0,
        "pNext": [{"sType": 1000130001, "reductionMode": 2}],
    }  # fmt: skip
    floats = struct.unpack("=4I", struct.pack("=4f", 1.5, 0.5, 0.0, 2.0))
    assert hashes.sampler(record) == fed(4, *floats, 1, 2, 4, 1, 3, 1, 5, 6, 7, 8, 0, 1000130001, 2)


def test_a_null_set_layout_is_one_word() -> None:
    record = {"flags": 1, "pushConstantRanges": [], "setLayouts": ["0000000000000000"]}
    assert hashes.pipeline_layout(record) == fed(1, 0, 0, 1)


def test_a_link_by_hand() -> None:
    assert hashes.link(0x1_00000002, Tag.COMPUTE, 0x3_00000004) == fed(2, 1, 7, 4, 3)


def test_an_application_by_hand() -> None:
    info = {"applicationName": "ab", "applicationVersion": 1, "engineVersion": 2, "apiVersion": 3}
    features = {"robustBufferAccess": 1}
    of_info, of_features = fed(1, 3, 2, 0xFF, ord("a"), ord("b"), 0), fed(1)
    whole = fed(of_info & 0xFFFFFFFF, of_info >> 32, of_features & 0xFFFFFFFF, of_features >> 32)
    assert hashes.application({"applicationInfo": info, "physicalDeviceFeatures": features}) == whole
    assert hashes.application({"applicationInfo": {}, "physicalDeviceFeatures": {}}) == fed(0, 0, 0, 0)


def graphics_record(**states: object) -> dict[str, object]:
    return {
        "flags": 0, "basePipelineHandle": "0" * 16, "basePipelineIndex": 0, "layout": f"{5:016x}",
        "renderPass": "0" * 16, "subpass": 0, **states,
    }  # fmt: skip


def test_a_graphics_pipeline_without_any_state_by_hand() -> None:
    # flags, layout, render pass, subpass, stages; then one zero for each state but multisampling, which leaves none
    assert graphics(graphics_record(), None) == fed(0, 5, 0, 0, 0, 0, 0, *[0] * 8)


def test_blending_counts_where_there_is_something_to_blend() -> None:
    blend = {"flags": 0, "logicOp": 0, "logicOpEnable": 0, "blendConstants": [0.0] * 4, "attachments": []}
    dark = graphics(graphics_record(colorBlendState=blend), None)
    assert dark == graphics(graphics_record(), None)
    rendering = {"sType": 1000044002, "depthAttachmentFormat": 0, "stencilAttachmentFormat": 0, "viewMask": 0}
    lit = [{**rendering, "colorAttachmentFormats": [37]}]
    with_blend = graphics(graphics_record(colorBlendState=blend, pNext=lit), None)
    assert with_blend != graphics(graphics_record(pNext=lit), None)
    render_pass = {"subpasses": [{"colorAttachments": [{"attachment": 0, "layout": 2}]}]}
    in_pass = graphics_record(renderPass=f"{9:016x}")
    assert graphics({**in_pass, "colorBlendState": blend}, render_pass) != graphics(in_pass, render_pass)


def test_vertex_input_of_a_mesh_pipeline_does_not_count() -> None:
    stage = {"flags": 0, "name": "main", "module": f"{1:016x}", "stage": 0x80}
    state = {"flags": 0, "attributes": [], "bindings": [{"binding": 3, "stride": 4, "inputRate": 0}]}
    plain = graphics_record(stages=[stage])
    assert graphics({**plain, "vertexInputState": state}, None) == graphics(plain, None)
    vertex = graphics_record(stages=[{**stage, "stage": 1}])
    assert graphics({**vertex, "vertexInputState": state}, None) != graphics(vertex, None)


def test_a_library_counts_its_own_part_alone() -> None:
    rasterization = {"flags": 0, "cullMode": 1, "lineWidth": 1.0}
    library = graphics_record(flags=0x800, pNext=[{"sType": 1000320002, "flags": 1}])  # the vertex input's interface
    assert graphics({**library, "rasterizationState": rasterization}, None) == graphics(library, None)
    whole = graphics_record(rasterizationState=rasterization)
    assert graphics(whole, None) != graphics(graphics_record(), None)
