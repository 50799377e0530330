"""Files in, pipelines out: which modules and entry points are compiled together, and what each pipeline is called.

Files of one folder and one stem (the name less ``.spv`` less one known stage suffix) may make one pipeline. What a
module is, its entry points say; the suffix only names it. Graphics stages go together when each stage is there once and
reads nothing that the one before it doesn't write (some same-stem pairs of published collections are none); otherwise
each stands alone, and a diagnostic says why. What stages lack to make a pipeline is generated where they are compiled.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from shaderstat.errors import InvalidSpirv, Unsupported
from shaderstat.inputs.archives import names_hash
from shaderstat.inputs.entry_points import EntryChoice
from shaderstat.inputs.files import File
from shaderstat.inputs.fitting import why_apart
from shaderstat.inputs.modules import MAX_ENTRY_POINTS, InputModule, Leftover, Unit, read_units
from shaderstat.memory import Memory
from shaderstat.model import STAGE_BITS, Diagnostic
from shaderstat.plain import dataclass

# glslang's stage suffixes, which shaderc, the Vulkan samples and everybody after them use.
STAGE_SUFFIXES = frozenset(
    ".vert .tesc .tese .geom .frag .comp .task .mesh .rgen .rint .rahit .rchit .rmiss .rcall".split()
)

ORDER = {stage: index for index, stage in enumerate(STAGE_BITS)}
KINDS = {
    "compute": "compute",
    **dict.fromkeys(("vertex", "tessellation_control", "tessellation_evaluation", "geometry", "fragment"), "graphics"),
    **dict.fromkeys(("task", "mesh"), "graphics"),
    **dict.fromkeys(("raygen", "any_hit", "closest_hit", "miss", "intersection", "callable"), "ray_tracing"),
}

if TYPE_CHECKING:
    from shaderstat.inputs.captured import Archived


@dataclass(frozen=True, slots=True)
class Candidate:
    """One pipeline to compile, or a file that makes none.

    Attributes:
        name: unique among the inputs: ``bloom/colorpass``, ``library:blur_x``.
        kind: ``compute``, ``graphics``, ``ray_tracing``, or None for a file that makes no pipeline.
        modules: in pipeline order, never empty; of a captured pipeline not known yet, and empty.
        verdict: None for what shall be compiled; otherwise the status that is known already: ``invalid``,
            ``unsupported`` or ``skipped``.
        diagnostics: why, and what else the user should know.
        archived: a captured pipeline, which is read when it is compiled.
    """

    name: str
    kind: str | None
    modules: tuple[InputModule, ...]
    verdict: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    archived: Archived | None = None

    def matches(self, glob: str) -> bool:
        """Whether ``--pipeline`` means it: by its name, a captured pipeline by ``0x`` and its hash as well."""
        if self.archived is not None and names_hash(glob, self.archived.captured.hash):
            return True
        return fnmatchcase(self.name, glob)

    def known_modules(self) -> tuple[InputModule, ...]:
        """Its modules; those of a captured pipeline are read for it, and none where it can't be read."""
        if self.archived is None:
            return self.modules
        try:
            return self.archived.modules()
        except (InvalidSpirv, Unsupported):
            return ()


def make_candidates(
    files: Sequence[File],
    entries: Sequence[str] = (),
    suffixes: Sequence[str] = (),
    notes: list[Diagnostic] | None = None,
    memory: Memory | None = None,
    pipelines: Sequence[str] = (),
) -> list[Candidate]:
    """Scan `files` and group them; a group stands where its first file stood.

    Args:
        entries: the entry points that are wanted, as `EntryChoice` takes them.
        suffixes: further endings that name a stage, of files and of the entry points of one module: ``_vs``, ``.ps``.
        notes: what is wrong with an archive as a whole, and what was left out of a module, is added here.
        memory: knows of stages whether they fit together.
        pipelines: globs over names: where there are some, those of a module's entry points that they choose count
            for its limit, and no others.

    Raises:
        ShaderstatError: one of `entries` matches nothing.
    """
    chosen = EntryChoice(entries, MAX_ENTRY_POINTS if not pipelines else None)
    groups: dict[tuple[str, str], list[File]] = {}
    for file in files:
        if file.is_archive:
            groups.setdefault((_ARCHIVE, file.recording), []).append(file)
        else:
            groups.setdefault((file.folder, stem(os.path.basename(file.name), suffixes)), []).append(file)
    named: list[_Named] = []
    for (folder, _), group in groups.items():
        is_archived = folder is _ARCHIVE
        named += _captured(group, chosen, notes, memory) if is_archived else _group(group, chosen, suffixes, memory)
    chosen.close()
    found = _unique(named)
    return _within_limits(found, pipelines, notes) if pipelines else found


def _within_limits(
    found: Sequence[Candidate], pipelines: Sequence[str], notes: list[Diagnostic] | None
) -> list[Candidate]:
    """What `pipelines` choose, up to `MAX_ENTRY_POINTS` of a file, and as many others, which messages may name."""
    counts: Counter[tuple[str, bool]] = Counter()
    kept = []
    for candidate in found:
        if candidate.archived is None:
            kind = candidate.modules[0].path, any(candidate.matches(glob) for glob in pipelines)
            counts[kind] += 1
            if counts[kind] > MAX_ENTRY_POINTS:
                continue
        kept.append(candidate)
    for (path, matches), count in counts.items():
        if matches and count > MAX_ENTRY_POINTS and notes is not None:
            message = f"{path}: {count} pipelines match: the first {MAX_ENTRY_POINTS} are compiled"
            hint = "a narrower --pipeline, or --entry"
            notes.append(Diagnostic("error", "pipeline/too-many-entry-points", message, hint, path))
    return kept


# In a group's key, where a folder stands for modules; no folder is called so.
_ARCHIVE = "\0archive"


def _captured(
    files: list[File], chosen: EntryChoice, notes: list[Diagnostic] | None, memory: Memory | None
) -> Iterator[_Named]:
    """The pipelines of one recording, under the archive's own names: those of which a stage is chosen."""
    from shaderstat.inputs.captured import read  # late: mostly there is none

    found = read(files, memory)
    if notes is not None:
        notes += found.notes
    wanted = {file.pipeline for file in files}
    for one in found.pipelines:
        if None not in wanted and one.captured.hash not in wanted:
            continue
        if not chosen.takes_all and not _has_chosen(one, chosen):
            continue
        name = f"{one.captured.hash:016x}"
        candidate = Candidate(name, one.captured.kind, (), archived=one)
        yield candidate, (name, f"{_without_ending(one.captured.path)}:{name}", f"{one.captured.path}:{name}")
    for file, verdict, remark in found.broken:
        module = InputModule(file.path)
        yield Candidate("", None, (module,), verdict, (remark,)), (file.name, file.path)


def _has_chosen(one: Archived, chosen: EntryChoice) -> bool:
    try:
        return bool(chosen(one.captured.stages()))
    except InvalidSpirv:
        return True  # what can't be read is told


def _without_ending(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]


def stem(name: str, suffixes: Sequence[str] = ()) -> str:
    """A file's name less ``.spv`` and less one known stage suffix, or one of `suffixes`; never empty.

    Only known suffixes are cut: cutting at the first dot would make one stem of ``spv.a.frag.spv`` and
    ``spv.b.frag.spv``.
    """
    base = _without_spv(name)
    ending = _ending(base, suffixes)
    if ending:
        return base[: -len(ending)]
    root, suffix = os.path.splitext(base)
    return root if root and suffix.lower() in STAGE_SUFFIXES else base


def _ending(name: str, suffixes: Sequence[str]) -> str:
    """The longest of `suffixes` that `name` ends with, and isn't."""
    fitting = (each for each in suffixes if name.lower().endswith(each.lower()) and len(name) > len(each))
    return max(fitting, key=len, default="")


def _without_spv(name: str) -> str:
    return name[:-4] if name.lower().endswith(".spv") and len(name) > 4 else name


# ── One group ─────────────────────────────────────────────────────────────────────────────────────────────────────

# A candidate with the names that it may have, the best first.
_Named = tuple[Candidate, tuple[str, ...]]


def _group(files: list[File], chosen: EntryChoice, suffixes: Sequence[str], memory: Memory | None) -> list[_Named]:
    units: list[Unit] = []
    left: list[Leftover] = []
    given = {file.place for file in files}
    for file in files:
        found, leftover = read_units(file, given, chosen)
        units += found
        left += [leftover] if leftover is not None else []
    made = [([unit], _candidate([unit])) for unit in units if KINDS[unit.entry.stage] == "compute"]
    for kind in ("graphics", "ray_tracing"):
        for alike in _by_entry([unit for unit in units if KINDS[unit.entry.stage] == kind], suffixes):
            made += _assemble(alike, memory)
    broken = next((each.module.path for each in left if each.verdict == "invalid"), None)
    if broken is not None and len(made) == 1 and made[0][1].kind == "graphics":
        # The other half of the pair is most likely the broken file: say so, since the numbers would differ.
        note = Diagnostic("warning", "pipeline/partner-invalid", f"compiled without {broken}")
        made = [(made[0][0], replace(made[0][1], diagnostics=(note, *made[0][1].diagnostics)))]
    one_file = len(files) == 1
    return [
        *((candidate, _names(its, one_file, len(made) == 1, suffixes)) for its, candidate in made),
        *((_no_pipeline(each), _file_names(each.file)) for each in left),
    ]


def _by_entry(units: list[Unit], suffixes: Sequence[str]) -> list[list[Unit]]:
    """The entry points of one stem, where a module has several graphics ones named by `suffixes`: ``blur_vs``."""
    groups: dict[str, list[Unit]] = {}
    for unit in units:
        graphics = KINDS[unit.entry.stage] == "graphics"
        ending = _ending(unit.entry.name, suffixes) if graphics and not unit.module.alone else ""
        groups.setdefault(unit.entry.name[: -len(ending)] if ending else "", []).append(unit)
    return list(groups.values())


def _assemble(units: list[Unit], memory: Memory | None) -> list[tuple[list[Unit], Candidate]]:
    """One candidate of all units where they fit together, else one of each with the reason."""
    if not units:
        return []
    units = sorted(units, key=lambda unit: ORDER[unit.entry.stage])
    if len(units) > 1 and len({unit.entry.stage for unit in units}) == 1 and KINDS[units[0].entry.stage] == "graphics":
        return [([unit], _candidate([unit])) for unit in units]  # nobody would take them for a pair
    reason = why_apart(units, memory) if len(units) > 1 else None
    if reason is None:
        return [(units, _candidate(units))]
    return [([unit], _candidate([unit], (reason,))) for unit in units]


def _candidate(units: list[Unit], diagnostics: tuple[Diagnostic, ...] = ()) -> Candidate:
    return Candidate("", KINDS[units[0].entry.stage], tuple(unit.module for unit in units), None, diagnostics)


def _no_pipeline(left: Leftover) -> Candidate:
    return Candidate("", None, (left.module,), left.verdict, (left.diagnostic,))


# ── Names ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _names(units: list[Unit], one_file: bool, only: bool, suffixes: Sequence[str]) -> tuple[str, ...]:
    """The stem where it says enough; else the file, the entry point and the stage, as far as it takes."""
    file, entry = units[0].file, units[0].entry
    folder, base = os.path.split(file.name)
    whole = os.path.join(os.path.dirname(file.path), "")
    below = f"{folder}/" if folder else ""
    single = len({unit.file.path for unit in units}) == 1
    short = stem(base, suffixes) if only or one_file or not single else _without_spv(base)
    tail = "" if len(units) > 1 or units[0].module.alone else f":{entry.name}"
    staged = "" if len(units) > 1 or units[0].module.alone else f":{entry.stage}{tail}"
    ending = _ending(entry.name, suffixes)
    if single and len(units) > 1 and not only and ending:
        tail = staged = f":{entry.name[: -len(ending)]}"
    return (
        below + short + tail,
        below + short + staged,
        whole + short + staged,
        whole + base + staged,
    )


def _file_names(file: File) -> tuple[str, ...]:
    return _without_spv(file.name), file.name, _without_spv(file.path), file.path


def _unique(named: Iterable[_Named]) -> list[Candidate]:
    """Give every candidate the shortest of its names that no other one wants; numbers are the last resort."""
    waiting = list(named)
    names = [0] * len(waiting)
    for _ in range(max((len(options) for _, options in waiting), default=1) - 1):
        counts = Counter(options[choice] for (_, options), choice in zip(waiting, names, strict=True))
        for index, (_, options) in enumerate(waiting):
            if counts[options[names[index]]] > 1 and names[index] < len(options) - 1:
                names[index] += 1
    taken: set[str] = set()
    result = []
    for (candidate, options), choice in zip(waiting, names, strict=True):
        name, number = options[choice], 1
        while name in taken:
            number += 1
            name = f"{options[choice]}#{number}"
        taken.add(name)
        result.append(replace(candidate, name=name))
    return result
