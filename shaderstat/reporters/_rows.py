"""``stats`` for many executables: one row each, and the statistics that judge as columns."""

from __future__ import annotations

from collections.abc import Sequence

from shaderstat.model import Result, Statistic, StatisticInfo, Target, numbered
from shaderstat.plain import dataclass
from shaderstat.reporters import _failures
from shaderstat.reporters._columns import name_room, no_room
from shaderstat.reporters._gathered import (
    UPPER,
    Gathered,
    cell,
    executable_words,
    is_spill,
    short,
    subgroup,
    target_heading,
)
from shaderstat.reporters.base import Options
from shaderstat.reporters.text import Pen, left, printable, right, shorten, span, width

GAP = "  "


@dataclass(frozen=True, slots=True)
class _Row:
    """One executable. `statistics` by what joins them to the target's list."""

    pipeline: str
    executable: str
    wave: str
    statistics: dict[tuple[str, str, int], Statistic]


@dataclass(frozen=True, slots=True, eq=False)
class _Column:
    """One statistic, ready to be written: `cells`, `numbers`, `notes` and `spills` beside the rows.

    `equal` where all cells say the same.
    """

    info: StatisticInfo
    heading: str
    cells: tuple[str, ...]
    numbers: tuple[int | float | None, ...]
    notes: tuple[str | None, ...]
    spills: tuple[bool, ...]
    width: int
    equal: bool


def draw(gathered: Gathered, pen: Pen, options: Options) -> list[str]:
    """Write one table for each target. Returns the worst of each, and what was left out."""
    remarks: list[str] = []
    groups = gathered.by_target()
    names = gathered.names(name_room(options.width))
    for place, (target, results) in enumerate(groups):
        if place:
            pen.line()
        target_heading(target, pen, options)
        said = _table(results, target, names, pen, options)
        prefix = f"{printable(target.id)}: " if target is not None and len(groups) > 1 else ""
        remarks += [prefix + line for line in said]
    return remarks


def _table(
    results: Sequence[Result], target: Target | None, names: dict[str, str], pen: Pen, options: Options
) -> list[str]:
    siblings: dict[str, list[Result]] = {}
    for result in results:
        siblings.setdefault(result.pipeline, []).append(result)
    rows = []
    for result in results:
        others = tuple(each for sibling in siblings[result.pipeline] for each in sibling.executables)
        rows += [
            _Row(
                pipeline=names[result.pipeline],
                executable=executable_words(others, each),
                wave=subgroup(each),
                statistics=dict(zip(numbered(each.statistics), each.statistics, strict=True)),
            )
            for each in result.executables
        ]
    first = span(("pipeline", *(names[result.pipeline] for result in results)))
    second = span(("executable", *(row.executable for row in rows)))
    if (most := name_room(options.width)) is not None:
        second = min(second, most)
    remarks: list[str] = []
    if rows:
        room = None if options.width is None else options.width - first - second - len("wave") - 6
        columns = _columns(rows, target)
        shown, remarks = _choose(columns, options, room)
        remarks = [*_most(rows, columns), *_notes(shown), *remarks]
        if any(each.bound == "upper" for result in results for each in result.executables):
            remarks.append(UPPER)
        _write(rows, shown, (first, second), pen, options)
    _failures.rows(results, names, first, pen, options)
    if options.verbosity and rows:
        _legend(shown, pen, options)
    return remarks


def _write(
    rows: Sequence[_Row], columns: Sequence[_Column], widths: tuple[int, int], pen: Pen, options: Options
) -> None:
    first, second = widths
    headings = GAP.join(right(column.heading, column.width) for column in columns)
    pen.line(pen.paint(f"  {left('pipeline', first)}  {left('executable', second)}  wave  {headings}", "dim"))
    before = None
    for place, row in enumerate(rows):
        # Off a terminal every line says what it is about, for grep.
        name = "" if row.pipeline == before and options.width is not None else row.pipeline
        before = row.pipeline
        cells = GAP.join(
            pen.paint(right(column.cells[place], column.width), "red" if column.spills[place] else "")
            for column in columns
        )
        executable = row.executable if options.width is None else shorten(row.executable, second)
        pen.line(f"  {left(name, first)}  {left(executable, second)}  {right(row.wave, 4)}  {cells}")


def _columns(rows: Sequence[_Row], target: Target | None) -> list[_Column]:
    """All statistics that any row has, in the driver's order."""
    infos = target.statistics if target is not None else ()
    return [
        _column(key, info, rows)
        for key, info in zip(numbered(infos), infos, strict=True)
        if any(key in row.statistics for row in rows)
    ]


def _choose(columns: Sequence[_Column], options: Options, room: int | None) -> tuple[list[_Column], list[str]]:
    """The columns to show, in the driver's order, and what to say of those left out.

    All that were asked for, with ``--stat`` or ``--raw``; else those that judge, and those that nothing is known of,
    since they may be what a new driver has to say. On a terminal those that are equal everywhere go first, then what
    does not fit: those that judge have the first claim to room, hashes the last.
    """
    asked = options.raw or bool(options.selection.statistics)
    wanted = sorted((column for column in columns if asked or _claim(column.info) < 2), key=lambda it: _claim(it.info))
    equal = [column for column in wanted if column.equal] if room is not None and not asked else []
    wanted = [column for column in wanted if column not in equal]
    shown: list[_Column] = []
    for column in wanted:
        if room is None or column.width + len(GAP) <= room:
            shown.append(column)
            room = None if room is None else room - column.width - len(GAP)
    remarks = []
    if equal:
        remarks.append("equal everywhere: " + " · ".join(f"{each.heading} {each.cells[0]}" for each in equal))
    narrow = [column.heading for column in wanted if column not in shown]
    remarks += no_room(narrow)
    more = len(columns) - len(equal) - len(wanted)
    if more:
        remarks.append(f"{more} more statistic{'s' if more > 1 else ''}: --stat '*' or -f csv")
    elif remarks:
        remarks[-1] += "  (-f csv has all)"
    return [column for column in columns if column in shown], remarks


def _claim(info: StatisticInfo) -> int:
    """A statistic's claim to room, 0 being the first."""
    if info.role == "trigger":
        return 0
    if info.role == "identity":
        return 3
    known = info.label is not None or info.key is not None or info.unit is not None
    return 2 if known else 1


def _most(rows: Sequence[_Row], columns: Sequence[_Column]) -> list[str]:
    """The three executables that take the most registers, of more."""
    for column in columns:
        if len(rows) > 3 and column.info.key == "registers" and column.info.role == "trigger" and not column.equal:
            ranked = sorted(
                (-value, place) for place, value in enumerate(column.numbers) if value is not None and value > 0
            )
            words = [
                f"{rows[place].pipeline} {rows[place].executable} {column.cells[place]}" for _, place in ranked[:3]
            ]
            return [f"most {column.heading}  " + " · ".join(words)]
    return []


def _notes(columns: Sequence[_Column]) -> list[str]:
    """What is odd about single numbers, once for each."""
    return [
        f"{column.heading} {text}: {printable(note)}"
        for column in columns
        for text, note in dict.fromkeys(zip(column.cells, column.notes, strict=True))
        if note is not None
    ]


def _legend(columns: Sequence[_Column], pen: Pen, options: Options) -> None:
    """What the columns are, in the driver's words."""
    pen.line()
    first = max((width(column.heading) for column in columns), default=0)
    for column in columns:
        words = ": ".join(part for part in (column.info.name, column.info.description) if part)
        if column.info.unit:
            words += f" ({column.info.unit})"
        start = f"  {left(column.heading, first)}  "
        pen.prose(start, first + 4, printable(words), options.width, "dim")


def _column(key: tuple[str, str, int], info: StatisticInfo, rows: Sequence[_Row]) -> _Column:
    found = [row.statistics.get(key) for row in rows]
    heading, cells = short(info), tuple(cell(each, info) for each in found)
    return _Column(
        info=info,
        heading=heading,
        cells=cells,
        numbers=tuple(each.value if each is not None else None for each in found),
        notes=tuple(each.note if each is not None else None for each in found),
        spills=tuple(each is not None and is_spill(each, info) for each in found),
        width=span((heading, *cells)),
        equal=len(cells) > 1 and len(set(cells)) == 1,
    )
