"""Representations as files: ``out/PIPELINE/STAGE.N.REPRESENTATION.txt``, and an index that maps them back.

A person finds a file by its name, a script by ``index.json``. Pipelines, entry points and representations are named by
strangers, so no name is used before it is safe on every file system: nothing outside the folder, nothing that Windows
reserves, nothing over 255 bytes, and no two that differ in case alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import tempfile
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, count
from typing import Any, NoReturn

from shaderstat.cli._tally import Sink
from shaderstat.errors import ShaderstatError
from shaderstat.model import (
    EndEvent,
    Event,
    Executable,
    Pipeline,
    PipelineEvent,
    Representation,
    Result,
    ResultEvent,
    RunEvent,
    TargetEvent,
)
from shaderstat.reporters.text import escaped_json, printable

INDEX = "index.json"
INDEX_SCHEMA = {"name": "shaderstat-ir-index", "version": 1}

# Bytes of one part of a path. File systems allow 255; this leaves room for what is put behind it.
_MOST = 120

# Names that Windows keeps for devices, with any ending ("Naming Files, Paths, and Namespaces").
_RESERVED = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"]
    + [f"{device}{digit}" for device in ("com", "lpt") for digit in "0123456789¹²³"]
)


class Folder:
    """Writes the representations of every result it is fed to files, and hands the result on with their paths.

    It is a reporter (`shaderstat.reporters.base.Reporter`): behind an `Output` it gets what was selected.
    """

    by_row = False
    shows_synthetic = False

    def __init__(self, path: str, *, force: bool, forward: Sequence[Sink], names: bool) -> None:
        """Args:
            path: the folder, made with the first file if it isn't there.
            force: replace files that are there already. Those that this run doesn't write stay in any case.
            forward: who gets the events after the files are written.
            names: print the path of every written file on standard output.

        Raises:
            ShaderstatError: it holds an index already and `force` is not given, or it can't be written to.
        """
        self._path = path
        self._force = force
        self._forward = forward
        self._names = names
        self._files: list[dict[str, Any]] = []
        self._executables = 0
        self._taken = {INDEX}  # files, and
        self._folders: dict[str, object] = {}  # folders with whose they are, both folded
        self._made: set[str] = set()  # folders that are no links
        self._new: list[str] = []  # files and folders that were not there
        self._targets: list[str] = []
        self._pipelines: dict[str, Pipeline] = {}
        self._head: RunEvent | None = None
        self._complete = False
        _prepare(path, force)

    def feed(self, event: Event) -> None:
        if isinstance(event, RunEvent):
            self._head = event
        elif isinstance(event, TargetEvent):
            if event.target.id not in self._targets:
                self._targets.append(event.target.id)
        elif isinstance(event, PipelineEvent):
            self._pipelines[event.pipeline.id] = event.pipeline
        elif isinstance(event, ResultEvent):
            event = self._written(event)
        elif isinstance(event, EndEvent):
            self._complete = event.run.complete
        for sink in self._forward:
            sink.feed(event)

    def close(self) -> None:
        """Write the index, of files if there are any."""
        if self._files:
            self._write_index()
            self._say(INDEX)
        for sink in self._forward:
            sink.close()

    def remarks(self) -> Sequence[str]:
        files = "1 file" if len(self._files) == 1 else f"{len(self._files)} files"
        executables = "1 executable" if self._executables == 1 else f"{self._executables} executables"
        if not self._files:
            return [remark for sink in self._forward for remark in sink.remarks()]
        line = f"{files} of {executables} in {os.path.join(printable(self._path), '')}"
        return [*(remark for sink in self._forward for remark in sink.remarks()), line]

    def _write_index(self) -> None:
        assert self._head is not None
        producer = {"name": self._head.producer.name, "version": self._head.producer.version}
        head = {"schema": INDEX_SCHEMA, "producer": producer, "complete": self._complete}
        # Not UTF-8 but ASCII with escapes: names may hold anything.
        text = escaped_json(json.dumps({**head, "files": self._files}, indent=1))
        self._write(INDEX, text.encode("ascii") + b"\n")

    def _written(self, event: ResultEvent) -> ResultEvent:
        """The event with the paths of what was written."""
        result = event.result
        if not any(event.data):
            return event
        folder = self._folder(result)
        executables = []
        for executable, texts in zip(result.executables, event.data, strict=True):
            label = _label(result.executables, executable)
            representations = []
            for representation, data in zip(executable.representations, texts, strict=True):
                ending = "txt" if representation.is_text else "bin"
                words = f"{label}.{representation.index}.{_slug(representation.name)}"
                name = self._free(f"{folder}/{_safe(words)}", f".{ending}")
                if not self._files:
                    self._write_index()  # whatever becomes of the run, the folder says that it is not all there
                self._write(name, data)
                self._say(name)
                self._files.append(_entry(name, result, self._pipelines, executable, representation))
                representations.append(replace(representation, path=os.path.join(self._path, *name.split("/"))))
            executables.append(replace(executable, representations=tuple(representations)))
            self._executables += bool(representations)
        return replace(event, result=replace(result, executables=tuple(executables)))

    def _folder(self, result: Result) -> str:
        """The folder of a pipeline, of its own; below its target's where there are several."""
        pipeline = self._pipelines.get(result.pipeline)
        name = pipeline.id if pipeline else result.pipeline
        parts = [_safe(part) for part in name.split("/")]
        if len(self._targets) > 1 and result.target is not None:
            parts.insert(0, _safe(result.target))
        return self._free("/".join(parts), owner=(result.pipeline, result.target))

    def _free(self, name: str, ending: str = "", owner: object = None) -> str:
        """`name`, or one like it where that is taken: by its case or normal form, or by a file where a folder must be.

        Args:
            owner: whose folder it is; None for a file, which nobody else may have.
        """
        mark = hashlib.sha256(repr((name, owner)).encode()).hexdigest()[:8]
        tries = chain((name, f"{name}-{mark}"), (f"{_safe(name.replace('/', '_'))}-{mark}-{n}" for n in count()))
        for path in (one + ending for one in tries):
            key = unicodedata.normalize("NFKC", path).casefold()
            above = {key[:place] for place, character in enumerate(key) if character == "/"}
            if key in self._taken or self._taken & above:
                continue
            if owner is None:
                if key in self._folders:
                    continue
                self._taken.add(key)
            elif self._folders.get(key) not in (None, owner):
                continue
            else:
                self._folders[key] = owner
            for folder in above:
                self._folders.setdefault(folder, None)
            return path
        raise AssertionError("unreachable")

    def _write(self, name: str, data: bytes) -> None:
        """Write one file, there whole or not at all; a link in its place is replaced, not followed."""
        place = os.path.join(self._path, *name.split("/"))
        temporary = None
        try:
            self._make_folders(name.split("/")[:-1])
            if not os.path.lexists(place):
                self._new.append(place)
            elif not self._force and place not in self._new:
                self._refuse(place)
            handle, temporary = tempfile.mkstemp(dir=os.path.dirname(place), prefix=".", suffix=".part")
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, place)
        except OSError as error:
            if temporary is not None:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
            raise ShaderstatError(f"{printable(place)}: can't be written: {error.strerror or error}") from None

    def _make_folders(self, parts: Sequence[str]) -> None:
        """Make the folders on the way to a file. A link in the place of one is replaced too: it leads out of here."""
        self._make(self._path)
        place = self._path
        for part in parts:
            place = os.path.join(place, part)
            if place not in self._made and os.path.islink(place):
                if not self._force:
                    self._refuse(place)
                os.unlink(place)
            self._make(place)

    def _make(self, folder: str) -> None:
        """Make a folder and those above it."""
        if folder in self._made:
            return
        above = folder
        missing = []
        while above and not os.path.isdir(above):
            missing.append(above)
            above = os.path.dirname(above)
        os.makedirs(folder, exist_ok=True)
        self._new += reversed(missing)
        self._made.add(folder)

    def _refuse(self, place: str) -> NoReturn:
        """Something is in a file's place: take back what this run wrote, since half of an answer is none."""
        for each in reversed(self._new):
            with contextlib.suppress(OSError):
                os.rmdir(each) if os.path.isdir(each) else os.unlink(each)
        raise ShaderstatError(
            f"{printable(place)}: is there already; nothing was written",
            hint="name another folder, or say --force to replace such files",
        )

    def _say(self, name: str) -> None:
        if self._names and sys.stdout is not None:
            path = os.path.join(self._path, *name.split("/"))
            sys.stdout.buffer.write(os.fsencode(path) + b"\n")


def _prepare(path: str, force: bool) -> None:
    """Refuse what can be known to go wrong before any work is done."""
    shown = printable(path)
    if os.path.lexists(path) and not os.path.isdir(path):
        raise ShaderstatError(f"{shown}: is there and is no folder", hint="name another one with --out")
    if not force and os.path.lexists(os.path.join(path, INDEX)):
        raise ShaderstatError(
            f"{shown}: the folder has an {INDEX} already",
            hint="name another one, or say --force to replace the files in it",
        )
    there = path
    while there and not os.path.isdir(there):
        there = os.path.dirname(there)
    try:
        with tempfile.TemporaryFile(dir=there or os.curdir):
            pass
    except OSError as error:
        raise ShaderstatError(f"{shown}: can't be written to: {error.strerror or error}") from None


def _entry(
    name: str,
    result: Result,
    pipelines: dict[str, Pipeline],
    executable: Executable,
    representation: Representation,
) -> dict[str, Any]:
    pipeline = pipelines.get(result.pipeline)
    return {
        "path": name,
        "pipeline": pipeline.name if pipeline else result.pipeline,
        "pipeline_id": result.pipeline,
        "target": result.target,
        "executable": {"index": executable.index, "name": executable.name, "stages": list(executable.stages)},
        "representation": representation.name,
        "representation_index": representation.index,
        "description": representation.description,
        "is_text": representation.is_text,
        "size": representation.size,
        "sha256": representation.sha256,
        "code_sha256": representation.code_sha256,
    }


# ── Names ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _label(executables: Sequence[Executable], executable: Executable) -> str:
    """The stages, with the executable's index where another one has the same."""
    stages = "+".join(executable.stages) or "executable"
    alone = sum(each.stages == executable.stages for each in executables) == 1
    return stages if alone and executable.stages else f"{stages}-{executable.index}"


def _slug(name: str) -> str:
    """``NIR Shader(s)`` → ``nir-shaders``."""
    words = "".join(c if c.isalnum() else " " for c in name.replace("(s)", "s").lower()).split()
    return "-".join(words) or "unnamed"


def _safe(part: str) -> str:
    """One part of a path that every file system takes."""
    text = unicodedata.normalize("NFC", part)
    text = "".join(c if c.isalnum() or c in "._+-#~@,=() " else "_" for c in text)
    text = text.rstrip(". ")  # Windows drops these
    if text.startswith((".", " ", "-", "~")):
        text = "_" + text[1:]
    if not text or text.split(".")[0].rstrip().lower() in _RESERVED:
        text = "_" + text
    if len(text.encode()) > _MOST:
        mark = hashlib.sha256(part.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        text = text.encode()[: _MOST - 9].decode("utf-8", "ignore").rstrip(". ") + "-" + mark
    return text


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
