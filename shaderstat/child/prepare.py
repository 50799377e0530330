"""From a job's bytes to what synthesis needs: words, reflection, the chosen entry point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shaderstat.errors import InvalidSpirv, Unsupported
from shaderstat.model import Job
from shaderstat.spirv import reflect, words
from shaderstat.spirv.facts import EntryPoint, Reflection
from shaderstat.spirv.words import Words


@dataclass(frozen=True, slots=True)
class Prepared:
    """One module of a job, read and understood."""

    path: str
    words: Words
    reflection: Reflection
    entry: EntryPoint


def prepare(job: Job) -> tuple[Prepared, ...]:
    """Read and reflect every module of a job.

    Raises:
        InvalidSpirv: broken words, or no such entry point.
        Unsupported: a foreign flavour of SPIR-V.
    """
    prepared = []
    for module in job.modules:
        try:
            loaded = words.load(module.data)
            reflection = reflect.reflect(loaded)
            entry = choose(reflection.entries, module.stage, module.entry_point)
        except (InvalidSpirv, Unsupported) as error:
            error.path = module.path
            raise
        prepared.append(Prepared(module.path, loaded, reflection, entry))
    return tuple(prepared)


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
