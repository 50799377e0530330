"""The C test layer, built once a run: RADV's null device answers, and the layer plays tricks in between."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
NAME = "VK_LAYER_SHADERSTAT_hostile"
MARKER = "KillerHere"

Hostile = Callable[..., Mapping[str, str]]


def build(folder: Path) -> None:
    """Put the layer's library and manifest into a folder."""
    command = ["gcc", "-shared", "-fPIC", "-fvisibility=hidden", "-O1", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([*command, HERE / "hostile.c", "-o", folder / "libhostile.so"], check=True, timeout=120)
    manifest = {
        "file_format_version": "1.1.2",
        "layer": {
            "name": NAME,
            "type": "GLOBAL",
            "library_path": str(folder / "libhostile.so"),
            "api_version": "1.3.0",
            "implementation_version": "1",
            "description": "plays every trick that a driver may",
        },
    }
    (folder / "hostile.json").write_text(json.dumps(manifest))


@pytest.fixture(scope="session")
def layer_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the layer's library and manifest."""
    folder = tmp_path_factory.mktemp("layer")
    build(folder)
    return folder


@pytest.fixture(scope="session")
def hostile(layer_folder: Path) -> Hostile:
    """``hostile(fault, marker=MARKER)``: the environment in which a driver does `fault` (see ``hostile.c``)."""

    def environment(fault: str, marker: str | None = MARKER) -> Mapping[str, str]:
        found = {"VK_INSTANCE_LAYERS": NAME, "VK_LAYER_PATH": str(layer_folder), "HOSTILE_FAULT": fault}
        return found if marker is None else {**found, "HOSTILE_MARKER": marker}

    return environment


@pytest.fixture(scope="session")
def killer(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A module like `scale.comp.spv` that bears the marker: a type's name of the same length was exchanged."""
    data = (samples / "scale.comp.spv").read_bytes()
    assert data.count(b"Parameters\0") == 1 and len(MARKER) == len("Parameters")
    path = tmp_path_factory.mktemp("killer") / "killer.comp.spv"
    path.write_bytes(data.replace(b"Parameters\0", MARKER.encode() + b"\0"))
    return path
