"""The README's promises: every command in it runs, and prints what it shows.

``console`` blocks hold one command and its output as a terminal shows it; a line ``…`` stands for any lines. Output is
compared where the driver is the one that the README was written with.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT, Run

DRIVER = "RADV, Mesa 22.3.6, null device"


@dataclass(frozen=True)
class Block:
    """A fenced block of the README: its language, and the lines in it."""

    language: str
    text: str


def blocks(path: Path) -> list[Block]:
    return [Block(*found) for found in re.findall(r"^```(\w+)\n(.*?)^```$", path.read_text(), re.MULTILINE | re.DOTALL)]


BLOCKS = blocks(ROOT / "README.md")
CONSOLE = [block.text for block in BLOCKS if block.language == "console"]


@pytest.fixture
def checkout(tmp_path: Path, samples: Path) -> Path:
    """A folder that looks like the checkout to a reader of the README."""
    shutil.copytree(samples, tmp_path / "sample_spirv")
    return tmp_path


def timeless(text: str) -> str:
    return re.sub(r"\d+\.\d\d s\b", "N s", text)


@pytest.mark.driver
@pytest.mark.parametrize("text", CONSOLE, ids=[text.splitlines()[0] for text in CONSOLE])
def test_commands_print_what_is_shown(checkout: Path, text: str) -> None:
    command, _, shown = text.partition("\n")
    prompt, name, *arguments = shlex.split(command)
    assert (prompt, name) == ("$", "shaderstat")
    done = subprocess.run(
        [sys.executable, "-m", "shaderstat", *arguments],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    assert done.returncode == (2 if "error:" in shown else 1 if "FAIL" in shown else 0), done.stdout
    pieces = [re.escape(timeless(piece)) for piece in re.split(r"^…\n", shown, flags=re.MULTILINE)]
    if DRIVER in installed_driver(checkout):
        assert re.fullmatch("(?s:.*)".join(pieces), timeless(done.stdout)), (
            f"the README shows other than:\n{done.stdout}"
        )


def installed_driver(folder: Path) -> str:
    """The heading of a table on the default target."""
    done = subprocess.run(
        [sys.executable, "-m", "shaderstat", "list", "sample_spirv"],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    return done.stdout.partition("\n")[0]


@pytest.mark.driver
def test_the_python_example_prints_what_is_shown(checkout: Path) -> None:
    (index,) = (i for i, block in enumerate(BLOCKS) if block.language == "python")
    done = subprocess.run(
        [sys.executable, "-c", BLOCKS[index].text],
        cwd=checkout, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    if DRIVER in installed_driver(checkout):
        assert done.stdout == BLOCKS[index + 1].text
    else:  # another version's name of the executable
        assert re.fullmatch(r"sort [\w ]+ uses \d+ bytes of scratch memory\n", done.stdout)


def test_it_opens_with_the_two_commands_and_their_plain_lines() -> None:
    first, plain = (block.text.splitlines() for block in BLOCKS[:2])
    assert [line.split("#")[0].strip() for line in first] == ["make demo", "make test"]
    if shutil.which("make") is None:
        pytest.skip("no make here")
    command = ["make", "--no-print-directory", "--dry-run", "--always-make", "demo"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    dry = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    done = dry.stdout.replace(" --quiet --disable-pip-version-check", "")
    assert [line for line in done.splitlines() if not line.startswith(("touch", "@touch"))] == plain


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)]+)\)", (ROOT / "README.md").read_text()):
        assert target.startswith("https://") or (ROOT / target).exists(), target


def test_the_mock_says_that_it_is_one(shaderstat: Run, samples: Path) -> None:
    done = shaderstat("stats", samples, env={"VK_DRIVER_FILES": "/nowhere.json", "VK_ICD_FILENAMES": "/nowhere.json"})
    assert done.returncode == 0
    assert "scale" in done.stdout
