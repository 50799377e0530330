"""Fossilize's names for what it records: 64 bits over what matters of a record, so that equal objects have equal names.

What is fed, and in which order, is Fossilize's (``fossilize.cpp``, namespace Hashing). Records are taken as they are
written: every member there, all of them numbers, and references hashes already.
"""

from __future__ import annotations

import base64
from array import array

from shaderstat.archive.format import Tag
from shaderstat.archive.hash_chains import feed_chain, feed_libraries
from shaderstat.archive.hash_chains import sampler as sampler
from shaderstat.archive.hasher import NO_DYNAMIC, NO_MATTER, Dynamic, Hasher, Record
from shaderstat.archive.layouts import chained
from shaderstat.archive.members import hash_of

_DERIVATIVE = 0x4


# ── Objects ───────────────────────────────────────────────────────────────────────────────────────────────────────


def module(words: bytes, flags: int = 0) -> int:
    """Of a shader module's words, in this machine's byte order."""
    h = Hasher()
    h.u32(*array("I", words), flags)
    return h.value


def set_layout(record: Record) -> int:
    """Of a ``setLayouts`` record."""
    h = Hasher()
    bindings = record.get("bindings", ())
    h.u32(len(bindings), record.get("flags", 0))
    for binding in bindings:
        h.of(binding, "binding descriptorCount descriptorType stageFlags")
        if binding.get("descriptorType", 0) in (0, 1):  # a sampler, or combined with an image
            for each in binding.get("immutableSamplers", ()):
                h.reference(each)
    feed_chain(h, record)
    return h.value


def pipeline_layout(record: Record) -> int:
    """Of a ``pipelineLayouts`` record."""
    h = Hasher()
    layouts, ranges = record.get("setLayouts", ()), record.get("pushConstantRanges", ())
    h.u32(len(layouts))
    for each in layouts:
        if hash_of(each, "a reference"):
            h.reference(each)
        else:
            h.u32(0)
    h.u32(len(ranges))
    for each in ranges:
        h.of(each, "stageFlags size offset")
    h.u32(record.get("flags", 0))
    return h.value


def render_pass(record: Record) -> int:
    """Of a ``renderPasses`` record."""
    h = Hasher()
    if record.get("flags"):
        h.u32(record["flags"])
    _render_pass_body(h, record, second=False)
    return h.value


def render_pass2(record: Record) -> int:
    """Of a ``renderPasses2`` record."""
    h = Hasher()
    h.u32(record.get("flags", 0))
    _render_pass_body(h, record, second=True)
    return h.value


def _render_pass_body(h: Hasher, record: Record, *, second: bool) -> None:
    attachments, dependencies = record.get("attachments", ()), record.get("dependencies", ())
    subpasses, masks = record.get("subpasses", ()), record.get("correlatedViewMasks", ())
    h.u32(len(attachments), len(dependencies), len(subpasses))
    if second:
        h.u32(len(masks), 2)
    for each in attachments:
        h.of(each, "flags initialLayout finalLayout format loadOp storeOp stencilLoadOp stencilStoreOp samples")
        if second:
            feed_chain(h, each)
    for each in dependencies:
        h.of(each, "dependencyFlags dstAccessMask srcAccessMask srcSubpass dstSubpass srcStageMask dstStageMask")
        if second:
            h.of(each, "viewOffset")
            feed_chain(h, each)
    for each in subpasses:
        _subpass(h, each, second)
    if second:
        h.u32(*masks)
    feed_chain(h, record)


def _subpass(h: Hasher, record: Record, second: bool) -> None:
    names = ("colorAttachments", "inputAttachments", "preserveAttachments")
    h.u32(record.get("flags", 0), *(len(record.get(name, ())) for name in names), record.get("pipelineBindPoint", 0))
    h.u32(*record.get("preserveAttachments", ()))
    for name in ("colorAttachments", "inputAttachments", "resolveAttachments"):
        for each in record.get(name, ()):
            _attachment(h, each, second)
    if "depthStencilAttachment" in record:
        _attachment(h, record["depthStencilAttachment"], second)
    else:
        h.u32(0)
    if second:
        h.of(record, "viewMask")
        feed_chain(h, record)


def _attachment(h: Hasher, record: Record, second: bool) -> None:
    h.of(record, "attachment layout aspectMask" if second else "attachment layout")
    if second:
        feed_chain(h, record)


def application(document: Record) -> int:
    """Of an application info payload: the application's hash, then its device's features'; 0 for what isn't there."""
    info, features = document.get("applicationInfo") or {}, document.get("physicalDeviceFeatures") or {}
    of_info, of_features = Hasher(), Hasher()
    of_info.of(info, "applicationVersion apiVersion engineVersion")
    for name in ("applicationName", "engineName"):
        if name in info:
            of_info.string(info[name])
        else:
            of_info.u32(0)
    of_features.of(features, "robustBufferAccess")
    feed_chain(of_features, features)
    h = Hasher()
    h.u64(of_info.value if info else 0)
    h.u64(of_features.value if features else 0)
    return h.value


def link(of_application: int, tag: Tag, hash: int) -> int:
    """Of the link between an application and an object."""
    h = Hasher()
    h.u64(of_application)
    h.u32(tag)
    h.u64(hash)
    return h.value


# ── Pipelines ─────────────────────────────────────────────────────────────────────────────────────────────────────


def compute(record: Record) -> int:
    """Of a ``computePipelines`` record."""
    h = Hasher()
    h.reference(record["layout"])
    h.u32(flags_of(record))
    feed_base(h, record, or_zero=True)
    stage = record["stage"]
    h.reference(stage["module"])
    h.string(stage["name"])
    h.of(stage, "flags stage")
    _specialization(h, stage)
    feed_chain(h, stage)
    feed_chain(h, record)
    return h.value


def ray_tracing(record: Record) -> int:
    """Of a ``raytracingPipelines`` record."""
    h = Hasher()
    h.u32(flags_of(record), record.get("maxPipelineRayRecursionDepth", 0))
    h.reference(record["layout"])
    feed_base(h, record, or_zero=True)
    h.u32(len(record.get("stages", ())))
    for stage in record.get("stages", ()):
        feed_stage(h, stage)
    interface, dynamic = record.get("libraryInterface"), record.get("dynamicState")
    if interface is not None:
        h.of(interface, "maxPipelineRayHitAttributeSize maxPipelineRayPayloadSize")
        feed_chain(h, interface)
    else:
        h.u32(0)
    feed_dynamic_state(h, dynamic)
    h.u32(len(record.get("groups", ())))
    for group in record.get("groups", ()):
        h.of(group, "type anyHitShader closestHitShader generalShader intersectionShader")
        feed_chain(h, group)
    libraries = record.get("libraryInfo")
    if libraries is not None:
        feed_libraries(h, libraries)
        feed_chain(h, libraries)
    else:
        h.u32(0)
    feed_chain(h, record)
    return h.value


def flags_of(record: Record) -> int:
    if any(chained(each["sType"]) == "VkPipelineCreateFlags2CreateInfo" for each in record.get("pNext", ())):
        return 0
    flags: int = record.get("flags", 0)
    return flags & ~NO_MATTER


def feed_base(h: Hasher, record: Record, *, or_zero: bool) -> None:
    base = record.get("basePipelineHandle", "0")
    if record.get("flags", 0) & _DERIVATIVE and hash_of(base, "a reference"):
        h.reference(base)
        h.u32(record.get("basePipelineIndex", 0))
    elif or_zero:
        h.u32(0)


def feed_stage(h: Hasher, stage: Record) -> None:
    h.of(stage, "flags")
    h.string(stage["name"])
    h.of(stage, "stage")
    h.reference(stage["module"])
    _specialization(h, stage)
    feed_chain(h, stage)


def _specialization(h: Hasher, stage: Record) -> None:
    info = stage.get("specializationInfo")
    if info is None:
        h.u32(0)
        return
    data = base64.b64decode(info.get("data", ""))
    entries = info.get("mapEntries", ())
    h.u32(*data)
    h.u64(len(data))
    h.u32(len(entries))
    for entry in entries:
        h.of(entry, "offset")
        h.u64(entry.get("size", 0))
        h.of(entry, "constantID")


def feed_dynamic_state(h: Hasher, record: Record | None, dynamic: Dynamic = NO_DYNAMIC) -> None:
    if record is None:
        h.u32(0)
        return
    states = record.get("dynamicState", ())
    h.u32(len(states), record.get("flags", 0), *states)
    feed_chain(h, record, dynamic)
