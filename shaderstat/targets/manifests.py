"""Driver manifests: where the Vulkan loader looks for them (Vulkan-Loader, ``LoaderDriverInterface.md``)."""

from __future__ import annotations

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

    Debian 12 calls it ``radeon_icd.x86_64.json``, newer Mesa ``radeon_icd.json``.
    """
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
