"""``check`` as people read it: what doesn't hold, how to see it again, and what would accept it."""

from __future__ import annotations

from collections.abc import Sequence

from shaderstat.budget import Check, Unanswered, Verdict
from shaderstat.plain import dataclass
from shaderstat.reporters._check_words import (
    accept_words,
    comparison,
    place_words,
    statistic_words,
    summary,
    unanswered_words,
)
from shaderstat.reporters._columns import LEAST, name_room, shared
from shaderstat.reporters._diff_words import plural
from shaderstat.reporters.base import Options
from shaderstat.reporters.text import Pen, left, printable, shorten, width, wrap_command

# What is left of a narrow line for what was found, beside the names.
_FINDING = 24


_STYLES = {"FAIL": "bold red", "warn": "yellow", "none": "red"}


@dataclass(frozen=True, slots=True)
class _Row:
    """One line: of a check, or of a pipeline without an answer. `names` are the pipeline's, the executable's and the
    statistic's; `finding` what doesn't hold; `place` and `rest` where it is written, for what."""

    word: str
    names: tuple[str, str, str]
    finding: str
    place: str
    rest: str


def draw(verdict: Verdict, pen: Pen, options: Options) -> list[str]:
    """Write the table. Returns what is to be said beside it."""
    checks = [*verdict.failures, *verdict.warnings]
    rows = [_row(check) for check in checks] + [_unanswered(one) for one in verdict.unanswered]
    columns = [max((width(row.names[place]) for row in rows), default=0) for place in range(3)]
    findings = max((width(row.finding) for row in rows), default=0)
    places = max((width(row.place) for row in rows), default=0)
    # Whole rows where they have room. Else names give way, and where it stands goes on below itself.
    rest = max((width(row.rest) for row in rows), default=0)
    is_narrow = options.width is not None and sum(columns) + findings + places + rest + 18 > options.width
    if options.width is not None and is_narrow:
        most = name_room(options.width) or 0
        room = options.width - 14 - _FINDING
        columns = shared([min(each, most) for each in columns], room if room >= 3 * LEAST else options.width - 12)
    for number, row in enumerate(rows):
        cells = "".join(f"  {left(shorten(*each), each[1])}" for each in zip(row.names, columns, strict=True))
        start = f"  {pen.paint(row.word, _STYLES[row.word])}{cells}  "
        if is_narrow:
            said = "  ".join(each for each in (row.finding, row.place, row.rest) if each)
            pen.prose(start, 14 + sum(columns), said, options.width)
        else:
            pen.line(f"{start}{left(row.finding, findings)}  {left(row.place, places)}  {row.rest}")
        if number < len(verdict.failures) and checks[number].again:
            _command("again", checks[number].again, pen, options)
            _accepted(checks[number], pen, options)
        elif row.word == "none" and (command := verdict.unanswered[number - len(checks)].reproduce):
            _command("again", command, pen, options)
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


def _command(title: str, words: Sequence[str], pen: Pen, options: Options) -> None:
    for line in wrap_command(f"{title:<7}", words, options.width and options.width - 8):
        pen.line(pen.paint(f"        {line}", "dim"))


def _accepted(check: Check, pen: Pen, options: Options) -> None:
    if check.limit.relative:
        _command("accept", check.accept, pen, options)
    else:
        pen.prose(pen.paint("        accept  ", "dim"), 16, accept_words(check), options.width, "dim")


def _row(check: Check) -> _Row:
    rule = f'"{printable(check.rule.name)}"  ' if check.rule.path else ""
    return _Row(
        "FAIL" if check.rule.severity == "error" else "warn",
        (printable(check.pipeline), printable(check.executable), statistic_words(check)),
        comparison(check),
        place_words(check),
        rule + printable(check.target),
    )


def _unanswered(one: Unanswered) -> _Row:
    return _Row("none", (printable(one.pipeline), "", ""), unanswered_words(one), "", printable(one.target))
