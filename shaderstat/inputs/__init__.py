"""What the user handed over: paths in, pipelines to compile out, in a fixed order.

Pure reading: nothing is compiled, and of a module only what `shaderstat.spirv.scan` tells.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from shaderstat.inputs.candidates import Candidate, make_candidates
from shaderstat.inputs.files import MAX_BYTES
from shaderstat.inputs.finding import find_files
from shaderstat.inputs.modules import MAX_ENTRY_POINTS, InputModule
from shaderstat.inputs.overwriting import refuse_to_overwrite
from shaderstat.memory import Memory
from shaderstat.model import Diagnostic

__all__ = ["MAX_BYTES", "MAX_ENTRY_POINTS", "Candidate", "InputModule", "find", "refuse_to_overwrite"]


def find(
    paths: Sequence[str | os.PathLike[str]],
    *,
    stdin: bytes | None = None,
    entries: Sequence[str] = (),
    suffixes: Sequence[str] = (),
    notes: list[Diagnostic] | None = None,
    memory: Memory | None = None,
    pipelines: Sequence[str] = (),
) -> list[Candidate]:
    """Expand `paths`, scan what they lead to, and group it into pipelines.

    Args:
        paths: files, folders, globs, or ``-``.
        stdin: the bytes that ``-`` stands for; None to read them from standard input.
        entries: only entry points of such names, ``[STAGE:]NAME`` or a glob; empty for all.
        suffixes: further endings of names that tell a stage: ``_vs``, ``_ps``.
        notes: what is wrong with an archive as a whole, and what was left out of a module, is added here.
        memory: where it is looked up whether stages go together, and kept.
        pipelines: globs over names that the caller will choose by: a module's limit is for what they leave.

    Raises:
        ShaderstatError: a path that leads nowhere, a folder without modules, a glob that matches nothing,
            no standard input to read, an entry point that no module has.
    """
    return make_candidates(find_files(paths, stdin=stdin), entries, suffixes, notes, memory, pipelines)
