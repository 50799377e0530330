"""Where the rooms meet: a request in, events out, in input order.

The command line and the library are the two callers; no command does the work itself.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timezone
from fnmatch import fnmatchcase

from shaderstat import inputs, targets
from shaderstat._version import __version__
from shaderstat.annotate import Annotator
from shaderstat.errors import InvalidSpirv, NoTarget, ShaderstatError
from shaderstat.inputs import Candidate
from shaderstat.model import (
    STATUSES,
    Answer,
    Diagnostic,
    EndEvent,
    Event,
    Job,
    JobModule,
    Launch,
    Module,
    NoteEvent,
    Pipeline,
    PipelineEvent,
    Producer,
    Request,
    Result,
    ResultEvent,
    Run,
    RunEvent,
    Schema,
    State,
    Target,
    TargetEvent,
)
from shaderstat.pipeline.spec import SYNTHESIS_VERSION
from shaderstat.pool import Outcome, Pool
from shaderstat.pool.environment import child_environment, recorded
from shaderstat.variants import Variant, variants
from shaderstat.wire import Hello


def run(request: Request) -> Iterator[Event]:
    """Answer a request.

    Yields:
        A `RunEvent`; before the first result that needs them a `TargetEvent` and a `PipelineEvent`; results in input
        order, targets in the order asked for; `NoteEvent`s as they arise; an `EndEvent`.

    Raises:
        ShaderstatError: nothing can be answered: no such file, no such target, nothing that matches.
        KeyboardInterrupt: after an `EndEvent` with ``complete`` false.
    """
    candidates = _select(inputs.find(request.paths, stdin=request.stdin), request)
    yield from _Run(request, candidates, variants(request.spec)).events()


def _select(candidates: list[Candidate], request: Request) -> list[Candidate]:
    if not request.pipelines:
        return candidates
    chosen = [one for one in candidates if any(fnmatchcase(one.name, glob) for glob in request.pipelines)]
    if not chosen:
        names = ", ".join(one.name for one in candidates[:5])
        raise ShaderstatError(
            f"no pipeline matches {' or '.join(request.pipelines)}",
            hint=f"there are {names}{' …' if len(candidates) > 5 else ''}",
        )
    return chosen


class _Run:
    """One run's state: its targets, their annotators, what has been yielded."""

    def __init__(self, request: Request, candidates: list[Candidate], variants: list[Variant]) -> None:
        self.request = request
        self.candidates = candidates
        self.variants = variants
        # What is compiled: task number → pipeline and variant, in input order.
        self.work = [(one, variant) for one in candidates if one.verdict is None for variant in variants]
        self.spec_found: set[int] = set()
        self.counts: Counter[str] = Counter()
        self.notes: list[Diagnostic] = []
        self.targets: dict[int, Target] = {}
        self.annotators: dict[int, Annotator] = {}

    def events(self) -> Iterator[Event]:
        """The run's events, in order."""
        started = datetime.now(timezone.utc).isoformat(timespec="seconds")
        head = Run(started, self.request.arguments, complete=False)
        complete = False
        with Pool() as pool:
            notes = list(self._open(pool)) if self.work else []
            early = sum(one.verdict is not None for one in self.candidates)
            yield RunEvent(Schema(), Producer("shaderstat", __version__), head, len(self.work) + early)
            for note in notes:
                yield self._note(note)
            for target in self.targets.values():
                yield TargetEvent(target)
            try:
                yield from self._results(pool)
                for note in self._unmatched():
                    yield self._note(note)
                complete = True
            except KeyboardInterrupt:
                yield self._end(head, complete=False)
                raise
        if complete:
            yield self._end(head, complete=True)

    def _note(self, note: Diagnostic) -> NoteEvent:
        self.notes.append(note)
        return NoteEvent(note)

    def _end(self, head: Run, *, complete: bool) -> EndEvent:
        counts = {status: self.counts[status] for status in (*STATUSES, "cached")}
        return EndEvent(replace(head, complete=complete, counts=counts, diagnostics=tuple(self.notes)))

    # ── Targets ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _open(self, pool: Pool) -> Iterator[Diagnostic]:
        """Reach the targets; yields remarks about the choice."""
        request = self.request
        scenario = None
        if request.scenario is not None:
            from shaderstat.config.scenario import read_scenario

            scenario = read_scenario(request.scenario)
        if request.targets:
            for name in dict.fromkeys(request.targets):
                lane, hello = self._first(pool, targets.named(name, request, scenario))
                self._opened(lane, pool.lanes[lane].launch, hello)
        else:
            yield self._choose(pool, targets.automatic(request, scenario))
        if request.validate and all(pool.lanes[lane].hello.validator is None for lane in self.targets):  # type: ignore[union-attr]
            yield Diagnostic(
                "warning",
                "spirv/not-validated",
                "nothing was validated: there is no SPIRV-Tools here",
                hint="pip install 'shaderstat[spirv]', or apt install spirv-tools",
            )

    def _first(self, pool: Pool, launches: list[Launch]) -> tuple[int, Hello]:
        """Try launches one after the other; the last one's refusal is the target's."""
        for launch in launches[:-1]:
            lane = pool.add(launch, width=self.request.jobs, timeout_s=self.request.timeout_s)
            try:
                return lane, pool.wait(lane)
            except NoTarget:
                pool.drop(lane)
        lane = pool.add(launches[-1], width=self.request.jobs, timeout_s=self.request.timeout_s)
        return lane, pool.wait(lane)

    def _choose(self, pool: Pool, launches: list[Launch]) -> Diagnostic:
        """Take the first launch that answers. They start side by side: opening a device is mostly waiting."""
        request = self.request
        real = [launch for launch in launches if launch.backend != "mock"]
        lanes = [pool.add(launch, width=request.jobs, timeout_s=request.timeout_s) for launch in real]
        reasons: list[NoTarget] = []
        for place, lane in enumerate(lanes):
            try:
                hello = pool.wait(lane)
            except NoTarget as error:
                pool.drop(lane)
                reasons.append(error)
                continue
            for other in lanes[place + 1 :]:
                pool.drop(other)
            target = self._opened(lane, real[place], hello)
            return Diagnostic("info", "target/chosen", f"target {target.id}")
        mock = next((launch for launch in launches if launch.backend == "mock"), None)
        if mock is None:
            raise reasons[-1]
        lane, hello = self._first(pool, [mock])
        self._opened(lane, mock, hello)
        if not reasons:
            return Diagnostic("info", "target/chosen", "target mock")
        return Diagnostic(
            "warning",
            "target/mock",
            f"no GPU compiler can be reached ({reasons[0].message}): these are numbers of the SPIR-V itself",
            hint="for real ones: apt install mesa-vulkan-drivers libvulkan1",
        )

    def _opened(self, lane: int, launch: Launch, hello: Hello) -> Target:
        name = f"host:{hello.device_index}" if launch.id == "host" else launch.id
        target = Target(
            id=name,
            backend=launch.backend,
            driver=hello.driver,
            device=hello.device,
            source=launch.source,
            environment=recorded(child_environment(launch)) if launch.backend != "mock" else {},
        )
        self.targets[lane] = target
        self.annotators[lane] = Annotator(hello.driver)
        return target

    # ── Results ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _results(self, pool: Pool) -> Iterator[Event]:
        """Results in input order, whatever order they come in."""
        lanes = list(self.targets)
        outcomes = pool.run(len(self.work), self._load) if self.work else iter(())
        waiting: dict[tuple[int, int], Outcome] = {}
        tasks = iter(range(len(self.work)))
        for candidate in self.candidates:
            if candidate.verdict is not None:
                pipeline = _pipeline(candidate, Variant())
                yield PipelineEvent(pipeline)
                yield self._result(Result(pipeline.id, None, candidate.verdict, diagnostics=candidate.diagnostics))
                continue
            for variant in self.variants:
                task = next(tasks)
                pipeline = _pipeline(candidate, variant)
                for place, lane in enumerate(lanes):
                    while (task, lane) not in waiting:
                        outcome = next(outcomes)
                        waiting[outcome.task, outcome.lane] = outcome
                    outcome = waiting.pop((task, lane))
                    if place == 0:
                        yield PipelineEvent(replace(pipeline, workgroup=outcome.answer.workgroup))
                    yield from self._annotated(candidate, variant, pipeline, outcome)

    def _load(self, task: int) -> Job | Answer:
        (candidate, variant), request = self.work[task], self.request
        try:
            modules = tuple(JobModule(one.path, one.read(), one.stage, one.entry_point) for one in candidate.modules)
        except InvalidSpirv as error:
            remark = Diagnostic("error", error.code, error.message, error.hint, error.path)
            return Answer("invalid", diagnostics=(remark,))
        return Job(
            kind=candidate.kind or "",
            modules=modules,
            statistics=request.statistics,
            representations=request.representations,
            validate=request.validate,
            timeout_s=request.timeout_s,
            spec=variant.choices,
        )

    def _annotated(
        self, candidate: Candidate, variant: Variant, pipeline: Pipeline, outcome: Outcome
    ) -> Iterator[Event]:
        """A result, and before it the target anew if its list of statistics has grown."""
        answer, annotator, target = outcome.answer, self.annotators[outcome.lane], self.targets[outcome.lane]
        self.spec_found.update(answer.spec_found)
        executables = annotator.executables(answer.executables)
        if annotator.grew:
            target = replace(target, statistics=annotator.statistics)
            self.targets[outcome.lane] = target
            yield TargetEvent(target)
        failure = answer.failure
        if failure is not None:
            failure = replace(failure, reproduce=self._reproduce(candidate, variant, target))
        result = Result(
            pipeline=pipeline.id,
            target=target.id,
            status=answer.status,
            attempts=outcome.attempts,
            durations_ns=answer.durations,
            executables=executables,
            failure=failure,
            diagnostics=(*candidate.diagnostics, *answer.diagnostics, *annotator.diagnostics(answer.executables)),
        )
        data = tuple(tuple(one.data for one in executable.representations) for executable in answer.executables)
        yield self._result(result, data)

    def _unmatched(self) -> Iterator[Diagnostic]:
        """Constants that no module has: the answer is not the one that was asked for."""
        for place, option in enumerate(self.request.spec):
            if place not in self.spec_found:
                name = f"{option.stage}:{option.constant}" if option.stage else option.constant
                yield Diagnostic("error", "spec/unmatched", f"--spec {name}: no module has this constant")

    def _result(self, result: Result, data: tuple[tuple[bytes, ...], ...] = ()) -> ResultEvent:
        self.counts[result.status] += 1
        self.counts["cached"] += result.cached
        return ResultEvent(result, data)

    def _reproduce(self, candidate: Candidate, variant: Variant, target: Target) -> tuple[str, ...]:
        """The command that shows just this pipeline on just this target."""
        request = self.request
        command = ["shaderstat", "stats", *dict.fromkeys(one.path for one in candidate.modules), "-t", target.id]
        if request.driver_manifest is not None:
            command += ["--driver", request.driver_manifest]
        for name, value in request.environment.items():
            command += ["--env", f"{name}={value}"]
        for name, value in variant.values.items():
            command += ["--spec", f"{name}={value}"]
        if request.scenario is not None:
            command += ["--scenario", request.scenario]
        if not request.validate:
            command.append("--no-validate")
        return tuple(command)


def _pipeline(candidate: Candidate, variant: Variant) -> Pipeline:
    """The report's view of a candidate."""
    modules = tuple(
        Module(
            path=one.path,
            sha256=one.sha256,
            stage=one.stage or None,
            entry_point=one.entry_point if one.stage else None,
            spirv_version=one.spirv_version,
            generator=one.generator,
        )
        for one in candidate.modules
    )
    state = State("inferred", _digest(["inferred", SYNTHESIS_VERSION]))
    words = [[one.sha256, one.stage, one.entry_point] for one in modules]
    return Pipeline(
        id=candidate.name + variant.label,
        name=candidate.name,
        content=_digest([candidate.kind, words, variant.values, state.sha256]),
        kind=candidate.kind,
        variant=variant.values,
        modules=modules,
        state=state if candidate.kind is not None else None,
    )


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
