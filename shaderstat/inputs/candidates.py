"""Files in, pipelines out: which modules and entry points are compiled together, and what each pipeline is called.

Files of one folder and one stem (the name less ``.spv`` less one known stage suffix) may make one pipeline. What a
module is, its entry points say; the suffix only names it. Graphics stages go together when each stage is there once and
reads nothing that the one before it doesn't write (two in ten same-stem pairs of published collections that look like
a pair are none); otherwise each stands alone, and a diagnostic says why.
"""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from shaderstat.errors import InvalidSpirv
from shaderstat.inputs.files import File, Source, read
from shaderstat.model import STAGE_BITS, Diagnostic
from shaderstat.spirv.facts import Scan, ScannedEntry
from shaderstat.spirv.scan import scan
from shaderstat.spirv.words import text_hint

# glslang's stage suffixes, which shaderc, the Vulkan samples and everybody after them use.
STAGE_SUFFIXES = frozenset(
    ".vert .tesc .tese .geom .frag .comp .task .mesh .rgen .rint .rahit .rchit .rmiss .rcall".split()
)

# A library of entry points is a legal module, and so is a hostile one of two thousand. More of one module than this
# are counted and said, not compiled.
MAX_ENTRY_POINTS = 32

_CAPABILITY_SHADER = 1
_CAPABILITY_LINKAGE = 5
_CAPABILITY_KERNEL = 6

_ORDER = {stage: index for index, stage in enumerate(STAGE_BITS)}
_KINDS = {
    "compute": "compute",
    **dict.fromkeys(("vertex", "tessellation_control", "tessellation_evaluation", "geometry", "fragment"), "graphics"),
    **dict.fromkeys(("task", "mesh"), "graphics"),
    **dict.fromkeys(("raygen", "any_hit", "closest_hit", "miss", "intersection", "callable"), "ray_tracing"),
}


@dataclass(frozen=True, slots=True)
class InputModule:
    """One entry point of one file.

    Attributes:
        path: for people and reports.
        sha256: of the file; empty where it couldn't be read.
        stage, entry_point: a word of `model.STAGE_BITS`, and a name; empty for a file that makes no pipeline.
        spirv_version, generator: ``1.5`` and ``0x0008000b``, or None.
        source: how to read it again.
    """

    path: str
    sha256: str = ""
    stage: str = ""
    entry_point: str = ""
    spirv_version: str | None = None
    generator: str | None = None
    source: Source | None = None

    def read(self) -> bytes:
        """The file's bytes, the same that were scanned.

        Raises:
            InvalidSpirv: ``input/unreadable`` or ``input/changed``, its path filled in.
        """
        try:
            if self.source is None:
                raise InvalidSpirv("input/unreadable", "was never read")
            return self.source.read()
        except InvalidSpirv as error:
            error.path = self.path
            raise


@dataclass(frozen=True, slots=True)
class Candidate:
    """One pipeline to compile, or a file that makes none.

    Attributes:
        name: unique among the inputs: ``bloom/colorpass``, ``library:blur_x``.
        kind: ``compute``, ``graphics``, ``ray_tracing``, or None for a file that makes no pipeline.
        modules: in pipeline order, never empty.
        verdict: None for what shall be compiled; otherwise the status that is known already: ``invalid``,
            ``unsupported`` or ``skipped``.
        diagnostics: why, and what else the user should know.
    """

    name: str
    kind: str | None
    modules: tuple[InputModule, ...]
    verdict: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class _Unit:
    """An entry point on its way into a candidate; `alone`: its module has no other."""

    file: File
    module: InputModule
    entry: ScannedEntry
    alone: bool


def make_candidates(files: Sequence[File]) -> list[Candidate]:
    """Scan `files` and group them; a group stands where its first file stood."""
    groups: dict[tuple[str, str], list[File]] = {}
    for file in files:
        groups.setdefault((file.folder, stem(os.path.basename(file.name))), []).append(file)
    return _unique([named for group in groups.values() for named in _group(group)])


def stem(name: str) -> str:
    """A file's name less ``.spv`` and less one known stage suffix; never empty.

    Only known suffixes are cut: cutting at the first dot would make one stem of ``spv.a.frag.spv`` and
    ``spv.b.frag.spv``.
    """
    base = _without_spv(name)
    root, suffix = os.path.splitext(base)
    return root if root and suffix.lower() in STAGE_SUFFIXES else base


def _without_spv(name: str) -> str:
    return name[:-4] if name.lower().endswith(".spv") and len(name) > 4 else name


# ── One group ─────────────────────────────────────────────────────────────────────────────────────────────────────

# A candidate with the names that it may have, the best first.
_Named = tuple[Candidate, tuple[str, ...]]


def _group(files: list[File]) -> list[_Named]:
    units: list[_Unit] = []
    early: list[tuple[File, Candidate]] = []
    given = {os.path.abspath(file.location) for file in files}
    for file in files:
        found, candidate = _read(file, given)
        units += found
        if candidate is not None:
            early.append((file, candidate))
    made = [([unit], _candidate([unit])) for unit in units if _KINDS[unit.entry.stage] == "compute"]
    for kind in ("graphics", "ray_tracing"):
        made += _assemble([unit for unit in units if _KINDS[unit.entry.stage] == kind])
    broken = [candidate for _, candidate in early if candidate.verdict == "invalid"]
    if broken and len(made) == 1 and made[0][1].kind == "graphics":
        # The other half of the pair is most likely the broken file: say so, since the numbers would differ.
        note = Diagnostic("warning", "pipeline/partner-invalid", f"compiled without {broken[0].modules[0].path}")
        made = [(made[0][0], replace(made[0][1], diagnostics=(note, *made[0][1].diagnostics)))]
    one_file = len(files) == 1
    named = [(_gate(candidate), _names(its, one_file, len(made) == 1)) for its, candidate in made]
    return [*named, *((candidate, _file_names(file)) for file, candidate in early)]


def _assemble(units: list[_Unit]) -> list[tuple[list[_Unit], Candidate]]:
    """One candidate of all units where they fit together, else one of each with the reason."""
    if not units:
        return []
    units = sorted(units, key=lambda unit: _ORDER[unit.entry.stage])
    reason = _misfit(units) if len(units) > 1 else None
    if reason is None:
        return [(units, _candidate(units))]
    return [([unit], _candidate([unit], (reason,))) for unit in units]


def _misfit(units: list[_Unit]) -> Diagnostic | None:
    stages = Counter(unit.entry.stage for unit in units)
    twice = next((stage for stage, count in stages.items() if count > 1), None)
    if twice is not None:
        where = ", ".join(dict.fromkeys(_where(unit) for unit in units if unit.entry.stage == twice))
        return Diagnostic(
            "warning",
            "pipeline/stage-twice",
            f"not paired: the {_words(twice)} stage is there {stages[twice]} times ({_short(where)})",
            hint="give the files of one pipeline a stem of their own",
        )
    if stages.keys() & {"mesh", "task"} and stages.keys() & {"vertex", "tessellation_control", "geometry"}:
        return Diagnostic(
            "warning", "pipeline/stages-do-not-fit", "not paired: mesh and vertex stages can't be in one pipeline"
        )
    if _KINDS[units[0].entry.stage] == "ray_tracing":
        return None  # its stages talk by payload, not by location
    for before, after in pairwise(units):
        # Every declared Input needs its Output (VUID-RuntimeSpirv-OpEntryPoint-08743); a task stage has a payload.
        missing = after.entry.inputs - before.entry.outputs
        if missing and before.entry.stage != "task":
            locations = ", ".join(str(location) for location in sorted(missing)[:8])
            return Diagnostic(
                "warning",
                "pipeline/interface-mismatch",
                f"not paired: {_where(after)} reads location {locations}, which {_where(before)} does not write",
            )
    return None


def _candidate(units: list[_Unit], diagnostics: tuple[Diagnostic, ...] = ()) -> Candidate:
    return Candidate("", _KINDS[units[0].entry.stage], tuple(unit.module for unit in units), None, diagnostics)


def _gate(candidate: Candidate) -> Candidate:
    """What this version compiles: compute, and vertex + fragment. The one place that says so."""
    stages = tuple(module.stage for module in candidate.modules)
    if candidate.kind is None or stages in (("compute",), ("vertex", "fragment")):
        return candidate
    lone = {"vertex": "fragment", "fragment": "vertex"}.get("+".join(stages))
    reason = Diagnostic(
        "error",
        "pipeline/stage-not-supported",
        f"{' + '.join(map(_words, stages))}{' alone' if lone else ''}: not supported yet;"
        " compute shaders and vertex + fragment pairs are",
        hint=f"put its {lone} shader beside it, under the same stem" if lone and not candidate.diagnostics else None,
    )
    return replace(candidate, verdict="unsupported", diagnostics=(*candidate.diagnostics, reason))


# ── One file ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _read(file: File, given: set[str]) -> tuple[list[_Unit], Candidate | None]:
    """The entry points of a file, and what there is to say of the file itself, if anything.

    Args:
        given: the files of the same stem, by absolute path.
    """
    source, data = None, b""
    try:
        if file.problem is not None:
            return [], _no_pipeline(InputModule(file.path), "invalid", file.problem)
        source, data = read(file)
        facts = scan(data)
    except InvalidSpirv as error:
        module = InputModule(file.path, source.sha256 if source else "", source=source)
        if error.code == "spirv/text" and os.path.abspath(file.location) + ".spv" in given:
            # `shaders/*`, expanded by the shell, where sources lie beside what they were compiled to.
            note = Diagnostic("info", "input/source", f"the source of {os.path.basename(file.path)}.spv, it seems")
            return [], _no_pipeline(module, "skipped", note)
        return [], _no_pipeline(module, "invalid", _refusal(error, file.path, data))
    module = InputModule(
        file.path,
        source.sha256,
        spirv_version="{}.{}".format(*facts.version),
        generator=f"0x{facts.generator:08x}",
        source=source,
    )
    nothing = _nothing_to_compile(facts)
    if nothing is not None:
        return [], _no_pipeline(module, *nothing)
    known = [entry for entry in facts.entries if entry.stage in _KINDS]
    kept, alone = known[:MAX_ENTRY_POINTS], len(facts.entries) == 1
    units = [_Unit(file, replace(module, stage=entry.stage, entry_point=entry.name), entry, alone) for entry in kept]
    if len(kept) == len(facts.entries):
        return units, None
    return units, _no_pipeline(module, "unsupported", _left_out(facts, known, kept))


def _refusal(error: InvalidSpirv, path: str, data: bytes) -> Diagnostic:
    """What the scan says, with the file's name in the command that would help."""
    message, hint = error.message, error.hint
    if error.code == "spirv/text":
        hint = text_hint(data, shlex.quote(path))
        if "spirv-as" in hint:
            message = "is SPIR-V assembly, a text, not SPIR-V"
        elif b"#version" in data[:4096]:
            message = "is GLSL text, not SPIR-V"
    return Diagnostic("error", error.code, message, hint, offset=error.offset)


def _nothing_to_compile(facts: Scan) -> tuple[str, Diagnostic] | None:
    """Modules that no Vulkan pipeline can be made of."""
    kernels = any(entry.stage == "kernel" for entry in facts.entries)
    if kernels or (_CAPABILITY_KERNEL in facts.capabilities and _CAPABILITY_SHADER not in facts.capabilities):
        return "unsupported", Diagnostic("error", "spirv/opencl-kernel", "OpenCL kernel module: not for Vulkan")
    if facts.entries:
        return None
    if _CAPABILITY_LINKAGE in facts.capabilities:
        return "skipped", Diagnostic("info", "spirv/library", "a library without entry points: nothing to compile")
    return "invalid", Diagnostic(
        "error", "spirv/no-entry-point", "no entry point", hint="compile it with its entry point, or link it first"
    )


def _left_out(facts: Scan, known: list[ScannedEntry], kept: list[ScannedEntry]) -> Diagnostic:
    if len(known) > len(kept):
        return Diagnostic(
            "error",
            "pipeline/too-many-entry-points",
            f"{len(facts.entries)} entry points: the first {MAX_ENTRY_POINTS} are compiled,"
            f" {len(known) - len(kept)} are not",
        )
    models = sorted({entry.stage for entry in facts.entries if entry.stage not in _KINDS})
    return Diagnostic(
        "error", "pipeline/stage-not-supported", f"an execution model that is not known: {_short(', '.join(models))}"
    )


def _no_pipeline(module: InputModule, verdict: str, diagnostic: Diagnostic) -> Candidate:
    return Candidate("", None, (module,), verdict, (replace(diagnostic, path=module.path),))


# ── Names ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _names(units: list[_Unit], one_file: bool, only: bool) -> tuple[str, ...]:
    """The stem where it says enough; else the file, the entry point and the stage, as far as it takes."""
    file, entry = units[0].file, units[0].entry
    folder, base = os.path.split(file.name)
    whole = os.path.join(os.path.dirname(file.path), "")
    single = len({unit.file.path for unit in units}) == 1
    short = stem(base) if only or one_file or not single else _without_spv(base)
    tail = "" if len(units) > 1 or units[0].alone else f":{entry.name}"
    staged = "" if len(units) > 1 or units[0].alone else f":{entry.stage}{tail}"
    return (
        os.path.join(folder, short) + tail,
        os.path.join(folder, short) + staged,
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


def _where(unit: _Unit) -> str:
    name = os.path.basename(unit.file.path)
    return name if unit.alone else f"{name}:{unit.entry.name}"


def _words(stage: str) -> str:
    return stage.replace("_", " ")


def _short(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:200]}…"
