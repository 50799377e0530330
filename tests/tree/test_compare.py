"""Two versions of one driver for one GPU, side by side: what driver engineers look at."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shaderstat.trees import Tree
from tests.conftest import Run
from tests.tree.conftest import NAME

pytestmark = [pytest.mark.tree, pytest.mark.driver]


def test_this_machine_s_mesa_against_the_tree_s(tree: Tree, shaderstat: Run, samples: Path, tmp_path: Path) -> None:
    pair = ("-t", "radv:navi21", "-t", f"radv@{NAME}:navi21")
    done = shaderstat("diff", samples, *pair, "-o", "json:diff.json", "-o", "-")
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "diff.json").read_text())
    assert found["targets"] == [["radv:navi21", f"radv@{NAME}:navi21"]]
    before, after = (side["targets"][0]["driver"] for side in (found["before"], found["after"]))
    assert before["id"] == after["id"] == 3
    assert found["counts"]["both"] > 10 and found["new"] == found["gone"] == found["renamed"] == []
    # Labels differ between the versions, stages don't: every executable of the one has its other.
    blur = next(each for each in found["executables"] + found["recoded"] if each["pipeline"] == "blur")
    assert blur["stages"] == ["compute"]
    for total in found["totals"]:
        if total["name"] == "registers":
            assert total["helped"] + total["hurt"] + total["same"] == found["counts"]["compared"]


def test_reports_of_two_versions(tree: Tree, shaderstat: Run, samples: Path) -> None:
    shaderstat("stats", samples / "blur.comp.spv", "-t", "radv:navi21", "-o", "before.json")
    shaderstat("stats", samples / "blur.comp.spv", "-t", f"radv@{NAME}:navi21", "-o", "after.json")
    assert shaderstat("diff", "before.json", "after.json").returncode == 0
    shaderstat("stats", samples / "blur.comp.spv", "-t", f"nvk@{NAME}:ad102", "-o", "other.json")
    refused = shaderstat("diff", "before.json", "other.json")
    assert refused.returncode == 2 and "another driver" in refused.stderr
    assert shaderstat("diff", "before.json", "other.json", "--allow-unlike").returncode == 0
