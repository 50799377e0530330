"""``stats`` for few executables: a block each, with every statistic, its unit and what there is to say of it."""

from __future__ import annotations

from dataclasses import dataclass

from shaderstat.model import Executable, Result, Statistic, StatisticInfo
from shaderstat.reporters._failures import reason, status_style
from shaderstat.reporters._gathered import (
    Gathered,
    cell,
    driver_words,
    is_spill,
    pipeline_words,
)
from shaderstat.reporters.base import Options
from shaderstat.reporters.select import joined
from shaderstat.reporters.text import Pen, left, printable, right, width, wrap


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
    """Write the blocks. Returns no remarks: nothing is left out."""
    blocks = [
        (result, [(executable, _lines(gathered, result, executable)) for executable in result.executables])
        for result in gathered.results
    ]
    lines = [line for _, block in blocks for _, some in block for line in some]
    columns = (
        max((width(line.name) for line in lines), default=20),
        max((width(line.value) for line in lines), default=10),
        max((width(line.unit) for line in lines), default=10),
    )
    before: tuple[str, str | None] | None = None
    for result, block in blocks:
        if before != (result.pipeline, result.target):  # sorted executables of one pipeline may follow each other
            if before is not None:
                pen.line()
            _title(gathered, result, pen, options)
            before = (result.pipeline, result.target)
        if not result.executables:
            _failure(result, pen, options)
        for executable, some in block:
            _heading(executable, pen, columns)
            for line in some:
                _statistic(line, pen, options, columns)
            if not some:
                pen.line(pen.paint("  (no statistics)", "dim"))
    return []


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
        name=printable(statistic.name) or "(unnamed)",
        value=cell(statistic, info),
        unit=printable(info.unit or ""),
        remarks=printable(", ".join(remarks)),
        description=printable(info.description),
        spills=spills,
    )


def _title(gathered: Gathered, result: Result, pen: Pen, options: Options) -> None:
    pipeline = gathered.pipelines.get(result.pipeline)
    name = printable(pipeline.name if pipeline else result.pipeline)
    words = pipeline_words(pipeline) if pipeline else ""
    start = f"{name} · {words}" if words else name
    painted = pen.paint(name, "bold") + (f" · {words}" if words else "")
    target = gathered.targets.get(result.target or "")
    if target is None:
        pen.line(painted)
    else:
        identity = printable(target.id)
        end = f"{identity} · {driver_words(target)}"
        painted_end = pen.paint(identity, "cyan") + pen.paint(end[len(identity) :], "dim")
        gap = min(options.width or 100, 100) - width(start) - width(end)
        if gap >= 2:
            pen.line(painted + " " * gap + painted_end)
        elif options.width is None:
            pen.line(painted + "  " + painted_end)
        else:
            pen.line(painted)
            pen.line("  " + painted_end)


def _failure(result: Result, pen: Pen, options: Options) -> None:
    pen.line()
    status = printable(result.status)
    room = options.width and options.width - width(status) - 4
    for place, text in enumerate(wrap(reason(result), room)):
        start = pen.paint(status, status_style(result.status)) if place == 0 else " " * width(status)
        pen.line(f"  {start}  {text}")
    failure = result.failure
    if failure is not None and failure.reproduce:
        pen.line("  again: " + printable(" ".join(failure.reproduce)))
    if failure is not None and options.verbosity:
        for text in failure.stderr_tail.splitlines():
            pen.line(pen.paint("  │ " + printable(text), "dim"))


def _heading(executable: Executable, pen: Pen, columns: tuple[int, int, int]) -> None:
    pen.line()
    name = printable(executable.name) or "(unnamed)"
    words = [f"subgroup {executable.subgroup_size}"] if executable.subgroup_size else []
    if executable.synthetic:
        words.append("made by shaderstat")
    if executable.bound == "upper":
        words.append("upper bound: compiled without its partner stages")
    place = columns[0] + columns[1] + 4
    pen.line("  " + pen.paint(name, "bold") + " " * max(place - width(name), 2) + ", ".join(words))


def _statistic(line: _Line, pen: Pen, options: Options, columns: tuple[int, int, int]) -> None:
    value = right(line.value, columns[1])
    start = f"  {left(line.name, columns[0])}  {pen.paint(value, 'red' if line.spills else '')}  "
    place = sum(columns) + 9
    room = None if options.width is None else options.width - place
    texts = wrap(line.remarks, room)
    pen.line(start + left(line.unit, columns[2]) + "   " + pen.paint(texts[0], "red" if line.spills else "dim"))
    for text in texts[1:]:
        pen.line(" " * place + pen.paint(text, "dim"))
    if options.verbosity and line.description:
        for text in wrap(line.description, options.width and options.width - 6):
            pen.line("      " + pen.paint(text, "dim"))
