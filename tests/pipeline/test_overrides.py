"""What was said of the state, over what was inferred: the long form, and what the device must have for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from shaderstat.errors import Unsupported
from shaderstat.model import Driver
from shaderstat.pipeline.merge import lay
from shaderstat.pipeline.overrides import overlay
from shaderstat.pipeline.spec import PipelineSpec
from shaderstat.pipeline.stages import StageInput
from shaderstat.pipeline.synthesis import synthesise
from shaderstat.spirv.facts import Binding, InterfaceVariable
from tests.pipeline.paper import ANY, PaperDevice
from tests.pipeline.test_graphics import stage, variable

DYNAMIC_RENDERING = frozenset({(ANY, "dynamicRendering")})


def pair(**fragment: Any) -> list[StageInput]:
    outputs: tuple[InterfaceVariable, ...] = fragment.pop("outputs", (variable(0),))
    return [stage("vertex", inputs=(variable(0),)), stage("fragment", outputs=outputs, **fragment)]


def compute(*bindings: Binding, **more: Any) -> list[StageInput]:
    return [stage("compute", bindings=bindings, local_size=(8, 8, 1), **more)]


def laid(stages: list[StageInput], *layers: dict[str, Any], device: PaperDevice | None = None) -> PipelineSpec:
    device = device or PaperDevice()
    return overlay(synthesise(stages, device), layers, stages, device)


def refused(stages: list[StageInput], layer: dict[str, Any], device: PaperDevice | None = None) -> tuple[str, str]:
    with pytest.raises(Unsupported) as caught:
        laid(stages, layer, device=device)
    return caught.value.code, caught.value.message


# ── Laying plain data over plain data ─────────────────────────────────────────────────────────────────────────────


def test_structs_are_laid_member_by_member_and_lists_as_a_whole() -> None:
    base = {"a": {"b": 1, "c": [1, 2]}, "d": 2}
    assert lay({"a": {"c": [3]}, "e": 4}, base) == {"a": {"b": 1, "c": [3]}, "d": 2, "e": 4}
    assert base == {"a": {"b": 1, "c": [1, 2]}, "d": 2}


def test_nothing_takes_a_member_away() -> None:
    assert lay({"a": None, "b": {"c": None}}, {"a": 1, "b": {"c": 1, "d": 2}}) == {"b": {"d": 2}}


def test_chains_are_laid_struct_by_struct() -> None:
    base = {"pNext": [["A", {"x": 1, "y": 1}], ["B", {}]]}
    assert lay({"pNext": {"A": {"x": 2}, "C": {"z": 3}}}, base) == {
        "pNext": [["A", {"x": 2, "y": 1}], ["B", {}], ["C", {"z": 3}]]
    }
    assert lay({"pNext": {"A": None, "B": None}}, base) == {}


def test_bindings_are_laid_by_their_number() -> None:
    base = {"pBindings": [{"binding": 0, "count": 1}, {"binding": 4, "count": 1}]}
    assert lay({"pBindings": [{"binding": 4, "count": 2}, {"binding": 2, "count": 3}]}, base) == {
        "pBindings": [{"binding": 0, "count": 1}, {"binding": 2, "count": 3}, {"binding": 4, "count": 2}]
    }


# ── The long form ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_create_info_is_that_of_its_kind() -> None:
    layer = {
        "graphics": {"pRasterizationState": {"cullMode": "VK_CULL_MODE_BACK_BIT"}},
        "compute": {"flags": 1},
    }
    inferred = laid(pair())
    found = laid(pair(), layer)
    assert found.create_info == {
        **inferred.create_info,
        "pRasterizationState": {**inferred.create_info["pRasterizationState"], "cullMode": "VK_CULL_MODE_BACK_BIT"},
    }
    assert laid(compute(), layer).create_info["flags"] == 1


def test_later_layers_win_and_within_a_layer_the_long_form() -> None:
    one = {
        "graphics": {"pMultisampleState": {"rasterizationSamples": "VK_SAMPLE_COUNT_2_BIT"}},
        "options": {"samples": 8},
    }
    two = {"options": {"samples": 4}}

    def samples(*layers: dict[str, Any]) -> str:
        state = laid(pair(), *layers).create_info["pMultisampleState"]
        return str(state["rasterizationSamples"])

    assert samples(one) == "VK_SAMPLE_COUNT_2_BIT"
    assert samples(one, two) == "VK_SAMPLE_COUNT_4_BIT"
    assert samples(two, one) == "VK_SAMPLE_COUNT_2_BIT"


def test_a_stage_is_known_by_its_word_and_its_entry_point() -> None:
    said = {
        "stages": [{"stage": "fragment", "entry_point": "main", "flags": 4}, {"stage": "vertex", "entry_point": "x"}]
    }
    vertex, fragment = laid(pair(), said).create_info["pStages"]
    assert "flags" not in vertex
    assert fragment["flags"] == 4


def test_set_layouts_by_number_with_samplers_in_place() -> None:
    image = Binding(0, 1, "COMBINED_IMAGE_SAMPLER", 2)
    linear = {"magFilter": "VK_FILTER_LINEAR"}
    found = laid(
        compute(Binding(0, 0, "UNIFORM_BUFFER", 1), image),
        {
            "layout": {
                "pSetLayouts": {
                    "0": {
                        "pBindings": [
                            {"binding": 0, "descriptorType": "VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC"},
                            {"binding": 1, "pImmutableSamplers": [linear]},
                        ]
                    },
                    "2": {"pBindings": [{"binding": 0, "descriptorType": "VK_DESCRIPTOR_TYPE_SAMPLER"}]},
                },
                "flags": 0,
            }
        },
    )
    assert found.samplers == (linear,)
    zero, one = found.set_layouts[0]["pBindings"]
    assert (zero["descriptorType"], zero["descriptorCount"]) == ("VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC", 1)
    assert (one["descriptorType"], one["pImmutableSamplers"]) == ("VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER", [0, 0])
    assert found.set_layouts[1:] == (
        {"pBindings": []},
        {"pBindings": [{"binding": 0, "descriptorType": "VK_DESCRIPTOR_TYPE_SAMPLER"}]},
    )
    assert found.layout["pSetLayouts"] == [0, 1, 2]


def test_sets_of_a_captured_pipeline_are_found_by_their_number() -> None:
    """It has its set layouts in any order, one for several numbers, and none where it uses none."""
    uniform = {"pBindings": [{"binding": 0, "descriptorType": "VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER"}]}
    sampler = {"pBindings": [{"binding": 1, "descriptorType": "VK_DESCRIPTOR_TYPE_SAMPLER"}]}
    captured = PipelineSpec("compute", (), (uniform, sampler), {"pSetLayouts": [1, None, 0, 1]})
    said = {"pSetLayouts": {"2": {"pBindings": [{"binding": 0, "descriptorCount": 7}]}}}
    found = overlay(captured, [{"layout": said}], [], PaperDevice())
    numbers = found.layout["pSetLayouts"]
    sets = [None if number is None else found.set_layouts[number] for number in numbers]
    seven = {"pBindings": [{**uniform["pBindings"][0], "descriptorCount": 7}]}
    assert sets == [sampler, None, seven, sampler]


def test_as_many_immutable_samplers_as_descriptors() -> None:
    said = {"pSetLayouts": {"0": {"pBindings": [{"binding": 0, "pImmutableSamplers": [{}, {}]}]}}}
    code, message = refused(compute(Binding(0, 0, "SAMPLER", 3)), {"layout": said})
    assert (code, "3 descriptors and 2" in message) == ("pipeline/state", True)


def test_lists_of_mutable_types_move_with_their_bindings() -> None:
    device = PaperDevice(features=frozenset({(ANY, "mutableDescriptorType"), (ANY, "dynamicRendering")}))
    mutable = Binding(0, 1, "MUTABLE_EXT", 1, alternatives=("UNIFORM_BUFFER", "STORAGE_BUFFER"))
    said = {"pSetLayouts": {"0": {"pBindings": [{"binding": 0, "descriptorType": "VK_DESCRIPTOR_TYPE_SAMPLER"}]}}}
    (layout,) = laid(compute(mutable), {"layout": said}, device=device).set_layouts
    ((_, chained),) = layout["pNext"]
    types = ["VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER", "VK_DESCRIPTOR_TYPE_STORAGE_BUFFER"]
    assert chained["pMutableDescriptorTypeLists"] == [{"pDescriptorTypes": []}, {"pDescriptorTypes": types}]


def test_a_render_pass_takes_the_place_of_dynamic_rendering_and_back() -> None:
    found = laid(pair(), {"render_pass": {"pAttachments": [], "pSubpasses": [{}]}})
    assert found.render_pass == {"pAttachments": [], "pSubpasses": [{}]}
    assert (found.create_info["renderPass"], found.create_info["subpass"], "pNext" in found.create_info) == (
        0,
        0,
        False,
    )
    without = PaperDevice(features=frozenset())
    assert laid(pair(), device=without).render_pass is not None
    reads = pair(input_attachment_indices=(0,))
    assert laid(reads).render_pass is not None
    rendering = {"graphics": {"pNext": {"VkPipelineRenderingCreateInfo": {"viewMask": 0}}}}
    back = laid(reads, rendering)
    assert back.render_pass is None and "renderPass" not in back.create_info


# ── What the device must have ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("layer", "code", "lacks"),
    [
        (
            {"graphics": {"pNext": {"VkPipelineDiscardRectangleStateCreateInfoEXT": {}}}},
            "vulkan/extension-missing",
            "VK_EXT_discard_rectangles",
        ),
        (
            {"graphics": {"pNext": {"VkPipelineRobustnessCreateInfo": {}}}},
            "vulkan/extension-missing",
            "VK_EXT_pipeline_robustness or Vulkan 1.4",
        ),
        (
            {"graphics": {"pDynamicState": {"pDynamicStates": ["VK_DYNAMIC_STATE_VERTEX_INPUT_EXT"]}}},
            "vulkan/extension-missing",
            "VK_EXT_vertex_input_dynamic_state",
        ),
        (
            {"graphics": {"pRasterizationState": {"polygonMode": "VK_POLYGON_MODE_LINE"}}},
            "vulkan/feature-missing",
            "fillModeNonSolid",
        ),
        (
            {"layout": {"pSetLayouts": {"0": {"flags": "VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT"}}}},
            "vulkan/extension-missing",
            "VK_KHR_push_descriptor or Vulkan 1.4",
        ),
    ],
)
def test_what_a_device_lacks_is_named(layer: dict[str, Any], code: str, lacks: str) -> None:
    found, message = refused(pair(), layer)
    assert found == code
    assert f"Paper lacks {lacks}" in message or (lacks in message and "Paper lacks" in message)


def test_a_dynamic_state_of_the_third_extension_has_a_feature_of_its_name() -> None:
    layer = {"graphics": {"pDynamicState": {"pDynamicStates": ["VK_DYNAMIC_STATE_COLOR_WRITE_MASK_EXT"]}}}
    listed = PaperDevice(extensions=frozenset({"VK_EXT_extended_dynamic_state3"}))
    assert "extendedDynamicState3ColorWriteMask" in refused(pair(), layer, listed)[1]
    has = replace(listed, features=DYNAMIC_RENDERING | {(ANY, "extendedDynamicState3ColorWriteMask")})
    laid(pair(), layer, device=has)


@pytest.mark.parametrize("driver", [18, 24, 26])  # VkDriverId: Turnip, NVK, Honeykrisp
def test_a_driver_that_ignores_the_missing_optimisation_is_named(driver: int) -> None:
    device = PaperDevice(driver=Driver(driver, "turnip", "1", ""))
    for layer in (
        {"options": {"optimize": False}},
        {"compute": {"flags": "VK_PIPELINE_CREATE_DISABLE_OPTIMIZATION_BIT"}},
    ):
        found = laid(compute(), layer, device=device)
        assert found.create_info["flags"] == "VK_PIPELINE_CREATE_DISABLE_OPTIMIZATION_BIT"
        (remark,) = found.remarks
        assert (remark.code, remark.severity) == ("vulkan/ignored", "warning")
    assert laid(compute(), {"options": {"optimize": False}}).remarks == ()
