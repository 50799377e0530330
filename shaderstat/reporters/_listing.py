"""``list``: the executables of each pipeline."""

from __future__ import annotations

from collections.abc import Sequence

from shaderstat.model import Executable
from shaderstat.reporters import _failures
from shaderstat.reporters._columns import fitting, joined, name_room, no_room
from shaderstat.reporters._gathered import (
    MISSING,
    UPPER,
    Gathered,
    mark,
    stages,
    subgroup,
    target_heading,
)
from shaderstat.reporters.base import Options
from shaderstat.reporters.text import UNNAMED, Pen, named, shorten, span, width

HEADINGS = ("pipeline", "#", "executable", "stages", "wave", "stats", "ir")
NUMBERS = (1, 4, 5, 6)

# What goes first where there is no room.
_DISPENSABLE = (3, 4, 6, 5)


def draw(gathered: Gathered, pen: Pen, options: Options) -> list[str]:
    """Write one table for each target. Returns what had no room, and what its marks mean."""
    missing: dict[str, None] = {}
    room = name_room(options.width)
    names = gathered.names(room)
    for place, (target, results) in enumerate(gathered.by_target()):
        if place:
            pen.line()
        target_heading(target, pen, options)
        records = [
            [names[result.pipeline], *_cells(executable, room)]
            for result in results
            for executable in result.executables
        ]
        widths = [span(column) for column in zip(HEADINGS, *records, strict=True)]
        widths[0] = span((HEADINGS[0], *(names[result.pipeline] for result in results)))
        shown = fitting(widths, options.width, _DISPENSABLE)
        missing |= dict.fromkeys(HEADINGS[place] for place in range(len(HEADINGS)) if place not in shown and records)
        _write(records, widths, shown, pen, options)
        _failures.rows(results, names, widths[0], pen, options)
    upper = any(each.bound == "upper" for result in gathered.results for each in result.executables)
    return [
        *no_room(missing),
        *([UPPER] if upper else []),
    ]


def _cells(executable: Executable, room: int | None) -> list[str]:
    name = named(executable.name) or UNNAMED
    marked = mark(executable)
    return [
        str(executable.index),
        (name if room is None else shorten(name, max(room - width(marked), 4))) + marked,
        stages(executable) or MISSING,
        subgroup(executable),
        str(len(executable.statistics)),
        str(len(executable.representations)),
    ]


def _write(
    records: Sequence[Sequence[str]], widths: Sequence[int], shown: Sequence[int], pen: Pen, options: Options
) -> None:
    if records:
        pen.line(pen.paint(joined(HEADINGS, widths, shown, NUMBERS), "dim"))
    before = ""
    for name, *cells in records:
        # Off a terminal every line says what it is about, for grep.
        name_once = "" if name == before and options.width is not None else name
        pen.line(joined([name_once, *cells], widths, shown, NUMBERS))
        before = name
