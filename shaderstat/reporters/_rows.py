"""``stats`` for many executables: one row each, and the statistics that judge as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shaderstat.model import Result, Statistic, StatisticInfo, Target, numbered
from shaderstat.reporters._gathered import (
    MISSING,
    Gathered,
    cell,
    driver_words,
    executable_words,
    is_spill,
    reason,
    short,
    status_style,
)
from shaderstat.reporters.base import Options
from shaderstat.reporters.text import Pen, left, printable, right, shorten, width, wrap

GAP = "  "


@dataclass(frozen=True, slots=True)
class _Row:
    """One executable. `statistics` by what joins them to the target's list."""

    pipeline: str
    executable: str
    wave: str
    statistics: dict[tuple[str, str, int], Statistic]


@dataclass(frozen=True, slots=True)
class _Column:
    """One statistic, ready to be written: `cells` beside the rows. `equal` where all of them say the same."""

    info: StatisticInfo
    heading: str
    cells: tuple[str, ...]
    spills: tuple[bool, ...]

    @property
    def width(self) -> int:
        return max(map(width, (self.heading, *self.cells)))

    @property
    def equal(self) -> bool:
        return len(self.cells) > 1 and len(set(self.cells)) == 1


def draw(gathered: Gathered, pen: Pen, options: Options) -> list[str]:
    """Write one table for each target. Returns what was left out of them."""
    remarks: list[str] = []
    groups = gathered.by_target()
    names = _names(gathered, options)
    for place, (target, results) in enumerate(groups):
        if place:
            pen.line()
        if target is not None:
            pen.line(pen.paint(printable(target.id), "cyan") + pen.paint(f" · {driver_words(target)}", "dim"))
            pen.line()
        left_out = _table(results, target, names, pen, options)
        prefix = f"{target.id}: " if target is not None and len(groups) > 1 else ""
        remarks += [printable(prefix + line) for line in left_out]
    return remarks


def _names(gathered: Gathered, options: Options) -> dict[str, str]:
    """Pipelines' names by id; on a terminal long ones are shortened from the left."""
    names = {result.pipeline: gathered.name(result) for result in gathered.results}
    if options.width is not None:
        room = max(options.width // 3, 12)
        names = {id: shorten(name, room) for id, name in names.items()}
    return names


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
                wave=str(each.subgroup_size or MISSING),
                statistics=dict(zip(numbered(each.statistics), each.statistics, strict=True)),
            )
            for each in result.executables
        ]
    failures = [result for result in results if not result.executables]
    first = max(map(width, ("pipeline", *(names[result.pipeline] for result in results))))
    second = max(map(width, ("executable", *(row.executable for row in rows))))
    if options.width is not None:
        second = min(second, max(options.width // 3, 12))
    remarks: list[str] = []
    if rows:
        room = None if options.width is None else options.width - first - second - len("wave") - 6
        columns, remarks = _columns(rows, target, options, room)
        _write(rows, columns, (first, second), pen, options)
    _failures(failures, names, first, pen, options)
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
        executable = left(shorten(row.executable, second), second)
        pen.line(f"  {left(name, first)}  {executable}  {right(row.wave, 4)}  {cells}")


def _failures(failures: Sequence[Result], names: dict[str, str], first: int, pen: Pen, options: Options) -> None:
    second = max((width(result.status) for result in failures), default=0)
    place = first + second + 6
    for result in failures:
        texts = wrap(reason(result), options.width and options.width - place)
        status = pen.paint(left(printable(result.status), second), status_style(result.status))
        pen.line(f"  {left(names[result.pipeline], first)}  {status}  {texts[0]}")
        for text in texts[1:]:
            pen.line(" " * place + text)


def _columns(
    rows: Sequence[_Row], target: Target | None, options: Options, room: int | None
) -> tuple[list[_Column], list[str]]:
    """The columns to show, in the driver's order, and what to say of those left out.

    All that were asked for with ``--stat``; else those that judge, then those that nothing is known of, since they may
    be what a new driver has to say. On a terminal those that are equal everywhere go first, then the last that
    do not fit.
    """
    infos = target.statistics if target is not None else ()
    columns = [
        _column(key, info, rows)
        for key, info in zip(numbered(infos), infos, strict=True)
        if any(key in row.statistics for row in rows)
    ]
    asked = bool(options.selection.statistics)
    judging = [column for column in columns if column.info.role == "trigger"]
    unknown = [column for column in columns if column.info.role == "info" and column.info.label is None]
    wanted = columns if asked else judging + unknown
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
    if narrow:
        remarks.append("no room for: " + " · ".join(narrow))
    more = len(columns) - len(equal) - len(wanted)
    if more:
        remarks.append(f"{more} more statistics: --stat '*' or -f csv")
    elif equal or narrow:
        remarks.append("all of them: -f csv")
    return [column for column in columns if column in shown], remarks


def _column(key: tuple[str, str, int], info: StatisticInfo, rows: Sequence[_Row]) -> _Column:
    found = [row.statistics.get(key) for row in rows]
    return _Column(
        info=info,
        heading=short(info),
        cells=tuple(cell(each, info) for each in found),
        spills=tuple(each is not None and is_spill(each, info) for each in found),
    )
