"""The validator's word on each module of a pipeline, asked once."""

from __future__ import annotations

from typing import cast

import pytest

from shaderstat.backends.mock import Facts
from shaderstat.backends.mock.scenario import Scenario
from shaderstat.child.prepare import prepare
from shaderstat.child.spirv_tool import Options
from shaderstat.child.spirv_tools import SpirvTools, Verdict
from shaderstat.child.validate import Validator
from shaderstat.errors import InvalidSpirv
from shaderstat.model import Diagnostic, Job, JobModule
from shaderstat.pipeline.stages import StageInput
from tests.inputs.modules import VERTEX, VERTEX_MODULE, entry, module


class Tools:
    """SPIRV-Tools that say what a test wants, and count how often they are asked."""

    version = "v2099.1"

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        self.asked = 0
        self.limits: list[float] = []

    def take_at_most(self, seconds: float) -> None:
        self.limits.append(seconds)

    def validate(self, words: bytes, environment: str, options: Options) -> Verdict:
        self.asked += 1
        return self.verdict


def stages(data: bytes, name: str = "main", path: str = "x.spv") -> tuple[StageInput, ...]:
    return prepare(Job("graphics", (JobModule(path, data, "vertex", name),))).stages


def validator(tools: Tools) -> Validator:
    return Validator(cast(SpirvTools, tools), Facts(Scenario()))


def test_a_module_that_takes_too_long_is_tried_once_for_all_its_entry_points() -> None:
    library = module(*(entry(VERTEX, f"e{number}") for number in range(20)))
    tools = Tools(Verdict("unavailable", "SPIRV-Tools v2099.1 took more than 10 s"))
    asked = validator(tools)
    for number in range(20):
        remarks: list[Diagnostic] = []
        asked.check(stages(library, f"e{number}"), remarks, timeout_s=20.0)
        assert [each.code for each in remarks] == ["spirv/not-validated"]
    assert tools.asked == 1
    assert set(tools.limits) == {5.0}
    asked.check(stages(VERTEX_MODULE), [], timeout_s=20.0)
    assert tools.asked == 2


def test_a_refusal_is_remembered_and_names_each_pipelines_own_file() -> None:
    tools = Tools(Verdict("refused", "no good", 3, 28))
    asked = validator(tools)
    for path in ("a.spv", "b.spv"):
        with pytest.raises(InvalidSpirv) as caught:
            asked.check(stages(VERTEX_MODULE, path=path), [], timeout_s=60.0)
        assert (caught.value.code, caught.value.path, caught.value.offset) == ("spirv/invalid", path, 28)
    assert tools.asked == 1
