"""The work of a run: each pipeline in each variant is a task; a task is a job, unless its answer is remembered."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import astuple, replace
from functools import cache
from glob import escape
from itertools import accumulate
from typing import TYPE_CHECKING

from shaderstat.config import runs
from shaderstat.errors import InvalidSpirv, Unsupported
from shaderstat.model import Answer, Diagnostic, Job, JobModule, Module, Pipeline, Request, State, Target
from shaderstat.pipeline.spec import SYNTHESIS_VERSION
from shaderstat.plan import USUAL, Plan, Planned
from shaderstat.pool import Outcome
from shaderstat.variants import Variant

if TYPE_CHECKING:  # loaded while children start, and where something is remembered
    from shaderstat.inputs import Candidate, InputModule
    from shaderstat.store import Store


class Work:
    """Tasks 0 to ``len(work) - 1``, in input order, the variants of one pipeline one after the other.

    Attributes:
        remembered: lane → what the keys of its answers begin with, where they are remembered.
    """

    def __init__(self, request: Request, plan: Plan, store: Store | None) -> None:
        self._request = request
        self._plan = plan
        self._store = store
        self._items = [one for one in plan.items if one.candidate.verdict is None]
        self._starts = [0, *accumulate(len(one.variants) for one in self._items)]
        self._keys: dict[tuple[int, int], bytes] = {}  # of jobs that are on their way
        self.remembered: dict[int, bytes] = {}

    def __len__(self) -> int:
        return self._starts[-1]

    @property
    def items(self) -> Sequence[Planned]:
        """What there is to compile."""
        return self._items

    def planned(self, task: int) -> Planned:
        """What is compiled."""
        return self._items[bisect_right(self._starts, task) - 1]

    def variant(self, task: int) -> Variant:
        """With which specialization."""
        place = bisect_right(self._starts, task) - 1
        return self._items[place].variants[task - self._starts[place]]

    def pipeline(self, task: int) -> Pipeline:
        """The report's view of it."""
        return describe(self.planned(task), self.variant(task))

    def tasks(self, places: Sequence[int]) -> Sequence[int]:
        """The tasks of the items at `places`."""
        if len(places) == len(self._items):
            return range(len(self))
        return [task for place in places for task in range(self._starts[place], self._starts[place + 1])]

    def load(self, task: int, lane: int) -> Job | Answer:
        """The job of a task, or its answer: the remembered one, or that what it is made of can't be read."""
        planned, request = self.planned(task), self._request
        candidate = planned.candidate
        job = Job(
            kind=candidate.kind or "",
            modules=tuple(JobModule(one.path, b"", one.stage, one.entry_point) for one in candidate.modules),
            statistics=request.statistics,
            representations=request.representations,
            validate=request.validate,
            timeout_s=request.timeout_s,
            spec=self.variant(task).choices,
            layers=planned.layers,
            keep_state=request.keep_states,
            execution=planned.execution,
        )
        try:
            answer = self._recall(task, lane, job)
            return read_into(job, candidate) if answer is None else answer
        except (InvalidSpirv, Unsupported) as error:
            self._keys.pop((task, lane), None)
            return unreadable(error)

    def _recall(self, task: int, lane: int, job: Job) -> Answer | None:
        """The remembered answer; where there is none, the key to remember it by is kept."""
        candidate = self.planned(task).candidate
        target = self.remembered.get(lane)
        if self._store is None or target is None or job.keep_state or job.execution is not None:
            return None
        if candidate.archived is not None:
            job = replace(job, state={"captured": candidate.archived.fingerprint()})
        key = self._store.key(target, job, [one.sha256 for one in candidate.modules])
        answer = self._store.get(key, self._paths(task))
        if answer is None:
            self._keys[task, lane] = key
        return answer

    def keep(self, outcome: Outcome) -> None:
        """Remember what a child has answered."""
        key = self._keys.pop((outcome.task, outcome.lane), None)
        if key is not None and self._store is not None:
            self._store.put(key, self._paths(outcome.task), outcome.answer)

    def _paths(self, task: int) -> list[str]:
        return [one.path for one in self.planned(task).candidate.known_modules()]

    def reproduce(self, task: int, target: Target) -> tuple[str, ...]:
        """The command that shows just this task on just this target."""
        request, planned = self._request, self.planned(task)
        candidate = planned.candidate
        command = ["shaderstat", _command(request)]
        if candidate.archived is not None:
            captured = candidate.archived.captured
            command += [_path(captured.path), "--pipeline", f"0x{captured.hash:016x}"]
        elif planned.entry is None:
            command += dict.fromkeys(_argument(one) for one in candidate.modules)
        if self._plan.config is not None:
            command += ["--config", self._plan.config]
        if planned.entry is not None and candidate.archived is None:
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
        for name, value in self.variant(task).values.items():
            command += ["--spec", f"{name}={value}"]
        if request.execution is not None:
            command += runs.options(runs.said(request.execution))
            command += ["--statistics"] * request.statistics + ["--representations"] * request.representations
        if request.scenario is not None:
            command += ["--scenario", request.scenario]
        if not request.validate:
            command.append("--no-validate")
        if request.timeout_s != Request(()).timeout_s:
            command += ["--timeout", f"{request.timeout_s:g}"]
        return tuple(command)


def _command(request: Request) -> str:
    return "instrument" if request.execution is not None else "ir" if request.representations else "stats"


def _argument(module: InputModule) -> str:
    """A module's path as a command takes it."""
    if module.source is not None and module.source.location == "-":
        return "-"
    return _path(module.path)


def _path(path: str) -> str:
    return f"./{path}" if path.startswith("-") else path


def read_into(job: Job, candidate: Candidate) -> Job:
    """A job with what it is made of.

    Raises:
        InvalidSpirv, Unsupported: that can't be read.
    """
    if candidate.archived is not None:
        return replace(job, state=candidate.archived.state())
    modules = zip(job.modules, candidate.modules, strict=True)
    return replace(job, modules=tuple(replace(one, data=module.read()) for one, module in modules))


def unreadable(error: InvalidSpirv | Unsupported) -> Answer:
    """The answer about what can't be read."""
    invalid = isinstance(error, InvalidSpirv)
    offset = error.offset if isinstance(error, InvalidSpirv) else None
    remark = Diagnostic("error", error.code, error.message, error.hint, error.path, offset)
    return Answer("invalid" if invalid else "unsupported", diagnostics=(remark,))


def state_options(request: Request) -> list[str]:
    """The options of the command line that say state."""
    named = ("subgroup_size", "samples", "color_format", "depth_format", "topology", "profile")
    said = [(name, getattr(request, name)) for name in named]
    words = [word for name, value in said if value is not None for word in (f"--{name.replace('_', '-')}", str(value))]
    return words if request.optimize else [*words, "--no-optimize"]


def describe(planned: Planned, variant: Variant, workgroup: tuple[int, int, int] | None = None) -> Pipeline:
    """The report's view of a candidate; `workgroup` where a child has told it."""
    candidate = planned.candidate
    found = candidate.known_modules()
    modules = tuple(
        Module(
            path=one.path,
            sha256=one.sha256,
            stage=one.stage or None,
            entry_point=one.entry_point if one.stage else None,
            spirv_version=one.spirv_version,
            generator=one.generator,
        )
        for one in found
    )
    said = [planned.layers, astuple(planned.setup)] if planned.layers or planned.setup != USUAL else []
    # A captured pipeline's hash is that of its state: it stays what it is in whichever archive it is found.
    archived = candidate.archived
    base = ["state", SYNTHESIS_VERSION] if archived is None else ["archive", f"{archived.captured.hash:016x}"]
    state = State(
        planned.source, _digest([*base, *said]) if said or archived is not None else _usual_state(), planned.given
    )
    words = [[one.words_sha256 or one.sha256, one.stage, one.entry_point] for one in found]
    return Pipeline(
        id=candidate.name + variant.label,
        name=candidate.name,
        content=_digest([candidate.kind, words, variant.values, state.sha256]),
        kind=candidate.kind,
        variant=variant.values,
        modules=modules,
        state=state if candidate.kind is not None else None,
        workgroup=workgroup,
    )


@cache
def _usual_state() -> str:
    """The identity of state of which nothing was said."""
    return _digest(["state", SYNTHESIS_VERSION])


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
