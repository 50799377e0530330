"""Which entry points of one stem make a pipeline: each stage once, none missing in between, interfaces that match."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from shaderstat.errors import InvalidSpirv, Unsupported
from shaderstat.inputs.entry_points import short
from shaderstat.inputs.modules import Unit
from shaderstat.memory import Memory
from shaderstat.model import Diagnostic

if TYPE_CHECKING:  # it reads modules in earnest, which is not done for every run
    from shaderstat.spirv.interfaces import Interfaces

_PRIMITIVES = ("vertex", "tessellation_control", "tessellation_evaluation", "geometry")
_GRAPHICS = frozenset((*_PRIMITIVES, "task", "mesh", "fragment"))


def why_apart(units: Sequence[Unit], memory: Memory | None = None) -> Diagnostic | None:
    """Why `units`, several of one stem and kind in pipeline order, make no pipeline; None where they do.

    Args:
        memory: asked before a module is read in earnest: that takes longer than all else before the driver's turn.
    """
    rays = not _GRAPHICS.issuperset(unit.entry.stage for unit in units)
    if rays and len({unit.file.location for unit in units}) == 1:
        return None  # a library may have several hit and miss shaders
    stages = Counter(unit.entry.stage for unit in units)
    twice = next((stage for stage, count in stages.items() if count > 1), None)
    if twice is not None:
        where = ", ".join(dict.fromkeys(unit.place for unit in units if unit.entry.stage == twice))
        return Diagnostic(
            "warning",
            "pipeline/stage-twice",
            f"not paired: the {_words(twice)} stage is there {stages[twice]} times ({short(where)})",
            hint="give the files of one pipeline a stem of their own"
            if all(unit.module.alone for unit in units)
            else "--entry NAME chooses what goes together",
        )
    reason = _incomplete(stages.keys())
    if reason is not None:
        return Diagnostic("warning", "pipeline/stages-do-not-fit", f"not paired: {reason}")
    if rays:
        return None  # its stages talk by payload, not by location
    known: dict[str, dict[tuple[str, str], Interfaces]] = {}
    for before, after in pairwise(units):
        if before.entry.stage == "task" or not after.entry.inputs:
            continue  # a task stage has a payload
        found = _misfit(before, after, known, memory)
        if found is not None:
            reads, writes = found
            first = before.place
            there = f"which {first} does not write" if writes is None else f"{first} writes {writes} there"
            said = f"not paired: {after.place} reads {reads}, {there}"
            return Diagnostic("warning", "pipeline/interface-mismatch", said)
    return None


def _incomplete(stages: Collection[str]) -> str | None:
    """Why stages can't be in one pipeline even with what may be generated: one in their middle would be missing."""
    if {"mesh", "task"} & set(stages):
        others = [stage for stage in _PRIMITIVES if stage in stages]
        if others:
            return f"mesh and {_words(others[0])} stages can't be in one pipeline"
        return None if "mesh" in stages else "a mesh stage is missing between task and fragment stage"
    missing = {"tessellation_control", "tessellation_evaluation"} - set(stages)
    if len(missing) == 1:
        return f"there is no {_words(*missing)} stage"
    return None


def _misfit(
    before: Unit, after: Unit, known: dict[str, dict[tuple[str, str], Interfaces]], memory: Memory | None
) -> tuple[str, str | None] | None:
    """What a stage reads and what the one before it writes there instead, remembered or found out; None where they
    fit."""
    question = ["misfit"]
    for unit in (before, after):
        question += [unit.module.sha256, unit.entry.stage, unit.entry.name]
    remembered = memory.fact(*question) if memory is not None else None
    if remembered is not None:
        return (remembered[0], remembered[1]) if remembered else None
    from shaderstat.spirv.interfaces import misfit  # late: it reads modules in earnest, and most runs know already

    try:
        found = misfit(_interfaces(before, known).outputs, _interfaces(after, known).inputs)
    except (InvalidSpirv, Unsupported) as error:
        if error.code.startswith("input/"):
            return None  # changed since it was scanned, which is not for ever
        found = None  # told in full where it is prepared for the driver
    if memory is not None:
        memory.note_fact([] if found is None else [found.reads, found.writes], *question)
    return None if found is None else (found.reads, found.writes)


def _interfaces(unit: Unit, known: dict[str, dict[tuple[str, str], Interfaces]]) -> Interfaces:
    """What the unit's types say of its interfaces; `known` holds what was read already, by path."""
    from shaderstat.spirv.interfaces import interfaces

    if unit.file.path not in known:
        known[unit.file.path] = interfaces(unit.module.read())
    return known[unit.file.path][unit.entry.stage, unit.entry.name]


def _words(stage: str) -> str:
    return stage.replace("_", " ")
