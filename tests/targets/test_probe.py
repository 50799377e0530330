"""Trials against a real driver: RADV's null device, which dies of names that it doesn't know."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from shaderstat.model import Launch
from shaderstat.pool import Pool
from shaderstat.targets import probe, sandbox
from shaderstat.targets.probe import try_all

pytestmark = pytest.mark.driver


def radv(manifest: Path, family: str, **variables: str) -> Launch:
    environment = {"VK_DRIVER_FILES": str(manifest), "RADV_FORCE_FAMILY": family, **variables}
    return Launch(f"radv:{family}", "vulkan", "null-device", environment=environment, driver_manifest=str(manifest))


def test_each_launch_has_its_own_outcome_in_order(radv_manifest: Path) -> None:
    names = ["navi21", "no-such-gpu", "tahiti", "navi10"]
    found = try_all([radv(radv_manifest, name) for name in names])
    assert [len(one) for one in found] == [1, 1, 1, 1]
    trials = [one[0] for one in found]
    assert [bool(one.problem) for one in trials] == [False, True, False, False]
    assert "SIGABRT" in trials[1].problem and "no-such-gpu" in trials[1].problem
    for one in (trials[0], trials[2], trials[3]):
        assert one.driver.id == 3
        assert one.statistics and one.representations
    # Geometry shaders everywhere; GFX6 has no 16-bit integers (radv_physical_device.c), nobody OpenCL's kernels.
    for one in (trials[0], trials[2], trials[3]):
        assert {"Geometry", "SPIR-V-1.6"} <= one.takes and "Kernel" not in one.takes
    assert "Int16" in trials[0].takes
    # GFX6, GFX10 and GFX10.3 are different compilers; asked again, each answers alike.
    assert len({one.answers for one in trials}) == 4
    assert try_all([radv(radv_manifest, "navi21")])[0][0] == trials[0]


def test_the_loader_is_asked_for_all_its_devices(radv_manifest: Path) -> None:
    environment = {"VK_DRIVER_FILES": str(radv_manifest), "RADV_FORCE_FAMILY": "navi21"}
    (trials,) = try_all([Launch("host", "vulkan", "host", device=-1, environment=environment)])
    assert [(one.index, one.problem) for one in trials] == [(0, "")]


def test_no_driver_at_all_is_one_refusal(tmp_path: Path) -> None:
    launch = Launch("host", "vulkan", "host", device=-1, environment={"VK_DRIVER_FILES": str(tmp_path / "none.json")})
    (trials,) = try_all([launch])
    assert len(trials) == 1 and "found no driver" in trials[0].problem


def test_launches_that_differ_in_the_gpu_alone_share_a_process() -> None:
    """A shim reads which GPU to play when it is first called; several of a driver are tried behind one loaded later."""
    shim = "/x/libnouveau_noop_drm_shim.so"

    def nvk(chipset: str, preload: str = shim) -> Launch:
        environment = {"NOUVEAU_CHIPSET": chipset, "LD_PRELOAD": preload}
        return Launch(f"nvk:{chipset}", "vulkan", "shim", environment=environment, driver_manifest="/x/nouveau.json")

    launches = [Launch("host", "vulkan", "host", device=-1), nvk("192"), radv(Path("/x/r.json"), "navi21"), nvk("172")]
    launches += [
        radv(Path("/x/r.json"), "navi10"),
        nvk("162", "/x/another.so"),
        nvk("140"),
        nvk("e4", f"{shim}:/x/y.so"),
    ]
    batches = probe._batches(launches, 2)
    assert [(list(one.places), one.shim) for one in batches] == [
        ([1, 3, 6], shim), ([2, 4], ""), ([0], ""), ([5], ""), ([7], "")
    ]  # fmt: skip
    assert [one.environment["LD_PRELOAD"] for one in batches[0].launches] == ["", "", ""]
    # Alone, it is launched as a target is.
    assert [list(one.launches) for one in probe._batches([nvk("192")], 2)] == [[nvk("192")]]
    many = [nvk(str(number)) for number in range(100, 130)]
    assert [len(one.places) for one in probe._batches(many, 16)] == [10, 10, 10]
    assert sorted(place for one in probe._batches(many, 2) for place in one.places) == list(range(30))


def test_a_shim_that_can_not_be_loaded_late_is_preloaded(radv_manifest: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No driver may be asked without it: there may be a GPU. The word of a process of its own is what counts."""
    here = [radv(radv_manifest, name) for name in ("navi21", "navi10")]  # whose null device wants no shim
    monkeypatch.setattr(probe, "apart", lambda launch: (launch, "/nonexistent/libamdgpu_noop_drm_shim.so"))
    runs = []
    run = probe._run

    def watched(batch: probe._Batch) -> list[list[probe.Trial]]:
        runs.append((batch.shim, run(batch)))
        return runs[-1][1]

    monkeypatch.setattr(probe, "_run", watched)
    assert [trials[0].problem for trials in try_all(here)] == ["", ""]
    (shim, refused), *alone = runs
    assert all("not to be loaded behind libamdgpu_noop_drm_shim.so" in trials[0].problem for trials in refused)
    assert shim and [each for each, _ in alone] == ["", ""]


def test_a_process_that_does_not_start_fails_its_launches(radv_manifest: Path) -> None:
    from dataclasses import replace

    launches = [replace(radv(radv_manifest, name), prefix=("/nonexistent",)) for name in ("navi21", "navi10")]
    assert all("/nonexistent" in trials[0].problem for trials in try_all(launches))


def test_a_driver_that_hangs_is_given_up(radv_manifest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "LIMIT_S", 0.001)
    ((trial,),) = try_all([radv(radv_manifest, "navi21")])
    assert trial.problem.startswith("radv:navi21: no answer within 0.00")


# ── The sandbox ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def enclosed(radv_manifest: Path) -> Launch:
    if shutil.which(sandbox.PROGRAM) is None:
        pytest.skip("no bubblewrap: install bubblewrap")
    sandbox.scratch.cache_clear()
    sandbox.kit_home.cache_clear()
    return sandbox.enclose(radv(radv_manifest, "navi21"))


def test_a_compiler_works_in_a_sandbox(enclosed: Launch, radv_manifest: Path) -> None:
    assert try_all([enclosed]) == try_all([radv(radv_manifest, "navi21")])
    with Pool() as pool:
        assert pool.wait(pool.add(enclosed)).driver.id == 3


def test_a_sandbox_has_no_network_and_nothing_to_write_to(enclosed: Launch, tmp_path: Path) -> None:
    import subprocess

    code = (
        "import os,socket\n"
        "print(sorted(name for _, name in socket.if_nameindex()))\n"
        f"for place in ({str(tmp_path)!r}, '/usr', '/tmp', os.environ['TMPDIR']):\n"
        "    try:\n        open(place + '/made', 'w').close(); print('wrote')\n"
        "    except OSError as error:\n        print(error.errno)\n"
        "print(len([name for name in os.listdir('/proc') if name.isdecimal()]) < 5)\n"
    )
    environment: Mapping[str, str] = {**os.environ, **enclosed.environment}
    done = subprocess.run(
        [*enclosed.prefix, "/usr/bin/env", "python3", "-c", code], env=environment, capture_output=True, text=True
    )
    network, *writes, processes = done.stdout.splitlines()
    assert network in ("['lo']", "[]"), done.stderr
    assert writes == ["30", "30", "30", "wrote"]  # EROFS
    assert processes == "True"
