"""From what modules say and what a device has to everything that the driver is given.

Synthesis never changes the question: a stage is compiled as an application would, with what it writes consumed and
what it reads fed, and no state beyond that which could change its code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shaderstat.model import STAGE_BITS
from shaderstat.pipeline.company import complete
from shaderstat.pipeline.graphics import graphics_state
from shaderstat.pipeline.layout import push_constant_ranges, set_layouts, specialization
from shaderstat.pipeline.ray_tracing import ray_tracing_state
from shaderstat.pipeline.spec import PipelineSpec, SpecModule
from shaderstat.pipeline.stages import FLAG_NAMES, StageInput, blame, check_stage, pipeline_kind

if TYPE_CHECKING:
    from shaderstat.backends.base import DeviceFacts

_ORDER = {stage: position for position, stage in enumerate(STAGE_BITS)}


@dataclass(frozen=True, slots=True)
class Options:
    """What the user may say about the state.

    Attributes:
        runtime_descriptors: how many descriptors an array without a size gets, if the device allows as many.
    """

    runtime_descriptors: int = 1024


def synthesise(stages: Sequence[StageInput], facts: DeviceFacts, options: Options | None = None) -> PipelineSpec:
    """The pipeline that `stages` make, in any order; what they lack to be one is generated.

    The stages must have passed `shaderstat.pipeline.requirements.check` on this device.

    Raises:
        Unsupported: ``pipeline/stages``, ``pipeline/binding-conflict``, ``vulkan/limit``, ``vulkan/format``,
            ``vulkan/feature-missing``, ``spirv/spec-value``; its `path` is set where one file is to blame.
        InvalidSpirv: ``spirv/local-size``.
    """
    options = options or Options()
    kind = pipeline_kind(stages)
    for stage in stages:
        with blame(stage.path):
            check_stage(stage.entry, facts)
    # Sorting is stable: several hit shaders stay in the order in which they were named.
    company = sorted(complete(kind, stages, facts), key=lambda stage: _ORDER[stage.entry.stage])
    layouts, remarks = set_layouts(company, facts, options.runtime_descriptors)
    modules: dict[bytes, int] = {}
    infos = [_stage_info(stage, modules.setdefault(stage.words, len(modules))) for stage in company]
    render_pass = None
    create_info: dict[str, Any]
    if kind == "compute":
        create_info = {"stage": infos[0]}
    elif kind == "graphics":
        state, render_pass = graphics_state(company, facts)
        create_info = {"pStages": infos, **state}
    else:
        create_info = {"pStages": infos, **ray_tracing_state([stage.entry.stage for stage in company])}
    synthetic = [stage for stage in company if stage.synthetic]
    origin = {stage.words: stage for stage in reversed(company)}
    return PipelineSpec(
        kind=kind,
        modules=tuple(SpecModule(words, origin[words].path, origin[words].synthetic) for words in modules),
        set_layouts=layouts,
        layout={
            "pSetLayouts": list(range(len(layouts))),
            "pPushConstantRanges": push_constant_ranges(company, facts),
        },
        create_info=create_info,
        render_pass=render_pass,
        synthetic_stages=sum({STAGE_BITS[stage.entry.stage] for stage in synthetic}),
        bound="upper" if synthetic else "exact",
        remarks=remarks,
    )


def _stage_info(stage: StageInput, module: int) -> dict[str, Any]:
    """VkPipelineShaderStageCreateInfo."""
    info: dict[str, Any] = {"stage": FLAG_NAMES[stage.entry.stage], "module": module, "pName": stage.entry.name}
    if stage.specialization:
        with blame(stage.path):
            values = specialization(stage.entry.spec_constants, stage.specialization)
        if values is not None:
            info["pSpecializationInfo"] = values
    return info
