"""Stages that a pipeline lacks: written by shaderstat, so that a stage can be compiled alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shaderstat.errors import Unsupported
from shaderstat.pipeline.stages import StageInput

if TYPE_CHECKING:
    from shaderstat.backends.base import DeviceFacts


def complete(kind: str, stages: Sequence[StageInput], facts: DeviceFacts) -> list[StageInput]:
    """`stages`, and whatever they lack to make a pipeline.

    Raises:
        Unsupported: ``pipeline/stages``.
    """
    words = {stage.entry.stage for stage in stages}
    missing = ""
    if kind == "graphics":
        if not words & {"vertex", "mesh"}:
            missing = "vertex"
        elif "fragment" not in words:
            missing = "fragment"
        elif len(words & {"tessellation_control", "tessellation_evaluation"}) == 1:
            missing = "tessellation"
    elif kind == "ray_tracing" and "raygen" not in words:
        missing = "ray generation"
    if missing:
        raise Unsupported("pipeline/stages", f"without a {missing} shader there is no pipeline")
    return list(stages)
