"""Vertex input, attachments and the rest of a graphics pipeline's state."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from shaderstat.errors import InvalidSpirv, Unsupported
from shaderstat.pipeline.attachments import attachments, color_blend_state, depth_stencil_state, render_pass
from shaderstat.pipeline.graphics import graphics_state
from shaderstat.pipeline.stages import StageInput, check_stage, pipeline_kind
from shaderstat.pipeline.synthesis import synthesise
from shaderstat.pipeline.vertex_input import vertex_input_state
from shaderstat.spirv.facts import Binding, EntryPoint, InterfaceVariable, Reflection, SpecConstant
from tests.pipeline.paper import ANY, LEAST, PaperDevice

NOTHING = Reflection((1, 0), 0, (), (), ())


def variable(location: int, scalar: Any = "float", components: int = 4, **more: Any) -> InterfaceVariable:
    return InterfaceVariable(location, more.pop("component", 0), scalar, more.pop("width", 32), components, "", **more)


def entry(stage: str, **more: Any) -> EntryPoint:
    return EntryPoint("main", stage, **more)


def stage(word: str, **more: Any) -> StageInput:
    return StageInput(word.encode(), f"a.{word}.spv", NOTHING, entry(word, **more))


def attributes(state: dict[str, Any]) -> list[tuple[int, str, int]]:
    return [
        (one["location"], one["format"].removeprefix("VK_FORMAT_"), one["offset"])
        for one in state["pVertexAttributeDescriptions"]
    ]


# ── Vertex input ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_attributes_follow_each_other_in_one_binding() -> None:
    state = vertex_input_state(
        entry("vertex", inputs=(variable(0, components=3), variable(1, "int", 1), variable(5, "uint", 2))),
        PaperDevice(),
    )
    assert attributes(state) == [(0, "R32G32B32_SFLOAT", 0), (1, "R32_SINT", 12), (5, "R32G32_UINT", 16)]
    assert state["pVertexBindingDescriptions"] == [
        {"binding": 0, "stride": 24, "inputRate": "VK_VERTEX_INPUT_RATE_VERTEX"}
    ]


def test_no_inputs_no_binding() -> None:
    assert vertex_input_state(entry("vertex"), PaperDevice()) == {}


def test_inputs_that_share_a_location_are_one_attribute() -> None:
    """VUID-VkPipelineVertexInputStateCreateInfo-pVertexAttributeDescriptions-00617."""
    state = vertex_input_state(
        entry("vertex", inputs=(variable(0, components=2), variable(0, components=1, component=3))), PaperDevice()
    )
    assert attributes(state) == [(0, "R32G32B32A32_SFLOAT", 0)]


def test_64_bit_attributes_are_aligned_to_their_components() -> None:
    """A component's address is a multiple of its size ("Vertex Input Address Calculation")."""
    state = vertex_input_state(
        entry(
            "vertex",
            inputs=(variable(0, components=1), variable(1, components=3, width=64), variable(3, components=1)),
        ),
        PaperDevice(),
    )
    assert attributes(state) == [(0, "R32_SFLOAT", 0), (1, "R64G64B64_SFLOAT", 8), (3, "R32_SFLOAT", 32)]
    assert state["pVertexBindingDescriptions"][0]["stride"] == 40


def test_a_second_64_bit_component_starts_at_component_2() -> None:
    state = vertex_input_state(
        entry("vertex", inputs=(variable(0, components=1, width=64, component=2),)), PaperDevice()
    )
    assert attributes(state) == [(0, "R64G64_SFLOAT", 0)]


@pytest.mark.parametrize(
    ("has", "format_"),
    [
        ({"VK_FORMAT_R16G16B16_SFLOAT", "VK_FORMAT_R16G16B16A16_SFLOAT"}, "R16G16B16_SFLOAT"),
        ({"VK_FORMAT_R16G16B16A16_SFLOAT"}, "R16G16B16A16_SFLOAT"),
        (set(), "R32G32B32_SFLOAT"),
    ],
)
def test_16_bit_inputs_take_the_nearest_format_of_the_device(has: set[str], format_: str) -> None:
    state = vertex_input_state(
        entry("vertex", inputs=(variable(0, components=3, width=16),)), PaperDevice(formats=has.__contains__)
    )
    assert attributes(state)[0][1] == format_


def test_64_bit_inputs_have_no_substitute() -> None:
    with pytest.raises(Unsupported) as caught:
        vertex_input_state(
            entry("vertex", inputs=(variable(2, components=2, width=64),)), PaperDevice(formats=lambda name: False)
        )
    assert caught.value.code == "vulkan/format"
    assert caught.value.message == (
        "vertex input 2 is 2 × float of 64 bits: Paper takes no VK_FORMAT_R64G64_SFLOAT as a vertex format"
    )


def test_more_attributes_than_the_device_has() -> None:
    with pytest.raises(Unsupported) as caught:
        vertex_input_state(entry("vertex", inputs=(variable(16),)), PaperDevice())
    assert caught.value.message == (
        "reads a vertex attribute at location 16: 17 are needed, Paper has 16 (maxVertexInputAttributes)"
    )


# ── Attachments ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_colour_formats_have_four_components_and_gaps_none() -> None:
    found = attachments(
        entry("fragment", outputs=(variable(0, components=1), variable(2, "int", 2), variable(3, "uint", 1))),
        PaperDevice(),
    )
    assert found.colors == (
        "VK_FORMAT_R8G8B8A8_UNORM",
        None,
        "VK_FORMAT_R32G32B32A32_SINT",
        "VK_FORMAT_R32G32B32A32_UINT",
    )
    assert not found.dual_source
    assert found.depth_stencil is None


def test_dual_source_outputs_are_one_attachment_that_blends_both() -> None:
    found = attachments(entry("fragment", outputs=(variable(0), variable(0, index=1)), dual_source=True), PaperDevice())
    assert found.colors == ("VK_FORMAT_R8G8B8A8_UNORM",)
    (state,) = color_blend_state(found)["pAttachments"]
    assert state["blendEnable"] == 1
    assert state["dstColorBlendFactor"] == "VK_BLEND_FACTOR_SRC1_COLOR"
    assert state["dstAlphaBlendFactor"] == "VK_BLEND_FACTOR_SRC1_ALPHA"


def test_two_sources_in_two_attachments_are_beyond_most_devices() -> None:
    with pytest.raises(Unsupported, match="maxFragmentDualSrcAttachments"):
        attachments(
            entry("fragment", outputs=(variable(0), variable(1), variable(1, index=1)), dual_source=True),
            PaperDevice(),
        )


def test_too_many_colours() -> None:
    with pytest.raises(Unsupported, match=r"location 4: 5 attachments are needed, Paper has 4 \(maxColorAttach"):
        attachments(entry("fragment", outputs=(variable(4),)), PaperDevice())


def test_depth_is_attached_only_where_it_is_written() -> None:
    assert depth_stencil_state(attachments(entry("fragment"), PaperDevice())) is None
    found = attachments(entry("fragment", writes_depth=True), PaperDevice())
    assert (found.depth_stencil, found.depth, found.stencil) == ("VK_FORMAT_D32_SFLOAT", True, False)
    state = depth_stencil_state(found)
    assert state is not None
    assert state["depthTestEnable"] == state["depthWriteEnable"] == 1


def test_an_exported_stencil_value_is_consumed() -> None:
    found = attachments(entry("fragment", builtins_out=frozenset({5014})), PaperDevice())
    assert found.depth_stencil == "VK_FORMAT_D32_SFLOAT_S8_UINT"
    state = depth_stencil_state(found)
    assert state is not None
    assert "depthTestEnable" not in state
    assert state["stencilTestEnable"] == 1
    assert state["front"]["passOp"] == "VK_STENCIL_OP_REPLACE"


def test_input_attachments_reach_the_highest_index() -> None:
    """An array of two at 1, one at 4 of several samples: five entries, the gap at 0, 3 unused."""
    found = attachments(
        entry(
            "fragment",
            bindings=(
                Binding(0, 0, "INPUT_ATTACHMENT", 2, input_attachment_index=1),
                Binding(0, 1, "INPUT_ATTACHMENT", 1, input_attachment_index=4, multisampled=True),
            ),
            input_attachment_indices=(1, 2, 4),
        ),
        PaperDevice(),
    )
    assert found.inputs == (0, 1, 1, 0, 4)
    plain = render_pass(found, 0)
    (subpass,) = plain["pSubpasses"]
    assert [one["attachment"] for one in subpass["pInputAttachments"]] == [0xFFFFFFFF, 0, 1, 0xFFFFFFFF, 2]
    assert [one["samples"] for one in plain["pAttachments"]] == [
        "VK_SAMPLE_COUNT_1_BIT",
        "VK_SAMPLE_COUNT_1_BIT",
        "VK_SAMPLE_COUNT_4_BIT",
    ]


def test_an_input_attachment_of_a_huge_index_is_not_tried() -> None:
    with pytest.raises(Unsupported, match="reads input attachment 4294967295"):
        attachments(
            entry(
                "fragment",
                bindings=(Binding(0, 0, "INPUT_ATTACHMENT", 1, input_attachment_index=4294967295),),
                input_attachment_indices=(4294967295,),
            ),
            PaperDevice(),
        )


# ── The whole ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_dynamic_rendering_where_the_device_has_it() -> None:
    company = [stage("vertex"), stage("fragment", outputs=(variable(1),))]
    state, pass_ = graphics_state(company, PaperDevice())
    assert pass_ is None
    assert state["pNext"] == [
        [
            "VkPipelineRenderingCreateInfo",
            {"viewMask": 0, "pColorAttachmentFormats": ["VK_FORMAT_UNDEFINED", "VK_FORMAT_R8G8B8A8_UNORM"]},
        ]
    ]
    state, pass_ = graphics_state(company, PaperDevice(features=frozenset()))
    assert pass_ is not None
    assert state["renderPass"] == 0
    assert [one["attachment"] for one in pass_["pSubpasses"][0]["pColorAttachments"]] == [0xFFFFFFFF, 0]


def test_input_attachments_need_a_render_pass() -> None:
    binding = Binding(0, 0, "INPUT_ATTACHMENT", 1, input_attachment_index=0)
    _, pass_ = graphics_state(
        [stage("vertex"), stage("fragment", bindings=(binding,), input_attachment_indices=(0,))], PaperDevice()
    )
    assert pass_ is not None


@pytest.mark.parametrize(
    ("stages", "topology"),
    [
        ([stage("vertex"), stage("fragment")], "TRIANGLE_LIST"),
        (
            [stage("vertex", builtins_out=frozenset({0, 1})), stage("fragment", builtins_in=frozenset({16}))],
            "POINT_LIST",
        ),
        # Points without a size are not valid.
        ([stage("vertex"), stage("fragment", builtins_in=frozenset({16}))], "TRIANGLE_LIST"),
        ([stage("vertex"), stage("geometry", topology="points")], "POINT_LIST"),
        ([stage("vertex"), stage("geometry", topology="lines_adjacency")], "LINE_LIST_WITH_ADJACENCY"),
        ([stage("vertex"), stage("geometry", topology="triangles_adjacency")], "TRIANGLE_LIST_WITH_ADJACENCY"),
        (
            [
                stage("vertex"),
                stage("tessellation_control", patch_control_points=4),
                stage("tessellation_evaluation", topology="quads"),
                stage("geometry", topology="triangles"),
            ],
            "PATCH_LIST",
        ),
    ],
)
def test_topology_is_the_shaders_own(stages: list[StageInput], topology: str) -> None:
    state, _ = graphics_state(stages, PaperDevice())
    assert state["pInputAssemblyState"]["topology"] == f"VK_PRIMITIVE_TOPOLOGY_{topology}"


def test_patches_have_as_many_points_as_the_control_shader_makes() -> None:
    state, _ = graphics_state(
        [stage("vertex"), stage("tessellation_control", patch_control_points=4), stage("tessellation_evaluation")],
        PaperDevice(),
    )
    assert state["pTessellationState"] == {"patchControlPoints": 4}


def test_mesh_pipelines_have_no_vertex_input() -> None:
    state, _ = graphics_state([stage("mesh"), stage("fragment")], PaperDevice())
    assert not {"pVertexInputState", "pInputAssemblyState", "pTessellationState"} & set(state)


@pytest.mark.parametrize(
    "fragment", [stage("fragment", builtins_in=frozenset({18})), stage("fragment", inputs=(variable(0, sample=True),))]
)
def test_shading_by_sample_where_the_shader_works_so(fragment: StageInput) -> None:
    state, _ = graphics_state([stage("vertex"), fragment], PaperDevice())
    assert state["pMultisampleState"]["sampleShadingEnable"] == 1
    state, _ = graphics_state([stage("vertex"), stage("fragment")], PaperDevice())
    assert "sampleShadingEnable" not in state["pMultisampleState"]


def test_two_views_where_a_stage_asks_which_one_it_is() -> None:
    stages = [stage("vertex", builtins_in=frozenset({4440})), stage("fragment")]
    state, _ = graphics_state(stages, PaperDevice())
    assert state["pNext"][0][1]["viewMask"] == 3
    with pytest.raises(Unsupported, match="multiviewGeometryShader") as caught:
        graphics_state([*stages, stage("geometry", topology="triangles")], PaperDevice())
    assert caught.value.code == "vulkan/feature-missing"
    device = PaperDevice(features=frozenset({(ANY, "multiviewGeometryShader")}))
    graphics_state([*stages, stage("geometry", topology="triangles")], device)


# ── Which stages go together, and what each must keep to ──────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (["compute"], "compute"),
        (["fragment", "vertex"], "graphics"),
        (["task", "mesh", "fragment"], "graphics"),
        (["miss", "raygen", "miss"], "ray_tracing"),
    ],
)
def test_kinds(words: list[str], kind: str) -> None:
    assert pipeline_kind([stage(word) for word in words]) == kind


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["compute", "fragment"], "compute and fragment can't be in one pipeline"),
        (["vertex", "vertex", "fragment"], "2 vertex stages: a.vertex.spv, a.vertex.spv"),
        (["vertex", "mesh"], "vertex and mesh can't be in one pipeline: mesh shaders replace the others"),
    ],
)
def test_stages_that_can_not_be_together(words: list[str], says: str) -> None:
    with pytest.raises(Unsupported) as caught:
        pipeline_kind([stage(word) for word in words])
    assert (caught.value.code, caught.value.message) == ("pipeline/stages", says)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"local_size": (129, 1, 1)}, "its workgroup is 129×1×1: 129 in x, Paper has 128 (maxComputeWorkGroupSize[0])"),
        (
            {"local_size": (16, 16, 1)},
            "its workgroup is 16×16×1: 256 invocations, Paper has 128 (maxComputeWorkGroupInvocations)",
        ),
        (
            {"local_size": (1, 1, 1), "shared_bytes": 32768},
            "its shared memory is 32768 bytes, Paper has 16384 (maxComputeSharedMemorySize)",
        ),
    ],
)
def test_workgroups_keep_to_the_limits(more: dict[str, Any], says: str) -> None:
    with pytest.raises(Unsupported) as caught:
        check_stage(entry("compute", **more), PaperDevice())
    assert (caught.value.code, caught.value.message) == ("vulkan/limit", says)


def test_an_empty_workgroup_is_no_module() -> None:
    with pytest.raises(InvalidSpirv, match="64×0×1"):
        check_stage(entry("compute", local_size=(64, 0, 1)), PaperDevice())


def test_locations_beyond_the_limit() -> None:
    """VUID-RuntimeSpirv-Location-06272: 64 components are 16 locations; a dvec3 takes two."""
    check_stage(entry("fragment", inputs=(variable(15),)), PaperDevice())
    with pytest.raises(Unsupported, match=r"inputs reach location 16, that is 68 components, Paper has 64"):
        check_stage(entry("fragment", inputs=(variable(15, width=64, components=3),)), PaperDevice())
    with pytest.raises(Unsupported, match="maxVertexOutputComponents"):
        check_stage(entry("vertex", outputs=(variable(4000000000),)), PaperDevice(limits=LEAST))


# ── Synthesis ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_stages_come_in_pipeline_order_with_their_modules() -> None:
    fragment, vertex = stage("fragment", outputs=(variable(0),)), stage("vertex", outputs=(variable(0),))
    spec = synthesise([fragment, vertex], PaperDevice())
    assert [(one["stage"], one["module"], one["pName"]) for one in spec.create_info["pStages"]] == [
        ("VK_SHADER_STAGE_VERTEX_BIT", 0, "main"),
        ("VK_SHADER_STAGE_FRAGMENT_BIT", 1, "main"),
    ]
    assert [module.path for module in spec.modules] == ["a.vertex.spv", "a.fragment.spv"]
    assert (spec.kind, spec.bound, spec.synthetic_stages) == ("graphics", "exact", 0)


def test_stages_of_one_module_share_it() -> None:
    both = [
        StageInput(b"same", "a.spv", NOTHING, entry("vertex", builtins_out=frozenset({0}))),
        StageInput(b"same", "a.spv", NOTHING, entry("fragment")),
    ]
    spec = synthesise(both, PaperDevice())
    assert len(spec.modules) == 1
    assert [one["module"] for one in spec.create_info["pStages"]] == [0, 0]


def test_compute_has_its_stage_and_nothing_else() -> None:
    spec = synthesise([stage("compute", local_size=(8, 8, 1))], PaperDevice())
    assert spec.create_info == {
        "stage": {"stage": "VK_SHADER_STAGE_COMPUTE_BIT", "module": 0, "pName": "main"},
    }
    assert spec.layout == {"pSetLayouts": [], "pPushConstantRanges": []}


def test_specialization_goes_to_the_stage_that_has_the_constant() -> None:
    compute = entry("compute", local_size=(1, 1, 1), spec_constants=(SpecConstant(7, "n", "uint32", 1, 4),))
    spec = synthesise([StageInput(b"", "a.comp.spv", NOTHING, compute, {7: 64, 8: 1})], PaperDevice())
    assert spec.create_info["stage"]["pSpecializationInfo"] == {
        "pMapEntries": [{"constantID": 7, "offset": 0, "size": 4}],
        "pData": (64).to_bytes(4, sys.byteorder),
    }
    with pytest.raises(Unsupported) as caught:
        synthesise([StageInput(b"", "a.comp.spv", NOTHING, compute, {7: -1})], PaperDevice())
    assert (caught.value.code, caught.value.path) == ("spirv/spec-value", "a.comp.spv")


def test_depth_and_stencil_in_a_render_pass() -> None:
    fragment = stage("fragment", writes_depth=True, builtins_out=frozenset({22, 5014}))
    _, pass_ = graphics_state([stage("vertex"), fragment], PaperDevice(features=frozenset()))
    assert pass_ is not None
    reference = pass_["pSubpasses"][0]["pDepthStencilAttachment"]
    assert reference["aspectMask"] == "VK_IMAGE_ASPECT_DEPTH_BIT|VK_IMAGE_ASPECT_STENCIL_BIT"
    assert pass_["pAttachments"][reference["attachment"]]["format"] == "VK_FORMAT_D32_SFLOAT_S8_UINT"
    _, info = graphics_state([stage("vertex"), fragment], PaperDevice())[0]["pNext"][0]
    assert info["depthAttachmentFormat"] == info["stencilAttachmentFormat"] == "VK_FORMAT_D32_SFLOAT_S8_UINT"


def test_the_other_depth_format_where_the_device_lacks_the_first() -> None:
    found = attachments(entry("fragment", writes_depth=True), PaperDevice(formats=lambda name: "X8" in name))
    assert found.depth_stencil == "VK_FORMAT_X8_D24_UNORM_PACK32"


def test_the_file_to_blame_is_named() -> None:
    with pytest.raises(Unsupported) as caught:
        synthesise([stage("vertex", inputs=(variable(99),)), stage("fragment")], PaperDevice())
    assert caught.value.path == "a.vertex.spv"


def test_ray_tracing_groups() -> None:
    words = ["raygen", "any_hit", "closest_hit", "closest_hit", "miss", "intersection", "callable"]
    spec = synthesise([stage(word) for word in words], PaperDevice())
    unused = 0xFFFFFFFF
    # pStages in the order of the stage bits: raygen, any hit, closest hits, miss, intersection, callable.
    assert [
        (one["generalShader"], one["closestHitShader"], one["anyHitShader"], one["intersectionShader"])
        for one in spec.create_info["pGroups"]
    ] == [
        (0, unused, unused, unused),
        (4, unused, unused, unused),
        (6, unused, unused, unused),
        (unused, 2, 1, 5),
        (unused, 3, unused, unused),
    ]
    assert spec.create_info["pGroups"][3]["type"] == "VK_RAY_TRACING_SHADER_GROUP_TYPE_PROCEDURAL_HIT_GROUP_KHR"
