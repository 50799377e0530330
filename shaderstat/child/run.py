"""The part of a job that runs the pipeline: planned while the job is prepared, done after it was compiled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from shaderstat.errors import Unsupported
from shaderstat.instrumentation import EXTENSION
from shaderstat.model import Diagnostic, stage_names
from shaderstat.pipeline.run_plan import plan_resources

if TYPE_CHECKING:
    from shaderstat.backends.base import Backend, CompiledPipeline
    from shaderstat.instrumentation import Execution, Instrumentation
    from shaderstat.model import Job
    from shaderstat.pipeline.resources import Resources
    from shaderstat.pipeline.spec import PipelineSpec
    from shaderstat.pipeline.stages import StageInput


def merged_blocks(found: Instrumentation, synthetic: int) -> list[Diagnostic]:
    """What is to be known of blocks that hold real stages and generated ones, whose counts can't be told apart: one
    remark for each set of stages.

    Args:
        synthetic: VkShaderStageFlags of the generated stages.
    """
    mixed = {block.stages for block in found.blocks if block.stages & synthetic and block.stages & ~synthetic}
    return [
        Diagnostic(
            "info",
            "driver/merged-stages",
            f"blocks of {'+'.join(stage_names(stages))}: the generated {' and '.join(stage_names(stages & synthetic))} "
            f"stage{'s are' if (stages & synthetic).bit_count() > 1 else ' is'} in their numbers too",
        )
        for stages in sorted(mixed)
    ]


class PlannedRun:
    """A run that is to be made.

    Attributes:
        remarks: what the user should know of it.
    """

    def __init__(self, job: Job, spec: PipelineSpec, stages: Sequence[StageInput], backend: Backend) -> None:
        """Plan it.

        Raises:
            Unsupported: ``run/no-instrumentation``: it shall count, and the device can't; else as `plan_resources`.
        """
        assert job.execution is not None
        self._execution: Execution = job.execution
        self._spec = spec
        device = backend.facts.device.name
        if job.execution.metrics and backend.offer is None:
            more = "executable statistics are" if backend.tells_executables else "nor are executable statistics"
            raise Unsupported(
                "run/no-instrumentation",
                f"{EXTENSION} is not offered by {device}; {more}",
                hint="--no-metrics runs it all the same, so that --read can tell what it wrote",
            )
        self.asks = job.statistics or job.representations
        self.remarks: list[Diagnostic] = []
        if self.asks and not backend.tells_executables:
            self.asks = False
            message = f"{device} has no VK_KHR_pipeline_executable_properties: there are no statistics beside the run"
            self.remarks.append(Diagnostic("warning", "run/no-executables", message))
        self._resources: Resources = plan_resources(spec, stages, job.execution, backend.facts)
        self.remarks += (Diagnostic(each.severity, each.code, each.message) for each in self._resources.notes)

    @property
    def counts(self) -> bool:
        """Whether the pipeline must be one whose shaders count."""
        return self._execution.metrics

    def run(self, pipeline: CompiledPipeline) -> Instrumentation:
        """Run it; blocks of generated stages alone are marked as such.

        Raises:
            DriverError: a VkResult other than success.
            Unsupported: the device can't.
        """
        found = pipeline.run(self._execution, self._resources)
        synthetic = self._spec.synthetic_stages
        return replace(
            found,
            blocks=tuple(
                replace(block, synthetic=block.stages != 0 and block.stages & ~synthetic == 0) for block in found.blocks
            ),
        )

    def merged(self, found: Instrumentation) -> list[Diagnostic]:
        """What is to be known of the blocks that `run` gave: `merged_blocks`."""
        return merged_blocks(found, self._spec.synthetic_stages)
