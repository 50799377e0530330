"""A ray tracing pipeline's shader groups, from the stages that it has."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

_UNUSED = 0xFFFFFFFF  # VK_SHADER_UNUSED_KHR


def ray_tracing_state(stages: Sequence[str]) -> dict[str, Any]:
    """Everything of VkRayTracingPipelineCreateInfoKHR but its stages.

    Ray generation, miss and callable shaders make a group each; the nth closest hit, any-hit and intersection shaders
    make the nth hit group.

    Args:
        stages: the stages' words in the order of pStages.
    """
    general = [index for index, stage in enumerate(stages) if stage in ("raygen", "miss", "callable")]
    hit = zip_longest(
        *([index for index, stage in enumerate(stages) if stage == word] for word in _HIT_STAGES), fillvalue=_UNUSED
    )
    groups = [_group("VK_RAY_TRACING_SHADER_GROUP_TYPE_GENERAL_KHR", index) for index in general]
    for closest, any_hit, intersection in hit:
        shape = "TRIANGLES" if intersection == _UNUSED else "PROCEDURAL"
        kind = f"VK_RAY_TRACING_SHADER_GROUP_TYPE_{shape}_HIT_GROUP_KHR"
        groups.append(_group(kind, _UNUSED, closest, any_hit, intersection))
    return {"pGroups": groups, "maxPipelineRayRecursionDepth": 1}


_HIT_STAGES = ("closest_hit", "any_hit", "intersection")


def _group(
    kind: str, general: int, closest: int = _UNUSED, any_hit: int = _UNUSED, intersection: int = _UNUSED
) -> dict[str, Any]:
    return {
        "type": kind,
        "generalShader": general,
        "closestHitShader": closest,
        "anyHitShader": any_hit,
        "intersectionShader": intersection,
    }
