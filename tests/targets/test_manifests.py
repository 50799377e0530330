"""Where driver manifests are looked for: the loader's folders, in its order."""

from __future__ import annotations

from pathlib import Path

import pytest

from shaderstat.targets import manifests


def test_folders_follow_the_loaders_order() -> None:
    environment = {
        "HOME": "/home/u",
        "XDG_CONFIG_DIRS": "/etc/xdg",
        "XDG_DATA_HOME": "/home/u/data",
        "XDG_DATA_DIRS": "/usr/share",
    }
    # Vulkan-Loader, LoaderDriverInterface.md, "Driver Discovery on Linux"
    assert [str(one) for one in manifests.folders(environment)] == [
        "/home/u/.config/vulkan/icd.d",
        "/etc/xdg/vulkan/icd.d",
        "/usr/local/etc/vulkan/icd.d",
        "/etc/vulkan/icd.d",
        "/home/u/data/vulkan/icd.d",
        "/usr/share/vulkan/icd.d",
    ]


@pytest.mark.parametrize("name", ["radeon_icd.x86_64.json", "radeon_icd.json"])
def test_a_manifest_is_found_under_its_old_and_its_new_name(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifests.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(manifests, "folders", lambda environment: [tmp_path / "none", tmp_path])
    assert manifests.find("radeon_icd", {}) is None
    (tmp_path / "radeon_icd.i686.json").write_text("{}")
    assert manifests.find("radeon_icd", {}) is None
    (tmp_path / name).write_text("{}")
    assert manifests.find("radeon_icd", {}) == str(tmp_path / name)


@pytest.mark.parametrize("variable", ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"])
def test_a_driver_that_the_user_has_named_to_the_loader_is_the_one(variable: str) -> None:
    """Whoever builds a driver wants that driver's numbers, and not the distribution's under the same name."""
    environment = {variable: "/b/lvp_icd.x86_64.json:/build/radeon_devenv_icd.x86_64.json"}
    assert manifests.find("radeon_icd", environment) == "/build/radeon_devenv_icd.x86_64.json"
    assert manifests.find("freedreno_icd", environment) is None
