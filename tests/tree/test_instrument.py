"""Runs on the newest lavapipe, over the instrumentation layer: it has mesh shaders, rays, and 64-bit flags of its own.

No target of a tree executes anything by itself; a target of one's own names the driver.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shaderstat.trees import Tree
from shaderstat.trees.launch import interpreter
from tests.conftest import ROOT, Run
from tests.layer.conftest import INSTRUMENTATION

# Built by this machine's compiler, as the layer's other tests do it.
pytestmark = [pytest.mark.tree, pytest.mark.layer]

Counts = Callable[..., dict[str, list[int]]]


@pytest.fixture
def counts(shaderstat: Run, tree: Tree, instrumentation_folder: Path, tmp_path: Path) -> Counts:
    """``counts(arguments)``: the invocations of each stage, by command."""
    (manifest,) = sorted((tree.root / "usr/share/vulkan/icd.d").glob("lvp_icd*.json"))
    *prefix, python = interpreter(tree)
    environment = {
        "VK_DRIVER_FILES": str(manifest),
        "VK_LAYER_PATH": str(instrumentation_folder),
        "VK_INSTANCE_LAYERS": INSTRUMENTATION,
    }
    target = {"prefix": prefix, "python": python, "environment": environment}
    (tmp_path / "shaderstat.yaml").write_text(json.dumps({"targets": {"newest": target}}))

    def run(*arguments: str | Path) -> dict[str, list[int]]:
        done = shaderstat("instrument", *arguments, "-t", "newest", "--json", timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        (result,) = json.loads(done.stdout)["results"]
        found: dict[str, list[int]] = {}
        for block in result["instrumentation"]["blocks"]:
            found.setdefault("+".join(block["stages"]), []).append(block["values"][0])
        return found

    return run


def modules(folder: str, stem: str) -> list[Path]:
    return sorted((ROOT / folder).glob(f"{stem}.*.spv"))


def test_a_dispatch(counts: Counts) -> None:
    assert counts(*modules("sample_spirv", "scale"), "--dispatch", "2,3") == {"compute": [6 * 64]}


def test_mesh_shaders(counts: Counts) -> None:
    found = counts(*modules("sample_optional", "grid"), "--draw-mesh-tasks", "2,1,3")
    assert found["mesh"] == [6 * 32]


def test_rays(counts: Counts) -> None:
    assert counts(*modules("sample_optional", "rays"), "--trace", "8,4,2")["raygen"] == [64]


def test_every_graphics_stage(counts: Counts) -> None:
    found: dict[str, Any] = counts(*modules("sample_spirv", "hills"), "--draw", "12")
    assert (found["vertex"], found["tessellation_control"], found["tessellation_evaluation"]) == ([12], [3], [12])
    found = counts(*modules("sample_spirv", "fur"), "--draw", "12,2")
    assert (found["vertex"], found["geometry"]) == ([24], [8])
