"""The pipelines in archives that are among the inputs."""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from io import BytesIO
from typing import Any

from shaderstat.archive.applications import Applications
from shaderstat.archive.capture import Captured
from shaderstat.archive.containers import Container, open_container, open_file
from shaderstat.archive.format import KINDS
from shaderstat.archive.records import Records
from shaderstat.errors import InvalidSpirv
from shaderstat.inputs.files import File
from shaderstat.inputs.modules import InputModule
from shaderstat.memory import Memory
from shaderstat.model import Diagnostic, Setup
from shaderstat.pipeline.spec import pack
from shaderstat.plain import dataclass


@dataclass(frozen=True, slots=True)
class Archived:
    """A captured pipeline that is read when it is compiled; `setup` is the device of the application it is from."""

    captured: Captured
    setup: Setup
    memory: Memory | None = None

    def fingerprint(self) -> str:
        """Stands for all that would be read.

        Raises:
            InvalidSpirv: ``archive/…``, its path filled in.
        """
        return _fingerprint(self.captured)

    def state(self) -> Mapping[str, Any]:
        """The whole of it, as `shaderstat.model.Job` takes it.

        Raises:
            InvalidSpirv, Unsupported: ``archive/…``, its path filled in.
        """
        return _load(self.captured)[0]

    def modules(self) -> tuple[InputModule, ...]:
        """Its stages' modules, in the application's order; remembered, so that nothing needs to be unpacked for it.

        Raises:
            InvalidSpirv, Unsupported: ``archive/…``, its path filled in.
        """
        if self.memory is None:
            return _load(self.captured)[1]
        question = ("captured", self.fingerprint(), self.captured.path)
        known = self.memory.fact(*question)
        if known is not None:
            return tuple(InputModule(*module) for module in known)
        modules = _load(self.captured)[1]
        self.memory.note_fact([[getattr(one, name) for name in _TOLD] for one in modules], *question)
        return modules


# Of an InputModule, in the order of its members.
_TOLD = ("path", "sha256", "stage", "entry_point", "spirv_version", "generator")


# It is asked for by every target, and for the names of its modules.
@lru_cache(maxsize=256)
def _fingerprint(captured: Captured) -> str:
    return captured.records.fingerprint(captured.tag, captured.hash).hex()


# A pipeline is read for every target, and once more for the report.
@lru_cache(maxsize=64)
def _load(captured: Captured) -> tuple[Mapping[str, Any], tuple[InputModule, ...]]:
    state = pack(captured.spec())
    return state, tuple(_modules(captured, state))


def _modules(captured: Captured, state: Mapping[str, Any]) -> Iterator[InputModule]:
    by_path = {path: words for words, path, _ in _all_modules(state)}
    for stage in captured.stages():
        words = by_path[stage.path]
        version, generator = struct.unpack_from("=xxxxII", words) if len(words) >= 12 else (0, 0)
        yield InputModule(
            stage.path,
            hashlib.sha256(words).hexdigest(),
            stage.stage,
            stage.entry_point,
            f"{version >> 16 & 0xFF}.{version >> 8 & 0xFF}",
            f"0x{generator:08x}",
        )


def _all_modules(state: Mapping[str, Any]) -> Iterator[list[Any]]:
    yield from state["modules"]
    for library in state["libraries"]:
        yield from _all_modules(library)


# ── Archives ──────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Found:
    """What is in some archives: pipelines, archives that make none (with a verdict), and what is wrong with them."""

    pipelines: tuple[Archived, ...] = ()
    broken: tuple[tuple[File, str, Diagnostic], ...] = ()
    notes: tuple[Diagnostic, ...] = ()


def read(files: Sequence[File], memory: Memory | None = None) -> Found:
    """The pipelines of the archives of one recording: graphics, compute and ray tracing, each by their hashes."""
    containers: list[Container] = []
    broken: list[tuple[File, str, Diagnostic]] = []
    for file in {file.location: file for file in files}.values():
        try:
            containers.append(_open(file))
        except InvalidSpirv as error:
            remark = Diagnostic("error", error.code, error.message, error.hint, file.path, error.offset)
            broken.append((file, "invalid", remark))
    if not containers:
        return Found((), tuple(broken))
    own = Records(containers)
    records = Records([*containers, *_companions(files)])
    applications = Applications(records)
    found = tuple(
        Archived(Captured(records, tag, hash), applications.setup(tag, hash), memory)
        for tag in KINDS
        for hash in own.hashes(tag)
    )
    if not found:
        remark = Diagnostic("info", "archive/no-pipelines", "an archive without any pipeline", path=files[0].path)
        broken.append((files[0], "skipped", remark))
    notes = [replace(note, path=note.path or container.path) for container in containers for note in container.remarks]
    return Found(found, tuple(broken), (*notes, *applications.remarks))


def _open(file: File) -> Container:
    if file.held is not None:
        return open_file(partial(BytesIO, file.held), file.path)
    return open_container(file.location, file.path)


def _companions(files: Sequence[File]) -> Iterator[Container]:
    """What the others of a recording refer to: ``base.foz``, which was not named itself."""
    for file in files[:1]:
        base = file.recording + ".foz"
        if file.held is None and base not in {each.location for each in files} and os.path.isfile(base):
            try:
                yield open_container(base, base)
            except InvalidSpirv:
                return  # what is missing will be named
