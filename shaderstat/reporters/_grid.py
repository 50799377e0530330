"""Results side by side: a column each, rows of cells under headings. What does not fit is left out as a whole."""

from __future__ import annotations

from collections.abc import Sequence

from shaderstat.plain import dataclass
from shaderstat.reporters.base import Options
from shaderstat.reporters.text import Pen, left, right, shorten, span, width


@dataclass(frozen=True, slots=True)
class Row:
    """One line: a cell for each column, and whether it spills; `tail` stands behind them all."""

    label: str
    cells: tuple[str, ...]
    spills: tuple[bool, ...]
    tail: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Rows that belong together; the title is written where there are several."""

    title: str
    rows: tuple[Row, ...]


def draw(heads: Sequence[Sequence[str]], sections: Sequence[Section], pen: Pen, options: Options) -> list[int]:
    """Write it, with the lines of `heads[i]` above the ith column. Returns the columns that had room."""
    rows = [row for section in sections for row in section.rows]
    first = span(row.label for row in rows)
    widths = [max(map(width, (*head, *(row.cells[i] for row in rows)))) for i, head in enumerate(heads)]
    tail = max((width(row.tail) for row in rows), default=0)
    tail += 3 if tail else 0
    room = None if options.width is None else options.width - 2
    if room is not None and first + 3 + widths[0] + tail > room:
        tail = 0
    if room is not None and first + 3 + widths[0] > room:
        first = max(room - 3 - widths[0], 8)
    shown = _fitting(widths, None if room is None else room - first - tail)
    pen.line()
    for place in range(max(map(len, heads))):
        texts = [right(heads[i][place] if place < len(heads[i]) else "", widths[i]) for i in shown]
        pen.line(" " * (first + 2) + "".join(f"   {pen.paint(text, 'dim' if place else 'cyan')}" for text in texts))
    for section in sections:
        if len(sections) > 1:
            pen.line()
            pen.line("  " + pen.paint(section.title, "bold"))
        for row in section.rows:
            painted = [pen.paint(right(row.cells[i], widths[i]), "red" if row.spills[i] else "") for i in shown]
            end = f"   {pen.paint(row.tail, 'dim')}" if tail else ""
            label = row.label if room is None else shorten(row.label, first)
            pen.line(f"  {left(label, first)}" + "".join(f"   {text}" for text in painted) + end)
    return shown


def _fitting(widths: Sequence[int], room: int | None) -> list[int]:
    """The columns that fit; one at least."""
    if room is None:
        return list(range(len(widths)))
    shown: list[int] = []
    for place, each in enumerate(widths):
        if not shown or each + 3 <= room:
            shown.append(place)
            room -= each + 3
    return shown
