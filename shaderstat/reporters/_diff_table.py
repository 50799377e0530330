"""``diff`` as people read it: worse, better, changed; statuses; what is on one side alone; totals."""

from __future__ import annotations

from collections.abc import Sequence

from shaderstat.compare.difference import Change, Difference, Total
from shaderstat.compare.outcome import DiffOutcome
from shaderstat.compare.view import Entry, View, shown, wants
from shaderstat.plain import dataclass
from shaderstat.reporters._columns import fitting, joined, name_room, no_room, shared
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
from shaderstat.reporters.text import INDENT, Pen, left, printable, right, shorten, width

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
    _one_sided(difference, view, pen, options)
    for place in range(len(difference.targets)):
        _heading(difference, place, pen, options)
        remarks += _target(outcome, place, pen, options)
    if not difference.targets:
        pen.line(count_words(difference))
        pen.line()
    _statuses(difference, None, pen, options)
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
    layout = _layout([line for _, some in lines for line in some], options.width)
    for number, (title, some) in enumerate(lines):
        _section(title, some, layout, not number, pen, options)
    _statuses(difference, place, pen, options)
    _rows_of_one_side(difference, place, pen, options)
    if view.all:
        _recoded(difference, place, pen, options)
    left_out = _totals(difference, place, view, pen, options)
    remarks = no_room([*(layout.left_out if lines else ()), *left_out])
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


@dataclass(frozen=True, slots=True)
class _Layout:
    """The columns of all sections: of the names; of both numbers, which are 0 where they have no room beside these; of
    the remark, 0 where that has none."""

    names: Sequence[int]
    numbers: tuple[int, int]
    remark: int

    @property
    def left_out(self) -> tuple[str, ...]:
        return ("change",) if self.numbers[0] and not self.remark else ()


def _layout(lines: Sequence[_Line], columns: int | None) -> _Layout:
    def most(name: str, least: int) -> int:
        return max([least, *(width(getattr(line, name)) for line in lines)])

    names = [most("name", 8), most("executable", 0), most("statistic", 9)]
    if columns is not None:
        names = [min(each, name_room(columns) or each) for each in names]
    numbers = most("before", 6), most("after", 5)
    remark = most("remark", 12)
    gaps = 3 * 2
    for its_numbers, its_remark in ((numbers, remark), (numbers, 0), ((0, 0), 0)):
        beside = (sum(its_numbers) + 5 if its_numbers[0] else 0) + (its_remark + 2 if its_remark else 0)
        narrowed = shared(names, None if columns is None else columns - gaps - beside)
        if columns is None or sum(narrowed) + gaps + beside <= columns:
            break
    return _Layout(narrowed, its_numbers, its_remark)


def _section(title: str, lines: Sequence[_Line], layout: _Layout, first: bool, pen: Pen, options: Options) -> None:
    names = layout.names
    heading = f"  {left(title, names[0] + names[1] + 2)}"
    if first:
        heading += f"  {left('statistic', names[2])}"
    if first and layout.numbers[0]:
        heading += f"  {right('before', layout.numbers[0])}   {right('after', layout.numbers[1])}"
    pen.line(pen.paint(heading, "dim"))
    before: tuple[str, str] | None = None
    for line in lines:
        same = before == (line.name, line.executable) and options.width is not None
        before = (line.name, line.executable)
        cells = ("" if same else line.name, "" if same else line.executable, line.statistic)
        start = "".join(f"  {left(shorten(each, size), size)}" for each, size in zip(cells, names, strict=True))
        if not layout.numbers[0]:
            pen.line(start)
            pen.prose(" " * INDENT, INDENT, f"{line.before} → {line.after}  {line.remark}", options.width, line.style)
            continue
        numbers = f"{right(line.before, layout.numbers[0])} → {right(line.after, layout.numbers[1])}"
        remark = f"  {right(line.remark, 12)}" if layout.remark else ""
        pen.line(f"{start}  {pen.paint(numbers, line.style)}{remark}")


def _statuses(difference: Difference, place: int | None, pen: Pen, options: Options) -> None:
    found = [each for each in difference.statuses if each.target == place]
    told = [(name_words(each.subject), status_words(each), style(each.verdict) or "yellow") for each in found]
    _named("status", told, pen, options)


def _named(title: str, told: Sequence[tuple[str, str, str]], pen: Pen, options: Options) -> None:
    """A line for each name, with words in a style behind it, which go on below themselves."""
    if not told:
        return
    pen.line(pen.paint(f"  {title}", "dim"))
    first = max(width(name) for name, _, _ in told)
    first = min(first, name_room(options.width) or first)
    for name, words, its_style in told:
        name = name if options.width is None else shorten(name, first)
        pen.prose(f"  {left(name, first)}  ", first + 4, words, options.width, its_style)


def _rows_of_one_side(difference: Difference, place: int, pen: Pen, options: Options) -> None:
    for title, rows in (("new executables", difference.new_rows), ("gone executables", difference.gone_rows)):
        found = [lonely_words(each) for each in rows if each.target == place]
        if found:
            pen.line(pen.paint(f"  {title}", "dim"))
            for words in found:
                pen.prose("  ", 2, words, options.width)


def _recoded(difference: Difference, place: int, pen: Pen, options: Options) -> None:
    found = [each for each in difference.recoded if each.target == place]
    told = [(name_words(each.subject), place_words(each), "") for each in found]
    _named("code changed, and no number", told, pen, options)


def _one_sided(difference: Difference, view: View, pen: Pen, options: Options) -> None:
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
                pen.prose(f"{pen.paint(left(title, 7), 'dim')}  ", 9, name, options.width)
            if len(kept) < len(names):
                pen.line(f"{pen.paint(left(title, 7), 'dim')}  … {len(names) - len(kept)} more (--all)")
    if any(names for _, names in sections):
        pen.line()


def _totals(difference: Difference, place: int, view: View, pen: Pen, options: Options) -> list[str]:
    """Write the sums. Returns the headings of columns that had no room."""
    totals = [
        total
        for total in difference.totals
        if total.target == place
        and (interesting(total) or (view.all and counted(total)))
        and (not view.statistics or any(wants(view, info) for info in total.infos))
    ]
    if not totals:
        return []
    rows = [_total(total) for total in totals]
    heads = ("totals", "before", "after", "", "helped", "hurt", "same")
    widths = [max(width(heads[column]), *(width(row[column]) for row in rows)) for column in range(7)]
    widths[0] = min(widths[0], name_room(options.width) or widths[0])
    shown = fitting(widths, options.width, (6, 5, 4, 3))
    pen.line()
    pen.line(pen.paint(joined(heads, widths, shown, range(1, 7)), "dim"))
    for row in rows:
        name = row[0] if options.width is None else shorten(row[0], widths[0])
        start = joined((name, *row[1:]), widths, shown, range(1, 7))
        pen.prose(start + "    " * bool(row[7]), width(start) + 4, row[7], options.width, "dim")
    return [heads[column] or "change" for column in range(7) if column not in shown]


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
