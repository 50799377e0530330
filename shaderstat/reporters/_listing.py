"""``list``: the executables of each pipeline."""

from __future__ import annotations

from shaderstat.model import Result
from shaderstat.reporters._gathered import MISSING, Gathered, driver_words, reason, stages, status_style
from shaderstat.reporters.base import Options
from shaderstat.reporters.text import Pen, left, printable, right, shorten, width, wrap

HEADINGS = ("pipeline", "#", "executable", "stages", "wave", "stats", "ir")
NUMBERS = (1, 4, 5, 6)


def draw(gathered: Gathered, pen: Pen, options: Options) -> list[str]:
    """Write one table for each target."""
    for place, (target, results) in enumerate(gathered.by_target()):
        if place:
            pen.line()
        if target is not None:
            pen.line(pen.paint(printable(target.id), "cyan") + pen.paint(f" · {driver_words(target)}", "dim"))
            pen.line()
        _table(gathered, results, pen, options)
    return []


def _table(gathered: Gathered, results: list[Result], pen: Pen, options: Options) -> None:
    room = None if options.width is None else max(options.width // 3, 12)
    records: list[tuple[Result, list[str]]] = []
    for result in results:
        name = gathered.name(result)
        name = name if room is None else shorten(name, room)
        for executable in result.executables:
            label = printable(executable.name) or "(unnamed)"
            record = [
                name,
                str(executable.index),
                label if room is None else shorten(label, room),
                stages(executable) or MISSING,
                str(executable.subgroup_size or MISSING),
                str(len(executable.statistics)),
                str(len(executable.representations)),
            ]
            records.append((result, record))
        if not result.executables:
            records.append((result, [name]))
    full = [record for _, record in records if len(record) > 1]
    widths = [max(map(width, (HEADINGS[0], *(record[0] for _, record in records))))]
    widths += [max(map(width, (HEADINGS[i], *(record[i] for record in full)))) for i in range(1, len(HEADINGS))]
    if full:
        pen.line(pen.paint("  " + _joined(list(HEADINGS), widths), "dim"))
    before = ""
    for result, record in records:
        if len(record) > 1:
            first = "" if record[0] == before and options.width is not None else record[0]
            pen.line("  " + _joined([first, *record[1:]], widths))
            before = record[0]
        else:
            _failure(result, left(record[0], widths[0]), pen, options)


def _joined(cells: list[str], widths: list[int]) -> str:
    return "  ".join(
        right(cell, widths[place]) if place in NUMBERS else left(cell, widths[place])
        for place, cell in enumerate(cells)
    )


def _failure(result: Result, name: str, pen: Pen, options: Options) -> None:
    if result.status == "ok":
        pen.line(f"  {name}  {pen.paint('no executables', 'dim')}")
        return
    status = printable(result.status)
    place = width(name) + width(status) + 6
    texts = wrap(reason(result), options.width and options.width - place)
    pen.line(f"  {name}  {pen.paint(status, status_style(result.status))}  {texts[0]}")
    for text in texts[1:]:
        pen.line(" " * place + text)
