"""``check`` as people read it: what doesn't hold, how to see it again, and what would accept it."""

from __future__ import annotations

from shaderstat.budget import Check, Unanswered, Verdict
from shaderstat.reporters._check_words import (
    accept_words,
    again_words,
    comparison,
    place_words,
    statistic_words,
    summary,
    unanswered_words,
)
from shaderstat.reporters._diff_words import plural
from shaderstat.reporters.base import Options
from shaderstat.reporters.text import Pen, left, printable, width


def draw(verdict: Verdict, pen: Pen, options: Options) -> list[str]:
    """Write the table. Returns what is to be said beside it."""
    checks = [*verdict.failures, *verdict.warnings]
    rows = [_row(check) for check in checks]
    rows += [_unanswered(one) for one in verdict.unanswered]
    widths = [max((width(row[column]) for row in rows), default=0) for column in range(1, 6)]
    for place, row in enumerate(rows):
        style = {"FAIL": "bold red", "warn": "yellow"}.get(row[0], "red")
        cells = "  ".join(left(cell, size) for cell, size in zip(row[1:6], widths, strict=True))
        pen.line(f"  {pen.paint(row[0], style)}  {cells}  {row[6]}".rstrip())
        if place < len(verdict.failures) and checks[place].again:
            pen.line(pen.paint(f"        again   {again_words(checks[place])}", "dim"))
            pen.line(pen.paint(f"        accept  {accept_words(checks[place])}", "dim"))
        elif row[0] == "none" and (command := verdict.unanswered[place - len(checks)].reproduce):
            pen.line(pen.paint("        again   " + printable(" ".join(command)), "dim"))
    remarks = [summary(verdict)]
    if verdict.unknown:
        names = dict.fromkeys(verdict.unknown)
        remarks.append(
            f"{plural(len(names), 'executable')} the baseline doesn't have, {printable(next(iter(names)))} for one:"
            " --update-baseline takes them in"
        )
    if verdict.allowed:
        remarks.append(f"{plural(len(verdict.allowed), 'pipeline')} without an answer, as a rule allows")
    return remarks


def _row(check: Check) -> tuple[str, ...]:
    name = f'"{printable(check.rule.name)}"  ' if check.rule.path else ""
    return (
        "FAIL" if check.rule.severity == "error" else "warn",
        printable(check.pipeline),
        printable(check.executable),
        statistic_words(check),
        comparison(check),
        place_words(check),
        name + printable(check.target),
    )


def _unanswered(one: Unanswered) -> tuple[str, ...]:
    return ("none", printable(one.pipeline), "", "", unanswered_words(one), "", printable(one.target))
