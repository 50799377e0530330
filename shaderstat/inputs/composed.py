"""A pipeline that a manifest names: its modules are given, so that nothing needs to be told by their names."""

from __future__ import annotations

from collections.abc import Sequence

from shaderstat.errors import ShaderstatError
from shaderstat.inputs.candidates import KINDS, ORDER, Candidate
from shaderstat.inputs.entry_points import EntryChoice
from shaderstat.inputs.finding import find_files
from shaderstat.inputs.modules import MAX_ENTRY_POINTS, InputModule, Unit, read_units
from shaderstat.model import Diagnostic
from shaderstat.plain import dataclass


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file, and which of its entry points: those of `stage` and of the name `entry`, all of them where both are
    None."""

    path: str
    stage: str | None = None
    entry: str | None = None


def compose(name: str, wanted: Sequence[Wanted]) -> Candidate:
    """The pipeline `name` of the entry points that are `wanted`, in pipeline order.

    A file that can't be part of a pipeline makes the whole of it ``invalid`` or ``unsupported``.

    Raises:
        ShaderstatError: no such file.
    """
    units: list[Unit] = []
    for one in wanted:
        choice = f"{one.stage}:{one.entry or '*'}" if one.stage else one.entry
        chosen = EntryChoice((choice,) if choice else (), MAX_ENTRY_POINTS)
        for file in find_files((one.path,)):
            found, left = read_units(file, (), chosen)
            if left is not None:
                verdict = "invalid" if left.verdict == "skipped" else left.verdict
                return Candidate(name, None, (left.module,), verdict, (left.diagnostic,))
            units += found
        try:
            chosen.close()
        except ShaderstatError as error:
            remark = Diagnostic("error", "spirv/no-entry-point", error.message, error.hint, one.path)
            return Candidate(name, None, (InputModule(one.path),), "invalid", (remark,))
    kinds = {KINDS[unit.entry.stage] for unit in units}
    stages = [unit.entry.stage for unit in units]
    twice = next((stage for stage in stages if stages.count(stage) > 1), None) if kinds != {"ray_tracing"} else None
    modules = tuple(unit.module for unit in sorted(units, key=lambda unit: ORDER[unit.entry.stage]))
    if len(kinds) > 1 or twice is not None:
        places = ", ".join(unit.place for unit in units if twice in (None, unit.entry.stage))
        what = f"{stages.count(twice)} {twice.replace('_', ' ')} stages" if twice else " and ".join(sorted(kinds))
        remark = Diagnostic(
            "error",
            "pipeline/stages",
            f"{what} can't be in one pipeline: {places}",
            "say which in the manifest: {path: …, stage: …, entry: …}",
        )
        return Candidate(name, None, modules, "invalid", (remark,))
    return Candidate(name, KINDS[stages[0]], modules)
