"""What would be compiled: the whole state of every pipeline, and nothing compiled of it.

State depends on the device (limits, formats, features), so it is found where the device is: in a child. Without a
target that is the mock's, which has everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from shaderstat.config import manifest_run, runs
from shaderstat.config.scenario import read_scenario
from shaderstat.config.targets import with_own
from shaderstat.config.write import Written
from shaderstat.errors import InvalidSpirv, ShaderstatError, Unsupported
from shaderstat.model import Answer, Diagnostic, Job, JobModule, Request, Setup
from shaderstat.plain import dataclass
from shaderstat.plan import Constants, Outline, Planned, select
from shaderstat.pool import Pool
from shaderstat.targets import own
from shaderstat.targets.opening import Opening, target_id
from shaderstat.variants import Variant
from shaderstat.work import read_into, unreadable


@dataclass(frozen=True, slots=True)
class Inferred:
    """A pipeline, or a file that makes none; `written` is None where `status` isn't ``ok``."""

    name: str
    status: str
    diagnostics: tuple[Diagnostic, ...]
    written: Written | None = None


@dataclass(frozen=True, slots=True)
class States:
    """All that a request leads to; `device` is the one whose facts were asked, with its target's name; `notes` are
    remarks on the request itself."""

    device: str
    pipelines: tuple[Inferred, ...]
    notes: tuple[Diagnostic, ...] = ()


def infer(request: Request) -> States:
    """The state of every pipeline of a request, on its first target.

    Raises:
        ShaderstatError: nothing can be answered: no such file, no such target, several targets.
    """
    if len(request.targets) > 1:
        raise ShaderstatError("state is inferred for one target at a time", hint="-t NAME once")
    if not request.targets:
        request = replace(request, backend="mock")
    request = with_own(request, own.check)
    scenario = read_scenario(request.scenario) if request.scenario is not None else None
    outline = Outline(request)
    with Pool() as pool:
        opening = Opening(pool, request, scenario, outline.setup)
        plan = select(outline.plan(), request)
        work = [(one, variant) for one in plan.items if one.candidate.verdict is None for variant in one.variants]
        if not work:
            return States("", tuple(_early(one) for one in plan.items), plan.notes)
        ((opened, *_), _) = opening.wait()
        lanes = {outline.setup: opened.lane}
        for one, _ in work:
            if one.setup not in lanes:
                lanes[one.setup] = opening.start_again(opened, one.setup)
        for lane in lanes.values():
            pool.wait(lane)
        shares: dict[int, list[int]] = {}
        for task, (one, _) in enumerate(work):
            shares.setdefault(lanes[one.setup], []).append(task)
        outcomes = pool.run(len(work), lambda task, lane: _job(request, *work[task]), shares)
        answers = {outcome.task: outcome.answer for outcome in outcomes}
        found: list[Inferred] = []
        tasks = iter(range(len(work)))
        for one in plan.items:
            if one.candidate.verdict is not None:
                found.append(_early(one))
            else:
                found += _once(_inferred(one, variant, answers[next(tasks)]) for variant in one.variants)
        constants = Constants()
        for task, (_, variant) in enumerate(work):
            constants.add(variant, answers[task])
        notes = (*plan.notes, *plan.unmatched(constants))
        return States(f"{target_id(opened)} ({opened.hello.device.name})", tuple(found), notes)


def _early(one: Planned) -> Inferred:
    candidate = one.candidate
    return Inferred(candidate.name, candidate.verdict or "", candidate.diagnostics)


def _job(request: Request, planned: Planned, variant: Variant) -> Job | Answer:
    candidate = planned.candidate
    job = Job(
        kind=candidate.kind or "",
        modules=tuple(JobModule(one.path, b"", one.stage, one.entry_point) for one in candidate.modules),
        validate=request.validate,
        timeout_s=request.timeout_s,
        spec=variant.choices,
        layers=planned.layers,
        compile=False,
    )
    try:
        return read_into(job, candidate)
    except (InvalidSpirv, Unsupported) as error:
        return unreadable(error)


def _once(variants: Iterable[Inferred]) -> list[Inferred]:
    """Variants that differ only in constants which these modules don't have are one."""
    return [*{one.name: one for one in variants}.values()]


def _inferred(planned: Planned, variant: Variant, answer: Answer) -> Inferred:
    candidate = planned.candidate
    variant = Variant(tuple(variant.choices[place] for place in answer.spec_found))  # what its modules have
    name = candidate.name + variant.label
    diagnostics = (*candidate.diagnostics, *answer.diagnostics)
    if answer.spec is None:
        return Inferred(name, answer.status, diagnostics)
    generated = [each["stage"] for each in answer.spec["stages"] if each["synthetic"]]
    words = [stage.removeprefix("VK_SHADER_STAGE_").partition("_BIT")[0].lower() for stage in generated]
    comments = [f"with a generated {word.replace('_', ' ')} stage" for word in words]
    # What was generated is so again; a module that a manifest names counts as somebody's own.
    modules = [one for one in candidate.known_modules() if one.stage not in words]
    left = [each.message for each in answer.diagnostics if each.code == "archive/not-in-manifest"]
    archived = candidate.archived
    whole = f"{archived.captured.path}:{archived.captured.hash:016x}" if archived is not None and left else ""
    if whole:
        comments += [*left, *(f"{one.stage.replace('_', ' ')}: {one.path}" for one in modules)]
    return Inferred(
        name,
        answer.status,
        diagnostics,
        Written(
            name,
            [(one.path, one.stage, one.entry_point, one.alone) for one in modules],
            {**answer.spec.get("specialization", {}), **variant.values},
            _said(planned.setup),
            answer.spec,
            comments,
            whole,
            manifest_run.words(planned.run, runs.wanted(candidate.kind or "", [one.stage for one in modules])),
        ),
    )


def _said(setup: Setup) -> Setup:
    """What a manifest can say: features are switched there."""
    wished = tuple((*feature, True) for feature in setup.wished)
    return replace(setup, features=(*wished, *setup.features), wished=())


def lines(states: States) -> Iterator[str]:
    """The manifest that gives these pipelines again.

    Yields:
        Lines without their ends.
    """
    from shaderstat._version import __version__
    from shaderstat.config.write import manifest

    head = [f"State for {states.device}, by shaderstat {__version__}; every line may be changed or left out."]
    yield from manifest([one.written for one in states.pipelines if one.written is not None], head)
