"""Archives on the newest compilers: the same numbers as the files that they were made of, whoever wrote them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shaderstat.trees import Tree
from tests.conftest import ROOT, Run
from tests.tree.conftest import NAME

pytestmark = pytest.mark.tree

Report = dict[str, Any]
Modules = frozenset[tuple[str, str, str]]


def by_modules(report: Report) -> dict[Modules, Any]:
    """Everything that was answered, by what it was made of: names of files and of archives have nothing in common."""
    pipelines = {one["id"]: one for one in report["pipelines"]}
    return {
        frozenset(
            (module["stage"], module["sha256"], module["entry_point"])
            for module in pipelines[result["pipeline"]]["modules"]
        ): [
            (
                one["name"],
                one["stages"],
                one["subgroup_size"],
                [(each["name"], each["text"] or each["value"]) for each in one["statistics"]],
            )
            for one in result["executables"]
        ]
        for result in report["results"]
        if result["status"] == "ok"
    }


@pytest.mark.parametrize("target", [f"radv@{NAME}:navi31", f"nvk@{NAME}:ad102"])
def test_an_archive_gives_the_numbers_of_its_files(
    report: Callable[..., Report], shaderstat: Run, tree: Tree, samples: Path, tmp_path: Path, target: str
) -> None:
    """Mesh and ray tracing pipelines among them, which the host's compiler doesn't take."""
    path = tmp_path / "samples.foz"
    direct = by_modules(report(samples, ROOT / "sample_optional", "-t", target, "-o", f"foz:{path}", "-o", "json:-"))
    again = by_modules(report(path, "-t", target))
    assert len(direct) == len(again) >= 18
    stages = {stage for modules in direct for stage, _, _ in modules}
    assert {"compute", "vertex", "tessellation_control", "geometry", "mesh"} <= stages
    assert "raygen" in stages or target.startswith("nvk")
    for modules, numbers in direct.items():
        # A stage alone stands with its generated partners there.
        (found,) = [its for captured, its in again.items() if modules <= captured]
        assert found == numbers, modules
