"""One file: the entry points of it that are wanted, or why it makes no pipeline."""

from __future__ import annotations

import hashlib
import os
import shlex
from array import array
from collections.abc import Collection
from dataclasses import replace

from shaderstat.errors import InvalidSpirv
from shaderstat.inputs.entry_points import EntryChoice, short
from shaderstat.inputs.files import File, Source, read
from shaderstat.model import STAGE_BITS, Diagnostic
from shaderstat.plain import dataclass
from shaderstat.spirv.facts import EXECUTION_MODELS, Scan, ScannedEntry
from shaderstat.spirv.scan import scan
from shaderstat.spirv.words import MAGIC, text_hint

# A library of entry points is a legal module, and so is a hostile one of two thousand. More of one module than this
# are counted and said, not compiled.
MAX_ENTRY_POINTS = 32

_STAGES = frozenset(EXECUTION_MODELS.values())
_CAPABILITY_SHADER = 1
_CAPABILITY_LINKAGE = 5
_CAPABILITY_KERNEL = 6


@dataclass(frozen=True, slots=True)
class InputModule:
    """One entry point of one file.

    Attributes:
        path: for people and reports.
        sha256: of the file; empty where it couldn't be read.
        stage, entry_point: a word of `model.STAGE_BITS`, and a name; empty for a file that makes no pipeline.
        spirv_version, generator: ``1.5`` and ``0x0008000b``, or None.
        source: how to read it again.
        words_sha256: of the words in little-endian order: the same module in either byte order.
        alone: whether its file has no other entry point.
    """

    path: str
    sha256: str = ""
    stage: str = ""
    entry_point: str = ""
    spirv_version: str | None = None
    generator: str | None = None
    source: Source | None = None
    words_sha256: str = ""
    alone: bool = True

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
class Unit:
    """An entry point on its way into a candidate."""

    file: File
    module: InputModule
    entry: ScannedEntry

    @property
    def place(self) -> str:
        """For messages: the file, and the entry point where there are several."""
        name = os.path.basename(self.file.path)
        return name if self.module.alone else f"{name}:{self.entry.name}"


@dataclass(frozen=True, slots=True)
class Leftover:
    """What is known of a file, or of the rest of it, without compiling: `verdict` as in `Candidate`."""

    file: File
    module: InputModule
    verdict: str
    diagnostic: Diagnostic


def _words_sha256(data: bytes, source: Source) -> str:
    if data[:4] == MAGIC.to_bytes(4, "little"):
        return source.sha256
    words = array("I", data)
    words.byteswap()
    return hashlib.sha256(words).hexdigest()


def read_units(file: File, given: Collection[str], chosen: EntryChoice) -> tuple[list[Unit], Leftover | None]:
    """The wanted entry points of a file, and what there is to say of the file itself, if anything.

    Args:
        given: the files of the same stem, by absolute path.
    """

    def leftover(module: InputModule, verdict: str, diagnostic: Diagnostic) -> Leftover:
        return Leftover(file, module, verdict, replace(diagnostic, path=module.path))

    source, data = None, b""
    try:
        if file.problem is not None:
            return [], leftover(InputModule(file.path), "invalid", file.problem)
        source, data = read(file)
        facts = scan(data)
    except InvalidSpirv as error:
        module = InputModule(file.path, source.sha256 if source else "", source=source)
        if error.code == "spirv/text" and file.place + ".spv" in given:
            # `shaders/*`, expanded by the shell, where sources lie beside what they were compiled to.
            note = Diagnostic("info", "input/source", f"the source of {os.path.basename(file.path)}.spv, it seems")
            return [], leftover(module, "skipped", note)
        return [], leftover(module, "invalid", refusal(error, file.path, data))
    version, generator = "{}.{}".format(*facts.version), f"0x{facts.generator:08x}"
    words_sha256 = _words_sha256(data, source)

    def entry_module(stage: str = "", name: str = "", alone: bool = True) -> InputModule:
        return InputModule(file.path, source.sha256, stage, name, version, generator, source, words_sha256, alone)

    nothing = nothing_to_compile(facts)
    if nothing is not None:
        return [], leftover(entry_module(), *nothing)
    wanted = chosen(facts.entries)
    known = [entry for entry in wanted if entry.stage in _STAGES]
    kept, alone = _taken(known, chosen.most), len(facts.entries) == 1
    units = [Unit(file, entry_module(entry.stage, entry.name, alone), entry) for entry in kept]
    if len(kept) == len(wanted):
        return units, None
    return units, leftover(entry_module(), "unsupported", _left_out(wanted, known, kept))


def _taken(known: list[ScannedEntry], most: int | None) -> list[ScannedEntry]:
    """Those that may be compiled. All ray tracing stages of a module are in one pipeline: among them nobody else can
    choose."""
    if most is not None:
        return known[:most]
    rays = [entry for entry in known if STAGE_BITS[entry.stage] >= STAGE_BITS["raygen"]]
    left_out = set(map(id, rays[MAX_ENTRY_POINTS:]))
    return [entry for entry in known if id(entry) not in left_out]


def refusal(error: InvalidSpirv, path: str, data: bytes) -> Diagnostic:
    """What the scan says, with the file's name in the command that would help."""
    message, hint = error.message, error.hint
    if error.code == "spirv/text":
        hint = text_hint(data, shlex.quote(path))
        if "spirv-as" in hint:
            message = "is SPIR-V assembly, a text, not SPIR-V"
        elif b"#version" in data[:4096]:
            message = "is GLSL text, not SPIR-V"
    return Diagnostic("error", error.code, message, hint, offset=error.offset)


def nothing_to_compile(facts: Scan) -> tuple[str, Diagnostic] | None:
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


def _left_out(wanted: list[ScannedEntry], known: list[ScannedEntry], kept: list[ScannedEntry]) -> Diagnostic:
    if len(known) > len(kept):
        return Diagnostic(
            "error",
            "pipeline/too-many-entry-points",
            f"{len(wanted)} entry points: the first {MAX_ENTRY_POINTS} are compiled, {len(known) - len(kept)} are not",
            hint="--entry or --pipeline chooses",
        )
    models = sorted({entry.stage for entry in wanted if entry.stage not in _STAGES})
    return Diagnostic(
        "error", "pipeline/stage-not-supported", f"an execution model that is not known: {short(', '.join(models))}"
    )
