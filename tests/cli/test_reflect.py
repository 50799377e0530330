"""``reflect``: a manifest of what was inferred, facts for people and as JSON; no compiler is asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Call
from tests.conftest import ROOT

SAMPLES = ROOT / "sample_spirv"


def test_facts_for_people(call: Call) -> None:
    done = call("reflect", "--text", SAMPLES / "tuned.comp.spv", "--spec", "0=8")
    assert (done.status, done.err) == (0, "")
    head, entry, *facts = done.out.splitlines()
    assert head == f"{SAMPLES}/tuned.comp.spv: SPIR-V 1.3"
    assert entry == "  compute main"
    assert [line.split()[:3] for line in facts][:2] == [["workgroup", "8×1×1"], ["0.0", "STORAGE_BUFFER", "Input"]]
    assert "    constant 2      int32 = 8  TAPS" in facts


def test_facts_as_json(call: Call) -> None:
    done = call("reflect", SAMPLES / "water.vert.spv", SAMPLES / "blur.comp.spv", "--json")
    assert (done.status, done.err) == (0, "")
    modules = json.loads(done.out)["modules"]
    assert [Path(path).name for path in modules] == ["water.vert.spv", "blur.comp.spv"]
    assert [each["entries"][0]["stage"] for each in modules.values()] == ["vertex", "compute"]


def test_a_folder_and_the_entry_points_that_are_wanted(call: Call) -> None:
    modules = json.loads(call("reflect", SAMPLES, "--json", "--entry", "frag:main").out)["modules"]
    stages = [entry["stage"] for each in modules.values() for entry in each["entries"]]
    assert stages and set(stages) == {"fragment"}


def test_bad_files_are_told_and_cost_the_others_nothing(call: Call, tmp_path: Path) -> None:
    (tmp_path / "cut.spv").write_bytes((SAMPLES / "blur.comp.spv").read_bytes()[:400])
    done = call("reflect", "cut.spv", SAMPLES / "blur.comp.spv", "--json")
    assert done.status == 2
    assert done.err.startswith("error: cut.spv: ends inside ")
    assert [each["status"] for each in json.loads(done.out)["modules"].values()] == ["invalid", "ok"]
    assert call("reflect", "--text", "cut.spv").out.startswith("cut.spv: invalid: ends inside ")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "no input"),
        (["nothing.spv"], "nothing.spv: no such file"),
        ([SAMPLES, "--entry", "mian"], "no entry point matches mian"),
        ([SAMPLES, "--spec", "9999=1"], "--spec 9999: no module has this constant"),
        ([SAMPLES, "--spec", "0=1,2", "--json"], "--spec 0=1,2: reflect takes one value"),
    ],
)
def test_what_can_not_be_answered(call: Call, arguments: list[str | Path], says: str) -> None:
    for form in ([], ["--text"]):
        done = call("reflect", *form, *arguments)
        assert done.status == 2
        assert says in done.err


def test_hostile_names_stay_on_their_line(call: Call, tmp_path: Path) -> None:
    name = "e\x1b[2J\n"
    data = bytearray((SAMPLES / "scale.comp.spv").read_bytes())
    place = data.index(b"main\0\0\0\0")
    data[place : place + 8] = name.encode().ljust(8, b"\0")
    (tmp_path / "evil.spv").write_bytes(data)
    done = call("reflect", "--text", "evil.spv")
    assert done.status == 0
    assert "  compute e\\x1b[2J\\n" in done.out.splitlines()
    assert "\x1b" not in call("reflect", "evil.spv").out
    assert "\x1b" not in call("reflect", "evil.spv", "--json").out


def test_a_manifest_that_gives_the_same_again(call: Call, tmp_path: Path) -> None:
    first = call("reflect", SAMPLES / "water.vert.spv", SAMPLES / "water.frag.spv", SAMPLES / "leaf.vert.spv")
    assert (first.status, first.err) == (0, "")
    (tmp_path / "shaderstat.yaml").write_text(first.out)
    again = call("reflect")
    assert (again.status, again.err, again.out) == (0, "", first.out)
    assert "# with a generated fragment stage" in first.out


def test_a_manifest_says_what_was_said(call: Call) -> None:
    done = call("reflect", SAMPLES / "tuned.comp.spv", "--spec", "TAPS=2,4", "--profile", "dxvk", "--no-optimize")
    assert done.status == 0
    assert '  "tuned[TAPS=2]":' in done.out and "    spec: {TAPS: 4}" in done.out
    assert "    profile: dxvk" in done.out
    assert "    compute: {flags: VK_PIPELINE_CREATE_DISABLE_OPTIMIZATION_BIT}" in done.out


def test_an_entry_point_with_a_hostile_name_comes_back(call: Call, tmp_path: Path) -> None:
    data = bytearray((SAMPLES / "scale.comp.spv").read_bytes())
    place = data.index(b"main\0\0\0\0")
    data[place : place + 8] = b'"\x1b: {\n\0\0'
    (tmp_path / "a: #.spv").write_bytes(data)
    first = call("reflect", "a: #.spv")
    (tmp_path / "shaderstat.yaml").write_text(first.out)
    again = call("reflect")
    assert (again.status, again.out) == (0, first.out)


def test_how_a_pipeline_is_run_comes_back(call: Call, tmp_path: Path) -> None:
    """With its files where they were, those of the defaults too; nothing is read of them."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "shaderstat.yaml").write_text(f"""
defaults:
  run: {{dispatch: 4, draw: 36, push: push.bin}}
pipelines:
  tuned:
    modules: {SAMPLES / "tuned.comp.spv"}
    run: {{buffers: {{0.0: in.bin}}, read: {{0.1: out.bin}}}}
  water:
    modules: [{SAMPLES / "water.vert.spv"}, {SAMPLES / "water.frag.spv"}]
""")
    first = call("reflect", "--config", "sub/shaderstat.yaml")
    assert (first.status, first.err) == (0, "")
    runs = {name: each["run"] for name, each in yaml.safe_load(first.out)["pipelines"].items()}
    assert runs == {
        "tuned": {
            "dispatch": [4, 1, 1],
            "push": "sub/push.bin",
            "buffers": {"0.0": "sub/in.bin"},
            "read": {"0.1": "sub/out.bin"},
        },
        "water": {"draw": [36, 1], "push": "sub/push.bin"},
    }
    (tmp_path / "shaderstat.yaml").write_text(first.out)
    again = call("reflect")
    assert (again.status, again.err, again.out) == (0, "", first.out)
