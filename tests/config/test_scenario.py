"""Scenario files: from YAML to plain data, and what is wrong with one, by line."""

from __future__ import annotations

import json
import os
import re
import struct
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaderstat.backends.mock import scenario as mock
from shaderstat.config import scenario
from shaderstat.config.scenario import read_scenario
from shaderstat.errors import ShaderstatError
from shaderstat.instrumentation import Metric, MetricBlock, Offer
from shaderstat.model import ExecutableAnswer, RepresentationAnswer, StatisticAnswer


def read(folder: Path, text: str) -> mock.Scenario:
    """What the mock makes of a file, by way of the wire's JSON."""
    path = folder / "scenario.yaml"
    path.write_text(text, encoding="utf-8")
    return mock.read(json.loads(json.dumps(read_scenario(str(path)), allow_nan=False)))


def test_the_documented_example(tmp_path: Path) -> None:
    match = re.search(r"::\n\n(.*)\nAn \*event\*", scenario.__doc__ or "", re.DOTALL)
    assert match is not None
    found = read(tmp_path, textwrap.dedent(match[1]))
    assert found.driver == {"id": 3, "name": "radv", "version": "22.3.6", "info": "Mesa 22.3.6"}
    assert found.device["vendor_id"] == 0x1002 and found.device["api_version"] == "1.3.230"
    assert found.missing == "no such GPU here"
    assert found.open == mock.Event(stderr="loaded\n")
    assert found.lacks["features"] == ["*.shaderFloat64"]
    assert found.limits == {"maxPushConstantsSize": 128}
    slow, rule = found.rules
    assert (slow.path, slow.create) == ("*/slow*.spv", mock.Event(sleep_s=0.5))
    assert (rule.path, rule.stage) == ("*.spv", "compute")
    assert rule.create == mock.Event(crash="SIGSEGV", stderr="ACO ERROR\n")
    assert rule.query.result == "VK_ERROR_OUT_OF_HOST_MEMORY"
    assert rule.destroy.crash == "SIGABRT"
    assert (rule.lost, rule.incomplete, rule.without) == (1, True, {"statistics"})
    assert rule.failing == {"representations": "VK_ERROR_UNKNOWN"}
    assert found.instrumentation == Offer((Metric("fma", ""), Metric("ls", "Loads and stores")), True)
    assert rule.run == mock.Event(sleep_s=0.1)
    assert rule.blocks == (MetricBlock(0, 0, 0, 0x20, 0, (4096, 128)), MetricBlock(1, 0, 2, 0x11, 3, (0, 1)))
    assert rule.written == {(0, 1): b"\0\0\x80\x3f"}
    nan = struct.unpack("<Q", struct.pack("<d", float("nan")))[0]
    assert rule.executables == (
        ExecutableAnswer(
            "Vertex Shader",
            "merged",
            0x1 | 0x8,
            48,
            (
                StatisticAnswer("VGPRs", "", 2, 2**64 - 1),
                StatisticAnswer("VGPRs", "a second one of that name", 3, nan),
                StatisticAnswer("", "", 7, 0xDEADBEEF),
            ),
            (
                RepresentationAnswer("Assembly", "", True, b"s_endpgm\n" * 1_000_000),
                RepresentationAnswer("ELF", "", False, b"\x7fELF"),
                RepresentationAnswer("Odd", "", True, b"\xff\xfe"),
            ),
        ),
    )


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "rules: []\n"])
def test_an_empty_file_changes_nothing(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text) == mock.Scenario()


STATISTIC = "rules:\n- executables:\n  - statistics:\n    - {{name: n, format: {0}, value: {1}}}\n"


@pytest.mark.parametrize(
    ("format", "value", "bits"),
    [
        ("bool32", "true", 1),
        ("int64", "-1", 2**64 - 1),
        ("int64", str(-(2**63)), 2**63),
        ("uint64", "18446744073709551615", 2**64 - 1),
        ("uint64", "0x10", 16),
        ("float64", "-0.0", 2**63),
        ("float64", "2", 0x4000000000000000),
        ("float64", "inf", 0x7FF0000000000000),
        ("float64", "-.inf", 0xFFF0000000000000),
        ("float64", ".nan", 0x7FF8000000000000),
        ("float64", "5e-324", 1),
        ("float64", "1.5e3", 0x4097700000000000),
        ("float64", "-1.0e23", 0xC4B52D02C7E14AF6),
        ("float64", "1.e+3", 0x408F400000000000),
        ("float64", ".5E1", 0x4014000000000000),
        ("float64", "nan", 0x7FF8000000000000),
    ],
)
def test_values_by_format(tmp_path: Path, format: str, value: str, bits: int) -> None:
    (rule,) = read(tmp_path, STATISTIC.format(format, value)).rules
    assert rule.executables is not None
    assert rule.executables[0].statistics[0].bits == bits


@given(st.floats(allow_nan=False))
def test_any_float_comes_through(tmp_path_factory: pytest.TempPathFactory, value: float) -> None:
    text = STATISTIC.format("float64", {"inf": ".inf", "-inf": "-.inf"}.get(repr(value), f'!!float "{value!r}"'))
    (rule,) = read(tmp_path_factory.mktemp("float"), text).rules
    assert rule.executables is not None
    assert struct.pack("<Q", rule.executables[0].statistics[0].bits) == struct.pack("<d", value)


@pytest.mark.parametrize(
    ("text", "line", "message", "hint"),
    [
        ("rulez: []", 1, "there is no 'rulez' here", "did you mean rules?"),
        ("driver:\n  nam: x", 2, "there is no 'nam' here", "did you mean name?"),
        ("rules:\n- match: *.spv", 2, "is not YAML", 'put a glob in quotes: "*.spv"'),
        ("rules:\n- match: {stage: pixel}", 2, "'pixel' is none of the words", "known: vertex"),
        ("rules:\n- match: {stage: comput}", 2, "'comput' is none of the words", "did you mean compute?"),
        ("rules:\n- create: {crash: SIGSEGV, hang: true}", 2, "crash and hang: only one", None),
        ("rules:\n- create: {crash: SEGV}", 2, "'SEGV' is none of the words", "did you mean SIGSEGV?"),
        ("rules:\n- create: {crash: SIGSTOP}", 2, "SIGSTOP ends no process", "hang: true"),
        ("rules:\n- create: {sleep: 1.5e}", 2, "a number is wanted here, and this is text", None),
        ("rules:\n- create: {sleep: -1}", 2, "seconds from 0 to 86400", None),
        ("rules:\n- create: {sleep: soon}", 2, "a number is wanted here, and this is text", None),
        ("rules:\n- create: {result: -3}", 2, "text is wanted here, and this is a number", None),
        ("rules:\n- create: {result: OUT_OF_MEMORY}", 2, "the name of a VkResult", "VK_ERROR_UNKNOWN"),
        ("rules:\n- destroy: {result: VK_ERROR_UNKNOWN}", 2, "destroy returns nothing", None),
        ("rules:\n- create: {exit: 256}", 2, "256 is out of range: 0 to 255", None),
        ("rules:\n- lost: 1\n  lost: 2", 3, "lost stands here twice", None),
        ("rules:\n- incomplete: 1", 2, "true or false is wanted here", None),
        ("rules: {match: x}", 1, "a list is wanted here", None),
        ("- a\n- b", 1, "a mapping is wanted here", None),
        ("missing: no", 1, "text is wanted here, and this is a truth value", "put it in quotes"),
        ("missing: [a]", 1, "a plain value is wanted here", None),
        ("limits: {maxBoundDescriptorSets: 1.5}", 1, "a whole number is wanted", None),
        ("device: {api_version: new}", 1, "an API version is wanted here", "1.3.230"),
        ("device: {pipeline_cache_uuid: 12ab}", 1, "32 hexadecimal digits", None),
        ("instrumentation: {metrics: []}", 1, "one metric at least", None),
        ("instrumentation: {per_basic_block: true}", 1, "metrics is missing", None),
        (
            "rules:\n- blocks:\n  - {stages: compute, values: [1]}",
            3,
            "for each metric is wanted here, and there is none",
            "metrics: [fma]",
        ),
        (
            "instrumentation: {metrics: [a]}\nrules:\n- blocks:\n  - {stages: compute, values: [1, 2]}",
            4,
            "one value for each metric is wanted here, 1",
            None,
        ),
        ("rules:\n- written: {1: 00}", 2, "'1' is no SET.BINDING", "binding 1 of set 0"),
        ("rules:\n- written: {0.1: 0}", 2, "hexadecimal digits are wanted here", None),
        ("missing: !!python/object/apply:os.system [ls]", 1, "a plain value is wanted here", None),
        ("missing: !!python/name:os.system x", 1, "is no value", None),
        (STATISTIC.format("float32", "1"), 4, "'float32' is none of the words", "did you mean float64?"),
        (STATISTIC.format("uint64", "-1"), 4, "-1 is out of range", None),
        (STATISTIC.format("uint64", "18446744073709551616"), 4, "is out of range", None),
        (STATISTIC.format("7", "1"), 4, "a format without a name has bits", None),
        ("rules:\n- executables:\n  - statistics:\n    - {name: n, format: int64}", 4, "either value or bits", None),
        ("rules:\n- executables:\n  - statistics:\n    - {format: int64, value: 1}", 4, "name is missing", None),
        ("rules:\n- executables:\n  - representations:\n    - {name: n}", 4, "either text or binary", None),
        ("rules:\n- executables:\n  - representations:\n    - {name: n, binary: xyz}", 4, "hexadecimal digits", None),
        ("a: b: c", 1, "is not YAML", None),
        ("rules: [", 1, "is not YAML", None),
        ("missing: 'caf\u00e9\x00'", 1, "is not YAML", None),
    ],
)
def test_what_is_wrong_is_said_with_its_line(
    tmp_path: Path, text: str, line: int, message: str, hint: str | None
) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ShaderstatError) as caught:
        read_scenario(str(path))
    assert message in caught.value.message
    assert caught.value.message.startswith(str(path))
    if "\x00" not in text:
        assert re.match(rf"{re.escape(str(path))}:{line}: ", caught.value.message), caught.value.message
    if hint is not None:
        assert hint in (caught.value.hint or "")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ShaderstatError, match="No such file"):
        read_scenario(str(tmp_path / "none.yaml"))
    with pytest.raises(ShaderstatError, match="Is a directory"):
        read_scenario(str(tmp_path))
    path = tmp_path / "latin.yaml"
    path.write_bytes(b"rules: []\nmissing: caf\xe9\n")
    with pytest.raises(ShaderstatError, match=r"latin\.yaml:2: is not UTF-8"):
        read_scenario(str(path))


def test_a_named_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(ShaderstatError, match=r"pipe\.yaml: is a named pipe, not a file"):
        read_scenario(str(tmp_path / "pipe.yaml"))
    with pytest.raises(ShaderstatError, match="/dev/zero: is a device, not a file"):
        read_scenario("/dev/zero")
    assert read_scenario(os.devnull) == {}


def test_the_output_of_a_command_is_read(tmp_path: Path) -> None:
    """``--scenario <(generate)``: a pipe whose writer is there."""
    reader, writer = os.pipe()
    os.write(writer, b"missing: nothing here\n")
    os.close(writer)
    try:
        assert read_scenario(f"/dev/fd/{reader}") == {"missing": "nothing here"}
    finally:
        os.close(reader)


def test_aliases_that_stand_for_billions_are_refused(tmp_path: Path) -> None:
    lines = ["rules:", "- executables: &x", "  - &e {name: a, statistics: &s [&t {name: n, format: uint64, value: 1}"]
    lines[-1] += ", *t" * 2000 + "]}"
    lines.append("  - *e\n" * 500)
    path = tmp_path / "bomb.yaml"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ShaderstatError, match="aliases counted"):
        read_scenario(str(path))
