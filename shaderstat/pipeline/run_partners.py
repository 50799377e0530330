"""Runs of lone stages: what their generated partners must be fed, so that the stage has something to do."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from shaderstat.errors import Unsupported
from shaderstat.model import STAGE_BITS
from shaderstat.pipeline.run_interface import infos, name, number, state

if TYPE_CHECKING:
    from shaderstat.instrumentation import Execution
    from shaderstat.pipeline.spec import PipelineSpec

# Three corners of a triangle that covers the whole target, before the far plane and behind the near one: it passes
# every depth test against what the target is cleared to. Turned clockwise in framebuffer coordinates, where y is down.
_CORNERS = ((-1.0, -1.0), (3.0, -1.0), (-1.0, 3.0))
_DEPTH = 0.5
_POSITION_FORMAT = "VK_FORMAT_R32G32B32A32_SFLOAT"
COVERING = "a triangle that covers the target"
CORNERS = "three corners around the target, again and again"
# Of what is rasterised with these a triangle's corners are so many vertices.
_TRIANGLES = {
    "VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST": 3,
    "VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP": 3,
    "VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN": 3,
    "VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST_WITH_ADJACENCY": 6,
    "VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP_WITH_ADJACENCY": 6,
}


def check_partners(spec: PipelineSpec, execution: Execution) -> None:
    """Refuse a run in which the stage that was given would hardly have anything to do.

    Raises:
        Unsupported: ``run/lone-stage``.
    """
    real = sum(
        {number("VkShaderStageFlagBits", info.get("stage", 0)) for info, module in infos(spec) if not module.synthetic}
    )
    for stage, why, is_fed in (
        ("tessellation_control", "its tessellation levels are nobody's", False),
        ("mesh", "its triangle lies anywhere", real & STAGE_BITS["task"]),
        # A ray whose origin is no number may be followed for ever: NVIDIA's driver (580.159) loses its device over it.
        ("raygen", "its rays come from anywhere", real == STAGE_BITS["callable"]),
    ):
        if spec.synthetic_stages & STAGE_BITS[stage] and not is_fed:
            words = stage.replace("_", " ")
            raise Unsupported(
                "run/lone-stage",
                f"the {words} stage of this pipeline is generated, and {why}: a run of it tells nothing",
                hint="name the files of all stages",
            )
    if covers(spec) and not execution.vertices:
        _check_covering(spec, execution)


def covers(spec: PipelineSpec) -> bool:
    """Whether a generated vertex stage stands right before the rasteriser: what it draws is to cover the target."""
    stages = {number("VkShaderStageFlagBits", info.get("stage", 0)) for info, _ in infos(spec)}
    between = ("tessellation_control", "tessellation_evaluation", "geometry")
    return bool(spec.synthetic_stages & STAGE_BITS["vertex"]) and not stages & {STAGE_BITS[each] for each in between}


def turned(spec: PipelineSpec) -> bool:
    """Whether the triangle must be the other way round, so as not to be culled."""
    its = state(spec, "pRasterizationState") or {}
    cull = number("VkCullModeFlags", its.get("cullMode", 0))
    clockwise_is_front = name("VkFrontFace", its.get("frontFace", 0)) == "VK_FRONT_FACE_CLOCKWISE"
    return cull == (_CULL_FRONT if clockwise_is_front else _CULL_BACK)


_CULL_FRONT, _CULL_BACK, _CULL_BOTH = 1, 2, 3


def _check_covering(spec: PipelineSpec, execution: Execution) -> None:
    why, hint = "", "name the file of a vertex stage as well"
    topology = name("VkPrimitiveTopology", (state(spec, "pInputAssemblyState") or {}).get("topology", 0))
    raster = state(spec, "pRasterizationState") or {}
    polygons = name("VkPolygonMode", raster.get("polygonMode", 0))
    short = [each for each in execution.commands if each.kind == "draw" and each.size[0] < _TRIANGLES.get(topology, 0)]
    if topology not in _TRIANGLES:
        why = f"a {topology.removeprefix('VK_PRIMITIVE_TOPOLOGY_')} draws none"
        hint = "leave out --topology, or name the file of a vertex stage as well"
    elif polygons != "VK_POLYGON_MODE_FILL":
        why = f"{polygons} leaves it empty"
    elif raster.get("rasterizerDiscardEnable"):
        why = "the pipeline discards whatever is rasterised"
    elif number("VkCullModeFlags", raster.get("cullMode", 0)) == _CULL_BOTH:
        why = "the pipeline culls both its faces"
    elif short:
        why = f"{short[0]} has too few vertices"
        hint = f"--draw {_TRIANGLES[topology]}"
    if why:
        message = f"the vertex stage of this pipeline is generated, to draw a triangle that covers the target: {why}"
        raise Unsupported("run/lone-stage", message, hint=hint)


def vertex_data(spec: PipelineSpec, vertices: int) -> dict[int, bytes]:
    """The content of vertex buffers that a generated vertex stage reads, by binding: its position is its first
    attribute (`shaderstat.spirv.partners.vertex_before`), the others are zero. Empty where the stage was given."""
    if not spec.synthetic_stages & STAGE_BITS["vertex"]:
        return {}
    its = state(spec, "pVertexInputState") or {}
    strides = {each.get("binding", 0): each.get("stride", 0) for each in its.get("pVertexBindingDescriptions") or ()}
    for each in its.get("pVertexAttributeDescriptions") or ():
        if each.get("location", 0) == 0 and name("VkFormat", each.get("format", 0)) == _POSITION_FORMAT:
            binding, offset = each.get("binding", 0), each.get("offset", 0)
            stride = strides.get(binding, 0)
            corners = [struct.pack("=4f", x, y, _DEPTH, 1.0) for x, y in _CORNERS[:: -1 if turned(spec) else 1]]
            data = bytearray(stride * max(min(vertices, _MOST), 1))
            for vertex in range(len(data) // stride if stride >= offset + 16 else 0):
                data[vertex * stride + offset : vertex * stride + offset + 16] = corners[vertex % 3]
            return {binding: bytes(data)}
    return {}


# Vertices that are written one by one; the rest of a larger draw lies in one point.
_MOST = 1 << 16
