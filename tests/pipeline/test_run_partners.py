"""Runs of lone stages: which generated partners are fed, and which make a run tell nothing."""

from __future__ import annotations

import pytest

from shaderstat.errors import Unsupported
from shaderstat.model import STAGE_BITS
from shaderstat.pipeline.run_partners import check_partners
from shaderstat.pipeline.spec import PipelineSpec, SpecModule
from shaderstat.pipeline.stages import FLAG_NAMES


def spec(kind: str, real: str, generated: str) -> PipelineSpec:
    stages = [*real.split(), *generated.split()]
    return PipelineSpec(
        kind=kind,
        modules=tuple(SpecModule(b"", one, synthetic=place >= len(real.split())) for place, one in enumerate(stages)),
        create_info={"pStages": [{"stage": FLAG_NAMES[one], "module": place} for place, one in enumerate(stages)]},
        synthetic_stages=sum(STAGE_BITS[one] for one in generated.split()),
    )


@pytest.mark.parametrize(
    ("kind", "real", "generated"),
    [
        ("graphics", "fragment", "vertex"),
        ("graphics", "task", "mesh fragment"),
        ("ray_tracing", "raygen", "miss closest_hit"),
        ("ray_tracing", "callable", "raygen"),
    ],
)
def test_partners_that_give_a_stage_something_to_do(kind: str, real: str, generated: str) -> None:
    check_partners(spec(kind, real, generated))


@pytest.mark.parametrize(
    ("kind", "real", "generated", "named"),
    [
        ("graphics", "fragment", "mesh", "mesh"),
        ("graphics", "tessellation_evaluation", "vertex tessellation_control fragment", "tessellation control"),
        ("ray_tracing", "miss", "raygen", "raygen"),
        ("ray_tracing", "closest_hit callable", "raygen", "raygen"),
    ],
)
def test_partners_that_give_it_nothing(kind: str, real: str, generated: str, named: str) -> None:
    with pytest.raises(Unsupported) as raised:
        check_partners(spec(kind, real, generated))
    assert raised.value.code == "run/lone-stage"
    assert f"the {named} stage of this pipeline is generated" in raised.value.message
