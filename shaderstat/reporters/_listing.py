"""``list``: the executables of each pipeline."""

from __future__ import annotations

from collections.abc import Sequence

from shaderstat.model import Executable
from shaderstat.reporters import _failures
from shaderstat.reporters._gathered import MISSING, UPPER, Gathered, mark, stages, target_heading
from shaderstat.reporters.base import Options
from shaderstat.reporters.text import Pen, left, printable, right, shorten, width

HEADINGS = ("pipeline", "#", "executable", "stages", "wave", "stats", "ir")
NUMBERS = (1, 4, 5, 6)


def draw(gathered: Gathered, pen: Pen, options: Options) -> list[str]:
    """Write one table for each target. Returns what its marks mean."""
    room = options.width and max(options.width // 3, 12)
    names = gathered.names(room)
    for place, (target, results) in enumerate(gathered.by_target()):
        if place:
            pen.line()
        target_heading(target, pen)
        records = [
            [names[result.pipeline], *_cells(executable, room)]
            for result in results
            for executable in result.executables
        ]
        widths = [max(map(width, column)) for column in zip(HEADINGS, *records, strict=True)]
        widths[0] = max(widths[0], *(width(names[result.pipeline]) for result in results))
        _write(records, widths, pen, options)
        _failures.rows([result for result in results if not result.executables], names, widths[0], pen, options)
    upper = any(each.bound == "upper" for result in gathered.results for each in result.executables)
    return [UPPER] if upper else []


def _cells(executable: Executable, room: int | None) -> list[str]:
    name = printable(executable.name) or "(unnamed)"
    return [
        str(executable.index),
        (name if room is None else shorten(name, room)) + mark(executable),
        stages(executable) or MISSING,
        str(executable.subgroup_size or MISSING),
        str(len(executable.statistics)),
        str(len(executable.representations)),
    ]


def _write(records: Sequence[Sequence[str]], widths: Sequence[int], pen: Pen, options: Options) -> None:
    if records:
        pen.line(pen.paint("  " + _joined(HEADINGS, widths), "dim"))
    before = ""
    for name, *cells in records:
        # Off a terminal every line says what it is about, for grep.
        shown = "" if name == before and options.width is not None else name
        pen.line("  " + _joined([shown, *cells], widths))
        before = name


def _joined(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(
        right(cell, widths[place]) if place in NUMBERS else left(cell, widths[place])
        for place, cell in enumerate(cells)
    )
