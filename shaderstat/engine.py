"""Where the rooms meet: a request in, events out, in input order.

The command line and the library are the two callers; no command does the work itself.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from shaderstat._version import __version__
from shaderstat.config.said import find
from shaderstat.config.targets import with_own
from shaderstat.environment import recorded, recorded_settings
from shaderstat.errors import NoTarget, ShaderstatError
from shaderstat.model import (
    BAD_STATUSES,
    STATUSES,
    Answer,
    Diagnostic,
    EndEvent,
    Event,
    Failure,
    NoteEvent,
    PipelineEvent,
    Producer,
    Request,
    Result,
    ResultEvent,
    Run,
    RunEvent,
    Schema,
    Setup,
    Target,
    TargetEvent,
)
from shaderstat.plan import Constants, Outline, Plan, select
from shaderstat.pool import Outcome, Pool
from shaderstat.pool.order import Reorder
from shaderstat.targets import own
from shaderstat.targets.catalogue import usual_name
from shaderstat.targets.opening import Opened, Opening, target_id
from shaderstat.variants import Variant
from shaderstat.work import Work, describe

if TYPE_CHECKING:  # read while children start, or not at all
    from shaderstat.annotate import Annotator
    from shaderstat.instrumentation import Instrumentation, Instrumented, Slot
    from shaderstat.store import Store
    from shaderstat.targets.having import Having

NOT_VALIDATED = Diagnostic(
    "warning",
    "spirv/not-validated",
    "nothing was validated: there is no SPIRV-Tools here",
    hint="pip install 'shaderstat[spirv]', or apt install spirv-tools",
)


class Watch:
    """How far a run is, for whoever shows it; may be read from another thread.

    Attributes:
        total: results that there will be.
        done, failed: those that are there, in whatever order they came, and the bad ones of them.
    """

    def __init__(self) -> None:
        self.total = self.done = self.failed = 0
        self._pool: Pool | None = None
        self._name: Callable[[int], str] = str

    def begin(self, total: int, pool: Pool, name: Callable[[int], str]) -> None:
        """The run is about to compile."""
        self.total, self._pool, self._name = total, pool, name

    def count(self, status: str) -> None:
        """One more result is there."""
        self.done += 1
        self.failed += status in BAD_STATUSES

    def longest(self) -> tuple[str, float] | None:
        """The pipeline that is being compiled for the longest time, and since how many seconds."""
        oldest = min(self._pool.in_hand(), key=lambda one: one.since, default=None) if self._pool else None
        return None if oldest is None else (self._name(oldest.task), time.monotonic() - oldest.since)


def run(request: Request, watch: Watch | None = None) -> Generator[Event, None, None]:
    """Answer a request.

    Args:
        watch: told how far the run is.

    Yields:
        A `RunEvent`; before the first result that needs them a `TargetEvent` and a `PipelineEvent`; results in input
        order, targets in the order asked for; `NoteEvent`s as they arise; an `EndEvent`.

    Raises:
        ShaderstatError: nothing can be answered: no such file, no such target, nothing that matches.
        KeyboardInterrupt: after what is finished, and an `EndEvent` with ``complete`` false.
    """
    request = with_own(request, own.check)
    scenario = None
    if request.scenario is not None:
        from shaderstat.config.scenario import read_scenario

        scenario = read_scenario(request.scenario)
    with _remembering(request) as store:
        outline = Outline(request, store)
        with Pool(store.recall if store is not None else None) as pool:
            # Children start while the files are read.
            opening = Opening(pool, request, scenario, outline.setup, counts=outline.counts)
            plan = select(outline.plan(), request)
            if request.execution is not None:
                from shaderstat.executions import with_runs

                plan = with_runs(plan, request)
            yield from _Run(request, plan, pool, store, watch or Watch()).events(opening, outline.setup)


@contextmanager
def _remembering(request: Request) -> Iterator[Store | None]:
    """The store; None where nothing is to be remembered: what a shader does at run time is no answer of a compiler."""
    if not request.cache or request.execution is not None:
        yield None
        return
    from shaderstat.store import Store, default_limit, folder

    limit = default_limit()
    if limit <= 0:
        yield None
        return
    with Store(folder(), limit, refresh=request.refresh) as store:
        yield store


def nearest_manifest() -> str | None:
    """The ``shaderstat.yaml`` of this folder, or of the nearest above it; None where there is none."""
    return find()


class _Stop(Exception):
    """Enough: the first failure is there, and no more was asked for."""


class _Run:
    """One run's state: its targets, their annotators, what has been yielded."""

    def __init__(self, request: Request, plan: Plan, pool: Pool, store: Store | None, watch: Watch) -> None:
        self.request = request
        self.plan = plan
        self.work = Work(request, plan, store)
        self.pool = pool
        self.store = store
        self.watch = watch
        self.constants = Constants()
        self.counts: Counter[str] = Counter()
        self.notes: list[Diagnostic] = []
        self.targets: list[Target] = []
        self.annotators: list[Annotator] = []
        # For each target: the lane of each setup, or why there is none.
        self.lanes: list[dict[Setup, int | NoTarget]] = []
        self.outcomes: Iterator[Outcome] = iter(())
        self.waiting = Reorder()
        self.told: int | None = None  # the last task whose pipeline was yielded
        self.hung: dict[int, str] = {}  # places of targets, and the pipeline that hung each first
        self.lost: set[int] = set()  # places of targets of which it was said that they are
        self.having: Having | None = None

    def events(self, opening: Opening, setup: Setup) -> Iterator[Event]:
        """The run's events, in order.

        Args:
            setup: that of the devices which `opening` has started.
        """
        started = datetime.now(timezone.utc).isoformat(timespec="seconds")
        head = Run(started, self.request.arguments, complete=False)
        opened, notes = opening.wait() if len(self.work) else ([], [])
        if opened and self.request.validate and all(one.hello.validator is None for one in opened):
            notes.append(NOT_VALIDATED)
        if opened:
            self.lanes = self._other_setups(opening, opened, setup)
            self._look_up()
            # The children compile from here on; what is known of statistics is read meanwhile.
            self.outcomes = self.pool.run(len(self.work), self.work.load, self._shares())
        for one in opened:
            self._enter(one)
            notes += self._surroundings(one, self.targets[-1])
        early = sum(one.candidate.verdict is not None for one in self.plan.items)
        self.watch.begin(early + len(self.work) * len(opened), self.pool, lambda task: self.work.pipeline(task).id)
        reads = self._reads(len(opened))
        yield RunEvent(Schema(), Producer("shaderstat", __version__), head, len(self.work) + early, reads)
        for note in (*notes, *self.plan.notes):
            yield self._note(note)
        for target in self.targets:
            yield TargetEvent(target)
        complete = True
        try:
            yield from self._results()
            for note in self.plan.unmatched(self.constants):
                yield self._note(note)
        except _Stop:
            complete = False
            yield from self._finished()
        except KeyboardInterrupt:
            yield from self._finished()
            yield self._end(head, complete=False)
            raise
        if self.store is not None:
            self.store.flush()
            for note in self.store.notes:
                yield self._note(note)
        yield self._end(head, complete=complete)

    def _reads(self, targets: int) -> tuple[tuple[str, Slot, str], ...]:
        """Where buffers go after their runs.

        Raises:
            ShaderstatError: two targets would write one file.
        """
        reads = [
            (describe(one, one.variants[0]).id, slot, path)
            for one in self.work.items
            for slot, path in one.reads.items()
            if path is not None
        ]
        if reads and targets > 1:
            raise ShaderstatError(f"{reads[0][2]}: one file can't hold what several targets wrote", hint="-t NAME once")
        return tuple(reads)

    def _other_setups(self, opening: Opening, opened: list[Opened], first: Setup) -> list[dict[Setup, int | NoTarget]]:
        """A device of its own for every setup that something is compiled with."""
        others = [setup for setup in dict.fromkeys(one.setup for one in self.work.items) if setup != first]
        lanes: list[dict[Setup, int | NoTarget]] = [
            {first: one.lane, **{setup: opening.start_again(one, setup) for setup in others}} for one in opened
        ]
        for its in lanes:
            for setup in others:
                lane = its[setup]
                try:
                    assert isinstance(lane, int)
                    self.pool.wait(lane)
                except NoTarget as error:
                    its[setup] = error
        return lanes

    def _shares(self) -> dict[int, Sequence[int]]:
        """The tasks of each lane: those whose pipelines want its setup."""
        places: dict[Setup, list[int]] = {}
        for place, one in enumerate(self.work.items):
            places.setdefault(one.setup, []).append(place)
        return {
            lane: self.work.tasks(places.get(setup, ()))
            for its in self.lanes
            for setup, lane in its.items()
            if isinstance(lane, int)
        }

    def _look_up(self) -> None:
        """Find out what is remembered of each lane, and remember which targets there aren't."""
        for lane in self.pool.lanes if self.store is not None else ():
            if self.store is not None and lane.refused and lane.lost is not None:
                self.store.learn_refusal(lane.launch, lane.lost)
        for its in self.lanes if self.store is not None else ():
            for number in its.values():
                if self.store is None or not isinstance(number, int):
                    continue
                lane = self.pool.lanes[number]
                assert lane.hello is not None
                if not lane.recalled:
                    self.store.learn(lane.launch, lane.hello)
                key = self.store.target(lane.launch, lane.hello)
                if key is not None:
                    self.work.remembered[number] = key

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
                environment=self._environment(opened),
                gpu=usual_name(launch.id, self.request),
                settings=recorded_settings(hello.settings) if launch.backend != "mock" else {},
            )
        )
        self.annotators.append(Annotator(hello.driver, hello.device, self.store))

    def _environment(self, opened: Opened) -> dict[str, str]:
        """What around the driver shapes its answers, as its own process has it; and what the user has said."""
        if opened.launch.backend == "mock":
            return {}
        own = self.request.own_targets.get(opened.launch.id, {}).get("environment", {})
        return dict(sorted({**recorded(opened.hello.environment), **own, **self.request.environment}.items()))

    def _surroundings(self, opened: Opened, target: Target) -> list[Diagnostic]:
        """What makes this compiler another one than its name says, for whoever sees the numbers alone."""
        own = self.request.own_targets.get(opened.launch.id, {}).get("environment", {})
        said = {**own, **self.request.environment}
        is_foreign = opened.launch.source == "config" and opened.launch.prefix != ()
        words = [
            f"{name}={value}"
            for name, value in target.environment.items()
            # what a shim sets for itself is no news
            if name in said or (name not in opened.launch.environment and (name in os.environ or is_foreign))
        ]
        words += target.settings
        message = f"{target.id} runs with {', '.join(words)}"
        return [Diagnostic("info", "target/environment", message)] if words else []

    # ── Results ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _results(self) -> Iterator[Event]:
        """Results in input order, whatever order they come in."""
        task = 0
        for planned in self.plan.items:
            candidate = planned.candidate
            if candidate.verdict is not None:
                pipeline = describe(planned, Variant())
                self.watch.count(candidate.verdict)
                yield PipelineEvent(pipeline)
                yield self._result(Result(pipeline.id, None, candidate.verdict, diagnostics=candidate.diagnostics))
                if self.request.fail_fast and candidate.verdict in BAD_STATUSES:
                    raise _Stop
                continue
            for _ in range(len(planned.variants)):
                for place, lanes in enumerate(self.lanes):
                    yield from self._annotated(self._outcome(task, lanes[planned.setup]), place)
                task += 1

    def _outcome(self, task: int, lane: int | NoTarget) -> Outcome:
        """What became of a task on a lane, once it is there; what comes before it waits for its turn."""
        if isinstance(lane, NoTarget):  # the target is there, but not a device of this setup
            remark = Diagnostic("error", "target/setup", lane.message, lane.hint)
            self.watch.count("unsupported")
            return Outcome(-1, task, Answer("unsupported", diagnostics=(remark,)), 1)
        while (found := self.waiting.take(task, lane)) is None:
            outcome = next(self.outcomes)
            self.work.keep(outcome)
            self.watch.count(outcome.answer.status)
            self.waiting.put(outcome)
            if self.request.fail_fast and outcome.answer.status in BAD_STATUSES:
                raise _Stop
        return found

    def _finished(self) -> Iterator[Event]:
        """The run stops here: what is there already, in order."""
        for outcome in self.pool.finished():
            self.work.keep(outcome)
            self.waiting.put(outcome)
        places = {lane: place for place, its in enumerate(self.lanes) for lane in its.values()}
        for outcome in self.waiting.rest():
            yield from self._annotated(outcome, places[outcome.lane])

    def _annotated(self, outcome: Outcome, place: int) -> Iterator[Event]:
        """A result on the target at `place`; before it its pipeline, and the target anew if its list of statistics has
        grown."""
        task, answer, target = outcome.task, outcome.answer, self.targets[place]
        planned, variant, annotator = self.work.planned(task), self.work.variant(task), self.annotators[place]
        pipeline, failure = describe(planned, variant, answer.workgroup), answer.failure
        if failure is not None and failure.code == "target/lost" and place not in self.lost:
            self.lost.add(place)
            yield self._note(Diagnostic("error", failure.code, failure.stderr_tail))
        if self.told != task:
            self.told = task
            yield PipelineEvent(pipeline)
        self.constants.add(variant, answer)
        executables, ran = annotator.executables(answer.executables), answer.instrumentation
        if annotator.grew:
            target = replace(target, statistics=annotator.statistics)
            self.targets[place] = target
            yield TargetEvent(target)
        if failure is not None:
            failure = replace(failure, reproduce=self.work.reproduce(task, target))
        suspicion = self._suspicion(failure, pipeline.id, place)
        result = Result(
            pipeline=pipeline.id,
            target=target.id,
            status=answer.status,
            cached=answer.cached,
            attempts=outcome.attempts,
            durations_ns=answer.durations,
            executables=executables,
            failure=failure,
            diagnostics=(
                *planned.candidate.diagnostics,
                *self._with_others(answer, target),
                *annotator.diagnostics(answer.executables),
                *suspicion,
            ),
            instrumentation=None if ran is None else _instrumented(ran),
        )
        data = tuple(tuple(one.data for one in executable.representations) for executable in answer.executables)
        state = None if answer.state is None else {"spec": answer.state, "setup": planned.setup}
        yield self._result(result, data, state, () if ran is None else ran.read)

    def _suspicion(self, failure: Failure | None, pipeline: str, place: int) -> tuple[Diagnostic, ...]:
        """What is to be known of a run that failed on a GPU after another had hung it: its shaders may still be running
        there when the process that began them is gone (seen with NVIDIA's driver 580.159)."""
        if failure is None or failure.phase != "run" or self.targets[place].device.type == "cpu":
            return ()
        if failure.limit_s is None and failure.vk_result != "VK_ERROR_DEVICE_LOST":
            return ()
        first = self.hung.setdefault(place, pipeline)
        if first == pipeline:
            return ()
        message = f"{first} hung this device before: this may be its doing"
        return (Diagnostic("warning", "run/after-hang", message, hint="run this one alone, after a while"),)

    def _with_others(self, answer: Answer, target: Target) -> tuple[Diagnostic, ...]:
        """The answer's remarks: that this device lacks something with the targets that have it."""
        if not answer.needs:
            return answer.diagnostics
        if self.having is None:
            from shaderstat.targets.having import Having

            self.having = Having(self.request)
        *others, lacking = answer.diagnostics
        hint = "; ".join(filter(None, (lacking.hint, self.having.hint(answer.needs, target.id))))
        return (*others, replace(lacking, hint=hint or None))

    def _result(
        self,
        result: Result,
        data: tuple[tuple[bytes, ...], ...] = (),
        state: Mapping[str, Any] | None = None,
        read: tuple[tuple[Slot, bytes], ...] = (),
    ) -> ResultEvent:
        self.counts[result.status] += 1
        self.counts["cached"] += result.cached
        return ResultEvent(result, data, state, read)


def _instrumented(ran: Instrumentation) -> Instrumented:
    from shaderstat.annotate import instrumented  # loaded while children start

    return instrumented(ran)
