"""Where capture flags go, and how long things took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from shaderstat.backends.vulkan.builder import Arena
from shaderstat.backends.vulkan.pipelines import _Feedback, with_flags
from shaderstat.errors import Unsupported

CAPTURE = 0xC0
FEEDBACK = "VkPipelineCreationFeedbackCreateInfo"


@dataclass
class Facts:
    api_version: tuple[int, int, int] = (1, 3, 0)
    extensions: tuple[str, ...] = ()

    def has_extension(self, name: str) -> bool:
        return name in self.extensions


@pytest.mark.parametrize(
    ("given", "flags"),
    [
        ({}, 0xC0),
        ({"flags": 1}, 0xC1),
        ({"flags": "VK_PIPELINE_CREATE_DISABLE_OPTIMIZATION_BIT | VK_PIPELINE_CREATE_LIBRARY_BIT_KHR"}, 0x8C1),
    ],
)
def test_capture_flags_are_added(given: dict[str, Any], flags: int) -> None:
    before = dict(given)
    assert with_flags(given, CAPTURE)["flags"] == flags
    assert given == before


@pytest.mark.parametrize("name", ["VkPipelineCreateFlags2CreateInfo", "VkPipelineCreateFlags2CreateInfoKHR"])
def test_the_64_bit_flags_are_used_instead_where_they_are_there(name: str) -> None:
    given = {"flags": 1, "pNext": [[name, {"flags": "VK_PIPELINE_CREATE_2_64_BIT_INDEXING_BIT_EXT"}], ["VkOther", {}]]}
    found = with_flags(given, CAPTURE)
    assert found["pNext"] == [[name, {"flags": 0x800000000C0}], ["VkOther", {}]]
    assert found["flags"] == 1
    assert given["pNext"][0][1] == {"flags": "VK_PIPELINE_CREATE_2_64_BIT_INDEXING_BIT_EXT"}  # type: ignore[index]


def test_an_unknown_flag_is_named() -> None:
    with pytest.raises(Unsupported, match="VK_PIPELINE_CREATE_NOPE"):
        with_flags({"flags": "VK_PIPELINE_CREATE_NOPE"}, CAPTURE)


def feedback(stages: list[dict[str, Any]], facts: Facts) -> tuple[_Feedback, dict[str, Any]]:
    plain: dict[str, Any] = {"pStages": stages}
    return _Feedback(Arena(), plain, facts), plain  # type: ignore[arg-type]


def test_durations_are_those_marked_valid() -> None:
    names = ["VK_SHADER_STAGE_RAYGEN_BIT_KHR", "VK_SHADER_STAGE_CLOSEST_HIT_BIT_KHR", 0x400, 0x40000000]
    found, plain = feedback([{"stage": name} for name in names], Facts())
    ((name, chained),) = plain["pNext"]
    assert (name, chained["pipelineStageCreationFeedbackCount"]) == (FEEDBACK, 4)
    whole, parts = chained["pPipelineCreationFeedback"], chained["pPipelineStageCreationFeedbacks"]
    assert found.durations(9).pipeline is None and found.durations(9).stages == {}
    whole.flags, whole.duration = 1, 1000
    for part, duration in zip(parts, (1, 20, 300, 4000), strict=True):
        part.flags, part.duration = 1, duration
    parts[0].flags = 2  # a cache hit, and not valid
    durations = found.durations(5000)
    assert (durations.pipeline, durations.wall) == (1000, 5000)
    assert durations.stages == {"closest_hit": 320, "0x40000000": 4000}  # two hit shaders in one


def test_feedback_is_asked_for_only_where_it_is_there() -> None:
    stages = [{"stage": "VK_SHADER_STAGE_VERTEX_BIT"}]
    assert "pNext" in feedback(stages, Facts((1, 2, 0), ("VK_EXT_pipeline_creation_feedback",)))[1]
    found, plain = feedback(stages, Facts((1, 2, 0)))
    assert "pNext" not in plain
    assert found.durations(7).wall == 7
