"""What trials came to, kept in a file: asking a hundred compilers takes seconds, reading the answers a moment.

A tree's answers lie beside the tree, so that whoever built it has asked for everybody; this machine's in the cache.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from shaderstat.model import Device, Driver
from shaderstat.targets.probe import Trial
from shaderstat.trees.launch import cache_home

FILE = "targets.json"
# Version of the file. Another one is forgotten.
FORMAT = 2

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
    taken: dict[frozenset[str], int] = {}  # written once each: a driver's GPUs take the same, nearly all of them

    def plain(trial: Trial) -> dict[str, object]:
        number = taken.setdefault(trial.takes, len(taken))
        return {**asdict(replace(trial, takes=frozenset())), "takes": number}

    groups = {
        key: {"identity": identity, "outcomes": {name: [plain(one) for one in trials] for name, trials in out.items()}}
        for key, (identity, out) in memory.items()
    }
    written = {"format": FORMAT, "taken": [sorted(one) for one in taken], "groups": groups}
    data = json.dumps(written, separators=(",", ":"))
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
        taken = [frozenset(one) for one in plain["taken"]]
        return {
            key: (
                one["identity"],
                {name: [_trial(each, taken) for each in trials] for name, trials in one["outcomes"].items()},
            )
            for key, one in plain["groups"].items()
        }
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return {}


def _trial(plain: dict[str, Any], taken: Sequence[frozenset[str]]) -> Trial:
    driver, device, takes = Driver(**plain.pop("driver")), Device(**plain.pop("device")), taken[plain.pop("takes")]
    return Trial(driver=driver, device=device, takes=takes, **plain)
