"""``diff`` on the command line: the exit status of every path, and what stands on which stream."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from shaderstat.model import Event, Target
from shaderstat.reporters.base import create
from tests.cli.conftest import Call
from tests.cli.events import Engine
from tests.compare.reports import SHARE, SPILLED_VGPRS, VGPRS, executable, pipeline, run, target
from tests.conftest import ROOT, Run

GOLDEN = ROOT / "tests" / "golden" / "diff"

Save = Callable[..., Path]


@pytest.fixture
def save(tmp_path: Path) -> Save:
    """Write a run as a report."""

    def save(name: str, *parts: list[Event], format: str = "jsonl", targets: Sequence[Target] = (target(),)) -> Path:
        stream = io.BytesIO()
        output = create(format, stream)
        for event in run(*parts, targets=targets):
            output.feed(event)
        output.close()
        path = tmp_path / name
        path.write_bytes(stream.getvalue())
        return path

    return save


def spills(number: int | str) -> list[Event]:
    return pipeline("a", executable((SPILLED_VGPRS, number), (VGPRS, 24)))


# Row of the README's table → options, BEFORE, AFTER, exit status.
PATHS: dict[str, tuple[list[str], list[Event], list[Event], int]] = {
    "no difference": ([], spills(0), spills(0), 0),
    "worse, and nobody asked": ([], spills(0), spills(40), 0),
    "--exit-code, no difference": (["--exit-code"], spills(0), spills(0), 0),
    "--exit-code, any difference": (["--exit-code"], spills(40), spills(0), 1),
    "--exit-code, a crash": (["--exit-code"], spills(0), pipeline("a", status="crashed"), 1),
    "--fail-on holds": (["--fail-on", "spills:+0"], spills(40), spills(0), 0),
    "--fail-on is broken": (["--fail-on", "spills:+0"], spills(0), spills(40), 1),
    "--fail-on, one of two is broken": (
        ["--fail-on", "spills:+0", "--fail-on", "registers:+5%"], spills(0), spills(1), 1,
    ),
    "--fail-on, an answer was lost": (["--fail-on", "spills:+0"], spills(0), pipeline("a", status="crashed"), 2),
    "--fail-on matches nothing": (["--fail-on", "bogus:+0"], spills(0), spills(0), 2),
    "--fail-on looks the wrong way": (["--fail-on", "spills:-1"], spills(0), spills(0), 2),
    "--fail-on, no number": (
        ["--fail-on", "share:+0"],
        pipeline("a", executable((SHARE, 0.5))),
        pipeline("a", executable((SHARE, "NaN"))),
        2,
    ),
    "a crash that nobody asked about": ([], spills(0), pipeline("a", status="crashed"), 0),
    "a lone stage and a pair": ([], spills(0), pipeline("a", executable((VGPRS, 24), bound="upper")), 2),
    "a lone stage and a pair, allowed": (
        ["--allow-unlike"], spills(0), pipeline("a", executable((VGPRS, 24), bound="upper")), 0,
    ),
    "no pipeline on both sides": ([], spills(0), pipeline("b", executable((VGPRS, 1)), kind="graphics"), 2),
    "--stat matches nothing": (["--stat", "bogus"], spills(0), spills(1), 2),
}  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_exit_status(call: Call, save: Save, path: str) -> None:
    options, before, after, status = PATHS[path]
    done = call("diff", save("before.jsonl", before), save("after.json", after, format="json"), *options)
    assert done.status == status, done.err
    assert "Traceback" not in done.err
    assert (status == 2) == ("error: " in done.err and not ("over spills" in done.err and status == 1))


def test_unlike_targets(call: Call, save: Save) -> None:
    other = target("radv:navi31", device="Null hardware (RADV NAVI31)")
    before = save("before.jsonl", spills(0))
    after = save("after.jsonl", pipeline("a", executable((VGPRS, 1)), on=other.id), targets=[other])
    done = call("diff", before, after)
    assert (done.status, done.out) == (2, "")
    assert "another GPU" in done.err and "--allow-unlike" in done.err
    assert call("diff", before, after, "--allow-unlike").status == 0


def test_interrupted(call: Call, save: Save, engine: Engine, tmp_path: Path) -> None:
    """While one side is compiled: nothing is judged, and nothing is written that looks like an answer."""
    (tmp_path / "x.spv").write_bytes(b"\x03\x02\x23\x07")
    engine.answers(*run(spills(0))[:-1], KeyboardInterrupt())
    done = call("diff", save("before.jsonl", spills(0)), "x.spv", "-o", "json:diff.json")
    assert (done.status, done.out) == (130, "")
    assert not (tmp_path / "diff.json").exists()


def test_a_report_that_was_cut_off(call: Call, save: Save) -> None:
    before = save("before.jsonl", spills(0))
    before.write_bytes(before.read_bytes()[: before.read_bytes().rindex(b'{"type":"end"') + 8])
    done = call("diff", before, save("after.jsonl", spills(0)))
    assert done.status == 2 and "was cut off" in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("diff", "pipe", "a.json"),
        ("check", "pipe", "--max", "registers=1"),
        ("check", "a.json", "--baseline", "pipe", "--max", "registers=1"),
    ],
)
def test_a_named_pipe_is_not_waited_for(
    shaderstat: Run, save: Save, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    save("a.json", spills(0))
    os.mkfifo(tmp_path / "pipe")
    done = shaderstat(*arguments, "-t", "mock")
    assert done.returncode == 2
    assert "named pipe, not a file" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [[], ["a.json"], ["a.json", "b.json", "c.json"], ["-", "-"], ["a", "b", "--normalise"], ["a", "-t", "mock"],
     ["a", "b", "--ir", "--json"], ["a", "b", "--ir", "--fail-on", "x:+0"], ["a.json", "b.json"],
     ["a", "b", "--fail-on", "x"], ["a", "b", "--threshold", "x"], ["a", "b", "-f", "csv"]],
)  # fmt: skip
def test_slips(call: Call, arguments: list[str]) -> None:
    done = call("diff", *arguments)
    assert (done.status, done.out) == (2, "") and done.err.startswith("error: ")


def test_the_table(call: Call) -> None:
    done = call("diff", GOLDEN / "before.jsonl", GOLDEN / "after.jsonl")
    assert done.status == 0
    lines = done.out.splitlines()
    worse = next(place for place, line in enumerate(lines) if line.split()[:2] == ["worse", "statistic"])
    assert lines[worse + 1].split() == ["water", "fragment", "Spilled", "VGPRs", "0", "→", "40", "from", "zero"]
    assert lines[worse + 2].split() == ["water", "fragment", "VGPRs", "64", "→", "84", "+31.2", "%"]
    assert "  particles  ok → crashed (SIGSEGV in compile)" in lines
    (spills,) = (line for line in lines if line.startswith("  spills"))
    assert spills.split() == ["spills", "8", "40", "+400.00", "%", "1", "1", "6"]
    assert "1 executable changed their code and no number (--all)" in done.err


def test_several_formats_at_once(call: Call, tmp_path: Path) -> None:
    outputs = ["markdown:d.md", "d.xml", "d.sarif", "d.json", "github:-"]
    done = call("diff", GOLDEN / "before.jsonl", GOLDEN / "after.jsonl", *(f"-o{each}" for each in outputs))
    assert done.status == 0
    assert (tmp_path / "d.md").read_text().startswith("### shaderstat diff")
    assert (tmp_path / "d.xml").read_text().startswith("<?xml")
    assert json.loads((tmp_path / "d.sarif").read_text())["version"] == "2.1.0"
    assert json.loads((tmp_path / "d.json").read_text())["counts"]["affected"] == 4
    assert done.out.startswith("::error file=shaders/particles.comp.spv,line=1,title=")


def test_the_step_s_summary(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    call("diff", GOLDEN / "before.jsonl", GOLDEN / "after.jsonl")
    assert summary.read_text() == "before\n"
    call("diff", GOLDEN / "before.jsonl", GOLDEN / "after.jsonl", "-f", "github")
    assert summary.read_text().startswith("before\n### shaderstat diff")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "nowhere" / "x"))
    assert call("diff", GOLDEN / "before.jsonl", GOLDEN / "after.jsonl", "-f", "github").status == 0


def test_a_view(call: Call) -> None:
    sides = (GOLDEN / "before.jsonl", GOLDEN / "after.jsonl")
    done = call("diff", *sides, "--stat", "registers", "--threshold", "30%")
    assert "VGPRs" in done.out and "Spilled" not in done.out and "ssao" not in done.out
    assert "1 executable changed by less than the threshold" in done.err
    assert "from zero" in call("diff", *sides, "--threshold", "99%").out
    assert "beyond --top 1" in call("diff", *sides, "--top", "1").err
    assert call("diff", *sides, "--sort", "VGPRs").status == 0
    assert call("diff", *sides, "--sort", "bogus").status == 2


def test_standard_input(shaderstat: Run) -> None:
    data = (GOLDEN / "before.jsonl").read_bytes()
    done = shaderstat("diff", "-", GOLDEN / "before.jsonl", input=data)
    assert (done.returncode, "no differences" in done.stderr) == (0, True)


def test_the_peer_s_table(call: Call, tmp_path: Path) -> None:
    head = "Database,Pipeline type,Pipeline hash,PSO wall duration (ns),PSO duration (ns),Stage duration (ns),"
    head += "Executable name,Subgroup size,VGPRs,Spilled VGPRs,Spilled SGPRs,Code size\n"
    row = "all.foz,GRAPHICS,b74b4d54d3c0efa2,6136967,6073482,2028350,Vertex Shader,64,24,{},0,1308\n"
    (tmp_path / "before.csv").write_text(head + row.format(0))
    (tmp_path / "after.csv").write_text(head + row.format(40))
    done = call("diff", "before.csv", "after.csv", "--fail-on", "spills:+0")
    assert done.status == 1
    assert "0 →    40     from zero" in done.out
    assert "its statistics are called as radv's" in done.err


def test_live_sides(shaderstat: Run, samples: Path, tmp_path: Path) -> None:
    """Two trees; one tree and a report of it; two targets."""
    for folder, name in (("before", "scale"), ("after", "blur")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.comp.spv").write_bytes((samples / f"{name}.comp.spv").read_bytes())
    done = shaderstat("diff", "before", "after", "-t", "mock", "--fail-on", "instructions:+0")
    assert done.returncode == 1 and "x compute: Instructions" in done.stderr
    shaderstat("stats", "before", "-t", "mock", "-o", "before.json")
    done = shaderstat("diff", "before.json", "before")  # on the report's own target
    assert (done.returncode, "no differences" in done.stderr) == (0, True)
    (tmp_path / "after" / "bad.comp.spv").write_bytes(b"nothing")
    done = shaderstat("diff", "before", "after", "-t", "mock")
    assert done.returncode == 2 and "bad.comp.spv" in done.stderr


def test_representations(shaderstat: Run, samples: Path, tmp_path: Path) -> None:
    before, after = samples / "scale.comp.spv", samples / "blur.comp.spv"
    done = shaderstat("diff", before, after, "-t", "mock", "--ir", "disassembly*", "--exit-code")
    lines = done.stdout.splitlines()
    assert done.returncode == 1
    assert any(line.startswith("@@ ") for line in lines)
    assert [line[0] for line in lines if line.startswith(("---", "+++"))] == ["-", "+"]
    same = shaderstat("diff", before, before, "-t", "mock", "--ir", "disassembly*", "--exit-code")
    assert (same.returncode, same.stdout) == (0, "")
    for name, path in (("b", before), ("a", after)):
        (tmp_path / f"{name}.comp.spv").write_bytes(path.read_bytes())
        shaderstat("ir", f"{name}.comp.spv", "-t", "mock", "--out", name)
    saved = shaderstat("diff", "b", "a", "--ir", "disassembly*")
    assert saved.returncode == 0
    assert [line for line in saved.stdout.splitlines() if line[:1] in "+-" and line[:3] not in ("---", "+++")] == [
        line for line in lines if line[:1] in "+-" and line[:3] not in ("---", "+++")
    ]
    assert shaderstat("diff", "b", "a", "--ir", "bogus*").returncode == 2
    # a report knows what texts are called, and doesn't hold them
    shaderstat("ir", before, "-t", "mock", "-o", "b.json")
    shaderstat("ir", after, "-t", "mock", "-o", "a.json")
    none = shaderstat("diff", "b.json", "a.json", "--ir", "disassembly*")
    assert none.returncode == 2 and "a saved report holds no texts" in none.stderr


def test_an_index_that_leads_out_of_its_folder(call: Call, tmp_path: Path) -> None:
    entry: dict[str, Any] = {
        "path": "../secret.txt", "pipeline": "a", "pipeline_id": "a", "target": "mock", "representation": "x",
        "executable": {"index": 0, "name": "a", "stages": ["compute"]}, "description": "", "is_text": True, "size": 1,
        "sha256": "00", "code_sha256": "00",
    }  # fmt: skip
    for name in ("b", "a"):
        (tmp_path / name).mkdir()
        index = {"schema": {"name": "shaderstat-ir-index", "version": 1}, "complete": True, "files": [entry]}
        (tmp_path / name / "index.json").write_text(json.dumps(index))
    done = call("diff", "b", "a", "--ir")
    assert done.status == 2 and "leads out of the folder" in done.err
