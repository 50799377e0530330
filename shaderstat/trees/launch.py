"""How a compiler in a driver tree is started: by the tree's own dynamic loader, on the tree's own Python.

    ROOT/…/ld-linux-x86-64.so.2 --preload SHIM --library-path ROOT/… ROOT/usr/bin/python3 …

A shim answers in the GPU's place: a library of Mesa's that stands between the driver and the kernel's DRM devices.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from shaderstat.errors import NoTarget
from shaderstat.model import Launch
from shaderstat.plain import dataclass
from shaderstat.trees.folder import Tree


@dataclass(frozen=True, slots=True)
class Shim:
    """What stands in for the GPUs of one driver.

    Attributes:
        library: the shim's file name.
        manifest: the stem of the driver's manifest.
        variable: chooses the GPU; None where there is just one.
    """

    library: str
    manifest: str
    variable: str | None


# Mesa's drm-shims that have a Vulkan driver (src/*/drm-shim), by the driver's name in a target.
SHIMS: Mapping[str, Shim] = {
    "radv": Shim("libamdgpu_noop_drm_shim.so", "radeon_icd", "AMDGPU_GPU_ID"),
    "turnip": Shim("libfreedreno_noop_drm_shim.so", "freedreno_icd", "FD_GPU_ID"),
    "nvk": Shim("libnouveau_noop_drm_shim.so", "nouveau_icd", "NOUVEAU_CHIPSET"),
    "agx": Shim("libasahi_noop_drm_shim.so", "asahi_icd", None),
}


def drivers(tree: Tree) -> list[str]:
    """The drivers that this tree may have compilers of, without a GPU: those with a shim, and RADV's null device."""
    found = [
        name
        for name, shim in SHIMS.items()
        if tree.manifest(shim.manifest) is not None and tree.library(shim.library) is not None
    ]
    if "radv" not in found and tree.manifest(SHIMS["radv"].manifest) is not None:
        found.insert(0, "radv")
    return found


def first(tree: Tree, driver: str) -> Launch:
    """The launch of a driver on a GPU that all its versions know: for finding out whether it runs at all."""
    return launch(tree, driver, f"{driver}@{tree.name}", _KNOWN[driver])


_KNOWN: Mapping[str, str | None] = {"radv": "navi21", "turnip": "630", "nvk": "172", "agx": None}


def launch(tree: Tree, driver: str, target: str, selector: str | None, *, null_device: bool = False) -> Launch:
    """The launch of one compiler.

    Args:
        driver: of `SHIMS`.
        target: the target's name, `Launch.id`.
        selector: the GPU, in the words of this driver's shim or null device; None for its default.
        null_device: take RADV's null device although there is a shim: up to Mesa 25 it has more GPUs.

    Raises:
        NoTarget: the tree has no such driver, or it has lost its shim.
    """
    shim = SHIMS[driver]
    manifest = tree.manifest(shim.manifest)
    if manifest is None:
        raise NoTarget(
            f"{target}: the driver tree {tree.name} has no {shim.manifest} manifest",
            hint=f"shaderstat targets install {tree.name}",
        )
    library = None if null_device else tree.library(shim.library)
    if library is None and driver != "radv":
        raise NoTarget(
            f"{target}: the driver tree {tree.name} (Mesa {tree.mesa}) lacks {shim.library}, its stand-in for the GPU",
            hint=f"shaderstat targets install {tree.name}",
        )
    variable = shim.variable if library is not None else "RADV_FORCE_FAMILY"
    environment = {
        "VK_DRIVER_FILES": str(manifest),
        "VK_ICD_FILENAMES": str(manifest),  # its name before loader 1.3.207
        "DRIRC_CONFIGDIR": str(tree.root / "usr/share/drirc.d"),  # else Mesa reads this machine's
        "AMDGPU_ASIC_ID_TABLE_PATHS": str(tree.root / "usr/share/libdrm"),
        "XDG_RUNTIME_DIR": str(scratch()),
        "LD_PRELOAD": "",  # this machine's libraries are of another C library
    }
    if variable is not None and selector is not None:
        environment[variable] = selector
    return Launch(
        id=target,
        backend="vulkan",
        source="tree",
        prefix=tuple(interpreter(tree, library)[:-1]),
        environment=environment,
        driver_manifest=str(manifest),
        python=str(tree.root / tree.python),
        spirv_tools=spirv_tools(),
        packages=relevant(tree.packages),
    )


def interpreter(tree: Tree, preload: Path | None = None) -> list[str]:
    """The argument vector that starts the tree's Python."""
    loader = [str(tree.root / tree.loader)]
    if preload is not None:
        loader += ["--preload", str(preload)]
    path = ":".join(str(tree.root / one) for one in tree.libraries)
    return [*loader, "--library-path", path, str(tree.root / tree.python)]


def apart(launch: Launch) -> tuple[Launch, str]:
    """A launch that preloads a shim as one that doesn't, and the shim's path, for a process that loads it itself; the
    launch as it is, and "", where it preloads none, or something else as well."""
    prefix, environment = launch.prefix, launch.environment
    at = prefix.index("--preload") if "--preload" in prefix[:-1] else -1
    if at >= 0 and _is_shim(prefix[at + 1]) and not environment.get("LD_PRELOAD"):
        return replace(launch, prefix=(*prefix[:at], *prefix[at + 2 :])), prefix[at + 1]
    if at < 0 and _is_shim(shim := environment.get("LD_PRELOAD", "")):
        return replace(launch, environment={**environment, "LD_PRELOAD": ""}), shim
    return launch, ""


def _is_shim(path: str) -> bool:
    several = ":" in path or " " in path
    return os.path.isabs(path) and not several and os.path.basename(path) in {shim.library for shim in SHIMS.values()}


def relevant(packages: Mapping[str, str]) -> dict[str, str]:
    """Of a tree's packages those that shape an answer: the drivers, the shims, LLVM, the loader and libdrm."""
    wanted: Iterable[str] = ("mesa-", "libllvm", "libvulkan1", "libdrm", "spirv", "libclc", "libc6")
    return {name: version for name, version in sorted(packages.items()) if name.startswith(tuple(wanted))}


@cache
def scratch() -> Path:
    """A folder of this user's for what shims write: they want XDG_RUNTIME_DIR, which cron, ssh and containers lack."""
    return _own_folder("scratch")


@cache
def kit_home() -> Path:
    """Where a child on this machine keeps the kit (`shaderstat.pool.far_side`), so that a sandbox can let it."""
    return _own_folder("kit")


def cache_home() -> Path:
    """Where shaderstat keeps what it can find out again; the same rule as `shaderstat.pool.far_side` has."""
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "shaderstat"


def _own_folder(name: str) -> Path:
    """A folder in this user's cache; below the system's temporary folder where there is no home to write to."""
    for folder in (
        cache_home() / name,
        Path(tempfile.gettempdir()) / f"shaderstat-{name}-{os.getuid()}",
    ):
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return Path(tempfile.gettempdir())


@cache
def spirv_tools() -> str | None:
    """SPIRV-Tools' library of this machine's Python, if it has one: an older C library's code runs on a newer one."""
    spec = importlib.util.find_spec("cmeel")
    if spec is None or spec.origin is None:
        return None
    for library in sorted(Path(spec.origin).parent.parent.glob("cmeel.prefix/lib*/libSPIRV-Tools-shared*")):
        return str(library)
    return None
