"""Runs through the engine: what a device counted becomes a result, what it wrote stands beside it, nothing is kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import shaderstat
from shaderstat import engine
from shaderstat.errors import NoTarget, ShaderstatError
from shaderstat.instrumentation import Command, Execution, Fill
from shaderstat.model import Event, Request, ResultEvent, RunEvent
from tests.conftest import ROOT

SCALE = str(ROOT / "sample_spirv" / "scale.comp.spv")
RUN = Execution((Command("dispatch", (4, 1, 1)),), read=((0, 1),))

SCENARIO = """
instrumentation: {metrics: [fma], per_basic_block: true}
rules:
- blocks:
  - {submission: 1, stages: compute, values: [9007199254740993]}
  - {index: 0, stages: compute, basic_block: 7, values: [2]}
  - {index: 0, stages: compute, basic_block: 1, values: [1]}
  written: {0.1: 01 02}
"""


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO)
    return str(path)


def result(events: Iterator[Event]) -> ResultEvent:
    (found,) = [event for event in events if isinstance(event, ResultEvent)]
    return found


def test_blocks_are_sorted_and_told_exactly(scenario: str) -> None:
    found = result(engine.run(Request((SCALE,), scenario=scenario, execution=RUN)))
    run = found.result.instrumentation
    assert run is not None and run.offer is not None
    assert [(one.submission, one.basic_block, one.values) for one in run.blocks] == [
        (0, 1, (1,)),
        (0, 7, (2,)),
        (1, 0, (2**53 + 1,)),
    ]
    assert [one.texts for one in run.blocks] == [(), (), (str(2**53 + 1),)]
    assert run.blocks[0].stages == ("compute",)
    assert {one.where for one in run.resources} >= {"set 0 binding 0", "set 0 binding 1"}
    assert run.invented


def test_what_was_written_stands_beside_the_result(scenario: str) -> None:
    found = result(engine.run(Request((SCALE,), scenario=scenario, execution=RUN)))
    assert found.read == (((0, 1), b"\1\2"),)


def test_given_inputs_are_not_invented(scenario: str) -> None:
    data = Fill("data", 1024, data=bytes(1024))
    run = Execution(RUN.commands, buffers={(0, 0): data, (0, 1): data}, push=bytes(range(1, 13)))
    found = result(engine.run(Request((SCALE,), scenario=scenario, execution=run))).result.instrumentation
    assert found is not None
    assert {one.fill for one in found.resources} == {"1024 bytes given", "12 bytes given"}
    assert not found.invented


def test_nothing_is_remembered(scenario: str) -> None:
    for _ in range(2):
        assert not result(engine.run(Request((SCALE,), scenario=scenario, execution=RUN))).result.cached


def test_files_are_named_before_anything_is_run(scenario: str, tmp_path: Path) -> None:
    path = str(tmp_path / "out.bin")
    request = Request((SCALE,), scenario=scenario, execution={"commands": RUN.commands, "read": {(0, 1): path}})
    first = next(engine.run(request))
    assert isinstance(first, RunEvent) and first.reads == (("scale", (0, 1), path),)


def test_a_target_that_counts_nothing_is_no_target() -> None:
    with pytest.raises(NoTarget, match="executes nothing"):
        list(engine.run(Request((SCALE,), targets=("mock",), execution=RUN)))


@pytest.mark.parametrize("run", [{"comands": ()}, {"commands": (Command("dispatch", (0, 1, 1)),)}, {}])
def test_what_makes_no_run_is_told(scenario: str, run: dict[str, Any]) -> None:
    with pytest.raises(ShaderstatError):
        list(engine.run(Request((SCALE,), scenario=scenario, execution=run)))


def test_the_library_runs_pipelines(scenario: str) -> None:
    run = shaderstat.Execution((shaderstat.Command("dispatch", (4, 1, 1)),))
    report = shaderstat.inspect(SCALE, scenario=scenario, execution=run, statistics=False)
    (one,) = report.results
    assert one.instrumentation is not None and one.executables == ()
    plain = shaderstat.inspect(SCALE, scenario=scenario)
    assert plain.results[0].instrumentation is None and plain.results[0].executables


LOSING = """
instrumentation: {metrics: [fma], per_basic_block: false}
rules: [{run: {result: VK_ERROR_DEVICE_LOST}}]
"""


def test_what_hung_a_device_is_named_by_what_failed_after_it(tmp_path: Path) -> None:
    """NVIDIA's driver (580.159) loses the device for what is run after a shader that never ended, though nothing is
    wrong with it."""
    (tmp_path / "losing.yaml").write_text(LOSING)
    julia = str(ROOT / "sample_spirv" / "julia.comp.spv")
    request = Request((SCALE, julia), scenario=str(tmp_path / "losing.yaml"), execution=replace(RUN, read=()))
    first, second = [event.result for event in engine.run(request) if isinstance(event, ResultEvent)]
    for one in (first, second):
        assert one.failure is not None
        assert (one.failure.phase, one.failure.vk_result) == ("run", "VK_ERROR_DEVICE_LOST")
    assert "run/after-hang" not in {one.code for one in first.diagnostics}
    (told,) = [one for one in second.diagnostics if one.code == "run/after-hang"]
    assert (told.severity, told.message) == ("warning", "scale hung this device before: this may be its doing")
