"""Stages that a pipeline lacks: written by shaderstat, so that a stage can be compiled alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shaderstat.errors import Unsupported
from shaderstat.pipeline.stages import StageInput, blame, check_stage
from shaderstat.spirv import partners
from shaderstat.spirv.reflect import reflect
from shaderstat.spirv.words import load

if TYPE_CHECKING:
    from shaderstat.backends.base import DeviceFacts

# Vertices of a patch where only the evaluation stage is known, by its domain.
_PATCH_POINTS = {"triangles": 3, "quads": 4, "isolines": 2}
_LEAST_ATTRIBUTES = 16  # maxVertexInputAttributes of every device


def complete(kind: str, stages: Sequence[StageInput], facts: DeviceFacts) -> list[StageInput]:
    """`stages`, and whatever they lack to make a pipeline.

    Raises:
        Unsupported: ``pipeline/stages``: there is no partner for it; ``vulkan/limit``: the device can't have one.
    """
    company = {stage.entry.stage: stage for stage in stages}
    if kind == "graphics":
        added = _complete_graphics(company, facts)
    elif kind == "ray_tracing" and "raygen" not in company:
        raise Unsupported("pipeline/stages", "without a ray generation shader there is no ray tracing pipeline")
    else:
        added = []
    return [*stages, *added]


def _complete_graphics(company: dict[str, StageInput], facts: DeviceFacts) -> list[StageInput]:
    """The missing graphics stages; they go into `company` too, since one may need another."""
    added: list[StageInput] = []

    def add(beside: StageInput, words: bytes) -> None:
        partner = _partner(beside, words)
        with blame(beside.path):
            check_stage(partner.entry, facts)
        company[partner.entry.stage] = partner
        added.append(partner)

    if "mesh" in company or "task" in company:
        if "mesh" not in company:
            raise Unsupported("pipeline/stages", "without a mesh shader there is no pipeline for a task shader")
    else:
        control, evaluation = company.get("tessellation_control"), company.get("tessellation_evaluation")
        if control is None and evaluation is not None:
            points = _PATCH_POINTS.get(evaluation.entry.topology or "", 3)
            add(evaluation, partners.control_before(evaluation.entry, evaluation.reflection.capabilities, points))
        elif control is not None and evaluation is None:
            add(control, partners.evaluation_after(control.entry, control.reflection.capabilities))
        if "vertex" not in company:
            first = _first(company, "tessellation_control", "geometry", "fragment")
            words = partners.vertex_before(
                first.entry,
                first.reflection.capabilities,
                facts.property("VkPhysicalDeviceLimits", "maxVertexInputAttributes") or _LEAST_ATTRIBUTES,
                _layer(facts),
            )
            add(first, words)
    if "fragment" not in company:
        last = _first(company, "mesh", "geometry", "tessellation_evaluation", "vertex")
        add(last, partners.fragment_after(last.entry))
    return added


def _first(company: dict[str, StageInput], *stages: str) -> StageInput:
    return next(company[stage] for stage in stages if stage in company)


def _layer(facts: DeviceFacts) -> str:
    """How a vertex shader may write Layer and ViewportIndex."""
    if facts.api_version >= (1, 2, 0) and all(
        facts.has_feature("VkPhysicalDeviceVulkan12Features", member)
        for member in ("shaderOutputLayer", "shaderOutputViewportIndex")
    ):
        return "core"
    return "extension" if facts.has_extension("VK_EXT_shader_viewport_index_layer") else ""


def _partner(beside: StageInput, words: bytes) -> StageInput:
    """A generated module as a stage; `beside` is the one that it was written for."""
    reflection = reflect(load(words))
    (entry,) = reflection.entries
    path = f"{beside.path} (generated {entry.stage.replace('_', ' ')} stage)"
    return StageInput(words, path, reflection, entry, synthetic=True)
