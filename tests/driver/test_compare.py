"""``diff`` and ``check`` on RADV: a change to a shader that makes it spill, seen and gated; the whole as a CI job."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, Run
from tests.driver.spilling import holding

pytestmark = pytest.mark.driver

ON = ("-t", "radv:navi21")


@pytest.fixture
def change(tmp_path: Path, samples: Path) -> Path:
    """Two folders: a sample that stays, and a shader that holds 8 values before and 300 after."""
    for name, values in (("before", 8), ("after", 300)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "water.vert.spv").write_bytes((samples / "water.vert.spv").read_bytes())
        (folder / "water.frag.spv").write_bytes((samples / "water.frag.spv").read_bytes())
        (folder / "gather.comp.spv").write_bytes(holding(values))
    return tmp_path


def test_a_new_spill_comes_first_and_fails_the_gate(shaderstat: Run, change: Path) -> None:
    done = shaderstat("diff", "before", "after", *ON, "--fail-on", "spills:+0")
    assert done.returncode == 1
    worse = done.stdout.splitlines()[3]
    assert worse.split()[:6] == ["gather", "compute", "Spilled", "VGPRs", "0", "→"] and "from zero" in worse
    assert "water" not in done.stdout
    back = shaderstat("diff", "after", "before", *ON, "--fail-on", "spills:+0", "--fail-on", "occupancy:-0")
    assert back.returncode == 0 and "to zero" in back.stdout


def test_the_difference_of_a_real_report_with_itself_is_empty(shaderstat: Run, samples: Path, tmp_path: Path) -> None:
    shaderstat("stats", samples, *ON, "-o", "json:a.json", "-o", "jsonl:a.jsonl", "-o", "fossilize-csv:a.csv")
    for path in ("a.json", "a.jsonl", "a.csv"):
        done = shaderstat("diff", path, "a.json" if path == "a.jsonl" else path, "--exit-code")
        assert (done.returncode, "no differences" in done.stderr) == (0, True), done.stderr


def test_two_gpus_are_unlike(shaderstat: Run, samples: Path) -> None:
    shader = samples / "blur.comp.spv"
    pair = ("-t", "radv:navi21", "-t", "radv:vega10")
    refused = shaderstat("diff", shader, *pair)
    assert (refused.returncode, refused.stdout) == (2, "") and "another GPU" in refused.stderr
    assert shaderstat("diff", shader, *pair, "--allow-unlike").returncode == 0


def test_the_assembly_line_by_line(shaderstat: Run, change: Path) -> None:
    done = shaderstat("diff", "before", "after", *ON, "--ir", "--normalise", "--exit-code")
    assert done.returncode == 1
    assert done.stdout.startswith("── gather · compute · Assembly ──")
    assert "buffer_store_dword" in done.stdout  # spilled values go to scratch memory
    assert "; be" not in done.stdout
    whole = shaderstat("diff", "before", "after", *ON, "--ir")
    assert "; " in whole.stdout and len(whole.stdout) > len(done.stdout)


def test_a_budget_and_its_baseline(shaderstat: Run, change: Path) -> None:
    (change / "shaderstat.yaml").write_text("budgets:\n- name: no surprises\n  max: {registers: +10%, spills: +0}\n")
    assert shaderstat("check", "before", *ON, "--update-baseline").returncode == 0
    assert shaderstat("check", "before", *ON).returncode == 0
    done = shaderstat("check", "after", *ON)
    assert done.returncode == 1
    assert [line.split()[:4] for line in done.stdout.splitlines() if "FAIL" in line] == [
        ["FAIL", "gather", "compute", "registers"],
        ["FAIL", "gather", "compute", "spills"],
    ]


def test_the_whole_as_a_ci_job(change: Path, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "SHADERSTAT": f"{sys.executable} -m shaderstat",
        "GITHUB_STEP_SUMMARY": str(summary),
    }
    job = [str(ROOT / "tests" / "ci" / "job.sh"), "before", "after", "out"]
    done = subprocess.run(job, cwd=change, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1, done.stderr
    out = change / "out"
    assert {path.name for path in out.iterdir()} == {
        "before.jsonl", "after.jsonl", "budgets.xml", "budgets.sarif", "comment.md", "diff.json", "diff.xml",
        "assembly.diff",
    }  # fmt: skip
    assert done.stdout.count("::error file=after/gather.comp.spv,line=1,title=spills") == 2
    assert "| `gather` | `compute` | `Spilled VGPRs` | 0 | " in (out / "comment.md").read_text()
    assert summary.read_text().count("### shaderstat") == 2
    assert json.loads((out / "diff.json").read_text())["status"] == 1
    assert "<failure" in (out / "budgets.xml").read_text()
    assert "+" in (out / "assembly.diff").read_text()
    # and where nothing changed, nothing is wrong
    same = subprocess.run([*job[:2], "before", "same"], cwd=change, env=environment, capture_output=True, text=True)
    assert same.returncode == 0, same.stderr
