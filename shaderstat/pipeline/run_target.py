"""The target that a graphics pipeline draws to in a run: its attachments, from the render pass or without one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from shaderstat.errors import Unsupported
from shaderstat.pipeline.resources import Attachment, Target
from shaderstat.pipeline.run_buffers import limit
from shaderstat.pipeline.run_interface import chained, name, number, state

if TYPE_CHECKING:
    from shaderstat.backends.base import DeviceFacts
    from shaderstat.instrumentation import Execution
    from shaderstat.pipeline.spec import PipelineSpec, Plain

UNUSED = 0xFFFFFFFF  # VK_ATTACHMENT_UNUSED
COLOR, DEPTH_STENCIL = "VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL", "VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL"
_USAGE = "VK_IMAGE_USAGE_{}_BIT"
_UNDEFINED = ("VK_IMAGE_LAYOUT_UNDEFINED", "VK_IMAGE_LAYOUT_PREINITIALIZED")
# Attachments that a render pass has beside those that are drawn into and read: nothing is made for them.
_FOREIGN = ("VkFragmentShadingRateAttachmentInfoKHR", "VkRenderPassFragmentDensityMapCreateInfoEXT")


def plan_target(spec: PipelineSpec, execution: Execution, facts: DeviceFacts) -> Target:
    """The target of a graphics pipeline, `execution.extent` large.

    Raises:
        Unsupported: ``run/limit`` or ``run/attachment``.
    """
    width, height = execution.extent
    if not width * height:
        raise Unsupported("run/limit", f"an extent of {width}x{height}: no side may be 0")
    for axis, (member, side) in enumerate((("maxFramebufferWidth", width), ("maxFramebufferHeight", height))):
        what = f"an extent of {width}x{height}"
        limit(facts, member, side, what)
        limit(facts, "maxImageDimension2D", side, what)
        limit(facts, f"maxViewportDimensions[{axis}]", side, what)
    clear = _depth_clear(spec)
    if spec.render_pass is not None:
        target = _of_render_pass(spec, execution.extent, clear)
    else:
        target = _without(spec, execution.extent, clear)
    instances = max((command.size[1] for command in execution.commands if command.kind == "draw"), default=1)
    if target.view_mask:
        # VUID-vkCmdDraw-maxMultiviewInstanceIndex-02688
        limit(facts, "maxMultiviewInstanceIndex", instances - 1, f"{instances} instances in several views", _MULTIVIEW)
    return target


_MULTIVIEW = "VkPhysicalDeviceMultiviewProperties"


def aspects(format: str) -> str:
    """VkImageAspectFlags of a format's attachment."""
    depth = any(part in format for part in ("_D16_", "_D24_", "_D32_", "X8_D24"))
    found = [word for word, is_there in (("DEPTH", depth), ("STENCIL", "S8_UINT" in format)) if is_there]
    return "|".join(f"VK_IMAGE_ASPECT_{word}_BIT" for word in found or ["COLOR"])


def _attachment(format: str, samples: int, layers: int, usage: str, layout: str, depth: float) -> Attachment:
    its = aspects(format)
    # Cleared by a transfer before each submission; multisampled ones as well.
    usage = f"{usage}|{_USAGE.format('TRANSFER_DST')}"
    clear = (0.0, 0.0, 0.0, 0.0) if "COLOR" in its else (depth, 0.0)
    return Attachment(format, samples, layers, usage, its, layout, clear)


def _depth_clear(spec: PipelineSpec) -> float:
    """The depth behind everything: 1, or 0 where what lies farther is drawn over what lies nearer."""
    its = state(spec, "pDepthStencilState") or {}
    compare = name("VkCompareOp", its.get("depthCompareOp", 0))
    return 0.0 if its.get("depthTestEnable") and "GREATER" in compare else 1.0


# ── Without a render pass ─────────────────────────────────────────────────────────────────────────────────────────


def _without(spec: PipelineSpec, extent: tuple[int, int], clear: float) -> Target:
    info = chained(spec, "VkPipelineRenderingCreateInfo") or chained(spec, "VkPipelineRenderingCreateInfoKHR") or {}
    samples = number("VkSampleCountFlagBits", (state(spec, "pMultisampleState") or {}).get("rasterizationSamples", 1))
    view_mask = info.get("viewMask", 0)
    layers = max(view_mask.bit_length(), 1)
    made: list[Attachment] = []

    def place(format: Any, usage: str, layout: str) -> int | None:
        its = name("VkFormat", format)
        if its == "VK_FORMAT_UNDEFINED":
            return None
        made.append(_attachment(its, max(samples, 1), layers, _USAGE.format(usage), layout, clear))
        return len(made) - 1

    colors = tuple(place(each, "COLOR_ATTACHMENT", COLOR) for each in info.get("pColorAttachmentFormats") or ())
    depth_format, stencil_format = info.get("depthAttachmentFormat", 0), info.get("stencilAttachmentFormat", 0)
    depth = place(depth_format, "DEPTH_STENCIL_ATTACHMENT", DEPTH_STENCIL)
    if depth is not None and name("VkFormat", depth_format) == name("VkFormat", stencil_format):
        stencil: int | None = depth  # one view for both (VUID-VkRenderingInfo-pDepthAttachment-06085)
    else:
        stencil = place(stencil_format, "DEPTH_STENCIL_ATTACHMENT", DEPTH_STENCIL)
        if depth is not None and stencil is not None:
            raise Unsupported("run/attachment", "depth and stencil attachments of two formats can't be one image")
    return Target(extent, tuple(made), colors, depth, stencil, view_mask)


# ── In a render pass ──────────────────────────────────────────────────────────────────────────────────────────────


def _of_render_pass(spec: PipelineSpec, extent: tuple[int, int], clear: float) -> Target:
    render_pass = spec.render_pass
    assert render_pass is not None
    subpasses = render_pass.get("pSubpasses") or ()
    masks = _view_masks(render_pass)
    usages: dict[int, list[str]] = {}
    layers = max((mask.bit_length() for mask in masks), default=0) or 1
    _refuse_foreign(render_pass)
    for subpass in subpasses:
        for place, usage in _references(subpass):
            usages.setdefault(place, []).append(_USAGE.format(usage))
    made = []
    for place, description in enumerate(render_pass.get("pAttachments") or ()):
        format = name("VkFormat", description.get("format", 0))
        fallback = "COLOR_ATTACHMENT" if "COLOR" in aspects(format) else "DEPTH_STENCIL_ATTACHMENT"
        usage = "|".join(dict.fromkeys(usages.get(place) or [_USAGE.format(fallback)]))
        samples = number("VkSampleCountFlagBits", description.get("samples", 1)) or 1
        layout = name("VkImageLayout", description.get("initialLayout", 0))
        if layout in _UNDEFINED:
            layout = COLOR if "COLOR" in aspects(format) else DEPTH_STENCIL
        made.append(_attachment(format, samples, layers, usage, layout, clear))
    index = state(spec, "subpass") or 0
    if index >= len(subpasses):
        raise Unsupported("run/attachment", f"the pipeline is for subpass {index}; there are {len(subpasses)}")
    view_mask = masks[index] if index < len(masks) else 0
    return Target(extent, tuple(made), view_mask=view_mask, subpass=index, subpasses=len(subpasses))


def _view_masks(render_pass: Plain) -> list[int]:
    for struct, members in render_pass.get("pNext") or ():
        if struct.startswith("VkRenderPassMultiviewCreateInfo"):
            return list(members.get("pViewMasks") or ())
    return [subpass.get("viewMask", 0) for subpass in render_pass.get("pSubpasses") or ()]


def _references(subpass: Plain) -> Iterator[tuple[int, str]]:
    """(attachment, VkImageUsageFlagBits' word) of all that a subpass uses."""
    resolve = [
        members.get("pDepthStencilResolveAttachment")
        for struct, members in subpass.get("pNext") or ()
        if struct.startswith("VkSubpassDescriptionDepthStencilResolve")
    ]
    for references, usage in (
        (subpass.get("pColorAttachments"), "COLOR_ATTACHMENT"),
        (subpass.get("pResolveAttachments"), "COLOR_ATTACHMENT"),
        (subpass.get("pInputAttachments"), "INPUT_ATTACHMENT"),
        ([subpass.get("pDepthStencilAttachment"), *resolve], "DEPTH_STENCIL_ATTACHMENT"),
    ):
        for each in references or ():
            if each is not None and each.get("attachment", 0) != UNUSED:
                yield each.get("attachment", 0), usage


def _refuse_foreign(render_pass: Plain) -> None:
    holders = [render_pass, *(render_pass.get("pSubpasses") or ())]
    for holder in holders:
        for struct, _ in holder.get("pNext") or ():
            if struct in _FOREIGN:
                raise Unsupported("run/attachment", f"the render pass has a {struct}: nothing is made for it")
