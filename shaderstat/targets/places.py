"""Where compilers without a GPU are: this machine's null device, its shims, and the driver trees.

A place is files: a driver, and what stands in for its GPUs. Which GPUs those are is written in them, as text: a name
that is not there is refused by aborting, so that it pays to look first. Whether a compiler really answers is found out
by asking it (`shaderstat.targets.probe`).
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Mapping
from functools import cache

from shaderstat.model import Launch
from shaderstat.plain import dataclass
from shaderstat.targets import manifests
from shaderstat.targets.chips import CHIPS, Chip
from shaderstat.trees import Tree, installed
from shaderstat.trees.launch import SHIMS, drivers, launch, scratch

# RADV's null device is chosen by this variable; Mesa 26 doesn't know it any more.
NULL_DEVICE = "RADV_FORCE_FAMILY"

INSTALL = "shaderstat targets install"

_WORD = re.compile(rb"\0([a-z0-9_]{2,32})(?=\0)")


@dataclass(frozen=True, slots=True)
class Place:
    """One driver, somewhere, without GPUs.

    Attributes:
        driver: ``radv``, ``turnip``, ``nvk`` or ``agx``.
        source: ``null-device``, ``shim`` or ``tree``.
        manifest: the driver's.
        files: what an answer depends on: manifest, driver, shim.
        names: the file that has the GPUs' names in it; None where they aren't text.
        shim: the shim's library, None for the null device.
        tree: the driver tree that all of it is in.
    """

    driver: str
    source: str
    manifest: str
    files: tuple[str, ...]
    names: str | None
    shim: str | None = None
    tree: Tree | None = None

    @property
    def words(self) -> str:
        """For people: ``null device``, ``shim``, ``tree sid``."""
        return f"tree {self.tree.name}" if self.tree else {"null-device": "null device"}.get(self.source, self.source)

    def target(self, chip: Chip) -> str:
        """The target's name that means this place and no other."""
        return f"{self.driver}@{self.tree.name if self.tree else 'host'}:{chip.name}"

    def selector(self, chip: Chip, *, search: bool = True) -> str | None:
        """What this place calls a chip; "" where it has one GPU alone; None where it doesn't know the chip.

        Args:
            search: look into the files even where there is just one thing to call it.
        """
        if not chip.spellings:
            return ""
        if self.names is None or (len(chip.spellings) == 1 and not search):
            return chip.spellings[0]
        return next((one for one in chip.spellings if _holds(self.names, one)), None)

    def chips(self) -> list[Chip]:
        """The GPUs that it may know, in the table's order."""
        return [chip for chip in CHIPS[self.driver].values() if self.selector(chip) is not None]

    def launch(self, chip: Chip, target: str) -> Launch | None:
        """The launch of one compiler under a target's name; None where this place doesn't know the chip."""
        # A shim is small; looking through a driver takes as long as letting it say no.
        selector = self.selector(chip, search=self.source != "null-device")
        if selector is None:
            return None
        if self.tree is not None:
            return launch(self.tree, self.driver, target, selector or None, null_device=self.shim is None)
        environment = {"VK_DRIVER_FILES": self.manifest, "VK_ICD_FILENAMES": self.manifest}
        variable: str | None = NULL_DEVICE
        if self.shim is not None:
            variable = SHIMS[self.driver].variable
            environment |= {"LD_PRELOAD": self.shim, "XDG_RUNTIME_DIR": str(scratch())}
        if variable is not None and selector:
            environment[variable] = selector
        return Launch(target, "vulkan", self.source, environment=environment, driver_manifest=self.manifest)


@dataclass(frozen=True, slots=True)
class Absent:
    """A driver that has no place here, or (``nvk@sid``) in a tree: what is missing, and the one command that would
    change that."""

    driver: str
    reason: str
    command: str


def host_places(
    environment: Mapping[str, str], driver: str, manifest: str | None = None
) -> tuple[list[Place], Absent | None]:
    """This machine's own places of a driver, the null device first; where there is none, why.

    Args:
        manifest: of ``--driver``; the loader's folders are searched unless given.
    """
    shim = SHIMS[driver]
    manifest = manifest or manifests.find(shim.manifest, environment)
    if manifest is None:
        return [], Absent(driver, "no Mesa driver of that kind here", INSTALL)
    library = manifests.library(manifest)
    files = tuple(one for one in (manifest, library) if one)
    found = []
    if driver == "radv" and (library is None or _mentions(library, NULL_DEVICE)):
        found.append(Place(driver, "null-device", manifest, files, library))
    path = manifests.shared_library(shim.library)
    if path is not None:
        names = path if driver == "radv" else None
        found.append(Place(driver, "shim", manifest, (*files, path), names, path))
    if found:
        return found, None
    without = "a null device and no drm-shim" if driver == "radv" else "a drm-shim"
    return [], Absent(driver, f"Mesa here is without {without}", INSTALL)


def tree_places(driver: str, tree: Tree | None = None) -> list[Place]:
    """The places of a driver in driver trees: in that one, or in all, the newest Mesa first."""
    trees = [tree] if tree is not None else [one for one in installed() if isinstance(one, Tree)]
    return [place for one in trees if driver in drivers(one) for place in _in_tree(driver, one)]


def _in_tree(driver: str, tree: Tree) -> list[Place]:
    """The shim's place, and the null device's where this Mesa still has one."""
    manifest = str(tree.manifest(SHIMS[driver].manifest))
    shim = tree.library(SHIMS[driver].library)
    # The driver's own file would say it as well, but a tree is built and replaced as a whole: its record tells when.
    files = (str(tree.folder / "tree.json"), manifest)
    found = []
    if shim is not None:
        names = str(shim) if driver == "radv" else None
        found.append(Place(driver, "tree", manifest, (*files, str(shim)), names, str(shim), tree))
    library = tree.library("libvulkan_radeon.so") if driver == "radv" else None
    if library is not None and _mentions(str(library), NULL_DEVICE):
        found.append(Place(driver, "tree", manifest, files, str(library), None, tree))
    return found


def lacking(driver: str, tree: Tree | None = None) -> Absent | None:
    """The tree, that one or the newest of all, that has a driver and has lost what its places are made of."""
    for one in [tree] if tree is not None else installed():
        if isinstance(one, Tree) and one.manifest(SHIMS[driver].manifest) is not None and not tree_places(driver, one):
            reason = f"the driver tree {one.name} (Mesa {one.mesa}) has lost what stands in for the GPU"
            return Absent(f"{driver}@{one.name}", f"{reason}, {SHIMS[driver].library}", f"{INSTALL} {one.name}")
    return None


def all_places(environment: Mapping[str, str]) -> tuple[list[Place], list[Absent]]:
    """Every place there is: this machine's first, then the trees'; and the drivers that have none."""
    found: list[Place] = []
    absent: list[Absent] = []
    trees = [one for one in installed() if isinstance(one, Tree)]
    lost = [one for driver in CHIPS for tree in trees if (one := lacking(driver, tree)) is not None]
    for driver in CHIPS:
        here, missing = host_places(environment, driver)
        found += here
        if missing is not None and not tree_places(driver) and lacking(driver) is None:
            absent.append(missing)
    for tree in trees:
        found += [place for driver in drivers(tree) for place in _in_tree(driver, tree)]
    return found, absent + lost


def _mentions(path: str, word: str) -> bool:
    """Whether a file has `word` as a C string; True where the file can't be read. For a single one that is long."""
    try:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.find(b"\0" + word.encode() + b"\0") >= 0
    except (OSError, ValueError):  # an empty file can't be mapped
        return True


def _holds(path: str, word: str) -> bool:
    """Whether a file has `word` as a C string, in whatever case; True where the file can't be read."""
    words = _words(path)
    return words is None or word.lower().encode() in words


@cache
def _words(path: str) -> frozenset[bytes] | None:
    """A file's C strings that may be names, in lower case: drivers of nine megabytes are looked through for sixty."""
    try:
        with open(path, "rb") as file:
            return frozenset(_WORD.findall(file.read().lower()))
    except OSError:
        return None
