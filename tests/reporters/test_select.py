"""What is shown, and in which order: the same in every format."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from shaderstat.errors import ShaderstatError
from shaderstat.model import (
    Diagnostic,
    Event,
    NoteEvent,
    PipelineEvent,
    RepresentationAnswer,
    Result,
    ResultEvent,
)
from shaderstat.reporters.base import FORMATS, Options, create
from shaderstat.reporters.select import Selection
from tests.reporters.runs import (
    NVIDIA,
    UNKNOWN,
    answered,
    executable,
    finished,
    pipeline,
    radv,
    statistic,
    target,
    written,
)

CRASHED: list[Event] = [PipelineEvent(pipeline("dead")), ResultEvent(Result("dead", "radv:navi21", "crashed"))]

RUN = answered(
    [
        (pipeline("a", "graphics"), [radv("vertex", 64), radv("fragment", 8, spilled=3)]),
        (pipeline("b"), [radv("compute", 24, size=100)]),
        (pipeline("c", "graphics"), [radv("vertex", 16), radv("fragment", 32)]),
    ],
    more=CRASHED,
)


DATA_FORMATS = ("table", "json", "jsonl", "csv", "csv-long")


def cells(selection: Selection, *columns: str, events: list[Event] = RUN) -> list[tuple[str, ...]]:
    data = written("csv", events, Options(selection=selection)).decode()
    return [tuple(row[column] for column in columns) for row in csv.DictReader(io.StringIO(data))]


def report(selection: Selection, events: list[Event] = RUN) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(written("json", events, Options(selection=selection)))
    return data


def names(report: dict[str, Any]) -> list[str]:
    return [
        f"{result['pipeline']}.{executable['stages'][0]}"
        for result in report["results"]
        for executable in result["executables"]
    ]


# ── Statistics ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("globs", "kept"),
    [
        (("VGPRs",), ["VGPRs"]),
        (("vgprs",), ["VGPRs"]),
        (("registers",), ["VGPRs"]),  # its key
        (("spillvgprs",), ["Spilled VGPRs"]),  # its label
        (("*vgprs*",), ["VGPRs", "Spilled VGPRs"]),
        (("code*", "HASH"), ["Code size", "Hash"]),
        (("code siz?",), ["Code size"]),
    ],
)
def test_globs_match_name_label_and_key(globs: tuple[str, ...], kept: list[str]) -> None:
    found = report(Selection(statistics=globs))
    assert [each["name"] for each in found["results"][0]["executables"][0]["statistics"]] == kept
    assert [each["name"] for each in found["targets"][0]["statistics"]] == kept
    header = written("csv", RUN, Options(selection=Selection(statistics=globs))).decode().splitlines()[0]
    assert header.split(",")[8:] == kept


def test_a_glob_that_matches_nothing_is_said() -> None:
    _, output = finished("json", RUN, Options(selection=Selection(statistics=("VGPRs", "vgrps"))))
    assert output.unmatched() == ["--stat vgrps: matched nothing"]


def test_nothing_is_said_where_there_was_nothing_to_match() -> None:
    _, output = finished("json", answered([], more=CRASHED), Options(selection=Selection(statistics=("VGPRs",))))
    assert output.unmatched() == []


# ── Executables ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_stages_choose_executables_and_failures_stay() -> None:
    found = report(Selection(stages=("fragment",)))
    assert names(found) == ["a.fragment", "c.fragment"]
    assert [result["pipeline"] for result in found["results"]] == ["a", "c", "dead"]
    assert [each["id"] for each in found["pipelines"]] == ["a", "c", "dead"]
    assert found["results"][0]["executables"][0]["index"] == 1


def test_an_executable_of_two_stages_is_either() -> None:
    merged = executable("vertex", statistic("VGPRs", 8), name="Vertex + Geometry Shader")
    merged = type(merged)(**{**{name: getattr(merged, name) for name in merged.__slots__}, "stages": 0x9})
    events = answered([(pipeline("a", "graphics"), [merged, radv("fragment", 8)])])
    for stage in ("vertex", "geometry"):
        assert cells(Selection(stages=(stage,)), "executable", events=events) == [("Vertex + Geometry Shader",)]


def test_a_stage_that_is_nowhere_is_said() -> None:
    _, output = finished("table", RUN, Options(selection=Selection(stages=("vertex", "mesh"))))
    assert output.unmatched() == ["--stage mesh: matched nothing"]


def test_made_up_executables_are_in_the_document_alone() -> None:
    made_up = executable("vertex", statistic("VGPRs", 4), synthetic=True)
    events = answered([(pipeline("a", "graphics"), [made_up, radv("fragment", 8)])])
    assert names(report(Selection(), events)) == ["a.vertex", "a.fragment"]
    assert cells(Selection(), "stages", events=events) == [("fragment",)]
    assert cells(Selection(synthetic=True), "stages", events=events) == [("vertex",), ("fragment",)]
    assert b"vertex" not in written("table", events)


# ── Representations ───────────────────────────────────────────────────────────────────────────────────────────────


def test_globs_choose_representations_and_their_bytes() -> None:
    parts = tuple(
        RepresentationAnswer(name, "", True, text)
        for name, text in (("NIR Shader(s)", b"nir"), ("ACO IR", b"aco"), ("Assembly", b"asm"))
    )
    events = answered([(pipeline("a"), [executable("compute", representations=parts)])])
    options = Options(view="ir", selection=Selection(representations=("a*",)))
    text, output = finished("table", events, options)
    assert b"aco" in text and b"asm" in text and b"nir" not in text
    assert output.unmatched() == []
    _, output = finished("table", events, Options(view="ir", selection=Selection(representations=("elf",))))
    assert output.unmatched() == ["--ir elf: matched nothing"]


# ── Order ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("VGPRs", ["64", "32", "24", "16", "8"]),
        ("registers", ["64", "32", "24", "16", "8"]),
        ("-vgprs", ["8", "16", "24", "32", "64"]),
    ],
)
def test_the_worst_comes_first_and_failures_last(sort: str, order: list[str]) -> None:
    assert [row[0] for row in cells(Selection(sort=sort), "VGPRs")] == [*order, ""]


def test_where_more_is_better_the_least_comes_first() -> None:
    assert cells(Selection(sort="occupancy", top=1), "Subgroups per SIMD", "VGPRs")[0] == ("16", "64")
    assert cells(Selection(sort="-occupancy"), "Subgroups per SIMD")[0] == ("32",)


def test_equal_ones_keep_their_order() -> None:
    assert [row[0] for row in cells(Selection(sort="Copies"), "VGPRs")] == ["64", "8", "24", "16", "32", ""]


def test_what_has_no_such_statistic_comes_last() -> None:
    events = answered(
        [
            (pipeline("a"), [executable("compute", statistic("LDS size", 1))]),
            (pipeline("b"), [executable("compute", statistic("VGPRs", 1))]),
        ]
    )
    for sort in ("VGPRs", "-VGPRs"):
        assert [row[0] for row in cells(Selection(sort=sort), "pipeline", events=events)] == ["b", "a"]


def test_a_key_is_the_sum_of_those_that_judge_by_it() -> None:
    events = answered(
        [
            (pipeline("a"), [executable("compute", statistic("Spilled SGPRs", 0), statistic("Spilled VGPRs", 3))]),
            (pipeline("b"), [executable("compute", statistic("Spilled SGPRs", 2), statistic("Spilled VGPRs", 2))]),
        ]
    )
    assert [row[0] for row in cells(Selection(sort="spills"), "pipeline", events=events)] == ["b", "a"]
    assert [row[0] for row in cells(Selection(sort="Spilled VGPRs"), "pipeline", events=events)] == ["a", "b"]


def test_top_cuts_executables_and_keeps_failures() -> None:
    assert cells(Selection(sort="VGPRs", top=2), "pipeline", "VGPRs") == [("a", "64"), ("c", "32"), ("dead", "")]
    assert cells(Selection(top=2), "pipeline", "VGPRs") == [("a", "64"), ("a", "8"), ("dead", "")]


def test_the_document_keeps_one_result_a_pipeline() -> None:
    found = report(Selection(sort="VGPRs", top=4))
    assert names(found) == ["a.vertex", "c.vertex", "c.fragment", "b.compute"]
    assert [result["pipeline"] for result in found["results"]] == ["a", "c", "b", "dead"]


def test_each_target_has_its_own_top() -> None:
    events = answered([(pipeline("a"), [radv("compute", 8)]), (pipeline("b"), [radv("compute", 16)])], target(),
                      target("radv:navi22"))  # fmt: skip
    found = cells(Selection(sort="VGPRs", top=1), "target", "pipeline", events=events)
    assert found == [("radv:navi21", "b"), ("radv:navi22", "b")]


def test_sorting_looks_at_what_is_not_shown() -> None:
    found = cells(Selection(statistics=("VGPRs",), sort="code_size", top=1), "pipeline", "VGPRs")
    assert found[0] == ("a", "64")
    assert cells(Selection(statistics=("VGPRs",), sort="-code_size", top=1), "pipeline", "VGPRs")[0] == ("b", "24")


@pytest.mark.parametrize("format", DATA_FORMATS)
@pytest.mark.parametrize(
    "selection",
    [
        Selection(sort="vgrps"),
        Selection(sort="vgrps", top=1),
        Selection(statistics=("vgrps",)),
        Selection(statistics=("vgrps", "sgrps"), sort="VGPRs"),
        Selection(stages=("mesh",)),
    ],
)
def test_what_matches_nothing_shows_nothing_but_failures(format: str, selection: Selection) -> None:
    text = written(format, RUN, Options(selection=selection)).decode()
    assert "dead" in text
    assert not any(word in text for word in ("fragment", "Shader", "616"))


@pytest.mark.parametrize("format", DATA_FORMATS)
def test_representations_that_are_not_there_are_no_reason_to_show_others(format: str) -> None:
    part = RepresentationAnswer("Assembly", "", True, b"asm")
    events = answered([(pipeline("a"), [executable("compute", representations=(part,))])])
    options = Options(view="ir", selection=Selection(representations=("elf",)))
    assert b"compute" not in written(format, events, options)


def test_a_statistic_that_comes_late_shows_what_came_before_it() -> None:
    events = answered(
        [
            (pipeline("a"), [executable("compute", statistic("LDS size", 1))]),
            (pipeline("b"), [executable("compute", statistic("VGPRs", 7))]),
        ]
    )
    selection = Selection(statistics=("VGPRs",))
    assert cells(selection, "pipeline", "VGPRs", events=events) == [("a", ""), ("b", "7")]
    found = written("csv-long", events, Options(selection=selection)).decode().splitlines()[1:]
    assert [line.split(",")[0] for line in found] == ["a", "b"]


def test_a_target_that_can_not_be_sorted_is_left_out_and_named() -> None:
    other = target("host:0", NVIDIA)
    events = answered([(pipeline("a"), [radv("compute", 8)])], target())
    more = answered([(pipeline("a"), [executable("compute", statistic("Register Count", 9))])], other)[1:-1]
    options = Options(selection=Selection(sort="VGPRs"))
    data, output = finished("csv", [*events[:-1], *more, events[-1]], options)
    assert [row["target"] for row in csv.DictReader(io.StringIO(data.decode()))] == ["radv:navi21"]
    assert output.unmatched() == []
    assert list(output.remarks()) == ["--sort VGPRs: no such statistic on host:0"]


def test_a_note_in_between_does_not_disturb_the_order() -> None:
    note = NoteEvent(Diagnostic("warning", "x/y", "in between"))
    places = [place for place, event in enumerate(RUN) if isinstance(event, ResultEvent)]
    events = [*RUN[: places[1]], note, *RUN[places[1] :]]
    assert cells(Selection(sort="VGPRs"), "VGPRs", events=events) == cells(Selection(sort="VGPRs"), "VGPRs")


def test_sorting_by_nothing_is_said() -> None:
    _, output = finished("csv", RUN, Options(selection=Selection(sort="vgrps")))
    assert output.unmatched() == ["--sort vgrps: matched nothing"]


def test_unreadable_values_do_not_stop_the_sorting() -> None:
    nan = 0x7FF8000000000000
    events = answered(
        [
            (pipeline("a"), [executable("compute", statistic("Cost", nan, "float64"))]),
            (pipeline("b"), [executable("compute", statistic("Cost", 0x3FF0000000000000, "float64"))]),
        ],
        target(driver=UNKNOWN),
    )
    assert [row[0] for row in cells(Selection(sort="cost"), "pipeline", events=events)] == ["b", "a"]


# ── All formats ───────────────────────────────────────────────────────────────────────────────────────────────────


# An archive holds pipelines, Fossilize's table has no rows for failures.
@pytest.mark.parametrize("format", [each for each in FORMATS if each not in ("foz", "fossilize-csv")])
def test_every_format_is_given_the_same_selection(format: str) -> None:
    text = written(format, RUN, Options(selection=Selection(statistics=("VGPRs",), sort="VGPRs", top=1))).decode()
    assert "64" in text and "dead" in text
    assert "Copies" not in text and "Code size" not in text and "fragment" not in text


def test_an_unknown_format_is_refused_with_those_that_are() -> None:
    with pytest.raises(ShaderstatError, match="yaml") as caught:
        create("yaml", io.BytesIO())
    assert caught.value.hint == "there are table, json, jsonl, csv, csv-long, fossilize-csv, foz"
