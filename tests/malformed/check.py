"""Results against the table of hostile files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.malformed.make import Case, cases

CASES = list(cases())


def check_result(case: Case, result: dict[str, Any], path: Path) -> None:
    """One result against its row."""
    status = case.mock if case.mock and result["target"] == "mock" else case.status
    allowed = (status,) if isinstance(status, str) else status
    assert result["status"] in allowed, (case.name, result)
    if result["status"] == "ok":
        return
    diagnostics = result["diagnostics"]
    assert diagnostics or result["failure"], case.name
    if case.code:
        assert case.code in {one["code"] for one in diagnostics}, (case.name, diagnostics)
    if case.offset is not None:
        assert case.offset in {one["offset"] for one in diagnostics}, (case.name, diagnostics)
    assert not case.says or any(case.says in one["message"] for one in diagnostics), (case.name, diagnostics)
    assert all(one["path"] in (None, str(path)) for one in diagnostics), (case.name, diagnostics)


def check_batch(stdout: str, folder: Path) -> None:
    """A JSON report of all files in `folder`: every one has its results, and nothing else has."""
    report = json.loads(stdout)
    paths = {one["id"]: {module["path"] for module in one["modules"]} for one in report["pipelines"]}
    by_path: dict[str, list[dict[str, Any]]] = {}
    for result in report["results"]:
        (path,) = paths[result["pipeline"]]
        by_path.setdefault(path, []).append(result)
    for case in CASES:
        path = folder / f"{case.name}.spv"
        for result in by_path.pop(str(path)):
            check_result(case, result, path)
    assert by_path == {}
