"""``diff`` as people read it: worse, better, changed; statuses; what is on one side alone; totals."""

from __future__ import annotations

from collections.abc import Sequence

from shaderstat.compare.difference import Change, Difference, StatusChange, Total
from shaderstat.compare.outcome import DiffOutcome
from shaderstat.compare.view import Entry, View, shown, wants
from shaderstat.plain import dataclass
from shaderstat.reporters._diff_words import (
    affected_words,
    count_words,
    counted,
    interesting,
    kind_words,
    lonely_words,
    name_words,
    place_words,
    plural,
    status_words,
    style,
    target_words,
    value_words,
)
from shaderstat.reporters.base import Options
from shaderstat.reporters.text import Pen, left, printable, right, shorten, width

# So many names of pipelines on one side alone, unless all are asked for.
NAMES = 10


@dataclass(frozen=True, slots=True)
class _Line:
    """One change, ready to be aligned with the others."""

    name: str
    executable: str
    statistic: str
    before: str
    after: str
    remark: str
    style: str


def draw(outcome: DiffOutcome, pen: Pen, options: Options) -> list[str]:
    """Write the tables. Returns what is to be said beside them."""
    difference, view = outcome.difference, outcome.view
    remarks: list[str] = []
    _one_sided(difference, view, pen)
    for place in range(len(difference.targets)):
        _heading(difference, place, pen, options)
        remarks += _target(outcome, place, pen, options)
    if not difference.targets:
        pen.line(count_words(difference))
        pen.line()
    _statuses(difference, None, pen)
    if difference.is_empty:
        remarks.append("no differences")
    recoded = len(difference.recoded)
    if recoded and not view.all:
        remarks.append(f"{plural(recoded, 'executable')} changed their code and no number (--all)")
    if difference.unanswered:
        remarks.append(f"{plural(len(difference.unanswered), 'pipeline')} without an answer on either side")
    return remarks


def _heading(difference: Difference, place: int, pen: Pen, options: Options) -> None:
    words = target_words(difference, place)
    name, dot, rest = words.partition(" · ")
    words = f"{dot}{rest} · {count_words(difference)}"
    pen.words(name + words, options.width, pen.paint(name, "cyan") + pen.paint(words, "dim"))
    pen.line()


def _target(outcome: DiffOutcome, place: int, pen: Pen, options: Options) -> list[str]:
    difference, view = outcome.difference, outcome.view
    found = shown(difference, view, place)
    sections = (("worse", found.worse), ("better", found.better), ("changed, not judged", found.changed))
    lines = [(title, [line for entry in entries for line in _lines(entry)]) for title, entries in sections if entries]
    widths = _widths([line for _, some in lines for line in some], options)
    first = True
    for title, some in lines:
        _section(title, some, widths, first, pen, options)
        first = False
    _statuses(difference, place, pen)
    _rows_of_one_side(difference, place, pen)
    if view.all:
        _recoded(difference, place, pen)
    _totals(difference, place, view, pen)
    remarks = []
    if found.small:
        remarks.append(f"{plural(found.small, 'executable')} changed by less than the threshold")
    if found.informing:
        remarks.append(f"{plural(found.informing, 'executable')} changed only what informs (--all)")
    if found.cut:
        remarks.append(f"{found.cut} more beyond --top {view.top}")
    return remarks


def _lines(entry: Entry) -> list[_Line]:
    name, executable = name_words(entry.place.subject), place_words(entry.place)
    return [_line(name, executable, change) for change in entry.changes]


def _line(name: str, executable: str, change: Change) -> _Line:
    return _Line(
        name,
        executable,
        printable(change.info.name) or "(unnamed)",
        value_words(change.before, change.info),
        value_words(change.after, change.info),
        kind_words(change),
        style(change.verdict),
    )


def _widths(lines: Sequence[_Line], options: Options) -> tuple[int, int, int, int, int]:
    def most(name: str, least: int) -> int:
        return max((width(getattr(line, name)) for line in lines), default=least)

    columns = (max(most("name", 8), 8), most("executable", 8), max(most("statistic", 9), 9), 0, 0)
    if options.width is not None:  # names give way, numbers never do
        room = max(options.width // 3, 12)
        columns = (min(columns[0], room), min(columns[1], room), min(columns[2], room), 0, 0)
    return (*columns[:3], max(most("before", 6), 6), max(most("after", 5), 5))


def _section(
    title: str, lines: Sequence[_Line], widths: tuple[int, int, int, int, int], first: bool, pen: Pen, options: Options
) -> None:
    names = widths[0] + widths[1] + 2
    heading = f"  {left(title, names)}"
    if first:
        heading += f"  {left('statistic', widths[2])}  {right('before', widths[3])}   {right('after', widths[4])}"
    pen.line(pen.paint(heading, "dim"))
    before: tuple[str, str] | None = None
    for line in lines:
        same = before == (line.name, line.executable) and options.width is not None
        before = (line.name, line.executable)
        name = "" if same else shorten(line.name, widths[0])
        executable = "" if same else shorten(line.executable, widths[1])
        numbers = f"{right(line.before, widths[3])} → {right(line.after, widths[4])}"
        pen.line(
            f"  {left(name, widths[0])}  {left(executable, widths[1])}"
            f"  {left(shorten(line.statistic, widths[2]), widths[2])}  {pen.paint(numbers, line.style)}"
            f"  {right(line.remark, 12)}"
        )


def _statuses(difference: Difference, place: int | None, pen: Pen) -> None:
    found = [each for each in difference.statuses if each.target == place]
    _named("status", [(name_words(each.subject), pen.paint(status_words(each), _style(each))) for each in found], pen)


def _style(change: StatusChange) -> str:
    return style(change.verdict) or "yellow"


def _named(title: str, pairs: Sequence[tuple[str, str]], pen: Pen) -> None:
    if pairs:
        first = max(width(name) for name, _ in pairs)
        pen.line(pen.paint(f"  {title}", "dim"))
        for name, words in pairs:
            pen.line(f"  {left(name, first)}  {words}")


def _rows_of_one_side(difference: Difference, place: int, pen: Pen) -> None:
    for title, rows in (("new executables", difference.new_rows), ("gone executables", difference.gone_rows)):
        found = [lonely_words(each) for each in rows if each.target == place]
        if found:
            pen.line(pen.paint(f"  {title}", "dim"))
            for words in found:
                pen.line(f"  {words}")


def _recoded(difference: Difference, place: int, pen: Pen) -> None:
    found = [each for each in difference.recoded if each.target == place]
    _named("code changed, and no number", [(name_words(each.subject), place_words(each)) for each in found], pen)


def _one_sided(difference: Difference, view: View, pen: Pen) -> None:
    """Pipelines that are new, gone or called otherwise; above the tables, since they are no target's."""
    sections = (
        ("new", [printable(each.id) for each in difference.new]),
        ("gone", [printable(each.id) for each in difference.gone]),
        ("renamed", [f"{printable(one.id)} → {printable(other.id)}" for one, other in difference.renamed]),
    )
    for title, names in sections:
        if names:
            kept = names if view.all else names[:NAMES]
            for name in kept:
                pen.line(f"{pen.paint(left(title, 7), 'dim')}  {name}")
            if len(kept) < len(names):
                pen.line(f"{pen.paint(left(title, 7), 'dim')}  … {len(names) - len(kept)} more (--all)")
    if any(names for _, names in sections):
        pen.line()


def _totals(difference: Difference, place: int, view: View, pen: Pen) -> None:
    totals = [
        total
        for total in difference.totals
        if total.target == place
        and (interesting(total) or (view.all and counted(total)))
        and (not view.statistics or any(wants(view, info) for info in total.infos))
    ]
    if not totals:
        return
    rows = [_total(total) for total in totals]
    heads = ("totals", "before", "after", "", "helped", "hurt", "same")
    widths = [max(width(heads[column]), *(width(row[column]) for row in rows)) for column in range(7)]
    pen.line()
    cells = [left(heads[0], widths[0])] + [right(head, size) for head, size in zip(heads[1:], widths[1:], strict=True)]
    pen.line(pen.paint("  " + "  ".join(cells), "dim"))
    for row in rows:
        cells = [left(row[0], widths[0])] + [right(cell, size) for cell, size in zip(row[1:7], widths[1:], strict=True)]
        pen.line("  " + "  ".join(cells) + (f"    {pen.paint(row[7], 'dim')}" if row[7] else ""))


def _total(total: Total) -> tuple[str, ...]:
    change = total.change
    words = kind_words(change, 2) if change.before != change.after else ""
    affected = affected_words(total) if total.affected != (total.before, total.after) else ""
    return (
        printable(total.name),
        repr(total.before),
        repr(total.after),
        words,
        str(total.helped),
        str(total.hurt),
        str(total.same),
        f"affected only: {affected}" if affected and total.affected[0] != total.affected[1] else "",
    )
