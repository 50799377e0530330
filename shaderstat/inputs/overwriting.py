"""An answer never takes the place of what was asked: no output is an input by another name, or by a link."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from shaderstat.errors import ShaderstatError
from shaderstat.inputs.candidates import Candidate

if TYPE_CHECKING:
    from shaderstat.archive.records import Records


def refuse_to_overwrite(
    outputs: Sequence[str], candidates: Iterable[Candidate], hint: str = "name another file with -o"
) -> None:
    """Compare the files themselves, not their names.

    Raises:
        ShaderstatError: one of `outputs` is a file of one of the candidates.
    """
    known = {identity: path for path in outputs for identity in _identity(path)}
    if not known:
        return
    for location in dict.fromkeys(_locations(candidates)):
        for identity in _identity(location):
            if identity in known:
                raise ShaderstatError(
                    f"{known[identity]}: is an input of this run ({location}), and would be overwritten",
                    hint=hint,
                )


def _locations(candidates: Iterable[Candidate]) -> Iterator[str]:
    archives: dict[int, Records] = {}
    for candidate in candidates:
        for module in candidate.modules:
            yield module.source.location if module.source is not None else module.path
        if candidate.archived is not None:
            records = candidate.archived.captured.records
            archives[id(records)] = records
    for records in archives.values():
        for container in records.containers:
            yield from container.files()


def _identity(path: str) -> Iterator[tuple[int, int]]:
    """What all names of a file have in common; nothing for what is not there yet, or can't be overwritten."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return
    if stat.S_ISREG(status.st_mode):
        yield status.st_dev, status.st_ino
