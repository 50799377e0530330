"""Events, in the order in which a run yields them, and the report that they add up to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shaderstat.model.answers import Diagnostic
from shaderstat.model.results import Pipeline, Producer, Result, Run, Schema, Target
from shaderstat.plain import dataclass

if TYPE_CHECKING:
    from shaderstat.instrumentation import Slot


@dataclass(frozen=True, slots=True)
class RunEvent:
    """First: who asks, and what. `pipelines` is how many there are to do; `reads` the file that a buffer shall go to
    after a pipeline's run: (the pipeline's id, slot, path) each."""

    schema: Schema
    producer: Producer
    run: Run
    pipelines: int
    reads: tuple[tuple[str, Slot, str], ...] = ()


@dataclass(frozen=True, slots=True)
class TargetEvent:
    """A target, before the first result that needs it, and again when its list of statistics has grown."""

    target: Target


@dataclass(frozen=True, slots=True)
class PipelineEvent:
    """A pipeline, before its first result."""

    pipeline: Pipeline


@dataclass(frozen=True, slots=True)
class ResultEvent:
    """A result; `data[i][j]` are the bytes of ``result.executables[i].representations[j]``. With
    `Request.keep_states`, `state` is what was compiled: ``spec``, as `shaderstat.pipeline.spec.pack` has it, and the
    device's ``setup``. `read` are the buffers that `Execution.read` asked for, as the run left them."""

    result: Result
    data: tuple[tuple[bytes, ...], ...] = ()
    state: Mapping[str, Any] | None = None
    read: tuple[tuple[Slot, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class NoteEvent:
    """A remark for the user about the run, not about a result; it ends in ``run.diagnostics`` as well."""

    diagnostic: Diagnostic


@dataclass(frozen=True, slots=True)
class EndEvent:
    """Last: the run with its counts. A stream without it was cut off."""

    run: Run


Event = RunEvent | TargetEvent | PipelineEvent | ResultEvent | NoteEvent | EndEvent


@dataclass(frozen=True, slots=True)
class Report:
    """The whole answer: three flat lists and a header."""

    schema: Schema
    producer: Producer
    run: Run
    targets: tuple[Target, ...] = ()
    pipelines: tuple[Pipeline, ...] = ()
    results: tuple[Result, ...] = ()

    @classmethod
    def collect(cls, events: Iterable[Event]) -> Report:
        """Gather a run's events; representations' bytes are dropped.

        Raises:
            ValueError: there was no `RunEvent`.
        """
        head: RunEvent | None = None
        run: Run | None = None
        targets: dict[str, Target] = {}
        pipelines: dict[str, Pipeline] = {}
        results: list[Result] = []
        for event in events:
            if isinstance(event, RunEvent):
                head, run = event, replace(event.run, complete=False)
            elif isinstance(event, TargetEvent):
                targets[event.target.id] = event.target
            elif isinstance(event, PipelineEvent):
                pipelines[event.pipeline.id] = event.pipeline
            elif isinstance(event, ResultEvent):
                results.append(event.result)
            elif isinstance(event, EndEvent):
                run = event.run
        if head is None or run is None:
            raise ValueError("no run event")
        return cls(head.schema, head.producer, run, tuple(targets.values()), tuple(pipelines.values()), tuple(results))
