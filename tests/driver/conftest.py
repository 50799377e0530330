"""Tests in this folder ask a real compiler: RADV's null device, by default as navi21."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run, watch

NAVI21 = "radv:navi21"

Stats = Callable[..., dict[str, Any]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.driver)


@pytest.fixture
def stats(shaderstat: Run) -> Stats:
    """``stats(*arguments, env=…)``: the JSON report of a run on navi21 that must end with `status`."""

    def run(*arguments: str | Path, status: int = 0, **options: Any) -> dict[str, Any]:
        done = shaderstat("stats", "--json", "-t", NAVI21, *arguments, **options)
        assert done.returncode == status, done.stderr
        report = json.loads(done.stdout)
        assert isinstance(report, dict)
        return report

    return run


def numbers(report: dict[str, Any]) -> dict[tuple[str, int, str], list[tuple[str, Any]]]:
    """Every statistic of a report by (pipeline, index, executable): what must be equal between runs."""
    return {
        (result["pipeline"], one["index"], one["name"]): [
            (statistic["name"], statistic["text"] or statistic["value"]) for statistic in one["statistics"]
        ]
        for result in report["results"]
        for one in result["executables"]
    }


@pytest.fixture
def validation_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the Khronos validation layer writes: its settings come from a file, since children own their streams."""
    log = watch(tmp_path)
    monkeypatch.setenv("VK_LAYER_SETTINGS_PATH", str(tmp_path / "vk_layer_settings.txt"))
    monkeypatch.setenv("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation")
    return log
