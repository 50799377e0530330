"""From what modules say and what a device has to everything that the driver is given.

Synthesis never changes the question: a stage is compiled as an application would, with what it writes consumed and
what it reads fed, and no state beyond that which could change its code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shaderstat.errors import Unsupported
from shaderstat.model import STAGE_BITS
from shaderstat.pipeline.company import complete
from shaderstat.pipeline.graphics import graphics_state
from shaderstat.pipeline.layout import push_constant_ranges, set_layouts, specialization
from shaderstat.pipeline.ray_tracing import ray_tracing_state
from shaderstat.pipeline.spec import PipelineSpec, SpecModule
from shaderstat.pipeline.stages import FLAG_NAMES, StageInput, blame, check_stage, pipeline_kind
from shaderstat.plain import dataclass

if TYPE_CHECKING:
    from shaderstat.backends.base import DeviceFacts

_DESCRIPTOR_HEAP = 5128  # the capability DescriptorHeapEXT
_HEAP_FLAG = "VK_PIPELINE_CREATE_2_DESCRIPTOR_HEAP_BIT_EXT"

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
    uses_heaps = any(_DESCRIPTOR_HEAP in stage.reflection.capabilities for stage in company)
    if uses_heaps:
        _take_heaps(company, create_info)
    synthetic = [stage for stage in company if stage.synthetic]
    origin = {stage.words: stage for stage in reversed(company)}
    return PipelineSpec(
        kind=kind,
        modules=tuple(SpecModule(words, origin[words].path, origin[words].synthetic) for words in modules),
        set_layouts=() if uses_heaps else layouts,
        layout={}
        if uses_heaps
        else {
            "pSetLayouts": list(range(len(layouts))),
            "pPushConstantRanges": push_constant_ranges(company, facts),
        },
        create_info=create_info,
        render_pass=render_pass,
        synthetic_stages=sum({STAGE_BITS[stage.entry.stage] for stage in synthetic}),
        bound="upper" if synthetic else "exact",
        remarks=remarks,
    )


def _take_heaps(company: Sequence[StageInput], create_info: dict[str, Any]) -> None:
    """Take descriptors out of heaps: such a pipeline has no layout (VUID-VkGraphicsPipelineCreateInfo-flags-11311).

    Raises:
        Unsupported: ``pipeline/state``: there are sets, too, and where in a heap these lie no module tells.
    """
    for stage in company:
        if stage.entry.bindings:
            with blame(stage.path):
                raise Unsupported(
                    "pipeline/state",
                    "it takes descriptors out of heaps, and has bindings, too: which of a heap's descriptors these are "
                    "the application alone knows",
                    hint="an archive of captured pipelines has it",
                )
    create_info["layout"] = None
    create_info["pNext"] = [*create_info.get("pNext", ()), ["VkPipelineCreateFlags2CreateInfo", {"flags": _HEAP_FLAG}]]


def _stage_info(stage: StageInput, module: int) -> dict[str, Any]:
    """VkPipelineShaderStageCreateInfo."""
    info: dict[str, Any] = {"stage": FLAG_NAMES[stage.entry.stage], "module": module, "pName": stage.entry.name}
    if stage.specialization:
        with blame(stage.path):
            values = specialization(stage.entry.spec_constants, stage.specialization)
        if values is not None:
            info["pSpecializationInfo"] = values
    return info
