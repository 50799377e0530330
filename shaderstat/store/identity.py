"""What an answer depends on besides its question: the compiler behind a target, as far as it can be told apart.

No single field of a driver is enough (RADV over a shim reports one pipelineCacheUUID for three generations of GPUs,
NVK's ids are constant), so all of it counts: the launch, what the driver says of itself and of its device, its files by
build-id, the environment, drivers' configuration files, and this program's own compiling part.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from shaderstat.environment import child_environment, is_replaced, settings, shaping
from shaderstat.model import Launch
from shaderstat.pool.child import kit_path
from shaderstat.pool.kit import ROOMS
from shaderstat.wire import Hello, hello_to_plain

_LOADER = ("icd.d", "implicit_layer.d", "explicit_layer.d", "settings.d", "loader_settings.d")


def digest(value: Any) -> bytes:
    """SHA-256 of JSON-able data in one canonical form."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=dict)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def launch_to_plain(launch: Launch) -> dict[str, Any]:
    """All of a launch: what is new in it counts without a word here."""
    return dataclasses.asdict(launch)


# ── A target whose device is open ─────────────────────────────────────────────────────────────────────────────────


def target_key(launch: Launch, hello: Hello) -> bytes | None:
    """The identity of the compiler that said `hello`; None where it can't be told, so that nothing may be remembered.

    The same on every machine that has the same driver and the same settings.
    """
    if launch.scenario is not None:
        return None  # it says what to answer, by path even, and may say to wait or to die
    if launch.backend == "vulkan" and not hello.libraries:
        return None
    if is_replaced(hello.environment):
        return None
    files = sorted(
        [os.path.basename(one.path), one.build_id] if one.build_id else [one.path, one.size, one.mtime_ns]
        for one in hello.libraries
    )
    said = {**hello_to_plain(hello), "libraries": files}
    return digest(["target", kit(), launch_to_plain(launch), said])


# ── A target before its device is open ────────────────────────────────────────────────────────────────────────────


def place_key(launch: Launch) -> bytes | None:
    """What decides which driver and device a launch reaches here and now; None where that can't be seen from here.

    Together with `unchanged` it stands for opening the device.
    """
    if launch.scenario is not None or (launch.prefix and launch.source != "tree"):
        return None  # behind ssh or a container there are other files than ours
    environment = child_environment(launch)
    seen: list[Any] = [
        shaping(environment),
        settings(environment),
        [environment.get(name) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "PATH")],
        [*_states(_loader_folders(environment))],
        _state("/etc/ld.so.cache"),
        [sys.executable, *kit_path()],
        [*_states(_tools(environment))],
    ]
    if launch.source in ("host", "config"):
        seen += [_boot(), [*_devices()]]
    return digest(["place", kit(), launch_to_plain(launch), seen])


def refusal_key(launch: Launch) -> bytes | None:
    """What decides that no device answers, there where any would do: `place_key` and the drivers' own files, of which
    nobody tells once they have been let go. None as there, and where there is a GPU: it may have been unwell."""
    place = place_key(launch)
    if place is None or any(_devices()):
        return None
    return digest(["refusal", place.hex(), [*_states(dict.fromkeys(_drivers(child_environment(launch))))]])


def unchanged(hello: Hello) -> bool:
    """Whether the files of the driver are still those that said `hello`."""
    for one in hello.libraries:
        try:
            found = os.stat(one.path)
        except OSError:
            return False
        if (found.st_size, found.st_mtime_ns) != (one.size, one.mtime_ns):
            return False
    return True


def _loader_folders(environment: Mapping[str, str]) -> Iterator[str]:
    """Where the Vulkan loader looks for drivers, layers and settings (Vulkan-Loader, LoaderDriverInterface.md)."""
    home = environment.get("HOME", "")
    roots = [
        environment.get("XDG_CONFIG_HOME") or f"{home}/.config",
        *(environment.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":"),
        "/usr/local/etc",
        "/etc",
        environment.get("XDG_DATA_HOME") or f"{home}/.local/share",
        *(environment.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share").split(":"),
    ]
    for root in dict.fromkeys(roots):
        yield from (f"{root}/vulkan/{name}" for name in _LOADER)
    for name in ("VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES", "VK_LAYER_PATH", "VK_ADD_LAYER_PATH"):
        yield from filter(None, environment.get(name, "").split(":"))


def _drivers(environment: Mapping[str, str]) -> Iterator[str]:
    """The files of drivers that manifests name, wherever the dynamic loader may find those without a path."""
    folders = [*environment.get("LD_LIBRARY_PATH", "").split(":"), "/usr/local/lib", "/usr/lib", "/usr/lib64", "/lib64"]
    folders += [one for parent in ("/usr/local/lib", "/usr/lib") for one in _listed(parent) if "-linux-" in one]
    for manifest, _ in _states(_loader_folders(environment)):
        if not manifest.endswith(".json"):
            continue
        try:
            named = json.loads(Path(manifest).read_bytes())["ICD"]["library_path"]
            found = [os.path.dirname(manifest)] if "/" in named else folders
            yield from (os.path.join(folder, named) for folder in found if folder)
        except (OSError, ValueError, LookupError, TypeError):
            continue


def _tools(environment: Mapping[str, str]) -> Iterator[str]:
    """Where a child looks for SPIRV-Tools (`shaderstat.child.spirv_tools`)."""
    for folder in kit_path():
        yield from (os.path.join(folder, "cmeel.prefix", name) for name in ("lib", "lib64", "bin"))
    for folder in environment.get("PATH", "").split(os.pathsep):
        yield os.path.join(folder, "spirv-val")


def _states(paths: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """What is there of `paths`, and directly in those that are folders."""
    for path in paths:
        state = _state(path)
        if state is None:
            continue
        yield path, state
        if os.path.isdir(path):
            yield from ((one, _state(one)) for one in _listed(path))


def _state(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_size, found.st_mtime_ns


def _listed(folder: str) -> list[str]:
    try:
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    except OSError:
        return []


def _boot() -> str:
    """This start of this machine: a real GPU may be another one after the next."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text()
    except OSError:
        return ""


def _devices() -> Iterator[tuple[str, int, int, int]]:
    """The device nodes of GPUs, and who may open them: containers show some of them, and eGPUs come and go."""
    nodes = [
        *_listed("/dev/dri"),
        *(one for one in _listed("/dev") if one.startswith(("/dev/nvidia", "/dev/kfd", "/dev/dxg"))),
    ]
    for node in nodes:
        try:
            found = os.stat(node)
        except OSError:
            continue
        yield node, found.st_rdev, found.st_mode, os.access(node, os.R_OK | os.W_OK)


# ── Part of both ────────────────────────────────────────────────────────────────────────────────────────────────────


@cache
def kit() -> str:
    """The content of this program's own compiling part, hashed: whatever is changed in it, old answers don't outlive
    it, and nobody has to remember a version number."""
    package = Path(__file__).parent.parent
    hashed = hashlib.sha256()
    for room in ROOMS:
        path = package / room
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            data = file.read_bytes()
            hashed.update(f"{file.relative_to(package)}\0{len(data)}\0".encode() + data)
    return hashed.hexdigest()
