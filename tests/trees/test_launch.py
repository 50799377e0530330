"""How a tree's compilers are started: its own loader, its own Python, its own files wherever Mesa looks for some."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from shaderstat.errors import NoTarget
from shaderstat.model import Launch
from shaderstat.trees import Tree, launch
from tests.trees.conftest import make


@pytest.fixture
def tree(home: Path) -> Tree:
    made = make(home, "sid", packages={"mesa-vulkan-drivers": "26.2.6-1", "libllvm22": "22.1", "debconf": "1.5"})
    icd = made.root / "usr/share/vulkan/icd.d"
    icd.mkdir(parents=True)
    for driver in ("radeon", "freedreno", "nouveau", "asahi"):
        (icd / f"{driver}_icd.json").write_text("{}")
    for shim in ("amdgpu", "freedreno", "nouveau", "asahi"):
        (made.root / f"usr/lib/x/lib{shim}_noop_drm_shim.so").write_text("")
    return made


def test_every_vendor_has_its_shim(tree: Tree) -> None:
    assert launch.drivers(tree) == ["radv", "turnip", "nvk", "agx"]


@pytest.mark.parametrize(
    ("driver", "selector", "shim", "manifest", "variable"),
    [
        ("radv", "navi31", "libamdgpu_noop_drm_shim.so", "radeon_icd.json", "AMDGPU_GPU_ID"),
        ("turnip", "740", "libfreedreno_noop_drm_shim.so", "freedreno_icd.json", "FD_GPU_ID"),
        ("nvk", "192", "libnouveau_noop_drm_shim.so", "nouveau_icd.json", "NOUVEAU_CHIPSET"),
        ("agx", None, "libasahi_noop_drm_shim.so", "asahi_icd.json", None),
    ],
)
def test_the_launch(
    tree: Tree, driver: str, selector: str | None, shim: str, manifest: str, variable: str | None
) -> None:
    made = launch.launch(tree, driver, "x", selector)
    root = str(tree.root)
    assert made.prefix == (
        f"{root}/usr/lib/x/ld-linux.so.2", "--preload", f"{root}/usr/lib/x/{shim}",
        "--library-path", f"{root}/usr/lib/x",
    )  # fmt: skip
    assert made.python == f"{root}/usr/bin/python3"
    assert made.environment["VK_DRIVER_FILES"] == f"{root}/usr/share/vulkan/icd.d/{manifest}"
    if variable is not None:
        assert made.environment[variable] == selector
    assert made.source == "tree"
    # What shapes an answer is recorded; that debconf came along is nobody's business.
    assert made.packages == {"mesa-vulkan-drivers": "26.2.6-1", "libllvm22": "22.1"}


def test_nothing_of_this_machine_is_loaded_or_read(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD", "/usr/lib/libhost.so")
    made = launch.launch(tree, "radv", "x", "navi31")
    assert made.environment["LD_PRELOAD"] == ""
    for name in ("VK_DRIVER_FILES", "VK_ICD_FILENAMES", "DRIRC_CONFIGDIR", "AMDGPU_ASIC_ID_TABLE_PATHS"):
        assert made.environment[name].startswith(str(tree.root))


def test_shims_have_a_folder_to_scribble_in(tree: Tree) -> None:
    launch.scratch.cache_clear()
    folder = Path(launch.launch(tree, "nvk", "x", "192").environment["XDG_RUNTIME_DIR"])
    assert folder.is_dir() and folder.stat().st_mode & 0o777 == 0o700
    launch.scratch.cache_clear()


def test_a_tree_that_has_lost_its_shim(tree: Tree) -> None:
    (tree.root / "usr/lib/x/libnouveau_noop_drm_shim.so").unlink()
    assert "nvk" not in launch.drivers(tree)
    with pytest.raises(NoTarget) as caught:
        launch.launch(tree, "nvk", "nvk@sid:ad102", "192")
    assert "libnouveau_noop_drm_shim.so" in caught.value.message
    assert caught.value.hint == "shaderstat targets install sid"


def test_without_a_shim_radv_may_have_its_null_device(tree: Tree) -> None:
    (tree.root / "usr/lib/x/libamdgpu_noop_drm_shim.so").unlink()
    made = launch.launch(tree, "radv", "x", "navi21")
    assert made.environment["RADV_FORCE_FAMILY"] == "navi21" and "AMDGPU_GPU_ID" not in made.environment
    assert "--preload" not in made.prefix


def test_the_null_device_may_be_taken_beside_a_shim(tree: Tree) -> None:
    made = launch.launch(tree, "radv", "x", "navi22", null_device=True)
    assert made.environment["RADV_FORCE_FAMILY"] == "navi22" and "--preload" not in made.prefix


def test_a_tree_without_the_driver(tree: Tree) -> None:
    (tree.root / "usr/share/vulkan/icd.d/asahi_icd.json").unlink()
    with pytest.raises(NoTarget, match="no asahi_icd manifest"):
        launch.launch(tree, "agx", "agx@sid:g13g", None)


def test_a_launch_can_be_had_apart_from_its_shim(tree: Tree) -> None:
    made = launch.launch(tree, "nvk", "x", "192")
    bare, shim = launch.apart(made)
    assert shim == str(tree.root / "usr/lib/x/libnouveau_noop_drm_shim.so")
    assert bare.prefix == tuple(launch.interpreter(tree)[:-1]) and bare.environment == made.environment
    assert launch.apart(bare) == (bare, "")
    sandboxed = replace(made, prefix=("bwrap", "--unshare-all", *made.prefix))
    assert launch.apart(sandboxed)[0].prefix == ("bwrap", "--unshare-all", *bare.prefix)
    here = Launch("x", "vulkan", "shim", environment={"LD_PRELOAD": shim, "NOUVEAU_CHIPSET": "192"})
    assert launch.apart(here) == (replace(here, environment={"LD_PRELOAD": "", "NOUVEAU_CHIPSET": "192"}), shim)


@pytest.mark.parametrize(
    "preload", ["/x/libother.so", "libnouveau_noop_drm_shim.so", "/x/libother.so:/x/libnouveau_noop_drm_shim.so"]
)
def test_what_else_is_preloaded_stays(preload: str) -> None:
    """It may stand in for anything, and by its own rules."""
    for one in (
        Launch("x", "vulkan", "config", environment={"LD_PRELOAD": preload}),
        Launch("x", "vulkan", "config", prefix=("/x/ld.so", "--preload", preload)),
    ):
        assert launch.apart(one) == (one, "")
