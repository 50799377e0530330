"""What a fragment shader writes to and reads from: colour, depth, stencil and input attachments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shaderstat.errors import Unsupported
from shaderstat.pipeline.stages import limit
from shaderstat.plain import dataclass
from shaderstat.spirv.facts import EntryPoint

if TYPE_CHECKING:
    from shaderstat.backends.base import DeviceFacts
    from shaderstat.pipeline.spec import Plain

# Four components, since a narrower format lets the compiler drop what the shader writes beyond it.
_COLOR_FORMATS = {
    "float": "VK_FORMAT_R8G8B8A8_UNORM",
    "int": "VK_FORMAT_R32G32B32A32_SINT",
    "uint": "VK_FORMAT_R32G32B32A32_UINT",
}
_UNUSED = 0xFFFFFFFF  # VK_ATTACHMENT_UNUSED
_ALL_CHANNELS = "VK_COLOR_COMPONENT_R_BIT|VK_COLOR_COMPONENT_G_BIT|VK_COLOR_COMPONENT_B_BIT|VK_COLOR_COMPONENT_A_BIT"
_FRAG_STENCIL_REF = 5014  # BuiltIn FragStencilRefEXT

# No limit of Vulkan's, but a render pass has an entry for each index up to the highest.
MAX_INPUT_ATTACHMENTS = 1024


@dataclass(frozen=True, slots=True)
class Attachments:
    """Which attachments there are.

    Attributes:
        colors: VkFormat of each colour attachment, None in a gap.
        dual_source: the second source of attachment 0 is written and can be blended.
        depth_stencil: VkFormat, or None.
        depth, stencil: which of the two the shader writes.
        inputs: sample count of each input attachment, 0 in a gap.
    """

    colors: tuple[str | None, ...] = ()
    dual_source: bool = False
    depth_stencil: str | None = None
    depth: bool = False
    stencil: bool = False
    inputs: tuple[int, ...] = ()


def attachments(entry: EntryPoint | None, facts: DeviceFacts) -> Attachments:
    """The attachments of `entry`, a fragment shader (None: of a pipeline without one).

    Raises:
        Unsupported: ``vulkan/limit``.
    """
    if entry is None:
        return Attachments()
    by_location: dict[int, str] = {}
    for output in entry.outputs:
        by_location.setdefault(output.location, output.scalar)
    count = max(by_location, default=-1) + 1
    for member in ("maxColorAttachments", "maxFragmentOutputAttachments"):
        limit(facts, member, count, f"writes the colour output at location {count - 1}: {count} attachments are needed")
    # A second source is dropped, with the code that makes it, unless a blend factor asks for it; integers don't blend.
    dual_source = entry.dual_source and by_location.get(0) == "float"
    if entry.dual_source:
        second = 1 + max(output.location for output in entry.outputs if output.index == 1)
        limit(facts, "maxFragmentDualSrcAttachments", second, f"blends {second} attachments from two sources")
    stencil = _FRAG_STENCIL_REF in entry.builtins_out
    return Attachments(
        colors=tuple(
            _COLOR_FORMATS[by_location[location]] if location in by_location else None for location in range(count)
        ),
        dual_source=dual_source,
        depth_stencil=_depth_stencil_format(entry.writes_depth, stencil, facts),
        depth=entry.writes_depth,
        stencil=stencil,
        inputs=_input_attachments(entry),
    )


def color_blend_state(targets: Attachments) -> dict[str, Any]:
    """VkPipelineColorBlendStateCreateInfo: everything is written, nothing blended but a second source."""
    state: dict[str, Any] = {"colorWriteMask": _ALL_CHANNELS}
    if targets.dual_source:
        # All attachments alike, for devices without independentBlend: with two sources there is one as a rule.
        state |= {
            "blendEnable": 1,
            "srcColorBlendFactor": "VK_BLEND_FACTOR_ONE",
            "dstColorBlendFactor": "VK_BLEND_FACTOR_SRC1_COLOR",
            "colorBlendOp": "VK_BLEND_OP_ADD",
            "srcAlphaBlendFactor": "VK_BLEND_FACTOR_ONE",
            "dstAlphaBlendFactor": "VK_BLEND_FACTOR_SRC1_ALPHA",
            "alphaBlendOp": "VK_BLEND_OP_ADD",
        }
    return {"pAttachments": [state] * len(targets.colors)}


def depth_stencil_state(targets: Attachments) -> dict[str, Any] | None:
    """VkPipelineDepthStencilStateCreateInfo that consumes what is written; None where nothing is."""
    if targets.depth_stencil is None:
        return None
    state: dict[str, Any] = {}
    if targets.depth:
        state |= {"depthTestEnable": 1, "depthWriteEnable": 1, "depthCompareOp": "VK_COMPARE_OP_LESS_OR_EQUAL"}
    if targets.stencil:
        face = {
            "failOp": "VK_STENCIL_OP_KEEP",
            "passOp": "VK_STENCIL_OP_REPLACE",
            "depthFailOp": "VK_STENCIL_OP_KEEP",
            "compareOp": "VK_COMPARE_OP_ALWAYS",
            "compareMask": 0xFF,
            "writeMask": 0xFF,
        }
        state |= {"stencilTestEnable": 1, "front": face, "back": face}
    return state


def rendering_info(targets: Attachments, view_mask: int) -> dict[str, Any]:
    """VkPipelineRenderingCreateInfo: the attachments without a render pass."""
    info: dict[str, Any] = {
        "viewMask": view_mask,
        "pColorAttachmentFormats": [color or "VK_FORMAT_UNDEFINED" for color in targets.colors],
    }
    if targets.depth:
        info["depthAttachmentFormat"] = targets.depth_stencil
    if targets.stencil:
        info["stencilAttachmentFormat"] = targets.depth_stencil
    return info


def render_pass(targets: Attachments, view_mask: int) -> Plain:
    """VkRenderPassCreateInfo2 of one subpass: for input attachments, and for devices without dynamic rendering."""
    descriptions: list[dict[str, Any]] = []

    def reference(format_: str | None, layout: str, aspect: str, samples: int = 1) -> dict[str, Any]:
        if format_ is None:
            return {"attachment": _UNUSED, "layout": "VK_IMAGE_LAYOUT_UNDEFINED"}
        descriptions.append(
            {
                "format": format_,
                "samples": f"VK_SAMPLE_COUNT_{samples}_BIT",
                "loadOp": "VK_ATTACHMENT_LOAD_OP_LOAD",
                "storeOp": "VK_ATTACHMENT_STORE_OP_STORE",
                "stencilLoadOp": "VK_ATTACHMENT_LOAD_OP_LOAD",
                "stencilStoreOp": "VK_ATTACHMENT_STORE_OP_STORE",
                "initialLayout": layout,
                "finalLayout": layout,
            }
        )
        return {"attachment": len(descriptions) - 1, "layout": layout, "aspectMask": aspect}

    colour_aspect = "VK_IMAGE_ASPECT_COLOR_BIT"
    colors = [reference(color, "VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL", colour_aspect) for color in targets.colors]
    inputs = [
        reference(
            _COLOR_FORMATS["float"] if samples else None,
            "VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL",
            colour_aspect,
            samples,
        )
        for samples in targets.inputs
    ]
    subpass: dict[str, Any] = {
        "pipelineBindPoint": "VK_PIPELINE_BIND_POINT_GRAPHICS",
        "viewMask": view_mask,
        "pInputAttachments": inputs,
        "pColorAttachments": colors,
    }
    if targets.depth_stencil is not None:
        aspects = [name for name, used in (("DEPTH", targets.depth), ("STENCIL", targets.stencil)) if used]
        subpass["pDepthStencilAttachment"] = reference(
            targets.depth_stencil,
            "VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL",
            "|".join(f"VK_IMAGE_ASPECT_{aspect}_BIT" for aspect in aspects),
        )
    return {
        "pAttachments": descriptions,
        "pSubpasses": [subpass],
        "pCorrelatedViewMasks": [view_mask] if view_mask else [],
    }


def _depth_stencil_format(depth: bool, stencil: bool, facts: DeviceFacts) -> str | None:
    """A format that takes what is written. Of each list the device has at least one ("Required Format Support")."""
    if stencil:
        candidates = ("VK_FORMAT_D32_SFLOAT_S8_UINT", "VK_FORMAT_D24_UNORM_S8_UINT")
    elif depth:
        candidates = ("VK_FORMAT_D32_SFLOAT", "VK_FORMAT_X8_D24_UNORM_PACK32")
    else:
        return None
    for name in candidates:
        if facts.supports_format(name, "VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT"):
            return name
    return candidates[-1]


def _input_attachments(entry: EntryPoint) -> tuple[int, ...]:
    """The sample count of every input attachment up to the highest index, 0 in gaps.

    An input attachment without an index is a depth or stencil one of VK_KHR_dynamic_rendering_local_read, for which
    older devices have no pipeline state; like their drivers we take 0.
    """
    samples = dict.fromkeys(entry.input_attachment_indices, 1)
    for binding in entry.bindings:
        if binding.type == "INPUT_ATTACHMENT":
            first = binding.input_attachment_index or 0
            count = binding.count if isinstance(binding.count, int) else 1
            samples.setdefault(first, 1)
            if binding.multisampled:
                samples |= {index: 4 for index in samples if first <= index < first + count}
    count = max(samples, default=-1) + 1
    if count > MAX_INPUT_ATTACHMENTS:
        raise Unsupported(
            "vulkan/limit", f"reads input attachment {count - 1}: more than {MAX_INPUT_ATTACHMENTS} are not tried"
        )
    return tuple(samples.get(index, 0) for index in range(count))
