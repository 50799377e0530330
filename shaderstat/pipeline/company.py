"""Stages that a pipeline lacks: written by shaderstat, so that a stage can be compiled alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shaderstat.pipeline import requirements
from shaderstat.pipeline.stages import StageInput, blame, check_stage
from shaderstat.spirv import mesh_partners, partners, ray_partners
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
        Unsupported: ``pipeline/partner`` where none can be written, ``vulkan/limit`` where the device can't have it.
    """
    if kind == "graphics":
        return [*stages, *_complete_graphics({stage.entry.stage: stage for stage in stages}, facts)]
    if kind == "ray_tracing":
        return [*stages, *_complete_ray_tracing(stages)]
    return list(stages)


def _complete_graphics(company: dict[str, StageInput], facts: DeviceFacts) -> list[StageInput]:
    """The missing graphics stages; they go into `company` too, since one may need another."""
    added: list[StageInput] = []

    def add(beside: StageInput, words: bytes) -> None:
        partner = _partner(beside, words)
        with blame(beside.path):
            requirements.check_stage(partner.entry.stage, facts)
            check_stage(partner.entry, facts)
        company[partner.entry.stage] = partner
        added.append(partner)

    if "task" in company and "mesh" not in company:
        task = company["task"]
        add(task, mesh_partners.mesh_after(task.entry, task.reflection.capabilities))
    elif "mesh" in company:
        mesh = company["mesh"]
        if "task" not in company and mesh_partners.task_payload(mesh.entry) is not None:
            add(mesh, mesh_partners.task_before(mesh.entry, mesh.reflection.capabilities))
    elif set(company) == {"fragment"} and mesh_partners.is_for_mesh(company["fragment"].entry):
        add(company["fragment"], mesh_partners.mesh_before(company["fragment"].entry))
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
        add(last, partners.fragment_after(last.entry, last.reflection.capabilities))
    return added


def _complete_ray_tracing(stages: Sequence[StageInput]) -> list[StageInput]:
    """A ray generation shader where there is none; where rays or callables are sent out and nothing in the pipeline
    answers, shaders that do."""
    entries = [stage.entry for stage in stages]
    words = {entry.stage for entry in entries}
    capabilities = {number for stage in stages for number in stage.reflection.capabilities}
    found: list[bytes] = []
    if words.isdisjoint(("miss", "closest_hit", "any_hit", "intersection")):
        for payload in ray_partners.of_storage(entries, ray_partners.RAY_PAYLOAD):
            found += [ray_partners.answer_to(stage, payload, capabilities) for stage in ("closest_hit", "miss")]
    elif "intersection" in words and words.isdisjoint(("closest_hit", "any_hit")):
        # What an intersection shader reports is used by hit shaders alone.
        attributes = ray_partners.of_storage(entries, ray_partners.HIT_ATTRIBUTE)
        found.append(ray_partners.answer_to("closest_hit", None, capabilities, next(iter(attributes), None)))
    if "callable" not in words:
        for data in ray_partners.of_storage(entries, ray_partners.CALLABLE_DATA):
            found.append(ray_partners.answer_to("callable", data, capabilities))
    if "raygen" not in words:
        found.append(ray_partners.raygen_for(entries, capabilities, _free_place(stages)))
    return [_partner(stages[0], module) for module in found]


def _free_place(stages: Sequence[StageInput]) -> tuple[int, int]:
    """A set and a binding behind all others, where no descriptor is moved by it."""
    used = [
        (binding.set, binding.binding)
        for stage in stages
        for binding in (*stage.entry.bindings, *stage.reflection.unused_bindings)
    ]
    last = max(used, default=(0, -1))
    return last[0], last[1] + 1


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
