"""Budgets: what each kind of rule says of hand-made results."""

from __future__ import annotations

from fractions import Fraction

import pytest

from shaderstat.budget import Judge, Verdict
from shaderstat.model import Baseline, Durations, Event, Limit, Rule, StatisticInfo
from tests.compare.reports import (
    LOCAL,
    SHARE,
    SPILLED_SGPRS,
    SPILLED_VGPRS,
    SPILLS,
    STORES,
    UNKNOWN,
    VGPRS,
    WAVES,
    executable,
    pipeline,
    run,
    target,
)


def limit(statistic: str, text: str, *, most: bool = True) -> Limit:
    number = Fraction(text.strip("+-%"))
    signed = text[0] in "+-"
    return Limit(statistic, most, -number if text[0] == "-" else number, signed, text.endswith("%"), text, 7)


def verdict(*parts: list[Event], rules: list[Rule], baseline: Baseline | None = None, complete: bool = True) -> Verdict:
    judge = Judge(rules, baseline, keep=True)
    for event in run(*parts, complete=complete):
        judge.feed(event)
    return judge.finish()


def status(*parts: list[Event], rule: Rule, baseline: Baseline | None = None) -> int:
    return verdict(*parts, rules=[rule], baseline=baseline).status


@pytest.mark.parametrize(
    ("statistic", "text", "most", "cells", "expected"),
    [
        ("registers", "64", True, [(VGPRS, 64)], 0),
        ("registers", "64", True, [(VGPRS, 65)], 1),
        ("VGPRs", "64", True, [(VGPRS, 65)], 1),
        ("occupancy", "8", False, [(WAVES, 8)], 0),
        ("occupancy", "8", False, [(WAVES, 7)], 1),
        # a key stands for the sum of what judges by it
        ("spills", "10", True, [(SPILLED_VGPRS, 6), (SPILLED_SGPRS, 5)], 1),
        ("spills", "11", True, [(SPILLED_VGPRS, 6), (SPILLED_SGPRS, 5)], 0),
        ("Mystery", "3", True, [(UNKNOWN, 3), (UNKNOWN, 4)], 1),  # two of one name: each for itself
        ("registers", "18446744073709551614", True, [(VGPRS, 2**64 - 1)], 1),
        ("scratch bytes", "0", True, [(LOCAL, 0x10_0000_0000)], 0),  # the driver writes the low half alone
        ("Share", "1", True, [(SHARE, 0.5)], 0),
        # no number: nothing that can be relied on
        ("Share", "1", True, [(SHARE, "NaN")], 2),
        ("registers", "64", True, [(WAVES, 1)], 2),
        ("spills", "0", True, [(STORES, 0)], 2),  # what only informs isn't judged by its key
        ("STP Count", "0", True, [(STORES, 1)], 1),
        # the same where a driver's own name is the key's in other letters
        ("spills", "0", True, [(SPILLS, 3)], 2),
        ("Spills", "0", True, [(SPILLS, 3)], 1),
        ("spills", "0", True, [(SPILLS, 3), (SPILLED_VGPRS, 0)], 0),
    ],
)
def test_limits(
    statistic: str, text: str, most: bool, cells: list[tuple[StatisticInfo, int | float | str]], expected: int
) -> None:
    rule = Rule("r", (limit(statistic, text, most=most),))
    assert status(pipeline("a", executable(*cells)), rule=rule) == expected


BASELINE = Baseline({}, {"radv:navi21": {"a": {"compute": {"VGPRs": 100, "Subgroups per SIMD": 10}}}})


@pytest.mark.parametrize(
    ("statistic", "text", "most", "cell", "expected"),
    [
        ("registers", "+5%", True, (VGPRS, 105), 0),
        ("registers", "+5%", True, (VGPRS, 106), 1),
        ("registers", "+0", True, (VGPRS, 101), 1),
        ("registers", "-10", True, (VGPRS, 91), 1),
        ("occupancy", "-10%", False, (WAVES, 9), 0),
        ("occupancy", "-10%", False, (WAVES, 8), 1),
    ],
)
def test_limits_from_the_baseline(
    statistic: str, text: str, most: bool, cell: tuple[StatisticInfo, int], expected: int
) -> None:
    rule = Rule("r", (limit(statistic, text, most=most),))
    assert status(pipeline("a", executable(cell)), rule=rule, baseline=BASELINE) == expected


def test_what_the_baseline_does_not_have_is_told_and_not_judged() -> None:
    found = verdict(
        pipeline("new", executable((VGPRS, 1))), rules=[Rule("r", (limit("registers", "+0"),))], baseline=BASELINE
    )
    assert (found.status, found.checks, found.unknown) == (0, 0, ["new compute on radv:navi21"])


def test_a_baseline_of_another_gpu_is_refused_and_one_of_another_version_is_not() -> None:
    part, rule = pipeline("a", executable((VGPRS, 100))), Rule("r", (limit("registers", "+0"),))
    old = "radv for Null hardware (RADV NAVI21), Mesa 22.0"
    other = "radv for Null hardware (RADV VEGA10), Mesa 22.3.6"
    for words, expected in ((old, 0), (other, 2)):
        assert status(part, rule=rule, baseline=Baseline({"radv:navi21": words}, BASELINE.numbers)) == expected


@pytest.mark.parametrize(
    ("rule", "judged"),
    [
        (Rule("r", pipelines=("wat*",)), ["water vertex", "water fragment"]),
        (Rule("r", stages=("fragment",)), ["water fragment", "blur fragment"]),
        (Rule("r", pipelines=("w*", "b*"), stages=("vert*",)), ["water vertex"]),
        (Rule("r", executables=("SIMD*",)), ["blur fragment"]),
        (Rule("r", targets=("radv:*",)), ["water vertex", "water fragment", "blur fragment"]),
    ],
)
def test_globs(rule: Rule, judged: list[str]) -> None:
    from dataclasses import replace

    water = pipeline(
        "water", executable((VGPRS, 1), stages=("vertex",)), executable((VGPRS, 1), stages=("fragment",), index=1)
    )
    blur = pipeline("blur", executable((VGPRS, 1), stages=("fragment",), name="SIMD8"))
    found = verdict(water, blur, rules=[replace(rule, limits=(limit("registers", "1"),))])
    assert [f"{each.pipeline} {each.executable}" for each in found.kept] == judged


@pytest.mark.parametrize(
    "rule",
    [
        Rule("r", (limit("registers", "1"),), pipelines=("nothing*",), path="shaderstat.yaml", line=5),
        Rule("r", (limit("bogus", "1"),), path="shaderstat.yaml", line=5),
        Rule("r", (limit("registers", "1"),), targets=("nvk:*",), path="shaderstat.yaml", line=5),
        Rule("r", (limit("registers", "1"),), stages=("mesh",), path="shaderstat.yaml", line=5),
        Rule("r", allow=("crashed",), pipelines=("nothing*",), path="shaderstat.yaml", line=5),
    ],
)
def test_a_rule_that_matches_nothing_is_an_error(rule: Rule) -> None:
    found = verdict(pipeline("a", executable((VGPRS, 1))), rules=[rule])
    assert found.status == 2
    assert found.problems[0].startswith("shaderstat.yaml:") and "matched no" in found.problems[0]


def test_what_has_no_answer() -> None:
    rule = Rule("r", (limit("registers", "9"),))
    good, crash = pipeline("good", executable((VGPRS, 1))), pipeline("bad", status="crashed")
    assert status(good, crash, rule=rule) == 2
    assert status(good, crash, rule=Rule("r", rule.limits, allow=("crashed",))) == 0
    assert status(good, crash, rule=Rule("r", rule.limits, allow=("timeout",))) == 2
    assert verdict(good, crash, rules=[rule, Rule("known", pipelines=("bad",), allow=("crashed",))]).status == 0


def test_unsupported_counts_where_no_target_has_an_answer() -> None:
    rule = Rule("r", (limit("registers", "9"),))
    good, other = pipeline("a", executable((VGPRS, 1))), pipeline("a", status="unsupported", on="mock")
    assert status(good, other, rule=rule) == 0
    assert status(other, pipeline("b", executable((VGPRS, 1))), rule=rule) == 2


def test_a_run_that_broke_off_is_not_judged_by_what_there_is() -> None:
    part = pipeline("a", executable((VGPRS, 1)))
    assert verdict(part, rules=[Rule("r", (limit("registers", "9"),))], complete=False).status == 2


def test_warnings_do_not_fail() -> None:
    found = verdict(
        pipeline("a", executable((VGPRS, 10))), rules=[Rule("r", (limit("registers", "9"),), severity="warning")]
    )
    assert (found.status, len(found.warnings), found.failures) == (0, 1, [])


@pytest.mark.parametrize(
    ("wall", "cached", "expected"), [(400_000_000, False, 0), (600_000_000, False, 1), (1, True, 2), (None, False, 2)]
)
def test_compile_time(wall: int | None, cached: bool, expected: int) -> None:
    rule = Rule("r", compile_time=Limit("compile_time", True, Fraction(1, 2), False, False, "500 ms"))
    part = pipeline("a", executable((VGPRS, 1)), durations_ns=Durations(wall=wall), cached=cached)
    assert status(part, rule=rule) == expected


def test_a_run_s_own_numbers_are_a_baseline() -> None:
    judge = Judge([], take=True)
    rows = (
        executable((VGPRS, 1), (UNKNOWN, 2), (UNKNOWN, 3), (SHARE, "NaN"), stages=("fragment",)),
        executable((VGPRS, 4), stages=("fragment",), index=1),
    )
    for event in run(pipeline("a", *rows), targets=[target()]):
        judge.feed(event)
    assert judge.taken.numbers == {
        "radv:navi21": {"a": {"fragment": {"VGPRs": 1, "Mystery": 2, "Mystery (2)": 3}, "fragment#2": {"VGPRs": 4}}}
    }
    assert judge.taken.compilers == {"radv:navi21": "radv for Null hardware (RADV NAVI21), Mesa 22.3.6"}
