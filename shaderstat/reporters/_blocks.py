"""``stats`` for few executables: a block each, with every statistic, its unit and what there is to say of it."""

from __future__ import annotations

from collections.abc import Sequence

from shaderstat.model import Executable, Result, Statistic, StatisticInfo, last_words
from shaderstat.plain import dataclass
from shaderstat.reporters._failures import complaints, why, word
from shaderstat.reporters._gathered import (
    Gathered,
    cell,
    is_spill,
    pipeline_words,
    subgroup,
    title,
)
from shaderstat.reporters.base import Options
from shaderstat.reporters.select import joined
from shaderstat.reporters.text import (
    UNNAMED,
    Pen,
    left,
    named,
    printable,
    right,
    shorten,
    span,
    width,
    wrap,
    wrap_command,
)

# Lines of a driver's standard error that are shown of a failure; -v shows all that were kept.
LAST_WORDS = 3


@dataclass(frozen=True, slots=True)
class _Line:
    """One statistic, ready to be aligned with the others."""

    name: str
    value: str
    unit: str
    remarks: str
    description: str
    spills: bool


def draw(gathered: Gathered, pen: Pen, options: Options) -> list[str]:
    """Write the blocks. Returns whether the units had no room."""
    blocks = [
        (result, [(executable, _lines(gathered, result, executable)) for executable in result.executables])
        for result in gathered.results
    ]
    lines = [line for _, block in blocks for _, some in block for line in some]
    columns, has_units = _columns(lines, options.width)
    before: tuple[str, str | None] | None = None
    for result, block in blocks:
        if before != (result.pipeline, result.target):  # sorted executables of one pipeline may follow each other
            if before is not None:
                pen.line()
            head(gathered, result, pen, options)
            before = (result.pipeline, result.target)
        if not result.executables:
            failure(result, pen, options)
        for executable, some in block:
            _executable(executable, some, pen, options, columns)
        if result.executables:
            errors(result, pen, options)
    return [] if has_units else ["no room for: units  (-f csv-long has all)"]


def executables(gathered: Gathered, result: Result, pen: Pen, options: Options) -> None:
    """Write those of one result, without its title."""
    block = [(executable, _lines(gathered, result, executable)) for executable in result.executables]
    columns, _ = _columns([line for _, some in block for line in some], options.width)
    for executable, some in block:
        _executable(executable, some, pen, options, columns)


def errors(result: Result, pen: Pen, options: Options) -> None:
    """Write what is missing of an answer that is one otherwise."""
    for text in complaints(result):
        pen.line()
        pen.prose(f"  {pen.paint('error', 'red')}  ", 9, text, options.width)


def _executable(
    executable: Executable, lines: Sequence[_Line], pen: Pen, options: Options, columns: tuple[int, int, int]
) -> None:
    _heading(executable, pen, options, columns)
    for line in lines:
        _statistic(line, pen, options, columns)
    if not lines:
        pen.line(pen.paint("  (no statistics)", "dim"))


def _columns(lines: Sequence[_Line], room: int | None) -> tuple[tuple[int, int, int], bool]:
    """How wide names, values and units are, and whether the units are there: they go first, then the ends of names."""
    name = span(line.name for line in lines) or 20
    value = max((width(line.value) for line in lines), default=10)
    unit = max((width(line.unit) for line in lines), default=10)
    if room is None or name + value + unit + 6 <= room:
        return (name, value, unit), True
    return (max(min(name, room - value - 4), 8), value, 0), unit == 0


def _lines(gathered: Gathered, result: Result, executable: Executable) -> list[_Line]:
    return [_line(each, info) for each, info in joined(executable, gathered.infos(result.target))]


def _line(statistic: Statistic, info: StatisticInfo) -> _Line:
    remarks = [note for note in (statistic.note, info.note) if note]
    if info.better == "more":
        remarks.append("more is better")
    spills = is_spill(statistic, info)
    if spills:
        remarks.insert(0, "← spills")
    return _Line(
        name=named(statistic.name) or UNNAMED,
        value=cell(statistic, info),
        unit=printable(info.unit or ""),
        remarks=printable(", ".join(remarks)),
        description=printable(info.description),
        spills=spills,
    )


def head(gathered: Gathered, result: Result, pen: Pen, options: Options) -> None:
    """Write a result's title: its pipeline and its compiler."""
    pipeline = gathered.pipelines.get(result.pipeline)
    name = named(pipeline.name if pipeline else result.pipeline)
    words = pipeline_words(pipeline) if pipeline else ""
    title(name, words, gathered.targets.get(result.target or ""), pen, options)


def failure(result: Result, pen: Pen, options: Options) -> None:
    """Write what befell a result without an answer."""
    pen.line()
    status, style = word(result)
    start = f"  {pen.paint(status, style)}  "
    pen.prose(start, width(status) + 4, why(result), options.width)
    found = result.failure
    if found is None:
        return
    if found.reproduce:
        for text in wrap_command("again:", found.reproduce, options.width and options.width - 2):
            pen.line("  " + text)
    lines = found.stderr_tail.splitlines() if options.verbosity else last_words(found, LAST_WORDS)
    for line in lines:
        for text in wrap(printable(line), options.width and options.width - 4):
            pen.line(pen.paint(f"  │ {text}", "dim"))


def _heading(executable: Executable, pen: Pen, options: Options, columns: tuple[int, int, int]) -> None:
    pen.line()
    name = named(executable.name) or UNNAMED
    words = [f"subgroup {subgroup(executable)}"] if executable.subgroup_size else []
    if executable.synthetic:
        words.append("generated by shaderstat")
    elif executable.bound == "upper":
        words.append("upper bound: compiled without its partner stages")
    place = max(columns[0] + columns[1] + 6, width(name) + 4)
    start = "  " + pen.paint(name, "bold") + " " * (place - width(name) - 2)
    pen.prose(start, place, ", ".join(words), options.width)


def _statistic(line: _Line, pen: Pen, options: Options, columns: tuple[int, int, int]) -> None:
    name, value, unit = columns
    style = "red" if line.spills else ""
    start = f"  {left(shorten(line.name, name), name)}  {pen.paint(right(line.value, value), style)}  "
    place = name + value + 6
    if unit:
        start += left(line.unit, unit) + "   "
        place += unit + 3
    pen.prose(start, place, line.remarks, options.width, style or "dim")
    if options.verbosity and line.description:
        for text in wrap(line.description, options.width and options.width - 6):
            pen.line("      " + pen.paint(text, "dim"))
