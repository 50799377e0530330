"""The built package, away from the checkout: what isn't in the wheel can't be seen from here."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built by the project's own back end; without isolation, since that would go to an index."""
    folder = tmp_path_factory.mktemp("wheel")
    code = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", code, folder], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    )
    return folder / done.stdout.split()[-1]


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package and nothing else of the checkout."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def run(installed: Path, cwd: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "shaderstat", *arguments],
        cwd=cwd, env={**os.environ, "PYTHONPATH": str(installed)}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"shaderstat"}
    ours = {str(path.relative_to(ROOT)) for path in (ROOT / "shaderstat").rglob("*") if path.is_file()}
    ours = {name for name in ours if "__pycache__" not in name}
    assert {name for name in names if ".dist-info/" not in name} == ours
    assert {"shaderstat/py.typed", "shaderstat/dictionary/radv.yaml"} <= set(names)


def test_it_runs_from_the_wheel(installed: Path, tmp_path: Path, samples: Path) -> None:
    from shaderstat._version import __version__

    assert __version__ in run(installed, tmp_path, "--version")
    assert "stats" in run(installed, tmp_path, "--help")
    table = run(installed, tmp_path, "stats", "-t", "mock", str(samples / "scale.comp.spv"))
    assert "scale" in table


def test_the_version_stands_in_one_place(wheel: Path) -> None:
    from shaderstat._version import __version__

    assert wheel.name.startswith(f"shaderstat-{__version__}-")
    assert __version__ not in (ROOT / "pyproject.toml").read_text()
