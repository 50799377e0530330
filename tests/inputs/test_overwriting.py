"""An answer never takes the place of what was asked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from shaderstat.errors import ShaderstatError
from shaderstat.inputs import find, refuse_to_overwrite
from tests.inputs.modules import COMPUTE_MODULE, write


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "shaders", blur_comp=COMPUTE_MODULE, other=COMPUTE_MODULE)
    (tmp_path / "shaders/broken.spv").write_bytes(b"")
    os.link("shaders/blur.comp.spv", "hard.json")
    os.symlink("shaders/blur.comp.spv", "soft.json")
    os.symlink("shaders", "linked")
    (tmp_path / "report.json").write_text("{}")
    return tmp_path


@pytest.mark.parametrize(
    "output",
    [
        "shaders/blur.comp.spv",
        "./shaders/../shaders/blur.comp.spv",
        "linked/blur.comp.spv",
        "hard.json",
        "soft.json",
        "shaders/broken.spv",
    ],
)
@pytest.mark.parametrize("path", ["shaders", "shaders/*.spv", "linked"])
def test_a_member_of_a_folder_is_known_by_any_name(folder: Path, path: str, output: str) -> None:
    with pytest.raises(ShaderstatError) as caught:
        refuse_to_overwrite(("report.json", output), find([path]))
    assert caught.value.message.startswith(f"{output}: is an input of this run (")


def test_other_files_and_what_is_not_there_yet_may_be_written(folder: Path) -> None:
    refuse_to_overwrite(("report.json", "new.json", "shaders/new.spv", "nowhere/x", "/dev/null"), find(["shaders"]))


def test_a_module_of_standard_input_is_no_file(folder: Path) -> None:
    refuse_to_overwrite(("report.json",), find(["-"], stdin=COMPUTE_MODULE))
