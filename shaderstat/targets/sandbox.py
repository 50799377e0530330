"""A child behind bubblewrap: no network, nothing of the machine to write to, no processes of others to see."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace

from shaderstat.errors import NoTarget
from shaderstat.model import Launch
from shaderstat.trees.launch import kit_home, scratch

PROGRAM = "bwrap"


def enclose(launch: Launch) -> Launch:
    """The same launch inside a sandbox. The mock needs none: it runs no code but ours.

    Raises:
        NoTarget: there is no bubblewrap here.
    """
    if launch.backend == "mock":
        return launch
    program = shutil.which(PROGRAM)
    if program is None:
        raise NoTarget(f"{launch.id}: --sandbox needs bubblewrap", hint="apt install bubblewrap")
    # A real GPU's device files are what its driver talks to; a stand-in needs none of them.
    devices = ["--dev-bind", "/dev", "/dev"] if launch.source == "host" else ["--dev", "/dev"]
    return replace(
        launch,
        prefix=(program, *_walls(), *devices, *launch.prefix),
        environment={**launch.environment, "TMPDIR": str(scratch())},
    )


def _walls() -> Sequence[str]:
    words = ["--ro-bind", "/", "/", "--proc", "/proc", "--unshare-all", "--die-with-parent", "--new-session"]
    # Two folders of ours: where the kit's byte code is kept, and what shims scribble on.
    for folder in (kit_home(), scratch()):
        words += ["--bind", os.fspath(folder), os.fspath(folder)]
    return words
