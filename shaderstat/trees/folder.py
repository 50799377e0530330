"""Where driver trees lie, and what each of them says of itself.

A tree is ``HOME/NAME/`` with ``root/``, the unpacked packages, and ``tree.json``, which is written last: a folder
without it was never finished. All paths in it are relative, so that a tree may be moved or copied to another machine.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, field
from pathlib import Path

from shaderstat.errors import NoTarget, ShaderstatError
from shaderstat.plain import dataclass

RECORD = "tree.json"
# Version 1 of `RECORD`: the members of `Tree` but its folder.
FORMAT = 1

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")


@dataclass(frozen=True, slots=True)
class Tree:
    """A driver tree.

    Attributes:
        folder: where it lies.
        name: its folder's name.
        suite, snapshot: what it was made of: ``sid``, and ``20260901T000000Z`` or "".
        built: when, ISO 8601 in UTC.
        architecture: Debian's word, ``amd64``.
        packages: name and version of each package in it.
        loader, python: the dynamic loader and the interpreter, relative to `root`.
        libraries: folders of shared libraries, relative to `root`.
    """

    folder: Path
    name: str
    suite: str
    snapshot: str
    built: str
    architecture: str
    packages: Mapping[str, str] = field(default_factory=dict)
    loader: str = ""
    python: str = ""
    libraries: tuple[str, ...] = ()

    @property
    def root(self) -> Path:
        """The folder that stands for ``/``."""
        return self.folder / "root"

    @property
    def mesa(self) -> str:
        """The version of its Vulkan drivers, as the package has it: ``26.2.6-1``."""
        return self.packages.get("mesa-vulkan-drivers", "?")

    def manifest(self, stem: str) -> Path | None:
        """The manifest of a Vulkan driver: of ``radeon_icd``; None where the tree has no such driver."""
        for name in (f"{stem}.json", f"{stem}.{_MACHINES.get(self.architecture, self.architecture)}.json"):
            path = self.root / "usr/share/vulkan/icd.d" / name
            if path.is_file():
                return path
        return None

    def library(self, name: str) -> Path | None:
        """A shared library of the tree; None where it has none of that name."""
        for folder in self.libraries:
            path = self.root / folder / name
            if path.is_file():
                return path
        return None


@dataclass(frozen=True, slots=True)
class HalfBuilt:
    """A folder that is no whole tree: `reason` says what it lacks."""

    folder: Path
    name: str
    reason: str


# Debian's architectures in the words of driver manifests, where they differ.
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64", "i386": "i686"}


def home() -> Path:
    """The folder that holds all trees: of SHADERSTAT_TREES, or in the user's data folder."""
    if given := os.environ.get("SHADERSTAT_TREES"):
        return Path(given).absolute()
    import platformdirs

    return Path(platformdirs.user_data_dir("shaderstat")) / "trees"


def check_name(name: str) -> str:
    """A name that is one folder, and no target's other half.

    Raises:
        ShaderstatError: it is none.
    """
    if not _NAME.match(name) or name == "host":
        raise ShaderstatError(f"{name!r} can't be a tree's name", hint="letters, digits, '.', '_' and '-': sid-2026")
    return name


def installed(where: Path | None = None) -> list[Tree | HalfBuilt]:
    """Everything in the trees' folder: the newest Mesa first, of one Mesa the newest build; half-built ones last."""
    return sorted(_folders(where or home()), key=_newness, reverse=True)


def _newness(one: Tree | HalfBuilt) -> tuple[list[int], str]:
    if isinstance(one, HalfBuilt):
        return [], ""
    return [int(number) for number in re.findall(r"\d+", one.mesa.partition("-")[0])] or [0], one.built


def _folders(where: Path) -> Iterator[Tree | HalfBuilt]:
    try:
        names = sorted(os.listdir(where))
    except OSError:
        return
    for name in names:
        folder = where / name
        if name.startswith(".") or not folder.is_dir():
            continue
        try:
            yield read(folder)
        except ShaderstatError as error:
            yield HalfBuilt(folder, name, error.message)


def find(name: str) -> Tree:
    """The tree of that name.

    Raises:
        NoTarget: there is none, or it is not whole.
    """
    folder = home() / check_name(name)
    if not folder.is_dir():
        there = ", ".join(one.name for one in installed()) or "none"
        raise NoTarget(
            f"no driver tree is called {name!r}; installed: {there}",
            hint=f"shaderstat targets install {name} --suite SUITE"
            if there != "none"
            else "shaderstat targets install",
        )
    try:
        return read(folder)
    except ShaderstatError as error:
        raise NoTarget(error.message, hint=error.hint) from None


def read(folder: Path) -> Tree:
    """The tree in `folder`.

    Raises:
        ShaderstatError: it is not whole, or of a later version.
    """
    again = f"shaderstat targets install {folder.name}"
    try:
        plain = json.loads((folder / RECORD).read_bytes())
    except FileNotFoundError:
        raise ShaderstatError(f"driver tree {folder}: half-built, it has no {RECORD}", hint=again) from None
    except (OSError, ValueError) as error:
        raise ShaderstatError(f"driver tree {folder}: {RECORD} can't be read: {error}", hint=again) from None
    try:
        if plain.pop("format") != FORMAT:
            raise ShaderstatError(f"driver tree {folder}: made by another version of shaderstat", hint=again)
        tree = Tree(folder=folder, **{**plain, "name": folder.name, "libraries": tuple(plain["libraries"])})
    except (AttributeError, KeyError, TypeError) as error:
        raise ShaderstatError(f"driver tree {folder}: {RECORD} is no record of a tree ({error})", hint=again) from None
    for part in (tree.loader, tree.python):
        if not part or not (tree.root / part).is_file():
            raise ShaderstatError(f"driver tree {folder}: half-built, {part or 'its loader'} is missing", hint=again)
    return tree


def write(tree: Tree) -> None:
    """Write a tree's record, the last step of its building."""
    plain = {"format": FORMAT, **asdict(tree)}
    del plain["folder"]
    (tree.folder / RECORD).write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")


def remove(name: str) -> Path:
    """Delete a tree, whole or half-built. Returns where it was.

    Raises:
        NoTarget: there is none.
        ShaderstatError: it can't be deleted.
    """
    folder = home() / check_name(name)
    if not folder.is_dir():
        there = ", ".join(one.name for one in installed()) or "none"
        raise NoTarget(f"no driver tree is called {name!r}; installed: {there}")
    if folder.is_symlink():
        raise ShaderstatError(f"{folder} is a link, not a tree that was installed: delete it by hand")
    try:
        # First out of sight: an interrupted removal must not leave something that looks like a tree.
        doomed = folder.with_name(f".{name}.removed")
        shutil.rmtree(doomed, ignore_errors=True)
        folder.rename(doomed)
        shutil.rmtree(doomed)
    except OSError as error:
        raise ShaderstatError(f"{folder} can't be removed: {error.strerror or error}") from None
    return folder
