"""Diffs and checks to write: small, and with hostile text in them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from fractions import Fraction

from shaderstat.budget import Judge, Verdict
from shaderstat.compare import compare
from shaderstat.compare.gate import judge, parse
from shaderstat.compare.outcome import DiffOutcome
from shaderstat.compare.view import View
from shaderstat.model import Baseline, Event, Failure, Limit, Rule
from shaderstat.reporters.base import Options
from shaderstat.reporters.outcomes import write_check, write_diff
from tests.compare.reports import COPIES, HASH, SPILLED_VGPRS, UNKNOWN, VGPRS, executable, pipeline, run, side

HOSTILE = 'a|`b`<i>&"\x1b[31m\u202e,:%\n::error::x @team\ufffe'

CRASH = Failure("compile", "driver/crashed", signal="SIGSEGV", reproduce=("shaderstat", "stats", "x.spv"))


def outcome(*gates: str, view: View | None = None, name: str = HOSTILE) -> DiffOutcome:
    """One of everything: worse, better, changed, crashed, new, gone, other code."""
    before = side(
        pipeline(name, executable((VGPRS, 24), (SPILLED_VGPRS, 0), (UNKNOWN, 1), stages=("vertex", "fragment"))),
        pipeline("better", executable((VGPRS, 24), (COPIES, 1))),
        pipeline("crash", executable((VGPRS, 1))),
        pipeline("gone", executable((VGPRS, 1))),
        pipeline("code", executable((HASH, 1))),
        pipeline("unsupported", status="unsupported"),
        label="before.json",
    )
    after = side(
        pipeline(name, executable((VGPRS, 32), (SPILLED_VGPRS, 40), (UNKNOWN, 2), stages=("vertex", "fragment"))),
        pipeline("better", executable((VGPRS, 16), (COPIES, 2))),
        pipeline("crash", status="crashed", failure=CRASH),
        pipeline("new", executable((VGPRS, 1))),
        pipeline("code", executable((HASH, 2))),
        pipeline("unsupported", status="unsupported"),
        label="after.json",
    )
    difference = compare(before, after)
    return DiffOutcome(difference, view or View(), tuple(judge(difference, [parse(gate) for gate in gates])))


def limit(statistic: str, amount: int, *, most: bool = True, relative: bool = False, line: int = 3) -> Limit:
    sign = "+" if relative else ""
    return Limit(statistic, most, Fraction(amount), relative, False, f"{sign}{amount}", line)


RULES = (
    Rule("desktop", (limit("registers", 24), limit("spills", 0, line=4)), path="shaderstat.yaml", line=2),
    Rule("warned", (limit("VGPRs", 8),), severity="warning", path="shaderstat.yaml", line=6),
    Rule("--max Copies=9", (limit("Copies", 9),)),
)


def verdict(*parts: list[Event], rules: Sequence[Rule] = RULES, baseline: Baseline | None = None) -> Verdict:
    """Without parts: something failed, warned, passed, crashed."""
    parts = parts or (
        pipeline(HOSTILE, executable((VGPRS, 32), (SPILLED_VGPRS, 1), (COPIES, 1), stages=("fragment",))),
        pipeline("good", executable((VGPRS, 8), (SPILLED_VGPRS, 0))),
        pipeline("crash", status="crashed", failure=CRASH),
    )
    found = Judge(
        rules,
        baseline,
        keep=True,
        again=lambda pipeline, target: ("shaderstat", "stats", pipeline.modules[0].path, "-t", target or ""),
        accept=("shaderstat", "check", "--update-baseline"),
    )
    for event in run(*parts):
        found.feed(event)
    return found.finish()


def diff_text(format: str, made: DiffOutcome, options: Options | None = None) -> str:
    stream = io.BytesIO()
    write_diff(format, made, stream, options or Options())
    return stream.getvalue().decode("utf-8")


def check_text(format: str, made: Verdict, options: Options | None = None) -> str:
    stream = io.BytesIO()
    write_check(format, made, stream, options or Options())
    return stream.getvalue().decode("utf-8")
