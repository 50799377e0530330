"""Plain data to C structs: every kind of member, every mistake, and nothing that dangles."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from shaderstat.backends.vulkan.binding import NULL, ffi
from shaderstat.backends.vulkan.builder import Arena
from shaderstat.errors import Unsupported


def handle(type: str, number: int) -> Any:
    return ffi.cast(type, number)


def address(pointer: Any) -> int:
    return int(ffi.cast("uintptr_t", pointer))


@pytest.fixture
def arena() -> Arena:
    return Arena()


# ── Every kind of member ──────────────────────────────────────────────────────────────────────────────────────────


def test_s_type_is_filled_in_everywhere(arena: Arena) -> None:
    info = arena.build("VkComputePipelineCreateInfo", {"stage": {"pName": "main"}})
    assert info.sType == 29  # VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO
    assert info.stage.sType == 18  # VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO
    assert ffi.string(info.stage.pName) == b"main"
    assert info.pNext == NULL


def test_numbers_by_name(arena: Arena) -> None:
    state = arena.build(
        "VkPipelineColorBlendAttachmentState",
        {
            "blendEnable": True,
            "srcColorBlendFactor": "VK_BLEND_FACTOR_SRC_ALPHA",
            "colorBlendOp": 2,
            "colorWriteMask": "VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_A_BIT",
        },
    )
    assert (state.blendEnable, state.srcColorBlendFactor, state.colorBlendOp, state.colorWriteMask) == (1, 6, 2, 9)


def test_an_enumerant_newer_than_the_c_types(arena: Arena) -> None:
    info = arena.build("VkDescriptorSetLayoutBinding", {"descriptorType": 1000999000})
    assert info.descriptorType == 1000999000


def test_an_array_sets_its_count(arena: Arena) -> None:
    info = arena.build(
        "VkPipelineDynamicStateCreateInfo",
        {"pDynamicStates": ["VK_DYNAMIC_STATE_VIEWPORT", "VK_DYNAMIC_STATE_SCISSOR", 8]},
    )
    assert info.dynamicStateCount == 3
    assert [info.pDynamicStates[i] for i in range(3)] == [0, 1, 8]


def test_an_empty_array_is_null(arena: Arena) -> None:
    info = arena.build("VkPipelineDynamicStateCreateInfo", {"pDynamicStates": []})
    assert info.dynamicStateCount == 0
    assert info.pDynamicStates == NULL


def test_a_count_without_its_array(arena: Arena) -> None:
    """Dynamic viewports, and descriptors without immutable samplers."""
    viewports = arena.build("VkPipelineViewportStateCreateInfo", {"viewportCount": 1, "pViewports": None})
    assert (viewports.viewportCount, viewports.pViewports) == (1, NULL)
    layout = arena.build("VkDescriptorSetLayoutCreateInfo", {"pBindings": [{"binding": 3, "descriptorCount": 4}]})
    assert (layout.bindingCount, layout.pBindings[0].binding, layout.pBindings[0].descriptorCount) == (1, 3, 4)


def test_two_arrays_of_one_count(arena: Arena) -> None:
    subpass = {"pColorAttachments": [{"attachment": 0}, {"attachment": 1}]}
    both = {**subpass, "pResolveAttachments": [{"attachment": 2}, {"attachment": "VK_ATTACHMENT_UNUSED"}]}
    info = arena.build("VkSubpassDescription2", both)
    assert info.colorAttachmentCount == 2
    assert info.pResolveAttachments[1].attachment == 0xFFFFFFFF
    assert info.pResolveAttachments[1].sType == 1000109001
    for nothing in ([], None):
        info = arena.build("VkSubpassDescription2", {**subpass, "pResolveAttachments": nothing})
        assert (info.colorAttachmentCount, info.pResolveAttachments) == (2, NULL)
    with pytest.raises(Unsupported, match="shares colorAttachmentCount"):
        arena.build("VkSubpassDescription2", {**subpass, "pResolveAttachments": [{"attachment": 2}]})


def test_words_of_spirv_are_counted_in_bytes(arena: Arena) -> None:
    info = arena.build("VkShaderModuleCreateInfo", {"pCode": b"\x03\x02\x23\x07" * 5})
    assert info.codeSize == 20
    assert [info.pCode[i] for i in range(5)] == [0x07230203] * 5
    assert arena.build("VkShaderModuleCreateInfo", {"pCode": [1, 2, 3]}).codeSize == 12


def test_bytes_are_copied_and_aligned(arena: Arena) -> None:
    data = bytearray(b"\x01\x02\x03")
    info = arena.build(
        "VkSpecializationInfo",
        {"pMapEntries": [{"constantID": 7, "offset": 0, "size": 3}], "pData": bytes(data)},
    )
    data[:] = b"xyz"
    assert (info.mapEntryCount, info.dataSize) == (1, 3)
    assert bytes(ffi.buffer(info.pData, 3)) == b"\x01\x02\x03"
    assert address(info.pData) % 8 == 0


def test_a_sample_mask_has_no_count_of_its_own(arena: Arena) -> None:
    info = arena.build(
        "VkPipelineMultisampleStateCreateInfo",
        {"rasterizationSamples": "VK_SAMPLE_COUNT_64_BIT", "pSampleMask": [0xFFFFFFFF, 1]},
    )
    assert (info.rasterizationSamples, info.pSampleMask[0], info.pSampleMask[1]) == (64, 0xFFFFFFFF, 1)


def test_fixed_arrays(arena: Arena) -> None:
    blend = arena.build("VkPipelineColorBlendStateCreateInfo", {"blendConstants": [0.5, 1, 0.25]})
    assert list(blend.blendConstants) == [0.5, 1.0, 0.25, 0.0]
    with pytest.raises(Unsupported, match="at most 4"):
        arena.build("VkPipelineColorBlendStateCreateInfo", {"blendConstants": [0.0] * 5})


def test_strings_and_lists_of_strings(arena: Arena) -> None:
    info = arena.build(
        "VkInstanceCreateInfo",
        {"pApplicationInfo": {"pApplicationName": "größer"}, "ppEnabledExtensionNames": ["VK_A", "VK_B"]},
    )
    assert ffi.string(info.pApplicationInfo.pApplicationName).decode() == "größer"
    assert info.pApplicationInfo.sType == 0
    assert [ffi.string(info.ppEnabledExtensionNames[i]) for i in range(info.enabledExtensionCount)] == [
        b"VK_A",
        b"VK_B",
    ]


def test_handles_by_index_or_as_they_are() -> None:
    layouts = [handle("VkDescriptorSetLayout", 0x1000), handle("VkDescriptorSetLayout", 0x2000)]
    arena = Arena({"VkDescriptorSetLayout": layouts, "VkShaderModule": [handle("VkShaderModule", 0x3000)]})
    info = arena.build("VkPipelineLayoutCreateInfo", {"pSetLayouts": [1, 0, layouts[1], None]})
    assert [address(info.pSetLayouts[i]) for i in range(info.setLayoutCount)] == [0x2000, 0x1000, 0x2000, 0]
    assert address(arena.build("VkPipelineShaderStageCreateInfo", {"module": 0}).module) == 0x3000
    assert arena.build("VkPipelineShaderStageCreateInfo", {"module": None}).module == NULL
    for bad in (1, -1, True, "0"):
        with pytest.raises(Unsupported, match=r"VkPipelineShaderStageCreateInfo\.module"):
            arena.build("VkPipelineShaderStageCreateInfo", {"module": bad})


def test_a_chain_keeps_its_order(arena: Arena) -> None:
    info = arena.build(
        "VkPipelineRasterizationStateCreateInfo",
        {
            "pNext": [
                ["VkPipelineRasterizationDepthClipStateCreateInfoEXT", {"depthClipEnable": 1}],
                # an older name, which the C types know it by
                ["VkPipelineRasterizationLineStateCreateInfoEXT", {"lineStippleFactor": 5}],
            ]
        },
    )
    first = ffi.cast("VkPipelineRasterizationDepthClipStateCreateInfoEXT *", info.pNext)
    second = ffi.cast("VkPipelineRasterizationLineStateCreateInfoEXT *", first.pNext)
    assert (first.sType, first.depthClipEnable) == (1000102001, 1)
    assert (second.sType, second.lineStippleFactor, second.pNext) == (1000259001, 5, NULL)


def test_a_chain_may_hold_structs_that_the_package_lacks(arena: Arena) -> None:
    info = arena.build(
        "VkGraphicsPipelineCreateInfo",
        {
            "pNext": [
                ["VkRenderingAttachmentLocationInfo", {"pColorAttachmentLocations": [1, "VK_ATTACHMENT_UNUSED"]}],
                ["VkPipelineRenderingCreateInfo", {"pColorAttachmentFormats": ["VK_FORMAT_R8G8B8A8_UNORM"]}],
            ]
        },
    )
    words = ffi.cast("uint32_t *", info.pNext)
    assert (words[0], words[4]) == (1000232001, 2)
    second = ffi.cast("VkPipelineRenderingCreateInfo *", ffi.cast("void **", info.pNext)[1])
    assert (second.sType, second.colorAttachmentCount, second.pColorAttachmentFormats[0]) == (1000044002, 1, 37)


# ── Mistakes ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "plain", "message", "hint"),
    [
        ("VkNope", {}, "no struct is called VkNope", None),
        ("VkSamplerCreateInf", {}, "VkSamplerCreateInf", "VkSamplerCreateInfo"),
        ("VkSamplerCreateInfo", {"minFilte": 0}, "has no member 'minFilte'", "minFilter"),
        ("VkSamplerCreateInfo", {"sType": 31}, "has no member 'sType'", None),
        (
            "VkSamplerCreateInfo",
            {"minFilter": "VK_FILTER_LINEA"},
            "VkFilter has no VK_FILTER_LINEA",
            "VK_FILTER_LINEAR",
        ),
        ("VkSamplerCreateInfo", {"maxLod": "much"}, "float has no much", None),
        ("VkSamplerCreateInfo", {"maxLod": []}, r"VkSamplerCreateInfo.maxLod can't be \[\]", None),
        ("VkSamplerCreateInfo", {"minFilter": 1.5}, "minFilter can't be 1.5", None),
        ("VkDescriptorSetLayoutBinding", {"binding": -1}, "binding can't be -1", None),
        ("VkDescriptorSetLayoutBinding", {"binding": 1 << 32}, "binding can't be 4294967296", None),
        ("VkComputePipelineCreateInfo", {"stage": "main"}, "VkComputePipelineCreateInfo.stage wants the members", None),
        ("VkGraphicsPipelineCreateInfo", {"pStages": {}}, "pStages can't be", None),
        ("VkGraphicsPipelineCreateInfo", {"pStages": [{"nope": 1}]}, r"pStages\[0\]: .* no member 'nope'", None),
        ("VkGraphicsPipelineCreateInfo", {"pColorBlendState": []}, "pColorBlendState wants the members", None),
        ("VkPipelineShaderStageCreateInfo", {"pName": "a\0b"}, "pName can't be", None),
        ("VkPipelineShaderStageCreateInfo", {"pName": 3}, "pName can't be 3", None),
        ("VkSpecializationInfo", {"pData": "text"}, "pData can't be", None),
        ("VkDescriptorSetLayoutBinding", {"descriptorCount": 4, "pImmutableSamplers": [None]}, "its array has 1", None),
        (
            "VkSamplerCreateInfo",
            {"pNext": [["VkSubpassDescription2", {}]]},
            "does not extend VkSamplerCreateInfo",
            None,
        ),
    ],
)
def test_mistakes_are_one_line_with_a_place(
    arena: Arena, name: str, plain: dict[str, Any], message: str, hint: str | None
) -> None:
    with pytest.raises(Unsupported, match=message) as caught:
        arena.build(name, plain)
    assert caught.value.code == "vulkan/state"
    assert "\n" not in caught.value.message
    if hint is not None:
        assert caught.value.hint is not None and hint in caught.value.hint


# ── Nothing dangles ───────────────────────────────────────────────────────────────────────────────────────────────


def describe(number: int) -> tuple[Arena, Any]:
    """A graphics pipeline whose values tell its number."""
    arena = Arena()
    plain = {
        "pStages": [
            {
                "pName": f"entry {number} {stage}",
                "pSpecializationInfo": {
                    "pMapEntries": [{"constantID": number, "offset": 0, "size": 4}],
                    "pData": number.to_bytes(4, "little"),
                },
            }
            for stage in range(2)
        ],
        "pVertexInputState": {
            "pVertexBindingDescriptions": [{"binding": number, "stride": 16}],
            "pVertexAttributeDescriptions": [{"location": i, "offset": number} for i in range(4)],
        },
        "pColorBlendState": {"pAttachments": [{"colorWriteMask": number}], "blendConstants": [number] * 4},
        "pNext": [["VkPipelineRenderingCreateInfo", {"viewMask": number, "pColorAttachmentFormats": [number] * 3}]],
    }
    return arena, arena.build("VkGraphicsPipelineCreateInfo", plain)


def test_sixty_descriptions_survive_collection_and_reuse() -> None:
    """Freed memory reads back right by luck in a small test: this many do not, when anything is dropped early."""
    built = [describe(number) for number in range(60)]
    gc.collect()
    noise = [ffi.new("char[]", 16 + 8 * (i % 64)) for i in range(3000)]
    for block in noise:
        ffi.memmove(block, b"\xaa" * len(block), len(block))
    for number, (_, info) in enumerate(built):
        assert info.stageCount == 2
        for stage in range(2):
            assert ffi.string(info.pStages[stage].pName) == f"entry {number} {stage}".encode()
            special = info.pStages[stage].pSpecializationInfo
            assert special.pMapEntries[0].constantID == number
            assert bytes(ffi.buffer(special.pData, 4)) == number.to_bytes(4, "little")
        vertex = info.pVertexInputState
        assert vertex.pVertexBindingDescriptions[0].binding == number
        assert [vertex.pVertexAttributeDescriptions[i].offset for i in range(4)] == [number] * 4
        blend = info.pColorBlendState
        assert blend.pAttachments[0].colorWriteMask == number
        assert list(blend.blendConstants) == [number] * 4
        rendering = ffi.cast("VkPipelineRenderingCreateInfo *", info.pNext)
        assert rendering.viewMask == number
        assert [rendering.pColorAttachmentFormats[i] for i in range(rendering.colorAttachmentCount)] == [number] * 3
