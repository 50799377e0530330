"""What every test stands on: a clean environment, the command line as a process, and the driver or a reason without it.

Tests marked ``driver`` ask RADV's null device (``RADV_FORCE_FAMILY``): a real compiler that needs no GPU. Where it is
missing they are skipped with a reason; ``SHADERSTAT_REQUIRE_DRIVER=1`` makes them fail instead, wherever in them the
skip is said, so that an automatic run can't pass by not looking. ``layer`` wants gcc and the Vulkan headers as well,
``tree`` a driver tree.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn, Protocol

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
REQUIRE_DRIVER = os.environ.get("SHADERSTAT_REQUIRE_DRIVER") == "1"

# Variables that shaderstat, the loader or a driver reads: none may leak in from the developer's shell.
FOREIGN = (
    "SHADERSTAT_",
    "RADV_",
    "ACO_",
    "AMD_",
    "AMDGPU_",
    "MESA_",
    "NIR_",
    "VK_",
    "HOSTILE_",
    "INSTRUMENTATION_",
    "XDG_",
)

settings.register_profile("local", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", parent=settings.get_profile("local"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


class Run(Protocol):
    """Run ``python -m shaderstat ARGUMENTS``; text in, text out."""

    def __call__(
        self,
        *arguments: str | Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        input: bytes | None = None,
        timeout: float = 120,
    ) -> subprocess.CompletedProcess[str]: ...


def find_radv_manifest() -> Path | None:
    """RADV's manifest in the loader's folders: ``radeon_icd.x86_64.json``, or ``radeon_icd.json`` on newer systems."""
    for folder in ("/usr/local/share/vulkan/icd.d", "/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"):
        for manifest in sorted(Path(folder).glob("radeon_icd*.json")):
            return manifest
    return None


def _missing(item: pytest.Item) -> str | None:
    """What the machine lacks to run `item`, as a sentence, or None."""
    if item.get_closest_marker("driver") or item.get_closest_marker("layer"):
        if find_radv_manifest() is None:
            return "no RADV manifest (radeon_icd*.json): install mesa-vulkan-drivers"
    if item.get_closest_marker("layer"):
        if shutil.which("gcc") is None:
            return "no gcc to build the test layer: install gcc"
        if not Path("/usr/include/vulkan/vk_layer.h").exists():
            return "no Vulkan headers to build the test layer: install libvulkan-dev"
    return None


def lacking(reason: str) -> NoReturn:
    """Skip a test of this machine's tools for want of something; fail where all must be there."""
    if REQUIRE_DRIVER:
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def watch(folder: Path) -> Path:
    """Have the Khronos validation layer write to a file, whose path is returned, where VK_LAYER_SETTINGS_PATH names
    ``vk_layer_settings.txt`` in `folder`: children own their streams."""
    layers = ("/usr/share/vulkan/explicit_layer.d", "/etc/vulkan/explicit_layer.d")
    if not any(Path(one, "VkLayer_khronos_validation.json").exists() for one in layers):
        lacking("no validation layer: install vulkan-validationlayers")
    log = folder / "validation.log"
    (folder / "vk_layer_settings.txt").write_text(
        "khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG\n"
        "khronos_validation.report_flags = error,warn\n"
        f"khronos_validation.log_filename = {log}\n"
    )
    return log


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--driver-count", metavar="FILE", help="write how many tests of drivers and trees passed to FILE")


def pytest_runtest_setup(item: pytest.Item) -> None:
    reason = _missing(item)
    if reason is not None:
        lacking(reason)


def pytest_sessionstart(session: pytest.Session) -> None:
    # Begun behind a shell's "&", it ignores interruptions, and so would its children.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    none_yet: dict[str, set[str]] = {"driver": set(), "tree": set()}
    session.stash[_PASSED] = none_yet


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):  # type: ignore[no-untyped-def]
    report = (yield).get_result()
    kinds = [_COUNTED[one.name] for one in item.iter_markers() if one.name in _COUNTED]
    if not kinds:
        return
    if call.when == "call" and report.passed:
        for kind in kinds:
            item.session.stash[_PASSED][kind].add(item.nodeid)
    if REQUIRE_DRIVER and report.skipped and not hasattr(report, "wasxfail"):  # a fixture, or the test itself
        report.outcome = "failed"
        report.longrepr = f"skipped, and everything is required: {report.longrepr[2]}"


def pytest_sessionfinish(session: pytest.Session) -> None:
    path = session.config.getoption("--driver-count")
    if path:
        Path(path).write_text("".join(f"{kind} {len(ids)}\n" for kind, ids in session.stash[_PASSED].items()))


_PASSED: pytest.StashKey[dict[str, set[str]]] = pytest.StashKey()
# What a marker's tests are counted as.
_COUNTED = {"driver": "driver", "layer": "driver", "tree": "tree"}


@pytest.fixture(autouse=True)
def clean_environment(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing leaks in, and nothing is written to the user's own folders. Returns the private home."""
    for name in list(os.environ):
        if name.upper().startswith(FOREIGN):
            monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    for name in ("CACHE", "CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return home


@pytest.fixture
def shaderstat(tmp_path: Path) -> Run:
    """The command line in a process of its own, in an empty folder unless `cwd` says otherwise."""

    def run(
        *arguments: str | Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        input: bytes | None = None,
        timeout: float = 120,
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "shaderstat", *map(str, arguments)],
            cwd=cwd or tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
            input=b"" if input is None else input,
            capture_output=True,
            timeout=timeout,
        )
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode("utf-8", "strict"), done.stderr.decode("utf-8", "strict")
        )

    return run


@pytest.fixture(scope="session")
def radv_manifest() -> Path:
    """RADV's driver manifest; only for tests marked ``driver`` or ``layer``."""
    manifest = find_radv_manifest()
    assert manifest is not None, "mark the test with pytest.mark.driver"
    return manifest


@pytest.fixture(scope="session")
def samples() -> Path:
    """The folder of samples."""
    return ROOT / "sample_spirv"
