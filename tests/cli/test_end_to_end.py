"""The commands as a person runs them, on the samples and the mock: what no made-up engine can show."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import shaderstat as library
from tests.conftest import Run

MOCK = ("-t", "mock")


def test_a_folder_as_json(shaderstat: Run, samples: Path) -> None:
    done = shaderstat("stats", samples, *MOCK, "--pipeline", "water", "--pipeline", "b*", "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert [(one["name"], one["kind"]) for one in report["pipelines"]] == [("blur", "compute"), ("water", "graphics")]
    assert [len(one["executables"]) for one in report["results"]] == [1, 2]
    assert report["run"]["complete"]
    assert report["run"]["arguments"][0] == "stats"


def test_standard_input(shaderstat: Run, samples: Path) -> None:
    data = (samples / "scale.comp.spv").read_bytes()
    done = shaderstat("-", *MOCK, "-f", "csv", input=data)
    assert done.returncode == 0
    assert done.stdout.splitlines()[1].startswith("stdin,")
    assert shaderstat("-", *MOCK, "--json", input=b"").returncode == 2


def test_the_source_in_place_of_the_module(shaderstat: Run, samples: Path, tmp_path: Path) -> None:
    shutil.copy(samples / "blur.comp", tmp_path)
    done = shaderstat("blur.comp", *MOCK)
    assert done.returncode == 2
    assert done.stderr.splitlines()[:2] == [
        "error: blur.comp: is GLSL text, not SPIR-V",
        "hint: compile it first: glslangValidator -V blur.comp -o blur.comp.spv",
    ]


def test_the_same_numbers_whatever_the_order(shaderstat: Run, samples: Path) -> None:
    paths = [samples / "blur.comp.spv", samples / "scale.comp.spv"]
    one = shaderstat(*paths, *MOCK, "-f", "csv", "-q").stdout.splitlines()
    other = shaderstat(*reversed(paths), *MOCK, "-f", "csv", "-q", env={"PYTHONHASHSEED": "7"}).stdout.splitlines()
    assert sorted(one) == sorted(other)
    assert [line.split(",")[0] for line in one] == ["pipeline", "blur", "scale"]
    assert [line.split(",")[0] for line in other] == ["pipeline", "scale", "blur"]


def test_files_of_every_representation(shaderstat: Run, samples: Path, tmp_path: Path) -> None:
    done = shaderstat("ir", samples / "water.vert.spv", samples / "water.frag.spv", *MOCK, "--out", "out")
    assert done.returncode == 0
    files = json.loads((tmp_path / "out/index.json").read_text())["files"]
    assert done.stdout.splitlines() == [*(f"out/{file['path']}" for file in files), "out/index.json"]
    assert {file["executable"]["stages"][0] for file in files} == {"vertex", "fragment"}
    words = next(file for file in files if not file["is_text"] and file["executable"]["stages"] == ["fragment"])
    assert (tmp_path / "out" / words["path"]).read_bytes() == (samples / "water.frag.spv").read_bytes()
    assert shaderstat("ir", samples / "blur.comp.spv", *MOCK, "--out", "out").returncode == 2


def test_a_crash_costs_one_pipeline(shaderstat: Run, samples: Path, tmp_path: Path) -> None:
    (tmp_path / "scenario.yaml").write_text("rules:\n- match: '*/blur*'\n  create: {crash: SIGSEGV}\n")
    paths = [samples / "blur.comp.spv", samples / "scale.comp.spv"]
    done = shaderstat("list", *paths, "--scenario", "scenario.yaml", "-f", "json", "-o", "-")
    assert done.returncode == 2
    assert [one["status"] for one in json.loads(done.stdout)["results"]] == ["crashed", "ok"]
    assert "crashed: SIGSEGV in compile" in done.stderr
    assert "again: shaderstat " in done.stderr


@pytest.mark.parametrize("path", ["nothing.spv", "*.spv", "."])
def test_a_path_that_leads_nowhere(shaderstat: Run, path: str) -> None:
    done = shaderstat("stats", path, *MOCK)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) <= 2


def test_no_pipeline_of_that_name(shaderstat: Run, samples: Path) -> None:
    done = shaderstat(samples, *MOCK, "--pipeline", "blurr")
    assert done.returncode == 2
    assert "blurr" in done.stderr


def test_no_target_of_that_name(shaderstat: Run, samples: Path) -> None:
    done = shaderstat(samples, "-t", "mokc")
    assert (done.returncode, done.stdout) == (2, "")
    assert "mokc" in done.stderr


def test_the_library_gives_the_command_lines_report(shaderstat: Run, samples: Path) -> None:
    path = samples / "blur.comp.spv"
    report = library.inspect(path, target="mock")
    (result,) = report.results
    (from_command,) = json.loads(shaderstat(path, *MOCK, "--json").stdout)["results"]
    numbers = [(one["name"], one["value"]) for one in from_command["executables"][0]["statistics"]]
    assert [(one.name, one.value) for one in result.executables[0].statistics] == numbers


def test_variants_of_a_constant(shaderstat: Run, samples: Path) -> None:
    done = shaderstat(samples / "tuned.comp.spv", *MOCK, "--spec", "0=8,16", "--spec", "comp:TAPS=2", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert [(one["variant"], one["workgroup"]) for one in report["pipelines"]] == [
        ({"0": "8", "compute:TAPS": "2"}, [8, 1, 1]),
        ({"0": "16", "compute:TAPS": "2"}, [16, 1, 1]),
    ]
    assert {one["status"] for one in report["results"]} == {"ok"}


def test_a_constant_that_no_module_has(shaderstat: Run, samples: Path) -> None:
    done = shaderstat(samples / "tuned.comp.spv", *MOCK, "--spec", "frag:0=8", "--json")
    assert done.returncode == 2
    assert "error: --spec fragment:0: no module has this constant" in done.stderr
    report = json.loads(done.stdout)
    assert [one["code"] for one in report["run"]["diagnostics"] if one["severity"] == "error"] == ["spec/unmatched"]
    assert report["results"][0]["status"] == "ok"


def test_an_entry_point_that_no_module_has(shaderstat: Run, samples: Path) -> None:
    done = shaderstat(samples / "tuned.comp.spv", *MOCK, "--entry", "mian")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == ["error: no entry point matches mian", "hint: there are main (compute)"]


@pytest.mark.driver
def test_a_stage_alone_is_an_upper_bound_with_hidden_company(shaderstat: Run, samples: Path) -> None:
    path = samples / "plasma.frag.spv"
    (result,) = json.loads(shaderstat("list", path, "-t", "radv:navi21", "--json").stdout)["results"]
    assert [(one["stages"], one["synthetic"], one["bound"]) for one in result["executables"]] == [
        (["vertex"], True, "upper"),
        (["fragment"], False, "upper"),
    ]
    hidden = shaderstat("list", path, "-t", "radv:navi21").stdout
    shown = shaderstat("list", path, "-t", "radv:navi21", "--synthetic").stdout
    assert ("vertex" in hidden, "vertex" in shown) == (False, True)


@pytest.mark.driver
def test_machine_code_of_a_real_driver(shaderstat: Run, samples: Path) -> None:
    done = shaderstat("ir", samples / "scale.comp.spv", "-t", "radv:navi21", "--ir", "assembly")
    assert done.returncode == 0
    assert "s_endpgm" in done.stdout
    # Mesa 22.3's name for it, and that of Mesa 23 and later
    assert re.match("── scale · 0 (Compute Shader|compute) · Assembly · radv:navi21 ─", done.stdout)


def test_a_captured_pipeline_that_can_not_be_read_is_named_with_its_archive(
    shaderstat: Run, samples: Path, tmp_path: Path
) -> None:
    whole, broken = tmp_path / "whole.foz", tmp_path / "broken.foz"
    shaderstat(samples / "scale.comp.spv", *MOCK, "-o", f"foz:{whole}")
    data = bytearray(whole.read_bytes())
    at = data.rindex(b"%024x" % 7)  # the compute pipeline's entry: 24 digits of its tag, 16 of its hash
    hash = data[at + 24 : at + 40].decode()
    data[at + 40 + 16] ^= 1  # the first byte of its payload, behind four words
    broken.write_bytes(data)
    done = shaderstat(broken, *MOCK, "--json", "--no-cache")
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == (
        f"error: {broken}:{hash}: compute pipeline {hash} at byte {at}: its checksum does not match its bytes"
    )
