"""``-o``: files that are there whole or not at all."""

from __future__ import annotations

import csv
import errno
import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from shaderstat.errors import NoTarget
from tests.cli.conftest import Call
from tests.cli.events import Engine, answered, run
from tests.conftest import ROOT


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
        (["-o", "./odd:a.json"], "odd:a.json", "{"),
        (["-o", "./json:a.json"], "json:a.json", "{"),
        (["-o", "C:a.json"], "C:a.json", "{"),
        (["-o", "run:1/a.json"], "run:1/a.json", "{"),
        (["-o", "csv:json:a"], "json:a", "pipeline,"),
    ],
)
def test_the_format_is_the_prefix_or_that_of_f_or_the_ending(
    call: Call, tmp_path: Path, arguments: list[str], path: str, start: str
) -> None:
    (tmp_path / "run:1").mkdir()
    assert call("x.spv", *arguments).status == 0
    assert (tmp_path / path).read_text().startswith(start)


@pytest.mark.parametrize(
    ("output", "says"),
    [
        ("nowhere/a.json", "nowhere/a.json: can't be written: No such file or directory"),
        (".", "can't be written: Is a directory"),
        ("json:", "no path after the format"),
        ("jsn:a", "there is no format 'jsn'\nhint: did you mean json:a? ./jsn:a is a file of that name"),
        ("JSON:a", "there is no format 'JSON'\nhint: did you mean json:a?"),
        ("yaml:a", "there is no format 'yaml'\nhint: there are table, json, jsonl, csv, csv-long"),
        (":a", "there is no format ''"),
        ("x" * 300, "can't be written: File name too long"),
        ("circle.json", "circle.json: can't be written: Too many levels of symbolic links"),
        ("pipe", "pipe: can't be written: a named pipe that nobody reads"),
    ],
)
def test_a_bad_path_stops_before_any_work(call: Call, engine: Engine, tmp_path: Path, output: str, says: str) -> None:
    (tmp_path / "circle.json").symlink_to("circle.json")
    os.mkfifo(tmp_path / "pipe")
    done = call("x.spv", "-o", "json:good.json", "-o", output)
    assert done.status == 2
    assert says in done.err
    assert not hasattr(engine, "request")
    assert sorted(os.listdir(tmp_path)) == ["circle.json", "pipe"]


@pytest.mark.parametrize("output", ["x.spv", "json:x.spv", "csv:hard", "soft", "json:scenario.yaml"])
def test_what_is_read_is_not_written_over(call: Call, engine: Engine, tmp_path: Path, output: str) -> None:
    (tmp_path / "x.spv").write_bytes(b"precious")
    (tmp_path / "scenario.yaml").write_text("rules: []\n")
    os.link(tmp_path / "x.spv", tmp_path / "hard")
    os.symlink("x.spv", tmp_path / "soft")
    done = call("x.spv", "--scenario", "scenario.yaml", "-o", "report.json", "-o", output)
    assert done.status == 2
    assert "is an input of this run, and would be overwritten" in done.err
    assert not hasattr(engine, "request")
    assert sorted(os.listdir(tmp_path)) == ["hard", "scenario.yaml", "soft", "x.spv"]
    assert (tmp_path / "x.spv").read_bytes() == b"precious"


def test_the_engine_knows_what_will_be_written(call: Call, engine: Engine) -> None:
    call("shaders", "-o", "json:a", "-o", "b.csv", "-o", "./odd:c")
    assert engine.request.outputs == ("a", "b.csv", "./odd:c")


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


def test_a_pipe_with_a_reader_is_written_to(call: Call, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert call("x.spv", "-o", "json:pipe").status == 0
        assert json.loads(os.read(reader, 1 << 16))
    finally:
        os.close(reader)


def test_a_name_of_the_greatest_length_is_fine(call: Call, tmp_path: Path) -> None:
    name = "é" * 125 + ".json"
    assert len(name.encode()) == 255
    assert call("x.spv", "-o", name).status == 0
    assert os.listdir(tmp_path) == [name]


def test_a_file_that_can_not_be_replaced_is_written_over(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is a mount of its own, as in containers, or one in somebody else's folder."""

    def refuse(*_: object) -> None:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    (tmp_path / "a.json").write_text("old")
    monkeypatch.setattr(os, "replace", refuse)
    assert call("x.spv", "-o", "a.json").status == 0
    assert json.loads((tmp_path / "a.json").read_text())
    assert os.listdir(tmp_path) == ["a.json"]


FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")


@FULL
@pytest.mark.parametrize("format", ["json", "jsonl", "csv", "csv-long", "table"])
def test_a_full_disk_is_told_with_the_files_name(call: Call, format: str) -> None:
    done = call("x.spv", "-o", f"{format}:/dev/full")
    assert (done.status, done.err.splitlines()[-1]) == (
        2,
        "error: /dev/full: can't be written: No space left on device",
    )


def test_a_limit_on_files_is_told_with_the_files_name(call: Call, engine: Engine, tmp_path: Path) -> None:
    engine.answers(*run(*(answered(f"pipeline {number}") for number in range(400))))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        done = call("x.spv", "-o", "json:good.json", "-o", "a.csv")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert done.status == 2
    assert "error: good.json: can't be written: File too large" in done.err
    assert os.listdir(tmp_path) == []


def test_too_many_open_files_get_a_hint(call: Call, engine: Engine) -> None:
    engine.answers(OSError(errno.EMFILE, os.strerror(errno.EMFILE)))
    done = call("x.spv")
    assert done.status == 2
    error, hint = done.err.splitlines()
    assert error == "error: Too many open files"
    assert "-j" in hint and "ulimit -n" in hint


# ── Files beside standard output ──────────────────────────────────────────────────────────────────────────────────

SCRIPT = """
import sys
from shaderstat import engine
from shaderstat.cli import run
from tests.cli.events import answered, run as made
engine.run = lambda request, watch: (event for event in made(*(answered(f"p{n}") for n in range(3000))))
sys.exit(run(sys.argv[1:]))
"""


def into(stdout: int, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
    )


@pytest.fixture
def left_pipe() -> Iterator[int]:
    """The writing end of a pipe whose reader has left."""
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


def test_a_reader_that_leaves_costs_the_files_nothing(left_pipe: int, tmp_path: Path) -> None:
    done = into(left_pipe, "ir", "x.spv", "--out", "out", "--ir", "assembly", cwd=tmp_path)
    assert done.returncode == 0
    assert "error" not in done.stderr
    assert json.loads((tmp_path / "out/index.json").read_text())["complete"]
    assert len(json.loads((tmp_path / "out/index.json").read_text())["files"]) == 3000
    done = into(left_pipe, "x.spv", "-o", "jsonl:-", "-o", "a.json", cwd=tmp_path)
    assert (done.returncode, "error" in done.stderr) == (0, False)
    assert json.loads((tmp_path / "a.json").read_text())["run"]["complete"]


def test_without_files_it_ends_the_run(left_pipe: int, tmp_path: Path) -> None:
    done = into(left_pipe, "x.spv", "-f", "jsonl", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (141, "")


@FULL
def test_a_full_standard_output_is_told_after_the_files_are_written(tmp_path: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = into(full.fileno(), "ir", "x.spv", "--out", "out", "--ir", "assembly", cwd=tmp_path)
        assert done.returncode == 2
        assert done.stderr.splitlines()[-1] == "error: standard output can't be written: No space left on device"
        assert json.loads((tmp_path / "out/index.json").read_text())["complete"]
        done = into(full.fileno(), "x.spv", "-f", "jsonl", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (
            2,
            "error: standard output can't be written: No space left on device\n",
        )
