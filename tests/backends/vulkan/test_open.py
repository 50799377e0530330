"""Why there is no target, in one line with a hint."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

OPEN = """
import json, sys
from shaderstat.errors import NoTarget
from shaderstat.model import Launch
from shaderstat.backends import vulkan

{before}
launch = Launch(id="host:{device}", backend="vulkan", source="host", device={device})
answers = []
for ask in (lambda: vulkan.open(launch, None), lambda: vulkan.enumerate_devices(launch)):
    try:
        ask()
        answers.append(None)
    except NoTarget as error:
        answers.append([error.message, error.hint])
print(json.dumps(answers))
"""

BLOCK = """
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "vulkan":
            raise {error}
sys.meta_path.insert(0, Finder())
"""


def refusals(*, before: str = "", device: int = 0, **environment: str) -> list[tuple[str, str | None]]:
    """What `open` and `enumerate_devices` say, in a process of their own; one that says nothing is left out."""
    done = subprocess.run(
        [sys.executable, "-c", OPEN.format(before=before, device=device)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **environment},
        check=True,
    )
    found = [tuple(each) for each in json.loads(done.stdout.splitlines()[-1]) if each is not None]
    for message, _ in found:
        assert message.startswith(f"host:{device}: ") and "\n" not in message
    return found


def test_no_loader() -> None:
    """The package `vulkan` raises OSError while it is imported."""
    before = BLOCK.format(error="OSError('Cannot find Vulkan SDK version. Please ensure that it is installed')")
    for message, hint in refusals(before=before):
        assert "no Vulkan loader" in message
        assert hint is not None and "libvulkan1" in hint


def test_no_package() -> None:
    before = BLOCK.format(error="ModuleNotFoundError(\"No module named 'vulkan'\", name='vulkan')")
    for message, hint in refusals(before=before):
        assert "vulkan is not installed" in message
        assert hint == "pip install vulkan"


@pytest.mark.driver
def test_no_driver() -> None:
    found = refusals(VK_DRIVER_FILES="/nonexistent/icd.json", VK_ICD_FILENAMES="/nonexistent/icd.json")
    assert len(found) == 2
    for message, hint in found:
        assert "found no driver in VK_DRIVER_FILES=/nonexistent/icd.json" in message
        assert hint is not None and "--driver" in hint


@pytest.mark.driver
def test_a_driver_without_a_device(radv_manifest: Path, tmp_path: Path) -> None:
    found = refusals(VK_DRIVER_FILES=str(radv_manifest), VK_ICD_FILENAMES=str(radv_manifest))
    assert len(found) == 2 or any(Path("/dev/dri").glob("renderD*"))  # RADV may have one after all
    for message, hint in found:
        assert "has no device" in message
        assert hint is not None


@pytest.mark.driver
def test_an_index_out_of_range_lists_what_there_is(radv_manifest: Path) -> None:
    manifest = str(radv_manifest)
    environment = {"VK_DRIVER_FILES": manifest, "VK_ICD_FILENAMES": manifest, "RADV_FORCE_FAMILY": "navi21"}
    ((message, _),) = refusals(device=5, **environment)
    assert "no device 5, there is one device: 0 " in message
    assert "NAVI21" in message


@pytest.mark.driver
def test_a_missing_layer(radv_manifest: Path) -> None:
    manifest = str(radv_manifest)
    environment = {"VK_DRIVER_FILES": manifest, "VK_ICD_FILENAMES": manifest, "RADV_FORCE_FAMILY": "navi21"}
    for message, hint in refusals(VK_INSTANCE_LAYERS="VK_LAYER_NOT_there", **environment):
        assert "VK_ERROR_LAYER_NOT_PRESENT" in message
        assert hint is not None and "VK_INSTANCE_LAYERS" in hint


@pytest.mark.driver
def test_a_device_that_cannot_tell_executables() -> None:
    """lavapipe has never had the extension."""
    manifests = sorted(Path("/usr/share/vulkan/icd.d").glob("lvp_icd*.json"))
    if not manifests:
        pytest.skip("no lavapipe")
    manifest = str(manifests[0])
    ((message, hint),) = refusals(VK_DRIVER_FILES=manifest, VK_ICD_FILENAMES=manifest)
    assert "llvmpipe" in message
    assert "has no VK_KHR_pipeline_executable_properties" in message
    assert hint is not None
