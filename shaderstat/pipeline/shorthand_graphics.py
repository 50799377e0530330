"""The short ways to say graphics state: topology, samples, the attachments' formats.

Each takes a pipeline and a value, and gives the pipeline changed with what there is to say of it ("" where it was done
as asked). They raise `Unsupported` for what the device lacks and for what these stages can't be with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from shaderstat.errors import Unsupported
from shaderstat.model import STAGE_BITS
from shaderstat.pipeline.merge import lay
from shaderstat.pipeline.spec import PipelineSpec, Plain
from shaderstat.pipeline.stages import StageInput

if TYPE_CHECKING:
    from shaderstat.backends.base import DeviceFacts

_RENDERING = "VkPipelineRenderingCreateInfo"
_UNUSED = 0xFFFFFFFF  # VK_ATTACHMENT_UNUSED
_POINT_SIZE = 1  # BuiltIn
_UNDEFINED = "VK_FORMAT_UNDEFINED"

_GEOMETRY = {
    "points": ("POINT_LIST",),
    "lines": ("LINE_LIST", "LINE_STRIP"),
    "lines_adjacency": ("LINE_LIST_WITH_ADJACENCY", "LINE_STRIP_WITH_ADJACENCY"),
    "triangles": ("TRIANGLE_LIST", "TRIANGLE_STRIP", "TRIANGLE_FAN"),
    "triangles_adjacency": ("TRIANGLE_LIST_WITH_ADJACENCY", "TRIANGLE_STRIP_WITH_ADJACENCY"),
}


def topology(
    spec: PipelineSpec, name: str, stages: Sequence[StageInput], facts: DeviceFacts
) -> tuple[PipelineSpec, str]:
    if "pInputAssemblyState" not in spec.create_info:
        return spec, "mesh shaders make their primitives themselves" if spec.kind == "graphics" else ""
    word = name.removeprefix("VK_PRIMITIVE_TOPOLOGY_")
    there = {stage.entry.stage: stage.entry for stage in stages}
    tessellated = "tessellation_control" in there or "tessellation_evaluation" in there
    if tessellated is not (word == "PATCH_LIST"):
        # VUID-VkGraphicsPipelineCreateInfo-pStages-08888 and -topology-08889
        raise Unsupported(
            "pipeline/state",
            f"topology {word}: tessellation stages take patches"
            if tessellated
            else f"topology {word}: no tessellation",
        )
    geometry = there.get("geometry")
    if geometry is not None and not tessellated and word not in _GEOMETRY[geometry.topology or "triangles"]:
        # VUID-VkGraphicsPipelineCreateInfo-pStages-00738
        wanted = (geometry.topology or "triangles").replace("_", " with ")
        raise Unsupported("pipeline/state", f"topology {word}: its geometry shader takes {wanted}")
    if "ADJACENCY" in word and not facts.has_feature("VkPhysicalDeviceFeatures", "geometryShader"):
        raise Unsupported("vulkan/feature-missing", f"topology {word}: {facts.device.name} lacks geometryShader")
    spec = replace(spec, create_info=lay({"pInputAssemblyState": {"topology": name}}, spec.create_info))
    vertex = there.get("vertex")
    if word == "POINT_LIST" and geometry is None and vertex is not None and _POINT_SIZE not in vertex.builtins_out:
        return spec, "the vertex shader writes no PointSize, which points need before VK_KHR_maintenance5"
    return spec, ""


def samples(
    spec: PipelineSpec, count: int, stages: Sequence[StageInput], facts: DeviceFacts
) -> tuple[PipelineSpec, str]:
    if spec.kind != "graphics":
        return spec, ""
    name = f"VK_SAMPLE_COUNT_{count}_BIT"
    colors, depth = _formats(spec)
    # What a generated fragment stage writes is nobody's choice: its format limits nothing.
    written = [] if _is_generated(spec) else [color for color in colors if color != _UNDEFINED]
    limits = {_COLOR_COUNTS[_class(color)] for color in written}
    if depth != _UNDEFINED:
        limits.add(("VkPhysicalDeviceLimits", "framebufferDepthSampleCounts"))
    if not colors and depth == _UNDEFINED:
        limits.add(("VkPhysicalDeviceLimits", "framebufferNoAttachmentsSampleCounts"))
    for struct, member in sorted(limits):
        counts = facts.property(struct, member)
        if counts is not None and not counts & count:
            has = ", ".join(str(1 << bit) for bit in range(7) if counts >> bit & 1)
            raise Unsupported("vulkan/limit", f"{count} samples: {facts.device.name} has {has} ({member})")
    create_info = lay({"pMultisampleState": {"rasterizationSamples": name}}, spec.create_info)
    render_pass = spec.render_pass
    if render_pass is not None:
        used = _attachments(render_pass, "pColorAttachments", "pDepthStencilAttachment")
        descriptions = [
            {**each, "samples": name} if place in used else each
            for place, each in enumerate(render_pass["pAttachments"])
        ]
        render_pass = {**render_pass, "pAttachments": descriptions}
    return replace(spec, create_info=create_info, render_pass=render_pass), ""


_COLOR_COUNTS = {
    "float": ("VkPhysicalDeviceLimits", "framebufferColorSampleCounts"),
    "int": ("VkPhysicalDeviceVulkan12Properties", "framebufferIntegerColorSampleCounts"),
    "uint": ("VkPhysicalDeviceVulkan12Properties", "framebufferIntegerColorSampleCounts"),
}


def color_format(
    spec: PipelineSpec, name: str, stages: Sequence[StageInput], facts: DeviceFacts
) -> tuple[PipelineSpec, str]:
    """For every colour attachment that takes numbers of this kind: an integer output must have an integer format
    ("Fragment Output Interface")."""
    if spec.kind != "graphics":
        return spec, ""
    colors, _ = _formats(spec)
    written = [color for color in colors if color != _UNDEFINED]
    if not written:
        return spec, "it writes no colour"
    if _is_generated(spec):
        return spec, "its fragment stage is generated"
    if not any(_class(color) == _class(name) for color in written):
        raise Unsupported("pipeline/state", f"colour format {_short(name)}: its outputs are {_class(written[0])}")
    blends = any(each.get("blendEnable") for each in spec.create_info["pColorBlendState"].get("pAttachments", ()))
    feature = f"VK_FORMAT_FEATURE_COLOR_ATTACHMENT_{'BLEND_' if blends else ''}BIT"
    if not facts.supports_format(name, feature):
        raise Unsupported("vulkan/format", f"{_short(name)}: {facts.device.name} has it not as a colour format")
    changed = [name if color != _UNDEFINED and _class(color) == _class(name) else color for color in colors]
    kept = [str(place) for place, color in enumerate(changed) if color not in (name, _UNDEFINED)]
    undone = f"not for location {', '.join(kept)}, whose numbers are of another kind" if kept else ""
    if spec.render_pass is None:
        rendering = {"pNext": {_RENDERING: {"pColorAttachmentFormats": changed}}}
        return replace(spec, create_info=lay(rendering, spec.create_info)), undone
    (subpass,) = spec.render_pass["pSubpasses"]
    descriptions = list(spec.render_pass["pAttachments"])
    for reference, color in zip(subpass["pColorAttachments"], changed, strict=True):
        if reference["attachment"] != _UNUSED:
            descriptions[reference["attachment"]] = {**descriptions[reference["attachment"]], "format": color}
    return replace(spec, render_pass={**spec.render_pass, "pAttachments": descriptions}), undone


def depth_format(
    spec: PipelineSpec, name: str, stages: Sequence[StageInput], facts: DeviceFacts
) -> tuple[PipelineSpec, str]:
    """A depth attachment of that format, tested and written as a shader without a word on depth would have it."""
    if spec.kind != "graphics":
        return spec, ""
    has_depth, has_stencil = name != "VK_FORMAT_S8_UINT", "S8_UINT" in name
    if not facts.supports_format(name, "VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT"):
        raise Unsupported("vulkan/format", f"{_short(name)}: {facts.device.name} has it not as a depth format")
    tests = spec.create_info.get("pDepthStencilState", {})
    for used, has, what in (("depthTestEnable", has_depth, "depth"), ("stencilTestEnable", has_stencil, "stencil")):
        if tests.get(used) and not has:
            raise Unsupported("pipeline/state", f"depth format {_short(name)}: has no {what}, which the shader writes")
    if not tests and has_depth:
        tests = {"depthTestEnable": 1, "depthWriteEnable": 1, "depthCompareOp": "VK_COMPARE_OP_LESS_OR_EQUAL"}
    create_info = lay({"pDepthStencilState": tests}, spec.create_info)
    if spec.render_pass is None:
        rendering = {
            "depthAttachmentFormat": name if has_depth else None,
            "stencilAttachmentFormat": name if has_stencil else None,
        }
        create_info = lay({"pNext": {_RENDERING: rendering}}, create_info)
        return replace(spec, create_info=create_info), ""
    return replace(spec, create_info=create_info, render_pass=_with_depth(spec, name, has_depth, has_stencil)), ""


def _with_depth(spec: PipelineSpec, name: str, has_depth: bool, has_stencil: bool) -> Plain:
    assert spec.render_pass is not None
    descriptions = list(spec.render_pass["pAttachments"])
    (subpass,) = spec.render_pass["pSubpasses"]
    reference = subpass.get("pDepthStencilAttachment")
    layout = "VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL"
    if reference is None:
        aspects = [word for word, has in (("DEPTH", has_depth), ("STENCIL", has_stencil)) if has]
        reference = {
            "attachment": len(descriptions),
            "layout": layout,
            "aspectMask": "|".join(f"VK_IMAGE_ASPECT_{aspect}_BIT" for aspect in aspects),
        }
        descriptions.append(
            {
                "samples": spec.create_info["pMultisampleState"]["rasterizationSamples"],
                "loadOp": "VK_ATTACHMENT_LOAD_OP_LOAD",
                "storeOp": "VK_ATTACHMENT_STORE_OP_STORE",
                "stencilLoadOp": "VK_ATTACHMENT_LOAD_OP_LOAD",
                "stencilStoreOp": "VK_ATTACHMENT_STORE_OP_STORE",
                "initialLayout": layout,
                "finalLayout": layout,
            }
        )
    descriptions[reference["attachment"]] = {**descriptions[reference["attachment"]], "format": name}
    subpass = {**subpass, "pDepthStencilAttachment": reference}
    return {**spec.render_pass, "pAttachments": descriptions, "pSubpasses": [subpass]}


def _formats(spec: PipelineSpec) -> tuple[list[str], str]:
    """The colour attachments' formats by location, and the depth attachment's; UNDEFINED where there is none."""
    if spec.render_pass is None:
        rendering = dict(spec.create_info.get("pNext", ())).get(_RENDERING, {})
        depth = rendering.get("depthAttachmentFormat") or rendering.get("stencilAttachmentFormat") or _UNDEFINED
        return list(rendering.get("pColorAttachmentFormats", ())), depth
    (subpass,) = spec.render_pass["pSubpasses"]
    descriptions = spec.render_pass["pAttachments"]

    def format_of(reference: Plain | None) -> str:
        used = reference is not None and reference["attachment"] != _UNUSED
        return str(descriptions[reference["attachment"]]["format"]) if used and reference else _UNDEFINED

    colors = [format_of(each) for each in subpass.get("pColorAttachments", ())]
    return colors, format_of(subpass.get("pDepthStencilAttachment"))


def _attachments(render_pass: Plain, *members: str) -> set[int]:
    (subpass,) = render_pass["pSubpasses"]
    references = [subpass.get(member) or [] for member in members]
    flat = [one for each in references for one in (each if isinstance(each, list) else [each])]
    return {each["attachment"] for each in flat}


def _is_generated(spec: PipelineSpec) -> bool:
    """Whether the fragment stage is shaderstat's own."""
    return bool(spec.synthetic_stages & STAGE_BITS["fragment"])


def _class(format_: str) -> str:
    return "uint" if format_.endswith("_UINT") else "int" if format_.endswith("_SINT") else "float"


def _short(format_: str) -> str:
    return format_.removeprefix("VK_FORMAT_")
