"""The C test layers, built once a run: one plays tricks between shaderstat and RADV's null device, one gives lavapipe
VK_ARM_shader_instrumentation."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from tests.conftest import lacking

HERE = Path(__file__).resolve().parent
HOSTILE = "VK_LAYER_SHADERSTAT_hostile"
INSTRUMENTATION = "VK_LAYER_SHADERSTAT_instrumentation"
VALIDATION = "VK_LAYER_KHRONOS_validation"
MARKER = "KillerHere"
WARNINGS = ("-Wall", "-Wextra", "-Werror")

Hostile = Callable[..., Mapping[str, str]]
Instrumented = Callable[..., dict[str, str]]


def build(folder: Path, stem: str, name: str, options: Sequence[str] = WARNINGS, **more: object) -> None:
    """Put the library and the manifest of the layer `name`, of ``{stem}.c``, into a folder; `more` is in the latter."""
    library = folder / f"lib{stem}.so"
    command = ["gcc", "-shared", "-fPIC", "-fvisibility=hidden", "-O1", *options]
    subprocess.run([*command, HERE / f"{stem}.c", "-o", library], check=True, timeout=120)
    layer = {
        "name": name,
        "type": "GLOBAL",
        "library_path": str(library),
        "api_version": "1.3.0",
        "implementation_version": "1",
        "description": f"the test layer {stem}",
        **more,
    }
    (folder / f"{stem}.json").write_text(json.dumps({"file_format_version": "1.1.2", "layer": layer}))


def rules(log: Path) -> list[str]:
    """The rules that the validation layer found broken; every version has them in brackets."""
    text = log.read_text() if log.exists() else ""
    found = re.findall(r"\[ (\S+) \]", text)
    assert bool(found) == bool(text), text
    return found


@pytest.fixture(scope="session")
def layer_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the hostile layer's library and manifest."""
    folder = tmp_path_factory.mktemp("layer")
    build(folder, "hostile", HOSTILE)
    return folder


@pytest.fixture(scope="session")
def hostile(layer_folder: Path) -> Hostile:
    """``hostile(fault, marker=MARKER)``: the environment in which a driver does `fault` (see ``hostile.c``)."""

    def environment(fault: str, marker: str | None = MARKER) -> Mapping[str, str]:
        found = {"VK_INSTANCE_LAYERS": HOSTILE, "VK_LAYER_PATH": str(layer_folder), "HOSTILE_FAULT": fault}
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


@pytest.fixture(scope="session")
def lavapipe() -> Path:
    """The manifest of Mesa's driver for the processor, which executes what is submitted to it."""
    for folder in ("/usr/local/share/vulkan/icd.d", "/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"):
        for manifest in sorted(Path(folder).glob("lvp_icd*.json")):
            return manifest
    lacking("no lavapipe (lvp_icd*.json): install mesa-vulkan-drivers")


@pytest.fixture(scope="session")
def instrumentation_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the instrumentation layer's library and manifest."""
    folder = tmp_path_factory.mktemp("instrumentation")
    extension = {"name": "VK_ARM_shader_instrumentation", "spec_version": "1", "entrypoints": []}
    build(folder, "instrumentation", INSTRUMENTATION, device_extensions=[extension])
    return folder


@pytest.fixture(scope="session")
def instrumented(instrumentation_folder: Path, lavapipe: Path) -> Instrumented:
    """``instrumented(metrics=6, values="grow", above=…, below=…)``: the environment in which lavapipe alone is there
    and has the extension; the words are the variables of ``instrumentation.c``, the rest names of other layers."""

    def environment(*, above: Sequence[str] = (), below: Sequence[str] = (), **settings: object) -> dict[str, str]:
        return {
            "VK_DRIVER_FILES": str(lavapipe),
            "VK_LAYER_PATH": f"{instrumentation_folder}:/usr/share/vulkan/explicit_layer.d",
            "VK_INSTANCE_LAYERS": ":".join((*above, INSTRUMENTATION, *below)),  # the first is next to the application
            **{f"INSTRUMENTATION_{name.upper()}": str(value) for name, value in settings.items()},
        }

    return environment
