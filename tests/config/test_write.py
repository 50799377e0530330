"""Whole states written as a manifest: read back, they are the same pipeline."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from shaderstat.backends.mock import Facts
from shaderstat.backends.mock import scenario as mock
from shaderstat.child.prepare import prepare
from shaderstat.config import write
from shaderstat.config.manifest import read_manifest
from shaderstat.config.write import Written, manifest
from shaderstat.inputs import Candidate, find
from shaderstat.model import Job, JobModule, Setup
from shaderstat.pipeline.overrides import overlay
from shaderstat.pipeline.spec import PipelineSpec, to_plain
from shaderstat.pipeline.synthesis import synthesise
from tests.conftest import ROOT
from tests.pipeline.paper import PaperDevice

SAMPLES = find([str(ROOT / "sample_spirv")])
# One module for each stage of each sample, alone: what they lack is generated.
ALONE = [
    Candidate(f"{one.name}.{module.stage}", one.kind, (module,))
    for one in SAMPLES
    if len(one.modules) > 1
    for module in one.modules
]


def facts(device: str) -> Any:
    """The mock's device, and one without dynamic rendering, for which render passes are made."""
    return Facts(mock.read({})) if device == "mock" else PaperDevice(features=frozenset(), limits={})


def built(candidate: Candidate, layers: tuple[Any, ...], device: str) -> PipelineSpec:
    modules = tuple(JobModule(one.path, one.read(), one.stage, one.entry_point) for one in candidate.modules)
    prepared = prepare(Job(candidate.kind or "", modules))
    spec = synthesise(prepared.stages, facts(device))
    return overlay(spec, layers, prepared.stages, facts(device))


LAYERS: dict[str, tuple[Any, ...]] = {
    "nothing": (),
    "much": (
        {
            "options": {
                "samples": 4,
                "depth_format": "VK_FORMAT_D32_SFLOAT",
                "optimize": False,
                "immutable_samplers": {"maxLod": 0.25, "anisotropyEnable": 1},
            }
        },
    ),
}


@pytest.mark.parametrize("said", LAYERS)
@pytest.mark.parametrize("device", ["mock", "paper"])
@pytest.mark.parametrize("candidate", [*SAMPLES, *ALONE], ids=lambda one: one.name)
def test_a_sample_is_the_same_pipeline_when_passed_back(
    candidate: Candidate, device: str, said: str, tmp_path: Path
) -> None:
    spec = built(candidate, LAYERS[said], device)
    modules = [(one.path, one.stage, one.entry_point, one.alone) for one in candidate.modules]
    plain = json.loads(json.dumps(to_plain(spec), default=lambda value: value.decode("latin-1")))
    path = tmp_path / "shaderstat.yaml"
    path.write_text("\n".join(manifest([Written(candidate.name, modules, {}, Setup(), plain)])) + "\n")
    (entry,) = read_manifest(str(path)).entries
    assert entry.name == candidate.name
    assert [piece.path for piece in entry.pieces] == [one.path for one in candidate.modules]
    assert built(candidate, (json.loads(json.dumps(entry.said.layer)),), device) == spec


def test_what_belongs_to_the_device_is_written(tmp_path: Path) -> None:
    sample = next(one for one in SAMPLES if one.name == "tuned")
    setup = Setup("dxvk", (("VkPhysicalDeviceFeatures", "shaderInt64", False),), (("pEngineName", "null"),))
    state = json.loads(json.dumps(to_plain(built(sample, (), "mock"))))
    modules = [(one.path, one.stage, one.entry_point, False) for one in sample.modules]
    written = Written("a b", modules, {"fragment:0": "0x10", "KIND": "true", "1": "-1.5e3"}, setup, state)
    path = tmp_path / "shaderstat.yaml"
    path.write_text("\n".join(manifest([written], ["for people"])) + "\n")
    (entry,) = read_manifest(str(path)).entries
    assert entry.said.setup(Setup()) == setup
    assert [(one.stage, one.constant, one.values) for one in entry.said.spec[0]] == [
        ("fragment", "0", ("0x10",)),
        (None, "KIND", ("true",)),
        (None, "1", ("-1.5e3",)),
    ]
    assert (entry.pieces[0].stage, entry.pieces[0].entry) == ("compute", "main")


@given(
    st.recursive(st.text() | st.booleans() | st.integers() | st.floats(allow_nan=False), lambda inner: st.lists(inner))
)
def test_any_value_is_the_same_to_another_reader(value: Any) -> None:
    if _has_surrogates(value):
        return
    assert yaml.safe_load(write._flow({"a": value})) == {"a": value}


def test_numbers_that_yaml_spells_its_own_way() -> None:
    assert yaml.safe_load(write._flow([1e300, 1e-7, math.inf, -math.inf])) == [1e300, 1e-7, math.inf, -math.inf]


def _has_surrogates(value: Any) -> bool:
    if isinstance(value, list):
        return any(_has_surrogates(each) for each in value)
    return isinstance(value, str) and any("\ud800" <= each <= "\udfff" for each in value)
