"""``ir --out``: names that a person finds and every file system takes, and the way back from them."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from shaderstat.cli._files import _safe, _slug
from shaderstat.errors import NoTarget
from tests.cli.conftest import Call
from tests.cli.events import TEXTS, Engine, answered, executable, run, unanswered


def index(folder: Path) -> list[dict[str, Any]]:
    """The index's files, after a check that it and the folder tell the same."""
    report = json.loads((folder / "index.json").read_text())
    assert report["schema"] == {"name": "shaderstat-ir-index", "version": 1}
    files: list[dict[str, Any]] = report["files"]
    for file in files:
        data = (folder / file["path"]).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (file["size"], file["sha256"])
    there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert there == {file["path"] for file in files} | {"index.json"}
    return files


def test_each_representation_is_a_file_whose_path_is_data(call: Call, engine: Engine, tmp_path: Path) -> None:
    engine.answers(*run(answered("bloom/blur"), answered("x", executable(texts=[("Binary", b"\0\1")], is_text=False))))
    done = call("ir", "shaders", "--out", "out")
    assert done.status == 0
    assert done.out.splitlines() == [
        "out/bloom/blur/compute.0.nir-shaders.txt",
        "out/bloom/blur/compute.1.assembly.txt",
        "out/x/compute.0.binary.bin",
        "out/index.json",
    ]
    assert "3 files of 2 executables in out/" in done.err
    assert (tmp_path / "out/bloom/blur/compute.0.nir-shaders.txt").read_bytes() == TEXTS[0][1]
    first = index(tmp_path / "out")[0]
    assert (first["pipeline"], first["target"], first["representation"]) == ("bloom/blur", "mock", "NIR Shader(s)")
    assert first["executable"] == {"index": 0, "name": "Shader", "stages": ["compute"]}


def test_a_report_beside_it_has_the_paths(call: Call, engine: Engine, tmp_path: Path) -> None:
    engine.answers(*run(answered("x")))
    done = call("ir", "x.spv", "--out", "out", "--json")
    (result,) = json.loads(done.out)["results"]
    paths = [one["path"] for one in result["executables"][0]["representations"]]
    assert paths == ["out/x/compute.0.nir-shaders.txt", "out/x/compute.1.assembly.txt"]
    assert all((tmp_path / path).is_file() for path in paths)


def test_a_table_beside_it_has_a_row_for_each_file(call: Call, engine: Engine, tmp_path: Path) -> None:
    engine.answers(*run(answered("x")))
    done = call("ir", "x.spv", "--out", "out", "-f", "csv")
    found = [row["path"] for row in csv.DictReader(io.StringIO(done.out))]
    assert found == [f"out/{file['path']}" for file in index(tmp_path / "out")]


def test_executables_of_one_stage_are_kept_apart(call: Call, engine: Engine, tmp_path: Path) -> None:
    twice = [executable(["fragment"], index, f"SIMD{8 << index}") for index in (0, 1)]
    engine.answers(*run(answered("x", *twice, executable(["vertex", "geometry"], 2), executable([], 3))))
    call("ir", "x.spv", "--out", "out", "--ir", "assembly")
    assert [file["path"] for file in index(tmp_path / "out")] == [
        "x/fragment-0.1.assembly.txt",
        "x/fragment-1.1.assembly.txt",
        "x/vertex+geometry.1.assembly.txt",
        "x/executable-3.1.assembly.txt",
    ]


def test_a_file_has_the_same_name_whatever_is_written_beside_it(call: Call, engine: Engine, tmp_path: Path) -> None:
    engine.answers(*run(answered("x", executable(texts=[(f"Part {number}", b"x") for number in range(4)]))))
    call("ir", "x.spv", "--out", "all")
    call("ir", "x.spv", "--out", "some", "--ir", "part 3", "--ir", "part 1")
    every, some = index(tmp_path / "all"), index(tmp_path / "some")
    assert [(file["representation"], file["representation_index"]) for file in every] == [
        (f"Part {number}", number) for number in range(4)
    ]
    assert some == [every[1], every[3]]


def test_several_targets_have_a_folder_each(call: Call, engine: Engine, tmp_path: Path) -> None:
    engine.answers(*run(answered("x", on="radv:navi21"), answered("x", on="mock"), targets=("radv:navi21", "mock")))
    call("ir", "x.spv", "--out", "out", "--ir", "assembly")
    assert [file["path"] for file in index(tmp_path / "out")] == [
        "radv_navi21/x/compute.1.assembly.txt",
        "mock/x/compute.1.assembly.txt",
    ]


HOSTILE = (
    "../../escape",
    "/etc/passwd",
    "..",
    ".",
    "",
    "a//b",
    "con",
    "LPT1.txt/aux",
    "tab\tnew\nline",
    "\x1b[2J",
    'a\\b:c*?"<>|',
    "trailing. ",
    "index.json",
    "index.json/x",
    "m" * 60_000,
    "m" * 59_999 + "n",
    "é" * 300,
    "Blur",
    "blur",
    "BLUR",
    "e\u0301",
    "\u00e9",
    "x",
    "x/compute.1.assembly.txt",
    "\u202egnp.x",
)


def test_hostile_names_stay_inside_apart_and_short(call: Call, engine: Engine, tmp_path: Path) -> None:
    engine.answers(*run(*(answered(name) for name in HOSTILE)))
    assert call("ir", "x.spv", "--out", "deep/out", "--ir", "assembly").status == 0
    files = index(tmp_path / "deep/out")
    assert [file["pipeline"] for file in files] == list(HOSTILE)
    assert os.listdir(tmp_path) == ["deep"]
    assert os.listdir(tmp_path / "deep") == ["out"]
    assert len({file["path"].casefold() for file in files}) == len(HOSTILE)
    for file in files:
        for part in file["path"].split("/"):
            assert len(part.encode()) <= 255
            assert not part.startswith(".") and not part.endswith((".", " "))
            assert not set(part) & set('<>:"\\|?*\n\t\x1b')
            assert part.split(".")[0].lower() not in ("con", "aux", "lpt1")


@pytest.mark.parametrize(
    ("name", "expected"), [("NIR Shader(s)", "nir-shaders"), ("ACO IR", "aco-ir"), ("../x", "x"), ("", "unnamed")]
)
def test_representations_become_short_words(name: str, expected: str) -> None:
    assert _slug(name) == expected


def test_names_of_one_kind_come_out_the_same_every_time() -> None:
    assert _safe("blur_x.comp") == "blur_x.comp"
    assert _safe("m" * 1000) == _safe("m" * 1000) != _safe("m" * 1001)


def test_a_folder_of_an_earlier_run_is_refused_before_any_work(call: Call, engine: Engine, tmp_path: Path) -> None:
    engine.answers(*run(answered("x")))
    (tmp_path / "out/x").mkdir(parents=True)
    (tmp_path / "out/index.json").write_text("old")
    (tmp_path / "out/x/compute.1.assembly.txt").write_text("old")
    (tmp_path / "out/mine").write_text("mine")
    done = call("ir", "x.spv", "--out", "out")
    assert (done.status, done.out) == (2, "")
    assert "out: the folder has an index.json already" in done.err
    assert "--force" in done.err
    assert not hasattr(engine, "request")
    assert call("ir", "x.spv", "--out", "out", "--force").status == 0
    assert (tmp_path / "out/x/compute.1.assembly.txt").read_bytes() == TEXTS[1][1]
    assert (tmp_path / "out/mine").read_text() == "mine"


def test_what_is_in_nobodys_way_stays_without_a_word(call: Call, engine: Engine, tmp_path: Path) -> None:
    engine.answers(*run(answered("x")))
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine").write_text("mine")
    assert call("ir", "x.spv", "--out", "out").status == 0
    assert (tmp_path / "out/mine").read_text() == "mine"


def test_a_file_in_the_way_is_kept_and_nothing_is_left_half_written(call: Call, engine: Engine, tmp_path: Path) -> None:
    engine.answers(*run(answered("a/b"), answered("x")))
    (tmp_path / "out/x").mkdir(parents=True)
    (tmp_path / "out/x/compute.1.assembly.txt").write_text("mine")
    done = call("ir", "x.spv", "--out", "out")
    assert done.status == 2
    assert done.err.splitlines() == [
        "error: out/x/compute.1.assembly.txt: is there already; nothing was written",
        "hint: name another folder, or say --force to replace such files",
    ]
    assert sorted(path.name for path in (tmp_path / "out").rglob("*")) == ["compute.1.assembly.txt", "x"]
    assert (tmp_path / "out/x/compute.1.assembly.txt").read_text() == "mine"


def test_a_link_in_the_way_of_a_folder_is_kept(call: Call, engine: Engine, tmp_path: Path) -> None:
    engine.answers(*run(answered("x")))
    for name in ("out", "elsewhere"):
        (tmp_path / name).mkdir()
    (tmp_path / "out/x").symlink_to(tmp_path / "elsewhere")
    assert "out/x: is there already" in call("ir", "x.spv", "--out", "out").err
    assert (tmp_path / "out/x").is_symlink()
    assert os.listdir(tmp_path / "out") == ["x"]


@pytest.mark.parametrize("arguments", [("--ir", "no such"), ("--stage", "mesh"), ()], ids=" ".join)
def test_without_anything_to_write_there_is_no_folder(
    call: Call, engine: Engine, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    engine.answers(*run(answered("x") if arguments else answered("x", executable(texts=[]))))
    done = call("ir", "x.spv", "--out", "deep/out", *arguments)
    assert (done.status, done.out) == (2, "")
    assert os.listdir(tmp_path) == []


def test_force_replaces_a_link_and_leaves_what_it_led_to(call: Call, engine: Engine, tmp_path: Path) -> None:
    engine.answers(*run(answered("x")))
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/index.json").symlink_to(tmp_path / "precious")
    assert call("ir", "x.spv", "--out", "out", "--force").status == 0
    assert (tmp_path / "precious").read_text() == "precious"


def test_force_replaces_a_linked_folder_and_leaves_what_is_in_it(call: Call, engine: Engine, tmp_path: Path) -> None:
    engine.answers(*run(answered("a/x"), answered("y")))
    (tmp_path / "elsewhere/x").mkdir(parents=True)
    (tmp_path / "elsewhere/x/compute.1.assembly.txt").write_text("precious")
    (tmp_path / "out/y").mkdir(parents=True)
    (tmp_path / "out/a").symlink_to(tmp_path / "elsewhere")
    assert call("ir", "x.spv", "--out", "out", "--force").status == 0
    assert [path.read_text() for path in (tmp_path / "elsewhere").rglob("*") if path.is_file()] == ["precious"]
    assert len(index(tmp_path / "out")) == 4


def test_a_folder_that_was_linked_itself_is_written_to(call: Call, engine: Engine, tmp_path: Path) -> None:
    engine.answers(*run(answered("x")))
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to("real")
    assert call("ir", "x.spv", "--out", "out").status == 0
    assert len(index(tmp_path / "real")) == 2


def test_until_all_is_written_the_index_says_that_it_is_not(call: Call, engine: Engine, tmp_path: Path) -> None:
    """Also where an earlier run's index said the opposite."""
    engine.answers(*run(answered("x")))
    assert call("ir", "x.spv", "--out", "out").status == 0
    engine.answers(*run(answered("x"))[:-1], NoTarget("the device is gone"))
    assert call("ir", "x.spv", "--out", "out", "--force").status == 2
    assert not json.loads((tmp_path / "out/index.json").read_text())["complete"]


def test_a_file_in_the_folders_place_is_refused(call: Call, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    assert "out: is there and is no folder" in call("ir", "x.spv", "--out", "out").err


def test_a_result_without_texts_writes_nothing_but_the_index(call: Call, engine: Engine, tmp_path: Path) -> None:
    engine.answers(*run(answered("x"), unanswered("y", "crashed")))
    assert call("ir", "x.spv", "--out", "out").status == 2
    assert {file["pipeline"] for file in index(tmp_path / "out")} == {"x"}
