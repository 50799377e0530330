"""``--fail-on``."""

from __future__ import annotations

import pytest

from shaderstat.compare import compare
from shaderstat.compare.gate import Gated, judge, parse
from shaderstat.compare.outcome import DiffOutcome
from shaderstat.model import StatisticInfo
from tests.compare.reports import (
    COPIES,
    SHARE,
    SPILLED_SGPRS,
    SPILLED_VGPRS,
    STORES,
    VGPRS,
    WAVES,
    executable,
    pipeline,
    side,
)


def gated(text: str, info: StatisticInfo, before: int | float | str, after: int | float | str) -> Gated:
    difference = compare(
        side(pipeline("a", executable((info, before)))), side(pipeline("a", executable((info, after))))
    )
    (found,) = judge(difference, [parse(text)])
    return found


@pytest.mark.parametrize(
    ("text", "info", "before", "after", "broken"),
    [
        ("spills:+0", SPILLED_VGPRS, 0, 1, True),
        ("spills:+0", SPILLED_SGPRS, 0, 1, True),
        ("spills:+5%", SPILLED_VGPRS, 0, 1, True),  # 5 % of nothing is nothing
        ("spills:+0", SPILLED_VGPRS, 5, 4, False),
        ("registers:+5%", VGPRS, 100, 105, False),
        ("registers:+5%", VGPRS, 100, 106, True),
        ("registers:5%", VGPRS, 100, 106, True),
        ("VGPRs:+4", VGPRS, 100, 104, False),
        ("vgprs:+4", VGPRS, 100, 105, True),
        ("VGPR*:+0", VGPRS, 100, 105, True),
        ("occupancy:-1", WAVES, 16, 15, False),
        ("occupancy:-1", WAVES, 16, 14, True),
        ("occupancy:-1", WAVES, 16, 20, False),
        ("MaxWaves:2", WAVES, 16, 13, True),
        ("Copies:+0", COPIES, 3, 4, True),  # it only informs, but was named
        ("registers:+0", VGPRS, 2**64 - 2, 2**64 - 1, True),
        ("registers:+0.5%", VGPRS, 1000, 1005, False),
    ],
)
def test_broken_where_it_got_worse_by_more(
    text: str, info: StatisticInfo, before: int, after: int, broken: bool
) -> None:
    found = gated(text, info, before, after)
    assert (bool(found.breaches), found.problem, found.unjudged) == (broken, None, [])


@pytest.mark.parametrize(
    ("text", "info", "problem"),
    [
        ("spills:+0", VGPRS, "matched nothing"),
        ("spills:+0", STORES, "only informs; STP Count can be named instead"),
        ("registers:-5", VGPRS, "less of VGPRs is better"),
        ("occupancy:+1", WAVES, "more of Subgroups per SIMD is better"),
        ("Copies:5", COPIES, "nobody knows whether more or less of Copies is better"),
    ],
)
def test_a_gate_that_can_not_be_meant(text: str, info: StatisticInfo, problem: str) -> None:
    found = gated(text, info, 1, 2)
    assert found.problem is not None and problem in found.problem and found.breaches == []


@pytest.mark.parametrize(("before", "after"), [(0.5, "NaN"), ("NaN", 0.5)])
def test_what_is_no_number_is_not_judged(before: float | str, after: float | str) -> None:
    found = gated("share:+0", SHARE, before, after)
    assert (len(found.unjudged), found.breaches) == (1, [])


@pytest.mark.parametrize("text", ["spills", "spills:", "spills:+", "spills:+x", ":+5", "spills:+5%%", "spills:++5"])
def test_what_is_no_gate(text: str) -> None:
    with pytest.raises(ValueError, match="not of the form"):
        parse(text)


def test_the_status_of_what_can_not_be_relied_on() -> None:
    row = executable((VGPRS, 1))
    good, cut = side(pipeline("a", row)), side(pipeline("a", row), complete=False)
    assert DiffOutcome(compare(good, good)).status == 0
    assert DiffOutcome(compare(good, cut)).status == 2
    assert DiffOutcome(compare(good, side(pipeline("b", row, kind="graphics")))).status == 2
    lone = side(pipeline("a", executable((VGPRS, 1), bound="upper")))
    assert DiffOutcome(compare(good, lone)).status == 2


def test_a_lost_answer_can_not_be_gated() -> None:
    difference = compare(side(pipeline("a", executable((VGPRS, 1)))), side(pipeline("a", status="crashed")))
    assert DiffOutcome(difference).status == 0
    assert DiffOutcome(difference, strict=True).status == 1
    assert DiffOutcome(difference, gated=tuple(judge(difference, [parse("spills:+0")]))).status == 2
