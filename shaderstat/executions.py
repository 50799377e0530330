"""How the pipelines of a plan are run: each with commands of its kind, and each buffer that is read into a file of its
own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

from shaderstat.config import runs
from shaderstat.errors import ShaderstatError
from shaderstat.model import Diagnostic, Request
from shaderstat.plan import Plan, Planned

_ARTICLES = {"compute": "a compute", "graphics": "a graphics", "ray_tracing": "a ray tracing"}


def with_runs(plan: Plan, request: Request) -> Plan:
    """The plan with a run for every pipeline, as the command line and the manifest say.

    Raises:
        ShaderstatError: nothing says what a pipeline shall do, or the command line says what none here does; or a file
            that a buffer is to be read into is another's, or an input.
    """
    typed = runs.said(request.execution or {})
    items = [one if one.candidate.verdict is not None else _run(one, typed) for one in plan.items]
    _check_commands(items, typed)
    _check_files(items, typed, request, plan.config)
    return replace(plan, items=tuple(items), notes=(*plan.notes, *_useless(items)))


def _run(planned: Planned, typed: runs.Said) -> Planned:
    kind = _command(planned)
    execution, reads = runs.lay((*planned.run, typed), kind)
    if execution is None:
        option, form, _, _, what = runs.FORMS[kind]
        what_it_is = f"{_ARTICLES[planned.candidate.kind or '']} pipeline"
        raise ShaderstatError(
            f"{planned.candidate.name} is {what_it_is}: {option} {form} is needed",
            hint=f"numbers of {what}; a manifest says them under run:",
        )
    return replace(planned, execution=execution, reads=reads)


def _command(planned: Planned) -> str:
    candidate = planned.candidate
    # Of captured pipelines modules have to be read: only graphics makes a difference.
    modules = candidate.known_modules() if candidate.kind == "graphics" else ()
    return runs.wanted(candidate.kind or "", [one.stage for one in modules])


def _check_commands(items: Sequence[Planned], typed: runs.Said) -> None:
    """Commands of the command line that no pipeline takes: the answer would not be the one that was asked for."""
    kinds = _kinds(typed)
    taken = {_command(one) for one in items if one.candidate.verdict is None} if kinds else set()
    for kind in kinds:
        if taken and kind not in taken:
            raise ShaderstatError(f"{runs.FORMS[kind][0]}: nothing here takes it, but {_options(taken)}")


def _useless(items: Sequence[Planned]) -> Iterator[Diagnostic]:
    """Commands that a manifest says of pipelines none of which takes them. Its defaults are of all pipelines, whichever
    there are."""
    entries: dict[int, list[Planned]] = {}
    for one in items:
        if one.candidate.verdict is None and len(one.run) > 1 and _kinds(one.run[-1]):
            entries.setdefault(id(one.run[-1]), []).append(one)
    for its in entries.values():
        from shaderstat.config.manifest_run import MEMBER  # with all of YAML, which has been read where this is needed

        taken = {_command(one) for one in its}
        for kind in _kinds(its[0].run[-1]):
            if kind not in taken:
                message = f"{its[0].candidate.name}: the manifest's {MEMBER[kind]} says nothing here: what runs it is "
                words = " and ".join(MEMBER[each] for each in sorted(taken))
                yield Diagnostic("warning", "run/other-kind", message + words)


def _kinds(said: runs.Said) -> list[str]:
    return [*dict.fromkeys(one.kind for one in said.get("commands", ()))]


def _options(kinds: set[str]) -> str:
    return " and ".join(runs.FORMS[kind][0] for kind in sorted(kinds))


def _check_files(items: Sequence[Planned], typed: runs.Said, request: Request, config: str | None) -> None:
    """No two buffers go into one file, and none into one that is read."""
    from shaderstat.inputs import refuse_to_overwrite

    owners: dict[str, str] = {os.path.realpath(path): "-o" for path in request.outputs}
    for one in items:
        name = one.candidate.name
        for (set_, binding), path in one.reads.items():
            if path is None:
                continue
            place = os.path.realpath(path)
            slot = f"{name} set {set_} binding {binding}"
            if len(one.variants) > 1:
                raise ShaderstatError(
                    f"{path}: {name} has {len(one.variants)} variants, and one file can't hold what each of them wrote",
                    hint="--spec with one value for each constant is one variant",
                )
            if place in owners:
                raise ShaderstatError(
                    f"{path}: {slot} can't be read into the file of {owners[place]}",
                    hint="--pipeline, --entry and --spec choose one pipeline; a manifest has a run: for each",
                )
            owners[place] = slot
    read = [path for one in items for path in one.reads.values() if path is not None]
    refuse_to_overwrite(read, [one.candidate for one in items], hint="name another file with --read")
    named = {path for one in items for path in runs.files(one.run)} | {*runs.files([typed])}
    named |= {path for path in (config, request.scenario, request.driver_manifest) if path is not None}
    for path in read:
        if os.path.isfile(path) and any(os.path.samefile(path, other) for other in named if os.path.isfile(other)):
            raise ShaderstatError(
                f"{path}: is an input of this run, and would be overwritten", hint="name another file with --read"
            )
