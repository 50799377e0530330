"""From a job's bytes to what synthesis needs: words, reflection, the chosen entry point."""

from __future__ import annotations

from collections.abc import Sequence

from shaderstat.errors import InvalidSpirv
from shaderstat.model import Job
from shaderstat.pipeline.stages import StageInput, blame
from shaderstat.spirv.facts import EntryPoint
from shaderstat.spirv.reflect import reflect
from shaderstat.spirv.words import load


def prepare(job: Job) -> tuple[StageInput, ...]:
    """Read and reflect every module of a job.

    Raises:
        InvalidSpirv: broken words, or no such entry point.
        Unsupported: a foreign flavour of SPIR-V.
    """
    stages = []
    for module in job.modules:
        with blame(module.path):
            words = load(module.data)
            reflection = reflect(words)
            entry = choose(reflection.entries, module.stage, module.entry_point)
            stages.append(StageInput(words.tobytes(), module.path, reflection, entry))
    return tuple(stages)


def choose(entries: Sequence[EntryPoint], stage: str, name: str) -> EntryPoint:
    """The entry point of that stage *and* name: one name may stand for several stages.

    Raises:
        InvalidSpirv: ``spirv/no-entry-point``; the message lists what there is.
    """
    for entry in entries:
        if entry.stage == stage and entry.name == name:
            return entry
    there = ", ".join(f"{entry.name!r} ({entry.stage})" for entry in entries[:8]) or "none"
    raise InvalidSpirv("spirv/no-entry-point", f"no {stage} entry point {name!r}; there are: {there}")
