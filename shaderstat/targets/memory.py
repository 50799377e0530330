"""What trials came to, kept in a file: asking a hundred compilers takes seconds, reading the answers a moment.

A tree's answers lie beside the tree, so that whoever built it has asked for everybody; this machine's in the cache.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from shaderstat.model import Device, Driver
from shaderstat.targets.probe import Trial
from shaderstat.trees.launch import cache_home

FILE = "targets.json"
# Version of the file. Another one is forgotten.
FORMAT = 1

# A chip's name ("" for the loader's devices) → its trials.
Outcomes = dict[str, list[Trial]]
# A group's key → the identity of what was asked, and what came of it.
Memory = dict[str, tuple[str, Outcomes]]


def recall(folder: Path) -> Memory:
    """What is remembered of `folder`, there or (where it can't be written to) in the cache; nothing where that is
    damaged."""
    return _read(_elsewhere(folder)) | _read(folder / FILE)


def remember(folder: Path, memory: Mapping[str, tuple[str, Outcomes]]) -> None:
    """Replace what is remembered in `folder`. Where that can't be written, the next run asks again."""
    groups = {
        key: {"identity": identity, "outcomes": {name: [asdict(one) for one in trials] for name, trials in out.items()}}
        for key, (identity, out) in memory.items()
    }
    data = json.dumps({"format": FORMAT, "groups": groups}, separators=(",", ":"))
    for file in (folder / FILE, _elsewhere(folder)):
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            handle, beside = tempfile.mkstemp(prefix=".", dir=file.parent)
            with open(handle, "w", encoding="utf-8") as stream:
                stream.write(data)
            os.chmod(beside, 0o644)
            os.replace(beside, file)
            return


def _elsewhere(folder: Path) -> Path:
    return cache_home() / f"targets-{folder.name}.json"


def _read(file: Path) -> Memory:
    try:
        plain = json.loads(file.read_bytes())
        if plain["format"] != FORMAT:
            return {}
        return {
            key: (one["identity"], {name: [*map(_trial, trials)] for name, trials in one["outcomes"].items()})
            for key, one in plain["groups"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _trial(plain: dict[str, object]) -> Trial:
    driver, device = plain.pop("driver"), plain.pop("device")
    return Trial(driver=Driver(**driver), device=Device(**device), **plain)  # type: ignore[arg-type]
