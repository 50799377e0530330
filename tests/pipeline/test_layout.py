"""Set layouts, push constants, specialization data."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from shaderstat.errors import Unsupported
from shaderstat.pipeline.layout import push_constant_ranges, set_layouts, specialization
from shaderstat.pipeline.stages import StageInput
from shaderstat.spirv.facts import Binding, EntryPoint, PushConstants, Reflection, SpecConstant
from tests.pipeline.paper import ANY, LEAST, PaperDevice

NOTHING = Reflection((1, 0), 0, (), (), ())


def stage(word: str, *bindings: Binding, push: tuple[int, int] | None = None, path: str = "") -> StageInput:
    block = PushConstants(*push) if push else None
    return StageInput(
        b"", path or f"a.{word}", NOTHING, EntryPoint("main", word, bindings=bindings, push_constants=block)
    )


def bindings(layout: Any) -> list[tuple[int, str, int, str]]:
    prefix = len("VK_DESCRIPTOR_TYPE_")
    return [
        (one["binding"], one["descriptorType"][prefix:], one["descriptorCount"], one["stageFlags"])
        for one in layout["pBindings"]
    ]


def test_stages_are_exactly_those_that_use_a_binding() -> None:
    layouts, remarks = set_layouts(
        [
            stage("vertex", Binding(0, 0, "UNIFORM_BUFFER", 1), Binding(0, 1, "STORAGE_BUFFER", 1)),
            stage("fragment", Binding(0, 0, "UNIFORM_BUFFER", 1), Binding(0, 2, "COMBINED_IMAGE_SAMPLER", 3)),
        ],
        PaperDevice(),
        16,
    )
    assert [bindings(layout) for layout in layouts] == [
        [
            (0, "UNIFORM_BUFFER", 1, "VK_SHADER_STAGE_VERTEX_BIT|VK_SHADER_STAGE_FRAGMENT_BIT"),
            (1, "STORAGE_BUFFER", 1, "VK_SHADER_STAGE_VERTEX_BIT"),
            (2, "COMBINED_IMAGE_SAMPLER", 3, "VK_SHADER_STAGE_FRAGMENT_BIT"),
        ]
    ]
    assert remarks == ()


def test_gaps_between_sets_are_empty_layouts() -> None:
    """VUID-VkPipelineLayoutCreateInfo-pSetLayouts: set numbers are positions."""
    layouts, _ = set_layouts(
        [stage("compute", Binding(0, 5, "UNIFORM_BUFFER", 1), Binding(3, 63, "STORAGE_BUFFER", 1))], PaperDevice(), 16
    )
    assert [len(layout["pBindings"]) for layout in layouts] == [1, 0, 0, 1]


def test_no_bindings_make_no_sets() -> None:
    assert set_layouts([stage("compute")], PaperDevice(), 16) == ((), ())


def test_stages_may_want_different_counts_of_one_binding() -> None:
    layouts, _ = set_layouts(
        [
            stage("vertex", Binding(0, 0, "SAMPLED_IMAGE", 2)),
            stage("fragment", Binding(0, 0, "SAMPLED_IMAGE", 8)),
        ],
        PaperDevice(),
        16,
    )
    assert bindings(layouts[0])[0][2] == 8


def test_an_image_and_its_sampler_in_two_stages_are_one_combined_binding() -> None:
    layouts, _ = set_layouts(
        [stage("vertex", Binding(0, 0, "SAMPLED_IMAGE", 1)), stage("fragment", Binding(0, 0, "SAMPLER", 1))],
        PaperDevice(),
        16,
    )
    assert bindings(layouts[0])[0][1] == "COMBINED_IMAGE_SAMPLER"


def test_stages_that_disagree_do_not_belong_together() -> None:
    with pytest.raises(Unsupported) as caught:
        set_layouts(
            [
                stage("vertex", Binding(1, 2, "UNIFORM_BUFFER", 1), path="a.vert.spv"),
                stage("fragment", Binding(1, 2, "STORAGE_BUFFER", 1), path="b.frag.spv"),
            ],
            PaperDevice(),
            16,
        )
    assert caught.value.code == "pipeline/binding-conflict"
    assert caught.value.message == (
        "set 1 binding 2 is UNIFORM_BUFFER in a.vert.spv (vertex) and STORAGE_BUFFER in b.frag.spv (fragment)"
    )


def test_several_types_at_one_binding_need_mutable_descriptors() -> None:
    mutable = Binding(0, 1, "MUTABLE_EXT", 4, alternatives=("SAMPLED_IMAGE", "UNIFORM_BUFFER"))
    stages = [stage("compute", Binding(0, 0, "UNIFORM_BUFFER", 1), mutable)]
    with pytest.raises(Unsupported) as caught:
        set_layouts(stages, PaperDevice(), 16)
    assert caught.value.code == "vulkan/feature-missing"
    layouts, _ = set_layouts(stages, PaperDevice(features=frozenset({(ANY, "mutableDescriptorType")})), 16)
    assert layouts[0]["pNext"] == [
        [
            "VkMutableDescriptorTypeCreateInfoEXT",
            {
                "pMutableDescriptorTypeLists": [
                    {"pDescriptorTypes": []},
                    {"pDescriptorTypes": ["VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE", "VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER"]},
                ]
            },
        ]
    ]


def declaring(used: Binding, *unused: Binding) -> StageInput:
    reflection = Reflection((1, 0), 0, (), (), (), unused_bindings=unused)
    return StageInput(b"", "a.vert", reflection, EntryPoint("main", "vertex", bindings=(used,)))


def test_what_a_module_declares_before_what_it_uses_keeps_its_place() -> None:
    layouts, _ = set_layouts(
        [
            declaring(
                Binding(0, 2, "SAMPLER", 1),
                Binding(0, 1, "UNIFORM_BUFFER", 1),
                Binding(0, 3, "UNIFORM_BUFFER", 1),
                Binding(1, 0, "UNIFORM_BUFFER", 1),
            )
        ],
        PaperDevice(),
        16,
    )
    assert [one[:2] for layout in layouts for one in bindings(layout)] == [(1, "UNIFORM_BUFFER"), (2, "SAMPLER")]


def test_what_is_not_used_never_stands_in_the_way() -> None:
    """Neither by its type at another stage's binding nor by the device's limits."""
    layouts, _ = set_layouts(
        [
            declaring(Binding(0, 2, "SAMPLER", 1), Binding(0, 0, "UNIFORM_BUFFER", 1)),
            stage("fragment", Binding(0, 0, "SAMPLED_IMAGE", 1)),
        ],
        PaperDevice(),
        16,
    )
    assert [one[1] for one in bindings(layouts[0])] == ["SAMPLED_IMAGE", "SAMPLER"]
    layouts, _ = set_layouts([declaring(Binding(0, 2, "SAMPLER", 1), Binding(0, 0, "SAMPLER", 99))], PaperDevice(), 16)
    assert [one[0] for one in bindings(layouts[0])] == [2]


@pytest.mark.parametrize(
    ("binding", "says"),
    [
        (Binding(4, 0, "SAMPLER", 1), "uses descriptor set 4: 5 sets are needed, Paper has 4 (maxBoundDescriptorSets)"),
        (Binding(0, 4294967295, "SAMPLER", 1), "uses binding 4294967295 of set 0: numbers over 1048576 are not tried"),
        (
            Binding(0, 0, "STORAGE_BUFFER", 5),
            "binds 5 descriptors in the compute stage, Paper has 4 (maxPerStageDescriptorStorageBuffers)",
        ),
        # Both halves of a combined image sampler count.
        (
            Binding(0, 0, "COMBINED_IMAGE_SAMPLER", 17),
            "binds 17 descriptors in the compute stage, Paper has 16 (maxPerStageDescriptorSamplers)",
        ),
    ],
)
def test_limits_are_named_before_the_driver_is_asked(binding: Binding, says: str) -> None:
    with pytest.raises(Unsupported) as caught:
        set_layouts([stage("compute", binding, path="a.comp.spv")], PaperDevice(), 16)
    assert (caught.value.code, caught.value.message) == ("vulkan/limit", says)


def test_a_run_time_array_gets_a_modest_count_that_is_said() -> None:
    layouts, remarks = set_layouts(
        [stage("fragment", Binding(0, 1, "SAMPLED_IMAGE", "runtime"))],
        PaperDevice(limits={**LEAST, "maxPerStageDescriptorSampledImages": 500000, "maxPerStageResources": 500000}),
        1024,
    )
    # maxDescriptorSetSampledImages of the paper device
    assert bindings(layouts[0]) == [(1, "SAMPLED_IMAGE", 96, "VK_SHADER_STAGE_FRAGMENT_BIT")]
    assert [(one.code, one.message) for one in remarks] == [
        ("vulkan/runtime-array", "set 0 binding 1 is a run-time array: compiled with 96 descriptors")
    ]


def test_run_time_arrays_share_what_others_leave() -> None:
    layouts, _ = set_layouts(
        [
            stage(
                "fragment",
                Binding(0, 0, "SAMPLED_IMAGE", 6),
                Binding(0, 1, "SAMPLED_IMAGE", "runtime"),
                Binding(0, 2, "COMBINED_IMAGE_SAMPLER", "runtime"),
            )
        ],
        PaperDevice(),
        1024,
    )
    assert [count for _, _, count, _ in bindings(layouts[0])] == [6, 5, 5]


def test_push_constants_are_one_exact_range_a_stage() -> None:
    """Disjoint members of two stages: 0..16 and 16..28."""
    stages = [stage("vertex", push=(0, 16)), stage("fragment", push=(16, 12)), stage("geometry")]
    assert push_constant_ranges(stages, PaperDevice()) == [
        {"stageFlags": "VK_SHADER_STAGE_VERTEX_BIT", "offset": 0, "size": 16},
        {"stageFlags": "VK_SHADER_STAGE_FRAGMENT_BIT", "offset": 16, "size": 12},
    ]


def test_shaders_of_one_stage_share_its_range() -> None:
    """VUID-VkPipelineLayoutCreateInfo-pPushConstantRanges-00292: no two ranges with one stage."""
    stages = [stage("miss", push=(0, 4)), stage("miss", push=(8, 8))]
    assert push_constant_ranges(stages, PaperDevice()) == [
        {"stageFlags": "VK_SHADER_STAGE_MISS_BIT_KHR", "offset": 0, "size": 16}
    ]


def test_push_constants_beyond_the_limit() -> None:
    with pytest.raises(Unsupported) as caught:
        push_constant_ranges([stage("compute", push=(0, 400), path="a.comp.spv")], PaperDevice())
    assert caught.value.path == "a.comp.spv"
    assert caught.value.message == "its push constants end at byte 400, Paper has 128 (maxPushConstantsSize)"


def constant(number: int, type_: str, size: int) -> SpecConstant:
    return SpecConstant(number, "", type_, 0, size)


def test_defaults_need_no_specialization_info() -> None:
    assert specialization([constant(0, "int32", 4)], {}) is None
    assert specialization([constant(0, "int32", 4)], {7: 1}) is None


def test_values_have_the_types_that_the_module_says() -> None:
    """Sizes: VkSpecializationMapEntry-constantID-00776; a boolean is a VkBool32."""
    info = specialization(
        [
            constant(0, "bool", 4),
            constant(1, "uint8", 1),
            constant(2, "float64", 8),
            constant(3, "int16", 2),
            constant(4294967295, "float16", 2),
            constant(5, "float32", 4),
        ],
        {0: True, 1: 255, 2: 0.1, 3: -2, 4294967295: 1.0, 5: 2},
    )
    assert info is not None
    entries = {one["constantID"]: (one["offset"], one["size"]) for one in info["pMapEntries"]}
    assert entries == {0: (0, 4), 1: (4, 1), 2: (8, 8), 3: (16, 2), 4294967295: (18, 2), 5: (20, 4)}
    assert info["pData"] == struct.pack("=IB3xdhef", 1, 255, 0.1, -2, 1.0, 2.0)


def test_one_id_on_several_constants_has_one_entry() -> None:
    """VUID-VkSpecializationInfo-constantID-04911."""
    info = specialization([constant(3, "int32", 4), constant(3, "int32", 4)], {3: 9})
    assert info is not None
    assert info["pMapEntries"] == [{"constantID": 3, "offset": 0, "size": 4}]


@pytest.mark.parametrize(("type_", "size", "value"), [("uint8", 1, 256), ("uint32", 4, -1), ("int32", 4, 1.5)])
def test_values_that_do_not_fit_are_refused(type_: str, size: int, value: float) -> None:
    with pytest.raises(Unsupported) as caught:
        specialization([constant(0, type_, size)], {0: value})
    assert caught.value.code == "spirv/spec-value"
