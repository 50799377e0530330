"""``budgets`` of ``shaderstat.yaml``, and the baseline's file."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from shaderstat.config.baseline import read_baseline, render
from shaderstat.config.budgets import read_budgets, rule_of_option
from shaderstat.errors import ShaderstatError
from shaderstat.model import Baseline

EXAMPLE = """\
# another section's business
pipelines: {water: {modules: [water.frag.spv]}}
baseline: accepted/numbers.json
budgets:
- name: desktop
  pipeline: ["water*", terrain/*]
  stage: frag
  target: "radv:*"
  max: {registers: 64, Code size: 8_000, spills: +0}
  min:
    occupancy: 8
- compile_time: 500 ms
  allow: unsupported
  severity: warning
"""


def written(folder: Path, text: str) -> str:
    path = folder / "shaderstat.yaml"
    path.write_text(text)
    return str(path)


def test_rules(tmp_path: Path) -> None:
    path = written(tmp_path, EXAMPLE)
    budgets = read_budgets(path)
    assert budgets.baseline == str(tmp_path / "accepted/numbers.json")
    first, second = budgets.rules
    assert (first.name, first.pipelines, first.stages, first.targets) == (
        "desktop", ("water*", "terrain/*"), ("fragment",), ("radv:*",),
    )  # fmt: skip
    assert [(one.statistic, one.most, one.amount, one.relative, one.line) for one in first.limits] == [
        ("registers", True, 64, False, 9),
        ("Code size", True, 8000, False, 9),
        ("spills", True, 0, True, 9),
        ("occupancy", False, 8, False, 11),
    ]
    assert first.place == f"{path}:5"
    assert second.compile_time is not None and second.compile_time.amount == Fraction(1, 2)
    assert (second.allow, second.severity, second.name) == (("unsupported",), "warning", "rule at line 12")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("budgets: {a: 1}", 1, "a list is wanted"),
        ("budgets:\n- {maximum: {registers: 1}}", 2, "there is no 'maximum' here"),
        ("budgets:\n- {name: x}", 2, "asks for nothing"),
        ("budgets:\n- max: {registers: many}", 2, "'many' is no limit"),
        ("budgets:\n- max:\n    registers: 5%", 3, "needs a sign"),
        ("budgets:\n- max: {registers: [1]}", 2, "a plain value is wanted"),
        ("budgets:\n- {compile_time: soon}", 2, "'soon' is no time"),
        ("budgets:\n- {max: {a: 1}, severity: fatal}", 2, "'fatal' is none of the words"),
        ("budgets:\n- {max: {a: 1}, allow: [ok]}", 2, "'ok' is none of the words"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ShaderstatError) as caught:
        read_budgets(path)
    assert caught.value.message.startswith(f"{path}:{line}: ") and words in caught.value.message


@pytest.mark.parametrize("text", ["", "pipelines: {}", "# nothing"])
def test_a_file_without_budgets(tmp_path: Path, text: str) -> None:
    assert read_budgets(written(tmp_path, text)).rules == ()


def test_rules_of_the_command_line() -> None:
    (limit,) = rule_of_option("--max", "Code size=+5%").limits
    assert (limit.statistic, limit.amount, limit.relative, limit.percent, limit.most) == (
        "Code size",
        5,
        True,
        True,
        True,
    )
    assert rule_of_option("--min", "occupancy=8").limits[0].most is False


@pytest.mark.parametrize("text", ["registers", "=64", "registers=", "registers=x"])
def test_what_is_no_rule(text: str) -> None:
    with pytest.raises(ShaderstatError, match="--max: "):
        rule_of_option("--max", text)


BASELINE = Baseline(
    {"mock": "mock for the SPIR-V itself, 0.1.0"},
    {"mock": {"b/\u202e": {"compute": {"Zeta": 2**64 - 1, "Alpha": 0.5}}, "a": {"vertex": {"A": 1}, "fragment": {}}}},
)


def test_a_baseline_comes_back_and_is_sorted(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    path.write_bytes(render(BASELINE))
    assert read_baseline(str(path)) == BASELINE
    lines = path.read_text().splitlines()
    assert [line.strip() for line in lines if '"A"' in line or "Alpha" in line] == [
        '"vertex": {"A": 1}',
        '"compute": {"Alpha": 0.5, "Zeta": 18446744073709551615}',
    ]
    assert list(json.loads(path.read_text())) == ["schema", "compilers", "numbers"]


def test_an_empty_baseline(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    path.write_bytes(render(Baseline()))
    assert read_baseline(str(path)) == Baseline()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"schema": {"name": "shaderstat-report", "version": 1}}',
        '{"schema": {"name": "shaderstat-baseline", "version": 2}, "compilers": {}, "numbers": {}}',
        '{"schema": {"name": "shaderstat-baseline", "version": 1}, "compilers": {},'
        ' "numbers": {"a": {"b": {"c": {"d": "e"}}}}}',
        '{"schema": {"name": "shaderstat-baseline", "version": 1}, "compilers": {}, "numbers": {"a": 1}}',
        "[" * 100_000,
    ],
)
def test_what_is_no_baseline(tmp_path: Path, text: str) -> None:
    path = tmp_path / "baseline.json"
    path.write_text(text)
    with pytest.raises(ShaderstatError, match=r"baseline\.json: "):
        read_baseline(str(path))
