"""A graphics pipeline's create info, from the stages that it has.

The defaults are those that change nothing of the answer, measured on five drivers: cull mode, blending, strips, depth
format and dynamic viewports don't; vertex formats, topology and attachments that a shader writes to do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shaderstat.errors import Unsupported
from shaderstat.pipeline.attachments import (
    attachments,
    color_blend_state,
    depth_stencil_state,
    render_pass,
    rendering_info,
)
from shaderstat.pipeline.stages import StageInput, blame, limit
from shaderstat.pipeline.vertex_input import vertex_input_state
from shaderstat.spirv.facts import EntryPoint

if TYPE_CHECKING:
    from shaderstat.backends.base import DeviceFacts
    from shaderstat.pipeline.spec import Plain

# BuiltIn numbers (SPIR-V specification 3.21).
POINT_SIZE, POINT_COORD, SAMPLE_ID, SAMPLE_POSITION, VIEW_INDEX = 1, 16, 18, 19, 4440

# What a geometry shader reads decides what is assembled.
_TOPOLOGIES = {
    "points": "VK_PRIMITIVE_TOPOLOGY_POINT_LIST",
    "lines": "VK_PRIMITIVE_TOPOLOGY_LINE_LIST",
    "lines_adjacency": "VK_PRIMITIVE_TOPOLOGY_LINE_LIST_WITH_ADJACENCY",
    "triangles": "VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST",
    "triangles_adjacency": "VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST_WITH_ADJACENCY",
}


def graphics_state(company: Sequence[StageInput], facts: DeviceFacts) -> tuple[dict[str, Any], Plain | None]:
    """Everything of VkGraphicsPipelineCreateInfo but its stages; and the render pass where one is needed.

    Args:
        company: a complete set of stages.

    Raises:
        Unsupported: ``vulkan/limit`` or ``vulkan/format``.
    """
    stages = {stage.entry.stage: stage.entry for stage in company}
    paths = {stage.entry.stage: stage.path for stage in company}
    fragment = stages.get("fragment")
    view_mask = _view_mask(company, facts)
    state: dict[str, Any] = {
        "pViewportState": {"viewportCount": 1, "scissorCount": 1},
        "pRasterizationState": {
            "polygonMode": "VK_POLYGON_MODE_FILL",
            "cullMode": "VK_CULL_MODE_NONE",
            "frontFace": "VK_FRONT_FACE_COUNTER_CLOCKWISE",
            "lineWidth": 1.0,
        },
        "pMultisampleState": _multisample_state(fragment),
        "pDynamicState": {"pDynamicStates": ["VK_DYNAMIC_STATE_VIEWPORT", "VK_DYNAMIC_STATE_SCISSOR"]},
    }
    vertex = stages.get("vertex")
    if vertex is not None:  # a mesh pipeline assembles its primitives by itself
        with blame(paths["vertex"]):
            state["pVertexInputState"] = vertex_input_state(vertex, facts)
        state["pInputAssemblyState"] = {"topology": _topology(stages)}
    control = stages.get("tessellation_control")
    if control is not None:
        with blame(paths["tessellation_control"]):
            state["pTessellationState"] = {"patchControlPoints": _patch_control_points(control, facts)}
    with blame(paths.get("fragment", "")):
        targets = attachments(fragment, facts)
    state["pColorBlendState"] = color_blend_state(targets)
    depth_stencil = depth_stencil_state(targets)
    if depth_stencil is not None:
        state["pDepthStencilState"] = depth_stencil
    # Input attachments exist in render passes only (or with VK_KHR_dynamic_rendering_local_read).
    if targets.inputs or not facts.has_feature("VkPhysicalDeviceDynamicRenderingFeatures", "dynamicRendering"):
        return state | {"renderPass": 0, "subpass": 0}, render_pass(targets, view_mask)
    return state | {"pNext": [["VkPipelineRenderingCreateInfo", rendering_info(targets, view_mask)]]}, None


def _topology(stages: Mapping[str, EntryPoint]) -> str:
    if "tessellation_control" in stages:
        return "VK_PRIMITIVE_TOPOLOGY_PATCH_LIST"
    geometry = stages.get("geometry")
    if geometry is not None:
        return _TOPOLOGIES[geometry.topology or "triangles"]
    # PointCoord has a value in points alone; the stage before must then say their size
    # (VUID-VkGraphicsPipelineCreateInfo-topology-08773).
    fragment, vertex = stages.get("fragment"), stages.get("vertex")
    if (
        fragment is not None
        and vertex is not None
        and POINT_COORD in fragment.builtins_in
        and POINT_SIZE in vertex.builtins_out
    ):
        return "VK_PRIMITIVE_TOPOLOGY_POINT_LIST"
    return "VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST"


def _patch_control_points(control: EntryPoint, facts: DeviceFacts) -> int:
    """As many points in as the control shader makes: what most applications have, and never 0
    (VUID-VkPipelineTessellationStateCreateInfo-patchControlPoints-01214)."""
    points = control.patch_control_points or 3
    limit(facts, "maxTessellationPatchSize", points, f"its patches have {points} control points")
    return points


def _multisample_state(fragment: EntryPoint | None) -> dict[str, Any]:
    """One sample; shaded one by one where the shader works by sample anyway."""
    state: dict[str, Any] = {"rasterizationSamples": "VK_SAMPLE_COUNT_1_BIT"}
    if fragment is not None and (
        fragment.builtins_in & {SAMPLE_ID, SAMPLE_POSITION} or any(one.sample for one in fragment.inputs)
    ):
        state |= {"sampleShadingEnable": 1, "minSampleShading": 1.0}
    return state


def _view_mask(company: Sequence[StageInput], facts: DeviceFacts) -> int:
    """Two views where a stage asks which one it is in: with none ViewIndex would be folded to 0.

    Otherwise none, since a view mask changes the code of every vertex shader.

    Raises:
        Unsupported: ``vulkan/feature-missing``.
    """
    if not any(VIEW_INDEX in stage.entry.builtins_in for stage in company):
        return 0
    for stage in company:
        struct, member = _MULTIVIEW.get(stage.entry.stage, ("", ""))
        if member and not facts.has_feature(struct, member):
            with blame(stage.path):
                raise Unsupported(
                    "vulkan/feature-missing",
                    f"asks for ViewIndex in a pipeline with a {stage.entry.stage.replace('_', ' ')} stage: "
                    f"{facts.device.name} lacks {member}",
                )
    return 0b11


_MULTIVIEW = {
    "geometry": ("VkPhysicalDeviceMultiviewFeatures", "multiviewGeometryShader"),
    "tessellation_control": ("VkPhysicalDeviceMultiviewFeatures", "multiviewTessellationShader"),
    "mesh": ("VkPhysicalDeviceMeshShaderFeaturesEXT", "multiviewMeshShader"),
}
