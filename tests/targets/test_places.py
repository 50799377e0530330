"""Where compilers are, told from files: which driver is there, whether it has a null device, which GPUs it names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shaderstat.targets import chips, manifests, places
from tests.trees.conftest import make


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine whose drivers are what a test puts into the folder."""
    icd = tmp_path / "icd.d"
    icd.mkdir()
    monkeypatch.setattr(manifests, "folders", lambda environment: [icd])
    monkeypatch.setattr(
        manifests, "shared_library", lambda name: str(tmp_path / name) if (tmp_path / name).is_file() else None
    )
    places._words.cache_clear()
    return tmp_path


def driver(machine: Path, stem: str, *strings: str) -> None:
    """A driver with such strings in it."""
    (machine / "icd.d" / f"{stem}.json").write_text(json.dumps({"ICD": {"library_path": str(machine / f"{stem}.so")}}))
    (machine / f"{stem}.so").write_bytes(b"\x7fELF" + b"".join(b"\0" + one.encode() for one in strings) + b"\0")


def test_the_null_device_of_an_older_mesa(machine: Path) -> None:
    driver(machine, "radeon_icd", "RADV_FORCE_FAMILY", "NAVI21", "GFX1100", "GFX1100_SOMETHING")
    (place,), absent = places.host_places({}, "radv")
    assert absent is None
    assert (place.source, place.words) == ("null-device", "null device")
    assert [chip.name for chip in place.chips()] == ["navi21", "navi31"]
    launch = place.launch(chips.find("radv", "navi31"), "radv:navi31")
    assert launch is not None
    assert launch.environment["RADV_FORCE_FAMILY"] == "gfx1100"
    assert launch.environment["VK_DRIVER_FILES"] == launch.environment["VK_ICD_FILENAMES"] == place.manifest


def test_a_newer_mesa_has_no_null_device(machine: Path) -> None:
    driver(machine, "radeon_icd", "AMD_FORCE_FAMILY=<family> has been removed", "AMD_FORCE_FAMILY", "NAVI21")
    found, absent = places.host_places({}, "radv")
    assert found == []
    assert absent is not None and "no drm-shim" in absent.reason
    assert absent.command == "shaderstat targets install"


def test_a_shim_of_this_machine(machine: Path) -> None:
    driver(machine, "radeon_icd")
    (machine / "libamdgpu_noop_drm_shim.so").write_bytes(b"\0navi31\0navi10\0")
    (place,), _ = places.host_places({}, "radv")
    assert (place.source, [chip.name for chip in place.chips()]) == ("shim", ["navi10", "navi31"])
    launch = place.launch(chips.find("radv", "navi31"), "radv:navi31")
    assert launch is not None
    assert launch.environment["LD_PRELOAD"] == str(machine / "libamdgpu_noop_drm_shim.so")
    assert launch.environment["AMDGPU_GPU_ID"] == "navi31"
    assert Path(launch.environment["XDG_RUNTIME_DIR"]).is_dir()
    assert place.launch(chips.find("radv", "navi21"), "radv:navi21") is None


def test_nvidias_gpus_are_chosen_by_number(machine: Path) -> None:
    driver(machine, "nouveau_icd")
    (machine / "libnouveau_noop_drm_shim.so").write_bytes(b"nothing that tells")
    (place,), _ = places.host_places({}, "nvk")
    launch = place.launch(chips.find("nvk", "ad102"), "nvk:ad102")
    assert launch is not None and launch.environment["NOUVEAU_CHIPSET"] == "192"


def test_apples_one_gpu_needs_no_choosing(machine: Path) -> None:
    driver(machine, "asahi_icd")
    (machine / "libasahi_noop_drm_shim.so").write_bytes(b"")
    (place,), _ = places.host_places({}, "agx")
    launch = place.launch(chips.find("agx", "g13g"), "agx:g13g")
    assert launch is not None
    assert set(launch.environment) == {"VK_DRIVER_FILES", "VK_ICD_FILENAMES", "LD_PRELOAD", "XDG_RUNTIME_DIR"}


def test_what_is_missing_and_the_one_command(machine: Path) -> None:
    for name in chips.CHIPS:
        found, absent = places.host_places({}, name)
        assert found == [] and absent is not None
        assert absent.command == "shaderstat targets install"


def test_a_driver_that_can_not_be_read_is_asked_all_the_same(machine: Path) -> None:
    (machine / "icd.d/radeon_icd.json").write_text(json.dumps({"ICD": {"library_path": "/nonexistent.so"}}))
    (place,), _ = places.host_places({}, "radv")
    assert len(place.chips()) == len(chips.CHIPS["radv"])


def test_a_tree_of_an_older_mesa_has_its_null_device_beside_the_shim(machine: Path, home: Path) -> None:
    tree = make(home, "old")
    icd = tree.root / "usr/share/vulkan/icd.d"
    icd.mkdir(parents=True)
    (icd / "radeon_icd.json").write_text("{}")
    (tree.root / "usr/lib/x/libamdgpu_noop_drm_shim.so").write_bytes(b"\0navi21\0")
    (tree.root / "usr/lib/x/libvulkan_radeon.so").write_bytes(b"\0RADV_FORCE_FAMILY\0NAVI21\0NAVI22\0")
    over_shim, null = places.tree_places("radv")
    assert [chip.name for chip in over_shim.chips()] == ["navi21"]
    assert [chip.name for chip in null.chips()] == ["navi21", "navi22"]
    launch = null.launch(chips.find("radv", "navi22"), "radv@old:navi22")
    assert launch is not None and launch.environment["RADV_FORCE_FAMILY"] == "navi22"


def test_trees_come_after_the_machine(machine: Path, home: Path) -> None:
    driver(machine, "radeon_icd", "RADV_FORCE_FAMILY", "NAVI21")
    for name, built in (("old", "2025"), ("new", "2026")):
        tree = make(home, name, built=built)
        icd = tree.root / "usr/share/vulkan/icd.d"
        icd.mkdir(parents=True)
        (icd / "radeon_icd.json").write_text("{}")
        (tree.root / "usr/lib/x/libamdgpu_noop_drm_shim.so").write_bytes(b"\0navi21\0navi31\0")
    found, absent = places.all_places({})
    assert [place.words for place in found] == ["null device", "tree new", "tree old"]
    assert [one.driver for one in absent] == ["turnip", "nvk", "agx"]
    navi21 = chips.find("radv", "navi21")
    assert [place.target(navi21) for place in found] == ["radv@host:navi21", "radv@new:navi21", "radv@old:navi21"]


def test_a_tree_that_lost_a_shim_is_named(machine: Path, home: Path) -> None:
    tree = make(home, "sid", packages={"mesa-vulkan-drivers": "26.2.6-1"})
    icd = tree.root / "usr/share/vulkan/icd.d"
    icd.mkdir(parents=True)
    for name in ("nouveau", "asahi"):
        (icd / f"{name}_icd.json").write_text("{}")
    (tree.root / "usr/lib/x/libasahi_noop_drm_shim.so").touch()
    found, absent = places.all_places({})
    assert [place.driver for place in found] == ["agx"]
    assert [(one.driver, one.command) for one in absent] == [
        ("radv", "shaderstat targets install"),
        ("turnip", "shaderstat targets install"),
        ("nvk@sid", "shaderstat targets install sid"),
    ]
    assert absent[-1].reason == (
        "the driver tree sid (Mesa 26.2.6-1) has lost what stands in for the GPU, libnouveau_noop_drm_shim.so"
    )
