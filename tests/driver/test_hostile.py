"""Hostile files: each gets the status, the exit status and the code of the table, and costs neither time nor memory."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, Run
from tests.malformed.make import Case, cases, write

CASES = list(cases())
TARGETS = ("mock", "radv:navi21")


def check(case: Case, target: str, result: dict[str, Any], path: Path) -> None:
    """One result against its row of the table."""
    allowed = (case.status,) if isinstance(case.status, str) else case.status
    assert result["status"] in allowed, (case.name, result)
    if result["status"] == "ok":
        return
    diagnostics = result["diagnostics"]
    assert diagnostics or result["failure"], case.name
    if case.code:
        assert case.code in {one["code"] for one in diagnostics}, (case.name, diagnostics)
    if case.offset is not None:
        assert case.offset in {one["offset"] for one in diagnostics}, (case.name, diagnostics)
    assert any(case.says in one["message"] for one in diagnostics), (case.name, diagnostics)
    assert all(one["path"] in (None, str(path)) for one in diagnostics)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("malformed")
    write(folder)
    return folder


@pytest.mark.parametrize("target", TARGETS)
def test_the_batch_of_all_gives_one_result_each(shaderstat: Run, folder: Path, target: str) -> None:
    done = shaderstat("stats", "--json", "-t", target, folder)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    report = json.loads(done.stdout)
    paths = {one["id"]: {module["path"] for module in one["modules"]} for one in report["pipelines"]}
    by_path: dict[str, list[dict[str, Any]]] = {}
    for result in report["results"]:
        (path,) = paths[result["pipeline"]]
        by_path.setdefault(path, []).append(result)
    for case in CASES:
        path = folder / f"{case.name}.spv"
        for result in by_path.pop(str(path)):
            check(case, target, result, path)
    assert by_path == {}


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_alone(folder: Path, case: Case) -> None:
    """Two seconds and 300 MB at most, children included; the exit status says whether there is an answer."""
    path = folder / f"{case.name}.spv"
    command = [sys.executable, "-m", "shaderstat", "stats", "--json", "-t", "mock", str(path)]
    start = time.monotonic()
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30)),
    )
    assert time.monotonic() - start < 30
    assert b"Traceback" not in done.stderr
    results = json.loads(done.stdout)["results"]
    assert len(results) == 1 or case.name == "entries-2001"
    check(case, "mock", results[0], path)
    assert done.returncode == (0 if all(one["status"] == "ok" for one in results) else 2)
