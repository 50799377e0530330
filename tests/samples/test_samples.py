"""Samples: source and SPIR-V side by side, told of in their README, and the same words when they are built again."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT, lacking

# The compiler that made the committed files: another one may write other words for the same shader.
GLSLANG = "11:12.0.0"


SUFFIXES = frozenset(".comp .vert .tesc .tese .geom .frag .task .mesh .rgen .rint .rahit .rchit .rmiss .rcall".split())

# Folder → SPIR-V version of what is in it. A driver may refuse the second one's.
FOLDERS = {"sample_spirv": 0x00010300, "sample_optional": 0x00010500}


@pytest.fixture(params=FOLDERS)
def samples(request: pytest.FixtureRequest) -> Path:
    return ROOT / str(request.param)


def sources(samples: Path) -> set[str]:
    return {path.name for path in samples.iterdir() if path.suffix in SUFFIXES}


def test_source_and_words_lie_side_by_side(samples: Path) -> None:
    assert {path.name.removesuffix(".spv") for path in samples.glob("*.spv")} == sources(samples)


def test_every_source_says_what_it_shows(samples: Path) -> None:
    for name in sources(samples):
        assert (samples / name).read_text().startswith("// "), name


def test_the_readme_tells_of_every_pipeline_and_of_no_other(samples: Path) -> None:
    rows = [line.split("|")[1] for line in (samples / "README.md").read_text().splitlines() if line.startswith("| `")]
    told = {
        stem + stage
        for row in rows
        for stem, rest in re.findall(r"`(\w+)(.*)", row)
        for stage in re.findall(r"\.\w+", rest)
    }
    assert told == sources(samples)


def test_all_are_of_one_version_and_of_glslang(samples: Path) -> None:
    for path in samples.glob("*.spv"):
        magic, version, generator, _, schema = struct.unpack_from("<5I", path.read_bytes())
        assert (magic, version, generator >> 16, schema) == (0x07230203, FOLDERS[samples.name], 8, 0), path.name


def test_building_them_again_gives_the_same_words(samples: Path, tmp_path: Path) -> None:
    for tool in ("glslangValidator", "spirv-val"):
        if shutil.which(tool) is None:
            lacking(f"no {tool}: install glslang-tools and spirv-tools")
    subprocess.run([samples / "build.sh", tmp_path], check=True, timeout=120)
    built = {path.name: path.read_bytes() for path in tmp_path.glob("*.spv")}
    assert {name.removesuffix(".spv") for name in built} == sources(samples)
    version = subprocess.run(["glslangValidator", "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    if GLSLANG in version:
        assert built == {path.name: path.read_bytes() for path in samples.glob("*.spv")}
