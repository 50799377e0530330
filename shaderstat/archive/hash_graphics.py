"""A graphics pipeline's hash: of its state, only what matters given its dynamic states, stages and attachments."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shaderstat.archive.hash_chains import feed_chain
from shaderstat.archive.hasher import (
    FRAGMENT_OUTPUT,
    FRAGMENT_SHADER,
    PRE_RASTERIZATION,
    VERTEX_INPUT,
    Dynamic,
    Hasher,
    Record,
)
from shaderstat.archive.hashes import feed_base, feed_dynamic_state, feed_stage, flags_of
from shaderstat.archive.layouts import chained
from shaderstat.registry import vulkan

_LIBRARY = 0x800
_UNUSED = 0xFFFFFFFF


def graphics(record: Record, render_pass: Record | None) -> int:
    """Of a ``graphicsPipelines`` record.

    Args:
        render_pass: the record of its render pass, of either kind; None where it has none.
    """
    h = Hasher()
    dynamic = Dynamic(record)
    parts = _effective_parts(record)
    state = _used_state(record, dynamic, parts, render_pass)
    h.u32(flags_of(record))
    feed_base(h, record, or_zero=False)
    has_modules = bool(parts & (PRE_RASTERIZATION | FRAGMENT_SHADER))
    h.reference(record["layout"] if has_modules else "0")
    in_pass = bool(parts & (FRAGMENT_SHADER | PRE_RASTERIZATION | FRAGMENT_OUTPUT))
    h.reference(record["renderPass"] if in_pass else "0")
    stages = record.get("stages", ()) if has_modules else ()
    h.u32(record.get("subpass", 0) if in_pass else 0, len(stages))
    feed_dynamic_state(h, record.get("dynamicState"), dynamic)
    for name, feed in _STATES:
        if name in state:
            feed(h, record[name], dynamic)
            feed_chain(h, record[name], dynamic, parts)
        elif name != "multisampleState":  # which leaves no trace
            h.u32(0)
    for stage in stages:
        feed_stage(h, stage)
    feed_chain(h, record, dynamic, parts)
    return h.value


def _effective_parts(record: Record) -> int:
    """The parts of a graphics pipeline that this one has: all of them, unless it is a library."""
    for each in record.get("pNext", ()):
        if chained(each["sType"]) == "VkGraphicsPipelineLibraryCreateInfoEXT" and record.get("flags", 0) & _LIBRARY:
            flags: int = each.get("flags", 0)
            return flags
    return VERTEX_INPUT | PRE_RASTERIZATION | FRAGMENT_SHADER | FRAGMENT_OUTPUT


def _used_state(record: Record, dynamic: Dynamic, parts: int, render_pass: Record | None) -> set[str]:
    """The states that matter for this pipeline."""
    uses_color, uses_depth = _attachments_used(record, render_pass)
    stages = {stage.get("stage") for stage in record.get("stages", ())}
    used = {name for name, _ in _STATES if name in record}
    rasterization = record.get("rasterizationState")
    discards = (
        "RASTERIZER_DISCARD_ENABLE" not in dynamic
        and rasterization is not None
        and bool(parts & PRE_RASTERIZATION)
        and rasterization.get("rasterizerDiscardEnable") == 1
    )
    if discards:
        used -= {"viewportState", "multisampleState", "colorBlendState", "depthStencilState"}
    if not uses_color:
        used.discard("colorBlendState")
    if not uses_depth:
        used.discard("depthStencilState")
    has_modules = bool(parts & (PRE_RASTERIZATION | FRAGMENT_SHADER))
    if has_modules and stages & {0x40, 0x80}:  # task, mesh
        used -= {"inputAssemblyState", "vertexInputState"}
    if not has_modules or not stages & {0x2, 0x4}:  # tessellation
        used.discard("tessellationState")
    if "VERTEX_INPUT" in dynamic:
        used.discard("vertexInputState")
    for part, names in (
        (VERTEX_INPUT, {"inputAssemblyState", "vertexInputState"}),
        (PRE_RASTERIZATION, {"viewportState", "rasterizationState", "tessellationState"}),
        (FRAGMENT_SHADER, {"depthStencilState"}),
        (FRAGMENT_SHADER | FRAGMENT_OUTPUT, {"multisampleState"}),
        (FRAGMENT_OUTPUT, {"colorBlendState"}),
    ):
        if not parts & part:
            used -= names
    return used


def _attachments_used(record: Record, render_pass: Record | None) -> tuple[bool, bool]:
    """Whether colour, and depth or stencil, may be written."""
    chain = {chained(each["sType"]): each for each in record.get("pNext", ())}
    if render_pass is not None:
        subpasses: Sequence[Record] = render_pass.get("subpasses", ())
        place = record.get("subpass", 0)
        subpass = subpasses[place] if place < len(subpasses) else {}
        depth = subpass.get("depthStencilAttachment")
        return bool(subpass.get("colorAttachments")), depth is not None and depth.get("attachment") != _UNUSED
    uses_color = uses_depth = False
    rendering = chain.get("VkPipelineRenderingCreateInfo")
    if rendering is not None:
        uses_color = bool(rendering.get("colorAttachmentFormats"))
        uses_depth = bool(rendering.get("depthAttachmentFormat") or rendering.get("stencilAttachmentFormat"))
    library = chain.get("VkGraphicsPipelineLibraryCreateInfoEXT")
    if library is not None and library.get("flags", 0) & FRAGMENT_SHADER and not library["flags"] & FRAGMENT_OUTPUT:
        uses_depth = True  # a fragment shader's library can't know yet
    return uses_color, uses_depth


# ── The states of a graphics pipeline ─────────────────────────────────────────────────────────────────────────────


def _depth_stencil(h: Hasher, record: Record, dynamic: Dynamic) -> None:
    front, back = record.get("front", {}), record.get("back", {})
    h.of(record, "flags")
    h.u32(
        *dynamic.fixed(
            record,
            depthBoundsTestEnable="DEPTH_BOUNDS_TEST_ENABLE",
            depthCompareOp="DEPTH_COMPARE_OP",
            depthTestEnable="DEPTH_TEST_ENABLE",
            depthWriteEnable="DEPTH_WRITE_ENABLE",
        )
    )
    for face in (front, back):
        names = ("compareOp", "depthFailOp", "failOp", "passOp")
        h.u32(*dynamic.fixed(face, **dict.fromkeys(names, "STENCIL_OP")))
    h.u32(*dynamic.fixed(record, stencilTestEnable="STENCIL_TEST_ENABLE"))
    if "DEPTH_BOUNDS" not in dynamic and (record.get("depthBoundsTestEnable") or "DEPTH_BOUNDS_TEST_ENABLE" in dynamic):
        h.f32(record.get("minDepthBounds", 0.0), record.get("maxDepthBounds", 0.0))
    if record.get("stencilTestEnable") or "STENCIL_TEST_ENABLE" in dynamic:
        for member, state in (
            ("compareMask", "STENCIL_COMPARE_MASK"),
            ("reference", "STENCIL_REFERENCE"),
            ("writeMask", "STENCIL_WRITE_MASK"),
        ):
            if state not in dynamic:
                h.u32(front.get(member, 0), back.get(member, 0))


def _input_assembly(h: Hasher, record: Record, dynamic: Dynamic) -> None:
    h.of(record, "flags")
    h.u32(*dynamic.fixed(record, primitiveRestartEnable="PRIMITIVE_RESTART_ENABLE"))
    h.of(record, "topology")


def _rasterization(h: Hasher, record: Record, dynamic: Dynamic) -> None:
    h.of(record, "flags")
    h.u32(
        *dynamic.fixed(
            record,
            cullMode="CULL_MODE",
            depthClampEnable="DEPTH_CLAMP_ENABLE",
            frontFace="FRONT_FACE",
            rasterizerDiscardEnable="RASTERIZER_DISCARD_ENABLE",
            polygonMode="POLYGON_MODE",
            depthBiasEnable="DEPTH_BIAS_ENABLE",
        )
    )
    if (record.get("depthBiasEnable") or "DEPTH_BIAS_ENABLE" in dynamic) and "DEPTH_BIAS" not in dynamic:
        names = ("depthBiasClamp", "depthBiasSlopeFactor", "depthBiasConstantFactor")
        h.f32(*(record.get(name, 0.0) for name in names))
    if "LINE_WIDTH" not in dynamic:
        h.f32(record.get("lineWidth", 0.0))


def _multisample(h: Hasher, record: Record, dynamic: Dynamic) -> None:
    h.of(record, "flags")
    h.u32(
        *dynamic.fixed(record, alphaToCoverageEnable="ALPHA_TO_COVERAGE_ENABLE", alphaToOneEnable="ALPHA_TO_ONE_ENABLE")
    )
    h.f32(record.get("minSampleShading", 0.0))
    h.u32(*dynamic.fixed(record, rasterizationSamples="RASTERIZATION_SAMPLES"))
    h.of(record, "sampleShadingEnable")
    if "sampleMask" in record and "SAMPLE_MASK" not in dynamic:
        h.u32(*record["sampleMask"][: (record.get("rasterizationSamples", 0) + 31) // 32])
    else:
        h.u32(0)


def _viewport(h: Hasher, record: Record, dynamic: Dynamic) -> None:
    h.of(record, "flags")
    h.u32(*dynamic.fixed(record, scissorCount="SCISSOR_WITH_COUNT", viewportCount="VIEWPORT_WITH_COUNT"))
    if "SCISSOR" not in dynamic:
        for each in record.get("scissors", ()):
            h.of(each, "x y width height")
    if "VIEWPORT" not in dynamic:
        for each in record.get("viewports", ()):
            h.f32(*(each.get(name, 0.0) for name in ("x", "y", "width", "height", "minDepth", "maxDepth")))


def _vertex_input(h: Hasher, record: Record, dynamic: Dynamic) -> None:
    attributes, bindings = record.get("attributes", ()), record.get("bindings", ())
    h.u32(record.get("flags", 0), len(attributes), len(bindings))
    for each in attributes:
        h.of(each, "offset binding format location")
    for each in bindings:
        h.of(each, "binding inputRate")
        h.u32(*dynamic.fixed(each, stride="VERTEX_INPUT_BINDING_STRIDE"))


def _color_blend(h: Hasher, record: Record, dynamic: Dynamic) -> None:
    attachments = record.get("attachments", ())
    h.u32(record.get("flags", 0), len(attachments))
    h.u32(*dynamic.fixed(record, logicOpEnable="LOGIC_OP_ENABLE"))
    uses_logic = record.get("logicOpEnable") or "LOGIC_OP_ENABLE" in dynamic
    h.u32(record.get("logicOp", 0) if uses_logic and "LOGIC_OP" not in dynamic else 0)
    any_enable, any_equation = "COLOR_BLEND_ENABLE" in dynamic, "COLOR_BLEND_EQUATION" in dynamic
    uses_constants = any_equation
    if any_enable and any_equation and "COLOR_WRITE_MASK" in dynamic:
        h.u32(0)
        attachments = ()
    for each in attachments:
        h.u32(*dynamic.fixed(each, blendEnable="COLOR_BLEND_ENABLE", colorWriteMask="COLOR_WRITE_MASK"))
        if not each.get("blendEnable") and not any_enable:
            h.u32(0)
            continue
        if any_equation:
            h.u32(0)
        else:
            advanced = "COLOR_BLEND_ADVANCED"
            h.u32(*dynamic.fixed(each, alphaBlendOp=advanced, colorBlendOp=advanced))
            h.of(each, "dstAlphaBlendFactor srcAlphaBlendFactor dstColorBlendFactor srcColorBlendFactor")
        factors = (f"{end}{what}BlendFactor" for end in ("src", "dst") for what in ("Color", "Alpha"))
        uses_constants = uses_constants or any(each.get(name) in _CONSTANT_FACTORS for name in factors)
    if uses_constants and "BLEND_CONSTANTS" not in dynamic:
        h.f32(*record.get("blendConstants", (0.0,) * 4))


_CONSTANT_FACTORS = {vulkan.value("VkBlendFactor", f"VK_BLEND_FACTOR_CONSTANT_{what}") for what in ("COLOR", "ALPHA")}


def _tessellation(h: Hasher, record: Record, dynamic: Dynamic) -> None:
    h.of(record, "flags")
    h.u32(*dynamic.fixed(record, patchControlPoints="PATCH_CONTROL_POINTS"))


_STATES: Sequence[tuple[str, Callable[[Hasher, Record, Dynamic], None]]] = (
    ("depthStencilState", _depth_stencil),
    ("inputAssemblyState", _input_assembly),
    ("rasterizationState", _rasterization),
    ("multisampleState", _multisample),
    ("viewportState", _viewport),
    ("vertexInputState", _vertex_input),
    ("colorBlendState", _color_blend),
    ("tessellationState", _tessellation),
)
