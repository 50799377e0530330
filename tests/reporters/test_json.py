"""The whole report as JSON, and the report read back."""

from __future__ import annotations

import dataclasses
import json

import pytest

from shaderstat.errors import ShaderstatError
from shaderstat.model import Report, RepresentationAnswer, RunEvent
from shaderstat.reporters.read import read_report
from tests.reporters.runs import GOLDEN, answered, executable, golden, pipeline, radv, statistic, written


def no_constant(word: str) -> None:
    raise AssertionError(f"{word} is no JSON")


def strict(data: bytes) -> object:
    """As a strict reader sees it: NaN and infinities are no JSON."""
    return json.loads(data, parse_constant=no_constant)


def test_what_is_read_is_written_again() -> None:
    assert strict(written("json", golden())) == strict(GOLDEN.read_bytes())


def test_the_order_is_that_of_the_published_shape() -> None:
    report = strict(written("json", golden()))
    assert isinstance(report, dict)
    assert list(report) == ["schema", "producer", "run", "targets", "pipelines", "results"]
    assert list(report["results"][0]) == [
        "pipeline", "target", "status", "cached", "attempts", "durations_ns", "executables", "failure", "diagnostics",
        "instrumentation",
    ]  # fmt: skip
    assert list(report["results"][0]["executables"][0]["statistics"][0]) == ["name", "format", "value", "text", "note"]


def test_schema_comes_first_and_a_newline_last() -> None:
    data = written("json", golden())
    assert data.startswith(b'{"schema": {"name":"shaderstat-report","version":1}')
    assert data.endswith(b"}\n")


def test_each_result_is_a_line() -> None:
    lines = written("json", golden()).splitlines()
    assert sum(line.lstrip().startswith(b'{"pipeline":') for line in lines) == 5


def test_integers_of_64_bits_keep_every_digit() -> None:
    data = written("json", golden())
    assert b'"value":18446744073709551615,' in data
    assert b'"value":-9223372036854775808,' in data
    assert b'"value":13313316341368513228,"text":"0xb8c266acedac62cc"' in data


def test_counts_of_a_run_keep_every_digit_and_their_exact_text() -> None:
    run = read_report(GOLDEN.read_bytes()).results[1].instrumentation
    assert run is not None and run.offer is not None
    assert run.blocks[0].values == (4096, 2**64 - 1)
    assert run.blocks[0].texts == (None, "18446744073709551615")
    assert run.commands[0].size == (4, 4, 1)
    assert [one.name for one in run.offer.metrics] == ["fma", ""]


def test_reports_of_before_there_were_runs_are_read() -> None:
    plain = json.loads(GOLDEN.read_bytes())
    for one in plain["results"]:
        del one["instrumentation"]
    report = read_report(json.dumps(plain).encode())
    assert all(one.instrumentation is None for one in report.results)


def test_the_golden_report_is_read_for_ever() -> None:
    report = read_report(GOLDEN.read_bytes())
    blur, mock, crash, late, cut = report.results
    assert [each.value for each in blur.executables[0].statistics] == [13313316341368513228, 128, 24, 32, 718586048]
    assert [each.text for each in mock.executables[0].statistics] == [
        "18446744073709551615", None, "-9223372036854775808", None, "NaN", "-Infinity", None, "0x0000000000000005",
    ]  # fmt: skip
    assert mock.executables[0].statistics[3].value == 0.1
    assert type(mock.executables[0].statistics[6].value) is int
    assert (blur.cached, blur.attempts, blur.durations_ns.stages) == (True, 2, {"compute": 3300000})
    assert crash.failure is not None and crash.failure.signal == "SIGSEGV"
    assert late.failure is not None and late.failure.limit_s == 60.5
    assert cut.target is None and cut.diagnostics[0].offset == 148
    assert report.pipelines[0].workgroup == (16, 16, 1)
    assert report.pipelines[0].variant == {"0": 16, "1": 2.5, "2": True}
    assert report.pipelines[2].kind is None
    assert report.targets[0].statistics[2].role == "trigger"
    assert report.run.counts["crashed"] == 1


def test_readers_ignore_unknown_members_and_accept_unknown_words() -> None:
    data = GOLDEN.read_text("utf-8")
    data = data.replace('"status": "timeout"', '"status": "postponed", "until": [1, {"a": null}]')
    data = data.replace('"better": "more"', '"better": "same"').replace('"source": "mock"', '"source": "moon"')
    data = data.replace('{"schema":', '{"future": 1, "schema":', 1)
    report = read_report(data.encode())
    assert report.results[3].status == "postponed"
    assert report.targets[1].source == "moon"


def test_a_later_schema_is_refused_by_its_version() -> None:
    data = GOLDEN.read_text("utf-8").replace('"version": 1}', '"version": 2}', 1)
    with pytest.raises(ShaderstatError, match="version 2 of the report; this shaderstat reads up to 1"):
        read_report(data.encode(), "old.json")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x03\x02\x23\x07",
        b"[]",
        b"{}",
        b'{"schema": {"name": "shaderstat-report", "version": 1}}',
        b'{"schema": {"name": "other", "version": 1}}',
        b'{"type": "header"}\n',
        b"\xff\xfe",
        GOLDEN.read_bytes()[:-20],
        GOLDEN.read_bytes().replace(b'"index": 0', b'"index": "zero"'),
    ],
)
def test_what_is_no_report_is_refused_with_its_path(data: bytes) -> None:
    with pytest.raises(ShaderstatError, match=r"^before\.json: "):
        read_report(data, "before.json")


def test_a_run_that_broke_off_is_not_complete() -> None:
    whole = answered([(pipeline("blur"), [radv("compute", 24)])])
    report = read_report(written("json", whole[:-1]))
    assert not report.run.complete
    assert len(report.results) == 1
    assert read_report(written("json", whole)).run.complete


def test_a_run_that_never_began_writes_nothing() -> None:
    assert written("json", []) == b""


def test_a_path_that_is_no_utf8_shows_its_bytes() -> None:
    events = answered([(pipeline("caf\udce9"), [radv("compute", 24)])])
    report = read_report(written("json", events))
    assert report.pipelines[0].name == "caf\\xe9"
    assert report.results[0].pipeline == "caf\\xe9"
    assert len(report.results[0].executables[0].statistics) == 7


ODD = "a\x7f\x85\x9b31m\u200e\u202e\u2028\u2029\u2066\ufeff\u00ad\U000e0041 名前 é"


@pytest.mark.parametrize("format", ["json", "jsonl"])
def test_nothing_in_it_steers_a_terminal_and_it_means_the_same(format: str) -> None:
    answer = executable(
        "compute", statistic(ODD, 1), name=ODD, representations=(RepresentationAnswer(ODD, "", True, b"x"),)
    )
    data = written(format, answered([(pipeline(ODD), [answer])]))
    text = data.decode("utf-8")
    assert all(character == "\n" or character.isprintable() for character in text)
    assert "名前 é" in text
    for line in text.splitlines() if format == "jsonl" else [text]:
        strict(line.encode())
    report = read_report(data)
    (found,) = report.results[0].executables
    assert (report.pipelines[0].name, found.name, found.statistics[0].name) == (ODD, ODD, ODD)
    assert found.representations[0].name == ODD


def test_reading_gives_back_what_was_collected() -> None:
    events = golden()
    assert read_report(written("json", events)) == Report.collect(events)
    head = events[0]
    assert isinstance(head, RunEvent)
    assert dataclasses.asdict(head.schema) == {"name": "shaderstat-report", "version": 1}
