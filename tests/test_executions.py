"""How the pipelines of a plan are run: by the command line over the manifest, each with commands of its kind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shaderstat.errors import ShaderstatError
from shaderstat.executions import with_runs
from shaderstat.instrumentation import Command, Execution, Fill
from shaderstat.model import Request
from shaderstat.plan import Outline, Plan, select
from tests.conftest import ROOT

SAMPLES = ROOT / "sample_spirv"
MESH = ROOT / "sample_optional"
DISPATCH, DRAW = Command("dispatch", (4, 1, 1)), Command("draw", (3, 1, 1))


def planned(*files: str, run: Any, **options: Any) -> Plan:
    request = Request(tuple(str(SAMPLES / name) for name in files), execution=run, **options)
    return with_runs(select(Outline(request).plan(), request), request)


def test_each_pipeline_takes_the_commands_of_its_kind() -> None:
    plan = planned("scale.comp.spv", "water.vert.spv", "water.frag.spv", run={"commands": (DRAW, DISPATCH)})
    assert [one.execution.commands for one in plan.items if one.execution] == [(DISPATCH,), (DRAW,)]
    assert plan.notes == ()


def test_mesh_pipelines_are_drawn_in_their_own_way() -> None:
    files = [str(path) for path in MESH.glob("*.mesh.spv")]
    assert files
    request = Request(tuple(files), execution={"commands": (DRAW,)})
    with pytest.raises(ShaderstatError, match=r"--draw-mesh-tasks X,Y,Z is needed"):
        with_runs(Outline(request).plan(), request)


def test_files_that_make_no_pipeline_need_no_command(tmp_path: Path) -> None:
    (tmp_path / "cut.spv").write_bytes(b"\x03\x02\x23\x07")
    request = Request((str(tmp_path), str(SAMPLES / "scale.comp.spv")), execution={"commands": (DISPATCH,)})
    plan = with_runs(Outline(request).plan(), request)
    assert [one.execution is None for one in plan.items] == [True, False]


def test_pipelines_that_are_not_chosen_need_none_either() -> None:
    plan = planned("scale.comp.spv", "water.vert.spv", run={"commands": (DISPATCH,)}, pipelines=("scale",))
    assert [one.candidate.name for one in plan.items] == ["scale"]


def test_a_whole_run_is_taken_as_it_is() -> None:
    run = Execution((DISPATCH,), repeat=3, buffers={(0, 0): Fill("iota")}, push=b"1234", read=((0, 1),))
    (one,) = planned("scale.comp.spv", run=run).items
    assert one.execution == run
    assert one.reads == {(0, 1): None}


def test_without_a_command_the_option_is_named() -> None:
    with pytest.raises(ShaderstatError) as caught:
        planned("scale.comp.spv", run={})
    assert caught.value.message == "scale is a compute pipeline: --dispatch X,Y,Z is needed"


def test_two_buffers_do_not_share_a_file(tmp_path: Path) -> None:
    run = {"commands": (DISPATCH,), "read": {(0, 1): str(tmp_path / "x")}}
    assert planned("scale.comp.spv", run=run).items[0].reads == {(0, 1): str(tmp_path / "x")}
    with pytest.raises(ShaderstatError, match="can't be read into the file of scale"):
        planned("scale.comp.spv", "sort.comp.spv", run=run)
    with pytest.raises(ShaderstatError, match="has 2 variants, and one file"):
        request = Request((), spec=())
        plan = planned("scale.comp.spv", run=run)
        (one,) = plan.items
        with_runs(
            replace(plan, items=(replace(one, variants=(*one.variants, *one.variants)),)),
            replace(request, execution=run),
        )


def test_nothing_that_is_read_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "in.bin"
    path.write_bytes(b"1234")
    fill = Fill("data", 4, data=b"1234", path=str(path))
    for name, value in (("buffers", {(0, 0): fill}), ("vertices", {0: fill}), ("push", fill)):
        with pytest.raises(ShaderstatError, match="is an input of this run"):
            planned("scale.comp.spv", run={"commands": (DISPATCH,), name: value, "read": {(0, 1): str(path)}})


@pytest.mark.parametrize(
    ("manifest", "typed", "counts"),
    [
        ("pipelines: {a: {modules: a.spv}}", {}, True),
        ("pipelines: {a: {modules: a.spv}}", {"metrics": False}, False),
        ("pipelines: {a: {modules: a.spv, run: {metrics: false}}}", {}, False),
        ("pipelines: {a: {modules: a.spv, run: {metrics: false}}, b: {modules: a.spv}}", {}, True),
        ("defaults: {run: {metrics: false}}\npipelines: {a: {modules: a.spv}}", {}, False),
        ("defaults: {run: {metrics: false}}\npipelines: {a: {modules: a.spv}}", {"metrics": True}, True),
    ],
)
def test_a_device_must_count_where_any_run_wants_it(
    tmp_path: Path, manifest: str, typed: dict[str, Any], counts: bool
) -> None:
    (tmp_path / "a.spv").write_bytes((SAMPLES / "scale.comp.spv").read_bytes())
    (tmp_path / "shaderstat.yaml").write_text(manifest)
    request = Request((), config=str(tmp_path / "shaderstat.yaml"), execution=typed)
    assert Outline(request).counts is counts
    assert Outline(replace(request, execution=None)).counts is False
