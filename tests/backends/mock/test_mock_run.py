"""Runs on the mock: nothing is executed, so that what is counted is what a scenario says, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from shaderstat.backends.base import DriverError
from shaderstat.backends.mock import open as open_mock
from shaderstat.child.spirv_tools import SpirvTools
from shaderstat.errors import Unsupported
from shaderstat.instrumentation import Command, Execution, Instrumentation, Metric, MetricBlock, Offer
from shaderstat.model import Launch
from shaderstat.pipeline.resources import Resources
from tests.assembly import assemble, compute
from tests.backends.mock.measure import spec

MODULE = assemble(compute("%1 = OpLabel\nOpReturn"))
OFFER = {"metrics": [{"name": "fma", "description": ""}], "per_basic_block": False}
BLOCK = {"submission": 0, "index": 0, "sub_index": 0, "stages": 0x20, "basic_block": 0, "values": [2**64 - 1]}
RUN = Execution((Command("dispatch", (1, 1, 1)),))


def ran(scenario: dict[str, Any] | None, execution: Execution = RUN, *, runs: bool = True) -> Instrumentation:
    backend = open_mock(Launch("mock", "mock", "mock", scenario=scenario, runs=runs), SpirvTools(None))
    with backend.compile(spec(MODULE), statistics=False, representations=False, instrument=True) as pipeline:
        return pipeline.run(execution, Resources())


def test_without_a_scenario_it_offers_nothing_and_runs_nothing() -> None:
    assert open_mock(Launch("mock", "mock", "mock", runs=True), SpirvTools(None)).offer is None
    with pytest.raises(Unsupported, match="the mock executes nothing"):
        ran(None)


def test_it_offers_where_shaders_shall_run() -> None:
    launch = Launch("mock", "mock", "mock", scenario={"instrumentation": OFFER})
    assert open_mock(launch, SpirvTools(None)).offer is None


def test_blocks_are_those_of_the_rule() -> None:
    found = ran({"instrumentation": OFFER, "rules": [{"path": "x", "blocks": []}, {"blocks": [BLOCK, BLOCK]}]})
    assert found.offer == Offer((Metric("fma", ""),), False)
    assert found.blocks == (MetricBlock(0, 0, 0, 0x20, 0, (2**64 - 1,)),) * 2
    assert (found.commands, found.submissions, found.accumulated) == (RUN.commands, 1, False)


def test_a_run_without_instrumentation_has_no_blocks() -> None:
    execution = Execution(RUN.commands, metrics=False, repeat=3)
    found = ran({"instrumentation": OFFER, "rules": [{"blocks": [BLOCK]}]}, execution)
    assert (found.offer, found.blocks, found.submissions, len(found.run_ns)) == (None, (), 3, 3)


def test_buffers_hold_what_the_scenario_says() -> None:
    scenario = {"instrumentation": OFFER, "rules": [{"written": [[0, 1, "0102"]]}]}
    assert ran(scenario, Execution(RUN.commands, read=((0, 1),))).read == (((0, 1), b"\1\2"),)
    with pytest.raises(Unsupported, match="set 0 binding 2"):
        ran(scenario, Execution(RUN.commands, read=((0, 2),)))


def test_a_run_may_fail() -> None:
    with pytest.raises(DriverError, match="vkQueueSubmit returned VK_ERROR_DEVICE_LOST"):
        ran({"instrumentation": OFFER, "rules": [{"run": {"result": "VK_ERROR_DEVICE_LOST"}}]})
