"""What a run counted: tables with totals and shares, both kinds of CSV, JSON with every digit."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

import pytest

from shaderstat.annotate import instrumented
from shaderstat.instrumentation import Command, Instrumentation, Metric, MetricBlock, Offer, Resource
from shaderstat.model import Event, Pipeline, PipelineEvent, Result, ResultEvent
from shaderstat.reporters._counts import percent
from shaderstat.reporters.base import Options
from shaderstat.reporters.select import Selection
from tests.reporters.runs import answered, finished, pipeline, radv, target, written

FMA, LS = Metric("fma", "Fused multiply-adds executed"), Metric("ls", "Loads and stores")
DISPATCH = Command("dispatch", (4, 4, 1))
VERTEX, FRAGMENT, COMPUTE = 0x1, 0x10, 0x20
BUFFER = Resource("set 0 binding 1", "VK_DESCRIPTOR_TYPE_STORAGE_BUFFER", "4096 bytes", "zeros")


def block(
    stages: int, *values: int, number: int = 0, command: int = 0, sub: int = 0, submission: int = 0, made: bool = False
) -> MetricBlock:
    return MetricBlock(submission, command, sub, stages, number, values, made)


def run(
    *blocks: MetricBlock,
    metrics: Sequence[Metric] = (FMA, LS),
    commands: Sequence[Command] = (DISPATCH,),
    resources: Sequence[Resource] = (BUFFER,),
    per_block: bool = False,
    of: Pipeline | None = None,
    **members: Any,
) -> list[Event]:
    """A run's events."""
    of = of or pipeline("blur", workgroup=(8, 8, 1))
    offer = Offer(tuple(metrics), per_block) if metrics else None
    answer = Instrumentation(offer, tuple(commands), blocks=blocks, resources=tuple(resources), **members)
    result = Result(of.id, "radv:navi21", "ok", instrumentation=instrumented(answer))
    return answered([], more=[PipelineEvent(of), ResultEvent(result)])


def table(events: list[Event], **options: Any) -> str:
    return written("table", events, Options(view="run", **options)).decode()


def lines(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


# ── Tables ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_shader_as_a_whole_is_one_row_without_shares() -> None:
    assert table(run(block(COMPUTE, 4096, 128))).splitlines() == [
        "blur · compute · workgroup 8×8×1" + " " * 24 + "radv:navi21 · RADV, Mesa 22.3.6, null device",
        "",
        "  dispatch 4,4,1",
        "    stage     fma   ls",
        "    compute  4096  128",
        "",
        "  fma  Fused multiply-adds executed",
        "  ls   Loads and stores",
        "",
        "  run with  set 0 binding 1  STORAGE_BUFFER  4096 bytes  zeros",
        "",
        "  these numbers describe one execution with invented inputs",
    ]


def test_blocks_have_shares_and_their_stage_a_total() -> None:
    found = table(run(block(COMPUTE, 30, 0, number=0), block(COMPUTE, 10, 0, number=7), per_block=True))
    assert lines(found)[3:7] == [
        ["stage", "block", "fma", "%", "ls", "%"],
        ["compute", "0", "30", "75.0", "%", "0"],
        ["compute", "7", "10", "25.0", "%", "0"],
        ["compute", "total", "40", "100.0", "%", "0"],
    ]


def test_stages_stand_in_the_pipelines_order_with_the_commands_total() -> None:
    events = run(block(FRAGMENT, 3, 1), block(VERTEX, 1, 1), commands=[Command("draw", (3, 1, 1))])
    assert lines(table(events))[2:7] == [
        ["draw", "3,1"],
        ["stage", "fma", "%", "ls", "%"],
        ["vertex", "1", "25.0", "%", "1", "50.0", "%"],
        ["fragment", "3", "75.0", "%", "1", "50.0", "%"],
        ["total", "4", "2"],
    ]


def test_a_command_without_a_block_is_no_row_of_zeros() -> None:
    found = table(run(block(COMPUTE, 1, 2, command=1), commands=[DISPATCH, DISPATCH]))
    assert "  dispatch 4,4,1  no metric block\n\n  dispatch 4,4,1\n    stage" in found
    assert "no metric block" in table(run())


def test_an_index_that_was_never_recorded_is_said() -> None:
    assert "  command 7, never recorded\n" in table(run(block(COMPUTE, 1, 2, command=7)))


def test_submissions_stand_apart_unless_they_were_added_up() -> None:
    apart = table(run(block(COMPUTE, 1, 2), block(COMPUTE, 3, 4, submission=1), submissions=2))
    assert "  dispatch 4,4,1  submission 0\n" in apart and "  dispatch 4,4,1  submission 1\n" in apart
    added = table(run(block(COMPUTE, 4, 6, submission=1), submissions=2, accumulated=True))
    assert "  dispatch 4,4,1  2 submissions, added up\n" in added


def test_sub_indices_have_a_column_where_there_are_any() -> None:
    found = lines(table(run(block(COMPUTE, 1, 2, sub=0), block(COMPUTE, 3, 4, sub=5))))
    assert found[3][:3] == ["stage", "sub", "fma"]
    assert [row[:3] for row in found[4:7]] == [["compute", "0", "1"], ["compute", "5", "3"], ["compute", "total", "4"]]


def test_numbers_keep_every_digit() -> None:
    found = table(run(block(COMPUTE, 2**64 - 1, 1), block(COMPUTE, 2**64 - 1, 1, number=1)))
    assert str(2**64 - 1) in found and str(2 * (2**64 - 1)) in found


@pytest.mark.parametrize(
    ("tenths", "value", "text"),
    [(1000, 5, "100.0 %"), (0, 1, "<0.1 %"), (0, 0, "0.0 %"), (None, 0, ""), (7, 1, "0.7 %")],
)
def test_shares(tenths: int | None, value: int, text: str) -> None:
    assert percent(tenths, value) == text


def test_what_is_not_all_is_no_whole_share() -> None:
    found = lines(table(run(block(COMPUTE, 10**9, 0), block(COMPUTE, 1, 0, number=1))))
    assert found[4][2:4] == ["1000000000", "99.9"] and found[5][2:4] == ["1", "<0.1"]


def test_generated_stages_are_shown_on_demand_and_marked() -> None:
    events = run(block(VERTEX, 9, 9, made=True), block(FRAGMENT, 1, 2), commands=[Command("draw", (3, 1, 1))])
    assert "vertex" not in table(events)
    assert "vertex (generated)" in table(events, selection=Selection(synthetic=True))
    assert json.loads(written("json", events))["results"][0]["instrumentation"]["blocks"][0]["synthetic"]


def test_a_stage_may_be_chosen() -> None:
    events = run(block(VERTEX, 9, 9), block(FRAGMENT, 1, 2), commands=[Command("draw", (3, 1, 1))])
    found = table(events, selection=Selection(stages=("fragment",)))
    assert "vertex" not in found and "fragment" in found
    _, output = finished("table", events, Options(view="run", selection=Selection(stages=("mesh",))))
    assert output.unmatched() == ["--stage mesh: matched nothing"]


def test_a_run_of_which_nothing_is_chosen_is_left_out() -> None:
    compute = run(block(COMPUTE, 1, 2))
    draw = run(block(FRAGMENT, 3, 4), of=pipeline("water", "graphics"), commands=[Command("draw", (3, 1, 1))])
    found = table([*compute[:-1], *draw[2:]], selection=Selection(stages=("fragment",)))
    assert "water" in found and "blur" not in found
    assert "no metric block" in table(run(), selection=Selection(stages=("fragment",)))


def test_names_are_hostile_and_may_repeat_or_be_empty() -> None:
    metrics = [Metric("a\x1b[31m", "b\nc"), Metric("", ""), Metric("x", ""), Metric("x", "")]
    found = table(run(block(COMPUTE, 1, 2, 3, 4), metrics=metrics))
    assert "\x1b" not in found and "\\x1b[31m" in found and "b\\nc" in found
    assert lines(found)[3] == ["stage", "a\\x1b[31m", "(unnamed)", "x", "x", "(2)"]


def test_a_terminal_shows_the_blocks_that_count_most_and_says_how_many_more() -> None:
    blocks = [block(COMPUTE, number, 0, number=number) for number in range(100)]
    found = table(run(*blocks, per_block=True), width=80)
    assert "… 80 more blocks that count less: --json has all" in found
    rows = [row for row in lines(found) if row[:1] == ["compute"]]
    assert [row[1] for row in rows] == [*map(str, range(80, 100)), "total"]
    assert rows[-1][2] == str(sum(range(100)))
    piped = table(run(*blocks, per_block=True))
    assert len([row for row in lines(piped) if row[:1] == ["compute"]]) == 101


def test_what_has_no_room_is_left_out_as_a_whole_and_named() -> None:
    metrics = [Metric(f"metric{number}", "") for number in range(9)]
    events = run(block(COMPUTE, *[10**15] * 9), block(COMPUTE, *[1] * 9, number=1), metrics=metrics)
    stream, output = finished("table", events, Options(view="run", width=60))
    assert all(len(line) <= 60 for line in stream.decode().splitlines())
    (remark,) = output.remarks()
    assert remark.startswith("no room for: shares · metric8 · metric7") and remark.endswith("(--json has all)")


def test_without_instrumentation_nothing_is_counted() -> None:
    found = table(run(metrics=(), submissions=3))
    assert "  dispatch 4,4,1  ran, submitted 3 times; nothing was counted\n" in found
    assert "invented" not in found and "STORAGE_BUFFER" in found


def test_given_inputs_are_no_invented_ones() -> None:
    given = Resource("set 0 binding 1", "VK_DESCRIPTOR_TYPE_STORAGE_BUFFER", "16 bytes", "16 bytes given")
    assert "invented" not in table(run(block(COMPUTE, 1, 2), resources=[given]))


# ── Data ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def rows(data: bytes) -> list[dict[str, str]]:
    return [*csv.DictReader(io.StringIO(data.decode()))]


def test_json_sorts_blocks_and_keeps_exact_texts() -> None:
    blocks = [block(FRAGMENT, 1, 2**64 - 1, command=1), block(0x11, 3, 4, number=2), block(VERTEX, 5, 6, number=1)]
    found = json.loads(written("json", run(*blocks)))["results"][0]["instrumentation"]
    assert [(one["command"], one["stages"], one["basic_block"]) for one in found["blocks"]] == [
        (0, ["vertex"], 1),
        (0, ["vertex", "fragment"], 2),
        (1, ["fragment"], 0),
    ]
    assert found["blocks"][2]["texts"] == [None, str(2**64 - 1)]
    assert found["blocks"][0]["texts"] == []
    assert found["offer"]["metrics"][0] == {"name": "fma", "description": FMA.description}
    assert found["invented"] is True
    assert "read" not in found


def test_a_command_is_called_as_its_option_is() -> None:
    kinds = ("dispatch", "draw", "draw_mesh_tasks", "trace_rays")
    named = [str(Command(kind, (4, 2, 1))) for kind in kinds]
    assert named == ["dispatch 4,2,1", "draw 4,2", "draw-mesh-tasks 4,2,1", "trace 4,2,1"]


def test_inputs_are_spoken_of_where_there_are_numbers() -> None:
    for format in ("table", "csv", "csv-long"):
        data, output = finished(format, run(metrics=()))
        assert b"these numbers" not in data and output.remarks() == []


def test_long_tells_metrics_of_one_name_apart() -> None:
    data, _ = finished("csv-long", run(block(COMPUTE, 1, 2, 3), metrics=(FMA, FMA, LS)))
    assert len({(row["statistic"], row["key"]) for row in rows(data)}) == 3


def test_long_has_a_row_for_each_count() -> None:
    data, output = finished("csv-long", run(block(COMPUTE, 2**64 - 1, 7, number=3, sub=2)))
    first, second = rows(data)
    assert first["statistic"] == "fma" and first["stages"] == "compute" and first["executable"] == ""
    assert first["key"] == "submission=0 command=0 sub=2 block=3 metric=0"
    assert second["key"] == "submission=0 command=0 sub=2 block=3 metric=1"
    assert (first["format"], first["value"], first["text"]) == ("uint64", str(2**64 - 1), str(2**64 - 1))
    assert (second["value"], second["text"]) == ("7", "")
    assert output.remarks() == ["these numbers describe one execution with invented inputs"]


def test_long_says_that_a_run_counted_nothing() -> None:
    (row,) = rows(written("csv-long", run()))
    assert (row["statistic"], row["text"]) == ("", "ok")


def test_wide_has_a_row_for_each_block() -> None:
    metrics = [Metric("x", ""), Metric("x", ""), Metric("=1", "")]
    events = run(block(COMPUTE, 1, 2, 3), block(COMPUTE, 4, 5, 6, number=1), metrics=metrics)
    found = rows(written("csv", events, Options(view="run")))
    assert [*found[0]][-3:] == ["x", "x (2)", "'=1"]
    assert [(row["command"], row["stages"], row["basic_block"], row["x (2)"]) for row in found] == [
        ("dispatch 4,4,1", "compute", "0", "2"),
        ("dispatch 4,4,1", "compute", "1", "5"),
    ]
    (row,) = rows(written("csv", run(), Options(view="run")))
    assert (row["status"], row["stages"]) == ("ok", "")


def test_statistics_of_the_same_pipeline_stand_below() -> None:
    blur = pipeline("blur")
    events = answered([(blur, [radv("compute", 24)])], target())
    ran = next(event for event in run(block(COMPUTE, 1, 2), of=blur) if isinstance(event, ResultEvent))
    events = [
        ResultEvent(
            Result("blur", "radv:navi21", "ok", executables=event.result.executables,
                   instrumentation=ran.result.instrumentation),
            event.data,
        ) if isinstance(event, ResultEvent) else event
        for event in events
    ]  # fmt: skip
    found = table(events)
    assert found.index("dispatch 4,4,1") < found.index("Compute Shader") < found.index("VGPRs")
    long = rows(written("csv-long", events))
    assert {"VGPRs", "fma"} <= {row["statistic"] for row in long}
