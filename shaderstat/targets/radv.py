"""RADV's null device: a real ACO compiler with no GPU (``RADV_FORCE_FAMILY``, Mesa up to 25).

The names that a driver accepts differ by Mesa version and an unknown one aborts the process, so a name is tried in a
child and never looked up in a table of versions. One chip's names across versions are aliases of each other.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from shaderstat.errors import NoTarget
from shaderstat.model import Launch
from shaderstat.targets import manifests

# The field's name of a chip, then every other spelling that some version of Mesa wants (drivers.md, 10.1 and 10.2).
FAMILIES: Mapping[str, tuple[str, ...]] = {
    **{
        name: ()
        for name in (
            "tahiti pitcairn verde oland hainan bonaire kaveri kabini hawaii tonga iceland carrizo fiji stoney "
            "polaris10 polaris11 polaris12 vegam vega10 vega12 vega20 raven raven2 renoir gfx940 navi10 navi12 navi14 "
            "navi21 navi22 navi23 navi24 vangogh rembrandt phoenix2 gfx1150 gfx1151 gfx1152 gfx1153 gfx1200 gfx1201"
        ).split()
    },
    "mi100": ("arcturus",),
    "mi200": ("aldebaran",),
    "raphael_mendocino": ("gfx1036",),
    "navi31": ("gfx1100",),
    "navi32": ("gfx1101",),
    "navi33": ("gfx1102",),
    "phoenix": ("gfx1103",),
}

# The one that `auto` takes: known to every Mesa that has a null device.
DEFAULT = "navi21"


def spellings(family: str) -> tuple[str, ...]:
    """`family` and its aliases, the given spelling first.

    Raises:
        NoTarget: no Mesa knows it; the nearest names are the hint.
    """
    family = family.lower()
    for name, others in FAMILIES.items():
        if family == name or family in others:
            return tuple(dict.fromkeys((family, name, *others)))
    near = difflib.get_close_matches(family, [*FAMILIES, *(o for others in FAMILIES.values() for o in others)], n=3)
    known = ", ".join(near) if near else f"{', '.join(list(FAMILIES)[:4])} … {DEFAULT} …"
    raise NoTarget(f"radv knows no GPU called {family!r}", hint=f"nearest: {known}")


def launches(family: str, environment: Mapping[str, str], manifest: str | None) -> list[Launch]:
    """The launches of ``radv:FAMILY`` to be tried one after the other: one for each spelling.

    Raises:
        NoTarget: an unknown family, or no RADV on this machine.
    """
    names = spellings(family)
    manifest = manifest or manifests.find("radeon_icd", environment)
    if manifest is None:
        raise NoTarget(
            f"radv:{family}: there is no RADV driver here (no radeon_icd manifest in the loader's folders)",
            hint="apt install mesa-vulkan-drivers",
        )
    return [
        Launch(
            id=f"radv:{family.lower()}",
            backend="vulkan",
            source="null-device",
            environment={
                "VK_DRIVER_FILES": manifest,
                "VK_ICD_FILENAMES": manifest,  # its name before loader 1.3.207
                "RADV_FORCE_FAMILY": name,
            },
            driver_manifest=manifest,
        )
        for name in names
    ]
