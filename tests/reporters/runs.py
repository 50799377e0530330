"""Runs as the engine would yield them, small and with everything that a report can hold."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from shaderstat.annotate import Annotator
from shaderstat.model import (
    STATISTIC_FORMATS,
    Device,
    Driver,
    EndEvent,
    Event,
    ExecutableAnswer,
    Pipeline,
    PipelineEvent,
    Producer,
    Report,
    RepresentationAnswer,
    Result,
    ResultEvent,
    Run,
    RunEvent,
    Schema,
    StatisticAnswer,
    Target,
    TargetEvent,
)
from shaderstat.reporters.base import Options, Output, create
from shaderstat.reporters.read import read_report

GOLDEN = Path(__file__).parent.parent / "golden" / "report-1.json"

RADV = Driver(3, "radv", "22.3.6", "Mesa 22.3.6")
NVIDIA = Driver(4, "NVIDIA", "580.159", "580.159")
UNKNOWN = Driver(99, "somebody's", "1", "")

STAGES = {"vertex": 0x1, "fragment": 0x10, "compute": 0x20}


def target(id: str = "radv:navi21", driver: Driver = RADV, device: str = "Null hardware (RADV NAVI21)") -> Target:
    """A target that has met no statistic yet."""
    return Target(
        id=id,
        backend="vulkan",
        driver=driver,
        device=Device(device, 0x1002, 0x73BF, "discrete_gpu", "1.3.230", "0" * 32),
        source="null-device" if id.startswith("radv") else "host",
    )


def statistic(name: str, bits: int, format: str = "uint64", description: str = "") -> StatisticAnswer:
    return StatisticAnswer(name, description, STATISTIC_FORMATS.index(format), bits)


def executable(
    stage: str,
    *statistics: StatisticAnswer,
    name: str | None = None,
    subgroup_size: int = 64,
    representations: tuple[RepresentationAnswer, ...] = (),
    synthetic: bool = False,
) -> ExecutableAnswer:
    title = f"{stage.title()} Shader" if name is None else name
    return ExecutableAnswer(
        title, "", STAGES.get(stage, 0), subgroup_size, statistics, representations, synthetic=synthetic
    )


def radv(stage: str, vgprs: int, *, spilled: int = 0, hash: int = 0x2AF4C0BE, size: int = 616) -> ExecutableAnswer:
    """An executable with seven of RADV's statistics."""
    return executable(
        stage,
        statistic("Driver pipeline hash", 0xB8C1F0E2775AA04C),
        statistic("VGPRs", vgprs, description="Number of VGPR registers allocated per subgroup"),
        statistic("Spilled VGPRs", spilled),
        statistic("Code size", size),
        statistic("Subgroups per SIMD", 32 if vgprs < 48 else 16),
        statistic("Hash", hash),
        statistic("Copies", 3),
    )


def answered(
    pipelines: Iterable[tuple[Pipeline, Sequence[ExecutableAnswer]]], *targets: Target, more: Sequence[Event] = ()
) -> list[Event]:
    """A run in which every target gave the same answer; `more` before its end."""
    targets = targets or (target(),)
    run = Run("2025-01-02T03:04:05+00:00", ("stats", "shaders"))
    events: list[Event] = [RunEvent(Schema(), Producer("shaderstat", "0.1.0"), run, 0)]
    events += [TargetEvent(each) for each in targets]
    annotators = {each.id: Annotator(each.driver, each.device) for each in targets}
    for pipeline, answers in pipelines:
        events.append(PipelineEvent(pipeline))
        for each in targets:
            executables = annotators[each.id].executables(answers)
            if annotators[each.id].grew:
                events.append(TargetEvent(grown(each, annotators[each.id])))
            data = tuple(tuple(one.data for one in answer.representations) for answer in answers)
            events.append(ResultEvent(Result(pipeline.id, each.id, "ok", executables=executables), data))
    return [*events, *more, EndEvent(run)]


def grown(target: Target, annotator: Annotator) -> Target:
    return Target(
        target.id, target.backend, target.driver, target.device, target.source, statistics=annotator.statistics
    )


def pipeline(name: str, kind: str | None = "compute", **members: object) -> Pipeline:
    return Pipeline(name, name, "0" * 64, kind, **members)  # type: ignore[arg-type]


def replayed(report: Report) -> list[Event]:
    """The events that make up a report."""
    return [
        RunEvent(report.schema, report.producer, report.run, len(report.pipelines)),
        *(TargetEvent(each) for each in report.targets),
        *(PipelineEvent(each) for each in report.pipelines),
        *(ResultEvent(each) for each in report.results),
        EndEvent(report.run),
    ]


def golden() -> list[Event]:
    """The golden report as events."""
    return replayed(read_report(GOLDEN.read_bytes()))


def written(format: str, events: Iterable[Event], options: Options | None = None) -> bytes:
    """What a format makes of a run."""
    return finished(format, events, options)[0]


def finished(format: str, events: Iterable[Event], options: Options | None = None) -> tuple[bytes, Output]:
    stream = io.BytesIO()
    output = create(format, stream, options)
    for event in events:
        output.feed(event)
    output.close()
    return stream.getvalue(), output
