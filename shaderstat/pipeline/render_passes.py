"""A VkRenderPassCreateInfo as a VkRenderPassCreateInfo2: manifests know the newer kind alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shaderstat.registry import vulkan

Plain = Mapping[str, Any]

_MULTIVIEW = "VkRenderPassMultiviewCreateInfo"
_ASPECTS = "VkRenderPassInputAttachmentAspectCreateInfo"


def second(plain: Plain) -> dict[str, Any]:
    """The same render pass, as Mesa's runtime makes it of the older kind: aspects count for input attachments alone,
    and what is chained has members of its own."""
    chain = [(name, members) for name, members in plain.get("pNext", ())]
    chained = dict(chain)
    multiview, aspects = chained.get(_MULTIVIEW, {}), chained.get(_ASPECTS, {})
    attachments: Sequence[Plain] = plain.get("pAttachments", ())
    masks, offsets = multiview.get("pViewMasks", ()), multiview.get("pViewOffsets", ())
    given = {
        (each.get("subpass", 0), each.get("inputAttachmentIndex", 0)): each.get("aspectMask", 0)
        for each in aspects.get("pAspectReferences", ())
    }
    result = dict(plain)
    subpasses = []
    for number, subpass in enumerate(plain.get("pSubpasses", ())):
        inputs = [
            {**each, "aspectMask": given.get((number, place), _aspect(each, attachments))}
            for place, each in enumerate(subpass.get("pInputAttachments", ()))
        ]
        more = {"viewMask": masks[number]} if number < len(masks) else {}
        subpasses.append({**subpass, **({"pInputAttachments": inputs} if inputs else {}), **more})
    result["pSubpasses"] = subpasses
    if "pDependencies" in plain:
        result["pDependencies"] = [
            {**each, **({"viewOffset": offsets[number]} if number < len(offsets) else {})}
            for number, each in enumerate(plain["pDependencies"])
        ]
    if multiview.get("pCorrelationMasks"):
        result["pCorrelatedViewMasks"] = multiview["pCorrelationMasks"]
    rest = [[name, members] for name, members in chain if name not in (_MULTIVIEW, _ASPECTS)]
    result.pop("pNext", None)
    return {**result, **({"pNext": rest} if rest else {})}


def _aspect(reference: Plain, attachments: Sequence[Plain]) -> str | int:
    """All aspects of an attachment's format."""
    place = reference.get("attachment", 0)
    if not isinstance(place, int) or place >= len(attachments):
        return 0
    format = attachments[place].get("format", 0)
    name = format if isinstance(format, str) else vulkan.name("VkFormat", format) or ""
    depth = ["VK_IMAGE_ASPECT_DEPTH_BIT"] if "_D1" in name or "_D2" in name or "_D3" in name or "X8_D24" in name else []
    stencil = ["VK_IMAGE_ASPECT_STENCIL_BIT"] if "S8_UINT" in name else []
    return " | ".join(depth + stencil) or "VK_IMAGE_ASPECT_COLOR_BIT"
