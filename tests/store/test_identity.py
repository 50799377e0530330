"""What makes one compiler another, before its device is open and after."""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from shaderstat.child.libraries import library, mapped
from shaderstat.environment import child_environment, settings, shaping
from shaderstat.model import Device, Driver, Launch
from shaderstat.store import identity
from shaderstat.store.identity import place_key, refusal_key, target_key, unchanged
from shaderstat.wire import Hello, Library

DRIVER = Library("/usr/lib/libvulkan_radeon.so", 10, 20, "abcd")
LAUNCH = Launch("radv:navi21", "vulkan", "null-device", environment={"RADV_FORCE_FAMILY": "navi21"})
HELLO = Hello(
    Driver(3, "radv", "22.3.6", "Mesa 22.3.6"), Device("GPU", 1, 2, "other", "1.3.0", "00" * 16), 0, "v1", (DRIVER,)
)


def keys(launch: Launch = LAUNCH) -> tuple[bytes | None, bytes | None]:
    """Of the target, as a child says of it that has this process's environment, and of its place."""
    around = child_environment(launch)
    hello = replace(HELLO, environment=shaping(around), settings=settings(around))
    return target_key(launch, hello), place_key(launch)


HOST = Launch("host", "vulkan", "host", device=-1)

Change = Callable[[Launch, Hello], tuple[Launch, Hello]]


@pytest.mark.parametrize(
    "change",
    [
        lambda launch, hello: (replace(launch, id="radv:navi31"), hello),
        lambda launch, hello: (replace(launch, environment={"RADV_FORCE_FAMILY": "navi31"}), hello),
        lambda launch, hello: (replace(launch, setup=replace(launch.setup, profile="webgpu")), hello),
        lambda launch, hello: (launch, replace(hello, driver=replace(hello.driver, version="22.3.7"))),
        lambda launch, hello: (launch, replace(hello, device=replace(hello.device, pipeline_cache_uuid="11" * 16))),
        lambda launch, hello: (launch, replace(hello, validator="v2")),
        lambda launch, hello: (launch, replace(hello, libraries=(DRIVER._replace(build_id="abce"),))),
        lambda launch, hello: (launch, replace(hello, libraries=(DRIVER._replace(build_id="", mtime_ns=21),))),
        lambda launch, hello: (launch, replace(hello, libraries=(DRIVER, DRIVER._replace(path="/x/libshim.so")))),
    ],
)
def test_whatever_may_change_an_answer_is_another_target(change: Change) -> None:
    assert target_key(LAUNCH, HELLO) == target_key(LAUNCH, HELLO)
    assert target_key(*change(LAUNCH, HELLO)) != target_key(LAUNCH, HELLO)


def test_a_driver_that_was_merely_put_elsewhere_is_the_same() -> None:
    moved = replace(HELLO, libraries=(DRIVER._replace(path="/opt/libvulkan_radeon.so", mtime_ns=99),))
    assert target_key(LAUNCH, moved) == target_key(LAUNCH, HELLO)


def test_nothing_is_remembered_of_what_can_not_be_told_apart() -> None:
    assert target_key(LAUNCH, replace(HELLO, libraries=())) is None
    assert target_key(Launch("mock", "mock", "mock", scenario={"rules": []}), HELLO) is None
    assert place_key(replace(LAUNCH, prefix=("ssh", "box"))) is None
    assert place_key(replace(LAUNCH, prefix=("ld.so",), source="tree")) is not None


@pytest.mark.parametrize("name", ["RADV_DEBUG", "HK_PERFTEST", "radv_zero_vram", "lower_depth_range_rate", "LD_AUDIT"])
def test_variables_count_lower_case_ones_too(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = keys()
    monkeypatch.setenv(name, "1")
    after = keys()
    assert before[0] != after[0] and before[1] != after[1]


@pytest.mark.parametrize("name", ["SHLVL", "GITHUB_RUN_ID", "https_proxy", "TERM", "SHADERSTAT_CACHE_SIZE"])
def test_variables_that_no_driver_reads_do_not(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = keys()
    monkeypatch.setenv(name, "1")
    assert keys() == before


def test_where_layers_take_part_every_variable_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VK_INSTANCE_LAYERS", "VK_LAYER_any")
    before = keys()
    monkeypatch.setenv("WHATEVER_IT_READS", "1")
    assert keys()[0] != before[0]


@pytest.mark.parametrize("name", ["MESA_SPIRV_READ_PATH", "IR3_SHADER_OVERRIDE_PATH"])
def test_a_driver_that_takes_other_shaders_than_it_is_given_is_not_remembered(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "/shaders")
    assert keys()[0] is None


def test_drivers_settings_count_by_content(clean_environment: Path) -> None:
    before = keys()
    file = clean_environment / ".drirc"
    file.write_text("<driconf/>")
    changed = keys()
    assert before[0] != changed[0] and before[1] != changed[1]
    os.utime(file, (1, 1))
    assert keys()[0] == changed[0]


def test_a_new_driver_or_layer_may_come_first(clean_environment: Path) -> None:
    before = place_key(LAUNCH)
    folder = clean_environment / "data" / "vulkan" / "icd.d"
    folder.mkdir(parents=True)
    (folder / "new.json").write_text("{}")
    assert place_key(LAUNCH) != before


@pytest.mark.parametrize("named", ["libdriver.so", "../libdriver.so"])
def test_that_no_device_answers_holds_until_a_driver_changes(
    named: str, clean_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity, "_devices", lambda: iter(()))
    folder = clean_environment / "data" / "vulkan" / "icd.d"
    folder.mkdir(parents=True)
    (folder / "new.json").write_text(json.dumps({"ICD": {"library_path": named}}))
    (folder / "broken.json").write_text('{"ICD": 1}')
    driver = clean_environment / "data" / "vulkan" / "libdriver.so"
    monkeypatch.setenv("LD_LIBRARY_PATH", str(driver.parent))
    before = refusal_key(HOST)
    assert before is not None and refusal_key(HOST) == before and place_key(HOST) != before
    driver.write_bytes(b"built")
    built = refusal_key(HOST)
    os.utime(driver, ns=(1, 1))
    assert len({before, built, refusal_key(HOST)}) == 3


def test_that_no_device_answers_is_not_remembered_where_there_is_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have been unwell, and would be missed for ever."""
    monkeypatch.setattr(identity, "_devices", lambda: iter([("/dev/dri/card0", 1, 2, 3)]))
    assert refusal_key(HOST) is None and place_key(HOST) is not None


def test_this_programs_own_part_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    before = target_key(LAUNCH, HELLO), place_key(LAUNCH)
    monkeypatch.setattr(identity, "kit", lambda: "changed")
    assert target_key(LAUNCH, HELLO) != before[0]
    assert place_key(LAUNCH) != before[1]


def test_a_file_that_changed_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "libdriver.so"
    path.write_bytes(b"x" * 100)
    hello = replace(HELLO, libraries=(library(str(path)),))
    assert unchanged(hello)
    os.utime(path, ns=(1, 1))
    assert not unchanged(hello)
    path.unlink()
    assert not unchanged(hello)


# ── Build-ids ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_libraries_of_this_process_have_the_build_ids_that_their_files_tell() -> None:
    found = mapped()
    libc = next(one for one in found if os.path.basename(one.path).startswith("libc.so"))
    assert libc.size == os.stat(libc.path).st_size
    # NT_GNU_BUILD_ID: name size 4, description size, type 3, "GNU\0" (elf(5))
    data = Path(libc.path).read_bytes()
    at = data.index(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0")
    assert libc.build_id == data[at + 16 : at + 36].hex()
    assert not any("python" in one.path for one in found)


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"\x7fELF\x02\x01" + b"\xff" * 200, b"MZ" * 100])
def test_a_file_that_is_no_elf_file_has_none(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.so"
    path.write_bytes(data)
    assert library(str(path)).build_id == ""


@pytest.mark.parametrize(("beginning", "counts"), [(b"\x90" * 16, False), (b"\x7fELF" + b"\x02" * 12, True)])
def test_code_that_a_driver_writes_is_no_library_but_a_deleted_library_is(beginning: bytes, counts: bool) -> None:
    """NVIDIA's driver maps ``/memfd:/.glXXXXXX (deleted)`` to execute what it has written there; a library that was
    replaced under a running process looks alike but for its contents."""
    before = mapped()
    with open(os.memfd_create(".glXXXXXX"), "r+b") as file:
        file.write(beginning.ljust(mmap.PAGESIZE, b"\0"))
        file.flush()
        with mmap.mmap(file.fileno(), mmap.PAGESIZE, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_EXEC):
            found = mapped()
    assert found == (() if counts else before)
    assert before
