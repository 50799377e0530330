"""State that a pipeline leaves to its command buffer: set to what the pipeline says of it all the same, or to what
changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from shaderstat.errors import Unsupported
from shaderstat.pipeline.run_interface import linked, name, number, state

from .binding import ffi
from .objects import Objects

if TYPE_CHECKING:
    from shaderstat.pipeline.resources import Target
    from shaderstat.pipeline.spec import PipelineSpec, Plain

    from .recording import Recorder

_PREFIX = "VK_DYNAMIC_STATE_"
_STRIDE = "VERTEX_INPUT_BINDING_STRIDE"
_EXTENSIONS = ("_EXT", "_KHR", "_NV", "_AMD")


def set_dynamic_state(objects: Objects, recorder: Recorder, spec: PipelineSpec, target: Target) -> None:
    """Record what sets each dynamic state of `spec`.

    Raises:
        Unsupported: ``run/dynamic-state``: one that this version has no value for.
    """
    said = _Said(spec, target)
    for each in dict.fromkeys(_dynamic_states(spec)):
        word = _word(each)
        if word == _STRIDE:
            continue
        setter = _SETTERS.get(word)
        if setter is None:
            raise Unsupported("run/dynamic-state", f"the pipeline leaves {each} to its command buffer: no value for it")
        call, arguments = setter
        for one in arguments(said):
            command(objects, call)(recorder.handle, *one)


def dynamic_strides(spec: PipelineSpec) -> dict[int, int] | None:
    """Strides by binding, where they are said when vertex buffers are bound; None where the pipeline has them."""
    if all(_word(each) != _STRIDE for each in _dynamic_states(spec)):
        return None
    its = state(spec, "pVertexInputState") or {}
    return {each.get("binding", 0): each.get("stride", 0) for each in its.get("pVertexBindingDescriptions") or ()}


def _word(state: str) -> str:
    word = state.removeprefix(_PREFIX)
    for suffix in _EXTENSIONS:
        word = word.removesuffix(suffix)
    return word


def command(objects: Objects, name: str) -> Any:
    """Under its name of Vulkan 1.3, or of the extension that brought it."""
    found = objects.functions.find(name) or objects.functions.find(name + "EXT")
    return found or objects.command(name)


def _dynamic_states(spec: PipelineSpec) -> list[str]:
    return [
        name("VkDynamicState", each)
        for one in linked(spec)
        for each in (one.create_info.get("pDynamicState") or {}).get("pDynamicStates") or ()
    ]


class _Said:
    """What the pipeline says of its state, dynamic or not."""

    def __init__(self, spec: PipelineSpec, target: Target) -> None:
        self.spec = spec
        self.target = target
        self.viewport: Plain = state(spec, "pViewportState") or {}
        self.rasterization: Plain = state(spec, "pRasterizationState") or {}
        self.depth_stencil: Plain = state(spec, "pDepthStencilState") or {}
        self.blend: Plain = state(spec, "pColorBlendState") or {}
        self.assembly: Plain = state(spec, "pInputAssemblyState") or {}
        self.tessellation: Plain = state(spec, "pTessellationState") or {}
        self.vertex: Plain = state(spec, "pVertexInputState") or {}

    def viewports(self) -> Any:
        width, height = self.target.extent
        whole = {"width": float(width), "height": float(height), "maxDepth": 1.0}
        return ffi.new("VkViewport[]", [whole] * max(self.viewport.get("viewportCount", 1), 1))

    def scissors(self) -> Any:
        width, height = self.target.extent
        whole = {"extent": {"width": width, "height": height}}
        return ffi.new("VkRect2D[]", [whole] * max(self.viewport.get("scissorCount", 1), 1))

    def face(self, side: str) -> Plain:
        its: Mapping[str, Any] = self.depth_stencil.get(side) or {}
        return its


Arguments = Callable[[_Said], list[tuple[Any, ...]]]


def _viewports(said: _Said) -> list[tuple[Any, ...]]:
    found = said.viewports()
    return [(0, len(found), found)]


def _scissors(said: _Said) -> list[tuple[Any, ...]]:
    found = said.scissors()
    return [(0, len(found), found)]


def _viewports_with_count(said: _Said) -> list[tuple[Any, ...]]:
    found = said.viewports()
    return [(len(found), found)]


def _scissors_with_count(said: _Said) -> list[tuple[Any, ...]]:
    found = said.scissors()
    return [(len(found), found)]


def _depth_bias(said: _Said) -> list[tuple[Any, ...]]:
    its = said.rasterization
    members = ("depthBiasConstantFactor", "depthBiasClamp", "depthBiasSlopeFactor")
    return [tuple(its.get(member, 0.0) for member in members)]


def _blend_constants(said: _Said) -> list[tuple[Any, ...]]:
    return [(ffi.new("float[4]", list(said.blend.get("blendConstants") or (0.0,) * 4)),)]


def _stencil_op(said: _Said) -> list[tuple[Any, ...]]:
    calls: list[tuple[Any, ...]] = []
    for bit, side in ((1, "front"), (2, "back")):
        face = said.face(side)
        operations = (number("VkStencilOp", face.get(one, 0)) for one in ("failOp", "passOp", "depthFailOp"))
        calls.append((bit, *operations, number("VkCompareOp", face.get("compareOp", 0))))
    return calls


def _stencil(member: str, default: int) -> Arguments:
    return lambda said: [(bit, said.face(side).get(member, default)) for bit, side in ((1, "front"), (2, "back"))]


def _of(part: str, member: str, type: str = "", default: Any = 0) -> Arguments:
    """One argument: a member of one of the states."""

    def arguments(said: _Said) -> list[tuple[Any, ...]]:
        value = getattr(said, part).get(member, default)
        return [(number(type, value) if type else value,)]

    return arguments


def _depth_bounds(said: _Said) -> list[tuple[Any, ...]]:
    return [(said.depth_stencil.get("minDepthBounds", 0.0), said.depth_stencil.get("maxDepthBounds", 1.0))]


# The dynamic state's word → the command, and the arguments of each call of it.
_SETTERS: Mapping[str, tuple[str, Arguments]] = {
    "VIEWPORT": ("vkCmdSetViewport", _viewports),
    "SCISSOR": ("vkCmdSetScissor", _scissors),
    "VIEWPORT_WITH_COUNT": ("vkCmdSetViewportWithCount", _viewports_with_count),
    "SCISSOR_WITH_COUNT": ("vkCmdSetScissorWithCount", _scissors_with_count),
    "LINE_WIDTH": ("vkCmdSetLineWidth", _of("rasterization", "lineWidth", default=1.0)),
    "DEPTH_BIAS": ("vkCmdSetDepthBias", _depth_bias),
    "BLEND_CONSTANTS": ("vkCmdSetBlendConstants", _blend_constants),
    "DEPTH_BOUNDS": ("vkCmdSetDepthBounds", _depth_bounds),
    "STENCIL_COMPARE_MASK": ("vkCmdSetStencilCompareMask", _stencil("compareMask", 0xFF)),
    "STENCIL_WRITE_MASK": ("vkCmdSetStencilWriteMask", _stencil("writeMask", 0xFF)),
    "STENCIL_REFERENCE": ("vkCmdSetStencilReference", _stencil("reference", 0)),
    "CULL_MODE": ("vkCmdSetCullMode", _of("rasterization", "cullMode", "VkCullModeFlags")),
    "FRONT_FACE": ("vkCmdSetFrontFace", _of("rasterization", "frontFace", "VkFrontFace")),
    "PRIMITIVE_TOPOLOGY": ("vkCmdSetPrimitiveTopology", _of("assembly", "topology", "VkPrimitiveTopology")),
    "PRIMITIVE_RESTART_ENABLE": ("vkCmdSetPrimitiveRestartEnable", _of("assembly", "primitiveRestartEnable")),
    "DEPTH_TEST_ENABLE": ("vkCmdSetDepthTestEnable", _of("depth_stencil", "depthTestEnable")),
    "DEPTH_WRITE_ENABLE": ("vkCmdSetDepthWriteEnable", _of("depth_stencil", "depthWriteEnable")),
    "DEPTH_COMPARE_OP": ("vkCmdSetDepthCompareOp", _of("depth_stencil", "depthCompareOp", "VkCompareOp")),
    "DEPTH_BOUNDS_TEST_ENABLE": ("vkCmdSetDepthBoundsTestEnable", _of("depth_stencil", "depthBoundsTestEnable")),
    "STENCIL_TEST_ENABLE": ("vkCmdSetStencilTestEnable", _of("depth_stencil", "stencilTestEnable")),
    "STENCIL_OP": ("vkCmdSetStencilOp", _stencil_op),
    "RASTERIZER_DISCARD_ENABLE": (
        "vkCmdSetRasterizerDiscardEnable",
        _of("rasterization", "rasterizerDiscardEnable"),
    ),
    "DEPTH_BIAS_ENABLE": ("vkCmdSetDepthBiasEnable", _of("rasterization", "depthBiasEnable")),
    "LOGIC_OP": ("vkCmdSetLogicOp", _of("blend", "logicOp", "VkLogicOp")),
    "PATCH_CONTROL_POINTS": ("vkCmdSetPatchControlPoints", _of("tessellation", "patchControlPoints", default=3)),
}
