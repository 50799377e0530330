"""What a child's environment holds, and which part of it a report records."""

from __future__ import annotations

import os
from collections.abc import Mapping

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
    "PAN_",
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
