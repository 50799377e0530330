"""The stages of a pipeline: Vulkan's bits, and what people call them."""

from __future__ import annotations

from collections.abc import Mapping

# VkShaderStageFlagBits in short words, the same that file suffixes use, in the order of the pipeline.
STAGE_BITS: Mapping[str, int] = {
    "vertex": 0x1,
    "tessellation_control": 0x2,
    "tessellation_evaluation": 0x4,
    "geometry": 0x8,
    "task": 0x40,
    "mesh": 0x80,
    "fragment": 0x10,
    "compute": 0x20,
    "raygen": 0x100,
    "any_hit": 0x200,
    "closest_hit": 0x400,
    "miss": 0x800,
    "intersection": 0x1000,
    "callable": 0x2000,
}

# What people call the stages: their words, and the suffixes that files have.
STAGE_WORDS: Mapping[str, str] = {
    **{stage: stage for stage in STAGE_BITS},
    "vert": "vertex",
    "tesc": "tessellation_control",
    "tese": "tessellation_evaluation",
    "geom": "geometry",
    "frag": "fragment",
    "comp": "compute",
    "rgen": "raygen",
    "rint": "intersection",
    "rahit": "any_hit",
    "rchit": "closest_hit",
    "rmiss": "miss",
    "rcall": "callable",
}


def stage_names(bits: int) -> tuple[str, ...]:
    """The stages in a VkShaderStageFlags value, in pipeline order; unknown bits as ``0x…``."""
    names = [name for name, bit in STAGE_BITS.items() if bits & bit]
    rest = bits & ~sum(STAGE_BITS.values())
    return (*names, f"0x{rest:x}") if rest else tuple(names)
