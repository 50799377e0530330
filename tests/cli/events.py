"""Runs that never happened, for commands to show: the engine's place is taken by a list of events."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from shaderstat.model import (
    STATUSES,
    Device,
    Diagnostic,
    Driver,
    EndEvent,
    Event,
    Executable,
    Failure,
    Module,
    NoteEvent,
    Pipeline,
    PipelineEvent,
    Producer,
    Representation,
    Request,
    Result,
    ResultEvent,
    Run,
    RunEvent,
    Schema,
    Statistic,
    StatisticInfo,
    Target,
    TargetEvent,
)

TEXTS = (("NIR Shader(s)", b"shader: \x1b[31mnir\n"), ("Assembly", b"s_endpgm ; done\n"))


def target(id: str = "mock") -> Target:
    device = Device("Mock", 0, 0, "other", "1.3.0", "0" * 32)
    statistics = (
        StatisticInfo("VGPRs", "uint64", "vector registers", "registers", "registers", "less", "trigger", "VGPRs"),
        StatisticInfo("Code size", "uint64", "bytes of code", "code_size", "bytes", "less", "trigger", "Code"),
    )
    return Target(id, "mock", Driver(0, "mock", "1", ""), device, "mock", statistics=statistics)


def executable(
    stages: Sequence[str] = ("compute",),
    index: int = 0,
    name: str = "Shader",
    registers: int = 24,
    texts: Sequence[tuple[str, bytes]] = TEXTS,
    is_text: bool = True,
) -> tuple[Executable, tuple[bytes, ...]]:
    digests = [hashlib.sha256(data).hexdigest() for _, data in texts]
    representations = tuple(
        Representation(label, "", is_text, len(data), digest, digest, index=place)
        for place, ((label, data), digest) in enumerate(zip(texts, digests, strict=True))
    )
    statistics = (Statistic("VGPRs", "uint64", registers), Statistic("Code size", "uint64", 616))
    made = Executable(index, name, "", tuple(stages), 64, statistics=statistics, representations=representations)
    return made, tuple(data for _, data in texts)


def answered(name: str, *executables: tuple[Executable, tuple[bytes, ...]], on: str | None = "mock") -> list[Event]:
    executables = executables or (executable(),)
    result = Result(name, on, "ok", executables=tuple(one for one, _ in executables))
    return [pipeline(name), ResultEvent(result, tuple(data for _, data in executables))]


def pipeline(name: str) -> PipelineEvent:
    module = Module(f"{name}.spv", "0" * 64, "compute", "main")
    return PipelineEvent(Pipeline(name, name, "0" * 64, "compute", modules=(module,)))


def unanswered(name: str, status: str, on: str | None = "mock", failure: Failure | None = None) -> list[Event]:
    said = () if failure else (Diagnostic("error", "x/y", f"{name} is bad at byte 148", "write it again"),)
    return [pipeline(name), ResultEvent(Result(name, on, status, failure=failure, diagnostics=said))]


def note(message: str, severity: str = "info") -> NoteEvent:
    return NoteEvent(Diagnostic(severity, "target/chosen", message))


def run(*parts: list[Event], targets: Sequence[str] = ("mock",), complete: bool = True) -> list[Event]:
    body = [event for part in parts for event in part]
    results = [event.result for event in body if isinstance(event, ResultEvent)]
    head = Run("2026-01-01T00:00:00+00:00", (), complete=False)
    counts = {status: sum(result.status == status for result in results) for status in STATUSES} | {"cached": 0}
    start = RunEvent(Schema(), Producer("shaderstat", "0"), head, len(results))
    end = EndEvent(replace(head, complete=complete, counts=counts))
    return [start, *(TargetEvent(target(id)) for id in targets), *body, end]


class Engine:
    """Stands in for `shaderstat.engine.run`; keeps the last request."""

    request: Request

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from shaderstat import engine

        self.events: list[Event | BaseException] = []
        monkeypatch.setattr(engine, "run", self.run)

    def answers(self, *events: Event | BaseException) -> None:
        self.events = list(events)

    def run(self, request: Request, watch: object = None) -> Iterator[Event]:
        self.request = request
        for event in self.events:
            if isinstance(event, BaseException):
                raise event
            yield event
