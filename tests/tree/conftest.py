"""A real driver tree, built once and kept between runs: ``SHADERSTAT_TEST_TREES``, or a folder in the user's cache.

It is of the newest suite, so no test may know its numbers: what is asserted holds for every version.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from shaderstat import trees
from shaderstat.errors import ShaderstatError
from shaderstat.trees import Plan, Tree
from tests.conftest import Run, lacking
from tests.layer.conftest import instrumentation_folder as instrumentation_folder  # a fixture

# Read before any test cleans the environment.
KEPT = os.environ.get("SHADERSTAT_TEST_TREES") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "shaderstat-tests", "trees"
)
NAME = "newest"


@pytest.fixture(scope="session")
def kept_tree() -> Tree:
    """The tree; built where it is missing or half-built. Without a network or apt: a failure, or a skip."""
    before = os.environ.get("SHADERSTAT_TREES")
    os.environ["SHADERSTAT_TREES"] = KEPT
    try:
        try:
            return trees.find(NAME)
        except ShaderstatError:
            return trees.install(Plan(name=NAME), print)
    except ShaderstatError as error:
        lacking(f"no driver tree: {error.message}")
    finally:
        if before is None:
            del os.environ["SHADERSTAT_TREES"]
        else:
            os.environ["SHADERSTAT_TREES"] = before


@pytest.fixture
def tree(kept_tree: Tree, clean_environment: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    """The tree, where the command line and the library find it."""
    monkeypatch.setenv("SHADERSTAT_TREES", KEPT)
    return kept_tree


def linked(tree: Tree, folder: Path, *left_out: str) -> Path:
    """A copy of the tree in `folder`, of hard links where it lies on the same disk. Returns the trees' folder."""

    def copy(source: str, target: str) -> str:
        try:
            os.link(source, target)
        except OSError:
            shutil.copy2(source, target)
        return target

    ignored = shutil.ignore_patterns(*left_out)
    shutil.copytree(tree.folder, folder / "trees" / NAME, symlinks=True, copy_function=copy, ignore=ignored)
    return folder / "trees"


@pytest.fixture
def open_place() -> Iterator[Path]:
    """A folder that every user can write to."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o777)
        yield Path(name)


Report = dict[str, Any]


@pytest.fixture
def report(shaderstat: Run, tree: Tree) -> Callable[..., Report]:
    """Run ``shaderstat COMMAND ARGUMENTS --json`` and read what comes out, whatever the exit status."""

    def run(*arguments: str | Path, env: dict[str, str] | None = None, command: str = "stats") -> Report:
        done = shaderstat(command, *arguments, "-f", "json", env=env, timeout=600)
        assert done.stdout, done.stderr
        parsed: Report = json.loads(done.stdout)
        return parsed

    return run
