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
from typing import TYPE_CHECKING

from shaderstat._version import __version__
from shaderstat.errors import InvalidSpirv, ShaderstatError
from shaderstat.model import (
    STATUSES,
    Answer,
    Diagnostic,
    EndEvent,
    Event,
    Job,
    JobModule,
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
from shaderstat.targets.opening import Opened, Opening, target_id
from shaderstat.variants import Variant, variants

if TYPE_CHECKING:  # read while children start
    from shaderstat.annotate import Annotator
    from shaderstat.inputs import Candidate

NOT_VALIDATED = Diagnostic(
    "warning",
    "spirv/not-validated",
    "nothing was validated: there is no SPIRV-Tools here",
    hint="pip install 'shaderstat[spirv]', or apt install spirv-tools",
)


def run(request: Request) -> Iterator[Event]:
    """Answer a request.

    Yields:
        A `RunEvent`; before the first result that needs them a `TargetEvent` and a `PipelineEvent`; results in input
        order, targets in the order asked for; `NoteEvent`s as they arise; an `EndEvent`.

    Raises:
        ShaderstatError: nothing can be answered: no such file, no such target, nothing that matches.
        KeyboardInterrupt: after an `EndEvent` with ``complete`` false.
    """
    scenario = None
    if request.scenario is not None:
        from shaderstat.config.scenario import read_scenario

        scenario = read_scenario(request.scenario)
    chosen = variants(request.spec)
    with Pool() as pool:
        opening = Opening(pool, request, scenario)  # children start while the files are read
        from shaderstat import inputs

        candidates = _select(inputs.find(request.paths, stdin=request.stdin, entries=request.entries), request)
        yield from _Run(request, candidates, chosen).events(pool, opening)


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
        self.outcomes: Iterator[Outcome] = iter(())

    def events(self, pool: Pool, opening: Opening) -> Iterator[Event]:
        """The run's events, in order."""
        started = datetime.now(timezone.utc).isoformat(timespec="seconds")
        head = Run(started, self.request.arguments, complete=False)
        opened, notes = opening.wait() if self.work else ([], [])
        if opened and self.request.validate and all(one.hello.validator is None for one in opened):
            notes.append(NOT_VALIDATED)
        # The children compile from here on; what is known of statistics is read meanwhile.
        self.outcomes = pool.run(len(self.work), self._load) if opened else iter(())
        for one in opened:
            self._enter(one)
        early = sum(one.verdict is not None for one in self.candidates)
        yield RunEvent(Schema(), Producer("shaderstat", __version__), head, len(self.work) + early)
        for note in notes:
            yield self._note(note)
        for target in self.targets.values():
            yield TargetEvent(target)
        try:
            yield from self._results()
            for note in self._unmatched():
                yield self._note(note)
        except KeyboardInterrupt:
            yield self._end(head, complete=False)
            raise
        yield self._end(head, complete=True)

    def _note(self, note: Diagnostic) -> NoteEvent:
        self.notes.append(note)
        return NoteEvent(note)

    def _end(self, head: Run, *, complete: bool) -> EndEvent:
        counts = {status: self.counts[status] for status in (*STATUSES, "cached")}
        return EndEvent(replace(head, complete=complete, counts=counts, diagnostics=tuple(self.notes)))

    def _enter(self, opened: Opened) -> None:
        """Take a target into the run."""
        from shaderstat.annotate import Annotator

        launch, hello = opened.launch, opened.hello
        self.targets[opened.lane] = Target(
            id=target_id(opened),
            backend=launch.backend,
            driver=hello.driver,
            device=hello.device,
            source=launch.source,
            packages=launch.packages,
            environment=recorded(child_environment(launch)) if launch.backend != "mock" else {},
        )
        self.annotators[opened.lane] = Annotator(hello.driver, hello.device)

    # ── Results ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _results(self) -> Iterator[Event]:
        """Results in input order, whatever order they come in."""
        lanes = list(self.targets)
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
                        outcome = next(self.outcomes)
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
        if request.sandbox:
            command.append("--sandbox")
        for one in candidate.modules:
            if not one.alone:
                command += ["--entry", f"{one.stage}:{one.entry_point}"]
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
