"""``-o``: files that are there whole or not at all."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest

from shaderstat.errors import NoTarget
from tests.cli.conftest import Call
from tests.cli.events import Engine, answered, run


@pytest.fixture(autouse=True)
def one_answer(engine: Engine) -> None:
    engine.answers(*run(answered("x")))


def test_several_files_in_several_formats(call: Call, tmp_path: Path) -> None:
    done = call("x.spv", "-o", "json:a", "-o", "csv-long:b.txt", "-o", "c.jsonl", "-o", "table:-")
    assert done.status == 0
    assert json.loads((tmp_path / "a").read_text())["schema"]["name"] == "shaderstat-report"
    with open(tmp_path / "b.txt", newline="") as stream:
        assert [row["value"] for row in csv.DictReader(stream)] == ["24", "616"]
    assert len((tmp_path / "c.jsonl").read_text().splitlines()) == 5
    assert "VGPRs" in done.out


def test_a_file_takes_the_place_of_standard_output(call: Call, tmp_path: Path) -> None:
    assert call("x.spv", "-o", "a.json").out == ""
    assert json.loads((tmp_path / "a.json").read_text())


@pytest.mark.parametrize(
    ("arguments", "path", "start"),
    [
        (["-o", "a.csv"], "a.csv", "pipeline,"),
        (["-f", "csv-long", "-o", "a.csv"], "a.csv", "pipeline,variant,target,executable_index,executable,stages,s"),
        (["-f", "json", "-o", "a"], "a", "{"),
        (["--json", "-o", "a.txt"], "a.txt", "{"),
        (["-o", "odd:a.json"], "odd:a.json", "{"),
        (["-o", "csv:json:a"], "json:a", "pipeline,"),
    ],
)
def test_the_format_is_the_prefix_or_that_of_f_or_the_ending(
    call: Call, tmp_path: Path, arguments: list[str], path: str, start: str
) -> None:
    assert call("x.spv", *arguments).status == 0
    assert (tmp_path / path).read_text().startswith(start)


@pytest.mark.parametrize(
    ("output", "says"),
    [
        ("nowhere/a.json", "nowhere/a.json: can't be written: No such file or directory"),
        (".", "can't be written: Is a directory"),
        ("json:", "no path after the format"),
        ("", "an empty path"),
    ],
)
def test_a_bad_path_stops_before_any_work(call: Call, engine: Engine, tmp_path: Path, output: str, says: str) -> None:
    done = call("x.spv", "-o", "json:good.json", "-o", output)
    assert done.status == 2
    assert says in done.err
    assert not hasattr(engine, "request")
    assert os.listdir(tmp_path) == []


def test_one_file_twice_is_refused(call: Call) -> None:
    assert "names a.json twice" in call("x.spv", "-o", "json:a.json", "-o", "csv:./a.json").err.replace("./", "")


def test_an_existing_file_stays_until_the_new_one_is_whole(call: Call, engine: Engine, tmp_path: Path) -> None:
    old = tmp_path / "a.json"
    old.write_text("old")
    old.chmod(0o640)
    engine.answers(*run(answered("x"))[:-1], NoTarget("the device is gone"))
    assert call("x.spv", "-o", "a.json").status == 2
    assert (os.listdir(tmp_path), old.read_text()) == (["a.json"], "old")
    engine.answers(*run(answered("x")))
    assert call("x.spv", "-o", "a.json").status == 0
    assert os.listdir(tmp_path) == ["a.json"]
    assert json.loads(old.read_text())
    assert old.stat().st_mode & 0o777 == 0o640


def test_a_link_is_followed_and_kept(call: Call, tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to("real.json")
    assert call("x.spv", "-o", "link.json").status == 0
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "real.json").read_text())


def test_a_device_is_written_as_it_is(call: Call) -> None:
    assert call("x.spv", "-o", "json:/dev/null").status == 0


def test_standard_output_by_its_other_name_is_no_file_to_replace(call: Call) -> None:
    assert json.loads(call("x.spv", "-o", "json:/dev/stdout").out)
