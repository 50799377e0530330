"""Driver manifests: where the Vulkan loader looks for them (Vulkan-Loader, ``LoaderDriverInterface.md``)."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from pathlib import Path


def folders(environment: Mapping[str, str]) -> list[Path]:
    """The loader's ``icd.d`` folders in its own order."""
    home = Path(environment.get("HOME") or "/nonexistent")
    configuration = environment.get("XDG_CONFIG_HOME") or str(home / ".config")
    configurations = environment.get("XDG_CONFIG_DIRS") or "/etc/xdg"
    data_home = environment.get("XDG_DATA_HOME") or str(home / ".local/share")
    data = environment.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share"
    roots = [configuration, *configurations.split(":"), "/usr/local/etc", "/etc", data_home, *data.split(":")]
    return [Path(root) / "vulkan/icd.d" for root in dict.fromkeys(roots) if root]


def find(stem: str, environment: Mapping[str, str]) -> str | None:
    """The manifest of a Mesa driver for this machine's architecture, such as ``radeon_icd``.

    Debian 12 calls it ``radeon_icd.x86_64.json``, newer Mesa ``radeon_icd.json``. Where the user has named
    manifests to the loader, it is one of those: ``meson devenv`` names ``radeon_devenv_icd.x86_64.json``.
    """
    if (named := chosen(environment)) is not None:
        return next((path for path in named if os.path.basename(path).startswith(stem.removesuffix("icd"))), None)
    machine = platform.machine()
    names = [f"{stem}.{machine}.json", f"{stem}.json"]
    if machine == "arm64":
        names.insert(0, f"{stem}.aarch64.json")
    for folder in folders(environment):
        for name in names:
            path = folder / name
            if os.access(path, os.R_OK):
                return str(path)
    return None


def visible(environment: Mapping[str, str]) -> list[str]:
    """Every manifest that the loader will read: those of ``VK_DRIVER_FILES`` (or its older name), or all there are."""
    if (named := chosen(environment)) is not None:
        return named
    found = [path for folder in folders(environment) for path in sorted(folder.glob("*.json"))]
    return [str(path) for path in found]


def chosen(environment: Mapping[str, str]) -> list[str] | None:
    """The manifests that the user has named to the loader; None where the loader looks for itself."""
    for name in ("VK_DRIVER_FILES", "VK_ICD_FILENAMES"):
        if given := environment.get(name):
            return [path for path in given.split(":") if path]
    return None


def library(manifest: str) -> str | None:
    """The file of the driver that a manifest names; None where it can't be told or isn't there.

    A name without a slash is the dynamic loader's to find: it is looked for where libraries of this machine's
    architecture are.
    """
    try:
        with open(manifest, "rb") as file:
            named = json.load(file)["ICD"]["library_path"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not isinstance(named, str) or "\0" in named:
        return None
    if "/" in named:
        path = os.path.join(os.path.dirname(manifest), named)
        return path if os.path.isfile(path) else None
    return shared_library(named)


def shared_library(name: str) -> str | None:
    """A shared library of this machine by its file name."""
    machine = platform.machine()
    triplet = {"arm64": "aarch64", "i686": "i386"}.get(machine, machine) + "-linux-gnu"
    for folder in ("/usr/local/lib", f"/usr/lib/{triplet}", f"/lib/{triplet}", "/usr/lib64", "/usr/lib", "/lib64"):
        path = f"{folder}/{name}"
        if os.path.isfile(path):
            return path
    return None
