"""From a job's bytes to what synthesis needs: words, reflection, the chosen entry point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shaderstat.errors import InvalidSpirv
from shaderstat.model import Diagnostic, Job
from shaderstat.pipeline.spec_values import mixed_types, resolve
from shaderstat.pipeline.stages import StageInput, blame
from shaderstat.plain import dataclass
from shaderstat.spirv.facts import EntryPoint
from shaderstat.spirv.reflect import reflect
from shaderstat.spirv.scan import scan
from shaderstat.spirv.words import Words, load


@dataclass(frozen=True, slots=True)
class Prepared:
    """A job's stages; `spec_found` as in `Answer`; `remarks` are what the user should know of the modules."""

    stages: tuple[StageInput, ...] = ()
    spec_found: tuple[int, ...] = ()
    remarks: tuple[Diagnostic, ...] = ()

    @property
    def workgroup(self) -> tuple[int, int, int] | None:
        """The local size, of the stage that has one."""
        return next((one.entry.local_size for one in self.stages if one.entry.local_size is not None), None)


def prepare(job: Job) -> Prepared:
    """Read and reflect every module of a job, with its specialization applied.

    Raises:
        InvalidSpirv: broken words, or no such entry point.
        Unsupported: a foreign flavour of SPIR-V, or a value that is none of its constant's type.
    """
    stages = []
    spec_found: set[int] = set()
    remarks: list[Diagnostic] = []
    for module in job.modules:
        only = (module.stage, module.entry_point)
        with blame(module.path):
            words = load(module.data)
            reflection = reflect(words, only=only)
            entry = choose(reflection.entries, *only, words)
            values, found = resolve(job.spec, module.stage, entry.spec_constants)
            spec_found |= found
            if values:
                reflection = reflect(words, values, only=only)
                entry = choose(reflection.entries, *only, words)
            stages.append(StageInput(words.tobytes(), module.path, reflection, entry, values))
            remarks += (replace(each, path=module.path) for each in mixed_types(entry.spec_constants))
    return Prepared(tuple(stages), tuple(sorted(spec_found)), tuple(dict.fromkeys(remarks)))


def choose(entries: Sequence[EntryPoint], stage: str, name: str, words: Words) -> EntryPoint:
    """The entry point of that stage *and* name: one name may stand for several stages.

    Raises:
        InvalidSpirv: ``spirv/no-entry-point``; the message lists those of the whole module.
    """
    for entry in entries:
        if entry.stage == stage and entry.name == name:
            return entry
    there = ", ".join(f"{entry.name!r} ({entry.stage})" for entry in scan(words.tobytes()).entries[:8]) or "none"
    raise InvalidSpirv("spirv/no-entry-point", f"no {stage} entry point {name!r}; there are: {there}")
