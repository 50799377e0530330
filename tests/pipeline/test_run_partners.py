"""Runs of lone stages: which generated partners are fed, and which make a run tell nothing."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Any

import pytest

from shaderstat.errors import Unsupported
from shaderstat.instrumentation import Command, Execution, Fill
from shaderstat.model import STAGE_BITS
from shaderstat.pipeline.run_partners import check_partners, covers, turned, vertex_data
from shaderstat.pipeline.spec import PipelineSpec, SpecModule
from shaderstat.pipeline.stages import FLAG_NAMES

DRAW = Execution((Command("draw", (3, 1, 1)),))
TRIANGLES = "VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST"


def spec(kind: str, real: str, generated: str) -> PipelineSpec:
    stages = [*real.split(), *generated.split()]
    return PipelineSpec(
        kind=kind,
        modules=tuple(SpecModule(b"", one, synthetic=place >= len(real.split())) for place, one in enumerate(stages)),
        create_info={
            "pStages": [{"stage": FLAG_NAMES[one], "module": place} for place, one in enumerate(stages)],
            "pInputAssemblyState": {"topology": TRIANGLES},
        },
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
    check_partners(spec(kind, real, generated), DRAW)


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
        check_partners(spec(kind, real, generated), DRAW)
    assert raised.value.code == "run/lone-stage"
    assert f"the {named} stage of this pipeline is generated" in raised.value.message


# ── A lone fragment stage ─────────────────────────────────────────────────────────────────────────────────────────


def lone_fragment(topology: str = "TRIANGLE_LIST", **raster: Any) -> PipelineSpec:
    one = spec("graphics", "fragment", "vertex")
    more: dict[str, Any] = {
        "pInputAssemblyState": {"topology": f"VK_PRIMITIVE_TOPOLOGY_{topology}"},
        "pRasterizationState": raster,
        "pVertexInputState": {
            "pVertexBindingDescriptions": [{"binding": 0, "stride": 16}],
            "pVertexAttributeDescriptions": [
                {"location": 0, "binding": 0, "format": "VK_FORMAT_R32G32B32A32_SFLOAT", "offset": 0}
            ],
        },
    }
    return replace(one, create_info={**one.create_info, **more})


def drawn(vertices: int) -> Execution:
    return Execution((Command("draw", (vertices, 1, 1)),))


@pytest.mark.parametrize(
    ("topology", "fewest"),
    [
        ("TRIANGLE_LIST", 3),
        ("TRIANGLE_STRIP", 3),
        ("TRIANGLE_FAN", 3),
        ("TRIANGLE_LIST_WITH_ADJACENCY", 6),
        ("TRIANGLE_STRIP_WITH_ADJACENCY", 6),
    ],
)
def test_a_triangle_has_three_corners(topology: str, fewest: int) -> None:
    """With adjacency every other vertex is a corner ("Primitive Topologies")."""
    check_partners(lone_fragment(topology), drawn(fewest))
    with pytest.raises(Unsupported) as raised:
        check_partners(lone_fragment(topology), Execution((*drawn(36).commands, *drawn(fewest - 1).commands)))
    assert raised.value.message.endswith(f"covers the target: draw {fewest - 1},1 has too few vertices")
    assert raised.value.hint == f"--draw {fewest}"


@pytest.mark.parametrize("topology", ["POINT_LIST", "LINE_LIST", "LINE_STRIP", "LINE_STRIP_WITH_ADJACENCY"])
def test_points_and_lines_cover_nothing(topology: str) -> None:
    with pytest.raises(Unsupported) as raised:
        check_partners(lone_fragment(topology), drawn(36))
    assert raised.value.code == "run/lone-stage" and f"a {topology} draws none" in raised.value.message


@pytest.mark.parametrize(
    ("raster", "said"),
    [
        ({"polygonMode": "VK_POLYGON_MODE_LINE"}, "VK_POLYGON_MODE_LINE leaves it empty"),
        ({"rasterizerDiscardEnable": 1}, "discards"),
        ({"cullMode": "VK_CULL_MODE_FRONT_AND_BACK"}, "culls both"),
    ],
)
def test_state_that_leaves_nothing_to_cover(raster: dict[str, Any], said: str) -> None:
    with pytest.raises(Unsupported) as raised:
        check_partners(lone_fragment(**raster), drawn(3))
    assert said in raised.value.message


@pytest.mark.parametrize(
    ("cull", "front", "expected"),
    [
        ("NONE", "COUNTER_CLOCKWISE", False),
        ("BACK", "COUNTER_CLOCKWISE", True),
        ("FRONT", "COUNTER_CLOCKWISE", False),
        ("BACK", "CLOCKWISE", False),
        ("FRONT", "CLOCKWISE", True),
    ],
)
def test_the_triangle_is_turned_so_that_it_is_not_culled(cull: str, front: str, expected: bool) -> None:
    """Its corners are (0, 0), (2W, 0) and (0, 2H) in the framebuffer: by "Basic Polygon Rasterization" its area is
    -2WH, which is clockwise."""
    mode = "VK_CULL_MODE_NONE" if cull == "NONE" else f"VK_CULL_MODE_{cull}_BIT"
    one = lone_fragment(cullMode=mode, frontFace=f"VK_FRONT_FACE_{front}")
    assert turned(one) is expected
    corners = [struct.unpack_from("=2f", vertex_data(one, 3)[0], 16 * place) for place in range(3)]
    assert corners == [(-1, -1), (3, -1), (-1, 3)][:: -1 if expected else 1]


def test_what_stands_between_takes_the_corners_as_it_likes() -> None:
    assert covers(lone_fragment())
    assert not covers(spec("graphics", "geometry", "vertex fragment"))
    assert not covers(spec("graphics", "vertex fragment", ""))
    check_partners(spec("graphics", "geometry", "vertex fragment"), drawn(1))
    given = replace(drawn(1), vertices={0: Fill(size=16)})
    check_partners(lone_fragment("LINE_LIST"), given)  # whose they are is known
