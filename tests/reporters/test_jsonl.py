"""The report as it comes: one object a line."""

from __future__ import annotations

import io
import json

import pytest

from shaderstat.errors import ShaderstatError
from shaderstat.model import Report
from shaderstat.reporters.base import create
from shaderstat.reporters.read import read_report
from tests.reporters.runs import answered, executable, golden, pipeline, statistic, written

GROWING = answered(
    [
        (pipeline("a"), [executable("compute", statistic("VGPRs", 8))]),
        (pipeline("b"), [executable("compute", statistic("SGPRs", 128), statistic("VGPRs", 24))]),
    ]
)


def kinds(data: bytes) -> list[str]:
    return [json.loads(line)["type"] for line in data.splitlines()]


def test_lines_follow_the_run() -> None:
    # A pipeline is written with its first result.
    assert kinds(written("jsonl", GROWING)) == [
        "header", "target", "target", "pipeline", "result", "target", "pipeline", "result", "end",
    ]  # fmt: skip


def test_each_line_is_there_as_soon_as_its_event() -> None:
    stream = io.BytesIO()
    output = create("jsonl", stream)
    counts = []
    for event in GROWING:
        output.feed(event)
        counts.append(stream.getvalue().count(b"\n"))
    assert counts == [1, 2, 2, 3, 5, 5, 6, 8, 9]


def test_the_later_target_line_wins() -> None:
    report = read_report(written("jsonl", GROWING))
    assert [each.name for each in report.targets[0].statistics] == ["SGPRs", "VGPRs"]


def test_lines_hold_what_the_document_holds() -> None:
    assert read_report(written("jsonl", golden())) == Report.collect(golden())


def test_without_an_end_the_run_broke_off() -> None:
    lines = written("jsonl", golden()).splitlines(keepends=True)
    report = read_report(b"".join(lines[:-1]))
    assert not report.run.complete
    assert len(report.results) == 5


def test_a_line_cut_in_its_middle_is_the_end() -> None:
    lines = written("jsonl", golden()).splitlines(keepends=True)
    report = read_report(b"".join(lines[:-2]) + lines[-2][:40])
    assert not report.run.complete
    assert len(report.results) == 4


def test_damage_in_the_middle_is_refused() -> None:
    lines = written("jsonl", golden()).splitlines(keepends=True)
    lines[3] = lines[3][:30] + b"\n"
    with pytest.raises(ShaderstatError):
        read_report(b"".join(lines))


def test_lines_of_unknown_type_are_ignored() -> None:
    lines = written("jsonl", golden()).splitlines(keepends=True)
    lines.insert(4, b'{"type":"weather","rain":true}\n')
    assert read_report(b"".join(lines)) == Report.collect(golden())


def test_an_empty_run_is_a_header_and_an_end() -> None:
    events = answered([])
    assert kinds(written("jsonl", events)) == ["header", "target", "end"]
