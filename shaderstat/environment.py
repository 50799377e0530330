"""What around a driver shapes its answers: variables, and configuration files; and which of it a report records.

Each child tells of its own: what a prefix (``env -i``, ssh, a wrapper) passes on or adds can't be seen from outside.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping

from shaderstat.model import Launch

# Set in every child unless the user has set them: caches hide compile times (RADV 22.3.6 answers a repeated compile in
# 37 µs with stage durations of 0), and implicit layers (overlays, captures) do not belong into a measurement.
DEFAULTS: Mapping[str, str] = {
    "MESA_SHADER_CACHE_DISABLE": "true",
    "MESA_GLSL_CACHE_DISABLE": "true",  # its name before Mesa 21
    "__GL_SHADER_DISK_CACHE": "0",
    "VK_LOADER_LAYERS_DISABLE": "~implicit~",
}

# Variables that shape a driver's answer, by prefix; drirc options can be set as variables too, lower-case.
RECORDED = (
    "RADV_",
    "radv_",
    "ACO_",
    "AMD",
    "MESA_",
    "mesa_",
    "NIR_",
    "IR3_",
    "TU_",
    "tu_",
    "FD_",
    "NVK_",
    "NAK_",
    "NOUVEAU_",
    "INTEL_",
    "ANV_",
    "anv_",
    "AGX_",
    "ASAHI_",
    "HK_",  # Honeykrisp
    "PAN_",
    "PANVK_",
    "BIFROST_",
    "MALI_",
    "PVR_",
    "VN_",
    "DRI_",
    "GALLIUM_",
    "NV_",
    "NV50_",
    "V3D_",
    "vk_",
    "VK_",
    "__GL_",
    "LVP_",
    "GALLIVM_",
)


# What says to the Vulkan loader that layers shall take part. A layer may look at any variable.
_LAYERS = ("VK_INSTANCE_LAYERS", "VK_LOADER_LAYERS_ENABLE", "ENABLE_VULKAN_LAYERS")

# Of what doesn't name its owner: which libraries and devices there are for a driver.
_SHAPING = frozenset(
    "LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT GLIBC_TUNABLES DRI_PRIME DRIRC_CONFIGDIR XDG_CONFIG_DIRS XDG_DATA_DIRS"
    " CUDA_VISIBLE_DEVICES NVIDIA_VISIBLE_DEVICES".split()
)


# Variables that name folders of shaders or of code which a driver takes in place of what it was given. What is in them
# now nobody tells.
_REPLACING = re.compile(r"_(READ|OVERRIDE)_PATH$")

# Where drivers read what a user or a distribution wants otherwise: Mesa's drirc (its options are ``radv_*`` and the
# like), NVIDIA's application profiles, AMDVLK's settings.
_SETTINGS = (
    "/etc/drirc",
    "~/.drirc",
    "/etc/nvidia/nvidia-application-profiles-rc",
    "/etc/nvidia/nvidia-application-profiles-rc.d",
    "~/.nv/nvidia-application-profiles-rc",
    "/etc/amd/amdVulkanSettings.cfg",
)
# What comes with the driver's package.
_DELIVERED = "/usr/share/drirc.d"


def child_environment(launch: Launch) -> dict[str, str]:
    """The whole environment of a child: the user's, our defaults where the user says nothing, the launch's own."""
    return {**DEFAULTS, **os.environ, **launch.environment}


def recorded(environment: Mapping[str, str]) -> dict[str, str]:
    """What of `environment` can shape an answer, sorted; of preloaded libraries the names alone. Our own defaults are
    left out where they are unchanged: they are the same everywhere."""
    kept = {
        name: value for name, value in environment.items() if name.startswith(RECORDED) and DEFAULTS.get(name) != value
    }
    if preload := environment.get("LD_PRELOAD"):
        kept["LD_PRELOAD"] = ":".join(os.path.basename(one) for one in preload.replace(" ", ":").split(":") if one)
    return dict(sorted(kept.items()))


def is_replaced(environment: Mapping[str, str]) -> bool:
    """Whether a driver may take other shaders than it is given, so that no answer is one to remember."""
    return any(value and _REPLACING.search(name) for name, value in environment.items())


def layered(environment: Mapping[str, str]) -> bool:
    """Whether it calls for layers."""
    return any(environment.get(name) for name in _LAYERS)


def shaping(environment: Mapping[str, str]) -> dict[str, str]:
    """What of `environment` two runs must share so that one's answers may stand for the other's: more than is recorded,
    and with full paths. Every lower-case variable counts, since drirc options have names of many kinds."""
    if layered(environment):
        return dict(sorted(environment.items()))
    return {
        name: value
        for name, value in sorted(environment.items())
        if name in _SHAPING or name.startswith(RECORDED) or (name.islower() and not name.endswith("_proxy"))
    }


def settings(environment: Mapping[str, str]) -> dict[str, str]:
    """The configuration files of drivers that are there, by path (``~`` for the home folder), with their SHA-256."""
    home = environment.get("HOME", "")
    delivered = environment.get("DRIRC_CONFIGDIR") or _DELIVERED
    found = {}
    for path in (*_SETTINGS, delivered):
        folder = path.replace("~", home, 1)
        for name in _files(folder):
            try:
                with open(os.path.join(folder, name) if name else folder, "rb") as file:
                    found[f"{path}/{name}" if name else path] = hashlib.sha256(file.read()).hexdigest()
            except OSError:
                continue
    return found


def _files(path: str) -> Iterable[str]:
    """Of a folder its files; of a file the empty name."""
    try:
        return sorted(os.listdir(path)) if os.path.isdir(path) else [""]
    except OSError:
        return ()


def recorded_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Of `settings` what does not come with the driver's package."""
    return {path: sha256 for path, sha256 in settings.items() if path.startswith(_SETTINGS)}
