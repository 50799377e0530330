"""An answer never takes the place of what was asked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from shaderstat.archive.containers import open_container
from shaderstat.archive.format import Tag
from shaderstat.archive.writer import Writer
from shaderstat.errors import InvalidSpirv, ShaderstatError
from shaderstat.inputs import find, refuse_to_overwrite
from tests.archive.corpus import compute
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


# ── Archives ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def record(folder: Path) -> str:
    """A record of an unpacked archive."""
    with open("an.foz", "wb") as stream:
        hash = Writer(stream).add(compute())
    archive = open_container("an.foz", "an.foz")
    os.mkdir("unpacked")
    for tag in Tag:
        for each in archive.hashes(tag):
            Path(f"unpacked/{tag:02x}.{each:016x}.json").write_bytes(archive.payload(tag, each))
    return f"unpacked/07.{hash:016x}.json"


def test_no_record_of_an_unpacked_archive_is_overwritten(record: str) -> None:
    with pytest.raises(ShaderstatError, match="is an input of this run"):
        refuse_to_overwrite((record,), find(["unpacked"]))
    refuse_to_overwrite(("unpacked/report.json", "report.json"), find(["unpacked"]))


def test_a_pipe_among_the_records_of_an_archive_is_not_waited_for(record: str) -> None:
    os.unlink(record)
    os.mkfifo(record)
    (candidate,) = find(["unpacked"])
    assert candidate.archived is not None
    with pytest.raises(InvalidSpirv) as caught:
        candidate.archived.state()
    assert (caught.value.code, caught.value.path) == ("input/not-a-file", record)
