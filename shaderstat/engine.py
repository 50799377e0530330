"""Where the rooms meet: a request in, events out, in input order.

The command line and the library are the two callers; no command does the work itself.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import astuple, replace
from datetime import datetime, timezone
from fnmatch import fnmatchcase
from glob import escape
from typing import TYPE_CHECKING

from shaderstat._version import __version__
from shaderstat.config.said import find
from shaderstat.errors import InvalidSpirv, NoTarget, ShaderstatError
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
    Setup,
    State,
    Target,
    TargetEvent,
)
from shaderstat.pipeline.spec import SYNTHESIS_VERSION
from shaderstat.plan import USUAL, Outline, Plan, Planned
from shaderstat.pool import Outcome, Pool
from shaderstat.pool.environment import child_environment, recorded
from shaderstat.targets.opening import Opened, Opening, target_id
from shaderstat.variants import Variant

if TYPE_CHECKING:  # read while children start
    from shaderstat.annotate import Annotator
    from shaderstat.inputs import InputModule

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
    outline = Outline(request)
    with Pool() as pool:
        opening = Opening(pool, request, scenario, outline.setup)  # children start while the files are read
        yield from _Run(request, _select(outline.plan(), request)).events(pool, opening, outline.setup)


def nearest_manifest() -> str | None:
    """The ``shaderstat.yaml`` of this folder, or of the nearest above it; None where there is none."""
    return find()


def _select(plan: Plan, request: Request) -> Plan:
    if not request.pipelines:
        return plan
    chosen = [one for one in plan.items if any(fnmatchcase(one.candidate.name, glob) for glob in request.pipelines)]
    if not chosen:
        names = ", ".join(one.candidate.name for one in plan.items[:5])
        raise ShaderstatError(
            f"no pipeline matches {' or '.join(request.pipelines)}",
            hint=f"there are {names}{' …' if len(plan.items) > 5 else ''}",
        )
    return replace(plan, items=tuple(chosen))


class _Run:
    """One run's state: its targets, their annotators, what has been yielded."""

    def __init__(self, request: Request, plan: Plan) -> None:
        self.request = request
        self.plan = plan
        # What is compiled: task number → pipeline and variant, in input order.
        self.work = [(one, variant) for one in plan.items if one.candidate.verdict is None for variant in one.variants]
        self.spec_found: set[tuple[str | None, str]] = set()
        self.counts: Counter[str] = Counter()
        self.notes: list[Diagnostic] = []
        self.targets: list[Target] = []
        self.annotators: list[Annotator] = []
        # For each target: the lane of each setup, or why there is none.
        self.lanes: list[dict[Setup, int | NoTarget]] = []
        self.outcomes: Iterator[Outcome] = iter(())

    def events(self, pool: Pool, opening: Opening, setup: Setup) -> Iterator[Event]:
        """The run's events, in order.

        Args:
            setup: that of the devices which `opening` has started.
        """
        started = datetime.now(timezone.utc).isoformat(timespec="seconds")
        head = Run(started, self.request.arguments, complete=False)
        opened, notes = opening.wait() if self.work else ([], [])
        if opened and self.request.validate and all(one.hello.validator is None for one in opened):
            notes.append(NOT_VALIDATED)
        if opened:
            self.lanes = self._other_setups(pool, opening, opened, setup)
            # The children compile from here on; what is known of statistics is read meanwhile.
            self.outcomes = pool.run(len(self.work), self._load, self._shares())
        for one in opened:
            self._enter(one)
        early = sum(one.candidate.verdict is not None for one in self.plan.items)
        yield RunEvent(Schema(), Producer("shaderstat", __version__), head, len(self.work) + early)
        for note in (*notes, *self.plan.notes):
            yield self._note(note)
        for target in self.targets:
            yield TargetEvent(target)
        try:
            yield from self._results()
            for note in self._unmatched():
                yield self._note(note)
        except KeyboardInterrupt:
            yield self._end(head, complete=False)
            raise
        yield self._end(head, complete=True)

    def _other_setups(
        self, pool: Pool, opening: Opening, opened: list[Opened], first: Setup
    ) -> list[dict[Setup, int | NoTarget]]:
        """A device of its own for every setup that something is compiled with."""
        others = [setup for setup in dict.fromkeys(one.setup for one, _ in self.work) if setup != first]
        lanes: list[dict[Setup, int | NoTarget]] = [
            {first: one.lane, **{setup: opening.start_again(one, setup) for setup in others}} for one in opened
        ]
        for its in lanes:
            for setup in others:
                lane = its[setup]
                try:
                    assert isinstance(lane, int)
                    pool.wait(lane)
                except NoTarget as error:
                    its[setup] = error
        return lanes

    def _shares(self) -> dict[int, list[int]]:
        """The tasks of each lane: those whose pipelines want its setup."""
        shares: dict[int, list[int]] = {}
        for its in self.lanes:
            for task, (one, _) in enumerate(self.work):
                lane = its[one.setup]
                if isinstance(lane, int):
                    shares.setdefault(lane, []).append(task)
        return shares

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
        self.targets.append(
            Target(
                id=target_id(opened),
                backend=launch.backend,
                driver=hello.driver,
                device=hello.device,
                source=launch.source,
                packages=launch.packages,
                environment=recorded(child_environment(launch)) if launch.backend != "mock" else {},
            )
        )
        self.annotators.append(Annotator(hello.driver, hello.device))

    # ── Results ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _results(self) -> Iterator[Event]:
        """Results in input order, whatever order they come in."""
        waiting: dict[tuple[int, int], Outcome] = {}
        tasks = iter(range(len(self.work)))
        for planned in self.plan.items:
            candidate = planned.candidate
            if candidate.verdict is not None:
                pipeline = _pipeline(planned, Variant())
                yield PipelineEvent(pipeline)
                yield self._result(Result(pipeline.id, None, candidate.verdict, diagnostics=candidate.diagnostics))
                continue
            for variant in planned.variants:
                task = next(tasks)
                pipeline = _pipeline(planned, variant)
                for place, lanes in enumerate(self.lanes):
                    outcome = self._outcome(task, lanes[planned.setup], waiting)
                    if place == 0:
                        yield PipelineEvent(replace(pipeline, workgroup=outcome.answer.workgroup))
                    yield from self._annotated(planned, variant, pipeline, outcome, place)

    def _outcome(self, task: int, lane: int | NoTarget, waiting: dict[tuple[int, int], Outcome]) -> Outcome:
        """What became of a task on a lane; what came before it goes into `waiting`."""
        if isinstance(lane, NoTarget):  # the target is there, but not a device of this setup
            remark = Diagnostic("error", "target/setup", lane.message, lane.hint)
            return Outcome(-1, task, Answer("unsupported", diagnostics=(remark,)), 1)
        while (task, lane) not in waiting:
            outcome = next(self.outcomes)
            waiting[outcome.task, outcome.lane] = outcome
        return waiting.pop((task, lane))

    def _load(self, task: int) -> Job | Answer:
        (planned, variant), request = self.work[task], self.request
        candidate = planned.candidate
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
            layers=planned.layers,
        )

    def _annotated(
        self, planned: Planned, variant: Variant, pipeline: Pipeline, outcome: Outcome, place: int
    ) -> Iterator[Event]:
        """A result on the target at `place`, and before it the target anew if its list of statistics has grown."""
        answer, annotator, target = outcome.answer, self.annotators[place], self.targets[place]
        self.spec_found.update(variant.choices[number][:2] for number in answer.spec_found)
        executables = annotator.executables(answer.executables)
        if annotator.grew:
            target = replace(target, statistics=annotator.statistics)
            self.targets[place] = target
            yield TargetEvent(target)
        failure = answer.failure
        if failure is not None:
            failure = replace(failure, reproduce=self._reproduce(planned, variant, target))
        result = Result(
            pipeline=pipeline.id,
            target=target.id,
            status=answer.status,
            attempts=outcome.attempts,
            durations_ns=answer.durations,
            executables=executables,
            failure=failure,
            diagnostics=(
                *planned.candidate.diagnostics,
                *answer.diagnostics,
                *annotator.diagnostics(answer.executables),
            ),
        )
        data = tuple(tuple(one.data for one in executable.representations) for executable in answer.executables)
        yield self._result(result, data)

    def _unmatched(self) -> Iterator[Diagnostic]:
        """Constants that no module has: the answer is not the one that was asked for."""
        for (stage, constant), place in self.plan.constants.items():
            if (stage, constant) not in self.spec_found:
                name = f"{stage}:{constant}" if stage else constant
                yield Diagnostic("error", "spec/unmatched", f"{place} {name}: no module has this constant")

    def _result(self, result: Result, data: tuple[tuple[bytes, ...], ...] = ()) -> ResultEvent:
        self.counts[result.status] += 1
        self.counts["cached"] += result.cached
        return ResultEvent(result, data)

    def _reproduce(self, planned: Planned, variant: Variant, target: Target) -> tuple[str, ...]:
        """The command that shows just this pipeline on just this target."""
        request, candidate = self.request, planned.candidate
        command = ["shaderstat", "ir" if request.representations else "stats"]
        if planned.entry is None:
            command += dict.fromkeys(_argument(one) for one in candidate.modules)
        if self.plan.config is not None:
            command += ["--config", self.plan.config]
        if planned.entry is not None:
            command += ["--pipeline", escape(candidate.name)]
        command += ["-t", target.id, *state_options(request)]
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
        if request.timeout_s != Request(()).timeout_s:
            command += ["--timeout", f"{request.timeout_s:g}"]
        return tuple(command)


def _argument(module: InputModule) -> str:
    """A module's path as a command takes it."""
    if module.source is not None and module.source.location == "-":
        return "-"
    return f"./{module.path}" if module.path.startswith("-") else module.path


def state_options(request: Request) -> list[str]:
    """The options of the command line that say state."""
    named = ("subgroup_size", "samples", "color_format", "depth_format", "topology", "profile")
    said = [(name, getattr(request, name)) for name in named]
    words = [word for name, value in said if value is not None for word in (f"--{name.replace('_', '-')}", str(value))]
    return words if request.optimize else [*words, "--no-optimize"]


def _pipeline(planned: Planned, variant: Variant) -> Pipeline:
    """The report's view of a candidate."""
    candidate = planned.candidate
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
    said = [planned.layers, astuple(planned.setup)] if planned.layers or planned.setup != USUAL else []
    state = State(planned.source, _digest(["state", SYNTHESIS_VERSION, *said]), planned.given)
    words = [[one.words_sha256 or one.sha256, one.stage, one.entry_point] for one in candidate.modules]
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
